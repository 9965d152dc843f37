/* loop.h -- the process's one event loop, and tasks that are started from outside of any task.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_LOOP_H
#define TRESTLE_RUNTIME_LOOP_H

#include "core/log.h"
#include "runtime/task.h"

res  loop_open(void) MUST_USE; /* once a process (tests: once an open/close pair) */
void loop_run(void);           /* until nothing is left to do, or loop_stop */
void loop_stop(void);
void loop_close(void); /* every task must have ended */

typedef struct {
    const char *name; /* for SIGUSR1's list and slow-step warnings; static or longer-lived than the task */
    uint64_t    deadline_ms;  /* 0: none */
    size_t      memory_bytes; /* budget of the arena that is made for it; unused when `arena` is given */
    arena      *arena;        /* NULL: one of its own, freed at its end. Else borrowed */
    log_context log;
} task_spec;

typedef res  task_fn(task *t, void *ctx);
/* Called from the loop when the task has ended (also when it ran out of memory: RES_MEMORY); message as
 * task_message. The task's arena still lives during this call. */
typedef void task_end_fn(task *t, void *ctx, res result, str message);

/* RES_UNAVAILABLE beyond the limit of tasks, RES_MEMORY without memory for a stack; then end is not called.
 * The task runs later, from the loop; *ret (may be NULL) is valid until `end` was called. */
res task_start(const task_spec *spec, task_fn *fn, task_end_fn *end, void *ctx, task **ret) MUST_USE;

size_t task_count(void);
void   task_set_limit(size_t most); /* default 10,000; par_each's children count too */
void   task_log_all(void); /* one line for each live task: name, age, what it waits for; SIGUSR1 does this */

#endif
