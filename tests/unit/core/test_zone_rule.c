/* test_zone_rule.c -- POSIX's rules: every form, what they say of a moment, and what is none.
 *
 * SPDX-License-Identifier: MIT */
#include "core/zone_rule.h"

#include <check.h>

#include "core/iso8601.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define US           INT64_C(1000000)

static int64_t utc_us(const char *text)
{
    int64_t us;
    ck_assert_msg(iso8601_parse(str_of(text), &us), "%s", text);
    return us;
}

static const struct {
    const char *rule, *utc;
    int         offset_s;
} rules[] = {
    {"UTC0", "2026-07-01T00:00:00Z", 0},
    {"<+0330>-3:30", "2026-07-01T00:00:00Z", 12600},
    {"<-00>0", "2026-07-01T00:00:00Z", 0},
    {"LMT+0:01:15", "2026-07-01T00:00:00Z", -75},
    {"PST8PDT,M3.2.0,M11.1.0", "2026-03-08T09:59:59Z", -8 * 3600},
    {"PST8PDT,M3.2.0,M11.1.0", "2026-03-08T10:00:00Z", -7 * 3600},
    {"PST8PDT,M3.2.0,M11.1.0", "2026-11-01T08:59:59Z", -7 * 3600},
    {"PST8PDT,M3.2.0,M11.1.0", "2026-11-01T09:00:00Z", -8 * 3600},
    {"PST8PDT", "2026-07-01T00:00:00Z", -7 * 3600},
    /* the south: summer goes over the turn of the year */
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 11 * 3600},
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-12-31T23:59:59Z", 11 * 3600},
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 10 * 3600},
    /* the 60th day: the 1st of March, or the 29th of February */
    {"AAA0BBB,J60/0,J300/0", "2024-02-29T12:00:00Z", 0},
    {"AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00Z", 3600},
    {"AAA0BBB,J60/0,J300/0", "2026-02-28T23:59:59Z", 0},
    {"AAA0BBB,J60/0,J300/0", "2026-03-01T00:00:00Z", 3600},
    {"AAA0BBB,59/0,300/0", "2024-02-29T00:00:00Z", 3600},
    {"AAA0BBB,59/0,300/0", "2026-03-01T00:00:00Z", 3600},
    {"AAA0BBB,59/0,300/0", "2026-02-28T23:59:59Z", 0},
    {"AAA0BBB,J365/0,J1/0", "2024-12-31T00:00:00Z", 3600},
    {"AAA0BBB,365/0,10/0", "2024-12-31T00:00:00Z", 3600}, /* 365 is there in leap years */
    /* the last weekday of a month that has five of them, or four */
    {"AAA0BBB,M2.5.4/0,M10.5.0", "2024-02-29T00:00:00Z", 3600},
    {"AAA0BBB,M2.5.4/0,M10.5.0", "2024-02-28T23:59:59Z", 0},
    {"AAA0BBB,M2.5.4/0,M10.5.0", "2026-02-26T00:00:00Z", 3600},
    {"AAA0BBB,M2.5.4/0,M10.5.0", "2026-02-25T23:59:59Z", 0},
    /* hours beyond the day, and before it */
    {"EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-27T23:59:59Z", 2 * 3600},
    {"EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 3 * 3600},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -2 * 3600},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600},
    {"AAA0BBB,M3.1.0/167,M10.1.0/-167:59:59", "2026-03-07T22:59:59Z", 0},
    {"AAA0BBB,M3.1.0/167,M10.1.0/-167:59:59", "2026-03-07T23:00:00Z", 3600},
    {"AAA0BBB,M3.1.0/167,M10.1.0/-167:59:59", "2026-09-26T23:00:00Z", 3600},
    {"AAA0BBB,M3.1.0/167,M10.1.0/-167:59:59", "2026-09-26T23:00:01Z", 0},
    {"AAA0BBB,0/-167,J100/0", "2025-12-25T01:00:00Z", 3600}, /* a change of the year after */
    {"AAA0BBB,0/-167,J100/0", "2025-12-25T00:59:59Z", 0},
    /* a saving that is negative, and summer all the year */
    {"IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3600},
    {"IST-1GMT0,M10.5.0,M3.5.0/1", "2026-12-01T00:00:00Z", 0},
    {"XXX3EDT4,0/0,J365/23", "2026-01-01T02:59:59Z", -4 * 3600},
    {"XXX3EDT4,0/0,J365/23", "2026-01-01T03:00:00Z", -4 * 3600},
    {"XXX3EDT4,0/0,J365/23", "2026-07-01T00:00:00Z", -4 * 3600},
    /* the end of a year lies behind the start of the next: there is no summer to speak of */
    {"XXX3EDT4:30,0/0,J365/23", "2026-01-01T01:00:00Z", -3 * 3600},
    {"XXX3EDT4:30,0/0,J365/23", "2026-01-01T03:10:00Z", -4 * 3600 - 1800},
    {"XXX3EDT4:30,0/0,J365/23", "2026-07-01T00:00:00Z", -3 * 3600},
    {"AAA-24BBB,M3.1.0,M10.1.0", "2026-01-01T00:00:00Z", 86400},
};

START_TEST(a_rule_says_how_far_clocks_are_ahead)
{
    zone_rule r;
    ck_assert(zone_rule_parse(str_of(rules[_i].rule), &r));
    ck_assert_int_eq(zone_rule_offset_s(&r, utc_us(rules[_i].utc) / US), rules[_i].offset_s);
}
END_TEST

static const char *const no_rules[] = {
    "",
    "UTC",
    "0",
    "UT0",
    "<U>0",
    "<+03-3",
    "<+0 3>-3",
    "U2C0",
    "UTC0 ",
    "UTC25",
    "UTC-24:60",
    "UTC0:00:60",
    "UTC0:",
    "UTC+-1",
    "UTC0DST,",
    "UTC0DST,M3.2.0",
    "UTC0DST,M3.2.0,",
    "UTC0DST,M0.2.0,M11.1.0",
    "UTC0DST,M13.2.0,M11.1.0",
    "UTC0DST,M3.0.0,M11.1.0",
    "UTC0DST,M3.6.0,M11.1.0",
    "UTC0DST,M3.2.7,M11.1.0",
    "UTC0DST,M3.2,M11.1.0",
    "UTC0DST,J0,J1",
    "UTC0DST,J366,J1",
    "UTC0DST,366,1",
    "UTC0DST,-1,1",
    "UTC0DST,1/168,2",
    "UTC0DST,1/,2",
    "UTC0DST,1/1:2:3:4,2",
    "UTC0DST,1,2,3",
    "UTC0D",
    "UTC0DST25,1,2",
    ":Europe/Berlin",
    "UTC0000",
};

START_TEST(what_is_not_wholly_a_rule_is_refused)
{
    zone_rule r;
    ck_assert_msg(!zone_rule_parse(str_of(no_rules[_i]), &r), "%s", no_rules[_i]);
}
END_TEST

START_TEST(changes_follow_one_another)
{
    zone_rule r;
    int64_t   s = -INT64_C(62135596800), next;
    int       count = 0;
    ck_assert(zone_rule_parse(STR("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"), &r));
    for (; zone_rule_next(&r, s, &next) && next < INT64_C(253402300800); s = next, count++) {
        ck_assert_int_gt(next, s);
        ck_assert_int_ne(zone_rule_offset_s(&r, next - 1), zone_rule_offset_s(&r, next));
    }
    ck_assert_int_eq(count, 2 * 9999);
}
END_TEST

Suite *suite_zone_rule(void)
{
    Suite *s = suite_create("zone_rule");
    TCase *t = tcase_create("zone_rule");
    tcase_set_timeout(t, 120); /* also under valgrind */
    tcase_add_loop_test(t, a_rule_says_how_far_clocks_are_ahead, 0, COUNT(rules));
    tcase_add_loop_test(t, what_is_not_wholly_a_rule_is_refused, 0, COUNT(no_rules));
    tcase_add_test(t, changes_follow_one_another);
    suite_add_tcase(s, t);
    return s;
}
