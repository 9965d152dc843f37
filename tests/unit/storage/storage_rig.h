/* storage_rig.h -- what the tests of storage share: a loop around one task, or around several.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_STORAGE_RIG_H
#define TRESTLE_TESTS_STORAGE_RIG_H

#include <check.h>

#include "runtime/loop.h"

typedef struct {
    task_fn *fn;
    void    *ctx;
    uint64_t deadline_ms; /* 0: none */
    res      result;      /* from here on: how it ended */
    char     message[512];
    task    *task; /* while it runs */
} storage_rig_task;

/* A loop, the tasks started in this order, everything closed again. */
void storage_rig_run_all(storage_rig_task *list, size_t count);

/* The same for one. */
res         storage_rig_run(task_fn *fn, void *ctx, uint64_t deadline_ms);
const char *storage_rig_message(void); /* of the latest storage_rig_run */

#endif
