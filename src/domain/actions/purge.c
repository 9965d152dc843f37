/* purge.c -- the timer ActionsPurge: removes records that nobody keeps up any more, and old history
 * (specification §14).
 *
 * A record's stamp tells when it last changed, not when it was last seen: a healthy one may be years old. So
 * age alone condemns nobody; the record must be archived or disabled too, unless a setting says otherwise.
 *
 * One scan finds the candidates and counts all records, for of these no more than 5 % may go in one run.
 * Then, partition by partition: each is read again and looked at again, its payload is kept as history, and
 * it is deleted if it still is what was read. Whatever fails in that leaves the record where it is; the next
 * run comes to it again.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "core/metrics.h"
#include "domain/actions.h"
#include "domain/actions/aggregate.h"
#include "domain/actions/cache.h"
#include "domain/actions/facts.h"
#include "domain/actions/history.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"

enum {
    SHARE_PERCENT = 5,
    CANDIDATES_MAX = 5000, /* of one run, whatever the setting says: they are held in memory */
    GROUP_MEMORY = 8 * MIB,
    ROW_MEMORY = 64 * MIB, /* of one row: its payload may have 16 MiB */
};
#define US_A_DAY (INT64_C(24) * 3600 * 1000000)

typedef struct {
    str partition, row, synced;
} candidate;

typedef struct {
    arena     *a; /* the run's, which outlives pages and groups */
    int64_t    before_us;
    candidate *list;
    size_t     count, wanted;
    size_t     records, limit, purged, kept;
} run;

/* ---- who may go ---- */

static bool is_eligible(arena *a, const entity *e, int64_t before_us, facts *ret)
{
    int64_t synced_us;
    str     payload;
    if (!iso8601_parse(row_synced(e), &synced_us) || synced_us >= before_us)
        return false;
    if (row_payload(a, e, &payload) != RES_OK || facts_read(a, payload, ret) != RES_OK)
        return false;
    return ret->archived || ret->disabled || settings_get()->purge_any;
}

static res consider(task *t, const entity *e, void *ctx)
{
    run  *p = ctx;
    facts f;
    p->records++;
    if (p->count < p->wanted && is_eligible(t->arena, e, p->before_us, &f))
        p->list[p->count++] = (candidate){arena_copy(p->a, e->partition), arena_copy(p->a, e->row),
                                          arena_copy(p->a, row_synced(e))};
    return RES_OK;
}

static res find_candidates(task *t, run *p)
{
    const actions_settings *s = settings_get();
    p->a = t->arena;
    p->before_us = clock_wall_us() - s->stale_days * US_A_DAY;
    p->wanted = s->purge_max < CANDIDATES_MAX ? s->purge_max : CANDIDATES_MAX;
    p->list = arena_array(t->arena, candidate, p->wanted);
    TRY(row_each(t, STR(""), consider, p));
    size_t share = p->records * SHARE_PERCENT / 100;
    p->limit = share < p->wanted ? share : p->wanted;
    return RES_OK;
}

/* ---- keeping what goes ---- */

typedef struct {
    entity keys; /* of a deletion the keys alone count */
    facts  about;
} doomed;

typedef struct {
    run       *p;
    size_t     from, to; /* candidates of one partition */
    arena     *a;        /* the group's */
    doomed    *list;
    size_t     count;
    candidate *now;
} group;

/* Adds the row to the group once its payload is kept. */
static res keep_one(task *t, void *ctx)
{
    group *g = ctx;
    entity e;
    facts  f;
    TRY(tables_get(t, settings_get()->records, g->now->partition, g->now->row, &e));
    if (!is_eligible(t->arena, &e, g->p->before_us, &f))
        return RES_PRECONDITION; /* it has changed since the scan */
    TRY(history_keep(t, &e, HISTORY_PURGE));

    f.type = arena_copy(g->a, f.type);
    doomed d = {.keys = entity_new(g->a, g->now->partition, g->now->row), .about = f};
    d.keys.etag = arena_copy(g->a, e.etag);
    g->list[g->count++] = d;
    return RES_OK;
}

static void note_kept(task *t, run *p, const candidate *c, res why)
{
    str message = task_message(t);
    p->kept++;
    log_warn("purge leaves '%.*s/%.*s' as it is (%s): %.*s", STR_ARG(c->partition), STR_ARG(c->row),
             res_name(why), STR_ARG(message));
    task_forget(t);
}

static res keep_payloads(task *t, group *g)
{
    g->a = t->arena;
    g->list = arena_array(t->arena, doomed, g->to - g->from);
    for (size_t i = g->from; i < g->to; i++) {
        g->now = &g->p->list[i];
        res r = task_scope(t, ROW_MEMORY, keep_one, g);
        TRY(task_stopped(t));
        if (r != RES_OK)
            note_kept(t, g->p, g->now, r);
    }
    return RES_OK;
}

/* ---- removing ---- */

static void leave_out(group *g, size_t i)
{
    g->count--;
    for (; i < g->count; i++)
        g->list[i] = g->list[i + 1];
}

