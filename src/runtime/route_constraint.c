/* route_constraint.c -- which texts an int, a guid or a datetime is made of, as .NET's TryParse with the
 * invariant culture sees it.
 *
 * Everything here is linear in the value and allocates nothing, for it runs on every request that reaches a
 * constrained parameter.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/route_constraint.h"

#include <limits.h>

#include "core/id.h"
#include "core/iso8601.h"
#include "runtime/config_file.h"
#include "runtime/route_regex.h"

typedef struct {
    const char     *name;
    constraint_kind kind;
    size_t          args_min, args_max; /* numbers in parentheses; 0: none are taken */
} constraint_row;

static const constraint_row rows[] = {
    {"int", CONSTRAINT_INT, 0, 0},           {"long", CONSTRAINT_LONG, 0, 0},
    {"bool", CONSTRAINT_BOOL, 0, 0},         {"datetime", CONSTRAINT_DATETIME, 0, 0},
    {"decimal", CONSTRAINT_DECIMAL, 0, 0},   {"double", CONSTRAINT_DOUBLE, 0, 0},
    {"float", CONSTRAINT_DOUBLE, 0, 0},      {"guid", CONSTRAINT_GUID, 0, 0},
    {"alpha", CONSTRAINT_ALPHA, 0, 0},       {"length", CONSTRAINT_LENGTH, 1, 2},
    {"minlength", CONSTRAINT_LENGTH, 1, 1},  {"maxlength", CONSTRAINT_LENGTH, 1, 1},
    {"min", CONSTRAINT_RANGE, 1, 1},         {"max", CONSTRAINT_RANGE, 1, 1},
    {"range", CONSTRAINT_RANGE, 2, 2},       {"regex", CONSTRAINT_REGEX, 0, 0},
    {"required", CONSTRAINT_REQUIRED, 0, 0}, {"file", CONSTRAINT_FILE, 0, 0},
    {"nonfile", CONSTRAINT_NONFILE, 0, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return str_lower_char(c) >= 'a' && str_lower_char(c) <= 'z';
}

static bool is_hex(char c)
{
    return is_digit(c) || (str_lower_char(c) >= 'a' && str_lower_char(c) <= 'f');
}

/* .NET's white space around numbers: U+0009 to U+000D and the blank. */
static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static str trim_white(str s)
{
    while (s.len > 0 && is_white(s.at[0]))
        s = str_from(s, 1);
    while (s.len > 0 && is_white(s.at[s.len - 1]))
        s.len--;
    return s;
}

static bool to_integer(str s, int64_t *ret)
{
    s = trim_white(s);
    if (s.len > 0 && s.at[0] == '+') {
        s = str_from(s, 1);
        return s.len > 0 && is_digit(s.at[0]) && str_to_i64(s, ret);
    }
    return str_to_i64(s, ret);
}

/* Takes a sign off the front; false when there is none. */
static bool take_sign(str *s)
{
    if (s->len == 0 || (s->at[0] != '+' && s->at[0] != '-'))
        return false;
    *s = str_from(*s, 1);
    return true;
}

/* Takes digits, thousands separators after the first of them, and one point with its digits. Gives the number
 * of digits before the point, without leading zeros, and all digits. */
static void take_mantissa(str *s, size_t *ret_whole, size_t *ret_all)
{
    size_t i = 0, whole = 0, all = 0;
    for (; i < s->len && (is_digit(s->at[i]) || (s->at[i] == ',' && all > 0)); i++) {
        if (s->at[i] == ',')
            continue;
        all++;
        if (whole > 0 || s->at[i] != '0')
            whole++;
    }
    if (i < s->len && s->at[i] == '.')
        for (i++; i < s->len && is_digit(s->at[i]); i++)
            all++;
    *s = str_from(*s, i);
    *ret_whole = whole;
    *ret_all = all;
}

/* 28 digits before the point always fit .NET's 96 bits, more than 29 never do; the few values with 29 that
 * fit are compared digit by digit. */
static bool fits_decimal(str digits, size_t whole)
{
    static const char most[] = "79228162514264337593543950335";
    if (whole < sizeof most - 1)
        return true;
    if (whole > sizeof most - 1)
        return false;

    size_t n = 0;
    for (size_t i = 0; i < digits.len && n < whole; i++) {
        char c = digits.at[i];
        if (!is_digit(c) || (n == 0 && c == '0'))
            continue;
        if (c != most[n])
            return c < most[n];
        n++;
    }
    return true;
}

/* A sign in front or behind, thousands, a point; no exponent. */
static bool is_decimal(str s)
{
    s = trim_white(s);
    bool   sign = take_sign(&s);
    str    from = s;
    size_t whole, all;
    take_mantissa(&s, &whole, &all);
    if (all == 0 || !fits_decimal(from, whole))
        return false;
    if (!sign)
        (void)take_sign(&s); /* there may be none behind either */
    return s.len == 0;
}

static bool is_double(str s)
{
    s = trim_white(s);
    (void)take_sign(&s); /* a sign is optional */
    if (str_eq_nocase(s, STR("infinity")) || str_eq_nocase(s, STR("nan")))
        return true;

    size_t whole, all;
    take_mantissa(&s, &whole, &all);
    if (all == 0)
        return false;
    if (s.len == 0)
        return true;
    if (str_lower_char(s.at[0]) != 'e')
        return false;
    s = str_from(s, 1);
    (void)take_sign(&s); /* optional here as well */
    for (size_t i = 0; i < s.len; i++)
        if (!is_digit(s.at[i]))
            return false;
    return s.len > 0;
}

/* Formats N, D, B and P of System.Guid; the format X, {0x…,{0x…}}, is not worth a route. */
static bool is_guid(str s)
{
    s = trim_white(s);
    if (s.len == 38 && ((s.at[0] == '{' && s.at[37] == '}') || (s.at[0] == '(' && s.at[37] == ')')))
        s = str_slice(s, 1, 37);
    if (s.len != 32)
        return id_is_uuid(s);
    for (size_t i = 0; i < s.len; i++)
        if (!is_hex(s.at[i]))
            return false;
    return true;
}

/* Takes up to `digits_max` digits off the front; false when there is not one. */
static bool take_number(str *s, size_t digits_max, int *ret)
{
    size_t n = 0;
    int    value = 0;
    for (; n < s->len && n < digits_max && is_digit(s->at[n]); n++)
        value = value * 10 + (s->at[n] - '0');
    *s = str_from(*s, n);
    *ret = value;
    return n > 0;
}

static bool take_char(str *s, char c)
{
    if (s->len == 0 || str_lower_char(s->at[0]) != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

/* year-month-day with four digits first, or month/day/year, both with - or / (the invariant culture). */
static bool take_date(str *s, civil_time *c)
{
    int  first, second, third;
    str  before = *s;
    bool year_first = take_number(s, 4, &first) && before.len - s->len == 4;
    char separator = s->len > 0 ? s->at[0] : '\0';
    if (separator != '-' && separator != '/')
        return false;
    if (!take_char(s, separator) || !take_number(s, 2, &second) || !take_char(s, separator))
        return false;
    before = *s;
    if (!take_number(s, year_first ? 2 : 4, &third) || (!year_first && before.len - s->len != 4))
        return false;
    c->year = year_first ? first : third;
    c->month = year_first ? second : first;
    c->day = year_first ? third : second;
    return true;
}

static bool take_half_day(str *s, civil_time *c)
{
    *s = trim_white(*s);
    bool pm = str_starts_nocase(*s, STR("pm"));
    if (!pm && !str_starts_nocase(*s, STR("am")))
        return true;
    if (c->hour < 1 || c->hour > 12)
        return false;
    c->hour = c->hour % 12 + (pm ? 12 : 0);
    *s = str_from(*s, 2);
    return true;
}

static bool take_time(str *s, civil_time *c)
{
    if (!take_number(s, 2, &c->hour) || !take_char(s, ':') || !take_number(s, 2, &c->minute))
        return false;
    if (take_char(s, ':') && !take_number(s, 2, &c->second))
        return false;
    int fraction;
    if (take_char(s, '.') && !take_number(s, 7, &fraction))
        return false;
    return take_half_day(s, c);
}

static bool is_zone(str s)
{
    int hour, minute = 0;
    if (s.len == 0 || str_eq_nocase(s, STR("z")))
        return true;
    if (!take_sign(&s) || !take_number(&s, 2, &hour))
        return false;
    if (take_char(&s, ':') && !take_number(&s, 2, &minute))
        return false;
    return s.len == 0 && hour <= 14 && minute <= 59;
}

/* The dates that a URL can be expected to hold: 2016-12-31, 12/31/2016, each with a time behind T or blanks
 * ("7:32pm", "07:32:05.5"), that with a zone. DateTime.TryParse knows more (names of months, times alone). */
static bool is_datetime(str s)
{
    civil_time c = {0};
    int64_t    us;
    s = trim_white(s);
    if (!take_date(&s, &c))
        return false;
    if (s.len > 0) {
        if (!take_char(&s, 't') && !is_white(s.at[0]))
            return false;
        s = trim_white(s);
        if (!take_time(&s, &c) || !is_zone(trim_white(s)))
            return false;
    }
    return civil_to_us(&c, &us);
}

static bool is_alpha(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter(s.at[i]))
            return false;
    return true;
}

/* As .NET counts: UTF-16 code units. */
static int64_t utf16_length(str s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if ((c & 0xC0) != 0x80)
            n += c >= 0xF0 ? 2 : 1;
    }
    return n;
}

static bool is_within(const route_constraint *c, int64_t n)
{
    return n >= c->low && n <= c->high;
}

/* The last segment has a dot with something behind it. */
static bool is_file(str s)
{
    size_t from = s.len;
    while (from > 0 && s.at[from - 1] != '/')
        from--;
    str    name = str_from(s, from);
    size_t dot = str_find_char(name, '.');
    return dot + 1 < name.len;
}

bool route_constraint_met(const route_constraint *c, str value)
{
    int64_t n;
    switch (c->kind) {
    case CONSTRAINT_INT:
        return to_integer(value, &n) && n >= INT32_MIN && n <= INT32_MAX;
    case CONSTRAINT_LONG:
        return to_integer(value, &n);
    case CONSTRAINT_BOOL:
        value = trim_white(value);
        return str_eq_nocase(value, STR("true")) || str_eq_nocase(value, STR("false"));
    case CONSTRAINT_DATETIME:
        return is_datetime(value);
    case CONSTRAINT_DECIMAL:
        return is_decimal(value);
    case CONSTRAINT_DOUBLE:
        return is_double(value);
    case CONSTRAINT_GUID:
        return is_guid(value);
    case CONSTRAINT_ALPHA:
        return is_alpha(value);
    case CONSTRAINT_LENGTH:
        return is_within(c, utf16_length(value));
    case CONSTRAINT_RANGE:
        return to_integer(value, &n) && is_within(c, n);
    case CONSTRAINT_REGEX:
        return route_regex_matches(c->regex, value);
    case CONSTRAINT_REQUIRED:
        return value.len > 0;
    case CONSTRAINT_FILE:
        return is_file(value);
    case CONSTRAINT_NONFILE:
        return !is_file(value);
    }
    return false;
}

bool route_constraints_met(const route_constraint *list, size_t count, str value)
{
    for (size_t i = 0; i < count; i++)
        if (!route_constraint_met(&list[i], value))
            return false;
    return true;
}

/* What several constraints together leave of all texts, as far as it is plain. */
typedef struct {
    bool    integer, decimal, alpha, boolean;
    int64_t low, high, length_low, length_high;
} leftover;

static void narrow(int64_t *low, int64_t *high, int64_t new_low, int64_t new_high)
{
    *low = new_low > *low ? new_low : *low;
    *high = new_high < *high ? new_high : *high;
}

static void narrow_by(leftover *l, const route_constraint *c)
{
    if (c->kind == CONSTRAINT_INT)
        narrow(&l->low, &l->high, INT32_MIN, INT32_MAX);
    if (c->kind == CONSTRAINT_RANGE)
        narrow(&l->low, &l->high, c->low, c->high);
    if (c->kind == CONSTRAINT_LENGTH)
        narrow(&l->length_low, &l->length_high, c->low, c->high);
    l->integer |= c->kind == CONSTRAINT_INT || c->kind == CONSTRAINT_LONG || c->kind == CONSTRAINT_RANGE;
    l->decimal |= c->kind == CONSTRAINT_DECIMAL;
    l->alpha |= c->kind == CONSTRAINT_ALPHA;
    l->boolean |= c->kind == CONSTRAINT_BOOL;
}

bool route_constraints_exclude(const route_constraint *a, size_t a_count, const route_constraint *b,
                               size_t b_count)
{
    leftover l = {.low = INT64_MIN, .high = INT64_MAX, .length_low = 0, .length_high = INT64_MAX};
    for (size_t i = 0; i < a_count; i++)
        narrow_by(&l, &a[i]);
    for (size_t i = 0; i < b_count; i++)
        narrow_by(&l, &b[i]);

    bool number = l.integer || l.decimal;
    return (number && (l.alpha || l.boolean)) || (l.integer && l.low > l.high) ||
           l.length_low > l.length_high;
}

static const constraint_row *find_row(str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_eq_nocase(str_of(rows[i].name), name))
            return &rows[i];
    return NULL;
}

