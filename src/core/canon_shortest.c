/* canon_shortest.c -- of the canonicaliser: the shortest decimal of a double, by R. Giulietti's Schubfach.
 *
 * A double c * 2^q stands for all numbers between the midpoints to its neighbours. Let 10^k be the largest
 * power of ten that is not above the width of that interval: then at least one multiple of 10^k lies in it,
 * and at most one of 10^(k+1). So only four candidates need a look: the two multiples of 10^(k+1) around the
 * double, which are shorter, and the two of 10^k.
 *
 * Everything is scaled by 4 * 10^-k, so that candidates and midpoints are whole numbers and only the products
 * by a power of ten are not. 128 bits of that power suffice to compare these rightly, if what is cut off is
 * kept as a sticky lowest bit ("round to odd"). Proof: "The Schubfach way to render doubles", 2020.
 *
 * SPDX-License-Identifier: MIT */
#include "canon_shortest.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1075, EXPONENT_MASK = 0x7FF };

/* Rounded down; exact for the exponents of doubles. The shifts of negative numbers keep their sign, as with
 * every compiler that we use. */
static int floor_log10_pow2(int q, bool three_quarters)
{
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/* The upper 64 bits of the product of a 128-bit power and `factor`, the lowest one set if bits were cut off.
 */
static uint64_t multiply(const uint64_t power[2], uint64_t factor)
{
    __extension__ typedef unsigned __int128 wide;

    wide low = (wide)power[1] * factor;
    wide all = (wide)power[0] * factor + (uint64_t)(low >> 64);
    return (uint64_t)(all >> 64) | ((uint64_t)all > 1);
}

canon_decimal canon_shortest(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    int      biased = (int)(bits >> FRACTION_BITS & EXPONENT_MASK);
    bool     normal = biased != 0;
    assert(value > 0 && biased != EXPONENT_MASK);

    uint64_t c = normal ? fraction | UINT64_C(1) << FRACTION_BITS : fraction;
    int      q = (normal ? biased : 1) - EXPONENT_BIAS;
    /* A power of two stands closer to the double below it than to the one above. */
    bool     lopsided = fraction == 0 && biased > 1;

    int             k = floor_log10_pow2(q, lopsided);
    int             shift = q + floor_log2_pow10(-k) + 1;
    const uint64_t *power = canon_pow10[-k - CANON_POW10_MIN];
    uint64_t        low = multiply(power, (4 * c - 2 + lopsided) << shift);
    uint64_t        exact = multiply(power, (4 * c) << shift);
    uint64_t        high = multiply(power, (4 * c + 2) << shift);
    /* A midpoint reads back as the neighbour with the even significand. */
    low += c & 1;
    high -= c & 1;

    uint64_t s = exact / 4, tens = s / 10;
    if (s >= 10) {
        bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above)
            return (canon_decimal){.digits = tens + above, .exponent = k + 1};
    }
    bool below = low <= 4 * s, above = 4 * s + 4 <= high;
    bool up = exact > 4 * s + 2 || (exact == 4 * s + 2 && (s & 1) != 0);
    return (canon_decimal){.digits = s + (below != above ? above : up), .exponent = k};
}
