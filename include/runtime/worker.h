/* worker.h -- threads with a queue of their own: a task gives a job and waits until it is done.
 *
 * For work that blocks and gains from being done together, such as commits to a disk: a thread takes all jobs
 * that wait (up to batch_max) at once, and when its function returns they are all done. task_offload is for
 * single jobs without a place of their own.
 *
 * A job belongs to whoever waits for it. The thread must not touch a task or an arena; what it allocates is
 * the heap's, and goes where the waiting side finds it (and had it registered with arena_defer before).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_WORKER_H
#define TRESTLE_RUNTIME_WORKER_H

#include "runtime/task.h"

typedef struct worker worker;

enum { WORKER_BATCH_MAX = 256 };

typedef struct {
    const char *name;      /* of the threads, up to 15 characters, and of the wait */
    unsigned    threads;   /* 1 to 8 */
    size_t      batch_max; /* jobs that a thread takes at once, 1 to WORKER_BATCH_MAX */
    size_t      queue_max; /* jobs that may wait; beyond that RES_UNAVAILABLE */
    /* In a thread, number `thread` of 0…threads-1. */
    void (*run)(void *ctx, unsigned thread, void *const *jobs, size_t count);
    void *ctx;
} worker_options;

/* NULL: no memory or threads. The loop must be open. */
worker *worker_new(const worker_options *o) MUST_USE;
/* Every job must have ended. Returns when the threads have. Accepts NULL. */
void    worker_free(worker *w);

/* Waits until the job was done. A job that no thread has taken yet is taken back when the task is cancelled
 * (then nothing was done, and the reason is returned); one that was taken is waited for, and the reason is
 * returned too: look into the job for what became of it. */
res worker_do(task *t, worker *w, void *job) MUST_USE;

#endif
