/* cron.c -- schedules as sets of bits, and the next moment that is in all of them.
 *
 * cron_next goes from the largest unit down: a month that is in the set, a day of it whose weekday is too,
 * then the first hour, minute and second by counting zero bits. It never walks over seconds, and of 30 years
 * in which nothing matches it looks at some 360 months.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/cron.h"

#include "core/iso8601.h"
#include "runtime/config_file.h"

enum { FIELDS = 6, YEARS_AHEAD = 30, NAME_MIN = 3, TEXT_MAX = 256, DAYS_MAX = 10675199 /* .NET's */ };

static const int64_t SECOND_US = 1000000;
static const int64_t DAY_US = 86400 * INT64_C(1000000);
static const int64_t SPAN_MAX = 366 * INT64_C(30) * 86400 * 1000000; /* no schedule waits longer */

typedef struct {
    const char        *name;
    int                low, high;
    const char *const *names; /* of low and up; NULL: numbers only */
} field_kind;

static const char *const month_names[] = {"january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december"};
static const char *const day_names[] = {"sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday"};

static const field_kind kinds[FIELDS] = {
    {"second", 0, 59, NULL}, {"minute", 0, 59, NULL},       {"hour", 0, 23, NULL},
    {"day", 1, 31, NULL},    {"month", 1, 12, month_names}, {"weekday", 0, 6, day_names},
};

typedef struct {
    arena *a;
    str    text;
    str   *error;
} reader;

static res bad_value(const reader *r, const field_kind *k, str value)
{
    return config_error(r->a, r->error, "schedule '%.*s': %s %.*s is not within %d-%d", STR_ARG(r->text),
                        k->name, STR_ARG(value), k->low, k->high);
}

static res bad_field(const reader *r, const field_kind *k, str field, const char *why)
{
    return config_error(r->a, r->error, "schedule '%.*s': %s '%.*s' %s", STR_ARG(r->text), k->name,
                        STR_ARG(field), why);
}

/* A number, or the beginning of a name. */
static res parse_value(const reader *r, const field_kind *k, str s, int *ret)
{
    uint64_t n;
    for (int i = k->low; k->names != NULL && s.len >= NAME_MIN && i <= k->high; i++)
        if (str_starts_nocase(str_of(k->names[i - k->low]), s)) {
            *ret = i;
            return RES_OK;
        }
    if (!str_to_u64(s, &n))
        return bad_field(r, k, s, k->names != NULL ? "is neither a number nor a name" : "is not a number");
    if (n < (uint64_t)k->low || n > (uint64_t)k->high)
        return bad_value(r, k, s);
    *ret = (int)n;
    return RES_OK;
}

/* '*', 'a' or 'a-b', each with '/n' behind it. */
static res parse_item(const reader *r, const field_kind *k, str item, uint64_t *bits)
{
    size_t   slash = str_find_char(item, '/');
    str      range = str_slice(item, 0, slash);
    uint64_t step = 1;
    if (slash < item.len && (!str_to_u64(str_from(item, slash + 1), &step) || step == 0))
        return bad_field(r, k, item, "has a step that is not a number above 0");

    int    first = k->low, last = k->high;
    size_t dash = str_find_char(range, '-');
    res    code = RES_OK;
    if (!str_eq(range, STR("*"))) {
        code = parse_value(r, k, str_slice(range, 0, dash), &first);
        if (code == RES_OK && dash < range.len)
            code = parse_value(r, k, str_from(range, dash + 1), &last);
        else if (slash == item.len)
            last = first; /* a number alone; with a step it means from there on */
    }
    if (code != RES_OK)
        return code;
    if (first > last)
        return bad_field(r, k, item, "is a range that ends before it begins");
    for (uint64_t n = (uint64_t)first; n <= (uint64_t)last; n += step) {
        *bits |= 1ULL << n;
        if (step > (uint64_t)last)
            break;
    }
    return RES_OK;
}

