/* aggregate.c -- see aggregate.h.
 *
 * Differences are summed in one static structure of fixed size: noting one can neither fail nor wait. The
 * task that patches the row takes the sum in the same breath in which it has read the row, so that a full
 * count that was stored before that moment has been told (aggregate_store) which differences it contains. A
 * count stored between reading and patching changes the ETag, and the patch is dropped; it held only what
 * that count has seen, but for writes during its scan, of which nobody knows on which side of the scan they
 * fell. That drift ends with the next count, as the specification wants it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"
#include "runtime/background.h"
#include "storage/update.h"

enum { PATCH_EVERY_MS = 1000, PATCH_MEMORY = 8 * MIB, TIME_DIGITS = 3, US_OF_MS = 1000 };

#define COLUMN "CacheJson"

/* Stats and status are counted anew at different times: each has a total of its own. */
typedef struct {
    counts  sum;
    int64_t status_total;
    int64_t newest_us; /* the latest lastSyncedUtc; 0: none */
} difference;

struct aggregate_mark {
    difference before;
    uint64_t   taken;
};

static struct {
    difference noted;           /* and not yet taken */
    uint64_t   taken;           /* how often */
    bool       asked, patching; /* a task that patches is about to run, or runs */
    unsigned   storing;         /* full counts that are being written */
    char      *kept;            /* CacheJson; NULL: none */
    size_t     kept_len;
    uint64_t   kept_us;
} now;

/* ---- the copy in memory ---- */

static void drop_kept(void)
{
    free(now.kept);
    now.kept = NULL;
}

/* Without memory for a copy the row is read again: no harm. */
static void keep(str text)
{
    drop_kept();
    now.kept = text.len > 0 ? malloc(text.len) : NULL;
    if (now.kept == NULL)
        return;
    memcpy(now.kept, text.at, text.len);
    now.kept_len = text.len;
    now.kept_us = clock_mono_us();
}

static bool kept_is_fresh(void)
{
    return now.kept != NULL && clock_mono_us() - now.kept_us < (uint64_t)AGGREGATE_KEPT_MS * US_OF_MS;
}

/* ---- the row's text ---- */

/* NULL: it is no JSON object. */
static const json_val *understand(arena *a, str text)
{
    const json_val *doc = NULL;
    if (json_parse(a, text, &doc, NULL) != RES_OK || json_typeof(doc) != JSON_OBJECT)
        return NULL;
    return doc;
}

static json *copy_members(arena *a, const json_val *from)
{
    json *onto = json_object(a);
    for (json_iter it = json_each(from); json_next(&it);)
        json_set_val(onto, arena_cstr(a, it.key), it.value);
    return onto;
}

static const json *patched_stats(arena *a, const json_val *stats, const difference *d)
{
    counts *c = arena_one(a, counts);
    if (!counts_read(stats, c))
        return NULL;
    counts_merge(c, &d->sum, 1, true);
    return counts_json(a, c);
}

static const json *patched_status(arena *a, const json_val *status, const difference *d)
{
    if (json_typeof(status) != JSON_OBJECT)
        return NULL;
    json   *s = copy_members(a, status);
    int64_t total = json_int(json_get(status, "totalCount"), 0) + d->status_total, newest_us;
    str     newest = json_text(json_get(status, "newestSyncedUtc"), (str){0});
    json_set_int(s, "totalCount", total > 0 ? total : 0);
    if (d->newest_us > 0 && (!iso8601_parse(newest, &newest_us) || newest_us < d->newest_us))
        json_set_str(s, "newestSyncedUtc", iso8601_arena(a, d->newest_us, TIME_DIGITS));
    return s;
}

/* ---- patching ---- */

static bool is_nothing(const difference *d)
{
    return d->newest_us == 0 && d->status_total == 0 && counts_are_zero(&d->sum);
}

static difference *take(arena *a)
{
    difference *d = arena_one(a, difference);
    *d = now.noted;
    now.noted = (difference){0};
    now.taken++;
    return d;
}

/* The new text; empty: there is nothing in the row that could be patched. */
static str patched(arena *a, str text, const difference *d)
{
    const json_val *doc = understand(a, text);
    if (doc == NULL)
        return (str){0};
    const json *stats = patched_stats(a, json_get(doc, "stats"), d);
    const json *status = patched_status(a, json_get(doc, "status"), d);
    if (stats == NULL && status == NULL)
        return (str){0};
    json *whole = copy_members(a, doc);
    json_set_json(whole, "stats", stats);
    json_set_json(whole, "status", status);
    return json_print(a, whole);
}

/* A row that is absent, or changed by another meanwhile, is as good a reason to drop the patch as a failure
 * of storage is: the next count mends it. */
static res patch(task *t, void *ctx)
{
    table  in = settings_get()->records;
    entity e;
    (void)ctx;

    res r = tables_get(t, in, STR(ROW_STATS_PARTITION), STR(ROW_STATS_ROW), &e);
    if (now.storing > 0)
        return RES_OK; /* it will say what to do with the differences */
    difference *d = take(t->arena);
    if (r == RES_OK) {
        str text = patched(t->arena, entity_str(&e, COLUMN, (str){0}), d);
        if (text.len == 0)
            return RES_OK;
        entity_set_str(&e, COLUMN, text);
        drop_kept();
        r = tables_replace(t, in, &e, e.etag);
        if (r == RES_OK)
            keep(text);
    }
    if (r != RES_OK && r != RES_NOT_FOUND)
        log_debug("a patch of the aggregates is dropped: %s", res_name(r));
    task_forget(t);
    return task_stopped(t);
}

