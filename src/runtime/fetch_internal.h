/* fetch_internal.h -- what the files of fetch share.
 *
 *     fetch.c           the public call: checks, redirects, one repetition, results, messages, metrics
 *     fetch_stream.c    the same in pieces, with back-pressure
 *     fetch_url.c       URLs: whom they name, what a Location means
 *     fetch_turn.c      who may begin now: loads the library in a thread, bounds what is under way
 *     fetch_transfer.c  one easy handle: its options, and what its callbacks collect
 *     fetch_multi.c     libcurl's multi on the loop: sockets and the timer
 *     fetch_trust.c     the CA bundle, parsed once and off the loop
 *
 * Two owners. A transfer (easy handle, collected bytes) lives on the heap, for libcurl's callbacks run on the
 * loop's stack and must not touch a task's arena. The fetch_stream that holds it is the arena's, with a
 * cleanup registered before anything is acquired: whatever becomes of the task, nothing is left behind.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FETCH_INTERNAL_H
#define TRESTLE_RUNTIME_FETCH_INTERNAL_H

#include "core/buf.h"
#include "runtime/curl_load.h"
#include "runtime/fetch.h"
#include "runtime/wait.h"

enum {
    FETCH_AT_ONCE_MAX = 512, /* transfers under way in the process */
    FETCH_WAITING_MAX = 4096,
    FETCH_CONNECTIONS_MAX = 512, /* kept alive, and to one host: not below what may be under way */
    FETCH_POOL_MAX = 128,        /* idle easy handles, each of a few KiB */
    FETCH_URL_MAX = 8 * KIB,
    FETCH_HEAD_MAX = 64 * KIB,
    FETCH_HEADERS_MAX = 256,
    FETCH_STREAM_HIGH = 128 * KIB, /* a stream pauses when so much waits for its reader */
};

/* ---- fetch_url.c ---- */

typedef struct {
    bool     tls;
    str      host; /* as written, [] around IPv6 */
    unsigned port;
} fetch_origin;

/* NULL: a URL that we fetch; else what is wrong with it. */
const char *fetch_url_check(str url, fetch_origin *ret) MUST_USE;
bool        fetch_url_same_origin(const fetch_origin *a, const fetch_origin *b);
/* What `location` means, seen from `base`; false: nothing that could be fetched. */
bool        fetch_url_resolve(arena *a, str base, str location, str *ret) MUST_USE;

/* ---- fetch_transfer.c ---- */

typedef enum { FETCH_WAKE_END, FETCH_WAKE_HEAD, FETCH_WAKE_BODY } fetch_wake;

/* Why we broke an answer off; libcurl only knows that we did. */
typedef enum {
    FETCH_FAULT_NONE,
    FETCH_FAULT_BODY,    /* longer than answer_max */
    FETCH_FAULT_HEAD,    /* over our limits */
    FETCH_FAULT_SWITCH,  /* 101, which nobody asked for */
    FETCH_FAULT_MEMORY,  /* heap */
    FETCH_FAULT_STOPPED, /* by us: cancelled, or dropped */
} fetch_fault;

typedef struct fetch_transfer fetch_transfer;
struct fetch_transfer {
    CURL              *easy;
    struct curl_slist *list;
    wait              *waiting; /* NULL: its task is not waiting for it */
    fetch_wake         wake;    /* what that wait is for */

    buf         head; /* of the final response: its lines without CR, each ended by LF */
    size_t      header_count;
    size_t      head_total; /* bytes of all heads and trailers, 1xx too */
    buf         body;
    uint64_t    body_total, body_max;
    int         status;
    unsigned    sends; /* how often libcurl was about to send the request */
    fetch_fault fault;
    CURLcode    code; /* once ended */
    bool        streams, head_request, repeatable;
    bool        added;   /* to the multi */
    bool        in_head; /* between a status line and its empty line */
    bool        head_done, ended, paused;
    bool        dead;    /* a kept-alive connection turned out to be closed, and nothing was sent again */
    bool        retried; /* by libcurl, on a fresh connection */
    bool        reused;
    char        error[CURL_ERROR_SIZE];

    fetch_transfer *next; /* in the pool */
};

typedef struct {
    const char *url; /* terminated */
    bool        tls, streams, fresh;
    uint64_t    left_ms; /* 0: no limit */
} fetch_options;

fetch_transfer *fetch_transfer_take(void) MUST_USE; /* from the pool or new; NULL: no memory */
void            fetch_transfer_give(fetch_transfer *x);
void            fetch_transfer_pool_free(void);

/* All options anew; false: no memory, or an option that must not be missing is. Allocates from `a` while x
 * holds foreign memory: x must be held by an arena already. */
bool fetch_transfer_set(fetch_transfer *x, arena *a, const fetch_request *in,
                        const fetch_options *o) MUST_USE;
void fetch_transfer_wake(fetch_transfer *x); /* ends the wait if what it is for has come */

/* ---- fetch_multi.c ---- */

bool    fetch_multi_open(void) MUST_USE; /* false: no memory; does nothing when it is open */
void    fetch_multi_close(void);         /* closes all connections */
CURLSH *fetch_multi_share(void);

bool          fetch_multi_add(fetch_transfer *x) MUST_USE;
/* Breaks it off if it has not ended; x->ended is true then. */
void          fetch_multi_remove(fetch_transfer *x);
curl_socket_t fetch_multi_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);
int           fetch_multi_close_socket(void *ctx, curl_socket_t fd);

/* ---- fetch_trust.c ---- */

/* Finds and parses the bundle; in a thread. False: `why` says what is missing. */
bool fetch_trust_load(char *why, size_t why_size);
void fetch_trust_leave_thread(void); /* last in that thread: frees what OpenSSL keeps for it */
bool fetch_trust_set(CURL *easy) MUST_USE;
void fetch_trust_drop(void);

/* ---- fetch_turn.c ---- */

/* Waits until the library is loaded (for `tls` with the CA bundle) and fewer than FETCH_AT_ONCE_MAX are under
 * way. RES_CONFIG: fetch_turn_why says what is missing. until_us: by uv_hrtime; UINT64_MAX: no limit. */
res         fetch_turn_take(task *t, fetch_stream *s, bool tls, uint64_t until_us) MUST_USE;
void        fetch_turn_give(fetch_stream *s);
const char *fetch_turn_why(void);
void        fetch_turn_shutdown(void);
void        fetch_turn_set_library(const char *name); /* tests; NULL: back to the real one */
void        fetch_turn_set_limits(size_t running_max, size_t waiting_max); /* tests */

/* ---- fetch.c ---- */

struct fetch_stream {
    bool            turn; /* counts against FETCH_AT_ONCE_MAX */
    bool            counted, closed, sent;
    fetch_transfer *x;
    buf             piece;  /* what the reader looks at */
    str             origin; /* "https://host:port", for messages */
    uint64_t        began_us, until_us;
    unsigned        retries;
    res             failed;
};

/* What fetch and fetch_open share: returns when the whole answer, or (streams) its head, is here. Then s
 * holds the transfer. On failure it holds nothing. */
res  fetch_run(task *t, const fetch_request *in, bool streams, fetch_answer *ret,
               fetch_stream **ret_stream) MUST_USE;
res  fetch_wait(task *t, fetch_stream *s, fetch_wake wake) MUST_USE;
res  fetch_explain(task         *t,
                   fetch_stream *s) MUST_USE;  /* of an ended transfer: RES_OK, or a failure with words */
void fetch_count(fetch_stream *s, res result); /* once: for the metrics */
void fetch_drop(void *stream);                 /* lets go of all that it holds */

#endif
