/* canon_sort.c -- of the canonicaliser: ranks of keys, and a stable merge sort over runs of them.
 *
 * SPDX-License-Identifier: MIT */
#include "canon_sort.h"

#include <string.h>

#include "canon_scan.h"

enum { RUN = 8, INDEX_DIGITS = 10 };

#define INDEX_MAX UINT64_C(4294967294) /* of an array in JavaScript */

const char canon_prefix_mask[2 * CANON_PREFIX_BYTES] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                        -1, -1, -1, -1, -1, -1, -1};

void canon_rank_index(canon_rank *rank)
{
    uint64_t n = 0;
    if (rank->order_len == 0 || rank->order_len > INDEX_DIGITS)
        return;
    if (rank->order[0] == '0' && rank->order_len > 1)
        return;
    for (uint32_t i = 0; i < rank->order_len; i++) {
        if (rank->order[i] < '0' || rank->order[i] > '9')
            return;
        n = n * 10 + (uint64_t)(rank->order[i] - '0');
    }
    if (n > INDEX_MAX)
        return;
    rank->hi = 0;
    rank->lo = n;
}

bool canon_rank_high_rest(const canon_rank *rank)
{
    for (uint32_t i = CANON_PREFIX_BYTES; i < rank->order_len; i++)
        if ((unsigned char)rank->order[i] >= 0x80)
            return true;
    return false;
}

int canon_rank_tie(const canon_rank *a, const canon_rank *b)
{
    uint32_t shorter = a->order_len < b->order_len ? a->order_len : b->order_len;
    if (shorter > CANON_PREFIX_BYTES) {
        int by_bytes = memcmp(a->order + CANON_PREFIX_BYTES, b->order + CANON_PREFIX_BYTES,
                              shorter - CANON_PREFIX_BYTES);
        if (by_bytes != 0)
            return by_bytes;
    }
    return (a->order_len > b->order_len) - (a->order_len < b->order_len);
}

static void sort_run(canon_rank *ranks, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        canon_rank moved = ranks[i];
        uint32_t   to = i;
        for (; to > 0 && canon_rank_before(&moved, &ranks[to - 1]); to--)
            ranks[to] = ranks[to - 1];
        ranks[to] = moved;
    }
}

/* Of equal ones the left goes first, which keeps the sort stable. */
static void merge(const canon_rank *left, uint32_t left_len, const canon_rank *right, uint32_t right_len,
                  canon_rank *to)
{
    const canon_rank *left_end = left + left_len, *right_end = right + right_len;
    while (left < left_end && right < right_end) {
        bool              from_right = canon_rank_before(right, left);
        const canon_rank *first = from_right ? right : left;
        *to++ = *first;
        right += from_right;
        left += !from_right;
    }
    memcpy(to, left, (size_t)(left_end - left) * sizeof *to);
    to += left_end - left;
    memcpy(to, right, (size_t)(right_end - right) * sizeof *to);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void canon_rank_sort(canon_rank *ranks, uint32_t n, canon_rank *scratch)
{
    canon_rank *from = ranks, *to = scratch;

    for (uint32_t i = 0; i < n; i += RUN)
        sort_run(ranks + i, least(RUN, n - i));
    for (uint32_t width = RUN; width < n; width *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * width) {
            uint32_t left = least(width, n - i), right = least(width, n - i - left);
            merge(from + i, left, from + i + left, right, to + i);
        }
        canon_rank *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != ranks)
        memcpy(ranks, from, n * sizeof *ranks);
}
