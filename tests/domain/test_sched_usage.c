/* test_sched_usage.c -- what AI use has come to today, and that this process answers.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"

#define USAGE "/api/usage"

static void use(task *t, const char *model, int calls, int64_t in, int64_t out)
{
    usage u = {.user_key = people_user_key("ann@example.org"), .model = str_of(model)};
    u.tokens_in = in;
    u.tokens_out = out;
    for (int n = 0; n < calls; n++)
        usage_record(t, &u);
}

static void usage_is(task *t, const char *state, const char *summary)
{
    got g = rig_get(t, USAGE);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "usageState"), str_of(state));
    ck_str_eq(rig_text(&g, "usageSummary"), str_of(summary));
    ck_assert_uint_eq(rig_text(&g, "updatedAt").len, 24);
    ck_assert_uint_eq(json_len(g.json), 3);
}

static void limits(const char *requests, const char *tokens)
{
    ck_assert_int_eq(setenv("USAGE_DAILY_REQUEST_LIMIT", requests, 1), 0);
    ck_assert_int_eq(setenv("USAGE_DAILY_TOKEN_LIMIT", tokens, 1), 0);
}

/* SCHED-86. */
RIG_TEST(a_day_without_a_call_is_fine)
{
    usage_is(t, "ok", "0/200 req, 0/200.0k tokens");
}

/* SCHED-86: over all people and models. */
RIG_TEST(seventy_percent_of_the_requests_are_a_warning_and_all_of_them_the_limit)
{
    limits("10", "100000");
    OK(places_make(t));
    use(t, "a", 4, 10, 5);
    use(t, "b", 2, 10, 5);
    usage_is(t, "ok", "6/10 req, 90/100.0k tokens");
    use(t, "b", 1, 0, 0);
    usage_is(t, "warning", "7/10 req, 90/100.0k tokens");
    use(t, "c", 3, 0, 0);
    usage_is(t, "limit_reached", "10/10 req, 90/100.0k tokens");
}

/* SCHED-86. */
RIG_TEST(tokens_count_towards_their_limit_in_both_directions)
{
    limits("200", "2000");
    OK(places_make(t));
    use(t, "a", 1, 1000, 399);
    usage_is(t, "ok", "1/200 req, 1.4k/2.0k tokens");
    use(t, "a", 1, 0, 1);
    usage_is(t, "warning", "2/200 req, 1.4k/2.0k tokens");
    use(t, "a", 1, 0, 600);
    usage_is(t, "limit_reached", "3/200 req, 2.0k/2.0k tokens");
}

/* SCHED-86. */
RIG_TEST(an_error_of_the_last_half_hour_is_a_warning)
{
    int64_t now_us = clock_wall_us();
    usage_note_error(STR("OpenAI HTTP 500"));
    usage_is(t, "warning", "0/200 req, 0/200.0k tokens, last error: OpenAI HTTP 500");
    clock_set_for_test(now_us + 31 * INT64_C(60000000), clock_mono_us());
    got g = rig_get(t, USAGE);
    clock_unset_for_test();
    ck_str_eq(rig_text(&g, "usageState"), STR("ok"));
}

static const char *const down[] = {
    "HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"value\":[[[",
};

static void is_not_known(task *t, int i)
{
    (void)i;
    usage_is(t, "unknown", "usage tracking unavailable");
}

/* SCHED-86. */
START_TEST(usage_that_cannot_be_read_is_unknown)
{
    wire *w = wire_start(&(wire_answer){.bytes = down[_i], .then = WIRE_CLOSE}, 1, NULL);
    rig_run(rig_wire_store(w), is_not_known, 0);
    wire_stop(w);
}
END_TEST

/* SCHED-96. */
static void health_is_three_members(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/health");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_assert_uint_eq(rig_text(&g, "time").len, 24);
    ck_assert_uint_gt(rig_text(&g, "version").len, 0);
    ck_assert_uint_eq(json_len(g.json), 3);
}

START_TEST(health_asks_storage_nothing)
{
    wire *w = wire_start(&(wire_answer){.bytes = down[0]}, 1, NULL);
    rig_run(rig_wire_store(w), health_is_three_members, 0);
    ck_assert_uint_eq(wire_requests(w), 0);
    wire_stop(w);
}
END_TEST

RIG_TEST(usage_survives_every_failure)
{
    rig_request in = {.method = "GET", .target = USAGE};
    OK(places_make(t));
    use(t, "a", 1, 1, 1);
    rig_torture(t, &in, 200, NULL, NULL);
}

Suite *suite_sched_usage(void)
{
    Suite *s = suite_create("sched_usage");
    TCase *c = live_case("usage");
    tcase_add_test(c, a_day_without_a_call_is_fine);
    tcase_add_test(c, seventy_percent_of_the_requests_are_a_warning_and_all_of_them_the_limit);
    tcase_add_test(c, tokens_count_towards_their_limit_in_both_directions);
    tcase_add_test(c, an_error_of_the_last_half_hour_is_a_warning);
    tcase_add_loop_test(c, usage_that_cannot_be_read_is_unknown, 0, (int)(sizeof down / sizeof *down));
    tcase_add_test(c, health_asks_storage_nothing);
    tcase_add_test(c, usage_survives_every_failure);
    suite_add_tcase(s, c);
    return s;
}
