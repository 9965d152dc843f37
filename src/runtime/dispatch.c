/* dispatch.c -- see dispatch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/dispatch.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/id.h"
#include "core/log.h"
#include "core/metrics.h"
#include "runtime/cors.h"
#include "runtime/error_reply.h"
#include "runtime/outputs.h"

enum {
    HANDLER_MEMORY = 64 * MIB, /* one request's arena, beyond its own bytes */
    ENVELOPE_EXTRA = 1 * MIB,  /* headers, claims and metadata around a body */
    PATH_SHOWN_MAX = 200,
    ENVELOPE_FACTOR = 2, /* escapes and base64 */
};

/* What begin() found out, kept for serve and done; in the exchange's arena. */
typedef struct {
    dispatcher  *d;
    function    *fn; /* NULL: nobody; then `refusal` */
    http_header *params;
    size_t       param_count;
    bool         by_name; /* a JSON call */
    bool         ping;
    res          refusal;
    const char  *message;
    str          allow;
} call;

/* Per function, made at its first call and kept in function.state. */
typedef struct {
    metric *by_class[6]; /* by first digit of the status; 0: lost */
    metric *seconds;
} function_metrics;

static str header_of(const http_exchange *x, str name)
{
    return http_header_get(x->headers, x->header_count, name);
}

/* ---- who serves it ---- */

/* Does the host reach this function by POST /NAME? Not when it forwards it (spec 5.1). Standalone there is no
 * host: plain HTTP functions have their routes, and the others can be started by hand. */
static bool called_by_name(const dispatcher *d, const function *fn)
{
    if (!d->o->under_host)
        return fn->trigger != TRIGGER_HTTP;
    const host_settings *h = &d->app->host;
    return !(fn->forwardable && (h->forwarding || h->proxying));
}

static function *find_by_name(const dispatcher *d, const http_exchange *x)
{
    if (!str_eq(x->method, STR("POST")) || x->path.len < 2)
        return NULL;
    function *fn = functions_find(d->app, str_from(x->path, 1));
    if (fn == NULL || fn->disabled || !called_by_name(d, fn))
        return NULL;
    if (d->o->under_host && request_invocation_of(x->headers, x->header_count).len == 0)
        return NULL;

    /* With an empty prefix an outside caller could have sent this: then the route that it matches decides. */
    route_match m;
    str         allow;
    if (d->app->host.route_prefix.len == 0 &&
        functions_route(x->arena, d->app, x->method, x->path, &m, &allow) == RES_OK)
        return NULL;
    return fn;
}

static bool key_opens(const dispatcher *d, const http_exchange *x)
{
    str key = header_of(x, STR("x-functions-key"));
    if (key.at == NULL) {
        http_header *queries;
        size_t       count;
        request_parse_query(x->arena, x->query, &queries, &count);
        key = http_header_get(queries, count, STR("code"));
    }
    return hash_equal(key, d->o->function_key);
}

/* Standalone only: the host has checked its keys already. Starting a timer or queue function by hand is an
 * admin's act. */
static bool may_call(const dispatcher *d, const http_exchange *x, const function *fn)
{
    if (d->o->under_host || d->o->function_key.len == 0)
        return true;
    bool open = fn->trigger == TRIGGER_HTTP && fn->auth == AUTH_ANONYMOUS;
    return open || key_opens(d, x);
}

/* host.json's old httpWorker section: the host forwards plain HTTP to /NAME, whatever the route (spec 5.2).
 */
static function *find_forwarded_by_name(const dispatcher *d, const http_exchange *x)
{
    if (!d->o->under_host || !d->app->host.forward_by_name || x->path.len < 2)
        return NULL;
    function *fn = functions_find(d->app, str_from(x->path, 1));
    return fn != NULL && fn->forwardable && !fn->disabled ? fn : NULL;
}

static void find_function(call *c, http_exchange *x)
{
    dispatcher *d = c->d;
    c->fn = find_by_name(d, x);
    c->by_name = c->fn != NULL;
    if (c->fn == NULL)
        c->fn = find_forwarded_by_name(d, x);
    if (c->fn == NULL) {
        route_match m = {0};
        c->refusal = functions_route(x->arena, d->app, x->method, x->path, &m, &c->allow);
        if (c->refusal != RES_OK)
            return;
        c->fn = m.fn;
        c->params = m.params;
        c->param_count = m.param_count;
    }
    if (!may_call(d, x, c->fn)) {
        c->refusal = RES_UNAUTHENTICATED;
        c->message = "this function needs its key, in the header x-functions-key or the query parameter code";
    }
}

/* ---- answers ---- */

static str trace_for(const http_exchange *x)
{
    str trace = request_trace_of(x->headers, x->header_count);
    return trace.len > 0 ? trace : x->log.invocation;
}

