/* iso8601.c -- calendar arithmetic, and times as text.
 *
 * A day is counted from 0001-01-01, which was a Monday: within the years we know no count is negative, and
 * the rules of leap years can be written as they are spoken. Every parser reads the whole text or refuses it;
 * nothing here depends on a locale or a time zone of the machine.
 *
 * SPDX-License-Identifier: MIT */
#include "core/iso8601.h"

#include <string.h>

enum {
    DAYS_PER_YEAR = 365,
    DAYS_PER_4_YEARS = 4 * DAYS_PER_YEAR + 1,
    DAYS_PER_100_YEARS = 25 * DAYS_PER_4_YEARS - 1,
    DAYS_PER_400_YEARS = 4 * DAYS_PER_100_YEARS + 1,
    DAYS_TO_1970 = 719162,
    FRACTION_MAX = 7,
    MICRO_DIGITS = 6,
};

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_MINUTE (60 * US_PER_SECOND)
#define US_PER_HOUR   (60 * US_PER_MINUTE)
#define US_PER_DAY    (24 * US_PER_HOUR)
#define US_MIN        (-DAYS_TO_1970 * US_PER_DAY)                /* 0001-01-01T00:00:00Z */
#define US_MAX        (INT64_C(253402300800) * US_PER_SECOND - 1) /* 9999-12-31T23:59:59.999999Z */

static const char weekday_names[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char month_names[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* ---- the calendar ---- */

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of the year before the first of a month; month 13 gives the days of the whole year. */
static int days_before_month(int year, int month)
{
    static const short before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    return before[month - 1] + (month > 2 && is_leap(year) ? 1 : 0);
}

static int days_in_month(int year, int month)
{
    return days_before_month(year, month + 1) - days_before_month(year, month);
}

static int days_before_year(int year)
{
    int past = year - 1;
    return past * DAYS_PER_YEAR + past / 4 - past / 100 + past / 400;
}

/* Splits a count of days. The last day of a 400- or 4-year cycle belongs to a fourth century or year, not to
 * a fifth: hence the two limits of 3. */
static void date_of_day(int day, civil_time *ret)
{
    int cycles = day / DAYS_PER_400_YEARS, rest = day % DAYS_PER_400_YEARS;
    int centuries = rest / DAYS_PER_100_YEARS < 3 ? rest / DAYS_PER_100_YEARS : 3;
    rest -= centuries * DAYS_PER_100_YEARS;
    int fours = rest / DAYS_PER_4_YEARS;
    rest -= fours * DAYS_PER_4_YEARS;
    int years = rest / DAYS_PER_YEAR < 3 ? rest / DAYS_PER_YEAR : 3;
    rest -= years * DAYS_PER_YEAR;

    ret->year = cycles * 400 + centuries * 100 + fours * 4 + years + 1;
    ret->month = 12;
    while (days_before_month(ret->year, ret->month) > rest)
        ret->month--;
    ret->day = rest - days_before_month(ret->year, ret->month) + 1;
    ret->weekday = (day + 1) % 7;
}

/* ---- text ---- */

/* Writes a number in exactly `width` digits and returns what follows it. */
static char *put_digits(char *at, int n, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + n % 10);
        n /= 10;
    }
    return at + width;
}

static char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

static char *put_name(char *at, const char name[4])
{
    memcpy(at, name, 3);
    return at + 3;
}

static char *put_time_of_day(char *at, const civil_time *c)
{
    at = put_char(put_digits(at, c->hour, 2), ':');
    at = put_char(put_digits(at, c->minute, 2), ':');
    return put_digits(at, c->second, 2);
}

/* Takes exactly `width` digits off the front of *rest. */
static bool take_digits(str *rest, int width, int *ret)
{
    int n = 0;
    if (rest->len < (size_t)width)
        return false;
    for (int i = 0; i < width; i++) {
        if (rest->at[i] < '0' || rest->at[i] > '9')
            return false;
        n = n * 10 + (rest->at[i] - '0');
    }
    *rest = str_from(*rest, (size_t)width);
    *ret = n;
    return true;
}

static bool take_text(str *rest, str expected)
{
    if (!str_starts(*rest, expected))
        return false;
    *rest = str_from(*rest, expected.len);
    return true;
}

/* Takes one of the characters. */
static bool take_any(str *rest, const char *chars)
{
    if (rest->len == 0 || rest->at[0] == '\0' || strchr(chars, rest->at[0]) == NULL)
        return false;
    *rest = str_from(*rest, 1);
    return true;
}

/* Takes one of the three-letter names, and says which. */
static bool take_name(str *rest, const char names[][4], int count, int *ret)
{
    for (int i = 0; i < count; i++)
        if (take_text(rest, (str){names[i], 3})) {
            *ret = i;
            return true;
        }
    return false;
}

static bool take_time_of_day(str *rest, civil_time *c)
{
    return take_digits(rest, 2, &c->hour) && take_text(rest, STR(":")) && take_digits(rest, 2, &c->minute) &&
           take_text(rest, STR(":")) && take_digits(rest, 2, &c->second);
}

/* Takes ".f…" if it is there: at least one digit, and what is below a microsecond is cut. */
static bool take_fraction(str *rest, int *ret_us)
{
    int us = 0, digits = 0, digit;
    if (!take_text(rest, STR("."))) {
        *ret_us = 0;
        return true;
    }
    for (; take_digits(rest, 1, &digit); digits += digits <= MICRO_DIGITS ? 1 : 0)
        if (digits < MICRO_DIGITS)
            us = us * 10 + digit;
    if (digits == 0)
        return false;
    for (; digits < MICRO_DIGITS; digits++)
        us *= 10;
    *ret_us = us;
    return true;
}

