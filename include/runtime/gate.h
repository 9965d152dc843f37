/* gate.h -- a place where tasks wait until another one says that they may go on.
 *
 *     if (p->busy) TRY(gate_wait(t, &p->ready));      … and the other side: p->busy = false;
 * gate_open(&p->ready);
 *
 * gate_open wakes all that wait at that moment; who comes later waits for the next one. What the gate stands
 * for is the caller's to look at again: every wait is a door.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_GATE_H
#define TRESTLE_RUNTIME_GATE_H

#include "runtime/task.h"

typedef struct {
    struct gate_waiter *first; /* newest first; each is on the stack of its task */
} gate;

res  gate_wait(task *t, gate *g) MUST_USE; /* RES_OK when opened; or the reason why the task was stopped */
void gate_open(gate *g);                   /* from the loop or a task; nobody waiting: nothing happens */

#endif
