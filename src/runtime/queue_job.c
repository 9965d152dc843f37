/* queue_job.c -- see queue_job.h.
 *
 *     TO_RUN -> RUNNING -> TO_SETTLE -> SETTLING -> gone
 *
 * The states TO_… are passed at once unless there are too many tasks, or (TO_SETTLE) a renewal is under way,
 * whose new receipt settling needs.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/queue_job.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/metrics.h"
#include "runtime/loop.h"

enum {
    JOB_MEMORY = 1 * MIB, /* a message of at most 64 KiB, and its receipts */
    RUN_MEMORY = 64 * MIB,
    SETTLE_MEMORY = 4 * MIB,
    SETTLE_MS = 30 * 1000,
};

typedef enum { TO_RUN, RUNNING, TO_SETTLE, SETTLING } job_state;
typedef enum { DONE, AGAIN, POISONED } job_verdict;

struct queue_job {
    queue_jobs        *all;
    arena             *a; /* its own: outlives the tasks that deal with it */
    queue_message_info m, renewed;
    job_state          state;
    job_verdict        verdict;
    task              *running;
    bool               renewing;
    uint64_t           hidden_us, started_us; /* of the monotonic clock */
    queue_job         *prev, *next;
    char               id[UUID_TEXT + 1]; /* of the invocation */
};

static str queue_of(const queue_job *me)
{
    return me->all->fn->trigger_binding->queue;
}

static bool is_plain(const queue_job *me)
{
    return me->all->d->app->host.queue_plain;
}

static const queue_source *source_of(const queue_job *me)
{
    return me->all->d->o->queues;
}

static task_spec spec_of(const queue_job *me, uint64_t deadline_ms, size_t memory_bytes)
{
    const function *fn = me->all->fn;
    return (task_spec){.name = fn->row->folder,
                       .deadline_ms = deadline_ms,
                       .memory_bytes = memory_bytes,
                       .log = {.invocation = str_of(me->id), .function = fn->name}};
}

/* ---- the end ---- */

static void end_job(queue_job *me)
{
    queue_jobs *all = me->all;
    if (me->prev != NULL)
        me->prev->next = me->next;
    else
        all->first = me->next;
    if (me->next != NULL)
        me->next->prev = me->prev;
    all->count--;
    arena_free(me->a);
}

static void count_message(const queue_job *me)
{
    static const char *const names[] = {[DONE] = "done", [AGAIN] = "retried", [POISONED] = "poisoned"};
    char                     labels[160];
    (void)snprintf(labels, sizeof labels, "queue=\"%.*s\",outcome=\"%s\"", STR_ARG(queue_of(me)),
                   names[me->verdict]);
    metrics_add(
        metrics_counter("trestle_queue_messages_total", labels, "Queue messages by what became of them"), 1);
}

/* ---- settling ---- */

static res settle(task *t, void *ctx)
{
    queue_job          *me = ctx;
    const queue_source *source = source_of(me);
    str                 queue = queue_of(me);
    uint64_t            visibility_ms = me->all->d->app->host.queue_visibility_ms;
    switch (me->verdict) {
    case DONE:
        return source->remove(t, queue, is_plain(me), &me->m);
    case POISONED:
        log_warn("message '%.*s' of queue '%.*s' has been tried %lld times: it moves to '%.*s-poison'",
                 STR_ARG(me->m.id), STR_ARG(queue), (long long)me->m.dequeue_count, STR_ARG(queue));
        return source->poison(t, queue, is_plain(me), &me->m);
    case AGAIN:
        break;
    }
    return source->hide(t, queue, is_plain(me), &me->m, (unsigned)((visibility_ms + 999) / 1000));
}

static void settled(task *t, void *ctx, res result, str message)
{
    (void)t;
    queue_job  *me = ctx;
    queue_jobs *all = me->all;
    bool        lost = result == RES_NOT_FOUND || result == RES_PRECONDITION;
    if (lost)
        log_warn("message '%.*s' of queue '%.*s' was hidden for too short a time and is somebody else's now",
                 STR_ARG(me->m.id), STR_ARG(queue_of(me)));
    else if (result != RES_OK)
        log_error(
            "message '%.*s' of queue '%.*s' was run, but could not be put in order and comes again: %.*s",
            STR_ARG(me->m.id), STR_ARG(queue_of(me)),
            STR_ARG(message.len > 0 ? message : str_of(res_get(result)->text)));
    else
        count_message(me);
    end_job(me);
    all->ended(all->ctx);
}

static void start_settling(queue_job *me)
{
    me->state = TO_SETTLE;
    task_spec spec = spec_of(me, SETTLE_MS, SETTLE_MEMORY);
    if (!me->renewing && task_start(&spec, settle, settled, me, NULL) == RES_OK)
        me->state = SETTLING;
}

/* ---- running ---- */

