/* aggregate.h -- counts over the whole catalogue, kept in one row of the table and brought up to date by each
 * write (specification §11 Stats and Status, §12).
 *
 * Writes leave their differences here; a background task adds them up and patches the row soon after, at most
 * once a second, so that a flood of writes costs one patch. Without the row, or when somebody else changes it
 * all the time, a patch is dropped: the timers count anew.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_AGGREGATE_H
#define TRESTLE_DOMAIN_ACTIONS_AGGREGATE_H

#include "domain/actions/facts.h"
#include "runtime/task.h"

/* One write. before NULL: it is new. Never waits; texts are copied. */
void aggregate_note(const facts *before, const facts *now, str synced);
/* A record that was purged. */
void aggregate_note_removed(const facts *gone);

/* Tells the cached total, for X-Total-Count: RES_NOT_FOUND when it is not known. */
res aggregate_total(task *t, int64_t *ret) MUST_USE;

void aggregate_forget_for_test(void);

#endif
