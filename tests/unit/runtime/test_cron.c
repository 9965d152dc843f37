/* test_cron.c -- schedules and the moments they name.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "core/iso8601.h"
#include "runtime/cron.h"
#include "unit/suites.h"

static arena *a;

static void begin(void)
{
    a = arena_new(1 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void end(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static int64_t at(const char *text)
{
    int64_t us;
    ck_assert_msg(iso8601_parse(str_of(text), &us), "bad time in the test: %s", text);
    return us;
}

static cron parsed(const char *schedule)
{
    cron c;
    str  why = STR("");
    ck_assert_msg(cron_parse(a, str_of(schedule), &c, &why) == RES_OK, "%s: %.*s", schedule, STR_ARG(why));
    return c;
}

/* ---- the next moment ---- */

static const struct {
    const char *schedule, *after, *next; /* next NULL: never */
} moments[] = {
    {"* * * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"},
    {"* * * * * *", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"},
    {"* * * * * *", "2026-01-02T03:04:05.5Z", "2026-01-02T03:04:06Z"},
    {"* * * * * *", "2026-01-02T03:04:05.999999Z", "2026-01-02T03:04:06Z"},
    {"* * * * * *", "1969-12-31T23:59:58.5Z", "1969-12-31T23:59:59Z"},
    {"0 */5 * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"},
    {"0 */5 * * * *", "2026-01-02T03:05:00Z", "2026-01-02T03:10:00Z"},
    {"0 */5 * * * *", "2026-01-02T03:55:00Z", "2026-01-02T04:00:00Z"},
    {"*/7 * * * * *", "2026-01-02T03:04:50Z", "2026-01-02T03:04:56Z"},
    {"*/7 * * * * *", "2026-01-02T03:04:56Z", "2026-01-02T03:05:00Z"},
    {"0 30 4 * * *", "2026-01-02T04:30:00Z", "2026-01-03T04:30:00Z"},
    {"0 30 4 * * *", "2026-01-02T04:29:59Z", "2026-01-02T04:30:00Z"},
    {"0 45 */6 * * *", "2026-01-02T18:45:00Z", "2026-01-03T00:45:00Z"},
    {"5 * * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"},
    {"10,20,40-42 * * * * *", "2026-01-02T03:04:20Z", "2026-01-02T03:04:40Z"},
    {"10,20,40-42 * * * * *", "2026-01-02T03:04:42Z", "2026-01-02T03:05:10Z"},
    {"0 10-40/15 * * * *", "2026-01-02T03:10:00Z", "2026-01-02T03:25:00Z"},
    {"0 10-40/15 * * * *", "2026-01-02T03:40:00Z", "2026-01-02T04:10:00Z"},
    {"0 50/4 * * * *", "2026-01-02T03:54:00Z", "2026-01-02T03:58:00Z"},
    {"0 50/4 * * * *", "2026-01-02T03:58:00Z", "2026-01-02T04:50:00Z"},
    /* ends of months, leap years */
    {"0 0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
    {"0 0 0 31 * *", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"},
    {"0 0 0 30 * *", "2026-01-30T12:00:00Z", "2026-03-30T00:00:00Z"},
    {"0 0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"0 0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
    {"0 0 0 29 2 mon", "2026-01-01T00:00:00Z", "2044-02-29T00:00:00Z"},
    {"0 0 0 31 2 *", "2026-01-01T00:00:00Z", NULL},
    {"0 0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z", NULL},
    {"0 0 12 28-31 2 *", "2027-02-28T12:00:00Z", "2028-02-28T12:00:00Z"},
    {"59 59 23 31 12 *", "2026-12-31T23:59:58Z", "2026-12-31T23:59:59Z"},
    {"59 59 23 31 12 *", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"},
    /* names; day and weekday together */
    {"0 0 9 * * mon-fri", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z"},
    {"0 0 9 * * Sunday", "2026-01-02T09:00:00Z", "2026-01-04T09:00:00Z"},
    {"0 0 9 * * 0,6", "2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z"},
    {"0 0 0 1 jan,JUL *", "2026-01-02T00:00:00Z", "2026-07-01T00:00:00Z"},
    {"0 0 0 1 sept *", "2026-01-02T00:00:00Z", "2026-09-01T00:00:00Z"},
    {"0 0 0 13 * fri", "2026-01-01T00:00:00Z", "2026-02-13T00:00:00Z"},
    {"0 0 0 13 * fri", "2026-03-13T00:00:00Z", "2026-11-13T00:00:00Z"},
    {"0 0 0 * 2 tue", "2026-02-24T00:00:00Z", "2027-02-02T00:00:00Z"},
    /* other shapes */
    {"*/15 * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:15:00Z"},
    {"  0\t0  12 *  * * ", "2026-01-02T03:04:05Z", "2026-01-02T12:00:00Z"},
    {"0 0/1000 * * * *", "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"},
    {"00:05:00", "2026-01-02T03:04:05Z", "2026-01-02T03:09:05Z"},
    {"1.00:00:01", "2026-01-02T03:04:05Z", "2026-01-03T03:04:06Z"},
    {"00:00:01.5", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06.5Z"},
    {"01:00", "2026-01-02T03:04:05Z", "2026-01-02T04:04:05Z"},
    {"* * * * * *", "9999-12-31T23:59:59Z", NULL},
};

START_TEST(the_next_moment_is_as_listed)
{
    cron    c = parsed(moments[_i].schedule);
    int64_t next = 0;
    char    text[ISO8601_SIZE];
    bool    found = cron_next(&c, at(moments[_i].after), &next);
    ck_assert_msg(found == (moments[_i].next != NULL), "'%s' after %s", moments[_i].schedule,
                  moments[_i].after);
    if (found)
        ck_assert_msg(next == at(moments[_i].next), "'%s' after %s gives %.*s, not %s", moments[_i].schedule,
                      moments[_i].after, STR_ARG(iso8601_format(next, 6, text)), moments[_i].next);
}
END_TEST

/* Field by field, the slow way. */
static bool matches(const cron *c, int64_t us)
{
    civil_time t;
    civil_from_us(us, &t);
    return (c->seconds >> t.second & 1) && (c->minutes >> t.minute & 1) && (c->hours >> t.hour & 1) &&
           (c->days >> t.day & 1) && (c->months >> t.month & 1) && (c->weekdays >> t.weekday & 1);
}

START_TEST(no_moment_before_the_next_one_matches)
{
    static const char *const schedules[] = {"*/13 7-50/3 * * * *", "11 59 23 28-31 * *", "0 0 0 * * sun",
                                            "30 */29 1,13 */9 * mon-thu"};
    cron                     c = parsed(schedules[_i]);
    int64_t                  now = at("2027-12-30T23:58:57.25Z");
    for (int step = 0; step < 20; step++) {
        int64_t next;
        ck_assert(cron_next(&c, now, &next));
        ck_assert(next > now && next % 1000000 == 0 && matches(&c, next));
        int64_t second = (now / 1000000 + 1) * 1000000;
        for (int n = 0; second < next && n < 100000; second += 1000000, n++)
            if (matches(&c, second)) /* not an assertion: each would leave a mark in a file */
                ck_abort_msg("'%s' passed over a second that matches", schedules[_i]);
        now = next;
    }
}
END_TEST

START_TEST(times_at_the_edge_of_the_calendar_do_not_go_astray)
{
    cron    every = parsed("* * * * * *"), span = parsed("00:00:01");
    int64_t next;
    ck_assert(!cron_next(&every, INT64_MAX, &next));
    ck_assert(!cron_next(&every, INT64_MAX - 1000000, &next));
    ck_assert(!cron_next(&span, INT64_MAX - 1, &next));
    ck_assert(cron_next(&every, INT64_MIN, &next));
    ck_assert(next > INT64_MIN);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *schedule, *why; /* a part of the message */
} refusals[] = {
    {"61 * * * * *", "schedule '61 * * * * *': second 61 is not within 0-59"},
    {"* 60 * * * *", "minute 60 is not within 0-59"},
    {"* * 24 * * *", "hour 24 is not within 0-23"},
    {"* * * 0 * *", "day 0 is not within 1-31"},
    {"* * * 32 * *", "day 32 is not within 1-31"},
    {"* * * * 0 *", "month 0 is not within 1-12"},
    {"* * * * 13 *", "month 13 is not within 1-12"},
    {"* * * * * 7", "weekday 7 is not within 0-6"},
    {"* * * * * fri-mon", "is a range that ends before it begins"},
    {"50-10 * * * * *", "second '50-10' is a range that ends before it begins"},
    {"*/0 * * * * *", "step that is not a number above 0"},
    {"*/x * * * * *", "step that is not a number above 0"},
    {"1,,2 * * * * *", "second '' is not a number"},
    {"1, * * * * *", "second '' is not a number"},
    {"-1 * * * * *", "second '' is not a number"},
    {"? * * * * *", "second '?' is not a number"},
    {"* * * * ja *", "month 'ja' is neither a number nor a name"},
    {"* * * * january1 *", "is neither a number nor a name"},
    {"* * * * * *jan", "is neither a number nor a name"},
    {"99999999999999999999 * * * * *", "is not a number"},
    {"* * * *", "too few fields"},
    {"* * * * * * *", "too many fields"},
    {"", "too few fields"},
    {"   ", "too few fields"},
    {"daily", "neither six fields nor a TimeSpan"},
    {"24:00:00", "neither six fields nor a TimeSpan"},
    {"00:60:00", "neither six fields nor a TimeSpan"},
    {"00:00:60", "neither six fields nor a TimeSpan"},
    {"-00:05:00", "neither six fields nor a TimeSpan"},
    {"00:05:00x", "neither six fields nor a TimeSpan"},
    {".00:05:00", "neither six fields nor a TimeSpan"},
    {"00:00:00", "not between one second and 30 years"},
    {"00:00:00.9", "not between one second and 30 years"},
    {"10675199.00:00:00", "not between one second and 30 years"},
};

START_TEST(a_wrong_schedule_is_refused_with_its_reason)
{
    cron c;
    str  why = STR("");
    ck_assert_msg(cron_parse(a, str_of(refusals[_i].schedule), &c, &why) == RES_CONFIG, "'%s' was accepted",
                  refusals[_i].schedule);
    ck_assert_msg(str_has(why, str_of(refusals[_i].why)), "'%s' says: %.*s", refusals[_i].schedule,
                  STR_ARG(why));
}
END_TEST

START_TEST(a_schedule_of_257_bytes_is_refused)
{
    char text[257];
    cron c;
    str  why;
    memset(text, ' ', sizeof text);
    memcpy(text, "* * * * * *", 11);
    ck_assert_int_eq(cron_parse(a, (str){text, 256}, &c, &why), RES_OK);
    ck_assert_int_eq(cron_parse(a, (str){text, 257}, &c, &why), RES_CONFIG);
}
END_TEST

START_TEST(a_timespan_has_seven_digits_of_fraction_and_no_more)
{
    int64_t us;
    ck_assert(cron_timespan(STR("00:00:00.1234567"), &us));
    ck_assert_int_eq(us, 123456);
    ck_assert(cron_timespan(STR("2.03:04:05.5"), &us));
    ck_assert_int_eq(us, ((2 * 24 + 3) * INT64_C(3600) + 4 * 60 + 5) * 1000000 + 500000);
    ck_assert(!cron_timespan(STR("00:00:00.12345678"), &us));
    ck_assert(!cron_timespan(STR("00:00:00."), &us));
    ck_assert(!cron_timespan(STR(""), &us));
    ck_assert(!cron_timespan(STR("5"), &us));
}
END_TEST

START_TEST(a_refusal_without_memory_says_so)
{
    cron c;
    str  why = STR("");
    arena_fail_at(1);
    ck_assert_int_eq(cron_parse(a, STR("61 * * * * *"), &c, &why), RES_MEMORY);
    ck_assert(str_has(why, STR("memory")));
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

Suite *suite_cron(void)
{
    Suite *s = suite_create("cron");
    TCase *t = tcase_create("cron");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, the_next_moment_is_as_listed, 0, COUNT(moments));
    tcase_add_loop_test(t, no_moment_before_the_next_one_matches, 0, 4);
    tcase_add_test(t, times_at_the_edge_of_the_calendar_do_not_go_astray);
    tcase_add_loop_test(t, a_wrong_schedule_is_refused_with_its_reason, 0, COUNT(refusals));
    tcase_add_test(t, a_schedule_of_257_bytes_is_refused);
    tcase_add_test(t, a_timespan_has_seven_digits_of_fraction_and_no_more);
    tcase_add_test(t, a_refusal_without_memory_says_so);
    suite_add_tcase(s, t);
    return s;
}
