/* canon_number.c -- numbers as ECMAScript writes them (ECMA-262, Number::toString), from doubles or from
 * text.
 *
 * In between, a number is a decimal: its significant digits, and where the point stands. Doubles tell all
 * decimals of up to 15 digits apart, so such a decimal, without its trailing zeros, is the shortest that
 * reads back as its double, and needs no arithmetic at all. Only longer ones, and extreme exponents, become
 * doubles: by strtod, which is not shown a decimal point, because what it takes for one depends on the locale
 * ("1.25" is read as "125e-2"); and then digits again by canon_shortest.c.
 *
 * SPDX-License-Identifier: MIT */
#include "canon_number.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "canon_shortest.h"

enum {
    EXACT_DIGITS = 15,    /* every decimal of so many digits survives the way into a double and back */
    SHORTEST_DIGITS = 17, /* every double survives the way into so many digits and back */
    EXACT_POINT = 290,    /* far from where doubles overflow or lose precision */
    POINT_MAX = 310,      /* 0.1e310 overflows, and so does all above */
    POINT_MIN = -330,     /* 0.9e-330 is 0, and so is all below */
    DIGITS_MAX = 800,     /* no midpoint between doubles has more than 767; the rest only says "above" */
    FIXED_MAX = 21,       /* 1e21 is the first with an exponent */
    FIXED_MIN = -5,       /* 0.000001 is the last without */
    EXPONENT_DIGITS = 6,
};

#define EXPONENT_CLAMP INT64_C(1000000000000) /* longer than any text, so that no sum below overflows */

/* 0.DIGITS * 10^point; no zeros at either end; no digits: zero. */
typedef struct {
    char    digits[DIGITS_MAX + 1];
    size_t  len;
    int64_t point;
    bool    negative;
} decimal;

/* ---- reading ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(decimal *d, char digit)
{
    if (d->len < DIGITS_MAX)
        d->digits[d->len++] = digit;
    else if (digit != '0')
        d->digits[DIGITS_MAX - 1] = '1'; /* anything but 0 says that the number is above what is kept */
}

static int64_t read_exponent(const char *p, const char *end)
{
    bool    negative = *p == '-';
    int64_t value = 0;

    for (p += *p == '-' || *p == '+'; p < end; p++)
        if (value < EXPONENT_CLAMP)
            value = value * 10 + (*p - '0');
    return negative ? -value : value;
}

static void strip_zeros(decimal *d)
{
    while (d->len > 0 && d->digits[d->len - 1] == '0')
        d->len--;
}

static void read_decimal(str text, decimal *ret)
{
    const char *p = text.at, *end = text.at + text.len;
    bool        after_point = false;

    ret->len = 0;
    ret->point = 0;
    ret->negative = *p == '-';
    for (p += ret->negative; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        if (*p != '0' || ret->len > 0) {
            add_digit(ret, *p);
            ret->point += !after_point;
        } else {
            ret->point -= after_point; /* a zero between the point and the first digit */
        }
    }
    if (p < end)
        ret->point += read_exponent(p + 1, end);
    strip_zeros(ret);
}

static char *put_exponent(char *out, int64_t exponent)
{
    char    reversed[EXPONENT_DIGITS];
    size_t  len = 0;
    int64_t left = exponent < 0 ? -exponent : exponent;

    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    do
        reversed[len++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    while (len > 0)
        *out++ = reversed[--len];
    return out;
}

static double to_double(const decimal *d)
{
    char text[DIGITS_MAX + 2 + EXPONENT_DIGITS + 1]; /* digits, e, sign, exponent, NUL */

    if (d->len == 0 || d->point < POINT_MIN)
        return 0;
    if (d->point > POINT_MAX)
        return (double)INFINITY;
    memcpy(text, d->digits, d->len);
    *put_exponent(text + d->len, d->point - (int64_t)d->len) = '\0';
    return strtod(text, NULL);
}

/* ---- writing ---- */

static char *put_zeros(char *out, int64_t n)
{
    for (; n > 0; n--)
        *out++ = '0';
    return out;
}

static char *put_digits(char *out, const char *digits, size_t len)
{
    memcpy(out, digits, len);
    return out + len;
}

/* Steps 5 to 12 of Number::toString, where n is our point and k our length. At most 17 digits. */
static str write_decimal(const decimal *d, char out[CANON_NUMBER_SIZE])
{
    int64_t len = (int64_t)d->len;
    char   *end = out;

    assert(d->len <= SHORTEST_DIGITS);
    if (len == 0)
        return (str){memcpy(out, "0", 1), 1};
    if (d->negative)
        *end++ = '-';
    if (len <= d->point && d->point <= FIXED_MAX) {
        end = put_digits(end, d->digits, d->len);
        end = put_zeros(end, d->point - len);
    } else if (0 < d->point && d->point <= FIXED_MAX) {
        end = put_digits(end, d->digits, (size_t)d->point);
        *end++ = '.';
        end = put_digits(end, d->digits + d->point, (size_t)(len - d->point));
    } else if (FIXED_MIN <= d->point && d->point <= 0) {
        end = put_digits(end, "0.", 2);
        end = put_zeros(end, -d->point);
        end = put_digits(end, d->digits, d->len);
    } else {
        *end++ = d->digits[0];
        if (len > 1) {
            *end++ = '.';
            end = put_digits(end, d->digits + 1, d->len - 1);
        }
        end = put_exponent(end, d->point - 1);
    }
    return (str){out, (size_t)(end - out)};
}

/* The digits of a number above 0, from the last to the first. */
static void set_digits(decimal *d, uint64_t number)
{
    char   reversed[SHORTEST_DIGITS + 3];
    size_t len = 0;
    for (; number > 0; number /= 10)
        reversed[len++] = (char)('0' + number % 10);
    for (d->len = 0; len > 0;)
        d->digits[d->len++] = reversed[--len];
}

str canon_number(double d, char out[CANON_NUMBER_SIZE])
{
    decimal shape; /* no initialiser: it would clear the digits as well */
    shape.negative = d < 0;
    shape.len = 0;
    shape.point = 0;

    if (!isfinite(d))
        return (str){memcpy(out, "null", 4), 4};
    if (d != 0) {
        canon_decimal shortest = canon_shortest(fabs(d));
        set_digits(&shape, shortest.digits);
        shape.point = shortest.exponent + (int64_t)shape.len;
        strip_zeros(&shape);
    }
    return write_decimal(&shape, out);
}

double canon_number_parse(str text)
{
    decimal d;
    read_decimal(text, &d);
    double value = to_double(&d);
    return d.negative ? -value : value;
}

str canon_number_rewrite(str text, char out[CANON_NUMBER_SIZE])
{
    decimal d;
    read_decimal(text, &d);
    if (d.len == 0 || (d.len <= EXACT_DIGITS && d.point >= -EXACT_POINT && d.point <= EXACT_POINT))
        return write_decimal(&d, out);
    double value = to_double(&d);
    return canon_number(d.negative ? -value : value, out);
}
