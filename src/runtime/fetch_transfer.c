/* fetch_transfer.c -- one easy handle: its options, its callbacks, and the pool.
 *
 * Callbacks run on the loop's stack: they collect into the transfer's own heap buffers, within limits, and
 * end a wait; they run no code of a task.
 *
 * libcurl repeats a request by itself when a kept-alive connection was closed under it, whatever the method.
 * We decide that ourselves: the callback before each sending counts, and a second one goes through only if
 * the request may be repeated and the connection is new.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "runtime/fetch_internal.h"

enum {
    HEAD_TOTAL_MAX = 4 * FETCH_HEAD_MAX, /* with 1xx heads and trailers */
    BUFFER_SMALL = 4 * KIB,              /* where answers are small; see below */
    BUFFER_LARGE = 16 * KIB,             /* one TLS record */
    BUFFER_STREAM = 64 * KIB,
    SMALL_ANSWER = 64 * KIB,
    KEPT_BUF_MAX = 64 * KIB, /* a pooled transfer gives larger buffers back */
    CONNECT_MS = 5000,
    KEEPALIVE_IDLE_S = 30,
    KEEPALIVE_INTERVAL_S = 10,
};

static struct {
    fetch_transfer *first;
    size_t          len;
} pool;

/* ---- callbacks ---- */

static bool woken(const fetch_transfer *x)
{
    if (x->ended)
        return true;
    switch (x->wake) {
    case FETCH_WAKE_HEAD:
        return x->head_done;
    case FETCH_WAKE_BODY:
        return x->body.len > 0;
    case FETCH_WAKE_END:
        break;
    }
    return false;
}

void fetch_transfer_wake(fetch_transfer *x)
{
    wait *w = x->waiting;
    if (w == NULL || !woken(x))
        return;
    x->waiting = NULL;
    wait_done(w, RES_OK);
}

/* Anything but the number of bytes given makes libcurl end the transfer; 0 bytes are never given to us. */
static size_t break_off(fetch_transfer *x, fetch_fault why)
{
    x->fault = why;
    return 0;
}

static fetch_fault end_head(fetch_transfer *x)
{
    long       status = 0;
    curl_off_t length = -1;
    (void)curl.easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status); /* else it stays 0 */
    x->in_head = false;
    if (status == 101)
        return FETCH_FAULT_SWITCH;
    if (status < 200)
        return FETCH_FAULT_NONE; /* another head follows */

    x->status = (int)status;
    x->head_done = true;
    (void)curl.easy_getinfo(x->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length); /* else it stays -1 */
    bool has_body = !x->head_request && status != 204 && status != 304;
    if (has_body && length > 0 && (uint64_t)length > x->body_max)
        return FETCH_FAULT_BODY;
    fetch_transfer_wake(x);
    return FETCH_FAULT_NONE;
}

static fetch_fault add_header_line(fetch_transfer *x, str line)
{
    bool folded = line.at[0] == ' ' || line.at[0] == '\t';
    if (folded && x->head.len > 0)
        x->head.at[x->head.len - 1] = ' '; /* RFC 9112 5.2: goes on with the line before */
    else if (++x->header_count > FETCH_HEADERS_MAX)
        return FETCH_FAULT_HEAD;
    if (!buf_add(&x->head, line) || !buf_add_char(&x->head, '\n'))
        return x->head.len + line.len >= FETCH_HEAD_MAX ? FETCH_FAULT_HEAD : FETCH_FAULT_MEMORY;
    return FETCH_FAULT_NONE;
}

static size_t on_header(char *at, size_t size, size_t n, void *ctx)
{
    fetch_transfer *x = ctx;
    size_t          bytes = size * n;
    str             line = {at, bytes};
    fetch_fault     fault = FETCH_FAULT_NONE;

    while (line.len > 0 && (line.at[line.len - 1] == '\r' || line.at[line.len - 1] == '\n'))
        line.len--;
    x->head_total += bytes;
    if (x->head_total > HEAD_TOTAL_MAX)
        fault = FETCH_FAULT_HEAD;
    else if (x->head_done)
        ; /* a trailer, which nobody asks for */
    else if (!x->in_head) {
        x->in_head = true; /* the status line */
        x->header_count = 0;
        buf_clear(&x->head);
    } else
        fault = line.len == 0 ? end_head(x) : add_header_line(x, line);
    return fault == FETCH_FAULT_NONE ? bytes : break_off(x, fault);
}

