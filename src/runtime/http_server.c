/* http_server.c -- listening, accepting, time-outs and draining.
 *
 * Connections are accepted by hand over uv_poll, not by uv_listen: when the process is out of file
 * descriptors, libuv would accept and drop; here they wait in the backlog until a descriptor is free.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "runtime/http_conn.h"

enum {
    SWEEP_MS = 500,
    ACCEPTS_AT_ONCE = 64, /* then connections that exist get their turn */
    SCRATCH_MAX = 4 * MIB,
    ACCEPT_LOG_US = 1000000,
};

http_server_options http_server_defaults(void)
{
    return (http_server_options){
        .address = "127.0.0.1",
        .port = 0,
        .backlog = 1024,
        .connections_max = 10000,
        .header_bytes_max = (size_t)88 * KIB,
        .header_count_max = 256,
        .head_ms = 20000,
        .body_ms = 30000,
        .idle_ms = 130000,
        .write_ms = 60000,
    };
}

/* ---- the end ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    http_server *s = handle->data;
    if (--s->handles > 0)
        return;
    free(s->read_bytes);
    buf_free(&s->scratch);
    s->drained(s->drained_ctx); /* which may free the server */
}

static void stop_accepting(http_server *s)
{
    (void)uv_poll_stop(&s->acceptor); /* always 0 */
    close(s->fd);
    s->fd = -1;
    uv_close((uv_handle_t *)&s->acceptor, on_handle_closed);
}

/* The last connection of a draining server is gone. */
static void finish_drain(http_server *s)
{
    uv_close((uv_handle_t *)&s->sweeper, on_handle_closed);
    uv_close((uv_handle_t *)&s->limit, on_handle_closed);
}

static void on_drain_limit(uv_timer_t *timer)
{
    http_server *s = timer->data;
    log_warn("%zu connections did not end in time, and are cut off", s->conn_count);
    for (http_conn *c = s->conns; c != NULL; c = c->next)
        http_conn_close(c);
}

void http_server_drain(http_server *s, uint64_t limit_ms, void (*drained)(void *ctx), void *ctx)
{
    if (s->draining)
        return;
    s->draining = true;
    s->drained = drained;
    s->drained_ctx = ctx;
    stop_accepting(s);
    if (s->conn_count == 0) {
        finish_drain(s);
        return;
    }
    for (http_conn *c = s->conns; c != NULL; c = c->next)
        if (c->turn == NULL && !c->lingering)
            http_conn_close(c);
    uv_update_time(loop_uv()); /* the limit counts from now, not from when the loop woke up */
    (void)uv_timer_start(&s->limit, on_drain_limit, limit_ms, 0); /* fails only without a callback */
}

/* ---- time ---- */

static void on_acceptable(uv_poll_t *poll, int status, int events);

void http_server_sweep(http_server *s)
{
    uint64_t now_us = clock_mono_us();
    for (http_conn *c = s->conns, *next; c != NULL; c = next) {
        next = c->next;
        http_conn_sweep(c, now_us);
    }
    if (s->accept_paused && !s->draining) {
        s->accept_paused = false;
        if (uv_poll_start(&s->acceptor, UV_READABLE, on_acceptable) != 0)
            s->accept_paused = true;
    }
}

static void stop_sweeping_if_idle(http_server *s)
{
    if (s->conn_count == 0 && !s->accept_paused)
        (void)uv_timer_stop(&s->sweeper); /* always 0 */
}

static void on_sweep(uv_timer_t *timer)
{
    http_server_sweep(timer->data);
    stop_sweeping_if_idle(timer->data);
}

static void start_sweeping(http_server *s)
{
    if (!uv_is_active((uv_handle_t *)&s->sweeper))
        (void)uv_timer_start(&s->sweeper, on_sweep, SWEEP_MS, SWEEP_MS); /* fails only without a callback */
}

void http_server_conn_gone(http_server *s, http_conn *c)
{
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
    s->conn_count--;
    metrics_add(s->connections, -1);
    stop_sweeping_if_idle(s);
    if (s->draining && s->conn_count == 0)
        finish_drain(s);
}

/* ---- accepting ---- */

/* Out of descriptors or memory: looked at again at the next sweep, for to try at once would spin. */
static void pause_accepting(http_server *s, int why)
{
    uint64_t now_us = clock_mono_us();
    if (s->accept_logged_us == 0 || now_us - s->accept_logged_us >= ACCEPT_LOG_US) {
        s->accept_logged_us = now_us;
        log_error("connections wait, for none can be accepted: %s", strerror(why));
    }
    (void)uv_poll_stop(&s->acceptor); /* always 0 */
    s->accept_paused = true;
    start_sweeping(s);
}

/* What the peer has sent by now is read, because closing before would reset the connection and lose the
 * answer. */
