/* http_conn.c -- the life of a connection.
 *
 *     idle -> head -> (begin) -> body -> task -> answer sent -> idle | lingering -> closed
 *
 * Bytes come in through on_read and are pumped into the parser of the current turn. While a turn is being
 * served, reading goes on, to notice when the peer leaves; what it sends meanwhile is held, up to a bound.
 *
 * What must stay true: a turn ends in settle() alone, which is called from the loop, never from the
 * app's or a task's code; a connection's memory goes when its handle is closed and its turn has ended,
 * whichever is later.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/http_conn.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"

enum {
    BLANKS_MAX = 8,       /* CR and LF tolerated before a request (RFC 9112 §2.2) */
    APP_BYTES = 64 * KIB, /* of the arena, for begin and refuse */
    HELD_MAX = HTTP_HELD_BYTES + HTTP_READ_BYTES,
};

/* ---- reading on and off ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    const http_conn *c = handle->data;
    (void)suggested;
    *ret = (uv_buf_t){.base = c->server->read_bytes, .len = HTTP_READ_BYTES};
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *bytes);

static void start_reading(http_conn *c)
{
    c->read_stopped = false;
    if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) != 0)
        http_conn_close(c);
}

bool http_conn_has_more(const http_conn *c)
{
    return c->pumping ? c->ahead > 0 : c->held.len > 0;
}

/* ---- closing ---- */

static void free_conn(http_conn *c)
{
    buf_free(&c->held);
    http_server_conn_gone(c->server, c);
    free(c);
}

static void on_closed(uv_handle_t *handle)
{
    http_conn *c = handle->data;
    c->handle_gone = true;
    if (c->turn == NULL)
        free_conn(c);
    else
        http_conn_advance(c);
}

static void close_handle(http_conn *c, bool reset)
{
    if (c->closing)
        return;
    c->closing = true;
    if (!reset || uv_tcp_close_reset(&c->tcp, on_closed) != 0)
        uv_close((uv_handle_t *)&c->tcp, on_closed);
    if (c->turn != NULL && c->turn->task != NULL)
        task_cancel(c->turn->task, RES_GONE);
}

void http_conn_close(http_conn *c)
{
    close_handle(c, false);
}

/* Closing with unread bytes would make the kernel reset the connection, and the peer might lose the answer.
 * So ours ends first, and what still comes is thrown away for a while. */
static void linger(http_conn *c)
{
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&c->tcp, &fd) != 0 || shutdown(fd, SHUT_WR) != 0) {
        http_conn_close(c);
        return;
    }
    c->lingering = true;
    c->deaf = true;
    if (!c->pumping)
        buf_free(&c->held);
    if (c->read_stopped)
        start_reading(c);
}

/* ---- turns ---- */

static http_turn *open_turn(http_conn *c)
{
    const http_server_options *o = &c->server->options;
    http_parse_limits          limits = {.head_bytes_max = o->header_bytes_max,
                                         .header_count_max = o->header_count_max};
    /* The head grows by doubling, and an arena frees nothing: twice its size, and its table, which doubles
     * too. */
    size_t budget = 2 * o->header_bytes_max + 4 * o->header_count_max * sizeof(http_header) +
                    sizeof(http_turn) + HTTP_BODY_IN_ARENA + APP_BYTES;
    arena *a = arena_new(budget);
    if (a == NULL)
        return NULL;
    http_turn *turn = arena_one(a, http_turn);
    if (turn == NULL) {
        arena_free(a);
        return NULL;
    }
    turn->x.arena = a;
    turn->x.conn = c;
    turn->began_us = clock_mono_us();
    http_parse_init(&turn->parser, &turn->x, &limits);
    c->turn = turn;
    c->blanks = 0;
    return turn;
}

static void count_turn(const http_turn *turn)
{
    int class = turn->x.status / 100;
    metrics_add(turn->x.conn->server->requests[class < HTTP_STATUS_CLASSES ? class : 0], 1);
}

/* May free the connection. */
static void end_turn(http_conn *c)
{
    http_turn   *turn = c->turn;
    http_server *s = c->server;
    bool         last = turn->x.close_after || c->peer_ended;

    c->since_us = clock_mono_us();
    if (turn->begun) {
        count_turn(turn);
        s->app.done(s->app.ctx, &turn->x, c->since_us - turn->began_us);
    }
    c->turn = NULL;
    arena_free(turn->x.arena);

    if (c->closing) {
        if (c->handle_gone)
            free_conn(c);
    } else if (last && (c->deaf || http_conn_has_more(c)) && !c->peer_ended) {
        linger(c);
    } else if (last || (s->draining && !http_conn_has_more(c))) {
        http_conn_close(c);
    }
}

/* Ends the turn if nothing of it is left to do. False: with it went the connection. */
static bool settle(http_conn *c)
{
    const http_turn *turn = c->turn;
    if (c->broken)
        http_conn_close(c);
    if (turn == NULL || turn->task != NULL || c->writes > 0)
        return true;
    if (!c->closing && (!turn->x.ended || (!turn->parser.done && !c->deaf)))
        return true;
    bool gone = c->handle_gone;
    end_turn(c);
    return !gone;
}

