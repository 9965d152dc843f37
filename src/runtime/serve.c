/* serve.c -- see serve.h: load, listen, say so, run, drain.
 *
 * Order matters at start: everything that can be wrong in the app's files is found before the port is opened,
 * for the host takes an open port as readiness, and nothing that can wait is done before.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "runtime/background.h"
#include "runtime/dispatch.h"
#include "runtime/fault.h"
#include "runtime/fetch.h"
#include "runtime/loop_uv.h"
#include "runtime/queue_runner.h"
#include "runtime/redis.h"
#include "runtime/timers.h"

enum {
    STANDALONE_PORT = 7071,
    APP_MEMORY = 64 * MIB,
    DRAIN_MS_DEFAULT = 25 * 1000,
    DRAIN_POLL_MS = 20,
    DRAIN_GRACE_MS = 5000,
    LOG_FLUSH_MS = 1000
};

typedef struct {
    const serve_options *o;
    arena               *a;
    function_app        *app;
    dispatcher           dispatcher;
    http_server         *server;
    timers              *timers;
    str                  storage; /* for the banner */
    uv_signal_t          term, intr;
    uv_timer_t           tick; /* flushes the log's backlog; while draining, looks whether tasks have ended */
    uint64_t             drain_until_ms;
    bool                 draining, server_gone, asked_to_stop;
} app;

static int fail(const char *what, str why)
{
    log_drain(100);
    fprintf(stderr, "trestle: %s%.*s\n", what, STR_ARG(why));
    return EXIT_FAILURE;
}

/* ---- stopping ---- */

static void close_handles(app *s)
{
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->intr, NULL);
    uv_close((uv_handle_t *)&s->tick, NULL);
    queue_runner_close(s->dispatcher.queues);
    s->o->store.close(s->o->store.ctx);
    fetch_shutdown();
    redis_shutdown();
}

static void cancel_runs(app *s)
{
    timers_cancel(s->timers);
    queue_runner_cancel(s->dispatcher.queues);
    background_cancel();
}

static void on_tick(uv_timer_t *h)
{
    app *s = h->data;
    log_flush();
    if (!s->draining)
        return;
    uint64_t now_ms = uv_now(loop_uv());
    if (now_ms >= s->drain_until_ms)
        cancel_runs(s);
    if (s->server_gone && task_count() == 0)
        close_handles(s);
    else if (now_ms >= s->drain_until_ms + DRAIN_GRACE_MS)
        loop_stop(); /* a task that does not heed its cancellation is not waited for for ever */
}

static void on_server_gone(void *ctx)
{
    ((app *)ctx)->server_gone = true;
}

/* The listener goes first, so that no new call comes; those under way are finished; then the loop runs empty.
 */
static void on_stop_signal(uv_signal_t *h, int signum)
{
    app *s = h->data;
    if (s->draining) {
        log_warn("second signal: leaving at once");
        log_drain(100);
        _exit(EXIT_FAILURE);
    }
    uint64_t limit_ms = s->o->drain_ms != 0 ? s->o->drain_ms : DRAIN_MS_DEFAULT;
    s->draining = true;
    s->asked_to_stop = true;
    s->drain_until_ms = uv_now(loop_uv()) + limit_ms;
    log_info("%s: finishing %zu calls, then leaving", signum == SIGTERM ? "SIGTERM" : "SIGINT", task_count());
    timers_stop(s->timers);
    queue_runner_stop(s->dispatcher.queues);
    background_leave();
    http_server_drain(s->server, limit_ms, on_server_gone, s);
    (void)uv_timer_start(&s->tick, on_tick, 0, DRAIN_POLL_MS); /* fails only without a callback */
}

/* ---- starting ---- */

static void print_banner(const app *s)
{
    const serve_options *o = s->o;
    bool                 v6 = strchr(o->listen, ':') != NULL;
    str                  where =
        arena_strf(s->a, v6 ? "http://[%s]:%d" : "http://%s:%d", o->listen, http_server_port(s->server));
    buf text;
    buf_init(&text, s->a, 1 * MIB);
    buf_addf(&text, "Trestle %s, standalone on %.*s\nStorage: %.*s\n\nFunctions:\n\n", o->version,
             STR_ARG(where), STR_ARG(s->storage));
    functions_print(s->app, where, &text);
    if (functions_find(s->app, STR("health")) != NULL)
        buf_addf(&text, "\nTry:\n\n    curl %.*s/%.*s%shealth\n", STR_ARG(where),
                 STR_ARG(s->app->host.route_prefix), s->app->host.route_prefix.len > 0 ? "/" : "");
    buf_addf(&text, "\nStop with Ctrl-C.\n");
    (void)fwrite(text.at, 1, text.len, stdout); /* a closed stdout is no reason to stop */
    (void)fflush(stdout);
}

