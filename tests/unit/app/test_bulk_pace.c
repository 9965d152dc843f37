/* test_bulk_pace.c -- pauses grow with failed rounds, are one for all batches, and end with a success.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_pace.h"

#include <check.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { S_US = 1000 * 1000, LIMIT_MS = 60 * 1000 };

static bool within(uint64_t ms, uint64_t least)
{
    return ms >= least && ms <= least + least / 4 + 1;
}

START_TEST(a_pause_doubles_with_each_round_up_to_a_limit)
{
    static const uint64_t want_ms[] = {250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    bulk_pace             p = {0};
    uint64_t              now_us = S_US;
    for (size_t i = 0; i < sizeof want_ms / sizeof *want_ms; i++) {
        ck_assert(bulk_pace_failure(&p, now_us, now_us, 0, UINT32_MAX));
        uint64_t ms = bulk_pace_wait_ms(&p, now_us);
        ck_assert_msg(within(ms, want_ms[i]), "round %zu: %llu ms", i, (unsigned long long)ms);
        now_us += 1000 * ms;
        ck_assert_uint_eq(bulk_pace_wait_ms(&p, now_us), 0);
    }
}
END_TEST

START_TEST(batches_that_fail_together_are_one_round)
{
    bulk_pace p = {0};
    ck_assert(bulk_pace_failure(&p, 10 * S_US, 9 * S_US, 0, LIMIT_MS));
    for (int i = 0; i < 8; i++)
        ck_assert(bulk_pace_failure(&p, 10 * S_US + 1000, 9 * S_US, 0, LIMIT_MS));
    ck_assert_uint_eq(p.rounds, 1);
    ck_assert_uint_le(bulk_pace_wait_ms(&p, 10 * S_US + 1000), 320);
}
END_TEST

START_TEST(what_the_server_asks_for_wins_and_the_longest_of_a_round)
{
    bulk_pace p = {0};
    ck_assert(bulk_pace_failure(&p, 10 * S_US, 9 * S_US, 2000, LIMIT_MS));
    ck_assert(within(bulk_pace_wait_ms(&p, 10 * S_US), 2000));
    ck_assert(bulk_pace_failure(&p, 10 * S_US, 9 * S_US, 5000, LIMIT_MS));
    ck_assert(within(bulk_pace_wait_ms(&p, 10 * S_US), 5000));
    ck_assert(bulk_pace_failure(&p, 10 * S_US, 9 * S_US, 1000, LIMIT_MS));
    ck_assert_uint_ge(bulk_pace_wait_ms(&p, 10 * S_US), 5000);
}
END_TEST

START_TEST(a_success_ends_the_pause_and_forgets_the_rounds)
{
    bulk_pace p = {0};
    for (int i = 1; i <= 5; i++)
        ck_assert(bulk_pace_failure(&p, (uint64_t)i * 100 * S_US, (uint64_t)i * 100 * S_US, 0, UINT32_MAX));
    bulk_pace_success(&p);
    ck_assert_uint_eq(bulk_pace_wait_ms(&p, 500 * (uint64_t)S_US), 0);
    ck_assert(bulk_pace_failure(&p, 900 * (uint64_t)S_US, 900 * (uint64_t)S_US, 0, 0));
    ck_assert(within(bulk_pace_wait_ms(&p, 900 * (uint64_t)S_US), 250));
}
END_TEST

START_TEST(failing_for_longer_than_the_limit_is_the_end)
{
    bulk_pace p = {0};
    ck_assert(bulk_pace_failure(&p, 10 * S_US, 10 * S_US, 0, LIMIT_MS));
    ck_assert(bulk_pace_failure(&p, 70 * S_US, 70 * S_US, 0, LIMIT_MS));
    ck_assert(!bulk_pace_failure(&p, 71 * S_US, 71 * S_US, 0, LIMIT_MS));
}
END_TEST

/* 2026-01-02T03:04:05Z */
static const int64_t now_us = 1767323045000000;

static const struct {
    str      value;
    uint64_t ms;
} asked[] = {
    {STR_INIT(""), 0},
    {STR_INIT("0"), 0},
    {STR_INIT("1"), 1000},
    {STR_INIT("120"), 120000},
    {STR_INIT("121"), 120000},
    {STR_INIT("18446744073709551615"), 120000},
    {STR_INIT("soon"), 0},
    {STR_INIT("-1"), 0},
    {STR_INIT("Fri, 02 Jan 2026 03:04:15 GMT"), 10000},
    {STR_INIT("Fri, 02 Jan 2026 03:03:15 GMT"), 0},
    {STR_INIT("Fri, 02 Jan 2026 05:04:15 GMT"), 120000},
};

START_TEST(retry_after_is_seconds_or_a_date_and_never_too_long)
{
    ck_assert_uint_eq(bulk_pace_retry_after_ms(asked[_i].value, now_us), asked[_i].ms);
}
END_TEST

Suite *suite_bulk_pace(void)
{
    Suite *s = suite_create("bulk_pace");
    TCase *tc = tcase_create("bulk_pace");
    tcase_add_test(tc, a_pause_doubles_with_each_round_up_to_a_limit);
    tcase_add_test(tc, batches_that_fail_together_are_one_round);
    tcase_add_test(tc, what_the_server_asks_for_wins_and_the_longest_of_a_round);
    tcase_add_test(tc, a_success_ends_the_pause_and_forgets_the_rounds);
    tcase_add_test(tc, failing_for_longer_than_the_limit_is_the_end);
    tcase_add_loop_test(tc, retry_after_is_seconds_or_a_date_and_never_too_long, 0, COUNT(asked));
    suite_add_tcase(s, tc);
    return s;
}