/* ---- refusing ---- */

static void refuse(http_turn *turn, int status, const char *message)
{
    http_exchange *x = &turn->x;
    http_server   *s = x->conn->server;
    arena_set_budget(x->arena, arena_used_bytes(x->arena) + APP_BYTES);
    metrics_add(s->refused, 1);
    turn->begun = true;
    s->app.refuse(s->app.ctx, x, status, message);
    if (!x->ended && !x->streaming)
        http_respond(x, status, NULL, 0, STR("")); /* the app had no memory for more */
}

static void turn_deaf(http_conn *c)
{
    c->deaf = true;
    c->linger_left = HTTP_LINGER_BYTES;
}

/* Where the next request would begin is not known any more, or not worth waiting for. */
static void refuse_and_close(http_turn *turn, int status, const char *message)
{
    turn->x.close_after = true;
    turn_deaf(turn->x.conn);
    if (turn->x.ended)
        http_conn_close(turn->x.conn); /* answered before its body came: nothing more can be said */
    else
        refuse(turn, status, message);
}

/* ---- serving ---- */

static res serve(task *t, void *ctx)
{
    http_turn *turn = ctx;
    turn->x.serve(t, &turn->x);
    return RES_OK; /* what went wrong is in the answer */
}

static void on_served(task *t, void *ctx, res result, str message)
{
    http_turn *turn = ctx;
    http_conn *c = turn->x.conn;
    (void)t, (void)message;
    turn->task = NULL;
    turn->writer = NULL;
    arena_on_exhausted(turn->x.arena, NULL, NULL);
    if (!turn->x.ended && !c->closing) {
        if (turn->x.streaming)
            close_handle(c, true); /* a reset, so that nobody takes the part for the whole */
        else if (result == RES_MEMORY)
            refuse(turn, 503, "the request needs more memory than one request may have");
        else
            refuse(turn, 500, "the function ended without an answer");
    }
    http_conn_advance(c);
}

static void on_request(http_turn *turn)
{
    http_exchange *x = &turn->x;
    if (x->ended)
        return; /* answered by begin; just its body was still to come */
    if (x->serve == NULL) {
        refuse(turn, 500, "nobody serves this request");
        return;
    }
    arena_set_budget(x->arena, arena_used_bytes(x->arena) + x->memory_bytes);
    task_spec spec = {.name = x->name != NULL ? x->name : "http",
                      .deadline_ms = x->deadline_ms,
                      .arena = x->arena,
                      .log = x->log};
    res       r = task_start(&spec, serve, on_served, turn, &turn->task);
    if (r == RES_OK)
        return;
    arena_on_exhausted(x->arena, NULL, NULL);
    if (x->urgent && r == RES_UNAVAILABLE)
        refuse(turn, 200, "ready");
    else
        refuse(turn, 503,
               r == RES_UNAVAILABLE ? "too many requests are being served" : "no memory for a task");
}

static void on_head(http_turn *turn)
{
    http_exchange *x = &turn->x;
    http_conn     *c = x->conn;
    http_server   *s = c->server;

    x->close_after = !turn->parser.keep_alive;
    turn->begun = true;
    s->app.begin(s->app.ctx, x);
    if (turn->parser.done)
        return;
    if (x->ended && x->close_after)
        turn_deaf(c);
    else if (x->ended)
        turn->parser.discard = true;
    else if (turn->parser.content_length > x->body_max)
        refuse_and_close(turn, 413, "the body is larger than this function accepts");
    else if (turn->parser.expects_continue && c->ahead == 0)
        http_conn_send(c, STR("HTTP/1.1 100 Continue\r\n\r\n"), STR(""));
}

/* ---- bytes ---- */

/* Old clients send an empty line behind a body: it begins no request, so it starts no turn and no clock. */
static size_t skip_blanks(http_conn *c, str in)
{
    size_t n = 0;
    while (n < in.len && c->blanks < BLANKS_MAX && (in.at[n] == '\r' || in.at[n] == '\n')) {
        n++;
        c->blanks++;
    }
    return n;
}

/* Parses one step, and returns how many bytes it took. */
static size_t feed(http_conn *c, str in)
{
    if (c->turn == NULL) {
        size_t blanks = skip_blanks(c, in);
        if (blanks > 0)
            return blanks;
        if (open_turn(c) == NULL) {
            log_error("no memory for a request: its connection is closed");
            http_conn_close(c);
            return in.len;
        }
    }
    http_turn      *turn = c->turn;
    size_t          used;
    http_parse_step step = http_parse(&turn->parser, in, &used);
    c->ahead = in.len - used;
    if (step == HTTP_PARSE_BAD)
        refuse_and_close(turn, turn->parser.status, turn->parser.message);
    if (step == HTTP_PARSE_HEAD)
        on_head(turn);
    if (turn->parser.done)
        on_request(turn);
    (void)settle(c); /* its handle is open while bytes come out of it, so it is still there */
    return used;
}

static bool takes_input(const http_conn *c)
{
    return !c->closing && !c->deaf && (c->turn == NULL || !c->turn->parser.done);
}

