/* queue_runner.c -- see queue_runner.h.
 *
 * Each look into a queue is a short task. It is started by a timer, by the end of a message, or by a wake;
 * there is one at a time for each function. What it finds becomes jobs (queue_job.h), never more than
 * batchSize plus newBatchThreshold.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/queue_runner.h"

#include "core/log.h"
#include "runtime/loop_uv.h"
#include "runtime/queue_job.h"

enum {
    IDLE_MIN_MS = 100,
    TICK_MS = 1000,
    POLL_MEMORY = 16 * MIB, /* 32 messages of 64 KiB, and what it takes to read them */
    POLL_MS = 60 * 1000,
};

typedef struct {
    queue_jobs jobs;
    uv_timer_t timer;
    task      *polling; /* NULL: not now */
    size_t     found;   /* by the last look */
    uint64_t   idle_ms; /* until the next look, should this one find nothing */
    bool       hungry;  /* there may be more: look as soon as few enough are under way */
    bool       woken;   /* a message was sent during the look */
    bool       failing; /* so that an outage is one line in the log */
    bool       stopped;
} listener;

struct queue_runner {
    const dispatcher *d;
    listener         *all;
    size_t            count;
    uv_timer_t        tick;
};

static str queue_of(const listener *me)
{
    return me->jobs.fn->trigger_binding->queue;
}

static const host_settings *host_of(const listener *me)
{
    return &me->jobs.d->app->host;
}

/* ---- looking ---- */

static void look_after(listener *me, uint64_t ms);

static res look(task *t, void *ctx)
{
    listener            *me = ctx;
    const host_settings *host = host_of(me);
    queue_message_info  *list;
    size_t               count;
    res r = me->jobs.d->o->queues->receive(t, queue_of(me), host->queue_plain, (unsigned)host->queue_batch,
                                           QUEUE_HIDE_S, &list, &count);
    if (r != RES_OK)
        return r;
    me->found = count;
    for (size_t i = 0; i < count; i++)
        if (queue_jobs_start(&me->jobs, &list[i]) != RES_OK)
            log_error("no memory for message '%.*s' of queue '%.*s': it comes again in ten minutes",
                      STR_ARG(list[i].id), STR_ARG(queue_of(me)));
    return RES_OK;
}

static void note_failure(listener *me, res result, str message)
{
    if (result == RES_OK && me->failing)
        log_info("queue '%.*s' can be read again", STR_ARG(queue_of(me)));
    else if (result != RES_OK && !me->failing)
        log_error("queue '%.*s' cannot be read, and is tried again: %.*s", STR_ARG(queue_of(me)),
                  STR_ARG(message.len > 0 ? message : str_of(res_get(result)->text)));
    me->failing = result != RES_OK;
}

static void back_off(listener *me)
{
    uint64_t most_ms = host_of(me)->queue_max_polling_ms;
    look_after(me, me->idle_ms);
    me->idle_ms = me->idle_ms * 2 < most_ms ? me->idle_ms * 2 : most_ms;
}

static void look_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    listener *me = ctx;
    me->polling = NULL;
    note_failure(me, result, message);
    if (result == RES_OK && (me->found > 0 || me->woken)) {
        me->idle_ms = IDLE_MIN_MS;
        look_after(me, 0);
    } else {
        back_off(me);
    }
}

static void start_look(listener *me)
{
    if (me->stopped || me->polling != NULL)
        return;
    me->hungry = me->jobs.count > (size_t)host_of(me)->queue_new_batch_threshold;
    if (me->hungry)
        return; /* the end of a message will start it */
    const function *fn = me->jobs.fn;
    task_spec       spec = {.name = fn->row->folder,
                            .deadline_ms = POLL_MS,
                            .memory_bytes = POLL_MEMORY,
                            .log = {.function = fn->name}};
    me->found = 0;
    me->woken = false;
    if (task_start(&spec, look, look_ended, me, &me->polling) != RES_OK) {
        me->polling = NULL;
        back_off(me);
    }
}

static void on_timer(uv_timer_t *h)
{
    start_look(h->data);
}

static void look_after(listener *me, uint64_t ms)
{
    if (!me->stopped)
        (void)uv_timer_start(&me->timer, on_timer, ms, 0); /* fails only without a callback */
}

static void job_ended(void *ctx)
{
    listener *me = ctx;
    if (me->hungry)
        start_look(me);
}

/* ---- all of them ---- */

res queue_runner_load(arena *a, const dispatcher *d, queue_runner **ret, str *ret_error)
{
    size_t count = 0;
    for (size_t i = 0; i < d->app->count; i++)
        count += d->app->all[i].trigger == TRIGGER_QUEUE && !d->app->all[i].disabled;
    if (count == 0 || d->o->queues == NULL)
        return RES_OK;
    queue_runner *all = arena_one(a, queue_runner);
    listener     *one = arena_array(a, listener, count);
    if (all == NULL || one == NULL) {
        *ret_error = STR("out of memory");
        return RES_MEMORY;
    }
    *all = (queue_runner){.d = d, .all = one, .count = count};
    for (size_t i = 0; i < d->app->count; i++) {
        const function *fn = &d->app->all[i];
        if (fn->trigger != TRIGGER_QUEUE || fn->disabled)
            continue;
        one->idle_ms = IDLE_MIN_MS;
        one->jobs = (queue_jobs){.d = d, .fn = fn, .ended = job_ended, .ctx = one};
        one++;
    }
    *ret = all;
    return RES_OK;
}

static void on_tick(uv_timer_t *h)
{
    queue_runner *all = h->data;
    for (size_t i = 0; i < all->count; i++)
        queue_jobs_tick(&all->all[i].jobs);
}

void queue_runner_start(queue_runner *all)
{
    if (all == NULL)
        return;
    for (size_t i = 0; i < all->count; i++) {
        listener *one = &all->all[i];
        (void)uv_timer_init(loop_uv(), &one->timer); /* always 0 */
        one->timer.data = one;
        start_look(one);
    }
    (void)uv_timer_init(loop_uv(), &all->tick);
    all->tick.data = all;
    (void)uv_timer_start(&all->tick, on_tick, TICK_MS, TICK_MS);
}

void queue_runner_wake(queue_runner *all, str queue)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        listener *one = &all->all[i];
        if (!str_eq(queue_of(one), queue))
            continue;
        one->woken = true;
        one->idle_ms = IDLE_MIN_MS;
        start_look(one);
    }
}

void queue_runner_stop(queue_runner *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        listener *one = &all->all[i];
        one->stopped = true;
        if (!uv_is_closing((uv_handle_t *)&one->timer))
            uv_close((uv_handle_t *)&one->timer, NULL);
    }
}

void queue_runner_cancel(queue_runner *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++)
        queue_jobs_cancel(&all->all[i].jobs);
}

void queue_runner_close(queue_runner *all)
{
    if (all == NULL)
        return;
    for (size_t i = 0; i < all->count; i++)
        queue_jobs_drop(&all->all[i].jobs);
    uv_close((uv_handle_t *)&all->tick, NULL);
}
