/* background.c -- see background.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/background.h"

#include <stdlib.h>

#include "core/log.h"
#include "runtime/loop.h"

enum { PAUSE_SLICE_MS = 50 }; /* how late a pause may notice that the process is leaving */

typedef struct {
    const char    *name;
    background_fn *fn;
    void          *ctx;
    task          *t; /* NULL: a free place */
} job;

static struct {
    job  places[BACKGROUND_MAX];
    bool leaving;
} all;

static res run(task *t, void *ctx)
{
    const job *j = ctx;
    return j->fn(t, j->ctx);
}

static void ended(task *t, void *ctx, res result, str message)
{
    job *j = ctx;
    (void)t;
    if (result != RES_OK && result != RES_GONE)
        log_warn("%s failed with %s: %.*s", j->name, res_name(result), STR_ARG(message));
    j->t = NULL;
}

res background_start(const char *name, size_t memory_bytes, background_fn *fn, void *ctx)
{
    for (size_t i = 0; i < BACKGROUND_MAX && !all.leaving; i++) {
        job *j = &all.places[i];
        if (j->t != NULL)
            continue;
        *j = (job){.name = name, .fn = fn, .ctx = ctx};
        return task_start(&(task_spec){.name = name, .memory_bytes = memory_bytes}, run, ended, j, &j->t);
    }
    return RES_UNAVAILABLE;
}

res background_pause(task *t, uint64_t ms)
{
    while (ms > 0 && !all.leaving) {
        uint64_t now_ms = ms < PAUSE_SLICE_MS ? ms : PAUSE_SLICE_MS;
        TRY(task_sleep(t, now_ms));
        ms -= now_ms;
    }
    return task_stopped(t);
}

bool background_leaving(void)
{
    return all.leaving;
}

void background_leave(void)
{
    all.leaving = true;
}

void background_cancel(void)
{
    for (size_t i = 0; i < BACKGROUND_MAX; i++)
        if (all.places[i].t != NULL)
            task_cancel(all.places[i].t, RES_GONE);
}

void background_reset(void)
{
    all.leaving = false;
}
