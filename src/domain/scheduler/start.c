/* start.c -- what happens once, when the app has begun to serve: the tables are made, so that the first
 * request finds them (specification §2.13).
 *
 * Nobody waits for it, health least of all. When it fails, that is a line in the log, and the first request
 * tries again.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"
#include "runtime/background.h"

enum { START_MEMORY = 4 * MIB };

static res make_tables(task *t, void *ctx)
{
    (void)ctx;
    return places_make(t);
}

void sched_start(void)
{
    if (!store_is_set_up(STORE_MAIN) || sched_settings_get()->state.name.len == 0)
        return;
    res r = background_start("scheduler tables", START_MEMORY, make_tables, NULL);
    if (r != RES_OK)
        log_warn("the scheduler's tables are left to the first request: %s", res_name(r));
}
