/* aggregate.h -- counts over the whole catalogue, kept in one row of the table and brought up to date by each
 * write (specification §11 Stats and Status, §12).
 *
 *     (statsCache, aggregate)   CacheJson = {"stats":{…},"status":{…},"cachedAt":"…"}
 *
 * Writes leave their differences here; a background task adds them up and patches the row soon after, at most
 * once a second, so that a flood of writes costs one patch. Without the row, or when somebody else changes it
 * all the time, a patch is dropped: the timers count anew.
 *
 * Who counts anew brackets the scan:
 *     const aggregate_mark *since = aggregate_begin(t->arena);
 *     … counts_add(&c, &facts, 1) for each record …
 *     TRY(aggregate_store(t, since, counts_json(t->arena, &c), NULL));
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_AGGREGATE_H
#define TRESTLE_DOMAIN_ACTIONS_AGGREGATE_H

#include "domain/actions/counts.h"
#include "runtime/task.h"

/* ---- writes ---- */

/* One write. before NULL: it is new. Never waits; texts are copied. */
void aggregate_note(const facts *before, const facts *after, str synced);
/* A record that was purged. */
void aggregate_note_removed(const facts *gone);

/* ---- reading ---- */

/* NULL: not known. Views live in t's arena. */
typedef struct {
    const json_val *stats, *status;
} aggregate;

/* As the row has it; a copy that was read or written by this process is good for AGGREGATE_KEPT_MS, so that a
 * burst of reads costs one. RES_OK with nothing in *ret: no row yet, or none that can be understood. */
enum { AGGREGATE_KEPT_MS = 2000 };
res aggregate_read(task *t, aggregate *ret) MUST_USE;

/* Tells the cached total, for X-Total-Count: RES_NOT_FOUND when it is not known. */
res aggregate_total(task *t, int64_t *ret) MUST_USE;

/* ---- counting anew ---- */

/* Before the scan. What was noted earlier is seen by the scan, so it must not be added to its result. */
typedef struct aggregate_mark aggregate_mark;
const aggregate_mark         *aggregate_begin(arena *a);

/* Writes the row; NULL keeps the stats, or the status, that it has, as all its other members. */
res aggregate_store(task *t, const aggregate_mark *since, const json *stats, const json *status) MUST_USE;

void aggregate_forget_for_test(void);

#endif
