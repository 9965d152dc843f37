/* buf.c -- bytes that grow by doubling, in an arena or on the heap.
 *
 * One byte more than `cap` is always allocated: the place of the terminator that formatting writes, so that a
 * text of exactly the maximum can be formatted in place.
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ALLOC_BYTES = 64, U64_DIGITS_MAX = 20 };

/* No buf is larger than this, whatever it was allowed: doubling cannot overflow. */
#define BUF_BYTES_MAX (SIZE_MAX / 8)

static bool fail(buf *b)
{
    b->failed = true;
    return false;
}

/* The next capacity, terminator included: doubled until it holds `len`, but not above the maximum. */
static size_t next_alloc_bytes(const buf *b, size_t len)
{
    size_t bytes = b->at != NULL ? 2 * (b->cap + 1) : FIRST_ALLOC_BYTES;
    if (bytes < len + 1)
        bytes = len + 1;
    return bytes < b->max + 1 ? bytes : b->max + 1;
}

/* Makes place for `bytes` more. */
static bool grow(buf *b, size_t bytes)
{
    if (bytes > b->max || b->len > b->max - bytes)
        return fail(b);
    size_t alloc = next_alloc_bytes(b, b->len + bytes);
    char  *at = b->a == NULL    ? realloc(b->at, alloc)
                : b->at == NULL ? arena_alloc(b->a, alloc)
                                : arena_regrow(b->a, b->at, b->cap + 1, alloc);
    if (at == NULL)
        return fail(b);
    b->at = at;
    b->cap = alloc - 1;
    return true;
}

void buf_init(buf *b, arena *a, size_t max_bytes)
{
    *b = (buf){.a = a, .max = max_bytes < BUF_BYTES_MAX ? max_bytes : BUF_BYTES_MAX};
}

void buf_free(buf *b)
{
    if (b->a == NULL)
        free(b->at);
    *b = (buf){.a = b->a, .max = b->max};
}

void buf_clear(buf *b)
{
    b->len = 0;
    b->failed = false;
}

bool buf_add(buf *b, str s)
{
    if (s.len == 0)
        return !b->failed;
    char *to = buf_reserve(b, s.len);
    if (to == NULL)
        return false;
    memcpy(to, s.at, s.len);
    b->len += s.len;
    return true;
}

bool buf_add_char(buf *b, char c)
{
    return buf_add(b, (str){&c, 1});
}

bool buf_addf(buf *b, const char *fmt, ...)
{
    va_list args, again;
    char   *to = buf_reserve(b, 0);
    if (to == NULL)
        return false;

    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(to, b->cap - b->len + 1, fmt, args);
    if (len < 0) {
        fail(b);
    } else if ((size_t)len > b->cap - b->len) {
        to = buf_reserve(b, (size_t)len);
        if (to != NULL)
            vsnprintf(to, (size_t)len + 1, fmt, again);
    }
    va_end(again);
    va_end(args);

    if (!b->failed)
        b->len += (size_t)len;
    return !b->failed;
}

bool buf_add_u64(buf *b, uint64_t n)
{
    char   digits[U64_DIGITS_MAX];
    size_t from = sizeof digits;
    do {
        digits[--from] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    return buf_add(b, (str){digits + from, sizeof digits - from});
}

char *buf_reserve(buf *b, size_t bytes)
{
    if (b->failed)
        return NULL;
    if ((b->at == NULL || b->cap - b->len < bytes) && !grow(b, bytes))
        return NULL;
    return b->at + b->len;
}

void buf_drop_front(buf *b, size_t bytes)
{
    if (bytes >= b->len) {
        b->len = 0;
        return;
    }
    if (bytes > 0)
        memmove(b->at, b->at + bytes, b->len - bytes);
    b->len -= bytes;
}
