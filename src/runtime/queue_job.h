/* queue_job.h -- standalone mode: queue messages under way, from their receipt to their end.
 *
 * A message is run; then it is deleted, or made visible again after host.json's visibilityTimeout, or, after
 * its last try (maxDequeueCount), moved to NAME-poison. It is hidden from others for ten minutes, and again
 * every five while the function runs. Running and settling are tasks of their own, so that a handler that is
 * cancelled or takes all of its memory still leaves its message in order.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_QUEUE_JOB_H
#define TRESTLE_RUNTIME_QUEUE_JOB_H

#include "runtime/dispatch.h"

enum { QUEUE_HIDE_S = 600, QUEUE_RENEW_S = 300 };

typedef struct queue_job queue_job;

/* Those of one function. */
typedef struct {
    const dispatcher *d;
    const function   *fn;
    void (*ended)(void *ctx); /* a message is settled, and `count` is one less */
    void      *ctx;
    queue_job *first;
    size_t     count;
} queue_jobs;

/* Copies the message. RES_MEMORY: it stays hidden until its time is over. */
res  queue_jobs_start(queue_jobs *all, const queue_message_info *m) MUST_USE;
void queue_jobs_tick(queue_jobs *all);   /* about every second: renews, and starts what could not start */
void queue_jobs_cancel(queue_jobs *all); /* runs under way are told to stop; their messages come back */
void queue_jobs_drop(queue_jobs *all);   /* no task is live: forgets what never started */

#endif
