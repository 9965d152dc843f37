/* task.c -- the life of a task: start, run, wait, be cancelled, end.
 *
 *     task_start -> ready -> running <-> waiting -> ended -> end callback -> pool
 *
 * A task leaves its stack in three ways: it waits (fiber_park), its function returns, or an allocation finds
 * the arena's budget spent (leave_without_memory). In the last case nothing on the stack runs any more, which
 * is sound because a task owns nothing outside its arena; its result is RES_MEMORY.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/metrics.h"
#include "runtime/task_impl.h"

enum {
    TASKS_MAX_DEFAULT = 10000,
    POOL_MAX = 1024,
    MESSAGE_MAX = 1024,
    SLOW_STEP_US = 20000,
    ARENA_DEFAULT = 4 * MIB,
};

static struct {
    task_impl *current;
    task_impl *live; /* all, newest first */
    size_t     count, limit;
    task_impl *pool;
    size_t     pool_len;
    metric    *steps;
    long       cancel_at; /* torture tests: the nth wait from now is cancelled */
    res        cancel_why;
} tasks = {.limit = TASKS_MAX_DEFAULT};

size_t task_count(void)
{
    return tasks.count;
}

void task_set_limit(size_t most)
{
    tasks.limit = most;
}

task_impl *task_current(void)
{
    return tasks.current;
}

/* ---- making and unmaking ---- */

static task_impl *take_task(void)
{
    task_impl *t = tasks.pool;
    if (t == NULL)
        return calloc(1, sizeof *t);
    tasks.pool = t->next_free;
    tasks.pool_len--;
    return t;
}

static void free_closed(uv_handle_t *h)
{
    free(h->data);
}

static void drop_task(task_impl *t)
{
    if (!t->has_timer) {
        free(t);
        return;
    }
    t->timer.data = t;
    uv_close((uv_handle_t *)&t->timer, free_closed);
}

static void give_task(task_impl *t)
{
    if (tasks.pool_len >= POOL_MAX) {
        drop_task(t);
        return;
    }
    t->next_free = tasks.pool;
    tasks.pool = t;
    tasks.pool_len++;
}

void task_pool_close(void)
{
    while (tasks.pool != NULL) {
        task_impl *t = tasks.pool;
        tasks.pool = t->next_free;
        drop_task(t);
    }
    tasks.pool_len = 0;
}

static void link_live(task_impl *t)
{
    t->prev_live = NULL;
    t->next_live = tasks.live;
    if (tasks.live != NULL)
        tasks.live->prev_live = t;
    tasks.live = t;
    tasks.count++;
}

static void unlink_live(task_impl *t)
{
    if (t->prev_live != NULL)
        t->prev_live->next_live = t->next_live;
    else
        tasks.live = t->next_live;
    if (t->next_live != NULL)
        t->next_live->prev_live = t->prev_live;
    tasks.count--;
}

static void fiber_main(void *arg)
{
    task_impl *t = arg;
    t->result = t->fn(&t->pub, t->ctx);
}

/* Called by an arena whose budget is spent. On the loop's own stack there is nothing to leave: the caller
 * gets NULL. */
static void leave_without_memory(void *ctx)
{
    (void)ctx;
    task_impl *t = tasks.current;
    if (t == NULL)
        return;
    t->result = RES_MEMORY;
    t->message = STR("the request needs more memory than one request may have");
    fiber_leave();
}

void task_guard_memory(arena *a)
{
    arena_on_exhausted(a, leave_without_memory, NULL);
}

/* A task with everything set but its arena, which the caller owns until launch() has succeeded. */
static task_impl *new_task(const char *name, task_fn *fn, task_end_fn *end, void *ctx)
{
    task_impl *t = take_task();
    if (t == NULL)
        return NULL;
    memset(t, 0, offsetof(task_impl, has_timer));
    t->name = name;
    t->fn = fn;
    t->end = end;
    t->ctx = ctx;
    t->started_us = uv_hrtime() / 1000;
    return t;
}

