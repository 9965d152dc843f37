/* buf.h -- bytes that grow, up to a maximum.
 *
 * Lives in an arena (then there is nothing to free) or, with a NULL arena, on the heap (then buf_free). Going
 * past the maximum, or out of heap, sets `failed`, which sticks: append as much as you like and look once at
 * the end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_BUF_H
#define TRESTLE_CORE_BUF_H

#include "core/arena.h"
#include "core/str.h"

typedef struct {
    char  *at;
    size_t len;
    size_t cap;
    size_t max;
    arena *a; /* NULL: heap */
    bool   failed;
} buf;

void buf_init(buf *b, arena *a, size_t max_bytes);
void buf_free(buf *b);  /* heap only; leaves an empty, usable buf */
void buf_clear(buf *b); /* keeps the memory, forgets `failed` */

/* False: failed, now or earlier, and nothing was added. s must not look into b, which may move. */
bool buf_add(buf *b, str s);
bool buf_add_char(buf *b, char c);
bool buf_addf(buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool buf_add_u64(buf *b, uint64_t n);

/* Room for `bytes` more to be written at b->at + b->len by hand (then add to b->len); NULL when failed. */
char *buf_reserve(buf *b, size_t bytes) MUST_USE;
void  buf_drop_front(buf *b, size_t bytes);

static inline str buf_str(const buf *b)
{
    return (str){b->at, b->len};
}

#endif
