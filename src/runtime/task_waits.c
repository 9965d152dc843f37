/* task_waits.c -- what a task can wait for without the network: time, a thread, other tasks.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>

#include "runtime/task_impl.h"

/* ---- sleep ---- */

static void sleep_closed(uv_handle_t *h)
{
    wait_done(h->data, RES_OK);
}

static void sleep_over(uv_timer_t *h)
{
    uv_close((uv_handle_t *)h, sleep_closed);
}

static void sleep_stop(wait *w)
{
    uv_handle_t *h = w->ctx;
    if (!uv_is_closing(h))
        uv_close(h, sleep_closed);
}

res task_sleep(task *t, uint64_t ms)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;

    uv_timer_t timer; /* on this stack: the wait ends only when libuv has let go of it */
    wait       w = WAIT_INIT("sleep");
    w.ctx = &timer;
    timer.data = &w;
    (void)uv_timer_init(loop_uv(), &timer); /* always 0 */
    uv_update_time(loop_uv());
    (void)uv_timer_start(&timer, sleep_over, ms, 0); /* fails only without a callback */
    return wait_for(t, &w, sleep_stop);
}

/* ---- offload ---- */

typedef struct {
    uv_work_t req;
    void (*fn)(void *arg);
    void *arg;
    wait  w;
} offload;

static void offload_run(uv_work_t *req)
{
    offload *o = req->data;
    o->fn(o->arg);
}

static void offload_done(uv_work_t *req, int status)
{
    offload *o = req->data;
    wait_done(&o->w, status == 0 ? RES_OK : RES_GONE);
}

/* Work that no thread has begun is taken back; work under way is waited for. */
static void offload_stop(wait *w)
{
    (void)uv_cancel(w->ctx); /* busy: the wait goes on to its end */
}

res task_offload(task *t, void (*fn)(void *arg), void *arg)
{
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;

    offload o = {.fn = fn, .arg = arg, .w = WAIT_INIT("thread")};
    o.req.data = &o;
    o.w.ctx = &o.req;
    if (uv_queue_work(loop_uv(), &o.req, offload_run, offload_done) != 0)
        return task_fail(t, RES_UNAVAILABLE, "no thread for work outside of the loop");
    return wait_for(t, &o.w, offload_stop);
}

/* ---- par_each ---- */

typedef struct {
    struct par *all;
    task       *t; /* NULL: this place is free */
    size_t      i; /* what it works on */
} par_place;

typedef struct par {
    task_impl *parent;
    par_fn    *fn;
    void      *ctx;
    size_t     n, next, live, width;
    res        result;
    str        message;
    par_place *places;
    wait       w;
} par;

static res par_child(task *t, void *ctx)
{
    const par_place *place = ctx;
    return place->all->fn(t, place->i, place->all->ctx);
}

/* The first failure is the result; children that are cancelled because of it end with other codes, which do
 * not count. */
static void par_stop(par *p, res why, res code, str message)
{
    if (p->result != RES_OK)
        return;
    p->result = code;
    p->message = message;
    for (size_t i = 0; i < p->width; i++)
        if (p->places[i].t != NULL)
            task_cancel(p->places[i].t, why);
}

static void par_fill(par *p);

static void par_ended(task *t, void *ctx, res result, str message)
{
    par_place *place = ctx;
    par       *p = place->all;
    assert(place->t == t);
    place->t = NULL;
    p->live--;
    if (result != RES_OK && p->result == RES_OK)
        p->parent->peer = task_impl_of(t)->peer;
    if (result != RES_OK)
        par_stop(p, RES_GONE, result, message);
    par_fill(p);
    if (p->live == 0)
        wait_done(&p->w, p->result);
}

/* Gives every free place its next index. Runs on the parent's stack at first, then on the loop's. When the
 * limit of tasks is reached the children that live go on and take the rest; only without a single one is it a
 * failure. */
static void par_fill(par *p)
{
    for (size_t i = 0; i < p->width && p->next < p->n && p->result == RES_OK; i++) {
        par_place *place = &p->places[i];
        if (place->t != NULL)
            continue;
        place->i = p->next;
        res r = task_start_child(p->parent, par_child, par_ended, place, &place->t);
        if (r != RES_OK) {
            place->t = NULL;
            if (p->live == 0)
                par_stop(p, r, r, STR("too many tasks at once"));
            return;
        }
        p->next++;
        p->live++;
    }
}

static void par_cancelled(wait *w)
{
    par *p = w->ctx;
    par_stop(p, p->parent->why, p->parent->why, (str){0});
}

res par_each(task *t, size_t n, size_t width, par_fn *fn, void *ctx)
{
    res stopped = task_stopped(t);
    if (n == 0 || stopped != RES_OK)
        return stopped;

    par p = {.parent = task_impl_of(t), .fn = fn, .ctx = ctx, .n = n, .width = width < n ? width : n};
    p.width = p.width > 0 ? p.width : 1;
    p.places = arena_array(t->arena, par_place, p.width);
    p.w = WAIT_INIT("children");
    p.w.ctx = &p;
    for (size_t i = 0; i < p.width; i++)
        p.places[i].all = &p;

    par_fill(&p);
    if (p.live == 0)
        return task_fail(t, p.result, "%.*s", STR_ARG(p.message));
    res r = wait_for(t, &p.w, par_cancelled);
    if (r != RES_OK && p.message.len > 0)
        return task_fail(t, r, "%.*s", STR_ARG(p.message));
    return r;
}
