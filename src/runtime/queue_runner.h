/* queue_runner.h -- standalone mode: looks into the queues of queue functions and runs what is there, by the
 * host's rules.
 *
 * A queue is asked for extensions.queues.batchSize messages whenever newBatchThreshold or fewer are under
 * way. One that was found empty is asked again after 100 ms, then after twice that, up to maxPollingInterval;
 * unless a function of this process sends it a message, of which queue_runner_wake tells.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_QUEUE_RUNNER_H
#define TRESTLE_RUNTIME_QUEUE_RUNNER_H

#include "runtime/dispatch.h"

typedef struct queue_runner queue_runner;

/* Nothing runs yet. *ret is NULL when there are no queue functions, or nothing to read queues with. `a` and
 * `d` outlive it. */
res  queue_runner_load(arena *a, const dispatcher *d, queue_runner **ret, str *ret_error) MUST_USE;
void queue_runner_start(queue_runner *all); /* accepts NULL, as all below */
void queue_runner_wake(queue_runner *all, str queue);
void queue_runner_stop(queue_runner *all);   /* no new messages */
void queue_runner_cancel(queue_runner *all); /* runs under way are told to stop */
void queue_runner_close(queue_runner *all);  /* after stop, and every task has ended */

#endif