static res parse_field(const reader *r, const field_kind *k, str field, uint64_t *ret)
{
    uint64_t bits = 0;
    str      item;
    for (str rest = field; str_next_field(&rest, ',', &item);) {
        res code = parse_item(r, k, item, &bits);
        if (code != RES_OK)
            return code;
    }
    *ret = bits;
    return RES_OK;
}

/* Fields between blanks and tabs; the number of them, FIELDS + 1 meaning too many. */
static size_t split(str text, str ret[FIELDS])
{
    size_t n = 0;
    for (str rest = str_trim(text); rest.len > 0; rest = str_trim(rest)) {
        size_t end = 0;
        while (end < rest.len && rest.at[end] != ' ' && rest.at[end] != '\t')
            end++;
        if (n == FIELDS)
            return FIELDS + 1;
        ret[n++] = str_slice(rest, 0, end);
        rest = str_from(rest, end);
    }
    return n;
}

/* Up to `max` digits off the front; false when there is none. */
static bool take_number(str *s, size_t max, int64_t *ret)
{
    size_t  n = 0;
    int64_t value = 0;
    for (; n < s->len && n < max && s->at[n] >= '0' && s->at[n] <= '9'; n++)
        value = value * 10 + (s->at[n] - '0');
    *s = str_from(*s, n);
    *ret = value;
    return n > 0;
}

