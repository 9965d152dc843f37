/* provision.c -- see provision.h.
 *
 * Who attempts may be left at any allocation, and then nothing of its frame runs any more: so a note in its
 * arena gives the turn away when the arena is freed. Without it all others would wait for ever.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/provision.h"

#include <stdio.h>

/* In the arena of the task that attempts. */
typedef struct {
    provision *p; /* NULL: over */
} turn;

static void end_turn(turn *mine, res result)
{
    provision *p = mine->p;
    mine->p = NULL;
    p->busy = false;
    p->done = result == RES_OK;
    p->last = result;
    gate_open(&p->over);
}

static void abandon(void *arg)
{
    turn *mine = arg;
    if (mine->p != NULL)
        end_turn(mine, RES_GONE);
}

static res attempt(task *t, provision *p, provision_fn *fn, void *ctx)
{
    turn *mine = arena_one(t->arena, turn);
    arena_defer(t->arena, abandon, mine);
    p->busy = true;
    mine->p = p;

    res r = fn(t, ctx);
    snprintf(p->why, sizeof p->why, "%.*s", STR_ARG(task_message(t)));
    end_turn(mine, r != RES_OK && task_stopped(t) != RES_OK ? RES_GONE : r);
    return r;
}

res provision_once(task *t, provision *p, provision_fn *fn, void *ctx)
{
    while (!p->done) {
        if (!p->busy)
            return attempt(t, p, fn, ctx);
        TRY(gate_wait(t, &p->over));
        if (!p->done && !p->busy && p->last != RES_GONE)
            return task_fail(t, p->last, "%s", p->why);
    }
    return RES_OK;
}

void provision_forget(provision *p)
{
    p->done = false;
}
