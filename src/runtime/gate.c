/* gate.c -- see gate.h. Waiters form a list through their stacks; whoever leaves takes itself out of it.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/gate.h"

#include "runtime/wait.h"

typedef struct gate_waiter waiter;
struct gate_waiter {
    wait    w;
    gate   *g;
    waiter *prev, *next;
};

static void take_out(waiter *me)
{
    if (me->prev != NULL)
        me->prev->next = me->next;
    else
        me->g->first = me->next;
    if (me->next != NULL)
        me->next->prev = me->prev;
}

static void leave(wait *w)
{
    waiter *me = w->ctx;
    take_out(me);
    wait_done(w, RES_GONE); /* wait_for returns the reason instead */
}

res gate_wait(task *t, gate *g)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;
    waiter me = {.w = WAIT_INIT("gate"), .g = g, .next = g->first};
    me.w.ctx = &me;
    if (g->first != NULL)
        g->first->prev = &me;
    g->first = &me;
    return wait_for(t, &me.w, leave);
}

void gate_open(gate *g)
{
    while (g->first != NULL) {
        waiter *one = g->first;
        take_out(one);
        wait_done(&one->w, RES_OK);
    }
}
