/* edm_time.c -- points in time with seven digits, one more than core/iso8601.h keeps.
 *
 * That one reads and writes all but the last digit, which is added and taken here.
 *
 * SPDX-License-Identifier: MIT */
#include "core/iso8601.h"
#include "storage/entity.h"

enum { DIGITS = 7, TICKS_PER_US = 10 };

_Static_assert((int)EDM_TIME_SIZE >= (int)ISO8601_SIZE, "iso8601_format writes into our buffers");

static size_t count_digits(str s)
{
    size_t n = 0;
    while (n < s.len && s.at[n] >= '0' && s.at[n] <= '9')
        n++;
    return n;
}

str edm_time_format(edm_ticks ticks, char out[EDM_TIME_SIZE])
{
    int     last = (int)(ticks % TICKS_PER_US);
    int64_t us = ticks / TICKS_PER_US;
    if (last < 0) { /* before 1970: rounded down, as after */
        last += TICKS_PER_US;
        us--;
    }
    str text = iso8601_format(us, DIGITS, out);
    out[text.len - 2] = (char)('0' + last); /* before the Z */
    return text;
}

bool edm_time_parse(str text, edm_ticks *ret)
{
    int64_t us;
    if (!iso8601_parse(text, &us))
        return false;
    str    fraction = str_from(text, str_find_char(text, '.') + 1);
    size_t digits = count_digits(fraction);
    if (digits > DIGITS)
        return false;
    *ret = us * TICKS_PER_US + (digits == DIGITS ? fraction.at[DIGITS - 1] - '0' : 0);
    return true;
}