/* Whole numbers with commas between; false when one is not a number or there are not that many. */
static bool parse_numbers(const constraint_row *row, str args, int64_t ret[2], size_t *ret_count)
{
    size_t n = 0;
    str    field;
    while (str_next_field(&args, ',', &field)) {
        if (n == row->args_max || !to_integer(field, &ret[n]))
            return false;
        n++;
    }
    *ret_count = n;
    return n >= row->args_min;
}

static res set_bounds(arena *a, const constraint_row *row, str args, route_constraint *c, str *ret_error)
{
    int64_t n[2] = {0, 0};
    size_t  count = 0;
    if (!parse_numbers(row, args, n, &count))
        return config_error(a, ret_error, "constraint '%s' wants %s", row->name,
                            row->args_min == 2   ? "two whole numbers"
                            : row->args_max == 2 ? "one whole number or two"
                                                 : "one whole number");
    if (c->kind == CONSTRAINT_LENGTH && (n[0] < 0 || n[0] > INT_MAX || (count == 2 && n[1] > INT_MAX)))
        return config_error(a, ret_error, "constraint '%s': a length is not within 0 and %d", row->name,
                            INT_MAX);
    str name = str_of(row->name);
    c->low = str_starts(name, STR("max")) ? (c->kind == CONSTRAINT_LENGTH ? 0 : INT64_MIN) : n[0];
    c->high = str_starts(name, STR("min")) ? INT64_MAX : n[count > 1 ? 1 : 0];
    if (c->low > c->high)
        return config_error(a, ret_error, "constraint '%s': the least is above the most", row->name);
    return RES_OK;
}

res route_constraint_parse(arena *a, str name, str args, route_constraint *ret, str *ret_error)
{
    const constraint_row *row = find_row(name);
    if (row == NULL)
        return config_error(a, ret_error, "constraint '%.*s' is unknown", STR_ARG(name));

    route_constraint c = {.kind = row->kind};
    bool             wants_args = row->args_min > 0 || row->kind == CONSTRAINT_REGEX;
    if (wants_args != (args.at != NULL))
        return config_error(a, ret_error, "constraint '%s' %s", row->name,
                            wants_args ? "wants something in parentheses" : "takes nothing in parentheses");

    res r = RES_OK;
    if (row->kind == CONSTRAINT_REGEX)
        r = route_regex_compile(a, args, &c.regex, ret_error);
    else if (wants_args)
        r = set_bounds(a, row, args, &c, ret_error);
    if (r == RES_OK)
        *ret = c;
    return r;
}