static size_t on_body(char *at, size_t size, size_t n, void *ctx)
{
    fetch_transfer *x = ctx;
    size_t          bytes = size * n;

    if (x->streams && x->body.len >= FETCH_STREAM_HIGH) {
        x->paused = true;
        return CURL_WRITEFUNC_PAUSE; /* these bytes come again */
    }
    x->body_total += bytes;
    if (x->body_total > x->body_max)
        return break_off(x, FETCH_FAULT_BODY);
    if (!buf_add(&x->body, (str){at, bytes}))
        return break_off(x, FETCH_FAULT_MEMORY);
    fetch_transfer_wake(x);
    return bytes;
}

static int on_sending(void *ctx, char *peer_ip, char *local_ip, int peer_port, int local_port)
{
    (void)peer_ip, (void)local_ip, (void)peer_port, (void)local_port;
    fetch_transfer *x = ctx;
    if (++x->sends == 1)
        return CURL_PREREQFUNC_OK;
    long opened = 0;
    (void)curl.easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &opened); /* else it stays 0 */
    x->retried = x->sends == 2 && x->repeatable && opened > 0;
    x->dead = !x->retried;
    return x->retried ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* ---- options ---- */

/* One row an option, in the groups below; what fails is remembered in `ok`. */
#define SET(option, value) (ok = curl.easy_setopt(x->easy, (option), (value)) == CURLE_OK && ok)
/* For options that a libcurl we can live with may not have. */
#define SET_IF_KNOWN(option, value) ((void)curl.easy_setopt(x->easy, (option), (value)))

static bool set_callbacks(fetch_transfer *x)
{
    bool ok = true;
    SET(CURLOPT_PRIVATE, (void *)x);
    SET(CURLOPT_ERRORBUFFER, x->error);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)x);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, (void *)x);
    SET(CURLOPT_OPENSOCKETFUNCTION, fetch_multi_open_socket);
    SET(CURLOPT_CLOSESOCKETFUNCTION, fetch_multi_close_socket);
    SET(CURLOPT_PREREQFUNCTION, on_sending);
    SET(CURLOPT_PREREQDATA, (void *)x);
    SET(CURLOPT_SHARE, fetch_multi_share());
    return ok;
}

/* No proxy but a wanted one. libcurl would ignore HTTP_PROXY in capitals, for CGI programs get one from
 * clients; we are none. */
static bool set_proxy(fetch_transfer *x, bool tls, bool direct)
{
    const char *asked = getenv("TRESTLE_PROXY"), *proxy = NULL, *except = NULL;
    bool        ok = true;
    if (!direct && asked != NULL && strcmp(asked, "1") == 0) {
        proxy = getenv(tls ? "HTTPS_PROXY" : "HTTP_PROXY");
        proxy = proxy != NULL ? proxy : getenv(tls ? "https_proxy" : "http_proxy");
        except = getenv("NO_PROXY");
        except = except != NULL ? except : getenv("no_proxy");
    }
    SET(CURLOPT_PROXY, proxy != NULL ? proxy : "");
    if (proxy == NULL || *proxy == '\0')
        return ok;
    SET(CURLOPT_NOPROXY, except != NULL ? except : "");
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* a proxy that tunnels sees none of our headers */
    return ok;
}

/* libcurl keeps milliseconds in an int. */
static long option_ms(uint64_t ms)
{
    return (long)(ms < INT32_MAX ? ms : INT32_MAX);
}

static bool set_connection(fetch_transfer *x, const fetch_request *in, const fetch_options *o)
{
    bool ok = true;
    if (curl.easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK)
        SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)); /* before 7.85 */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    SET(CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
    SET(CURLOPT_FRESH_CONNECT, o->fresh ? 1L : 0L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, option_ms(in->connect_ms != 0 ? in->connect_ms : CONNECT_MS));
    SET(CURLOPT_TIMEOUT_MS, option_ms(o->left_ms));
    if (in->idle_max_s != 0)
        SET(CURLOPT_MAXAGE_CONN, (long)in->idle_max_s);
    SET_IF_KNOWN(CURLOPT_QUICK_EXIT,
                 1L); /* 7.87: giving up while a name is resolved does not block the loop */
    if (!o->tls)
        return ok;
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2); /* or later */
    return ok && fetch_trust_set(x->easy);
}

/* What libcurl would send and we were not asked to: "Name:" takes a header out. */
static const char *const unwanted[] = {"Expect:", "Accept:", "Content-Type:"};

static bool add_line(fetch_transfer *x, const char *line)
{
    struct curl_slist *longer = curl.slist_append(x->list, line);
    if (longer == NULL)
        return false;
    x->list = longer;
    return true;
}

