/* http_conn.h -- what the files of the HTTP server share: the server, its connections, and their turns.
 *
 *     http_server.c   listening, accepting, time-outs, draining
 *     http_conn.c     the life of a connection: bytes in, turns begun and ended
 *     http_parse.c    bytes into a request
 *     http_write.c    answers into bytes
 *
 * A turn is one request and its answer. It lives in an arena of its own, from the first byte of the request
 * until the last byte of the answer was taken by the kernel and the task that served it has ended; only
 * settle() in http_conn.c ends it. A connection without a turn is idle and holds nothing but its struct.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_HTTP_CONN_H
#define TRESTLE_RUNTIME_HTTP_CONN_H

#include "core/buf.h"
#include "core/iso8601.h"
#include "core/metrics.h"
#include "runtime/http_parse.h"
#include "runtime/http_server.h"
#include "runtime/loop_uv.h"
#include "runtime/wait.h"

enum {
    HTTP_READ_BYTES = 64 * KIB,   /* the one read buffer, shared by all connections */
    HTTP_HELD_BYTES = 64 * KIB,   /* pipelined bytes of a connection; then it is not read from any more */
    HTTP_UNSENT_BYTES = 64 * KIB, /* of a stream; then its writer waits */
    HTTP_LINGER_BYTES = 16 * MIB, /* thrown away after a refusal, so that the peer gets to read it */
    HTTP_LINGER_MS = 2000,
    HTTP_DISCARD_BYTES = 64 * KIB, /* a body this long is rather read to its end than the connection closed */
    HTTP_STATUS_CLASSES = 6,       /* 1xx … 5xx, and 0: the client was gone */
};

typedef struct http_conn http_conn;

typedef struct {
    http_exchange x; /* first: an exchange of the server is always part of a turn */
    http_parser   parser;
    task         *task;   /* NULL: not started, or ended */
    wait         *writer; /* of a stream, while too much is unsent */
    uint64_t      began_us;
    bool          begun; /* the app has heard of it, so it is told of its end */
} http_turn;

struct http_conn {
    uv_tcp_t     tcp;
    http_server *server;
    http_conn   *prev, *next;
    http_turn   *turn;        /* NULL: idle, or lingering */
    buf          held;        /* what came behind the request being served; on the heap */
    size_t       ahead;       /* while pumping: bytes behind the ones being parsed */
    uint64_t     since_us;    /* idle, lingering: since when; reading a body: its latest byte */
    uint64_t     moved_us;    /* unsent bytes became fewer; */
    size_t       unsent_seen; /* … and how many the sweep saw then */
    size_t       linger_left;
    unsigned     writes; /* under way in libuv */
    uint8_t      blanks; /* CR and LF before a request */
    bool         pumping, read_stopped;
    bool         deaf;      /* what comes in is thrown away: it cannot be trusted, or was refused */
    bool         lingering; /* the last answer was sent; waits until the peer has noticed */
    bool         broken;    /* a write failed */
    bool         peer_ended, closing, handle_gone;
};

struct http_server {
    http_server_options options;
    http_app            app;
    int                 fd, port;
    uv_poll_t           acceptor;
    uv_timer_t          sweeper, limit;
    unsigned            handles; /* of these three, still open */
    bool                accept_paused, draining;
    uint64_t            accept_logged_us;
    http_conn          *conns;
    size_t              conn_count;
    char               *read_bytes;
    buf                 scratch; /* where heads and chunks are composed */
    int64_t             date_s;  /* the second that `date` is of */
    char                date[HTTP_DATE_SIZE];
    void (*drained)(void *ctx);
    void   *drained_ctx;
    metric *connections, *refused, *requests[HTTP_STATUS_CLASSES];
};

static inline http_turn *http_turn_of(http_exchange *x)
{
    return (http_turn *)x;
}

/* http_conn.c */
void http_conn_open(http_server *s, int fd); /* takes the fd, also when it fails */
void http_conn_close(http_conn *c);          /* at once; a task under way is cancelled, and waited for */
void http_conn_sweep(http_conn *c, uint64_t now_us);
bool http_conn_has_more(const http_conn *c); /* pipelined bytes wait behind the current request */
void http_conn_advance(
    http_conn *c); /* ends a turn that is over, goes on with what came behind it; may free c */

/* http_write.c */
/* Hands the parts to the kernel, and what it does not take to libuv: `kept`, the last one, lives until the
 * turn's end, the other is copied as needed. Failure sets c->broken, and closes nothing. */
void http_conn_send(http_conn *c, str copied, str kept);

/* http_server.c */
void http_server_conn_gone(http_server *s, http_conn *c);

#endif
