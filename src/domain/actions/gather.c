/* gather.c -- see gather.h.
 *
 * The loop is not held up: after every SLICE_BYTES of payloads, some milliseconds' work, the others get their
 * turn.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/gather.h"

#include <stdlib.h>
#include <string.h>

#include "domain/actions/row.h"

enum {
    ROW_MEMORY = 256 * MIB, /* of one record: the largest payload, unpacked and parsed */
    SLICE_BYTES = 128 * KIB,
    FIRST_ITEMS = 1024,
    PER_ROW_BYTES = 256, /* what a row costs beside its payload */
};

typedef struct {
    gathered     *g;
    gather_fn    *fn;
    void         *ctx;
    const entity *e;
    size_t        since_pause;
} pass;

/* ---- memory ---- */

static void free_gathered(void *arg)
{
    gathered *g = arg;
    buf_free(&g->text);
    free(g->items);
    g->items = NULL;
}

static void free_heap(void *arg)
{
    buf_free(arg);
}

buf *gather_heap(arena *a, size_t max_bytes)
{
    buf *b = arena_one(a, buf);
    buf_init(b, NULL, max_bytes);
    arena_defer(a, free_heap, b);
    return b;
}

static gathered *make_gathered(arena *a)
{
    gathered *g = arena_one(a, gathered);
    buf_init(&g->text, NULL, GATHER_TEXT_MAX);
    arena_defer(a, free_gathered, g);
    return g;
}

static bool grow(gathered *g)
{
    if (g->count < g->cap)
        return true;
    size_t         cap = g->cap > 0 ? 2 * g->cap : FIRST_ITEMS;
    gathered_item *items = realloc(g->items, cap * sizeof *items);
    if (items == NULL)
        return false;
    g->items = items;
    g->cap = cap;
    return true;
}

/* ---- the pass ---- */

static res parse_payload(arena *a, const entity *e, str *ret_text, const json_val **ret)
{
    TRY(row_payload(a, e, ret_text));
    TRY(row_parse(a, *ret_text, ret));
    return json_typeof(*ret) == JSON_OBJECT ? RES_OK : RES_INVALID;
}

static res take_row(task *t, void *ctx)
{
    pass             *p = ctx;
    gathered         *g = p->g;
    str               text = {0};
    gathered_item     item = {.from = g->text.len, .found = g->count};
    projection_source from = {.owner = entity_str(p->e, "Owner", (str){0}),
                              .name = entity_str(p->e, "Name", (str){0})};

    res r = parse_payload(t->arena, p->e, &text, &from.payload);
    p->since_pause += text.len + PER_ROW_BYTES;
    if (r == RES_MEMORY)
        return r;
    if (r != RES_OK || !p->fn(t->arena, &from, &g->text, &item, p->ctx)) {
        task_forget(t);
        g->text.len = item.from;
        g->skipped++;
        return RES_OK;
    }
    if (g->text.failed)
        return task_fail(t, RES_TOO_LARGE, "a document of more than %d MiB", GATHER_TEXT_MAX / MIB);
    if (!grow(g))
        return task_fail(t, RES_MEMORY, "no memory for %zu records", g->count);
    item.item_bytes = g->text.len - item.from - item.key_bytes;
    g->items[g->count++] = item;
    return RES_OK;
}

static res on_row(task *t, const entity *e, void *ctx)
{
    pass *p = ctx;
    p->e = e;
    TRY(task_scope(t, ROW_MEMORY, take_row, p));
    if (p->since_pause < SLICE_BYTES)
        return RES_OK;
    p->since_pause = 0;
    return task_sleep(t, 0);
}

res gather_all(task *t, gather_fn *fn, void *ctx, gathered **ret)
{
    pass p = {.g = make_gathered(t->arena), .fn = fn, .ctx = ctx};
    TRY(row_each(t, (str){0}, on_row, &p));
    *ret = p.g;
    return RES_OK;
}

/* ---- order ---- */

/* The comparison needs the texts; each thread sorts one document at a time. */
static _Thread_local const char *sorted_text;

static int by_rank(const void *left, const void *right)
{
    const gathered_item *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int order =
        str_compare((str){sorted_text + a->from, a->key_bytes}, (str){sorted_text + b->from, b->key_bytes});
    if (order != 0)
        return order;
    return a->found < b->found ? -1 : 1;
}

void gather_sort(gathered *g)
{
    sorted_text = g->text.at;
    if (g->count > 0)
        qsort(g->items, g->count, sizeof *g->items, by_rank);
}

void gather_write(const gathered *g, buf *out)
{
    for (size_t i = 0; i < g->count; i++) {
        const gathered_item *item = &g->items[i];
        if (i > 0)
            (void)buf_add_char(out, ',');
        (void)buf_add(out, (str){g->text.at + item->from + item->key_bytes, item->item_bytes});
    }
}
