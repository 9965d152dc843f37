/* loop.c -- the event loop, and the one place from which tasks are resumed.
 *
 * Callbacks of libuv only put tasks into the queue of ready ones. The queue is run right before the loop
 * would sleep (prepare: tasks woken by timers) and right after it polled (check: tasks woken by sockets), on
 * the loop's own stack. While the queue is not empty an idle handle keeps the loop from sleeping and from
 * ending.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "core/log.h"
#include "runtime/task_impl.h"

enum { RUN_MAX = 4096 }; /* tasks resumed in a row before sockets get their turn */

static struct {
    uv_loop_t    uv;
    uv_prepare_t prepare;
    uv_check_t   check;
    uv_idle_t    idle;
    uv_signal_t  usr1;
    task_impl   *first, **last;
    bool         open, idling;
} loop;

uv_loop_t *loop_uv(void)
{
    assert(loop.open);
    return &loop.uv;
}

static void on_idle(uv_idle_t *h)
{
    (void)h; /* being active is its whole work */
}

void loop_ready(task_impl *t)
{
    if (t->queued)
        return;
    t->queued = true;
    t->next_ready = NULL;
    *loop.last = t;
    loop.last = &t->next_ready;
    if (!loop.idling) {
        loop.idling = true;
        (void)uv_idle_start(&loop.idle, on_idle); /* fails only without a callback */
    }
}

static void run_ready(void)
{
    for (int n = 0; loop.first != NULL && n < RUN_MAX; n++) {
        task_impl *t = loop.first;
        loop.first = t->next_ready;
        if (loop.first == NULL)
            loop.last = &loop.first;
        t->queued = false;
        task_resume(t);
    }
    if (loop.first == NULL && loop.idling) {
        loop.idling = false;
        (void)uv_idle_stop(&loop.idle); /* always 0 */
    }
}

static void on_prepare(uv_prepare_t *h)
{
    (void)h;
    run_ready();
}

static void on_check(uv_check_t *h)
{
    (void)h;
    run_ready();
}

static void on_usr1(uv_signal_t *h, int signum)
{
    (void)h, (void)signum;
    task_log_all();
}

res loop_open(void)
{
    assert(!loop.open);
    memset(&loop, 0, sizeof loop);
    loop.last = &loop.first;
    if (uv_loop_init(&loop.uv) != 0)
        return RES_MEMORY;
    loop.open = true;

    (void)uv_prepare_init(&loop.uv, &loop.prepare); /* these five cannot fail (libuv's own words: always 0) */
    (void)uv_check_init(&loop.uv, &loop.check);
    (void)uv_idle_init(&loop.uv, &loop.idle);
    (void)uv_prepare_start(&loop.prepare, on_prepare);
    (void)uv_check_start(&loop.check, on_check);
    uv_unref((uv_handle_t *)&loop.prepare);
    uv_unref((uv_handle_t *)&loop.check);

    int r = uv_signal_init(&loop.uv, &loop.usr1);
    if (r == 0)
        r = uv_signal_start(&loop.usr1, on_usr1, SIGUSR1);
    if (r != 0)
        log_warn("SIGUSR1 will not list the tasks: %s", uv_strerror(r));
    uv_unref((uv_handle_t *)&loop.usr1);
    return RES_OK;
}

void loop_run(void)
{
    (void)uv_run(&loop.uv, UV_RUN_DEFAULT); /* non-zero only says that it was stopped early */
}

void loop_stop(void)
{
    uv_stop(&loop.uv);
}

static void name_open_handle(uv_handle_t *h, void *ctx)
{
    (void)ctx;
    log_error("at the end of the loop a %s is still open", uv_handle_type_name(h->type));
}

void loop_close(void)
{
    if (!loop.open)
        return;
    assert(task_count() == 0);
    task_pool_close();
    uv_close((uv_handle_t *)&loop.prepare, NULL);
    uv_close((uv_handle_t *)&loop.check, NULL);
    uv_close((uv_handle_t *)&loop.idle, NULL);
    uv_close((uv_handle_t *)&loop.usr1, NULL);
    (void)uv_run(&loop.uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&loop.uv) != 0) {
        uv_walk(&loop.uv, name_open_handle, NULL);
        assert(!"loop_close: a handle was left open");
    }
    fiber_pool_free();
    loop.open = false;
}