static res launch(task_impl *t, task **ret)
{
    if (t->pub.arena == NULL || !fiber_init(&t->fiber, fiber_main, t)) {
        if (t->owns_arena)
            arena_free(t->pub.arena);
        give_task(t);
        return RES_MEMORY;
    }
    task_guard_memory(t->pub.arena);
    link_live(t);
    loop_ready(t);
    if (ret != NULL)
        *ret = &t->pub;
    return RES_OK;
}

res task_start(const task_spec *spec, task_fn *fn, task_end_fn *end, void *ctx, task **ret)
{
    if (tasks.count >= tasks.limit)
        return RES_UNAVAILABLE;
    task_impl *t = new_task(spec->name, fn, end, ctx);
    if (t == NULL)
        return RES_MEMORY;

    size_t budget = spec->memory_bytes != 0 ? spec->memory_bytes : ARENA_DEFAULT;
    t->owns_arena = spec->arena == NULL;
    t->pub.arena = t->owns_arena ? arena_new(budget) : spec->arena;
    t->log = spec->log;
    t->deadline_us = spec->deadline_ms != 0 ? t->started_us + spec->deadline_ms * 1000 : 0;
    return launch(t, ret);
}

res task_start_child(task_impl *parent, task_fn *fn, task_end_fn *end, void *ctx, task **ret)
{
    if (tasks.count >= tasks.limit)
        return RES_UNAVAILABLE;
    task_impl *t = new_task(parent->name, fn, end, ctx);
    if (t == NULL)
        return RES_MEMORY;

    t->pub.arena = parent->pub.arena;
    t->log = parent->log;
    t->deadline_us = parent->deadline_us;
    return launch(t, ret);
}

/* ---- running ---- */

static void finish(task_impl *t)
{
    unlink_live(t);
    if (t->has_timer)
        (void)uv_timer_stop(&t->timer); /* always 0 */
    fiber_release(&t->fiber);
    task_scope_unwind(t);
    if (t->end != NULL)
        t->end(&t->pub, t->ctx, t->result, t->message);
    if (t->owns_arena)
        arena_free(t->pub.arena);
    give_task(t);
}

/* A step is what runs between two waits; the loop serves nobody else meanwhile. */
static void meter_step(const task_impl *t, uint64_t took_us)
{
    if (tasks.steps == NULL)
        tasks.steps = metrics_histogram("trestle_task_step_seconds", "", "Time between two waits of a task");
    metrics_observe_us(tasks.steps, took_us);
    if (took_us > SLOW_STEP_US)
        log_warn("task '%s' held the loop for %llu ms between two waits", t->name,
                 (unsigned long long)took_us / 1000);
}

void task_resume(task_impl *t)
{
    uint64_t begun_us = uv_hrtime() / 1000;
    tasks.current = t;
    log_bind(&t->log);
    fiber_enter(&t->fiber);
    meter_step(t, uv_hrtime() / 1000 - begun_us);
    log_bind(NULL);
    tasks.current = NULL;
    if (t->fiber.left)
        finish(t);
}

/* ---- waiting ---- */

static void on_deadline(uv_timer_t *timer)
{
    task_impl *t = timer->data;
    task_cancel(&t->pub, RES_TIMEOUT);
}

/* The first wait arms the deadline, for all that follow. */
static void arm_deadline(task_impl *t)
{
    if (t->deadline_us == 0 || t->why != RES_OK || (t->has_timer && uv_is_active((uv_handle_t *)&t->timer)))
        return;
    if (!t->has_timer) {
        (void)uv_timer_init(loop_uv(), &t->timer); /* always 0 */
        t->has_timer = true;
        t->timer.data = t;
    }
    uint64_t now_us = uv_hrtime() / 1000;
    uint64_t left_ms = t->deadline_us > now_us ? (t->deadline_us - now_us + 999) / 1000 : 0;
    uv_update_time(
        loop_uv()); /* the step may have taken long, and libuv counts from the loop's idea of now */
    (void)uv_timer_start(&t->timer, on_deadline, left_ms, 0); /* fails only without a callback */
}

