/* update.c -- see update.h.
 *
 * Others that write the same entity make a try fail: then it is read again. The wait before that is random
 * from zero up (full jitter), so that those who collided once do not collide in step for ever, and its upper
 * end doubles, so that many of them find room. A write of which it cannot be told whether it was done is not
 * tried again, for the change would be applied twice: its RES_UPSTREAM is the caller's to judge.
 *
 * SPDX-License-Identifier: MIT */
#include "update_internal.h"

#include "core/id.h"

enum { WAIT_FIRST_MS = 4, WAIT_MAX_MS = 500, DOUBLINGS_MAX = 7 };

static uint64_t wait_max_ms = WAIT_MAX_MS;

static uint64_t wait_ms(unsigned tries)
{
    unsigned doublings = tries < DOUBLINGS_MAX ? tries : DOUBLINGS_MAX;
    uint64_t most = (uint64_t)WAIT_FIRST_MS << doublings, random;
    id_random(&random, sizeof random);
    return random % ((most < wait_max_ms ? most : wait_max_ms) + 1);
}

/* RES_CONFLICT: inserted by another; RES_PRECONDITION and RES_NOT_FOUND: replaced or deleted by another. */
static bool was_overtaken(res r, bool is_new)
{
    return r == RES_PRECONDITION || r == (is_new ? RES_CONFLICT : RES_NOT_FOUND);
}

static res read_now(task *t, table in, str partition, str row, entity *ret, bool *ret_is_new)
{
    res r = tables_get(t, in, partition, row, ret);
    *ret_is_new = r == RES_NOT_FOUND;
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    *ret = entity_new(t->arena, partition, row);
    return RES_OK;
}

static res write_now(task *t, table in, entity *e, bool is_new)
{
    return is_new ? tables_insert(t, in, e) : tables_replace(t, in, e, e->etag);
}

res update_entity(task *t, table in, str partition, str row, update_fn *fn, void *ctx, entity *ret)
{
    for (unsigned tries = 1; tries <= UPDATE_TRIES_MAX; tries++) {
        entity e;
        bool   is_new;
        TRY(read_now(t, in, partition, row, &e, &is_new));
        res r = fn(t, &e, is_new, ctx);
        if (r != RES_OK && r != UPDATE_NOTHING)
            return r;
        if (r == RES_OK)
            r = write_now(t, in, &e, is_new);
        if (r == RES_OK || r == UPDATE_NOTHING) {
            if (ret != NULL)
                *ret = e;
            return RES_OK;
        }
        if (!was_overtaken(r, is_new))
            return r;
        task_forget(t);
        TRY(task_sleep(t, wait_ms(tries)));
    }
    return task_fail(t, RES_CONFLICT, "others changed the entity in each of %d tries", UPDATE_TRIES_MAX);
}

void update_set_wait_for_test(uint64_t max_ms)
{
    wait_max_ms = max_ms;
}