/* Returns what is left because a request is being served now. */
static str pump(http_conn *c, str in)
{
    c->pumping = true;
    while (in.len > 0 && takes_input(c))
        in = str_from(in, feed(c, in));
    c->pumping = false;
    c->ahead = 0;
    return in;
}

static void hold(http_conn *c, str bytes)
{
    if (c->deaf || c->closing || bytes.len == 0)
        return;
    if (!buf_add(&c->held, bytes)) {
        log_error("no memory for pipelined requests: their connection is closed");
        http_conn_close(c);
        return;
    }
    if (c->held.len >= HTTP_HELD_BYTES && !c->read_stopped) {
        c->read_stopped = true;
        (void)uv_read_stop((uv_stream_t *)&c->tcp); /* always 0 */
    }
}

/* The turn is over: on with what came behind it. */
static void pump_held(http_conn *c)
{
    if (c->held.len > 0) {
        str rest = pump(c, buf_str(&c->held));
        buf_drop_front(&c->held, c->held.len - rest.len);
        if (c->held.len == 0 || c->deaf)
            buf_free(&c->held);
    }
    if (c->read_stopped && !c->closing && c->held.len < HTTP_HELD_BYTES)
        start_reading(c);
    if (c->server->draining && c->turn == NULL && !c->lingering)
        http_conn_close(c);
}

void http_conn_advance(http_conn *c)
{
    if (settle(c) && c->turn == NULL && !c->closing && !c->lingering)
        pump_held(c);
}

static void receive(http_conn *c, str bytes)
{
    if (takes_input(c))
        bytes = pump(c, bytes);
    hold(c, bytes);
    if (c->turn != NULL && !c->turn->parser.done)
        c->since_us = clock_mono_us();
}

static void discard(http_conn *c, size_t len)
{
    if (len > c->linger_left)
        http_conn_close(c);
    else
        c->linger_left -= len;
}

/* The peer sends nothing more. With an answer on its way, that is how some clients say that they are done;
 * otherwise nobody waits for the answer. */
static void on_end_of_input(http_conn *c, bool orderly)
{
    const http_turn *turn = c->turn;
    c->peer_ended = true;
    if (!orderly || turn == NULL || !turn->x.ended || (!turn->parser.done && !c->deaf))
        http_conn_close(c);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *bytes)
{
    http_conn *c = stream->data;
    if (len < 0)
        on_end_of_input(c, len == UV_EOF);
    else if (len > 0 && c->deaf)
        discard(c, (size_t)len);
    else if (len > 0)
        receive(c, (str){bytes->base, (size_t)len});
}

/* ---- time ---- */

static bool is_over(uint64_t now_us, uint64_t since_us, uint64_t limit_ms)
{
    return now_us > since_us && now_us - since_us > limit_ms * 1000;
}

static bool writing_stalled(http_conn *c, uint64_t now_us)
{
    size_t unsent = c->tcp.write_queue_size;
    if (unsent != c->unsent_seen) {
        c->unsent_seen = unsent;
        c->moved_us = now_us;
    }
    return is_over(now_us, c->moved_us, c->server->options.write_ms);
}

static void sweep_turn(http_conn *c, uint64_t now_us)
{
    const http_server_options *o = &c->server->options;
    http_turn                 *turn = c->turn;
    if (turn->parser.done || c->deaf)
        return; /* its task has a deadline, its answer was looked after before */
    if (!turn->parser.head_done) {
        if (is_over(now_us, turn->began_us, o->head_ms))
            refuse_and_close(turn, 408, "the request's head took too long");
    } else if (is_over(now_us, c->since_us, o->body_ms)) {
        refuse_and_close(turn, 408, "the request's body took too long");
    }
    http_conn_advance(c);
}

void http_conn_sweep(http_conn *c, uint64_t now_us)
{
    if (c->closing)
        return;
    bool stalled = c->writes > 0 && writing_stalled(c, now_us);
    bool lingered = c->lingering && is_over(now_us, c->since_us, HTTP_LINGER_MS);
    bool idled = c->turn == NULL && is_over(now_us, c->since_us, c->server->options.idle_ms);
    if (stalled || lingered || idled)
        http_conn_close(c);
    else if (c->turn != NULL)
        sweep_turn(c, now_us);
}

/* ---- opening ---- */

void http_conn_open(http_server *s, int fd)
{
    http_conn *c = calloc(1, sizeof *c);
    if (c == NULL) {
        close(fd);
        return;
    }
    c->server = s;
    c->since_us = clock_mono_us();
    c->next = s->conns;
    if (s->conns != NULL)
        s->conns->prev = c;
    s->conns = c;
    s->conn_count++;
    metrics_add(s->connections, 1);
    buf_init(&c->held, NULL, HELD_MAX);
    (void)uv_tcp_init(loop_uv(), &c->tcp); /* without a socket to make, nothing can fail */
    c->tcp.data = c;
    if (uv_tcp_open(&c->tcp, fd) != 0) {
        close(fd);
        http_conn_close(c);
        return;
    }
    (void)uv_tcp_nodelay(&c->tcp, 1); /* without it answers may be slower, never wrong */
    start_reading(c);
}