/* Takes Z or ±hh:mm: how far local time is ahead of UTC. */
static bool take_zone(str *rest, int64_t *ret_ahead_us)
{
    int hours, minutes;
    if (take_any(rest, "Zz")) {
        *ret_ahead_us = 0;
        return true;
    }
    bool behind = rest->len > 0 && rest->at[0] == '-';
    if (!take_any(rest, "+-") || !take_digits(rest, 2, &hours) || !take_text(rest, STR(":")) ||
        !take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    int64_t ahead = hours * US_PER_HOUR + minutes * US_PER_MINUTE;
    *ret_ahead_us = behind ? -ahead : ahead;
    return true;
}

/* ---- exported ---- */

void civil_from_us(int64_t us, civil_time *ret)
{
    us = us < US_MIN ? US_MIN : us > US_MAX ? US_MAX : us;
    int64_t since = us - US_MIN;
    int64_t in_day = since % US_PER_DAY;

    date_of_day((int)(since / US_PER_DAY), ret);
    ret->hour = (int)(in_day / US_PER_HOUR);
    ret->minute = (int)(in_day % US_PER_HOUR / US_PER_MINUTE);
    ret->second = (int)(in_day % US_PER_MINUTE / US_PER_SECOND);
    ret->microsecond = (int)(in_day % US_PER_SECOND);
}

bool civil_to_us(const civil_time *c, int64_t *ret)
{
    if (c->year < 1 || c->year > 9999 || c->month < 1 || c->month > 12 || c->day < 1 ||
        c->day > days_in_month(c->year, c->month))
        return false;
    if (c->hour < 0 || c->hour > 23 || c->minute < 0 || c->minute > 59 || c->second < 0 || c->second > 59 ||
        c->microsecond < 0 || c->microsecond >= US_PER_SECOND)
        return false;

    int day = days_before_year(c->year) + days_before_month(c->year, c->month) + c->day - 1;
    *ret = (day - DAYS_TO_1970) * US_PER_DAY + c->hour * US_PER_HOUR + c->minute * US_PER_MINUTE +
           c->second * US_PER_SECOND + c->microsecond;
    return true;
}

str iso8601_format(int64_t us, int fraction_digits, char out[ISO8601_SIZE])
{
    civil_time c;
    int digits = fraction_digits < 0 ? 0 : fraction_digits > FRACTION_MAX ? FRACTION_MAX : fraction_digits;

    civil_from_us(us, &c);
    char *at = put_char(put_digits(out, c.year, 4), '-');
    at = put_char(put_digits(at, c.month, 2), '-');
    at = put_char(put_digits(at, c.day, 2), 'T');
    at = put_time_of_day(at, &c);
    if (digits > 0) {
        /* All seven are written, the last always 0, and those not wanted are overwritten by what follows. */
        at = put_char(at, '.');
        put_digits(at, c.microsecond * 10, FRACTION_MAX);
        at += digits;
    }
    at = put_char(at, 'Z');
    *at = '\0';
    return (str){out, (size_t)(at - out)};
}

str iso8601_arena(arena *a, int64_t us, int fraction_digits)
{
    char text[ISO8601_SIZE];
    return arena_copy(a, iso8601_format(us, fraction_digits, text));
}

bool iso8601_parse(str text, int64_t *ret_us)
{
    civil_time c = {0};
    str        rest = text;
    int64_t    local, ahead;

    if (!take_digits(&rest, 4, &c.year) || !take_text(&rest, STR("-")) || !take_digits(&rest, 2, &c.month) ||
        !take_text(&rest, STR("-")) || !take_digits(&rest, 2, &c.day) || !take_any(&rest, "Tt ") ||
        !take_time_of_day(&rest, &c) || !take_fraction(&rest, &c.microsecond) || !take_zone(&rest, &ahead))
        return false;
    if (rest.len > 0 || !civil_to_us(&c, &local))
        return false;
    /* An offset at either end of the calendar may lead out of it. */
    if (local - ahead < US_MIN || local - ahead > US_MAX)
        return false;
    *ret_us = local - ahead;
    return true;
}

str http_date_format(int64_t us, char out[HTTP_DATE_SIZE])
{
    civil_time c;

    civil_from_us(us, &c);
    char *at = put_name(out, weekday_names[c.weekday]);
    at = put_char(put_char(at, ','), ' ');
    at = put_char(put_digits(at, c.day, 2), ' ');
    at = put_char(put_name(at, month_names[c.month - 1]), ' ');
    at = put_char(put_digits(at, c.year, 4), ' ');
    at = put_char(put_time_of_day(at, &c), ' ');
    at = put_name(at, "GMT");
    *at = '\0';
    return (str){out, (size_t)(at - out)};
}

bool http_date_parse(str text, int64_t *ret_us)
{
    civil_time c = {0}, real;
    str        rest = text;
    int        month;
    int64_t    us;

    if (!take_name(&rest, weekday_names, 7, &c.weekday) || !take_text(&rest, STR(", ")) ||
        !take_digits(&rest, 2, &c.day) || !take_text(&rest, STR(" ")) ||
        !take_name(&rest, month_names, 12, &month) || !take_text(&rest, STR(" ")) ||
        !take_digits(&rest, 4, &c.year) || !take_text(&rest, STR(" ")) || !take_time_of_day(&rest, &c) ||
        !take_text(&rest, STR(" GMT")) || rest.len > 0)
        return false;
    c.month = month + 1;
    if (!civil_to_us(&c, &us))
        return false;
    civil_from_us(us, &real);
    if (real.weekday != c.weekday)
        return false;
    *ret_us = us;
    return true;
}
