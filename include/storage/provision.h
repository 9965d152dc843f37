/* provision.h -- something that must have been done once in this process before anything else works.
 *
 * Concurrent first callers share one attempt. Success is remembered; a failure is not, so the next call tries
 * again; who waited for an attempt that failed gets its failure. The attempt runs in the first caller's task;
 * when that one is cancelled, or its memory is spent, the next waiter takes over.
 *
 *     static provision tables_are_there = PROVISION_INIT;
 *     TRY(provision_once(t, &tables_are_there, make_tables, NULL));
 *
 * Single tables, containers and queues need none of this: they are made when first found missing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_PROVISION_H
#define TRESTLE_STORAGE_PROVISION_H

#include "runtime/gate.h"

enum { PROVISION_WHY_BYTES = 160 };

typedef struct {
    bool done, busy;
    gate over; /* of the attempt under way */
    res  last; /* how the latest attempt ended; RES_GONE: its task was stopped, so somebody else must try */
    char why[PROVISION_WHY_BYTES]; /* and its message */
} provision;

#define PROVISION_INIT ((provision){0})

typedef res provision_fn(task *t, void *ctx);

res  provision_once(task *t, provision *p, provision_fn *fn, void *ctx) MUST_USE;
void provision_forget(provision *p); /* what was made is gone: the next caller makes it again */

#endif