static res run_message(task *t, void *ctx)
{
    queue_job      *me = ctx;
    const function *fn = me->all->fn;
    str             error;
    request         in;
    reply           out;
    if (me->m.undecodable) {
        log_error("function '%.*s': message '%.*s' is not base64, which host.json's messageEncoding demands",
                  STR_ARG(fn->name), STR_ARG(me->m.id));
        return RES_INVALID;
    }
    res r = request_from_envelope(&in, t->arena, envelope_for_queue(t->arena, fn, &me->m), fn, &error);
    if (r != RES_OK) {
        log_error("function '%.*s': message '%.*s': %.*s", STR_ARG(fn->name), STR_ARG(me->m.id),
                  STR_ARG(error));
        return r;
    }
    in.invocation = str_of(me->id);
    in.trace = in.invocation;
    reply_init(&out, t->arena, fn, NULL);
    return dispatch_run(t, me->all->d, fn, &in, &out);
}

static job_verdict judge(const queue_job *me, res result)
{
    if (result == RES_OK)
        return DONE;
    return me->m.dequeue_count >= me->all->d->app->host.queue_max_dequeue ? POISONED : AGAIN;
}

static void run_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    queue_job      *me = ctx;
    const function *fn = me->all->fn;
    me->running = NULL;
    me->verdict = judge(me, result);
    dispatch_count(me->all->d, fn, result, clock_mono_us() - me->started_us);
    if (result == RES_MEMORY) /* other failures were logged where they happened */
        log_error("queue function '%.*s': %.*s", STR_ARG(fn->name), STR_ARG(message));
    start_settling(me);
}

/* A message that has had its tries already, perhaps of a process that died each time, is not run again. */
static void start_running(queue_job *me)
{
    me->state = TO_RUN;
    me->started_us = clock_mono_us();
    if (me->m.dequeue_count > me->all->d->app->host.queue_max_dequeue) {
        me->verdict = POISONED;
        start_settling(me);
        return;
    }
    task_spec spec = spec_of(me, me->all->fn->row->deadline_ms, RUN_MEMORY);
    if (task_start(&spec, run_message, run_ended, me, &me->running) == RES_OK)
        me->state = RUNNING;
    else
        me->running = NULL;
}

/* ---- staying hidden ---- */

static res renew(task *t, void *ctx)
{
    queue_job *me = ctx;
    me->renewed = me->m;
    return source_of(me)->hide(t, queue_of(me), is_plain(me), &me->renewed, QUEUE_HIDE_S);
}

static void renew_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    queue_job *me = ctx;
    str        receipt = result == RES_OK ? arena_copy(me->a, me->renewed.pop_receipt) : (str){0};
    me->renewing = false;
    if (receipt.at != NULL) {
        me->m.pop_receipt = receipt;
        me->hidden_us = clock_mono_us();
    } else {
        log_warn("message '%.*s' of queue '%.*s' could not be kept hidden: %.*s", STR_ARG(me->m.id),
                 STR_ARG(queue_of(me)), STR_ARG(message));
    }
    if (me->state == TO_SETTLE)
        start_settling(me);
}

static void renew_when_due(queue_job *me)
{
    if (me->renewing || me->state == SETTLING ||
        clock_mono_us() - me->hidden_us < (uint64_t)QUEUE_RENEW_S * 1000000)
        return;
    task_spec spec = spec_of(me, SETTLE_MS, SETTLE_MEMORY);
    me->renewing = task_start(&spec, renew, renew_ended, me, NULL) == RES_OK;
}

/* ---- all of them ---- */

static bool copy_message(arena *a, const queue_message_info *m, queue_message_info *ret)
{
    *ret = *m;
    ret->id = arena_copy(a, m->id);
    ret->pop_receipt = arena_copy(a, m->pop_receipt);
    ret->text = arena_copy(a, m->text);
    return ret->id.at != NULL && ret->pop_receipt.at != NULL && ret->text.at != NULL;
}

res queue_jobs_start(queue_jobs *all, const queue_message_info *m)
{
    arena     *a = arena_new(JOB_MEMORY);
    queue_job *me = a != NULL ? arena_one(a, queue_job) : NULL;
    if (me == NULL || !copy_message(a, m, &me->m)) {
        arena_free(a);
        return RES_MEMORY;
    }
    me->all = all;
    me->a = a;
    me->hidden_us = clock_mono_us();
    (void)id_uuid(me->id);
    me->next = all->first;
    if (all->first != NULL)
        all->first->prev = me;
    all->first = me;
    all->count++;
    start_running(me);
    return RES_OK;
}

void queue_jobs_tick(queue_jobs *all)
{
    for (queue_job *me = all->first; me != NULL; me = me->next) {
        if (me->state == TO_RUN)
            start_running(me);
        else if (me->state == TO_SETTLE)
            start_settling(me);
        renew_when_due(me);
    }
}

void queue_jobs_cancel(queue_jobs *all)
{
    for (queue_job *me = all->first; me != NULL; me = me->next)
        if (me->running != NULL)
            task_cancel(me->running, RES_UNAVAILABLE);
}

void queue_jobs_drop(queue_jobs *all)
{
    while (all->first != NULL)
        end_job(all->first);
}
