/* exchange.h -- request and reply behind include/runtime/http.h: how they are filled, and how a reply leaves.
 *
 * A request is made in one of two ways, and handlers cannot tell: from an HTTP exchange whose path matched a
 * route (forwarded, proxied, direct), or from the host's JSON envelope (spec 3). A reply leaves in the
 * matching way: as an HTTP answer, or as an envelope with Outputs, Logs and ReturnValue (spec 4). Both are
 * plain data: no I/O here but for streams. SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_EXCHANGE_H
#define TRESTLE_RUNTIME_EXCHANGE_H

#include "core/buf.h"
#include "runtime/functions.h"
#include "runtime/http_server.h"

struct request {
    arena          *arena;
    const function *fn;
    str             invocation, trace, method, path, host, body;
    http_header    *headers;
    size_t          header_count;
    http_header    *queries;
    size_t          query_count;
    http_header    *params;
    size_t          param_count;
    const json_val *data, *metadata; /* the envelope's; NULL for plain HTTP */
};

struct reply {
    arena          *arena;
    const function *fn;
    http_exchange  *x;      /* plain HTTP: where a stream goes; NULL in JSON mode */
    int             status; /* 0: nothing was said */
    str             body;
    http_header    *headers;
    size_t          header_count, header_cap;
    bool            streaming;
    buf             collected; /* JSON mode: the pieces of a stream */
    json           *outputs;   /* JSON mode: binding -> array of messages; NULL: none */
    json           *logs;
};

/* From plain HTTP. Query names and values are unescaped ('+' is a blank); a bad escape stays as it is. */
void request_from_http(request *ret, const http_exchange *x, const function *fn, http_header *params,
                       size_t param_count);

/* The last element of X-Azure-Functions-InvocationId (spec 5.2), or the empty str; the trace id of a
 * well-formed traceparent. */
str request_invocation_of(const http_header *headers, size_t count);
str request_trace_of(const http_header *headers, size_t count);

/* From the envelope; RES_INVALID with *ret_error naming what is wrong. Query, Headers, Params, Identities in
 * every shape of spec 3.3. */
res request_from_envelope(request *ret, arena *a, str text, const function *fn, str *ret_error) MUST_USE;

void reply_init(reply *out, arena *a, const function *fn, http_exchange *x);

/* The envelope for a reply: never empty, at least {"Outputs":{},"Logs":[],"ReturnValue":null}. RES_INTERNAL
 * with *ret_error when the reply cannot be carried (binary body through a named http output; two Set-Cookie
 * that cannot be folded): the caller answers 500. */
res reply_to_envelope(reply *out, str *ret_text, str *ret_error) MUST_USE;

/* The payload a standalone timer gets, as the host would send it (spec 3.3 b). Times in microseconds; last_us
 * 0: never. */
str envelope_for_timer(arena *a, const function *fn, int64_t last_us, int64_t next_us, bool past_due);
/* The payload of a queue message (spec 3.3 c). */
typedef struct {
    str     id, pop_receipt, text; /* text: decoded from base64 */
    int64_t dequeue_count, inserted_us, expires_us, next_visible_us;
} queue_message_info;
str envelope_for_queue(arena *a, const function *fn, const queue_message_info *m);

#endif
