/* background.h -- work that nobody waits for: it runs in a task of its own, after the answer has gone.
 *
 * For what may be late or lost without harm (a cached number brought up to date). At shutdown it is given the
 * drain's time, then it is cancelled.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_BACKGROUND_H
#define TRESTLE_RUNTIME_BACKGROUND_H

#include "runtime/task.h"

enum { BACKGROUND_MAX = 64 }; /* at once */

typedef res background_fn(task *t, void *ctx);

/* `name` is a literal; ctx outlives the task (static, or in memory of its own that fn frees). The task has
 * memory_bytes and no deadline: sleep and storage calls end early at shutdown. A failure is logged as a
 * warning. RES_UNAVAILABLE: too many run, or the process is leaving. */
res background_start(const char *name, size_t memory_bytes, background_fn *fn, void *ctx) MUST_USE;

/* A sleep that ends early, with RES_OK, when the process is leaving: the last chance to finish. */
res  background_pause(task *t, uint64_t ms) MUST_USE;
bool background_leaving(void);

/* serve.c: nothing new starts, and pauses end; then, when time is up, cancel. Tests: _reset. */
void background_leave(void);
void background_cancel(void);
void background_reset(void);

#endif