static bool set_headers(fetch_transfer *x, arena *a, const fetch_request *in)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++) {
        str name = str_slice(str_of(unwanted[i]), 0, strlen(unwanted[i]) - 1);
        if (http_header_get(in->headers, in->header_count, name).at == NULL)
            ok = add_line(x, unwanted[i]) && ok;
    }
    for (size_t i = 0; i < in->header_count; i++) {
        str name = in->headers[i].name, value = str_trim(in->headers[i].value);
        /* libcurl's way to say that a header is there and empty is a semicolon. */
        str line = value.len > 0 ? arena_strf(a, "%.*s: %.*s", STR_ARG(name), STR_ARG(value))
                                 : arena_strf(a, "%.*s;", STR_ARG(name));
        ok = add_line(x, line.at) && ok;
    }
    SET(CURLOPT_HTTPHEADER, x->list);
    return ok;
}

static bool set_message(fetch_transfer *x, arena *a, const fetch_request *in, const fetch_options *o)
{
    bool        ok = true;
    bool        get = str_eq(in->method, STR("GET"));
    bool        no_body = get || str_eq(in->method, STR("DELETE"));
    const char *method = arena_cstr(a, in->method);

    SET(CURLOPT_URL, o->url);
    SET(CURLOPT_PATH_AS_IS, 1L);
    if (x->head_request) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (no_body && in->body.len == 0) {
        SET(CURLOPT_HTTPGET, 1L);
    } else {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)in->body.len);
        SET(CURLOPT_POSTFIELDS, in->body.len > 0 ? in->body.at : "");
    }
    if (!x->head_request && (!get || in->body.len > 0))
        SET(CURLOPT_CUSTOMREQUEST, method); /* a copy is made */
    long buffer = in->answer_max <= SMALL_ANSWER && in->answer_max != 0 ? BUFFER_SMALL : BUFFER_LARGE;
    SET(CURLOPT_BUFFERSIZE, o->streams ? (long)BUFFER_STREAM : buffer);
    return ok && set_headers(x, a, in);
}

/* As a new one, but for what is worth keeping: the handle, and small buffers. */
static void clear(fetch_transfer *x)
{
    curl.easy_reset(x->easy);
    curl.slist_free_all(x->list);
    fetch_transfer kept = {.easy = x->easy, .head = x->head, .body = x->body};
    *x = kept;
    buf_clear(&x->head);
    buf_clear(&x->body);
}

/* A pooled buffer with another maximum; what it has already allocated stays, or goes if it is too much. */
static void buf_limit(buf *b, size_t max)
{
    if (b->cap > max)
        buf_free(b);
    buf fresh;
    buf_init(&fresh, NULL, max);
    b->max = fresh.max;
}

bool fetch_transfer_set(fetch_transfer *x, arena *a, const fetch_request *in, const fetch_options *o)
{
    clear(x);
    x->streams = o->streams;
    x->head_request = str_eq(in->method, STR("HEAD"));
    x->repeatable = in->repeatable || x->head_request || str_eq(in->method, STR("GET"));
    x->body_max = in->answer_max != 0 ? in->answer_max : o->streams ? UINT64_MAX : MIB;
    buf_limit(&x->body, o->streams ? FETCH_STREAM_HIGH + BUFFER_STREAM : (size_t)x->body_max);
    return set_callbacks(x) && set_proxy(x, o->tls, in->direct) && set_connection(x, in, o) &&
           set_message(x, a, in, o);
}

/* ---- pool ---- */

static void free_transfer(fetch_transfer *x)
{
    curl.easy_cleanup(x->easy);
    curl.slist_free_all(x->list);
    buf_free(&x->head);
    buf_free(&x->body);
    free(x);
}

fetch_transfer *fetch_transfer_take(void)
{
    fetch_transfer *x = pool.first;
    if (x != NULL) {
        pool.first = x->next;
        pool.len--;
        return x;
    }
    x = calloc(1, sizeof *x);
    if (x == NULL)
        return NULL;
    buf_init(&x->head, NULL, FETCH_HEAD_MAX);
    buf_init(&x->body, NULL, MIB);
    x->easy = curl.easy_init();
    if (x->easy == NULL) {
        free(x);
        return NULL;
    }
    return x;
}

void fetch_transfer_give(fetch_transfer *x)
{
    fetch_multi_remove(x);
    if (pool.len >= FETCH_POOL_MAX) {
        free_transfer(x);
        return;
    }
    clear(x); /* now, so that the request's secrets and body pointer do not stay behind */
    if (x->body.cap > KEPT_BUF_MAX)
        buf_free(&x->body);
    x->next = pool.first;
    pool.first = x;
    pool.len++;
}

void fetch_transfer_pool_free(void)
{
    while (pool.first != NULL) {
        fetch_transfer *x = pool.first;
        pool.first = x->next;
        free_transfer(x);
    }
    pool.len = 0;
}