static void turn_away(http_server *s, int fd)
{
    static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
                                 "Connection: close\r\n\r\n";
    metrics_add(s->refused, 1);
    if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 && shutdown(fd, SHUT_WR) == 0)
        (void)recv(fd, s->read_bytes, HTTP_READ_BYTES, MSG_DONTWAIT); /* whatever it is, it goes unread */
    close(fd);
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    http_server *s = poll->data;
    (void)status, (void)events;
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            pause_accepting(s, errno);
            return;
        }
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0)
            continue; /* this one connection failed before it was accepted */
        if (s->conn_count >= s->options.connections_max) {
            turn_away(s, fd);
            continue;
        }
        http_conn_open(s, fd);
        start_sweeping(s);
    }
}

/* ---- listening ---- */

typedef union {
    struct sockaddr     any;
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;
} socket_address;

static bool parse_address(const http_server_options *o, socket_address *ret, socklen_t *ret_len)
{
    memset(ret, 0, sizeof *ret);
    if (o->port < 0 || o->port > 65535)
        return false;
    if (inet_pton(AF_INET, o->address, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons((uint16_t)o->port);
        *ret_len = sizeof ret->v4;
        return true;
    }
    if (inet_pton(AF_INET6, o->address, &ret->v6.sin6_addr) == 1) {
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons((uint16_t)o->port);
        *ret_len = sizeof ret->v6;
        return true;
    }
    return false;
}

static res listen_failed(arena *a, const http_server_options *o, int why, str *ret_error)
{
    if (why == EADDRINUSE)
        *ret_error = arena_strf(a, "port %d on %s is in use by another program", o->port, o->address);
    else
        *ret_error = arena_strf(a, "cannot listen on port %d of %s: %s", o->port, o->address, strerror(why));
    return RES_UNAVAILABLE;
}

static res open_socket(arena *a, const http_server_options *o, int *ret_fd, int *ret_port, str *ret_error)
{
    socket_address address;
    socklen_t      len = 0;
    if (!parse_address(o, &address, &len)) {
        *ret_error = arena_strf(a, "'%s' port %d is not an address to listen on", o->address, o->port);
        return RES_INVALID;
    }
    int yes = 1, why = 0;
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return listen_failed(a, o, errno, ret_error);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || bind(fd, &address.any, len) != 0 ||
        listen(fd, o->backlog) != 0 || getsockname(fd, &address.any, &len) != 0) {
        why = errno;
        close(fd);
        return listen_failed(a, o, why, ret_error);
    }
    *ret_fd = fd;
    *ret_port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
    return RES_OK;
}

static void make_metrics(http_server *s)
{
    static const char *const classes[HTTP_STATUS_CLASSES] = {"status=\"none\"", "status=\"1xx\"",
                                                             "status=\"2xx\"",  "status=\"3xx\"",
                                                             "status=\"4xx\"",  "status=\"5xx\""};
    s->connections = metrics_gauge("trestle_http_connections", "", "Open connections");
    s->refused = metrics_counter("trestle_http_refused_total", "", "Requests that the server refused itself");
    for (int i = 0; i < HTTP_STATUS_CLASSES; i++)
        s->requests[i] =
            metrics_counter("trestle_http_requests_total", classes[i], "Requests by their answer");
}

res http_server_open(arena *a, const http_server_options *o, const http_app *app, http_server **ret,
                     str *ret_error)
{
    http_server *s = arena_one(a, http_server);
    char        *read_bytes = malloc(HTTP_READ_BYTES);
    int          fd = -1, port = 0;
    if (s == NULL || read_bytes == NULL) {
        free(read_bytes);
        *ret_error = STR("no memory for the server");
        return RES_MEMORY;
    }
    res r = open_socket(a, o, &fd, &port, ret_error);
    if (r == RES_OK && uv_poll_init(loop_uv(), &s->acceptor, fd) != 0) {
        close(fd);
        r = listen_failed(a, o, ENOMEM, ret_error);
    }
    if (r != RES_OK) {
        free(read_bytes);
        return r;
    }
    s->options = *o;
    s->app = *app;
    s->fd = fd;
    s->port = port;
    s->read_bytes = read_bytes;
    s->handles = 3;
    buf_init(&s->scratch, NULL, SCRATCH_MAX);
    (void)uv_timer_init(loop_uv(), &s->sweeper); /* timers cannot fail */
    (void)uv_timer_init(loop_uv(), &s->limit);
    s->acceptor.data = s->sweeper.data = s->limit.data = s;
    (void)uv_poll_start(&s->acceptor, UV_READABLE, on_acceptable); /* fails only on a handle that closes */
    make_metrics(s);
    (void)signal(SIGPIPE,
                 SIG_IGN); /* libuv's writes do not ask for silence when the peer is gone; it is a result */
    *ret = s;
    return RES_OK;
}

int http_server_port(const http_server *s)
{
    return s->port;
}
