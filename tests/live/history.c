/* history.c -- see history.h.
 *
 * SPDX-License-Identifier: MIT */
#include "live/history.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "support/scratch.h"

enum { PLACES = 1 << 20, TEXT_MAX = 64 * KIB };

typedef struct {
    uint64_t done; /* one bit for each operation */
    unsigned value;
    bool     used;
} place;

typedef struct {
    const history_op *ops;
    size_t            count;
    place            *seen; /* open addressing */
    size_t            seen_count;
} search;

/* False: a register that holds `value` could not have answered so. */
static bool apply(const history_op *op, unsigned value, unsigned *ret)
{
    bool there = value != 0;
    *ret = value;
    switch (op->kind) {
    case HISTORY_READ:
        return op->result == RES_OK ? there && value == op->value : op->result == RES_NOT_FOUND && !there;
    case HISTORY_UPSERT:
        *ret = op->value;
        return op->result == RES_OK;
    case HISTORY_INSERT:
        if (op->result != RES_OK)
            return op->result == RES_CONFLICT && there;
        *ret = op->value;
        return !there;
    case HISTORY_REPLACE:
    case HISTORY_REMOVE:
        if (op->result == RES_NOT_FOUND)
            return !there;
        if (op->result != RES_OK)
            return op->result == RES_PRECONDITION && there && value != op->expected;
        *ret = op->kind == HISTORY_REMOVE ? 0 : op->value;
        return there && value == op->expected;
    }
    return false;
}

/* True the first time. */
static bool enter(search *s, uint64_t done, unsigned value)
{
    uint64_t hash = (done * UINT64_C(0x9E3779B97F4A7C15)) ^ (value * UINT64_C(0xC2B2AE3D27D4EB4F));
    for (size_t i = (size_t)(hash >> 40);; i++) {
        place *p = &s->seen[i % PLACES];
        if (!p->used) {
            ck_assert_msg(++s->seen_count < PLACES / 2, "the history is too wide to be searched");
            *p = (place){.done = done, .value = value, .used = true};
            return true;
        }
        if (p->done == done && p->value == value)
            return false;
    }
}

/* It may come next when nothing that is still to come had returned before it was called. */
static bool may_be_next(const search *s, uint64_t done, size_t i)
{
    for (size_t k = 0; k < s->count; k++)
        if (!(done >> k & 1) && s->ops[k].returned < s->ops[i].called)
            return false;
    return true;
}

static bool find_order(search *s, uint64_t done, unsigned value)
{
    if (done == (s->count == HISTORY_MAX ? UINT64_MAX : (UINT64_C(1) << s->count) - 1))
        return true;
    for (size_t i = 0; i < s->count; i++) {
        unsigned next;
        if (done >> i & 1 || !may_be_next(s, done, i) || !apply(&s->ops[i], value, &next))
            continue;
        if (enter(s, done | UINT64_C(1) << i, next) && find_order(s, done | UINT64_C(1) << i, next))
            return true;
    }
    return false;
}

static int by_return(const void *left, const void *right)
{
    const history_op *a = left, *b = right;
    return (a->returned > b->returned) - (a->returned < b->returned);
}

/* The order in which they returned is the likeliest, so it is tried first: where all overlap, any other would
 * lead far astray before it fails. */
bool history_is_linearizable(const history_op *ops, size_t count)
{
    history_op sorted[HISTORY_MAX];
    ck_assert_uint_le(count, HISTORY_MAX);
    memcpy(sorted, ops, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_return);
    search s = {.ops = sorted, .count = count, .seen = calloc(PLACES, sizeof *s.seen)};
    ck_assert_ptr_nonnull(s.seen);
    bool yes = find_order(&s, 0, 0);
    free(s.seen);
    return yes;
}

str history_text(const history_op *ops, size_t count)
{
    static const char *const kinds[] = {"read", "insert", "replace", "remove", "upsert"};
    buf                      text;
    buf_init(&text, scratch(), TEXT_MAX);
    for (size_t i = 0; i < count; i++)
        buf_addf(&text, "%3u..%-3u %-7s value %2u expected %2u: %s\n", ops[i].called, ops[i].returned,
                 kinds[ops[i].kind], ops[i].value, ops[i].expected, res_name(ops[i].result));
    return buf_str(&text);
}
