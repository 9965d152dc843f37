/* timers.c -- see timers.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/timers.h"

#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "runtime/cron.h"
#include "runtime/loop_uv.h"

enum {
    LOOK_AGAIN_MS = 60 * 1000, /* the wall clock may be set meanwhile: never sleep longer than this */
    TIMER_MEMORY = 64 * MIB,
};

typedef struct {
    const dispatcher *d;
    const function   *fn;
    cron              when;
    uv_timer_t        handle;
    int64_t           next_us, last_us;
    uint64_t          started_us; /* of the monotonic clock */
    task             *running;    /* NULL: not now */
    bool              missed;     /* a moment passed while it ran */
    char              id[UUID_TEXT + 1];
} timer;

struct timers {
    timer *all;
    size_t count;
};

static res run_timer(task *t, void *ctx)
{
    timer  *me = ctx;
    str     text = envelope_for_timer(t->arena, me->fn, me->last_us, me->next_us, me->missed);
    str     error;
    request in;
    reply   out;
    res     r = request_from_envelope(&in, t->arena, text, me->fn, &error);
    if (r != RES_OK)
        return task_fail(t, r, "%.*s", STR_ARG(error));
    in.invocation = str_of(me->id);
    in.trace = in.invocation;
    me->missed = false;
    me->last_us = clock_wall_us();
    reply_init(&out, t->arena, me->fn, NULL);
    return dispatch_run(t, me->d, me->fn, &in, &out);
}

static void timer_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    timer *me = ctx;
    me->running = NULL;
    dispatch_count(me->d, me->fn, result, clock_mono_us() - me->started_us);
    if (result == RES_MEMORY) /* other failures were logged where they happened */
        log_error("timer function '%.*s': %.*s", STR_ARG(me->fn->name), STR_ARG(message));
}

static void start_run(timer *me)
{
    if (me->running != NULL) {
        me->missed = true;
        log_info("timer function '%.*s' is still running: this moment is skipped", STR_ARG(me->fn->name));
        return;
    }
    (void)id_uuid(me->id);
    me->started_us = clock_mono_us();
    task_spec spec = {.name = me->fn->row->folder,
                      .deadline_ms = me->fn->row->deadline_ms,
                      .memory_bytes = TIMER_MEMORY,
                      .log = {.invocation = str_of(me->id), .function = me->fn->name}};
    if (task_start(&spec, run_timer, timer_ended, me, &me->running) != RES_OK) {
        me->running = NULL;
        me->missed = true;
        log_warn("timer function '%.*s' could not be started: too many tasks", STR_ARG(me->fn->name));
    }
}

static void arm(timer *me);

static void on_timer(uv_timer_t *h)
{
    timer *me = h->data;
    if (clock_wall_us() >= me->next_us) {
        start_run(me);
        if (!cron_next(&me->when, clock_wall_us(), &me->next_us))
            return; /* never again */
    }
    arm(me);
}

static void arm(timer *me)
{
    int64_t wait_us = me->next_us - clock_wall_us();
    int64_t ms = wait_us <= 0 ? 0 : (wait_us + 999) / 1000;
    if (ms > LOOK_AGAIN_MS)
        ms = LOOK_AGAIN_MS;
    (void)uv_timer_start(&me->handle, on_timer, (uint64_t)ms, 0); /* fails only without a callback */
}

static res prepare(arena *a, const function *fn, timer *ret, str *ret_error)
{
    ret->fn = fn;
    res r = cron_parse(a, fn->schedule, &ret->when, ret_error);
    if (r == RES_OK && !cron_next(&ret->when, clock_wall_us(), &ret->next_us)) {
        *ret_error = arena_strf(a, "schedule '%.*s' never comes", STR_ARG(fn->schedule));
        r = RES_CONFIG;
    }
    if (r != RES_OK)
        *ret_error = arena_strf(a, "%.*s/function.json: %.*s", STR_ARG(fn->name), STR_ARG(*ret_error));
    return r;
}

res timers_load(arena *a, const dispatcher *d, timers **ret, str *ret_error)
{
    const function_app *app = d->app;
    timers             *all = arena_one(a, timers);
    timer              *one = arena_array(a, timer, app->count);
    if (all == NULL || (one == NULL && app->count > 0))
        return RES_MEMORY;
    all->all = one;
    for (size_t i = 0; i < app->count; i++) {
        const function *fn = &app->all[i];
        if (fn->trigger != TRIGGER_TIMER || fn->disabled)
            continue;
        res r = prepare(a, fn, &one[all->count], ret_error);
        if (r != RES_OK)
            return r;
        one[all->count++].d = d;
    }
    *ret = all;
    return RES_OK;
}

void timers_start(timers *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        timer *one = &all->all[i];
        (void)uv_timer_init(loop_uv(), &one->handle); /* always 0 */
        one->handle.data = one;
        if (one->fn->run_on_startup)
            start_run(one);
        arm(one);
    }
}

void timers_stop(timers *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (!uv_is_closing((uv_handle_t *)&all->all[i].handle))
            uv_close((uv_handle_t *)&all->all[i].handle, NULL);
}

void timers_cancel(timers *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++)
        if (all->all[i].running != NULL)
            task_cancel(all->all[i].running, RES_UNAVAILABLE);
}
