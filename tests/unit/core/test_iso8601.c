/* test_iso8601.c -- the calendar against known days and the C library's, and times as text both ways.
 *
 * SPDX-License-Identifier: MIT */
#include "core/iso8601.h"

#include <check.h>
#include <string.h>
#include <time.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define FIRST_US     INT64_C(-62135596800000000) /* 0001-01-01T00:00:00Z */
#define LAST_US      INT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999Z */
#define DAY_US       INT64_C(86400000000)

static const struct {
    int64_t    us;
    civil_time civil;
} days[] = {
    {INT64_C(-62135596800000000), {1, 1, 1, 0, 0, 0, 0, 1}},
    {INT64_C(-62104060801000000), {1, 12, 31, 23, 59, 59, 0, 1}},
    {INT64_C(-62035848000000000), {4, 2, 29, 12, 0, 0, 0, 0}},
    {INT64_C(-12219724800000000), {1582, 10, 10, 0, 0, 0, 0, 0}},
    {INT64_C(-11670998400000000), {1600, 2, 29, 0, 0, 0, 0, 2}},
    {INT64_C(-2203891201000000), {1900, 2, 28, 23, 59, 59, 0, 3}},
    {INT64_C(-2203891200000000), {1900, 3, 1, 0, 0, 0, 0, 4}},
    {INT64_C(-1), {1969, 12, 31, 23, 59, 59, 999999, 3}},
    {INT64_C(0), {1970, 1, 1, 0, 0, 0, 0, 4}},
    {INT64_C(951868799000000), {2000, 2, 29, 23, 59, 59, 0, 2}},
    {INT64_C(978220800000000), {2000, 12, 31, 0, 0, 0, 0, 0}},
    {INT64_C(1709164800000000), {2024, 2, 29, 0, 0, 0, 0, 4}},
    {INT64_C(1767323045123456), {2026, 1, 2, 3, 4, 5, 123456, 5}},
    {INT64_C(2147483648000000), {2038, 1, 19, 3, 14, 8, 0, 2}},
    {INT64_C(4107456000000000), {2100, 2, 28, 0, 0, 0, 0, 0}},
    {INT64_C(4107542400000000), {2100, 3, 1, 0, 0, 0, 0, 1}},
    {INT64_C(13574563200000000), {2400, 2, 29, 0, 0, 0, 0, 2}},
    {INT64_C(13601087999000000), {2400, 12, 31, 23, 59, 59, 0, 0}},
    {INT64_C(253402300799999999), {9999, 12, 31, 23, 59, 59, 999999, 5}},
};

START_TEST(a_known_day_is_converted_both_ways)
{
    civil_time        got;
    const civil_time *c = &days[_i].civil;
    int64_t           us;

    civil_from_us(days[_i].us, &got);
    ck_assert_int_eq(got.year, c->year);
    ck_assert_int_eq(got.month, c->month);
    ck_assert_int_eq(got.day, c->day);
    ck_assert_int_eq(got.hour, c->hour);
    ck_assert_int_eq(got.minute, c->minute);
    ck_assert_int_eq(got.second, c->second);
    ck_assert_int_eq(got.microsecond, c->microsecond);
    ck_assert_int_eq(got.weekday, c->weekday);

    got.weekday = 99; /* not looked at */
    ck_assert(civil_to_us(&got, &us));
    ck_assert_int_eq(us, days[_i].us);
}
END_TEST

START_TEST(every_day_of_the_calendar_agrees_with_the_c_library)
{
    int64_t count = 0;
    for (int64_t us = FIRST_US; us <= LAST_US; us += DAY_US, count++) {
        civil_time c;
        struct tm  libc;
        time_t     seconds = (time_t)(us / 1000000);
        int64_t    back;

        civil_from_us(us, &c);
        if (gmtime_r(&seconds, &libc) == NULL || c.year != libc.tm_year + 1900 ||
            c.month != libc.tm_mon + 1 || c.day != libc.tm_mday || c.weekday != libc.tm_wday)
            ck_abort_msg("day %lld reads as %d-%d-%d", (long long)count, c.year, c.month, c.day);
        if (!civil_to_us(&c, &back) || back != us)
            ck_abort_msg("%d-%d-%d does not lead back", c.year, c.month, c.day);
    }
    ck_assert_int_eq(count, 3652059);
}
END_TEST

