/* fetch.h -- one outgoing HTTP exchange: send, wait, read the answer.
 *
 * libcurl below, loaded on first use; connections are kept alive and shared by all tasks of the process. TLS
 * is always verified (TRESTLE_CA_FILE or SSL_CERT_FILE names another bundle). Redirects are followed only if
 * asked, and never carry credentials to another host. A proxy is used only if the environment names one
 * (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) and TRESTLE_PROXY=1.
 *
 * Results: RES_OK means that an answer came, whatever its status. RES_UNREACHABLE: nobody answered (name,
 * connect, TLS, reset before the first byte); RES_UPSTREAM: the answer broke off or was not HTTP;
 * RES_TOO_LARGE: longer than answer_max; RES_TIMEOUT: this call's timeout_ms or the task's deadline;
 * RES_INVALID: a bad URL or header, refused before anything is sent (headers that frame the message, such as
 * Host and Content-Length, are fetch's own); RES_CONFIG: libcurl, or for https the CA bundle, is missing;
 * RES_UNAVAILABLE: too many wait for their turn already (512 run at once, 4,096 wait). The message
 * (task_message) names scheme, host and port, never the path, query, keys or tokens.
 *
 * A kept-alive connection that the peer closed meanwhile is tried once more on a fresh one, if not a byte of
 * the answer was read and the request is safe to repeat (`repeatable`).
 *
 * A followed redirect to another scheme, host or port carries Accept, User-Agent and Content-Type, and none
 * of the caller's other headers. 303 makes it a GET, and so do 301 and 302 of a POST.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FETCH_H
#define TRESTLE_RUNTIME_FETCH_H

#include "runtime/http_header.h"
#include "runtime/task.h"

typedef struct {
    str                method; /* "GET" */
    str                url;    /* http:// or https:// */
    const http_header *headers;
    size_t             header_count;
    str      body;       /* sent with its Content-Length; empty: none for GET, HEAD, DELETE; else length 0 */
    size_t   answer_max; /* bytes of body accepted; 0: 1 MiB, for a stream no limit */
    uint64_t timeout_ms; /* for the whole exchange; 0: the task's deadline alone */
    uint64_t connect_ms; /* 0: 5,000 */
    unsigned redirects_max; /* 0: none are followed */
    bool     repeatable;    /* may be sent again after a dead connection; GET, HEAD always are */
    unsigned idle_max_s;    /* a kept connection that was idle for longer is not used; 0: libcurl's 118 */
    bool     direct;        /* never by a proxy */
    bool    *sent;          /* may be NULL: tells, also on failure, whether any of it may have been sent */
} fetch_request;

typedef struct {
    int                status;
    const http_header *headers; /* names as sent; look up with http_header_get */
    size_t             header_count;
    str                body;    /* fetch() only */
    bool               reused;  /* the connection had been open before */
    bool               retried; /* on a fresh connection, after a dead one */
    uint64_t           took_us;
} fetch_answer;

/* The whole exchange; all of the answer is in t's arena. */
res fetch(task *t, const fetch_request *in, fetch_answer *ret) MUST_USE;

/* In pieces: open returns when the head is here; read gives the next piece (valid until the next read; empty
 * = the end). The transfer is paused while nobody reads, so memory stays bounded. It ends with the arena, or
 * when read to its end. in->body must live until then. */
typedef struct fetch_stream fetch_stream;
res  fetch_open(task *t, const fetch_request *in, fetch_answer *ret, fetch_stream **ret_stream) MUST_USE;
res  fetch_read(task *t, fetch_stream *s, str *ret_piece) MUST_USE;
void fetch_close(fetch_stream *s); /* leave early; accepts NULL */

/* "libcurl/7.88.1 OpenSSL/3.0.15", or why it cannot be loaded. Loads it. */
str fetch_library_version(arena *a);

/* For the process's end (all tasks ended): closes connections and lets the loop run empty. */
void fetch_shutdown(void);

#endif
