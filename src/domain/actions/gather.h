/* gather.h -- a document of all records: one pass over the table, a short text of each, put in order.
 *
 * The texts are kept one behind another outside of the task's arena, with 40 bytes for each beside them: some
 * 20 MB for the snapshot of 35,000 records, GATHER_TEXT_MAX at most, gone with the arena. Of the table a page
 * at a time is in memory, and of its payloads one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_GATHER_H
#define TRESTLE_DOMAIN_ACTIONS_GATHER_H

#include "core/buf.h"
#include "domain/actions/projection.h"
#include "runtime/task.h"

enum { GATHER_TEXT_MAX = 256 * MIB };

typedef struct {
    int64_t rank; /* lower ones come first, … */
    size_t  from; /* … then by the key's bytes, which stand before the item's; then as they were found */
    size_t  key_bytes, item_bytes;
    size_t  found;
} gathered_item;

typedef struct {
    buf            text;
    gathered_item *items;
    size_t         count, cap;
    size_t         skipped;
} gathered;

/* Notes what it wants to count, and adds the item's text: first a key to sort by (may be empty), then the
 * item. False: this record is skipped, and what was added does not count. a is for this one record. */
typedef bool gather_fn(arena *a, const projection_source *from, buf *out, gathered_item *ret, void *ctx);

/* RES_TOO_LARGE: over GATHER_TEXT_MAX. Records that cannot be understood are skipped without a call of fn. */
res gather_all(task *t, gather_fn *fn, void *ctx, gathered **ret) MUST_USE;

/* In a thread, for it takes a while: puts the items in order. */
void gather_sort(gathered *g);
/* Appends them, with commas between. */
void gather_write(const gathered *g, buf *out);

/* A buf on the heap that is freed with the arena, and whoever fills it may be in a thread. */
buf *gather_heap(arena *a, size_t max_bytes);

#endif