static const civil_time impossible[] = {
    {.year = 0, .month = 1, .day = 1},
    {.year = -1, .month = 1, .day = 1},
    {.year = 10000, .month = 1, .day = 1},
    {.year = 2026, .month = 0, .day = 1},
    {.year = 2026, .month = 13, .day = 1},
    {.year = 2026, .month = 1, .day = 0},
    {.year = 2026, .month = 1, .day = 32},
    {.year = 2026, .month = 4, .day = 31},
    {.year = 2026, .month = 6, .day = 31},
    {.year = 2026, .month = 9, .day = 31},
    {.year = 2026, .month = 11, .day = 31},
    {.year = 2026, .month = 2, .day = 29},
    {.year = 2024, .month = 2, .day = 30},
    {.year = 1900, .month = 2, .day = 29},
    {.year = 2100, .month = 2, .day = 29},
    {.year = 2026, .month = 1, .day = 1, .hour = 24},
    {.year = 2026, .month = 1, .day = 1, .hour = -1},
    {.year = 2026, .month = 1, .day = 1, .minute = 60},
    {.year = 2026, .month = 1, .day = 1, .minute = -1},
    {.year = 2026, .month = 1, .day = 1, .second = 60},
    {.year = 2026, .month = 1, .day = 1, .second = -1},
    {.year = 2026, .month = 1, .day = 1, .microsecond = 1000000},
    {.year = 2026, .month = 1, .day = 1, .microsecond = -1},
};

START_TEST(an_impossible_date_or_time_is_refused)
{
    int64_t us = 42;
    ck_assert(!civil_to_us(&impossible[_i], &us));
    ck_assert_int_eq(us, 42);
}
END_TEST

static const struct {
    int64_t     us;
    int         digits;
    const char *expected;
} formats[] = {
    {0, 0, "1970-01-01T00:00:00Z"},
    {INT64_C(1767323045123456), 0, "2026-01-02T03:04:05Z"},
    {INT64_C(1767323045123456), 1, "2026-01-02T03:04:05.1Z"},
    {INT64_C(1767323045123456), 3, "2026-01-02T03:04:05.123Z"},
    {INT64_C(1767323045123456), 6, "2026-01-02T03:04:05.123456Z"},
    {INT64_C(1767323045123456), 7, "2026-01-02T03:04:05.1234560Z"},
    {INT64_C(1767323045999999), 3, "2026-01-02T03:04:05.999Z"}, /* cut, never rounded into the next second */
    {INT64_C(1767323045000001), 6, "2026-01-02T03:04:05.000001Z"},
    {INT64_C(1767323045123456), -1, "2026-01-02T03:04:05Z"},
    {INT64_C(1767323045123456), 99, "2026-01-02T03:04:05.1234560Z"},
    {-1, 6, "1969-12-31T23:59:59.999999Z"},
    {FIRST_US, 7, "0001-01-01T00:00:00.0000000Z"},
    {LAST_US, 7, "9999-12-31T23:59:59.9999990Z"},
    {FIRST_US - 1, 0, "0001-01-01T00:00:00Z"},
    {LAST_US + 1, 0, "9999-12-31T23:59:59Z"},
    {INT64_MIN, 3, "0001-01-01T00:00:00.000Z"},
    {INT64_MAX, 3, "9999-12-31T23:59:59.999Z"},
};

START_TEST(a_time_is_written_in_utc_with_the_digits_wanted)
{
    char   out[ISO8601_SIZE];
    arena *a = arena_new(KIB);

    memset(out, 'x', sizeof out);
    str s = iso8601_format(formats[_i].us, formats[_i].digits, out);
    ck_assert_ptr_eq(s.at, out);
    ck_assert_str_eq(out, formats[_i].expected);
    ck_assert_uint_eq(s.len, strlen(formats[_i].expected));
    ck_assert(str_eq(iso8601_arena(a, formats[_i].us, formats[_i].digits), s));
    arena_free(a);
}
END_TEST

