/* rig.c -- see rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/handlers.h"
#include "core/log.h"
#include "runtime/background.h"
#include "runtime/dispatch.h"
#include "runtime/fetch.h"
#include "runtime/gate.h"
#include "runtime/wait.h"

enum {
    RIG_MEMORY = 64 * MIB,
    HANDLER_MEMORY = 64 * MIB,
    ANSWER_MAX = 256 * MIB,
    TRIES_MAX = 20000,
    DRAIN_MS = 2000
};

static struct {
    arena        *a;
    serve_options options;
    function_app *app;
    dispatcher    dispatcher;
    http_server  *server;
    bool          gone;
    gate          on_gone;
    rig_fn       *body;
    int           i, log_fd;
} rig = {.log_fd = -1};

/* ---- serving ---- */

/* What a module calls its things, and how the name begins here. */
static const struct {
    const char *setting, *prefix;
} names[] = {
    {"ACTIONS_TABLE_NAME", "A"},        {"README_TABLE_NAME", "R"},  {"ACTIONS_SNAPSHOT_CONTAINER", "s"},
    {"ACTIONS_HISTORY_CONTAINER", "h"}, {"SCHED_TABLE_PREFIX", "S"}, {"STATE_CONTAINER", "st"},
};

static void open_server(void)
{
    str error = {0};
    rig.a = arena_new(RIG_MEMORY);
    ck_assert_ptr_nonnull(rig.a);
    const char *root = getenv("TRESTLE_SOURCE_ROOT");
    ck_assert_msg(root != NULL, "TRESTLE_SOURCE_ROOT is not set: run this by ./dev test");
    rig.options = (serve_options){.root = root,
                                  .listen = "127.0.0.1",
                                  .rows = handlers,
                                  .row_count = handler_count,
                                  .shapes = error_shapes,
                                  .shape_count = error_shape_count,
                                  .version = "test"};
    res r = functions_load(rig.a, root, handlers, handler_count, &rig.app, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
    rig.dispatcher = (dispatcher){.a = rig.a, .app = rig.app, .o = &rig.options};
    http_server_options how = http_server_defaults();
    how.address = rig.options.listen;
    how.port = 0;
    http_app above = dispatch_app(&rig.dispatcher);
    r = http_server_open(rig.a, &how, &above, &rig.server, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
}

static void server_gone(void *ctx)
{
    (void)ctx;
    rig.gone = true;
    gate_open(&rig.on_gone);
}

static void close_server(task *t)
{
    background_leave();
    http_server_drain(rig.server, DRAIN_MS, server_gone, NULL);
    while (!rig.gone)
        ck_assert_int_eq(gate_wait(t, &rig.on_gone), RES_OK);
}

static res serve_body(task *t, void *ctx)
{
    (void)ctx;
    background_reset();
    open_server();
    rig.body(t, rig.i);
    close_server(t);
    return RES_OK;
}

void rig_run(const store_options *on, rig_fn *body, int i)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        ck_assert_int_eq(setenv(names[n].setting, live_name(names[n].prefix), 1), 0);
    ck_assert_int_eq(setenv("REMINDER_TICK_SCHEDULE", "0 * * * * *", 1), 0); /* as local.settings.json */
    rig.body = body;
    rig.i = i;
    rig.gone = false;
    live_run_on(on != NULL ? on : live_options(), serve_body, NULL, LIVE_DEADLINE_MS);
    arena_free(rig.a);
}

const store_options *rig_wire_store(wire *w)
{
    store_options *o = arena_one(scratch(), store_options);
    const char    *url = wire_url(w, "/" AZURITE_ACCOUNT);
    str            connection = str_of(textf("AccountName=" AZURITE_ACCOUNT ";AccountKey=" AZURITE_KEY
                                             ";TableEndpoint=%s;BlobEndpoint=%s;QueueEndpoint=%s",
                                             url, url, url));
    *o =
        (store_options){.kind = STORE_AZURE, .tables = connection, .blobs = connection, .queues = connection};
    return o;
}

int rig_port(void)
{
    return http_server_port(rig.server);
}

/* ---- over the socket ---- */

static got as_got(arena *a, int status, str body, const http_header *headers, size_t count)
{
    got g = {.status = status, .body = body, .headers = headers, .header_count = count};
    if (body.len > 0 && json_parse(a, body, &g.json, NULL) != RES_OK)
        g.json = NULL;
    return g;
}

got rig_call(task *t, const char *method, const char *target, str body, const http_header *headers,
             size_t header_count)
{
    fetch_answer  a;
    fetch_request in = {
        .method = str_of(method),
        .url = arena_strf(t->arena, "http://127.0.0.1:%d%s", rig_port(), target),
        .headers = headers,
        .header_count = header_count,
        .body = body,
        .answer_max = ANSWER_MAX,
        .direct = true,
    };
    OK(fetch(t, &in, &a));
    return as_got(t->arena, a.status, a.body, a.headers, a.header_count);
}

got rig_get(task *t, const char *target)
{
    return rig_call(t, "GET", target, (str){0}, NULL, 0);
}

got rig_post(task *t, const char *target, str body)
{
    static const http_header type = {STR_INIT("Content-Type"), STR_INIT("application/json")};
    return rig_call(t, "POST", target, body, &type, 1);
}

str rig_header(const got *g, const char *name)
{
    return http_header_get(g->headers, g->header_count, str_of(name));
}

const json_val *rig_at(const got *g, const char *path)
{
    const json_val *v = g->json;
    str             rest = str_of(path), name;
    while (v != NULL && str_next_field(&rest, '/', &name)) {
        uint64_t n;
        v = json_typeof(v) == JSON_ARRAY && str_to_u64(name, &n) ? json_at(v, n) : json_get_str(v, name);
    }
    return v;
}

static const json_val *need(const got *g, const char *path, json_type type)
{
    const json_val *v = rig_at(g, path);
    ck_assert_msg(v != NULL && json_typeof(v) == type, "'%s' is not as it should be in '%.*s'", path,
                  live_shown(g->body), g->body.at);
    return v;
}

str rig_text(const got *g, const char *path)
{
    return json_text(need(g, path, JSON_STRING), (str){0});
}

int64_t rig_int(const got *g, const char *path)
{
    return json_int(need(g, path, JSON_NUMBER), INT64_MIN);
}

bool rig_bool(const got *g, const char *path)
{
    return json_truth(need(g, path, JSON_BOOL), false);
}

/* ---- directly ---- */

typedef struct {
    const rig_request *in;
    long               fail_at, cancel_at; /* 0: none */
    bool               ended, untouched;   /* the planted failure was never reached */
    gate               on_end;
    got                g;
} direct;

static void fill_exchange(arena *a, const rig_request *in, http_exchange *x)
{
    str    target = str_of(in->target);
    size_t mark = str_find_char(target, '?');
    *x = (http_exchange){.arena = a,
                         .method = str_of(in->method),
                         .target = target,
                         .path = str_slice(target, 0, mark),
                         .headers = arena_array(a, http_header, in->header_count),
                         .header_count = in->header_count,
                         .body = in->body};
    if (in->header_count > 0)
        memcpy(x->headers, in->headers, in->header_count * sizeof *in->headers);
    if (mark < target.len)
        x->query = str_from(target, mark + 1);
}

static void keep(direct *d, int status, const reply *out)
{
    arena       *a = scratch();
    http_header *headers = arena_array(a, http_header, out != NULL ? out->header_count : 0);
    size_t       count = out != NULL ? out->header_count : 0;
    for (size_t i = 0; i < count; i++)
        headers[i] = (http_header){arena_copy(a, out->headers[i].name), arena_copy(a, out->headers[i].value)};
    str body = {0};
    if (out != NULL)
        body = out->streaming ? buf_str(&out->collected) : out->body;
    d->g = as_got(a, status, arena_copy(a, body), headers, count);
}

static res handle(task *t, void *ctx)
{
    direct       *d = ctx;
    http_exchange x;
    route_match   m;
    str           allow;
    request       in;
    reply         out;
    fill_exchange(t->arena, d->in, &x);
    ck_assert_int_eq(functions_route(t->arena, rig.app, x.method, x.path, &m, &allow), RES_OK);
    arena_fail_at(d->fail_at);
    if (d->cancel_at > 0)
        wait_cancel_at(d->cancel_at, RES_GONE);
    request_from_http(&in, &x, m.fn, m.params, m.param_count);
    reply_init(&out, t->arena, m.fn, NULL);
    res r = m.fn->row->run(t, &in, &out);
    d->untouched = d->fail_at > 0 ? arena_fail_pending() : wait_cancel_pending();
    arena_fail_at(0);
    if (r == RES_OK)
        keep(d, out.status != 0 ? out.status : 204, &out);
    return r;
}

static void handled(task *t, void *ctx, res result, str message)
{
    direct *d = ctx;
    (void)t, (void)message;
    if (result != RES_OK)
        d->g = (got){.status = res_get(result)->http_status};
    d->ended = true;
    gate_open(&d->on_end);
}

static got run_direct(task *t, direct *d)
{
    task_spec spec = {.name = "direct", .memory_bytes = HANDLER_MEMORY, .deadline_ms = LIVE_DEADLINE_MS};
    ck_assert_int_eq(task_start(&spec, handle, handled, d, NULL), RES_OK);
    while (!d->ended)
        ck_assert_int_eq(gate_wait(t, &d->on_end), RES_OK);
    return d->g;
}

got rig_direct(task *t, const rig_request *in)
{
    direct d = {.in = in};
    return run_direct(t, &d);
}

static bool is_listed(const int *list, int status)
{
    for (; list != NULL && *list != 0; list++)
        if (*list == status)
            return true;
    return false;
}

static bool torture_once(task *t, const rig_request *in, direct *d, int expected, const int *tolerated)
{
    got g = run_direct(t, d);
    arena_fail_at(0);
    wait_cancel_at(0, RES_OK);
    if (d->untouched)
        ck_assert_msg(g.status == expected, "untouched, %s answered %d: '%.*s'", in->target, g.status,
                      live_shown(g.body), g.body.at);
    ck_assert_msg(g.status == expected || g.status == 503 ||
                      (d->cancel_at > 0 && g.status == res_get(RES_GONE)->http_status) ||
                      is_listed(tolerated, g.status),
                  "%s with %s %ld broken answered %d: '%.*s'", in->target,
                  d->fail_at > 0 ? "allocation" : "wait", d->fail_at + d->cancel_at, g.status,
                  live_shown(g.body), g.body.at);
    return d->untouched;
}

void rig_torture(task *t, const rig_request *in, int status, const int *tolerated, rig_between_fn *between)
{
    for (int what = 0; what < 2; what++) {
        bool untouched = false;
        for (long nth = 1; !untouched; nth++) {
            ck_assert_int_lt(nth, TRIES_MAX);
            if (between != NULL)
                between(t);
            direct d = {.in = in, .fail_at = what == 0 ? nth : 0, .cancel_at = what == 1 ? nth : 0};
            untouched = torture_once(t, in, &d, status, tolerated);
        }
    }
}

/* ---- the log ---- */

void rig_log_capture(void)
{
    rig.log_fd = memfd_create("rig log", MFD_CLOEXEC);
    ck_assert_int_ge(rig.log_fd, 0);
    log_set_fds(rig.log_fd, rig.log_fd);
    log_set_level(LOG_INFO);
}

str rig_log(void)
{
    log_drain(1000);
    off_t bytes = lseek(rig.log_fd, 0, SEEK_END);
    ck_assert_int_ge(bytes, 0);
    char   *text = arena_alloc(scratch(), (size_t)bytes + 1);
    ssize_t n = pread(rig.log_fd, text, (size_t)bytes, 0);
    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    return (str){text, (size_t)n};
}
