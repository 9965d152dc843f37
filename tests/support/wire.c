/* wire.c -- see wire.h. Blocking sockets, one thread a connection; a lock guards what the threads share.
 *
 * SPDX-License-Identifier: MIT */
#include "support/wire.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/wire_tls.h"

enum {
    CONNECTIONS_MAX = 4096,
    REQUESTS_MAX = 65536,
    HEAD_MAX = 256 * KIB,
    BODY_MAX = 64 * MIB,
    URLS_MAX = 64
};

typedef struct {
    wire     *w;
    pthread_t thread;
    int       fd;
    unsigned  number;
    void     *ssl;
    char     *in; /* read and not used yet */
    size_t    in_len, in_cap;
    bool      ended;
} conn;

struct wire {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    pthread_t       acceptor;
    int             listener, stop_pipe[2];
    unsigned        port;
    wire_tls       *tls;

    wire_answer *rows;
    size_t       row_count;
    wire_fn     *fn;
    void        *fn_ctx;

    conn         *conns[CONNECTIONS_MAX];
    unsigned      conn_count, open_count, resumed;
    uint64_t      sent_bytes;
    wire_request *requests;
    size_t        request_count, request_cap;
    bool          stopping;
    char         *urls[URLS_MAX];
    size_t        url_count;
};

static void must(bool ok, const char *what)
{
    if (!ok)
        ck_abort_msg("wire: %s: %s", what, strerror(errno));
}

/* ---- bytes in and out ---- */