START_TEST(a_time_in_a_spent_arena_is_the_empty_text)
{
    arena *a = arena_new(0);
    ck_assert_ptr_null(iso8601_arena(a, 0, 3).at);
    arena_free(a);
}
END_TEST

static const struct {
    str     text;
    int64_t us;
} parses[] = {
    {STR_INIT("2026-01-02T03:04:05Z"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02t03:04:05z"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02 03:04:05Z"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02T03:04:05+00:00"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02T03:04:05-00:00"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02T08:34:05+05:30"), INT64_C(1767323045000000)},
    {STR_INIT("2026-01-02T03:04:05.1Z"), INT64_C(1767323045100000)},
    {STR_INIT("2026-01-02T03:04:05.000001Z"), INT64_C(1767323045000001)},
    {STR_INIT("2026-01-02T03:04:05.1234567Z"), INT64_C(1767323045123456)},
    {STR_INIT("2026-01-02T03:04:05.9999999Z"), INT64_C(1767323045999999)},
    {STR_INIT("2026-01-02T03:04:05.99999999999999999999999999999999999999Z"), INT64_C(1767323045999999)},
    {STR_INIT("2026-01-02T03:04:05.0000009+00:00"), INT64_C(1767323045000000)},
    {STR_INIT("1969-12-31T23:59:59.9999999Z"), -1},
    {STR_INIT("2026-01-01T00:30:00+01:00"), INT64_C(1767223800000000)}, /* the year before, in UTC */
    {STR_INIT("2025-12-31T23:30:00-01:00"), INT64_C(1767227400000000)}, /* the year after */
    {STR_INIT("2024-03-01T00:00:00+14:00"), INT64_C(1709200800000000)}, /* a 29th of February */
    {STR_INIT("2023-02-28T23:59:59-00:01"), INT64_C(1677628859000000)},
    {STR_INIT("2024-02-29T00:00:00Z"), INT64_C(1709164800000000)},
    {STR_INIT("2000-02-29T23:59:59Z"), INT64_C(951868799000000)},
    {STR_INIT("0001-01-01T00:00:00Z"), FIRST_US},
    {STR_INIT("0001-01-01T23:59:00+23:59"), FIRST_US},
    {STR_INIT("9999-12-31T23:59:59.9999999Z"), LAST_US},
    {STR_INIT("9999-12-31T00:00:00-23:59"), INT64_C(253402300740000000)},
};

START_TEST(a_time_with_a_zone_is_read)
{
    int64_t us = 42;
    ck_assert(iso8601_parse(parses[_i].text, &us));
    ck_assert_int_eq(us, parses[_i].us);
}
END_TEST

static const str no_times[] = {
    STR_INIT(""),
    STR_INIT("2026"),
    STR_INIT("2026-01-02"),
    STR_INIT("2026-01-02T03:04Z"),
    STR_INIT("2026-01-02T03:04:05"), /* no zone */
    STR_INIT("2026-01-02T03:04:05."),
    STR_INIT("2026-01-02T03:04:05.Z"),
    STR_INIT("2026-01-02T03:04:05,5Z"),
    STR_INIT("2026-01-02T03:04:05.5"),
    STR_INIT("2026-01-02T03:04:05ZZ"),
    STR_INIT("2026-01-02T03:04:05Z "),
    STR_INIT(" 2026-01-02T03:04:05Z"),
    STR_INIT("2026-01-02T03:04:05Z\0"),
    STR_INIT("2026-01-02\0"
             "03:04:05Z"),
    STR_INIT("2026-01-02T03:04:05\0"),
    STR_INIT("2026-01-02_03:04:05Z"),
    STR_INIT("2026-01-0203:04:05Z"),
    STR_INIT("2026-1-2T03:04:05Z"),
    STR_INIT("26-01-02T03:04:05Z"),
    STR_INIT("02026-01-02T03:04:05Z"),
    STR_INIT("+2026-01-02T03:04:05Z"),
    STR_INIT("-026-01-02T03:04:05Z"),
    STR_INIT("2026/01/02T03:04:05Z"),
    STR_INIT("20260102T030405Z"),
    STR_INIT("2026-W01-5T03:04:05Z"),
    STR_INIT("2026-01-02T3:04:05Z"),
    STR_INIT("2026-01-02T+3:04:05Z"),
    STR_INIT("2026-01-02T03:04:0xZ"),
    STR_INIT("2026-01-02T03:04:05+0000"),
    STR_INIT("2026-01-02T03:04:05+00"),
    STR_INIT("2026-01-02T03:04:05+0:00"),
    STR_INIT("2026-01-02T03:04:05+24:00"),
    STR_INIT("2026-01-02T03:04:05-24:00"),
    STR_INIT("2026-01-02T03:04:05+00:60"),
    STR_INIT("2026-01-02T03:04:05+00:00Z"),
    STR_INIT("2026-01-02T03:04:05 +00:00"),
    STR_INIT("2026-01-02T03:04:05UTC"),
    STR_INIT("2026-00-02T03:04:05Z"),
    STR_INIT("2026-13-02T03:04:05Z"),
    STR_INIT("2026-01-00T03:04:05Z"),
    STR_INIT("2026-01-32T03:04:05Z"),
    STR_INIT("2026-02-29T03:04:05Z"),
    STR_INIT("1900-02-29T03:04:05Z"),
    STR_INIT("2026-04-31T03:04:05Z"),
    STR_INIT("2026-01-02T24:00:00Z"),
    STR_INIT("2026-01-02T03:60:05Z"),
    STR_INIT("2016-12-31T23:59:60Z"), /* a real leap second */
    STR_INIT("0000-01-01T00:00:00Z"),
    STR_INIT("0000-12-31T23:59:59-01:00"),
    STR_INIT("0001-01-01T00:00:00+00:01"), /* in UTC of year 0 */
    STR_INIT("9999-12-31T23:59:59-00:01"), /* in UTC of year 10000 */
};

START_TEST(what_is_not_wholly_a_time_is_refused)
{
    int64_t us = 42;
    ck_assert(!iso8601_parse(no_times[_i], &us));
    ck_assert_int_eq(us, 42);
}
END_TEST

/* A view that ends early must be refused at each length, although the memory behind it goes on well. */
START_TEST(no_prefix_of_a_time_is_a_time)
{
    str     iso = STR("2026-01-02T03:04:05.123+01:00"), http = STR("Fri, 02 Jan 2026 03:04:05 GMT");
    int64_t us;
    ck_assert(iso8601_parse(iso, &us) && http_date_parse(http, &us));
    for (size_t len = 0; len < iso.len; len++)
        ck_assert_msg(!iso8601_parse(str_slice(iso, 0, len), &us), "%zu bytes were taken", len);
    for (size_t len = 0; len < http.len; len++)
        ck_assert_msg(!http_date_parse(str_slice(http, 0, len), &us), "%zu bytes were taken", len);
}
END_TEST

static const struct {
    int64_t     us;
    const char *text;
} http_dates[] = {
    {INT64_C(1767323045000000), "Fri, 02 Jan 2026 03:04:05 GMT"},
    {INT64_C(784111777000000), "Sun, 06 Nov 1994 08:49:37 GMT"}, /* the example of RFC 9110, 5.6.7 */
    {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
    {INT64_C(951868799000000), "Tue, 29 Feb 2000 23:59:59 GMT"},
    {FIRST_US, "Mon, 01 Jan 0001 00:00:00 GMT"},
    {LAST_US - 999999, "Fri, 31 Dec 9999 23:59:59 GMT"},
};

START_TEST(an_http_date_is_written_and_read)
{
    char    out[HTTP_DATE_SIZE];
    int64_t us;
    str     s = http_date_format(http_dates[_i].us, out);
    ck_assert_str_eq(out, http_dates[_i].text);
    ck_assert_uint_eq(s.len, HTTP_DATE_SIZE - 1);
    ck_assert(http_date_parse(s, &us));
    ck_assert_int_eq(us, http_dates[_i].us);
}
END_TEST

START_TEST(each_month_and_weekday_has_its_name_in_http)
{
    char    out[HTTP_DATE_SIZE];
    int64_t us;
    for (int day = 0; day < 366; day++) {
        char      expected[64];
        time_t    seconds = 1704067200 + day * 86400;
        struct tm libc;
        ck_assert_ptr_nonnull(gmtime_r(&seconds, &libc));
        ck_assert_uint_gt(strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &libc), 0);
        ck_assert_str_eq(http_date_format((int64_t)seconds * 1000000, out).at, expected);
        ck_assert(http_date_parse(str_of(expected), &us));
        ck_assert_int_eq(us, (int64_t)seconds * 1000000);
    }
}
END_TEST

static const str no_http_dates[] = {
    STR_INIT(""),
    STR_INIT("Thu, 02 Jan 2026 03:04:05 GMT"), /* it was a Friday */
    STR_INIT("Fri, 2 Jan 2026 03:04:05 GMT"),
    STR_INIT("Fri, 02 jan 2026 03:04:05 GMT"),
    STR_INIT("fri, 02 Jan 2026 03:04:05 GMT"),
    STR_INIT("Fri 02 Jan 2026 03:04:05 GMT"),
    STR_INIT("Fri, 02-Jan-2026 03:04:05 GMT"),
    STR_INIT("Friday, 02-Jan-26 03:04:05 GMT"), /* the obsolete forms */
    STR_INIT("Fri Jan  2 03:04:05 2026"),
    STR_INIT("Fri, 02 Jan 2026 03:04:05 UTC"),
    STR_INIT("Fri, 02 Jan 2026 03:04:05 +0000"),
    STR_INIT("Fri, 02 Jan 2026 03:04:05"),
    STR_INIT("Fri, 02 Jan 2026 03:04:05 GMT "),
    STR_INIT("Fri, 02 Jan 2026 03:04:60 GMT"),
    STR_INIT("Fri, 02 Jan 2026 24:04:05 GMT"),
    STR_INIT("Sun, 29 Feb 2026 03:04:05 GMT"),
    STR_INIT("Sun, 00 Feb 2026 03:04:05 GMT"),
    STR_INIT("Sat, 01 Jan 0000 00:00:00 GMT"),
    STR_INIT("120"),
};

START_TEST(what_is_not_wholly_an_http_date_is_refused)
{
    int64_t us = 42;
    ck_assert(!http_date_parse(no_http_dates[_i], &us));
    ck_assert_int_eq(us, 42);
}
END_TEST

Suite *suite_iso8601(void)
{
    Suite *s = suite_create("iso8601");
    TCase *t = tcase_create("iso8601");
    tcase_set_timeout(t, 60); /* all days of the calendar, also under valgrind */
    tcase_add_loop_test(t, a_known_day_is_converted_both_ways, 0, COUNT(days));
    tcase_add_test(t, every_day_of_the_calendar_agrees_with_the_c_library);
    tcase_add_loop_test(t, an_impossible_date_or_time_is_refused, 0, COUNT(impossible));
    tcase_add_loop_test(t, a_time_is_written_in_utc_with_the_digits_wanted, 0, COUNT(formats));
    tcase_add_test(t, a_time_in_a_spent_arena_is_the_empty_text);
    tcase_add_loop_test(t, a_time_with_a_zone_is_read, 0, COUNT(parses));
    tcase_add_loop_test(t, what_is_not_wholly_a_time_is_refused, 0, COUNT(no_times));
    tcase_add_test(t, no_prefix_of_a_time_is_a_time);
    tcase_add_loop_test(t, an_http_date_is_written_and_read, 0, COUNT(http_dates));
    tcase_add_test(t, each_month_and_weekday_has_its_name_in_http);
    tcase_add_loop_test(t, what_is_not_wholly_an_http_date_is_refused, 0, COUNT(no_http_dates));
    suite_add_tcase(s, t);
    return s;
}
