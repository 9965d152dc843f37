/* app_handlers.c -- the test app's HTTP functions, and its table. It is linked in place of
 * src/app/handlers.c.
 *
 * A handler here tells what it saw, or does what it is asked to do: wait, stream, fail, crash. So a test that
 * speaks to the program over a socket learns what the code inside got.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/handlers.h"
#include "core/json.h"
#include "core/log.h"
#include "e2e/app_inputs.h"
#include "e2e/app_storage.h"
#include "runtime/fetch.h"

enum { STREAM_MAX = 100000, HOG_PIECE = 1 * MIB };

/* What became of the calls that wait; read by GET /api/stats. One thread: no locks. */
static struct {
    int64_t running, finished, gone, timed_out, other;
} calls;

static void note_end(res r)
{
    calls.running--;
    if (r == RES_OK)
        calls.finished++;
    else if (r == RES_GONE)
        calls.gone++;
    else if (r == RES_TIMEOUT)
        calls.timed_out++;
    else
        calls.other++;
}

static res stats(task *t, const request *in, reply *out)
{
    (void)in;
    json *seen = json_object(t->arena);
    json_set_int(seen, "running", calls.running);
    json_set_int(seen, "finished", calls.finished);
    json_set_int(seen, "gone", calls.gone);
    json_set_int(seen, "timed_out", calls.timed_out);
    json_set_int(seen, "other", calls.other);
    return reply_json(out, 200, seen);
}

/* ---- what came in ---- */

static void put_pairs(json *object, const char *key, const http_header *list, size_t count)
{
    json *pairs = json_set_array(object, key);
    for (size_t i = 0; i < count; i++) {
        json *pair = json_push_array(pairs);
        json_push_str(pair, list[i].name);
        json_push_str(pair, list[i].value);
    }
}

json *seen_request(arena *a, const request *in)
{
    json              *seen = json_object(a);
    size_t             count;
    const http_header *list = request_queries(in, &count);
    json_set_str(seen, "function", request_function(in));
    json_set_str(seen, "invocation", request_invocation(in));
    json_set_str(seen, "trace", request_trace(in));
    json_set_str(seen, "method", request_method(in));
    json_set_str(seen, "path", request_path(in));
    json_set_str(seen, "host", request_host(in));
    put_pairs(seen, "query", list, count);
    list = request_headers(in, &count);
    put_pairs(seen, "headers", list, count);
    json_set_str(seen, "body", request_body(in));
    json_set_int(seen, "body_bytes", (int64_t)request_body(in).len);
    return seen;
}

static res hello(task *t, const request *in, reply *out)
{
    return reply_json(out, 200, seen_request(t->arena, in));
}

static res echo(task *t, const request *in, reply *out)
{
    str type = request_header(in, "content-type");
    return reply_bytes(out, 200, type.len > 0 ? arena_cstr(t->arena, type) : "application/octet-stream",
                       request_body(in));
}

static res secret(task *t, const request *in, reply *out)
{
    (void)in;
    log_info("the secret function runs");
    return reply_text(out, 200, arena_strf(t->arena, "you have the key\n"));
}

/* ---- what takes time ---- */

static uint64_t number(str text, uint64_t otherwise)
{
    uint64_t n;
    return str_to_u64(text, &n) ? n : otherwise;
}

static res slow(task *t, const request *in, reply *out)
{
    calls.running++;
    res r = task_sleep(t, number(request_param(in, "ms"), 0));
    note_end(r);
    if (r != RES_OK)
        return task_fail(t, r, "sleeping");
    return reply_text(out, 200, STR("slept\n"));
}

static res late(task *t, const request *in, reply *out)
{
    (void)in;
    calls.running++;
    res r = task_sleep(t, 60 * 1000);
    note_end(r);
    return r == RES_OK ? reply_text(out, 200, STR("too patient\n")) : task_fail(t, r, "sleeping");
}

static res send_pieces(task *t, const request *in, reply *out)
{
    uint64_t count = number(request_param(in, "count"), 1), ms = number(request_param(in, "ms"), 0);
    uint64_t bytes = number(request_query(in, "bytes"), 0),
             break_at = number(request_query(in, "break"), count);
    char *fill = arena_alloc(t->arena, bytes + 1);
    memset(fill, 'x', bytes);

    TRY(reply_stream(t, out, 200, "text/plain"));
    for (uint64_t i = 0; i < count && i < STREAM_MAX; i++) {
        if (i == break_at)
            return task_fail(t, RES_INTERNAL, "broken off on purpose");
        TRY(reply_write(t, out, arena_strf(t->arena, "piece %llu\n", (unsigned long long)i)));
        TRY(reply_write(t, out, (str){fill, bytes}));
        if (ms > 0)
            TRY(task_sleep(t, ms));
    }
    return RES_OK;
}

