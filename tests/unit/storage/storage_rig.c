/* storage_rig.c -- see storage_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/storage_rig.h"

#include <stdio.h>

#include "runtime/fetch_internal.h"

enum { MEMORY = 64 * MIB };

static storage_rig_task latest;

static void on_end(task *t, void *ctx, res result, str message)
{
    storage_rig_task *one = ctx;
    (void)t;
    one->result = result;
    one->task = NULL;
    snprintf(one->message, sizeof one->message, "%.*s", STR_ARG(message));
}

static res run_one(task *t, void *ctx)
{
    storage_rig_task *one = ctx;
    return one->fn(t, one->ctx);
}

void storage_rig_run_all(storage_rig_task *list, size_t count)
{
    ck_assert_int_eq(loop_open(), RES_OK);
    for (size_t i = 0; i < count; i++) {
        task_spec spec = {.name = "test", .deadline_ms = list[i].deadline_ms, .memory_bytes = MEMORY};
        list[i].result = RES_COUNT;
        ck_assert_int_eq(task_start(&spec, run_one, on_end, &list[i], &list[i].task), RES_OK);
    }
    loop_run();
    fetch_shutdown();
    loop_close();
    for (size_t i = 0; i < count; i++)
        ck_assert_int_ne(list[i].result, RES_COUNT);
}

res storage_rig_run(task_fn *fn, void *ctx, uint64_t deadline_ms)
{
    latest = (storage_rig_task){.fn = fn, .ctx = ctx, .deadline_ms = deadline_ms};
    storage_rig_run_all(&latest, 1);
    return latest.result;
}

const char *storage_rig_message(void)
{
    return latest.message;
}