static bool take_char(str *s, char c)
{
    if (s->len == 0 || s->at[0] != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

/* Digits behind the point, as microseconds. */
static bool take_fraction(str *s, int64_t *ret)
{
    str     digits = *s;
    int64_t value;
    if (!take_number(s, 7, &value))
        return false;
    for (size_t n = digits.len - s->len; n < 7; n++)
        value *= 10;
    *ret = value / 10;
    return true;
}

bool cron_timespan(str text, int64_t *ret_us)
{
    str     s = str_trim(text);
    int64_t days = 0, hours, minutes, seconds = 0, us = 0;
    if (str_find_char(s, '.') < str_find_char(s, ':') && (!take_number(&s, 8, &days) || !take_char(&s, '.')))
        return false;
    if (!take_number(&s, 2, &hours) || !take_char(&s, ':') || !take_number(&s, 2, &minutes))
        return false;
    if (take_char(&s, ':')) {
        if (!take_number(&s, 2, &seconds))
            return false;
        if (take_char(&s, '.') && !take_fraction(&s, &us))
            return false;
    }
    if (s.len > 0 || hours > 23 || minutes > 59 || seconds > 59 || days > DAYS_MAX)
        return false;
    *ret_us = days * DAY_US + ((hours * 60 + minutes) * 60 + seconds) * SECOND_US + us;
    return true;
}

static res parse_timespan(const reader *r, cron *ret)
{
    int64_t us;
    if (!cron_timespan(r->text, &us))
        return config_error(r->a, r->error, "schedule '%.*s': is neither six fields nor a TimeSpan hh:mm:ss",
                            STR_ARG(r->text));
    if (us < SECOND_US || us > SPAN_MAX)
        return config_error(r->a, r->error, "schedule '%.*s': is not between one second and 30 years",
                            STR_ARG(r->text));
    *ret = (cron){.every_us = us};
    return RES_OK;
}

res cron_parse(arena *a, str text, cron *ret, str *ret_error)
{
    reader   r = {a, str_trim(text), ret_error};
    str      fields[FIELDS];
    uint64_t bits[FIELDS] = {1}; /* second 0, if only five are given */
    if (text.len > TEXT_MAX)
        return config_error(a, ret_error, "schedule: is longer than %d bytes", TEXT_MAX);

    size_t n = split(text, fields);
    if (n == 1)
        return parse_timespan(&r, ret);
    if (n != FIELDS && n != FIELDS - 1)
        return config_error(a, ret_error,
                            "schedule '%.*s': has %s fields; six are wanted: second minute hour "
                            "day month weekday",
                            STR_ARG(r.text), n < FIELDS ? "too few" : "too many");
    for (size_t i = 0; i < n; i++) {
        size_t kind = i + (FIELDS - n);
        res    code = parse_field(&r, &kinds[kind], fields[i], &bits[kind]);
        if (code != RES_OK)
            return code;
    }
    *ret = (cron){.seconds = bits[0],
                  .minutes = bits[1],
                  .hours = (uint32_t)bits[2],
                  .days = (uint32_t)bits[3],
                  .months = (uint32_t)bits[4],
                  .weekdays = (uint8_t)bits[5]};
    return RES_OK;
}

/* The lowest value in the set that is `from` or above; -1 when there is none. */
static int first_from(uint64_t bits, int from)
{
    if (from > 63)
        return -1;
    bits &= ~0ULL << from;
    return bits != 0 ? __builtin_ctzll(bits) : -1;
}

/* The first time of day at or after that of *t; false when the day has none left. */
static bool next_in_day(const cron *c, civil_time *t)
{
    int hour = first_from(c->hours, t->hour);
    if (hour == t->hour) {
        int minute = first_from(c->minutes, t->minute);
        if (minute == t->minute) {
            int second = first_from(c->seconds, t->second);
            if (second >= 0) {
                t->second = second;
                return true;
            }
            minute = first_from(c->minutes, t->minute + 1);
        }
        if (minute >= 0) {
            t->minute = minute;
            t->second = first_from(c->seconds, 0);
            return true;
        }
        hour = first_from(c->hours, t->hour + 1);
    }
    if (hour < 0)
        return false;
    t->hour = hour;
    t->minute = first_from(c->minutes, 0);
    t->second = first_from(c->seconds, 0);
    return true;
}

/* Goes to the first matching day at or after *t within its month, at midnight unless it is t's own day. */
static bool next_day_in_month(const cron *c, civil_time *t)
{
    int64_t    us;
    civil_time first = {.year = t->year, .month = t->month, .day = 1};
    if (!civil_to_us(&first, &us))
        return false;
    civil_from_us(us, &first);

    for (int day = first_from(c->days, t->day); day >= 0; day = first_from(c->days, day + 1)) {
        if ((c->weekdays >> ((first.weekday + day - 1) % 7) & 1) == 0)
            continue;
        civil_time candidate = {.year = t->year, .month = t->month, .day = day};
        if (!civil_to_us(&candidate, &us))
            return false; /* no 30 February: nor has the month any later day */
        if (day != t->day)
            *t = candidate;
        return true;
    }
    return false;
}

static void go_to_next_month(civil_time *t)
{
    *t = (civil_time){.year = t->year + t->month / 12, .month = t->month % 12 + 1, .day = 1};
}

static void go_to_next_day(civil_time *t)
{
    *t = (civil_time){.year = t->year, .month = t->month, .day = t->day + 1};
}

bool cron_next(const cron *c, int64_t after_us, int64_t *ret_us)
{
    if (c->every_us > 0)
        return !__builtin_add_overflow(after_us, c->every_us, ret_us);

    int64_t from_us;
    if (__builtin_add_overflow(after_us, SECOND_US, &from_us))
        return false;
    civil_time t;
    civil_from_us(from_us, &t); /* cuts to its second, below: the first whole second after after_us */
    t.microsecond = 0;
    int last_year = t.year + YEARS_AHEAD;
    while (t.year <= last_year) {
        if ((c->months >> t.month & 1) == 0 || !next_day_in_month(c, &t)) {
            go_to_next_month(&t);
            continue;
        }
        if (next_in_day(c, &t)) /* what lies behind the year 9999 was cut to it, and is not later */
            return civil_to_us(&t, &from_us) && from_us > after_us && (*ret_us = from_us, true);
        go_to_next_day(&t); /* may be a 32nd, of which no set has a bit */
    }
    return false;
}
