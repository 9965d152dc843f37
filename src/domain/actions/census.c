/* census.c -- see census.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/census.h"

#include "core/clock.h"
#include "core/log.h"
#include "domain/actions/row.h"
#include "runtime/key_lock.h"

enum { ROW_MEMORY = 256 * MIB }; /* the payload of one row, unpacked and understood: 16 MiB at most */

static struct {
    census   last;
    uint64_t begun, done; /* the how-manyth scan began last, and which one ended well last */
} all;

typedef struct {
    const entity *e;
    census       *c;
} one;

static res count_row(task *t, void *ctx)
{
    const one *o = ctx;
    str        payload;
    facts      f;
    if (row_payload(t->arena, o->e, &payload) != RES_OK || facts_read(t->arena, payload, &f) != RES_OK)
        return RES_OK; /* no record: not counted */
    counts_add(&o->c->stats, &f, 1);
    ages_add(&o->c->status, row_synced(o->e), o->c->taken_us);
    return RES_OK;
}

/* Each row in memory of its own: a page of large ones would not fit into what one page may take. */
static res count_in_scope(task *t, const entity *e, void *ctx)
{
    one o = {.e = e, .c = ctx};
    return task_scope(t, ROW_MEMORY, count_row, &o);
}

static void store_part(task *t, census_part part, const aggregate_mark *since, const census *c)
{
    bool  stats = part == CENSUS_STATS;
    json *body = stats ? counts_json(t->arena, &c->stats) : ages_json(t->arena, &c->status, c->taken_us);
    res   r = aggregate_store(t, since, stats ? body : NULL, stats ? NULL : body);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_warn("the row of aggregates could not be written: %s: %.*s", res_name(r), STR_ARG(why));
    task_forget(t);
}

/* In t's arena until it is whole: others read `all.last` meanwhile. */
static res scan(task *t, census_part part)
{
    census               *c = arena_one(t->arena, census);
    const aggregate_mark *since = aggregate_begin(t->arena);
    uint64_t              mine = ++all.begun;
    c->taken_us = clock_wall_us();
    TRY(row_each(t, (str){0}, count_in_scope, c));
    store_part(t, part, since, c);
    TRY(task_stopped(t));
    all.last = *c;
    all.done = mine;
    return RES_OK;
}

res census_take(task *t, census_part part, census *ret)
{
    uint64_t  before = all.begun;
    key_lock *lock;
    TRY(key_lock_take(t, STR("census of the actions"), &lock));
    res r = all.done > before ? RES_OK : scan(t, part);
    key_lock_release(lock);
    if (r == RES_OK)
        *ret = all.last;
    return r;
}