static res load(app *s, str *ret_error)
{
    const serve_options *o = s->o;
    res                  r = functions_load(s->a, o->root, o->rows, o->row_count, &s->app, ret_error);
    if (r == RES_OK)
        r = functions_check(s->a, s->app, ret_error);
    s->dispatcher = (dispatcher){.app = s->app, .o = o, .a = s->a};
    if (r == RES_OK && !o->under_host)
        r = timers_load(s->a, &s->dispatcher, &s->timers, ret_error);
    if (r == RES_OK && !o->under_host)
        r = queue_runner_load(s->a, &s->dispatcher, &s->dispatcher.queues, ret_error);
    if (r != RES_OK)
        return r;
    str hidden = dispatch_ambiguity(s->a, s->app);
    if (hidden.len > 0)
        log_warn("%.*s", STR_ARG(hidden));
    return RES_OK;
}

static res listen_on(app *s, str *ret_error)
{
    const serve_options *o = s->o;
    http_server_options  options = http_server_defaults();
    options.address = o->listen;
    options.port = serve_port(o, s->app);
    if (o->connections_max != 0)
        options.connections_max = o->connections_max;
    if (o->head_ms != 0)
        options.head_ms = o->head_ms;
    if (o->tasks_max != 0)
        task_set_limit(o->tasks_max);

    http_app above = dispatch_app(&s->dispatcher);
    return http_server_open(s->a, &options, &above, &s->server, ret_error);
}

static void watch_signals(app *s)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a peer that left is an error of write, not the end of us */
    (void)uv_signal_init(loop_uv(), &s->term);
    (void)uv_signal_init(loop_uv(), &s->intr);
    s->term.data = s;
    s->intr.data = s;
    int r = uv_signal_start(&s->term, on_stop_signal, SIGTERM);
    r = r == 0 ? uv_signal_start(&s->intr, on_stop_signal, SIGINT) : r;
    if (r != 0)
        log_warn("cannot watch for SIGTERM and SIGINT: %s", uv_strerror(r));
    (void)uv_timer_init(loop_uv(), &s->tick);
    s->tick.data = s;
    (void)uv_timer_start(&s->tick, on_tick, LOG_FLUSH_MS, LOG_FLUSH_MS);
}

static int run(app *s)
{
    str error = {0};
    if (load(s, &error) != RES_OK)
        return fail("", error);
    if (loop_open() != RES_OK)
        return fail("no event loop: ", STR("out of memory or file descriptors"));
    if (s->o->store.open(s->o->store.ctx, s->a, &s->storage, &error) != RES_OK)
        return fail("", error);
    if (listen_on(s, &error) != RES_OK) {
        s->o->store.close(s->o->store.ctx);
        return fail("", error);
    }
    watch_signals(s);
    timers_start(s->timers);
    queue_runner_start(s->dispatcher.queues);
    if (s->o->store.started != NULL)
        s->o->store.started(s->o->store.ctx);

    if (s->o->under_host)
        log_info("listening on %s:%d with %zu functions; storage: %.*s", s->o->listen,
                 http_server_port(s->server), s->app->count, STR_ARG(s->storage));
    else
        print_banner(s);
    loop_run();
    if (!s->asked_to_stop)
        return fail("the event loop ended by itself", (str){0});
    if (task_count() > 0)
        return fail("calls were cut off at the end", (str){0});
    loop_close();
    return EXIT_SUCCESS;
}

int serve_port(const serve_options *o, const function_app *functions)
{
    if (o->port != SERVE_PORT_UNSAID)
        return o->port;
    return functions->host.local_port != 0 ? functions->host.local_port : STANDALONE_PORT;
}

int serve(const serve_options *o)
{
    fault_install();
    app s = {.o = o, .a = arena_new(APP_MEMORY)};
    if (s.a == NULL)
        return fail("out of memory", (str){0});
    int code = run(&s);
    log_drain(1000);
    arena_free(s.a);
    return code;
}