/* All of them in one transaction. One that has changed or gone meanwhile makes it fail as a whole; then once
 * more without that one. */
static res remove_group(task *t, group *g)
{
    table_write *writes = arena_array(t->arena, table_write, g->count);
    while (g->count > 0) {
        size_t failed = 0;
        for (size_t i = 0; i < g->count; i++)
            writes[i] =
                (table_write){.kind = WRITE_DELETE, .e = &g->list[i].keys, .etag = g->list[i].keys.etag};
        res r = tables_commit(t, settings_get()->records, writes, g->count, &failed);
        if (r == RES_OK)
            break;
        if ((r != RES_PRECONDITION && r != RES_NOT_FOUND) || failed >= g->count)
            return r;
        const entity *e = &g->list[failed].keys;
        note_kept(t, g->p, &(candidate){.partition = e->partition, .row = e->row}, r);
        leave_out(g, failed);
    }
    return RES_OK;
}

/* Copies are dropped even when it cannot be told what became of the rows. */
static void drop_copies(task *t, const group *g)
{
    cache_key *keys = arena_array(t->arena, cache_key, g->count);
    for (size_t i = 0; i < g->count; i++)
        keys[i] = (cache_key){g->list[i].keys.partition, g->list[i].keys.row};
    cache_drop(t, keys, g->count);
}

static res purge_group(task *t, void *ctx)
{
    group *g = ctx;
    TRY(keep_payloads(t, g));
    res r = remove_group(t, g);
    drop_copies(t, g);
    if (r != RES_OK)
        return task_fail(t, r, "purge of partition '%.*s'", STR_ARG(g->p->list[g->from].partition));
    for (size_t i = 0; i < g->count; i++) {
        aggregate_note_removed(&g->list[i].about);
        log_info("purge removed '%.*s/%.*s'", STR_ARG(g->list[i].keys.partition),
                 STR_ARG(g->list[i].keys.row));
    }
    g->p->purged += g->count;
    return RES_OK;
}

/* As many of the partition that begins there as one transaction and the run's limit allow. */
static size_t group_end(const run *p, size_t from)
{
    size_t most = p->limit - p->purged, to = from;
    if (most > TABLES_BATCH_MAX)
        most = TABLES_BATCH_MAX;
    while (to < p->count && to - from < most && str_eq(p->list[to].partition, p->list[from].partition))
        to++;
    return to;
}

/* Whoever has to stay makes room for the next candidate. */
static res remove_candidates(task *t, run *p)
{
    for (size_t from = 0; from < p->count && p->purged < p->limit;) {
        group g = {.p = p, .from = from, .to = group_end(p, from)};
        TRY(task_scope(t, GROUP_MEMORY, purge_group, &g));
        from = g.to;
    }
    return RES_OK;
}

static void tell_candidates(const run *p)
{
    for (size_t i = 0; i < p->count && i < p->limit; i++)
        log_info("purge would remove '%.*s/%.*s', which has not changed since %.*s",
                 STR_ARG(p->list[i].partition), STR_ARG(p->list[i].row), STR_ARG(p->list[i].synced));
}

/* ---- the timer ---- */

static void count(const run *p)
{
    metrics_add(metrics_counter("trestle_actions_purged_total", "", "Records that the purge removed"),
                (int64_t)p->purged);
    metrics_add(metrics_counter("trestle_actions_purge_kept_total", "",
                                "Records that the purge left because they had changed, or had no history"),
                (int64_t)p->kept);
}

static res purge(task *t, reply *out)
{
    run                     p = {0};
    const actions_settings *s = settings_get();
    if (s->stale_days == 0) {
        reply_log(out, "purge is off: ACTIONS_STALE_DAYS is 0");
        return RES_OK;
    }
    TRY(find_candidates(t, &p));
    if (s->purge_dry_run) {
        tell_candidates(&p);
        reply_log(out, "purge, dry run: %zu of %zu records are stale, at most %zu would go", p.count,
                  p.records, p.limit);
        return RES_OK;
    }
    res r = remove_candidates(t, &p);
    count(&p);
    reply_log(out, "purge: %zu of %zu records removed, %zu left as they are", p.purged, p.records, p.kept);
    return r;
}

static res expire(task *t, reply *out)
{
    size_t removed = 0;
    res    r = history_expire(t, &removed);
    reply_log(out, "history: %zu blobs older than %u days removed", removed, settings_get()->history_days);
    return r;
}

/* A failure is logged and no failure of the invocation (specification §12): the next run goes on. */
static res swallow(task *t, res r, const char *what)
{
    TRY(task_stopped(t));
    if (r == RES_OK)
        return RES_OK;
    str why = task_message(t);
    log_error("%s failed with %s: %.*s", what, res_name(r), STR_ARG(why));
    task_forget(t);
    return RES_OK;
}

res actions_purge(task *t, const request *in, reply *out)
{
    (void)in;
    TRY(swallow(t, expire(t, out), "expiry of history"));
    return swallow(t, purge(t, out), "purge");
}
