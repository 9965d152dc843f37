/* http.h -- what a handler gets and what it gives back.
 *
 * The same handler serves a request that came over HTTP (forwarded, proxied or direct) and one that came
 * wrapped in the host's JSON envelope, and the same accessors work in both. Timer and queue functions have no
 * method, path or headers; they read their trigger with request_input_*.
 *
 *     res hello(task *t, const request *in, reply *out)
 *     {
 *         str name = request_query(in, "name");
 *         return reply_text(out, 200, arena_strf(t->arena, "hello %.*s\n", STR_ARG(name)));
 *     }
 *
 * A handler that returns something other than RES_OK needs no reply: the runtime answers with the code's
 * status (res.c) and task_message(t), in the shape that callers of that path expect. Views live as long as
 * the request.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HTTP_H
#define TRESTLE_RUNTIME_HTTP_H

#include "core/json.h"
#include "runtime/http_header.h"
#include "runtime/task.h"

typedef struct request request;
typedef struct reply   reply;

typedef res handler_fn(task *t, const request *in, reply *out);

/* ---- request ----
 * Absent gives the empty str whose pointer is NULL; present and empty has a pointer: see request_is_absent.
 */

static inline bool request_is_absent(str s)
{
    return s.at == NULL;
}

str request_function(const request *in);   /* the folder's name */
str request_invocation(const request *in); /* the host's id; made up when the call came without one */
str request_trace(
    const request *in); /* 32 hexadecimal digits of a valid traceparent, else the invocation id */
str request_method(const request *in); /* "GET"; empty for timers and queues */
str request_path(const request *in);   /* as sent, still escaped: "/api/orders/42" */
str request_host(const request *in);   /* the outside name: the Host header */
str request_body(const request *in);

str request_param(const request *in, const char *name);  /* {name} of the route, unescaped */
str request_query(const request *in, const char *name);  /* the first of that name (any case), unescaped */
str request_header(const request *in, const char *name); /* the first of that name (any case) */

/* All of them, in order. Several of one name are several elements (the host's JSON joins them with commas).
 */
const http_header *request_queries(const request *in, size_t *ret_count);
const http_header *request_headers(const request *in, size_t *ret_count);

/* Non-HTTP input: the binding of that name (the trigger's, or another input binding's).
 * Text is decoded from whichever encoding the host chose; false when the input is missing or null. */
bool request_input_text(const request *in, const char *name, str *ret) MUST_USE;
bool request_input_bytes(const request *in, const char *name, str *ret) MUST_USE; /* dataType binary */
const json_val *request_input_json(const request *in, const char *name); /* NULL: missing or not JSON */
const json_val *request_meta(const request *in, const char *key); /* decoded; NULL when absent; any case */
str             request_meta_text(const request *in, const char *key);
int64_t         request_meta_int(const request *in, const char *key,
                                 int64_t otherwise);    /* 5, "5" and "\"5\"" are 5 */
bool            request_is_past_due(const request *in); /* timers */

/* ---- reply ----
 * A later reply replaces an earlier one. Bodies are not copied: they live in the request's arena, or for
 * ever. Everything else is copied. */

res reply_json(reply *out, int status, const json *body);
res reply_text(reply *out, int status, str body); /* text/plain; charset=utf-8 */
res reply_bytes(reply *out, int status, const char *content_type, str body);
res reply_empty(reply *out, int status);

/* Replaces a header of that name; _add_ keeps it (Set-Cookie). RES_INTERNAL for a name or value that would
 * break the line, or one that the runtime owns (Content-Length, Transfer-Encoding, Connection, Date). */
res reply_header(reply *out, const char *name, str value);
res reply_add_header(reply *out, const char *name, str value);

/* A body in pieces, sent as it is made; waits while the peer is slow. In JSON mode the pieces are collected.
 * The end of the handler ends the body; a handler that fails in mid-stream breaks the connection, so that
 * nobody takes half for the whole. */
res reply_stream(task *t, reply *out, int status, const char *content_type) MUST_USE;
res reply_write(task *t, reply *out, str piece) MUST_USE;

/* JSON mode: a message for an output binding (a queue), delivered byte for byte, and a line for the
 * invocation's log. */
res  reply_output(reply *out, const char *name, str message);
void reply_log(reply *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- failures that the runtime answers ---- */

/* How a failure that the runtime answers (no such method, too large, out of time, out of memory, a handler's
 * result) looks on the paths of a module: one row for each first segment behind the prefix; paths that are in
 * no row get {"ok":false,"error","message","traceId"}. */
typedef struct {
    res code; /* RES_INVALID also for what was no HTTP */
    int status;
    str message; /* of a 4xx: what the caller did wrong; of a 5xx: the code's own text */
    str trace;
    str origin; /* the Origin header; empty: none */
} error_facts;

enum { ERROR_HEADERS_MAX = 8 };
typedef struct {
    str         body; /* application/json; empty: out of memory, then the common shape is used */
    http_header headers[ERROR_HEADERS_MAX];
    size_t      header_count;
} error_answer;

typedef void error_shape_fn(arena *a, const error_facts *f, error_answer *ret);

typedef struct {
    const char     *segment; /* "ActionsUpsert"; any case */
    error_shape_fn *fn;
} error_shape;

#endif