static void respond(const call *c, http_exchange *x, int status, const http_header *headers, size_t count,
                    str body)
{
    http_header cors[CORS_HEADERS_MAX];
    size_t      extra = c->d->o->under_host ? 0 : cors_headers(&c->d->app->host, x, cors);
    if (extra == 0 || reply_says_cors(headers, count)) {
        http_respond(x, status, headers, count, body);
        return;
    }
    http_header *all = arena_array(x->arena, http_header, count + extra);
    if (all == NULL) {
        http_respond(x, status, headers, count, body);
        return;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = headers[i];
    for (size_t i = 0; i < extra; i++)
        all[count + i] = cors[i];
    http_respond(x, status, all, count + extra, body);
}

static const http_header json_content = {STR_INIT("Content-Type"),
                                         STR_INIT("application/json; charset=utf-8")};

/* The body and headers of a failure in the shape of its path; false: that path has the common one. */
static bool shape_error(const dispatcher *d, const http_exchange *x, const error_facts *f, arena *a,
                        error_answer *ret)
{
    const error_shape *shape =
        error_shape_of(d->o->shapes, d->o->shape_count, d->app->host.route_prefix, x->path);
    if (shape != NULL)
        shape->fn(a, f, ret);
    return shape != NULL && ret->body.len > 0;
}

static error_facts facts_of(const http_exchange *x, res code, int status, str message)
{
    const res_info *info = res_get(code);
    bool            show = status < 500 && message.len > 0;
    return (error_facts){.code = code,
                         .status = status,
                         .message = show ? message : str_of(info->text),
                         .trace = x->header_count > 0 ? trace_for(x) : (str){0},
                         .origin = x->header_count > 0 ? header_of(x, STR("origin")) : (str){0}};
}

static void respond_failure(const call *c, http_exchange *x, const error_facts *f, str common)
{
    http_header *headers = arena_array(x->arena, http_header, ERROR_HEADERS_MAX + 2);
    if (headers == NULL) {
        http_respond(x, 503, &json_content, 1, error_body_of(x->arena, RES_MEMORY, (str){0}, (str){0}));
        return;
    }
    error_answer shaped = {0};
    size_t       n = 0;
    headers[n++] = json_content;
    if (f->code == RES_METHOD)
        headers[n++] = (http_header){STR("Allow"), c->allow};
    bool own = shape_error(c->d, x, f, x->arena, &shaped);
    for (size_t i = 0; own && i < shaped.header_count; i++)
        headers[n++] = shaped.headers[i];
    respond(c, x, f->status, headers, n, own ? shaped.body : common);
}

static void respond_refusal(const call *c, http_exchange *x, res code, str message)
{
    error_facts f = facts_of(x, code, res_get(code)->http_status, message);
    respond_failure(c, x, &f, error_body_of(x->arena, code, message, f.trace));
}

/* The edge: a failure is logged here, once, with the request's ids. */
static void log_failure(const function *fn, res code, str message)
{
    const res_info *info = res_get(code);
    str             name = fn->name;
    if (code == RES_GONE)
        log_debug("function '%.*s' failed with %s: %.*s", STR_ARG(name), info->name, STR_ARG(message));
    else if (info->http_status >= 500)
        log_error("function '%.*s' failed with %s: %.*s", STR_ARG(name), info->name, STR_ARG(message));
    else
        log_info("function '%.*s' failed with %s: %.*s", STR_ARG(name), info->name, STR_ARG(message));
}

res dispatch_run(task *t, const dispatcher *d, const function *fn, const request *in, reply *out)
{
    res r = fn->row->run(t, in, out);
    if (r == RES_OK && !d->o->under_host)
        r = outputs_send(t, d, out);
    if (r != RES_OK)
        log_failure(fn, r, task_message(t).len > 0 ? task_message(t) : out->error);
    return r;
}

static void fail_reply(task *t, const dispatcher *d, reply *out, const request *in, res code)
{
    error_answer shaped = {0};
    reply_init(out, t->arena, out->fn, out->x);
    if (out->x != NULL) {
        error_facts f = facts_of(out->x, code, res_get(code)->http_status, task_message(t));
        if (shape_error(d, out->x, &f, t->arena, &shaped)) {
            (void)reply_bytes(out, f.status, "application/json; charset=utf-8", shaped.body);
            for (size_t i = 0; i < shaped.header_count; i++)
                (void)reply_header(out, arena_cstr(t->arena, shaped.headers[i].name),
                                   shaped.headers[i].value);
            return;
        }
    }
    str body = error_body_of(t->arena, code, task_message(t), request_trace(in));
    (void)reply_bytes(out, res_get(code)->http_status, "application/json; charset=utf-8",
                      body); /* cannot fail: ours */
}

/* ---- serving ---- */

static void serve_ping(task *t, http_exchange *x)
{
    (void)t;
    static const http_header text = {STR_INIT("Content-Type"), STR_INIT("text/plain; charset=utf-8")};
    http_respond(x, 200, &text, 1, STR("trestle is ready\n"));
}

static str describe_refusal(arena *a, const http_exchange *x, const call *c)
{
    str path = str_slice(x->path, 0, PATH_SHOWN_MAX);
    if (c->refusal == RES_METHOD)
        return arena_strf(a, "'%.*s' is not allowed here; allowed: %.*s", STR_ARG(x->method),
                          STR_ARG(c->allow));
    if (c->refusal == RES_NOT_FOUND)
        return arena_strf(a, "no function serves '%.*s %.*s'", STR_ARG(x->method), STR_ARG(path));
    return str_of(c->message);
}

static void serve_refusal(task *t, http_exchange *x)
{
    const call *c = x->route;
    respond_refusal(c, x, c->refusal, describe_refusal(t->arena, x, c));
}

static void serve_http(task *t, http_exchange *x)
{
    const call *c = x->route;
    request     in;
    reply       out;
    http_header cors[CORS_HEADERS_MAX];
    request_from_http(&in, x, c->fn, c->params, c->param_count);
    reply_init(&out, t->arena, c->fn, x);
    out.cors = cors;
    out.cors_count = c->d->o->under_host ? 0 : cors_headers(&c->d->app->host, x, cors);

    res r = dispatch_run(t, c->d, c->fn, &in, &out);
    if (out.streaming) {
        if (r == RES_OK)
            http_stream_end(x); /* else the task ends without it, and the connection breaks */
        return;
    }
    if (r != RES_OK)
        fail_reply(t, c->d, &out, &in, r);
    respond(c, x, out.status != 0 ? out.status : 204, out.headers, out.header_count, out.body);
}

/* A failing timer or queue function is a failed invocation, which the host retries: status 500, and logs on
 * stderr, for it ignores the Logs of a failure. A failing http function has an answer for its caller, and the
 * invocation succeeds. */
static void serve_envelope(task *t, http_exchange *x)
{
    const call *c = x->route;
    request     in;
    reply       out;
    str         text, error = {0};
    res         r = request_from_envelope(&in, t->arena, x->body, c->fn, &error);
    if (r != RES_OK) {
        respond_refusal(c, x, r, error);
        return;
    }
    in.invocation = x->log.invocation;
    in.trace = trace_for(x);

    reply_init(&out, t->arena, c->fn, NULL);
    r = dispatch_run(t, c->d, c->fn, &in, &out);
    if (r != RES_OK && c->fn->trigger == TRIGGER_HTTP) {
        fail_reply(t, c->d, &out, &in, r);
        r = RES_OK;
    }
    if (r == RES_OK) {
        r = reply_to_envelope(&out, &text, &error);
        if (r != RES_OK)
            log_failure(c->fn, r, error);
    }
    if (r == RES_OK)
        http_respond(x, 200, &json_content, 1, text);
    else
        http_respond(x, 500, &json_content, 1, error_body_of(t->arena, r, (str){0}, trace_for(x)));
}

/* Standalone, by hand: an empty body is a payload too, as a timer's that nobody missed. */
static void serve_by_hand(task *t, http_exchange *x)
{
    const call *c = x->route;
    if (x->body.len == 0 && c->fn->trigger == TRIGGER_TIMER)
        x->body = envelope_for_timer(t->arena, c->fn, 0, clock_wall_us(), false);
    serve_envelope(t, x);
}

/* ---- what the server asks ---- */

/* A call that came without an id gets one of its own, so that every line and every error can be traced to it.
 */
static void set_log_context(http_exchange *x, const call *c)
{
    x->log.invocation = request_invocation_of(x->headers, x->header_count);
    x->log.trace = request_trace_of(x->headers, x->header_count);
    if (c->fn != NULL)
        x->log.function = c->fn->name;
    char *own = x->log.invocation.len == 0 ? arena_alloc(x->arena, UUID_TEXT + 1) : NULL;
    if (own != NULL)
        x->log.invocation = id_uuid(own);
}

static void begin(void *ctx, http_exchange *x)
{
    dispatcher *d = ctx;
    call       *c = arena_one(x->arena, call);
    if (c == NULL) {
        http_respond(x, 503, &json_content, 1, error_body_of(x->arena, RES_MEMORY, (str){0}, (str){0}));
        return;
    }
    *c = (call){.d = d};
    x->route = c;
    if (str_eq(x->path, STR("/")) && request_invocation_of(x->headers, x->header_count).len == 0) {
        c->ping = true;
        x->name = "ping";
        x->urgent = true;
        x->serve = serve_ping;
        return;
    }
    if (!d->o->under_host && cors_is_preflight(&d->app->host, x)) {
        cors_answer_preflight(&d->app->host, x);
        return;
    }

    find_function(c, x);
    set_log_context(x, c);
    x->name = c->fn != NULL ? c->fn->row->folder : "refusal";
    x->memory_bytes = HANDLER_MEMORY;
    if (c->refusal != RES_OK) {
        x->serve = serve_refusal;
        x->body_max = 64 * KIB; /* read and dropped, so that the connection stays usable */
        return;
    }
    x->deadline_ms = c->fn->row->deadline_ms;
    x->body_max = c->fn->row->body_max;
    x->serve = serve_http;
    if (c->by_name) {
        x->body_max = x->body_max * ENVELOPE_FACTOR + ENVELOPE_EXTRA;
        x->serve = d->o->under_host ? serve_envelope : serve_by_hand;
    }
}

static void refuse(void *ctx, http_exchange *x, int status, const char *message)
{
    (void)ctx;
    str         trace = x->header_count > 0 ? trace_for(x) : (str){0};
    str         body = error_body(x->arena, error_name_of_status(status), str_of(message), trace);
    const call *c = x->route;
    if (c == NULL || c->ping) {
        http_respond(x, status, &json_content, 1, body);
        return;
    }
    error_facts f = facts_of(x, status == 413 ? RES_TOO_LARGE : RES_INVALID, status, str_of(message));
    if (status >= 500)
        f.message = str_of(message);
    respond_failure(c, x, &f, body);
}

static function_metrics *metrics_of(const dispatcher *d, function *fn)
{
    if (fn->state != NULL)
        return fn->state;
    function_metrics *m = arena_one(d->a, function_metrics);
    if (m == NULL)
        return NULL;
    static const char *const classes[] = {"lost", "1xx", "2xx", "3xx", "4xx", "5xx"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char labels[256];
        (void)snprintf(labels, sizeof labels, "function=\"%.*s\",status=\"%s\"", STR_ARG(fn->name),
                       classes[i]);
        m->by_class[i] =
            metrics_counter("trestle_function_calls_total", labels, "Calls by function and class of status");
    }
    char labels[256];
    (void)snprintf(labels, sizeof labels, "function=\"%.*s\"", STR_ARG(fn->name));
    m->seconds = metrics_histogram("trestle_function_seconds", labels, "Time from request to end of answer");
    fn->state = m;
    return m;
}

static void count_call(const dispatcher *d, function *fn, int status, uint64_t took_us)
{
    function_metrics *m = metrics_of(d, fn);
    if (m == NULL)
        return;
    int digit = status / 100;
    metrics_add(m->by_class[digit >= 0 && digit <= 5 ? digit : 0], 1);
    metrics_observe_us(m->seconds, took_us);
}

void dispatch_count(const dispatcher *d, const function *fn, res result, uint64_t took_us)
{
    count_call(d, &d->app->all[fn - d->app->all], result == RES_OK ? 200 : 500, took_us);
}

static void done(void *ctx, http_exchange *x, uint64_t took_us)
{
    const dispatcher *d = ctx;
    const call       *c = x->route;
    if (c == NULL || c->ping)
        return;
    if (c->fn != NULL)
        count_call(d, c->fn, x->status, took_us);
    if (d->o->access_log) {
        log_bind(&x->log);
        log_info("%.*s %.*s %d, %llu bytes, %llu.%03llu ms", STR_ARG(x->method), STR_ARG(x->path), x->status,
                 (unsigned long long)x->sent_bytes, (unsigned long long)took_us / 1000,
                 (unsigned long long)took_us % 1000);
        log_bind(NULL);
    }
}

http_app dispatch_app(dispatcher *d)
{
    return (http_app){.begin = begin, .refuse = refuse, .done = done, .ctx = d};
}

str dispatch_ambiguity(arena *a, const function_app *app)
{
    if (app->host.route_prefix.len > 0)
        return (str){0};
    for (size_t i = 0; i < app->count; i++) {
        const function *fn = &app->all[i];
        route_match     m;
        str             allow;
        str             path = arena_strf(a, "/%.*s", STR_ARG(fn->name));
        if (fn->trigger != TRIGGER_HTTP && functions_route(a, app, STR("POST"), path, &m, &allow) == RES_OK)
            return arena_strf(
                a, "route '%.*s' of function '%.*s' hides function '%.*s' from the host: set a route prefix",
                STR_ARG(m.fn->route), STR_ARG(m.fn->name), STR_ARG(fn->name));
    }
    return (str){0};
}
