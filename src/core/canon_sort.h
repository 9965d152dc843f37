/* canon_sort.h -- of the canonicaliser: the order of an object's keys. Private to canon*.c.
 *
 * A rank holds what nearly every comparison needs: the first 15 bytes of the key as two big-endian numbers,
 * behind a byte that puts array indices first:
 *
 *     hi  | 1 | key[0..6] |   lo | key[7..14] |    a key of any other kind
 *     hi  | 0 |     0     |   lo |   number   |    an array index
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_SORT_H
#define TRESTLE_SRC_CORE_CANON_SORT_H

#include <stdbool.h>

#include "canon_scan.h"

typedef struct {
    uint64_t    hi, lo;
    const char *order; /* the whole key in the form of canon_string_order, or as it stands if that is equal */
    uint32_t    order_len;
    uint32_t    entry; /* what is sorted */
} canon_rank;

enum { CANON_PREFIX_BYTES = 15 };

/* Loaded from (CANON_PREFIX_BYTES - len) on, a mask that keeps `len` bytes. */
extern const char canon_prefix_mask[2 * CANON_PREFIX_BYTES];

/* The rest of canon_rank_set for keys that begin with a digit, or are longer than the prefix. */
void canon_rank_index(canon_rank *rank);
bool canon_rank_high_rest(const canon_rank *rank);

/* Fills all but `entry` from `order`, behind which CANON_PAD_BYTES must be readable. Returns whether a byte
 * of the key is not ASCII. */
static inline bool canon_rank_set(canon_rank *rank, const char *order, uint32_t len)
{
    const char *mask = canon_prefix_mask + CANON_PREFIX_BYTES;
    mask -= len < CANON_PREFIX_BYTES ? len : CANON_PREFIX_BYTES;
    uint64_t first = canon_load(order) & canon_load(mask);
    uint64_t rest = canon_load(order + 7) & canon_load(mask + 7);

    rank->hi = UINT64_C(1) << 56 | be64toh(first) >> 8;
    rank->lo = be64toh(rest);
    rank->order = order;
    rank->order_len = len;
    if (*order <= '9')
        canon_rank_index(rank);
    if (len > CANON_PREFIX_BYTES && canon_rank_high_rest(rank))
        return true;
    return ((first | rest) & CANON_NOT_ASCII) != 0;
}

/* For equal hi and lo: less than, equal to or greater than 0. */
int canon_rank_tie(const canon_rank *a, const canon_rank *b);

/* Written so that it compiles to no jump but the one for ties, which are rare: the order of keys cannot be
 * predicted. */
static inline bool canon_rank_before(const canon_rank *a, const canon_rank *b)
{
    bool less = (a->hi < b->hi) | ((a->hi == b->hi) & (a->lo < b->lo));
    if (__builtin_expect((a->hi == b->hi) & (a->lo == b->lo), 0))
        less = canon_rank_tie(a, b) < 0;
    return less;
}

static inline bool canon_rank_same(const canon_rank *a, const canon_rank *b)
{
    return a->hi == b->hi && a->lo == b->lo && canon_rank_tie(a, b) == 0;
}

/* Ascending; equal keys stay in their order. O(n log n) for any input. `scratch` has room for n. */
void canon_rank_sort(canon_rank *ranks, uint32_t n, canon_rank *scratch);

#endif
