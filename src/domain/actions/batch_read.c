/* batch_read.c -- from the body of a request to items in groups (specification §10, processing 1 to 3).
 *
 * Each record is read from its own text, by the same reader as a single one. Only when one is refused is it
 * asked whether the text was JSON at all: if not, the request as a whole is none.
 *
 * Large bodies are read in a thread, with an arena of their own: there an allocation may fail, and nothing
 * waits.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/canon.h"
#include "core/json.h"
#include "domain/actions/batch.h"
#include "domain/actions/batch_scan.h"
#include "domain/actions/settings.h"
#include "domain/actions/thread_arena.h"

enum {
    OFFLOAD_BYTES = 256 * KIB,
    MEMORY_FACTOR = 24, /* as in record.c */
    MEMORY_EXTRA = 1 * MIB,
};

typedef struct {
    arena        *a;
    str           body;
    size_t        max_bytes;
    bool          timestamps, strict;
    batch_item   *items;
    size_t        count;
    batch_problem why;
    res           result;
} reading;

static res refuse(reading *job, const char *message, size_t received)
{
    job->why = (batch_problem){.message = message, .received = received};
    return RES_INVALID;
}

static res broken(reading *job)
{
    return refuse(job, "Request body is not valid JSON.", 0);
}

/* What nests too deeply to be looked at is an invalid record, not a broken request. */
static res check_json(reading *job, str text, size_t depth)
{
    str         out;
    canon_error err;
    if (depth > CANON_DEPTH_MAX)
        return RES_OK;
    res r = canon_json(job->a, text, &out, &err);
    return r == RES_INVALID ? broken(job) : r;
}

static bool check_skipped(str value, size_t depth, void *ctx)
{
    reading *job = ctx;
    if (job->result == RES_OK)
        job->result = check_json(job, value, depth);
    return job->result == RES_OK;
}

/* The partition of a record that is invalid for another reason; empty when its owner is none. */
static str partition_of(arena *a, str text)
{
    const json_val *doc;
    char            digits[CANON_NUMBER_SIZE];
    if (json_parse(a, text, &doc, NULL) != RES_OK)
        return (str){0};
    const json_val *owner = json_get(doc, "owner");
    if (json_typeof(owner) == JSON_NUMBER)
        return arena_copy(a, canon_number(json_double(owner, 0), digits));
    return record_key(a, json_text(owner, (str){0}));
}

static res read_item(reading *job, const batch_element *e, batch_item *it)
{
    it->text = e->text;
    res r = record_read_now(job->a, e->text, job->max_bytes, job->timestamps, &it->r, &it->problem);
    if (r == RES_OK)
        it->partition = it->r.partition;
    if (r != RES_INVALID && r != RES_TOO_LARGE)
        return r;
    it->status = BATCH_INVALID;
    TRY(check_json(job, e->text, e->depth));
    if (job->strict)
        it->partition = partition_of(job->a, e->text);
    return RES_OK;
}

static res read_elements(reading *job)
{
    batch_element *elements = arena_array(job->a, batch_element, BATCH_MAX);
    size_t         count;
    if (elements == NULL)
        return RES_MEMORY;
    batch_scan_end end = batch_scan(job->body, elements, BATCH_MAX, &count, check_skipped, job);
    TRY(job->result);
    if (end == BATCH_SCAN_BROKEN)
        return broken(job);
    if (end == BATCH_SCAN_OTHER)
        return refuse(job,
                      "Request body must be a JSON array of records, or an object with one as 'records'.", 0);
    if (count < 1 || count > BATCH_MAX)
        return refuse(job, "A batch has 1 to 100 records.", count);
    job->items = arena_array(job->a, batch_item, count);
    if (job->items == NULL)
        return RES_MEMORY;
    for (job->count = 0; job->count < count; job->count++)
        TRY(read_item(job, &elements[job->count], &job->items[job->count]));
    return RES_OK;
}

static void read_in_thread(void *arg)
{
    reading *job = arg;
    job->result = read_elements(job);
}

static res read_body(task *t, reading *job)
{
    if (job->body.len <= OFFLOAD_BYTES) {
        job->a = t->arena;
        return read_elements(job);
    }
    job->a = thread_arena(t->arena, job->body.len * MEMORY_FACTOR + MEMORY_EXTRA);
    if (job->a == NULL)
        return task_fail(t, RES_MEMORY, "no memory to read a batch of %zu bytes", job->body.len);
    TRY(task_offload(t, read_in_thread, job));
    return job->result;
}

/* ---- duplicates and groups ---- */

/* Of one key, in the order of the request. */
static int by_key(const void *left, const void *right)
{
    const batch_item *a = *(batch_item *const *)left, *b = *(batch_item *const *)right;
    int               order = str_compare(a->partition, b->partition);
    if (order == 0)
        order = str_compare(a->r.row, b->r.row);
    if (order == 0)
        order = a < b ? -1 : a > b;
    return order;
}

static bool same_key(const batch_item *a, const batch_item *b)
{
    return str_eq(a->partition, b->partition) && str_eq(a->r.row, b->r.row);
}

/* The last of each key stays, as it would if all were sent one after another. */
static size_t drop_superseded(batch *b, batch_item **sorted, size_t len)
{
    size_t kept = 0, winner = 0;
    for (size_t i = len; i-- > 0;) {
        if (i + 1 < len && same_key(sorted[i], sorted[i + 1])) {
            sorted[i]->status = BATCH_SUPERSEDED;
            sorted[i]->winner = winner;
        } else {
            winner = (size_t)(sorted[i] - b->items);
        }
    }
    for (size_t i = 0; i < len; i++)
        if (sorted[i]->status == BATCH_PENDING)
            sorted[kept++] = sorted[i];
    return kept;
}

static bool is_spoiled(const batch *b, str partition)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].status == BATCH_INVALID && str_eq(b->items[i].partition, partition))
            return true;
    return false;
}

static void make_groups(task *t, batch *b)
{
    batch_item **sorted = (batch_item **)arena_zalloc_array(t->arena, b->count, sizeof *sorted);
    size_t       len = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].status == BATCH_PENDING)
            sorted[len++] = &b->items[i];
    qsort((void *)sorted, len, sizeof *sorted, by_key);
    len = drop_superseded(b, sorted, len);

    b->groups = arena_array(t->arena, batch_group, len);
    for (size_t i = 0; i < len; i++) {
        if (i == 0 || !str_eq(sorted[i]->partition, sorted[i - 1]->partition)) {
            bool spoiled = b->strict && is_spoiled(b, sorted[i]->partition);
            b->groups[b->group_count++] = (batch_group){.of = &sorted[i], .spoiled = spoiled};
        }
        b->groups[b->group_count - 1].len++;
    }
}

res batch_read(task *t, str body, batch *ret, batch_problem *why)
{
    const actions_settings *s = settings_get();
    reading                 job = {
                        .body = body, .max_bytes = s->body_max, .timestamps = s->canon_timestamps, .strict = ret->strict};
    if (str_starts(job.body, STR("\xEF\xBB\xBF")))
        job.body = str_from(job.body, 3);
    res r = read_body(t, &job);
    *why = job.why;
    if (r != RES_OK)
        return r;
    ret->items = job.items;
    ret->count = job.count;
    make_groups(t, ret);
    return RES_OK;
}