static bool deadline_passed(const task_impl *t)
{
    return t->deadline_us != 0 && uv_hrtime() / 1000 >= t->deadline_us;
}

void wait_cancel_at(long nth, res why)
{
    tasks.cancel_at = nth;
    tasks.cancel_why = why;
}

bool wait_cancel_pending(void)
{
    return tasks.cancel_at > 0;
}

res wait_for(task *t, wait *w, wait_stop_fn *stop)
{
    task_impl *me = task_impl_of(t);
    assert(me == tasks.current);
    w->owner = t;
    if (!w->done) {
        arm_deadline(me);
        me->waiting = w;
        me->stop = stop;
        if (tasks.cancel_at > 0 && --tasks.cancel_at == 0)
            task_cancel(t, tasks.cancel_why);
        while (!w->done)
            fiber_park();
        me->waiting = NULL;
        me->stop = NULL;
    }
    return me->why != RES_OK ? me->why : w->result;
}

void wait_done(wait *w, res result)
{
    assert(!w->done);
    w->result = result;
    w->done = true;
    task_impl *t = w->owner != NULL ? task_impl_of(w->owner) : NULL;
    if (t != NULL && t->waiting == w && t != tasks.current)
        loop_ready(t);
}

void task_cancel(task *t, res why)
{
    task_impl *me = task_impl_of(t);
    if (me->why != RES_OK)
        return;
    me->why = why;
    if (me->waiting != NULL && !me->waiting->done && me->stop != NULL)
        me->stop(me->waiting);
}

res task_stopped(const task *t)
{
    task_impl *me = task_impl_of(t);
    if (me->why == RES_OK && deadline_passed(me))
        me->why = RES_TIMEOUT;
    return me->why;
}

uint64_t task_left_ms(const task *t)
{
    const task_impl *me = task_impl_of(t);
    if (me->deadline_us == 0)
        return UINT64_MAX;
    uint64_t now_us = uv_hrtime() / 1000;
    return me->deadline_us > now_us ? (me->deadline_us - now_us + 999) / 1000 : 0;
}

/* ---- failing ---- */

res task_fail(task *t, res code, const char *fmt, ...)
{
    task_impl *me = task_impl_of(t);
    va_list    args;
    va_start(args, fmt);
    str here = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    if (me->message.len > 0)
        here = arena_strf(t->arena, "%.*s: %.*s", STR_ARG(here), STR_ARG(me->message));
    me->message = str_slice(here, 0, MESSAGE_MAX);
    return code;
}

str task_message(const task *t)
{
    return task_impl_of(t)->message;
}

void task_forget(task *t)
{
    task_impl_of(t)->message = (str){0};
    task_impl_of(t)->peer = (task_peer){0};
}

void task_set_peer(task *t, int status, str code, str message)
{
    task_peer *p = &task_impl_of(t)->peer;
    p->status = status;
    (void)snprintf(p->code, sizeof p->code, "%.*s", STR_ARG(code)); /* cut where it is too long */
    (void)snprintf(p->message, sizeof p->message, "%.*s", STR_ARG(message));
}

const task_peer *task_peer_said(const task *t)
{
    return &task_impl_of(t)->peer;
}

/* ---- looking ---- */

void task_log_all(void)
{
    uint64_t now_us = uv_hrtime() / 1000;
    log_info("%zu tasks are live", tasks.count);
    for (const task_impl *t = tasks.live; t != NULL; t = t->next_live)
        log_info("task '%s', invocation '%.*s', %llu ms old, %s", t->name, STR_ARG(t->log.invocation),
                 (unsigned long long)(now_us - t->started_us) / 1000,
                 t->waiting != NULL ? t->waiting->what : "ready");
}
