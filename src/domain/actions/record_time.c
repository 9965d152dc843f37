/* record_time.c -- see record_time.h.
 *
 * What counts is date-time of RFC 3339 §5.6, and nothing that merely looks like it: the day must exist, and
 * the offset is at most 23:59. As its grammar says, `t` and `z` stand for `T` and `Z`; a blank in place of
 * the `T` is a courtesy of other programs and does not count. The second 60 is left alone, because whether
 * there was one is not ours to say; so is a moment that UTC puts outside of the years 0000 to 9999.
 *
 *     2025-12-31T23:30:00.500-02:00
 *     0123456789012345678 fraction offset
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/record_time.h"

#include <string.h>

enum { OFFSET_LEN = 6, MINUTES_A_DAY = 24 * 60, YEAR_MAX = 9999 };

typedef struct {
    int year, month, day, minutes; /* of the day */
} moment;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number that two digits make, or something above all limits. */
static int two_digits(const char *p)
{
    return is_digit(p[0]) && is_digit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : 100;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool             leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static bool read_head(const char *p, moment *ret)
{
    int century = two_digits(p), year = two_digits(p + 2), hour = two_digits(p + 11);
    int minute = two_digits(p + 14);
    if (p[4] != '-' || p[7] != '-' || (p[10] != 'T' && p[10] != 't') || p[13] != ':' || p[16] != ':')
        return false;
    if (century > 99 || year > 99 || hour > 23 || minute > 59 || two_digits(p + 17) > 59)
        return false;
    *ret = (moment){.year = century * 100 + year,
                    .month = two_digits(p + 5),
                    .day = two_digits(p + 8),
                    .minutes = hour * 60 + minute};
    return ret->month >= 1 && ret->month <= 12 && ret->day >= 1 && ret->day <= days_of(ret->year, ret->month);
}

/* Of "+hh:mm" or "-hh:mm", in minutes. */
static bool read_offset(const char *p, int *ret)
{
    int hours = two_digits(p + 1), minutes = two_digits(p + 4);
    if ((p[0] != '+' && p[0] != '-') || p[3] != ':' || hours > 23 || minutes > 59)
        return false;
    *ret = (hours * 60 + minutes) * (p[0] == '-' ? -1 : 1);
    return true;
}

static void day_before(moment *m)
{
    if (--m->day > 0)
        return;
    if (--m->month == 0) {
        m->month = 12;
        m->year--;
    }
    m->day = days_of(m->year, m->month);
}

static void day_after(moment *m)
{
    if (++m->day <= days_of(m->year, m->month))
        return;
    m->day = 1;
    if (++m->month > 12) {
        m->month = 1;
        m->year++;
    }
}

/* An offset is less than a day, so no more than one boundary is crossed. */
static bool to_utc(moment *m, int offset)
{
    m->minutes -= offset;
    if (m->minutes < 0) {
        m->minutes += MINUTES_A_DAY;
        day_before(m);
    } else if (m->minutes >= MINUTES_A_DAY) {
        m->minutes -= MINUTES_A_DAY;
        day_after(m);
    }
    return m->year >= 0 && m->year <= YEAR_MAX;
}

static void put_two(char *out, int n)
{
    out[0] = (char)('0' + n / 10);
    out[1] = (char)('0' + n % 10);
}

/* Over a head that was copied from the text: all that stands between the numbers is there. */
static void put_moment(char head[RECORD_TIME_HEAD], const moment *m)
{
    put_two(head, m->year / 100);
    put_two(head + 2, m->year % 100);
    put_two(head + 5, m->month);
    put_two(head + 8, m->day);
    put_two(head + 11, m->minutes / 60);
    put_two(head + 14, m->minutes % 60);
    head[10] = 'T';
}

/* The digits behind the point; *ret_zone is what follows them. False: a point without digits. */
static bool read_fraction(str text, str *ret, str *ret_zone)
{
    size_t end = RECORD_TIME_HEAD;
    if (text.at[end] == '.') {
        for (end++; end < text.len && is_digit(text.at[end]);)
            end++;
        if (end == RECORD_TIME_HEAD + 1)
            return false;
    }
    *ret = str_slice(text, RECORD_TIME_HEAD + 1, end);
    *ret_zone = str_from(text, end);
    return true;
}

static str without_zeros(str fraction)
{
    while (fraction.len > 0 && fraction.at[fraction.len - 1] == '0')
        fraction.len--;
    return fraction;
}

bool record_time_rewrite(str text, record_time *ret)
{
    moment m;
    str    fraction, zone;
    int    offset = 0;
    if (text.len <= RECORD_TIME_HEAD || !read_head(text.at, &m) || !read_fraction(text, &fraction, &zone))
        return false;
    bool zulu = zone.len == 1 && (zone.at[0] == 'Z' || zone.at[0] == 'z');
    if (!zulu && (zone.len != OFFSET_LEN || !read_offset(zone.at, &offset) || !to_utc(&m, offset)))
        return false;

    ret->fraction = without_zeros(fraction);
    if (zulu && zone.at[0] == 'Z' && text.at[10] == 'T' && ret->fraction.len == fraction.len)
        return false;
    memcpy(ret->head, text.at, RECORD_TIME_HEAD);
    put_moment(ret->head, &m);
    return true;
}
