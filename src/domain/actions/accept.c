/* accept.c -- see accept.h (RFC 9110, 12.5.3).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/accept.h"

/* "0", "0.", "0.000": any other weight, and none, is above zero. */
static bool is_zero(str weight)
{
    if (weight.len == 0 || weight.at[0] != '0')
        return false;
    for (size_t i = 1; i < weight.len; i++)
        if (weight.at[i] != (i == 1 ? '.' : '0'))
            return false;
    return true;
}

static bool is_refused(str parameters)
{
    str one;
    while (str_next_field(&parameters, ';', &one)) {
        one = str_trim(one);
        if (str_starts_nocase(one, STR("q=")) && is_zero(str_trim(str_from(one, 2))))
            return true;
    }
    return false;
}

bool accept_gzip(str accept_encoding)
{
    bool any = false;
    str  one;
    while (str_next_field(&accept_encoding, ',', &one)) {
        size_t end = str_find_char(one, ';');
        str    coding = str_trim(str_slice(one, 0, end));
        bool   wanted = !is_refused(str_from(one, end));
        if (str_eq_nocase(coding, STR("gzip")) || str_eq_nocase(coding, STR("x-gzip")))
            return wanted;
        if (str_eq(coding, STR("*")))
            any = wanted;
    }
    return any;
}
