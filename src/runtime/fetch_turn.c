/* fetch_turn.c -- who may begin a transfer now.
 *
 * A turn needs three things: the library (loaded by a thread on first use), for https the CA bundle (the
 * same), and a place among the FETCH_AT_ONCE_MAX under way. Who cannot have it yet waits in a line, first
 * come first served, within its own limit of time. A failed load fails those who waited for it and is tried
 * again by the next: a missing file that appears is found without a restart.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"
#include "runtime/fetch_internal.h"
#include "runtime/loop_uv.h"

enum { WHY_BYTES = 512 };

/* On the stack of the task that waits. */
typedef struct ticket ticket;
struct ticket {
    wait          w;
    fetch_stream *stream;
    bool          tls;
    uint64_t      until_us;
    ticket       *prev, *next;
};

static struct {
    ticket     *first, *last;
    size_t      waiting, running, running_max, waiting_max;
    uv_timer_t *timer; /* for the first ticket to run out of time; made when one first has to wait */
    bool        ready; /* the library is loaded and the multi is open */
    bool        tls_ready;
    metric     *inflight;
    const char *library;
    char        why[WHY_BYTES]; /* the latest load failed */

    uv_work_t work;
    bool      working, closing;
    struct { /* what the thread was asked for and what it found; nobody else looks while it works */
        bool        tls, library_ok, tls_ok;
        const char *name;
        char        why[WHY_BYTES];
    } job;
} turns = {.running_max = FETCH_AT_ONCE_MAX, .waiting_max = FETCH_WAITING_MAX, .library = CURL_LIBRARY};

void fetch_turn_set_library(const char *name)
{
    turns.library = name != NULL ? name : CURL_LIBRARY;
}

void fetch_turn_set_limits(size_t running_max, size_t waiting_max)
{
    turns.running_max = running_max;
    turns.waiting_max = waiting_max;
}

const char *fetch_turn_why(void)
{
    return turns.why;
}

static bool has_all(bool tls)
{
    return turns.ready && (!tls || turns.tls_ready);
}

/* ---- the line ---- */

static void leave_line(ticket *k)
{
    *(k->prev != NULL ? &k->prev->next : &turns.first) = k->next;
    *(k->next != NULL ? &k->next->prev : &turns.last) = k->prev;
    if (--turns.waiting == 0)
        (void)uv_timer_stop(turns.timer); /* always 0 */
}

static void join_line(ticket *k)
{
    k->prev = turns.last;
    *(k->prev != NULL ? &k->prev->next : &turns.first) = k;
    turns.last = k;
    turns.waiting++;
}

static void answer(ticket *k, res result)
{
    leave_line(k);
    wait_done(&k->w, result);
}

static void stop_waiting(wait *w)
{
    answer(w->ctx, RES_GONE); /* wait_for knows the true reason */
}

static void hold(fetch_stream *s)
{
    if (turns.inflight == NULL)
        turns.inflight = metrics_gauge("trestle_fetch_inflight", "", "Outgoing requests under way");
    s->turn = true;
    turns.running++;
    metrics_set(turns.inflight, (int64_t)turns.running);
}

static void serve_line(void)
{
    for (ticket *k = turns.first, *next; k != NULL && turns.running < turns.running_max; k = next) {
        next = k->next;
        if (has_all(k->tls)) {
            hold(k->stream);
            answer(k, RES_OK);
        }
    }
}

/* ---- running out of time ---- */

static void arm_timer(void);

static void on_timer(uv_timer_t *h)
{
    (void)h;
    uint64_t now_us = uv_hrtime() / 1000;
    for (ticket *k = turns.first, *next; k != NULL; k = next) {
        next = k->next;
        if (k->until_us <= now_us)
            answer(k, RES_TIMEOUT);
    }
    arm_timer();
}

static void arm_timer(void)
{
    uint64_t first_us = UINT64_MAX, now_us = uv_hrtime() / 1000;
    for (const ticket *k = turns.first; k != NULL; k = k->next)
        if (k->until_us < first_us)
            first_us = k->until_us;
    if (first_us == UINT64_MAX)
        return; /* nobody has a limit */
    uint64_t left_ms = first_us > now_us ? (first_us - now_us + 999) / 1000 : 0;
    uv_update_time(loop_uv());
    (void)uv_timer_start(turns.timer, on_timer, left_ms, 0); /* fails only without a callback */
}