static void patching_ended(void *arg)
{
    (void)arg;
    now.patching = false;
}

/* `asked` goes before anything is allocated: where memory ends this task at once, the next note asks again.
 */
static res patch_while_noted(task *t, void *ctx)
{
    now.asked = false;
    (void)arena_defer(t->arena, patching_ended, NULL); /* in a task it does not fail */
    now.patching = true;
    while (!is_nothing(&now.noted)) {
        bool leaving = background_leaving();
        TRY(background_pause(t, PATCH_EVERY_MS));
        TRY(task_scope(t, PATCH_MEMORY / 2, patch, ctx));
        if (leaving)
            break; /* that was the last chance */
    }
    return RES_OK;
}

/* When no task can be started, the differences wait for the next one. */
static void start_patching(void)
{
    if (now.asked || now.patching || is_nothing(&now.noted))
        return;
    now.asked = background_start("the aggregates", PATCH_MEMORY, patch_while_noted, NULL) == RES_OK;
}

/* ---- writes ---- */

void aggregate_note(const facts *before, const facts *after, str synced)
{
    int64_t synced_us;
    counts_add(&now.noted.sum, after, 1);
    if (before != NULL)
        counts_add(&now.noted.sum, before, -1);
    else
        now.noted.status_total++;
    if (iso8601_parse(synced, &synced_us) && synced_us > now.noted.newest_us)
        now.noted.newest_us = synced_us;
    start_patching();
}

void aggregate_note_removed(const facts *gone)
{
    counts_add(&now.noted.sum, gone, -1);
    now.noted.status_total--;
    start_patching();
}

/* ---- reading ---- */

static res read_row(task *t, str *ret)
{
    static const char *const column[] = {COLUMN, NULL};
    entity                   e;
    res                      r =
        tables_get_some(t, settings_get()->records, STR(ROW_STATS_PARTITION), STR(ROW_STATS_ROW), column, &e);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        *ret = (str){0};
        return RES_OK;
    }
    TRY(r);
    *ret = entity_str(&e, COLUMN, (str){0});
    keep(*ret);
    return RES_OK;
}

res aggregate_read(task *t, aggregate *ret)
{
    str text;
    if (kept_is_fresh())
        text = arena_copy(t->arena, (str){now.kept, now.kept_len});
    else
        TRY(read_row(t, &text));
    const json_val *doc = understand(t->arena, text);
    *ret = (aggregate){.stats = json_get(doc, "stats"), .status = json_get(doc, "status")};
    return RES_OK;
}

res aggregate_total(task *t, int64_t *ret)
{
    aggregate g;
    TRY(aggregate_read(t, &g));
    int64_t total = json_int(json_get(g.stats, "total"), -1);
    if (total < 0)
        return RES_NOT_FOUND;
    *ret = total;
    return RES_OK;
}

/* ---- counting anew ---- */

const aggregate_mark *aggregate_begin(arena *a)
{
    aggregate_mark *m = arena_one(a, aggregate_mark);
    m->before = now.noted;
    m->taken = now.taken;
    return m;
}

typedef struct {
    const json *stats, *status;
    str         text;
    bool        storing;
} store;

static res set_members(task *t, entity *e, bool is_new, void *ctx)
{
    store          *s = ctx;
    const json_val *old = is_new ? NULL : understand(t->arena, entity_str(e, COLUMN, (str){0}));
    json           *whole = copy_members(t->arena, old);
    json_set_json(whole, "stats", s->stats);
    json_set_json(whole, "status", s->status);
    json_set_str(whole, "cachedAt", iso8601_arena(t->arena, clock_wall_us(), TIME_DIGITS));
    s->text = json_print(t->arena, whole);
    entity_set_str(e, COLUMN, s->text);
    return RES_OK;
}

static void end_storing(void *arg)
{
    store *s = arg;
    if (s->storing)
        now.storing--;
    s->storing = false;
}

/* What the count has seen already is not added to it again. When it was taken meanwhile, it went into the row
 * that has just been overwritten. */
static void forget_seen(const aggregate_mark *since, const store *s)
{
    if (since->taken != now.taken)
        return;
    if (s->stats != NULL)
        counts_merge(&now.noted.sum, &since->before.sum, -1, false);
    if (s->status != NULL)
        now.noted.status_total -= since->before.status_total;
}

res aggregate_store(task *t, const aggregate_mark *since, const json *stats, const json *status)
{
    store *s = arena_one(t->arena, store);
    *s = (store){.stats = stats, .status = status};
    (void)arena_defer(t->arena, end_storing, s); /* in a task it does not fail */
    s->storing = true;
    now.storing++;
    drop_kept();
    res r = update_entity(t, settings_get()->records, STR(ROW_STATS_PARTITION), STR(ROW_STATS_ROW),
                          set_members, s, NULL);
    if (r == RES_OK) {
        forget_seen(since, s);
        keep(s->text);
    }
    end_storing(s);
    return r;
}

void aggregate_forget_for_test(void)
{
    drop_kept();
    now.noted = (difference){0};
    now.taken = 0;
}
