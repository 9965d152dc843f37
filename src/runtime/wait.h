/* wait.h -- how a leaf operation of the runtime parks its task and is resumed. Only src/runtime/ uses this.
 *
 *     wait w = WAIT_INIT("connect");                  start the operation; its callback will call
 * wait_done(&w, r) return wait_for(t, &w, stop_connecting);        parks; returns r, or the reason to stop
 *
 * Start and wait are adjacent, with nothing allocated between them: a task's stack can be left at any
 * allocation, and then `w` would be gone while the operation still knows it. Callbacks run no task code:
 * wait_done only queues the task, and the loop resumes it from its own stack.
 *
 * Cancellation: when the task is cancelled while it waits, `stop` is called once, from the loop. It asks the
 * operation to end, and the operation must still call wait_done in the end (at once or later): so nothing
 * outlives the frame that started it. With a NULL stop the operation is simply waited for. wait_for then
 * returns the reason, whatever wait_done said.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_WAIT_H
#define TRESTLE_RUNTIME_WAIT_H

#include "runtime/task.h"

typedef struct wait {
    const char *what; /* for the list of live tasks: "sleep", "fetch" */
    task       *owner;
    res         result;
    bool        done;
    void       *ctx; /* the operation's own, for `stop` */
} wait;

#define WAIT_INIT(text) ((wait){.what = (text)})

typedef void wait_stop_fn(wait *w);

/* Returns at once with the reason when the task is already stopped: check task_stopped(t) before starting the
 * operation, so that this cannot happen with an operation under way. If the operation completed before
 * wait_for, it does not park. */
res  wait_for(task *t, wait *w, wait_stop_fn *stop) MUST_USE;
void wait_done(wait *w, res result);

/* For torture tests: the nth wait from now on (1 = the next), of any task, is cancelled with `why` just after
 * its operation began. wait_cancel_pending tells whether it is still to come. 0 turns it off. */
void wait_cancel_at(long nth, res why);
bool wait_cancel_pending(void);

#endif