static bool make_timer(void)
{
    if (turns.timer == NULL && (turns.timer = malloc(sizeof *turns.timer)) != NULL)
        (void)uv_timer_init(loop_uv(), turns.timer); /* always 0 */
    return turns.timer != NULL;
}

/* ---- loading ---- */

static void load_in_thread(uv_work_t *work)
{
    (void)work;
    turns.job.library_ok = curl_load(turns.job.name, turns.job.why, sizeof turns.job.why);
    turns.job.tls_ok =
        turns.job.library_ok && turns.job.tls && fetch_trust_load(turns.job.why, sizeof turns.job.why);
    fetch_trust_leave_thread();
}

static void fail_those_without(void)
{
    for (ticket *k = turns.first, *next; k != NULL; k = next) {
        next = k->next;
        bool asked = !k->tls || turns.job.tls; /* who came for the bundle meanwhile has not been tried yet */
        if (!has_all(k->tls) && (!turns.ready || asked))
            answer(k, RES_CONFIG);
    }
}

static void free_timer(uv_handle_t *h)
{
    free(h);
}

static void shut_down(void)
{
    assert(turns.first == NULL && turns.running == 0);
    fetch_transfer_pool_free();
    fetch_multi_close();
    fetch_trust_drop();
    curl_unload();
    if (turns.timer != NULL)
        uv_close((uv_handle_t *)turns.timer, free_timer);
    turns.timer = NULL;
    turns.ready = turns.tls_ready = turns.closing = false;
}

static void after_load(uv_work_t *work, int status);

static void start_loading(bool tls)
{
    if (turns.working)
        return;
    turns.working = true;
    turns.job.tls = tls;
    turns.job.name = turns.library;
    turns.job.why[0] = '\0';
    (void)uv_queue_work(loop_uv(), &turns.work, load_in_thread,
                        after_load); /* fails only without a function */
}

static void after_load(uv_work_t *work, int status)
{
    (void)work, (void)status;
    turns.working = false;
    if (turns.closing) {
        shut_down();
        return;
    }
    (void)snprintf(turns.why, sizeof turns.why, "%s", turns.job.why);
    turns.ready = turns.job.library_ok && fetch_multi_open();
    turns.tls_ready = turns.tls_ready || turns.job.tls_ok;
    if (turns.job.library_ok && !turns.ready)
        (void)snprintf(turns.why, sizeof turns.why, "no memory for libcurl");
    fail_those_without();
    for (const ticket *k = turns.first; k != NULL && !turns.working; k = k->next)
        if (!has_all(k->tls))
            start_loading(k->tls);
    serve_line();
}

/* ---- for fetch ---- */

res fetch_turn_take(task *t, fetch_stream *s, bool tls, uint64_t until_us)
{
    assert(!s->turn);
    res stopped = task_stopped(t);
    if (stopped != RES_OK)
        return stopped;
    bool all = has_all(tls);
    if (all && turns.first == NULL && turns.running < turns.running_max) {
        hold(s);
        return RES_OK;
    }
    if (turns.waiting >= turns.waiting_max)
        return RES_UNAVAILABLE;
    if (!make_timer())
        return RES_MEMORY;

    ticket k = {.w = WAIT_INIT("turn to fetch"), .stream = s, .tls = tls, .until_us = until_us};
    k.w.ctx = &k;
    join_line(&k);
    if (!all)
        start_loading(tls);
    arm_timer();
    serve_line(); /* those in front may wait for something that this one does not need */
    return wait_for(t, &k.w, stop_waiting);
}

void fetch_turn_give(fetch_stream *s)
{
    if (!s->turn)
        return;
    s->turn = false;
    turns.running--;
    metrics_set(turns.inflight, (int64_t)turns.running);
    serve_line();
}

void fetch_turn_shutdown(void)
{
    turns.closing = true;
    if (!turns.working)
        shut_down();
}
