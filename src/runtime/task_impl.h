/* task_impl.h -- the whole of a task, for the files that make them run.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_TASK_IMPL_H
#define TRESTLE_RUNTIME_TASK_IMPL_H

#include "runtime/fiber.h"
#include "runtime/loop_uv.h"
#include "runtime/wait.h"

typedef struct task_impl task_impl;
struct task_impl {
    task         pub; /* first: a task * is a task_impl * */
    fiber        fiber;
    const char  *name;
    task_fn     *fn;
    task_end_fn *end;
    void        *ctx;
    log_context  log;
    str          message;
    task_peer    peer;
    res          result;
    res          why; /* reason to stop; RES_OK: none */
    bool         owns_arena, queued;

    struct task_scope_frame *scope; /* innermost task_scope; NULL: none */

    wait         *waiting; /* NULL: running, or in the queue of ready tasks */
    wait_stop_fn *stop;

    uint64_t started_us;
    uint64_t deadline_us; /* monotonic; 0: none */

    task_impl *next_ready, *next_free;
    task_impl *prev_live, *next_live;

    /* The deadline's timer, made at the first wait: a request that never waits never pays for it. A pooled
     * task keeps it initialised, so these two are last, and all that stands before them is cleared when the
     * task is used again. */
    bool       has_timer;
    uv_timer_t timer;
};

static inline task_impl *task_impl_of(const task *t)
{
    return (task_impl *)(uintptr_t)
        t; /* the const of a const task is a promise of the caller, not of the object */
}

/* loop.c: the queue of tasks that can go on. */
void loop_ready(task_impl *t);

/* task.c */
void       task_resume(task_impl *t); /* from loop.c alone */
task_impl *task_current(void);        /* NULL on the loop's own stack */
void       task_pool_close(void);     /* at loop_close: timers of pooled tasks are closed */

void task_guard_memory(arena *a);     /* a spent budget of this arena leaves the running task */
void task_scope_unwind(task_impl *t); /* task_scope.c: what a task that left its stack had open */

/* As task_start, for par_each: shares name, arena, log context and deadline of the parent. */
res task_start_child(task_impl *parent, task_fn *fn, task_end_fn *end, void *ctx, task **ret);

#endif
