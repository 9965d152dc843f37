/* http_server.h -- HTTP/1.1 on libuv and llhttp: connections in, exchanges out.
 *
 * The server knows nothing of functions. It reads a head, asks the app above who serves it (`begin`),
 * collects the body up to the limit that `begin` set, and starts a task that runs `serve`. Answers leave
 * through http_respond or http_stream_*.
 *
 * What must stay true: requests of one connection are answered in order, one at a time (pipelined bytes wait,
 * bounded); every byte of a request that could be read in two ways is a 400 and the end of the connection; an
 * idle connection holds no arena, no task and no buffer; a connection is never closed without "Connection:
 * close" except on its own time-outs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HTTP_SERVER_H
#define TRESTLE_RUNTIME_HTTP_SERVER_H

#include "runtime/http_header.h"
#include "runtime/loop.h"

typedef struct http_server   http_server;
typedef struct http_exchange http_exchange;
typedef void                 http_serve_fn(task *t, http_exchange *x);

/* One request and its answer. Lives in its own arena, which the task that serves it uses too. */
struct http_exchange {
    arena       *arena;
    str          method;      /* "GET" */
    str          target;      /* as sent */
    str          path, query; /* of the target, still escaped; query without '?' (NULL pointer: no '?') */
    http_header *headers;
    size_t       header_count;
    str          body;      /* complete when serve runs; chunked coding removed */
    bool         head_only; /* HEAD: the answer's body is measured but not sent */

    /* `begin` sets these. */
    http_serve_fn *serve;
    void          *route; /* begin's own, for serve */
    size_t         body_max;
    uint64_t       deadline_ms;  /* counted from the end of the request */
    size_t         memory_bytes; /* arena budget for the handler, beyond the request's own bytes */
    bool           urgent;       /* served even beyond the limit of tasks: the readiness ping */
    const char    *name;         /* of the task */
    log_context    log;

    struct http_conn *conn;   /* the server's own, as are all below */
    int               status; /* what was answered; 0: nothing yet */
    bool              streaming, ended, close_after;
    uint64_t          sent_bytes;
};

typedef struct {
    /* The head is complete. Decide who serves it; runs on the loop, must not wait. To refuse at once, call
     * http_respond. */
    void (*begin)(void *ctx, http_exchange *x);
    /* The server refuses by itself (limits, malformed input, no memory, no task). Must call http_respond,
     * with a body in the shape of the app's errors. x->path may be empty. message is for people: "header
     * fields exceed 65536 bytes". */
    void (*refuse)(void *ctx, http_exchange *x, int status, const char *message);
    /* The exchange is over: after the last byte was written or the connection was lost (status 0 then, if
     * nothing was sent). Once for each exchange that begin or refuse has seen. */
    void (*done)(void *ctx, http_exchange *x, uint64_t took_us);
    void *ctx;
} http_app;

typedef struct {
    const char *address;         /* "127.0.0.1", "0.0.0.0", "::1" */
    int         port;            /* 0: chosen by the kernel */
    int         backlog;         /* 1024 */
    size_t      connections_max; /* 10,000: beyond, 503 and close */
    /* 90,112 for request line and fields together, 431 beyond: room for 64 KiB of fields behind the longest
     * target. A target beyond 16 KiB is 414. */
    size_t      header_bytes_max;
    size_t      header_count_max; /* 256: 431 beyond */
    uint64_t    head_ms;          /* 20,000: from first byte to the end of the head, else 408 */
    uint64_t    body_ms;          /* 30,000 without a byte of the body, else 408 */
    uint64_t idle_ms; /* 130,000 between requests; the host's own pool gives up at 60 s, so it closes first */
    uint64_t write_ms; /* 60,000 without a byte taken by the peer: the connection is dropped */
} http_server_options;

http_server_options http_server_defaults(void);

/* Listens with SO_REUSEADDR. On failure one clear line in *ret_error: "port 7071 on 127.0.0.1 is in use by
 * another program". */
res http_server_open(arena *a, const http_server_options *o, const http_app *app, http_server **ret,
                     str *ret_error) MUST_USE;
int http_server_port(const http_server *s);

/* Stops accepting, closes idle connections, lets exchanges under way finish with Connection: close (requests
 * that are pipelined already are answered, too). After limit_ms the rest is cut off, their tasks cancelled.
 * `drained` is called from the loop when the last connection is gone, soon if there is none; the server,
 * which lives in the arena of http_server_open, is not used any more then. */
void http_server_drain(http_server *s, uint64_t limit_ms, void (*drained)(void *ctx), void *ctx);

/* The time-outs above are found by a sweep over all connections, twice a second while there are any. Tests
 * call it after they have set the clock. */
void http_server_sweep(http_server *s);

/* The whole answer. Headers are the app's; the server adds Content-Length, Date, and Connection when it will
 * close. Does not wait: what the socket does not take at once is kept (body and headers must live in x->arena
 * or be static) and written later. Statuses 1xx, 204, 304 have no body. Call it once. */
void http_respond(http_exchange *x, int status, const http_header *headers, size_t header_count, str body);

/* The answer in pieces, chunked (HTTP/1.0 peers: until close). write waits until the peer has room (64 KiB
 * may be unsent); the piece is copied as needed. A task that ends without http_stream_end breaks the
 * connection. */
void http_stream_begin(http_exchange *x, int status, const http_header *headers, size_t header_count);
res  http_stream_write(task *t, http_exchange *x, str piece) MUST_USE;
void http_stream_end(http_exchange *x);

const char *http_reason(int status); /* "Not Found"; never NULL */

#endif
