/* task.h -- code that waits and still reads from top to bottom.
 *
 * A task is a function with a stack, an arena, a deadline and perhaps a reason to stop. A call that needs the
 * network, a timer or a thread looks like any call: it takes the task first, waits, and returns a result.
 * When the client leaves or the deadline passes, the call that waits returns RES_GONE or RES_TIMEOUT, and so
 * does every later one.
 *
 * Rules (C-STYLE §2): `task *t` as first parameter means "may wait"; nothing outlives the frame that started
 * it; shared state read before a wait may be stale after it; all memory of a task is its arena's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_TASK_H
#define TRESTLE_RUNTIME_TASK_H

#include "core/arena.h"
#include "core/res.h"

/* What handlers may see of a task; the rest is the runtime's. */
typedef struct task {
    arena *arena;
} task;

typedef res par_fn(task *t, size_t i, void *ctx);

res task_sleep(task *t, uint64_t ms) MUST_USE;

/* fn for 0 … n-1, at most `width` at once, each in a task of its own that shares t's arena, deadline and
 * cancellation. Returns when all have ended. The first failure cancels the others, is returned, and its
 * message becomes t's. */
res par_each(task *t, size_t n, size_t width, par_fn *fn, void *ctx) MUST_USE;

/* Runs fn(arg) in a thread of the pool. It must not touch the task, its arena, or anything that the loop may
 * change meanwhile; it cannot be interrupted, so a cancelled task still waits for its end. */
res task_offload(task *t, void (*fn)(void *arg), void *arg) MUST_USE;

/* fn with an arena of its own in t->arena, freed when it returns: for loops over much, in bounded memory.
 * What it leaves in t's own arena (t->arena as it was before the call) stays. Its failure's message is kept.
 */
typedef res task_scope_fn(task *t, void *ctx);
res         task_scope(task *t, size_t memory_bytes, task_scope_fn *fn, void *ctx) MUST_USE;

/* Notes what this level knows, in front of what is known already, and returns the code:
 *     return task_fail(t, r, "score of team '%.*s'", STR_ARG(team));  ->  score of team 'red': tables
 * answered 500 */
res  task_fail(task *t, res code, const char *fmt, ...) PRINTF_LIKE(3, 4);
str  task_message(const task *t); /* empty when nothing failed */
void task_forget(task *t);        /* the failure was expected and dealt with: drops its message */

/* What the peer that failed said itself, beside the message: for answers that pass its words on. Goes with
 * task_forget; par_each takes over that of the child that failed. */
typedef struct {
    int  status; /* HTTP; 0: nobody said anything */
    char code[64], message[160];
} task_peer;
void             task_set_peer(task *t, int status, str code, str message);
const task_peer *task_peer_said(const task *t); /* never NULL */

/* From the loop or another task: makes the waiting call, and all later ones, return `why`. The first reason
 * stays. */
void task_cancel(task *t, res why);
res  task_stopped(const task *t); /* RES_OK while it may go on; for loops that compute without waiting */

uint64_t task_left_ms(const task *t); /* until the deadline; UINT64_MAX when it has none */

#endif
