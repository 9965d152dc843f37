/* canonical.c -- see canonical.h.
 *
 * The thread has an arena of its own, because the task's may be in use by others meanwhile (the children of
 * par_each share one). It is freed with the task's, so the outcome needs no copy.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/canonical.h"

enum {
    MEMORY_FACTOR =
        24, /* sizes of its input: ordinary texts take 8; hostile ones of empty keys end as out of memory */
    MEMORY_EXTRA = 1 * MIB,
};

typedef struct {
    arena         *a;
    str            json;
    canonical_json out;
    canon_error    err;
    res            result;
} work;

static void make(void *arg)
{
    work *w = arg;
    w->result = canon_json(w->a, w->json, &w->out.text, &w->err);
    if (w->result == RES_OK)
        w->out.hash = hash_sha256(w->out.text);
}

static void free_arena(void *slot)
{
    arena_free(*(arena **)slot);
}

/* An arena that goes when `owner` goes; the slot is registered before there is anything to lose. */
static arena *arena_owned_by(arena *owner, size_t budget_bytes)
{
    arena **slot = arena_one(owner, arena *);
    if (slot == NULL || !arena_defer(owner, free_arena, (void *)slot))
        return NULL;
    *slot = arena_new(budget_bytes);
    return *slot;
}

res canonical_make(task *t, str json, canonical_json *ret, canon_error *err)
{
    work w = {.a = t->arena, .json = json};
    if (json.len <= CANONICAL_INLINE_MAX) {
        make(&w);
    } else {
        w.a = arena_owned_by(t->arena, json.len * MEMORY_FACTOR + MEMORY_EXTRA);
        if (w.a == NULL)
            return task_fail(t, RES_MEMORY, "no memory to canonicalise %zu bytes", json.len);
        res r = task_offload(t, make, &w);
        if (r != RES_OK)
            return r;
    }
    if (w.result == RES_OK)
        *ret = w.out;
    else if (err != NULL)
        *err = w.err;
    return w.result;
}