static res stream(task *t, const request *in, reply *out)
{
    calls.running++;
    res r = send_pieces(t, in, out);
    note_end(r);
    return r;
}

static res fetcher(task *t, const request *in, reply *out)
{
    fetch_request ask = {.method = STR("GET"), .url = request_header(in, "x-url")};
    fetch_answer  got;
    calls.running++;
    res r = fetch(t, &ask, &got);
    note_end(r);
    if (r != RES_OK)
        return r;
    return reply_text(out, 200, arena_strf(t->arena, "%d %.*s", got.status, STR_ARG(got.body)));
}

/* Holds the loop: what a handler must not do. */
static res spin(task *t, const request *in, reply *out)
{
    (void)t, (void)in;
    clock_t until = clock() + CLOCKS_PER_SEC / 20;
    while (clock() < until)
        continue;
    return reply_text(out, 200, STR("spun\n"));
}

/* ---- what goes wrong ---- */

static res status(task *t, const request *in, reply *out)
{
    int                code = (int)number(request_param(in, "code"), 200);
    size_t             count;
    const http_header *list = request_queries(in, &count);
    for (size_t i = 0; i < count; i++)
        TRY(reply_add_header(out, arena_cstr(t->arena, list[i].name), list[i].value));
    if (code == 204 || code == 304)
        return reply_empty(out, code);
    return reply_text(out, code, arena_strf(t->arena, "status %d\n", code));
}

static res fail(task *t, const request *in, reply *out)
{
    (void)out;
    for (int code = RES_OK + 1; code < RES_COUNT; code++)
        if (str_eq(str_of(res_name((res)code)), request_param(in, "name")))
            return task_fail(t, (res)code, "as asked: '%.*s'", STR_ARG(request_query(in, "message")));
    return task_fail(t, RES_INVALID, "no result has this name");
}

static res hog(task *t, const request *in, reply *out)
{
    (void)in;
    for (size_t i = 0; i < 4096; i++)
        *(char *)arena_alloc(t->arena, HOG_PIECE) = 1;
    return reply_text(out, 200, STR("there is no limit\n"));
}

static res crash(task *t, const request *in, reply *out)
{
    (void)t, (void)in;
    volatile int *volatile nothing = NULL; /* volatile, or the compiler sees through it and drops the write */
    *nothing = 1;                          /* cppcheck-suppress nullPointer */
    return reply_text(out, 200, STR("alive\n"));
}

static res abort_now(task *t, const request *in, reply *out)
{
    (void)t, (void)in, (void)out;
    abort();
}

const handler handlers[] = {
    /* folder  handler  deadline_ms  body_max */
    {"abort", abort_now, 5000, 0},
    {"binmsg", binmsg, 5000, 64 * KIB},
    {"blobin", blobin, 5000, 64 * KIB},
    {"crash", crash, 5000, 0},
    {"echo", echo, 30000, 32 * MIB},
    {"enqueue", enqueue, 5000, 64 * KIB},
    {"fail", fail, 5000, 0},
    {"fetcher", fetcher, 60000, 0},
    {"fill", fill, 60000, 0},
    {"hello", hello, 5000, 64 * KIB},
    {"hog", hog, 30000, 0},
    {"late", late, 200, 0},
    {"listing", listing, 60000, 0},
    {"off", hello, 5000, 0},
    {"ondone", ondone, 5000, 64 * KIB},
    {"onmsg", onmsg, 5000, 64 * KIB},
    {"onpoison", onpoison, 5000, 64 * KIB},
    {"onwork", onwork, 5000, 64 * KIB},
    {"order", order, 5000, 64 * KIB},
    {"quiet", quiet, 5000, 64 * KIB},
    {"rawput", rawput, 5000, 64 * KIB},
    {"ret", ret, 5000, 64 * KIB},
    {"secret", secret, 5000, 0},
    {"slow", slow, 60000, 64},
    {"spin", spin, 5000, 0},
    {"stats", stats, 5000, 0},
    {"status", status, 5000, 0},
    {"stream", stream, 60000, 0},
    {"tick", tick, 5000, 0},
    {"world", hello, 5000, 64 * KIB}, /* sorts last, so that its route may match anything */
};

const size_t handler_count = sizeof handlers / sizeof *handlers;

const error_shape error_shapes[1];
const size_t      error_shape_count = 0;
