/* canon_shortest.h -- of the canonicaliser: the shortest decimal of a double. Private to canon*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_SHORTEST_H
#define TRESTLE_SRC_CORE_CANON_SHORTEST_H

#include <stdint.h>

typedef struct {
    uint64_t digits; /* may end in zeros */
    int      exponent;
} canon_decimal;

/* The decimal digits * 10^exponent that has the fewest digits of all that read back as `value`, and of those
 * the nearest to it. `value` must be finite and above 0. */
canon_decimal canon_shortest(double value);

enum { CANON_POW10_MIN = -292, CANON_POW10_MAX = 324 };
extern const uint64_t canon_pow10[CANON_POW10_MAX - CANON_POW10_MIN + 1][2]; /* see canon_pow10.c */

#endif