static ssize_t read_some(conn *c, char *at, size_t room)
{
    if (c->ssl != NULL)
        return wire_tls_read(c->ssl, at, room);
    ssize_t n;
    do
        n = recv(c->fd, at, room, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

static bool write_all(conn *c, const char *at, size_t len)
{
    while (len > 0) {
        ssize_t n = c->ssl != NULL ? wire_tls_write(c->ssl, at, len) : send(c->fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR && c->ssl == NULL)
            continue;
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
        pthread_mutex_lock(&c->w->lock);
        c->w->sent_bytes += (uint64_t)n;
        pthread_mutex_unlock(&c->w->lock);
    }
    return true;
}

static bool stopping(wire *w)
{
    pthread_mutex_lock(&w->lock);
    bool is = w->stopping;
    pthread_mutex_unlock(&w->lock);
    return is;
}

/* Returns early when the server is stopped. */
static void pause_ms(wire *w, unsigned ms)
{
    struct pollfd stop = {.fd = w->stop_pipe[0], .events = POLLIN};
    if (ms > 0)
        (void)poll(&stop, 1, (int)ms);
}

/* ---- requests ---- */

static bool fill(conn *c, size_t want_max)
{
    if (c->in_len >= want_max)
        return false;
    if (c->in_len == c->in_cap) {
        c->in_cap = c->in_cap != 0 ? 2 * c->in_cap : 8 * (size_t)KIB;
        c->in = realloc(c->in, c->in_cap);
        must(c->in != NULL, "memory");
    }
    ssize_t n = read_some(c, c->in + c->in_len, c->in_cap - c->in_len);
    if (n <= 0)
        return false;
    c->in_len += (size_t)n;
    return true;
}

/* Digits behind blanks; the bytes behind them are not terminated, so this is no work for strtoul. */
static size_t number_at(str s)
{
    uint64_t n;
    return str_to_u64(str_trim(str_slice(s, 0, str_find_char(s, '\r'))), &n) ? (size_t)n : 0;
}

static size_t content_length(str head)
{
    static const char name[] = "\r\ncontent-length:";
    for (size_t i = 0; i + sizeof name - 1 < head.len; i++)
        if (strncasecmp(head.at + i, name, sizeof name - 1) == 0)
            return number_at(str_from(head, i + sizeof name - 1));
    return 0;
}

static str keep_copy(const char *at, size_t len)
{
    char *copy = malloc(len + 1);
    must(copy != NULL, "memory");
    memcpy(copy, at, len);
    copy[len] = '\0';
    return (str){copy, len};
}

/* False: the peer ended, or sent more than any test does. */
static bool read_request(conn *c, wire_request *ret)
{
    size_t head_len;
    for (;;) {
        const char *end = c->in_len > 0 ? memmem(c->in, c->in_len, "\r\n\r\n", 4) : NULL;
        if (end != NULL) {
            head_len = (size_t)(end - c->in) + 4;
            break;
        }
        if (!fill(c, HEAD_MAX))
            return false;
    }
    size_t body_len = content_length((str){c->in, head_len});
    if (body_len > BODY_MAX)
        return false;
    while (c->in_len < head_len + body_len)
        if (!fill(c, head_len + body_len))
            return false;

    *ret = (wire_request){keep_copy(c->in, head_len), keep_copy(c->in + head_len, body_len), c->number};
    c->in_len -= head_len + body_len;
    memmove(c->in, c->in + head_len + body_len, c->in_len);
    return true;
}

static wire_answer record_and_choose(wire *w, const wire_request *q)
{
    wire_answer answer = {0};
    pthread_mutex_lock(&w->lock);
    if (w->request_count == w->request_cap) {
        must(w->request_cap < REQUESTS_MAX, "too many requests");
        w->request_cap = w->request_cap != 0 ? 2 * w->request_cap : 64;
        w->requests = realloc(w->requests, w->request_cap * sizeof *w->requests);
        must(w->requests != NULL, "memory");
    }
    size_t nth = w->request_count++;
    w->requests[nth] = *q;
    if (w->fn == NULL)
        answer = w->rows[nth < w->row_count ? nth : w->row_count - 1];
    pthread_mutex_unlock(&w->lock);
    if (w->fn != NULL)
        w->fn(w->fn_ctx, q, &answer);
    return answer;
}

/* ---- answers ---- */

static bool send_filler(conn *c, uint64_t bytes)
{
    char block[2 * KIB];
    memset(block, 'x', sizeof block);
    while (bytes > 0) {
        size_t n = bytes < sizeof block ? (size_t)bytes : sizeof block;
        if (!write_all(c, block, n))
            return false;
        bytes -= n;
    }
    return true;
}

static bool send_answer(conn *c, const wire_answer *answer)
{
    const char *at = answer->bytes != NULL ? answer->bytes : "";
    size_t      left = answer->len != 0 ? answer->len : strlen(at);
    pause_ms(c->w, answer->delay_ms);
    while (left > 0 && !stopping(c->w)) {
        size_t n = answer->drip_bytes != 0 && answer->drip_bytes < left ? answer->drip_bytes : left;
        if (!write_all(c, at, n))
            return false;
        at += n;
        left -= n;
        if (left > 0)
            pause_ms(c->w, answer->drip_ms);
    }
    pause_ms(c->w, answer->fill_ms);
    return send_filler(c, answer->fill_bytes);
}

/* Waits for the peer's end; what it still sends is thrown away. */
static void hang(conn *c)
{
    struct pollfd both[] = {{.fd = c->fd, .events = POLLRDHUP}, {.fd = c->w->stop_pipe[0], .events = POLLIN}};
    while (poll(both, 2, -1) < 0 && errno == EINTR)
        ;
}

static void serve(conn *c)
{
    wire_request q;
    while (!stopping(c->w) && read_request(c, &q)) {
        wire_answer answer = record_and_choose(c->w, &q);
        if (!send_answer(c, &answer))
            return;
        pause_ms(c->w, answer.then_ms);
        if (answer.then == WIRE_HANG)
            hang(c);
        if (answer.then == WIRE_RESET) {
            struct linger now = {.l_onoff = 1, .l_linger = 0};
            (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now); /* close() then sends RST */
        } else if (answer.then == WIRE_CLOSE && c->ssl != NULL)
            wire_tls_bye(c->ssl);
        if (answer.then != WIRE_KEEP)
            return;
    }
}

static void *run_conn(void *arg)
{
    conn *c = arg;
    wire *w = c->w;
    bool  ok = true;
    if (w->tls != NULL) {
        bool resumed = false;
        c->ssl = wire_tls_accept(w->tls, c->fd, &resumed);
        ok = c->ssl != NULL;
        pthread_mutex_lock(&w->lock);
        w->resumed += resumed;
        pthread_mutex_unlock(&w->lock);
    }
    if (ok)
        serve(c);
    if (c->ssl != NULL)
        wire_tls_drop(c->ssl);
    free(c->in);
    pthread_mutex_lock(&w->lock);
    (void)close(c->fd);
    c->ended = true;
    w->open_count--;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- accepting ---- */

static void add_conn(wire *w, int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    conn *c = calloc(1, sizeof *c);
    must(c != NULL, "memory");
    c->w = w;
    c->fd = fd;
    pthread_mutex_lock(&w->lock);
    must(w->conn_count < CONNECTIONS_MAX, "too many connections");
    w->conns[w->conn_count++] = c;
    c->number = w->conn_count;
    w->open_count++;
    must(pthread_create(&c->thread, NULL, run_conn, c) == 0, "thread");
    pthread_mutex_unlock(&w->lock);
}

static void *run_acceptor(void *arg)
{
    wire         *w = arg;
    struct pollfd both[] = {{.fd = w->listener, .events = POLLIN}, {.fd = w->stop_pipe[0], .events = POLLIN}};
    for (;;) {
        if (poll(both, 2, -1) < 0)
            continue;
        if (both[1].revents != 0)
            return NULL;
        int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            add_conn(w, fd);
    }
}

static wire *start(wire_tls *tls)
{
    wire *w = calloc(1, sizeof *w);
    must(w != NULL, "memory");
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t by_steady_clock;
    pthread_condattr_init(&by_steady_clock);
    pthread_condattr_setclock(&by_steady_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &by_steady_clock);
    pthread_condattr_destroy(&by_steady_clock);
    w->tls = tls;

    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(w->listener >= 0 && bind(w->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
             listen(w->listener, 1024) == 0 && getsockname(w->listener, (struct sockaddr *)&at, &len) == 0,
         "listen");
    w->port = ntohs(at.sin_port);
    must(pipe2(w->stop_pipe, O_CLOEXEC) == 0, "pipe");
    return w;
}

static void begin(wire *w)
{
    must(pthread_create(&w->acceptor, NULL, run_acceptor, w) == 0, "thread");
}

wire *wire_start(const wire_answer *answers, size_t count, wire_tls *tls)
{
    wire *w = start(tls);
    w->rows = calloc(count, sizeof *w->rows);
    must(count > 0 && w->rows != NULL, "rows");
    memcpy(w->rows, answers, count * sizeof *answers);
    w->row_count = count;
    begin(w);
    return w;
}

wire *wire_start_fn(wire_fn *answer, void *ctx, wire_tls *tls)
{
    wire *w = start(tls);
    w->fn = answer;
    w->fn_ctx = ctx;
    begin(w);
    return w;
}

static void free_all(wire *w)
{
    for (unsigned i = 0; i < w->conn_count; i++)
        free(w->conns[i]);
    for (size_t i = 0; i < w->request_count; i++) {
        free((char *)(uintptr_t)w->requests[i].head.at);
        free((char *)(uintptr_t)w->requests[i].body.at);
    }
    for (size_t i = 0; i < w->url_count; i++)
        free(w->urls[i]);
    free(w->requests);
    free(w->rows);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void wire_stop(wire *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_mutex_unlock(&w->lock);
    must(write(w->stop_pipe[1], "x", 1) == 1, "stop"); /* stays readable for all who look */
    pthread_join(w->acceptor, NULL);

    pthread_mutex_lock(&w->lock);
    for (unsigned i = 0; i < w->conn_count; i++)
        if (!w->conns[i]->ended)
            (void)shutdown(w->conns[i]->fd, SHUT_RDWR); /* wakes a thread that reads or writes */
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->conn_count; i++)
        pthread_join(w->conns[i]->thread, NULL);
    (void)close(w->listener);
    (void)close(w->stop_pipe[0]);
    (void)close(w->stop_pipe[1]);
    free_all(w);
}

/* ---- looking ---- */

unsigned wire_port(const wire *w)
{
    return w->port;
}

const char *wire_url_at(wire *w, const char *host, const char *path)
{
    must(w->url_count < URLS_MAX, "too many URLs");
    char *url = NULL;
    must(asprintf(&url, "http%s://%s:%u%s", w->tls != NULL ? "s" : "", host, w->port, path) > 0, "memory");
    w->urls[w->url_count++] = url;
    return url;
}

const char *wire_url(wire *w, const char *path)
{
    return wire_url_at(w, "127.0.0.1", path);
}

#define LOCKED_GET(type, name, member)  \
    type name(wire *w)                  \
    {                                   \
        pthread_mutex_lock(&w->lock);   \
        type value = w->member;         \
        pthread_mutex_unlock(&w->lock); \
        return value;                   \
    }
LOCKED_GET(unsigned, wire_connections, conn_count)
LOCKED_GET(unsigned, wire_open, open_count)
LOCKED_GET(unsigned, wire_resumed, resumed)
LOCKED_GET(uint64_t, wire_sent_bytes, sent_bytes)
LOCKED_GET(size_t, wire_requests, request_count)

wire_request wire_request_at(wire *w, size_t i)
{
    pthread_mutex_lock(&w->lock);
    bool         there = i < w->request_count;
    wire_request q = there ? w->requests[i] : (wire_request){0};
    pthread_mutex_unlock(&w->lock);
    if (!there)
        ck_abort_msg("wire: request %zu has not come", i);
    return q;
}

bool wire_has_header(wire *w, size_t i, const char *line)
{
    str    head = wire_request_at(w, i).head;
    size_t len = strlen(line);
    for (const char *at = head.at; (at = strstr(at, "\r\n")) != NULL;) {
        at += 2;
        if (strncmp(at, line, len) == 0 && strncmp(at + len, "\r\n", 2) == 0)
            return true;
    }
    return false;
}

bool wire_wait_open(wire *w, unsigned open, unsigned limit_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += limit_ms / 1000;
    until.tv_nsec += (long)(limit_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&w->lock);
    int r = 0;
    while (w->open_count != open && r == 0)
        r = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    bool reached = w->open_count == open;
    pthread_mutex_unlock(&w->lock);
    return reached;
}
