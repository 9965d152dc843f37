/* zone_rule.c -- POSIX's rules of time zones: read, and asked for the offset at a moment.
 *
 * The two changes of a year are moments in UTC; a change may be written with up to 167 hours, so it may lie
 * in the year before or after the one that it belongs to, even behind a change of that year. Whoever asks
 * about a moment therefore looks at five years, ten changes: the last of them that is not later has the say.
 *
 * SPDX-License-Identifier: MIT */
#include "zone_rule.h"

enum {
    SECONDS_PER_HOUR = 3600,
    SECONDS_PER_DAY = 86400,
    DEFAULT_TIME_S = 2 * SECONDS_PER_HOUR,
    OFFSET_HOURS_MAX = 24,
    TIME_HOURS_MAX = 167,
    NAME_CHARS_MIN = 3,
    YEARS_LOOKED_AT = 5,
    CHANGES = 2 * YEARS_LOOKED_AT,
    DAYS_TO_1970 = 719162, /* from 0001-01-01 */
    DAYS_PER_400_YEARS = 146097,
};

typedef struct {
    int64_t at_s;
    bool    to_summer;
} change;

/* ---- reading ---- */

static bool take(str *rest, char c)
{
    if (rest->len == 0 || rest->at[0] != c)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

/* One to three digits. */
static bool take_number(str *rest, int least, int most, int *ret)
{
    int n = 0, digits = 0;
    for (; digits < 3 && rest->len > 0 && rest->at[0] >= '0' && rest->at[0] <= '9'; digits++) {
        n = n * 10 + (rest->at[0] - '0');
        *rest = str_from(*rest, 1);
    }
    if (digits == 0 || n < least || n > most)
        return false;
    *ret = n;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "CET", or "<+0330>", where digits and signs are allowed as well. */
static bool take_name(str *rest)
{
    bool   quoted = take(rest, '<');
    size_t len = 0;
    for (; len < rest->len; len++) {
        char c = rest->at[len];
        if (!is_letter(c) && !(quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-')))
            break;
    }
    *rest = str_from(*rest, len);
    return len >= NAME_CHARS_MIN && (!quoted || take(rest, '>'));
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_hours(str *rest, int hours_max, int32_t *ret)
{
    int  hours, minutes = 0, seconds = 0;
    bool negative = take(rest, '-');
    if (!negative)
        (void)take(rest, '+'); /* it may be there */
    if (!take_number(rest, 0, hours_max, &hours) ||
        (take(rest, ':') &&
         (!take_number(rest, 0, 59, &minutes) || (take(rest, ':') && !take_number(rest, 0, 59, &seconds)))))
        return false;
    int32_t all = hours * SECONDS_PER_HOUR + minutes * 60 + seconds;
    *ret = negative ? -all : all;
    return true;
}

static bool take_day(str *rest, zone_day *ret)
{
    *ret = (zone_day){.time_s = DEFAULT_TIME_S};
    if (take(rest, 'M')) {
        ret->kind = ZONE_DAY_OF_WEEK;
        if (!take_number(rest, 1, 12, &ret->month) || !take(rest, '.') ||
            !take_number(rest, 1, 5, &ret->week) || !take(rest, '.') ||
            !take_number(rest, 0, 6, &ret->weekday))
            return false;
    } else if (take(rest, 'J')) {
        ret->kind = ZONE_DAY_NO_LEAP;
        if (!take_number(rest, 1, 365, &ret->day))
            return false;
    } else {
        ret->kind = ZONE_DAY_WITH_LEAP;
        if (!take_number(rest, 0, 365, &ret->day))
            return false;
    }
    return !take(rest, '/') || take_hours(rest, TIME_HOURS_MAX, &ret->time_s);
}

/* Summer time without dates is what POSIX leaves open; everybody takes the rule of the USA then. */
static bool take_days(str *rest, zone_rule *r)
{
    if (rest->len == 0)
        *rest = STR(",M3.2.0,M11.1.0");
    return take(rest, ',') && take_day(rest, &r->to_summer) && take(rest, ',') &&
           take_day(rest, &r->to_standard);
}

bool zone_rule_parse(str text, zone_rule *ret)
{
    zone_rule r = {0};
    str       rest = text;
    int32_t   west_s; /* POSIX counts west of UTC as positive */

    if (!take_name(&rest) || !take_hours(&rest, OFFSET_HOURS_MAX, &west_s))
        return false;
    r.standard_s = -west_s;
    if (rest.len > 0) {
        if (!take_name(&rest))
            return false;
        r.summer_s = r.standard_s + SECONDS_PER_HOUR;
        if (rest.len > 0 && rest.at[0] != ',') {
            if (!take_hours(&rest, OFFSET_HOURS_MAX, &west_s))
                return false;
            r.summer_s = -west_s;
        }
        r.changes = true;
        if (!take_days(&rest, &r))
            return false;
    }
    if (rest.len > 0)
        return false;
    *ret = r;
    return true;
}

/* ---- asking ---- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to the first of January; of year 0, too. */
static int64_t first_day(int64_t year)
{
    int64_t past = year + 399; /* since 400 years earlier: never negative */
    return past * 365 + past / 4 - past / 100 + past / 400 - DAYS_PER_400_YEARS - DAYS_TO_1970;
}

/* In UTC. The average length of a year leads to it, or to its neighbour. */
static int64_t year_of(int64_t at_s)
{
    int64_t day = at_s / SECONDS_PER_DAY - (at_s % SECONDS_PER_DAY < 0 ? 1 : 0);
    int64_t year = (day + DAYS_TO_1970) * 400 / DAYS_PER_400_YEARS + 1;
    while (first_day(year) > day)
        year--;
    while (first_day(year + 1) <= day)
        year++;
    return year;
}

static int days_in_month(int64_t year, int month)
{
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days since the first of January. */
static int day_of_week(const zone_day *d, int64_t year)
{
    int64_t before = 0;
    for (int m = 1; m < d->month; m++)
        before += days_in_month(year, m);
    /* 1970-01-01 was a Thursday; the count is made positive for the remainder. */
    int weekday = (int)((first_day(year) + before + 4 + INT64_C(7) * DAYS_PER_400_YEARS) % 7);
    int day = (d->weekday - weekday + 7) % 7 + (d->week - 1) * 7;
    if (day >= days_in_month(year, d->month))
        day -= 7;
    return (int)before + day;
}

static int64_t moment(const zone_day *d, int64_t year, int32_t offset_before_s)
{
    int day = d->day;
    if (d->kind == ZONE_DAY_OF_WEEK)
        day = day_of_week(d, year);
    else if (d->kind == ZONE_DAY_NO_LEAP)
        day = d->day - 1 + (is_leap(year) && d->day > 59 ? 1 : 0); /* 59 is the 28th of February */
    return (first_day(year) + day) * SECONDS_PER_DAY + d->time_s - offset_before_s;
}

/* The changes in the order in which they have the say: by time, and of two at once the one of the later year
 * ("all the year is summer" is written as an end that falls on the next start). */
static void list_changes(const zone_rule *r, int64_t at_s, change list[CHANGES])
{
    int64_t year = year_of(at_s) - 2;
    int     len = 0;
    for (int i = 0; i < YEARS_LOOKED_AT; i++, year++) {
        const change both[2] = {{moment(&r->to_summer, year, r->standard_s), true},
                                {moment(&r->to_standard, year, r->summer_s), false}};
        int          first = both[0].at_s <= both[1].at_s ? 0 : 1;
        for (int k = 0; k < 2; k++) {
            change next = both[k == 0 ? first : 1 - first];
            int    at = len++;
            for (; at > 0 && list[at - 1].at_s > next.at_s; at--)
                list[at] = list[at - 1];
            list[at] = next;
        }
    }
}

int32_t zone_rule_offset_s(const zone_rule *r, int64_t at_s)
{
    change list[CHANGES];
    if (!r->changes)
        return r->standard_s;

    list_changes(r, at_s, list);
    bool summer = list[CHANGES - 1].to_summer; /* unless one is in force: as the year ends, so it begins */
    for (int i = 0; i < CHANGES && list[i].at_s <= at_s; i++)
        summer = list[i].to_summer;
    return summer ? r->summer_s : r->standard_s;
}

bool zone_rule_next(const zone_rule *r, int64_t after_s, int64_t *ret_s)
{
    change list[CHANGES];
    if (!r->changes)
        return false;

    list_changes(r, after_s, list);
    for (int i = 0; i < CHANGES; i++)
        if (list[i].at_s > after_s) {
            *ret_s = list[i].at_s;
            return true;
        }
    return false;
}
