/* batch_group.c -- the records of one partition: lock, read, write (specification §10, processing 3 to 6).
 *
 * Locks are taken in the order of the keys, so that two batches never wait for each other. While they are
 * held, no other writer of this process comes in between; those of others are met by their ETags.
 *
 * A record that is alone in its partition takes the way of a single upsert.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "domain/actions/batch.h"

enum { READS_AT_ONCE = 8, LOOK_MEMORY = 64 * MIB };

/* ---- settling ---- */

bool batch_is_over(task *t, res r)
{
    return r == RES_MEMORY || task_stopped(t) != RES_OK;
}

void batch_fail(task *t, batch_item *it, batch_status status, res why)
{
    it->status = status;
    it->why = why;
    it->said = *task_peer_said(t);
}

void batch_unchanged(const batch *b, batch_item *it)
{
    it->status = BATCH_UNCHANGED;
    it->synced = arena_copy(b->a, it->seen.synced);
}

/* All or nothing: what is not at fault itself is aborted. */
static void abort_others(const batch_group *g)
{
    for (size_t i = 0; i < g->len; i++)
        if (g->of[i]->status != BATCH_CONFLICT && g->of[i]->status != BATCH_FAILED)
            g->of[i]->status = BATCH_ABORTED;
}

static bool has_failed(const batch_group *g)
{
    for (size_t i = 0; i < g->len; i++)
        if (g->of[i]->status == BATCH_CONFLICT || g->of[i]->status == BATCH_FAILED)
            return true;
    return false;
}

/* ---- reading ---- */

typedef struct {
    batch      *b;
    batch_item *it;
} looking;

static res look(task *t, void *ctx)
{
    const looking *l = ctx;
    upsert_stored  seen;
    TRY(upsert_look(t, &l->it->r, &seen));
    seen.etag = arena_copy(l->b->a, seen.etag);
    seen.synced = arena_copy(l->b->a, seen.synced);
    seen.was.type = arena_copy(l->b->a, seen.was.type);
    l->it->seen = seen;
    return RES_OK;
}

res batch_look(task *t, batch *b, batch_item *it)
{
    looking l = {.b = b, .it = it};
    res     r = task_scope(t, LOOK_MEMORY, look, &l);
    if (r != RES_OK && batch_is_over(t, r))
        return r;
    if (r != RES_OK) {
        batch_fail(t, it, BATCH_FAILED, r);
        str why = task_message(t);
        log_error("batch: '%.*s/%.*s' cannot be read: %.*s [correlationId %.*s]", STR_ARG(it->partition),
                  STR_ARG(it->r.row), STR_ARG(why), STR_ARG(b->correlation));
        task_forget(t);
    }
    return RES_OK;
}

typedef struct {
    batch       *b;
    batch_group *g;
    batch_item  *down; /* the one that found storage out of order: the others do not try */
} group_reading;

static res read_one(task *t, size_t i, void *ctx)
{
    group_reading *r = ctx;
    batch_item    *it = r->g->of[i];
    if (r->down != NULL) {
        it->status = BATCH_FAILED;
        it->why = r->down->why;
        it->said = r->down->said;
        return RES_OK;
    }
    TRY(batch_look(t, r->b, it));
    if (it->status == BATCH_FAILED && res_get(it->why)->retryable)
        r->down = it;
    else if (it->status == BATCH_PENDING && it->seen.same)
        batch_unchanged(r->b, it);
    return RES_OK;
}

/* ---- a group ---- */

static size_t pending_of(const batch_group *g, batch_item **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < g->len; i++)
        if (g->of[i]->status == BATCH_PENDING)
            ret[n++] = g->of[i];
    return n;
}

static res read_and_write(task *t, batch *b, batch_group *g)
{
    group_reading r = {.b = b, .g = g};
    TRY(par_each(t, g->len, READS_AT_ONCE, read_one, &r));
    if (b->strict && has_failed(g))
        return RES_OK;
    batch_item **pending = (batch_item **)arena_zalloc_array(t->arena, g->len, sizeof *pending);
    size_t       len = pending_of(g, pending);
    return len > 0 ? batch_commit(t, b, pending, len) : RES_OK;
}

static res with_locks(task *t, batch *b, batch_group *g)
{
    key_lock **locks = (key_lock **)arena_zalloc_array(t->arena, g->len, sizeof *locks);
    size_t     held = 0;
    res        r = RES_OK;
    while (held < g->len && r == RES_OK) {
        r = upsert_lock(t, &g->of[held]->r, &locks[held]);
        held += r == RES_OK;
    }
    if (r == RES_OK)
        r = g->len == 1 ? batch_write_single(t, b, g->of[0]) : read_and_write(t, b, g);
    while (held > 0)
        key_lock_release(locks[--held]);
    return r;
}

res batch_run_group(task *t, batch *b, batch_group *g)
{
    if (g->spoiled) {
        abort_others(g);
        return RES_OK;
    }
    TRY(with_locks(t, b, g));
    if (b->strict && has_failed(g))
        abort_others(g);
    return RES_OK;
}
