/* exchange.h -- request and reply behind include/runtime/http.h: how they are filled, and how a reply leaves.
 *
 * A request is made in one of two ways, and handlers cannot tell: from an HTTP exchange whose path matched a
 * route (forwarded, proxied, direct), or from the host's JSON envelope (spec 3). A reply leaves in the
 * matching way: as an HTTP answer, or as an envelope with Outputs, Logs and ReturnValue (spec 4). Both are
 * plain data: no I/O here but for streams.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_EXCHANGE_H
#define TRESTLE_RUNTIME_EXCHANGE_H

#include "core/buf.h"
#include "runtime/functions.h"
#include "runtime/http_server.h"
#include "runtime/queue_source.h"

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

/* What reply_output and reply_log have gathered, oldest first. Lists of bytes, not JSON: a message may be
 * binary, and who sends it is decided later. */
typedef struct reply_item reply_item;
struct reply_item {
    const binding *to; /* NULL: a line of the log */
    str            text;
    reply_item    *next;
};

typedef struct {
    reply_item *first, *last;
    size_t      count;
} reply_list;

struct reply {
    arena             *arena;
    const function    *fn;
    http_exchange     *x;      /* plain HTTP: where a stream goes; NULL in JSON mode */
    int                status; /* 0: nothing was said */
    str                body;
    http_header       *headers;
    size_t             header_count, header_cap;
    const http_header *cors; /* the server's own: for a stream whose function says nothing of CORS itself */
    size_t             cors_count;
    bool               streaming;
    buf                collected; /* JSON mode: the pieces of a stream */
    reply_list         messages;  /* for output bindings */
    reply_list         logs;      /* JSON mode only */
    str error; /* why a reply_* call last failed; those without a task cannot say it otherwise */
};

enum {
    REQUEST_QUERIES_MAX = 1024, /* pairs of one query string; the rest is left out */
    REQUEST_INVOCATION_MAX = 128,
    ENVELOPE_VALUES_MAX = 1024, /* of Headers, Query and Params each; RES_INVALID beyond */
    REPLY_HEADERS_MAX = 128,
    REPLY_LOGS_MAX = 1000,
    REPLY_COLLECTED_MAX = 64 * MIB, /* a stream in JSON mode, which the host wants whole */
};

/* A function that sends any Access-Control header decides itself who may read its answers: also by leaving
 * Allow-Origin out. */
bool reply_says_cors(const http_header *headers, size_t count);

/* From plain HTTP. Query names and values are unescaped ('+' is a blank); a bad escape stays as it is. The
 * invocation id is the one that x logs under, else the host's, else made up. */
void request_from_http(request *ret, const http_exchange *x, const function *fn, http_header *params,
                       size_t param_count);

/* The pairs of a query string (without '?'), at most REQUEST_QUERIES_MAX; empty ones ("&&") are skipped. */
void request_parse_query(arena *a, str query, http_header **ret, size_t *ret_count);

/* The last element of X-Azure-Functions-InvocationId (spec 5.2), or the empty str, also when it is longer
 * than REQUEST_INVOCATION_MAX; the trace id of a well-formed traceparent, or the empty str. */
str request_invocation_of(const http_header *headers, size_t count);
str request_trace_of(const http_header *headers, size_t count);

/* From the envelope; RES_INVALID with *ret_error naming what is wrong. Query, Headers, Params, Identities in
 * every shape of spec 3.3. The envelope does not hold the invocation's id: a fresh one is made up, and the
 * caller that has a better one (request_invocation_of the outer headers) puts it in afterwards. */
res request_from_envelope(request *ret, arena *a, str text, const function *fn, str *ret_error) MUST_USE;

/* A value of Data or Metadata as the host meant it (spec 3.2): a string is tried as JSON text, else kept.
 * NULL for NULL, and out of memory. Its text is the inner string of a double encoding, else the string as it
 * is, and of anything but a string the compact JSON; false for NULL, null, and out of memory. */
const json_val *envelope_value(arena *a, const json_val *v);
bool            envelope_text(arena *a, const json_val *v, str *ret) MUST_USE;

void reply_init(reply *out, arena *a, const function *fn, http_exchange *x);

/* The envelope for a reply: never empty, at least {"Outputs":{},"Logs":[],"ReturnValue":null}. An http
 * function that said nothing answers 204. RES_INTERNAL with *ret_error when the reply cannot be carried
 * (binary body through a named http output; two Set-Cookie, which cannot be folded; a failure's status from a
 * function without http output): the caller answers 500. */
res reply_to_envelope(reply *out, str *ret_text, str *ret_error) MUST_USE;

/* The payload a standalone timer gets, as the host would send it (spec 3.3 b). Times in microseconds; last_us
 * 0: never. The empty str with a NULL pointer: out of memory (never in a task). */
str envelope_for_timer(arena *a, const function *fn, int64_t last_us, int64_t next_us, bool past_due);
/* The payload of a queue message (spec 3.3 c); likewise. */
str envelope_for_queue(arena *a, const function *fn, const queue_message_info *m);

#endif
