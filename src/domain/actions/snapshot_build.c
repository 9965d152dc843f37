/* snapshot_build.c -- the snapshot and the counts of Stats, made in one pass over the table.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/actions/aggregate.h"
#include "domain/actions/gather.h"
#include "domain/actions/settings.h"
#include "domain/actions/snapshot.h"
#include "runtime/key_lock.h"
#include "storage/blobs.h"

enum { TIME_DIGITS = 3, FRAME_BYTES = 1 * KIB };

typedef struct {
    gathered *items;
    counts   *counts;
    str       generated_at;
    buf      *document;
} building;

/* Newest first, undated last; the order in the table decides between equals. */
static bool add_record(arena *a, const projection_source *from, buf *out, gathered_item *ret, void *ctx)
{
    building *b = ctx;
    int64_t   updated_us;
    (void)a;
    facts f = facts_of(from->payload);
    counts_add(b->counts, &f, 1);
    if (!projection_add(out, from, &updated_us))
        return false;
    ret->rank = updated_us == INT64_MIN ? INT64_MAX : -updated_us;
    return true;
}

/* In a thread. */
static void write_document(void *arg)
{
    building *b = arg;
    buf      *out = b->document;
    gather_sort(b->items);
    if (buf_reserve(out, b->items->text.len + b->items->count + FRAME_BYTES) == NULL)
        return; /* it has failed, and says so */
    (void)buf_addf(out, "{\"version\":1,\"generatedAt\":\"%.*s\",\"count\":%zu,\"items\":[",
                   STR_ARG(b->generated_at), b->items->count);
    gather_write(b->items, out);
    (void)buf_add(out, STR("]}"));
}

static res store_document(task *t, const building *b)
{
    const actions_settings *s = settings_get();
    blob_put                how = {.content_type = STR("application/json; charset=utf-8")};
    if (b->document->failed)
        return task_fail(t, RES_MEMORY, "no memory for the snapshot of %zu records", b->items->count);
    return blobs_put(t, s->snapshots, s->snapshot_blob, buf_str(b->document), &how, NULL);
}

static bool store_counts(task *t, const aggregate_mark *since, const counts *c)
{
    res r = aggregate_store(t, since, counts_json(t->arena, c), NULL);
    if (r == RES_OK)
        return true;
    str why = task_message(t);
    log_warn("the stats could not be stored with the snapshot: %s: %.*s", res_name(r), STR_ARG(why));
    task_forget(t);
    return false;
}

static res build(task *t, snapshot_built *ret)
{
    building              b = {.counts = arena_one(t->arena, counts),
                               .generated_at = iso8601_arena(t->arena, clock_wall_us(), TIME_DIGITS),
                               .document = gather_heap(t->arena, GATHER_TEXT_MAX)};
    const aggregate_mark *since = aggregate_begin(t->arena);
    TRY(gather_all(t, add_record, &b, &b.items));
    TRY(task_offload(t, write_document, &b));
    TRY(store_document(t, &b));
    *ret = (snapshot_built){
        .count = b.items->count,
        .skipped = b.items->skipped,
        .bytes = b.document->len,
        .generated_at = b.generated_at,
        .stats_refreshed = store_counts(t, since, b.counts),
        .stats_total = b.counts->total,
    };
    return RES_OK;
}

res snapshot_build(task *t, snapshot_built *ret)
{
    key_lock *lock;
    TRY(key_lock_take(t, STR("actions snapshot"), &lock));
    res r = build(t, ret);
    key_lock_release(lock);
    return r;
}
