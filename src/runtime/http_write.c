/* http_write.c -- answers: the head composed by hand, one write for head and body, streams in chunks.
 *
 * Runs on the stacks of tasks as well as on the loop's. So nothing here ends a turn or closes a connection: a
 * write that fails sets `broken`, and whoever is on the loop next sees to it. Memory is the heap's, not the
 * arena's, because a task's stack may be left at any allocation from its arena.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "runtime/http_conn.h"

enum {
    LINE_EXTRA = 4, /* ": " and CRLF */
    FIXED_LINES_BYTES =
        256, /* status line, Date, Content-Length or Transfer-Encoding, Connection, Retry-After */
    CHUNK_FRAME_BYTES = 32,
};

/* ---- status codes ---- */

const char *http_reason(int status)
{
    static const struct {
        int         status;
        const char *reason;
    } table[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {203, "Non-Authoritative Information"},
        {204, "No Content"},
        {205, "Reset Content"},
        {206, "Partial Content"},
        {207, "Multi-Status"},
        {300, "Multiple Choices"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {402, "Payment Required"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {418, "I'm a teapot"},
        {422, "Unprocessable Content"},
        {423, "Locked"},
        {424, "Failed Dependency"},
        {425, "Too Early"},
        {426, "Upgrade Required"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {451, "Unavailable For Legal Reasons"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].status == status)
            return table[i].reason;
    return "Status";
}

static bool has_body(const http_exchange *x)
{
    return x->status >= 200 && x->status != 204 && x->status != 304 && !x->head_only;
}

/* ---- sending ---- */

typedef struct {
    uv_write_t request;
    http_conn *conn;
    char       bytes[]; /* what was only borrowed */
} late_write;

static void on_written(uv_write_t *request, int status)
{
    late_write *late = request->data;
    http_conn  *c = late->conn;
    http_turn  *turn = c->turn;
    free(late);
    c->writes--;
    if (status < 0)
        c->broken = true;
    if (turn != NULL && turn->writer != NULL && (c->broken || c->tcp.write_queue_size <= HTTP_UNSENT_BYTES)) {
        wait *w = turn->writer;
        turn->writer = NULL;
        wait_done(w, c->broken ? RES_GONE : RES_OK);
    }
    http_conn_advance(c);
}

static void send_later(http_conn *c, str copied, str kept)
{
    late_write *late = malloc(sizeof *late + copied.len);
    if (late == NULL) {
        c->broken = true;
        return;
    }
    late->conn = c;
    late->request.data = late;
    if (copied.len > 0)
        memcpy(late->bytes, copied.at, copied.len);
    uv_buf_t bufs[2] = {{.base = late->bytes, .len = copied.len},
                        {.base = (char *)(uintptr_t)kept.at, .len = kept.len}}; /* libuv only reads it */
    if (c->writes++ == 0) {
        c->moved_us = clock_mono_us();
        c->unsent_seen = SIZE_MAX;
    }
    if (uv_write(&late->request, (uv_stream_t *)&c->tcp, bufs, kept.len > 0 ? 2 : 1, on_written) != 0) {
        c->writes--;
        c->broken = true;
        free(late);
    }
}

void http_conn_send(http_conn *c, str copied, str kept)
{
    if (c->closing || c->broken)
        return;
    size_t sent = 0;
    if (c->writes == 0) {
        uv_buf_t bufs[2] = {{.base = (char *)(uintptr_t)copied.at, .len = copied.len},
                            {.base = (char *)(uintptr_t)kept.at, .len = kept.len}};
        int      n = uv_try_write((uv_stream_t *)&c->tcp, bufs, kept.len > 0 ? 2 : 1);
        if (n < 0 && n != UV_EAGAIN) {
            c->broken = true;
            return;
        }
        sent = n > 0 ? (size_t)n : 0;
    }
    if (sent == copied.len + kept.len)
        return;
    size_t of_copied = sent < copied.len ? sent : copied.len;
    send_later(c, str_from(copied, of_copied), str_from(kept, sent - of_copied));
}

/* ---- composing ---- */

static str date_now(http_server *s)
{
    int64_t now_us = clock_wall_us(), now_s = now_us / 1000000;
    if (now_s != s->date_s || s->date[0] == '\0') {
        (void)http_date_format(now_us, s->date);
        s->date_s = now_s;
    }
    return (str){s->date, HTTP_DATE_SIZE - 1};
}

static bool is_ours(str name)
{
    switch (name.len) {
    case 4:
        return str_eq_nocase(name, STR("date"));
    case 10:
        return str_eq_nocase(name, STR("connection"));
    case 14:
        return str_eq_nocase(name, STR("content-length"));
    case 17:
        return str_eq_nocase(name, STR("transfer-encoding"));
    default:
        return false;
    }
}

static void add_status_line(buf *out, int status)
{
    char digits[4] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10),
                      ' '};
    (void)buf_add(out, STR("HTTP/1.1 ")); /* here and below: a failure sticks, and is looked at in the end */
    (void)buf_add(out, (str){digits, sizeof digits});
    (void)buf_add(out, str_of(http_reason(status)));
    (void)buf_add(out, STR("\r\n"));
}

/* What would break the line, or the framing that is ours to say, is left out: better a header too few than a
 * second answer smuggled in. */
static void add_headers(buf *out, const http_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const http_header *h = &headers[i];
        if (is_ours(h->name))
            continue;
        if (!http_header_name_ok(h->name) || !http_header_value_ok(h->value)) {
            log_error("an answer's header '%.*s' cannot be sent, and was left out", STR_ARG(h->name));
            continue;
        }
        (void)buf_add(out, h->name);
        (void)buf_add(out, STR(": "));
        (void)buf_add(out, h->value);
        (void)buf_add(out, STR("\r\n"));
    }
}

/* Whether the connection can be used again after this answer, as far as is known when its head leaves. */
static void decide_close(http_turn *turn)
{
    const http_conn   *c = turn->x.conn;
    const http_parser *p = &turn->parser;
    bool               rest_is_short =
        p->head_done && !p->chunked && !p->expects_continue && p->content_length <= HTTP_DISCARD_BYTES;
    if (!p->done && !rest_is_short)
        turn->x.close_after = true;
    if (c->server->draining && !http_conn_has_more(c))
        turn->x.close_after = true;
}

static void add_closing_lines(http_turn *turn, buf *out)
{
    (void)buf_add(out, STR("Date: "));
    (void)buf_add(out, date_now(turn->x.conn->server));
    if (turn->x.close_after)
        (void)buf_add(out, STR("\r\nConnection: close\r\n\r\n"));
    else if (turn->parser.http10)
        (void)buf_add(out, STR("\r\nConnection: keep-alive\r\n\r\n"));
    else
        (void)buf_add(out, STR("\r\n\r\n"));
}

/* Status line and the app's headers; `framing` is the line that says how the body ends. */
static str compose_head(http_turn *turn, const http_header *headers, size_t count, str framing,
                        const uint64_t *length)
{
    buf   *out = &turn->x.conn->server->scratch;
    size_t bytes = FIXED_LINES_BYTES;
    for (size_t i = 0; i < count; i++)
        bytes += headers[i].name.len + headers[i].value.len + LINE_EXTRA;

    buf_clear(out);
    if (buf_reserve(out, bytes) == NULL) /* once for all; the parts below then only copy */
        return (str){NULL, 0};
    add_status_line(out, turn->x.status);
    add_headers(out, headers, count);
    if (turn->x.status == 503 && http_header_get(headers, count, STR("retry-after")).at == NULL)
        (void)buf_add(out, STR("Retry-After: 1\r\n"));
    (void)buf_add(out, framing);
    if (length != NULL) {
        (void)buf_add_u64(out, *length);
        (void)buf_add(out, STR("\r\n"));
    }
    add_closing_lines(turn, out);
    return out->failed ? (str){NULL, 0} : buf_str(out);
}

/* False: nobody is there to read it. */
static bool begin_answer(http_exchange *x, int status)
{
    assert(x->status == 0 && !x->ended); /* an exchange is answered once */
    assert(status >= 200 && status <= 599);
    if (x->conn->closing || x->conn->broken)
        return false;
    x->status = status;
    decide_close(http_turn_of(x));
    return true;
}

/* ---- whole answers ---- */

void http_respond(http_exchange *x, int status, const http_header *headers, size_t header_count, str body)
{
    if (begin_answer(x, status)) {
        bool     measured = status != 204 && status != 304;
        uint64_t length = body.len;
        str      head = compose_head(http_turn_of(x), headers, header_count,
                                measured ? STR("Content-Length: ") : STR(""), measured ? &length : NULL);
        if (head.len == 0)
            x->conn->broken = true;
        str sent = has_body(x) ? body : STR("");
        x->sent_bytes = sent.len;
        http_conn_send(x->conn, head, sent);
    }
    x->ended = true;
}

/* ---- streams ---- */

void http_stream_begin(http_exchange *x, int status, const http_header *headers, size_t header_count)
{
    http_turn *turn = http_turn_of(x);
    bool       bare = status == 204 || status == 304;
    x->streaming = true;
    if (turn->parser.http10 && !bare)
        x->close_after = true; /* the only way to say where the body ends */
    if (!begin_answer(x, status))
        return;
    str framing = bare || turn->parser.http10 ? STR("") : STR("Transfer-Encoding: chunked\r\n");
    str head = compose_head(turn, headers, header_count, framing, NULL);
    if (head.len == 0)
        x->conn->broken = true;
    http_conn_send(x->conn, head, STR(""));
}

/* size CRLF data CRLF, in the scratch buffer: the piece need not outlive this call. */
static str compose_chunk(http_server *s, str piece)
{
    static const char digits[] = "0123456789abcdef";
    char              size[16];
    size_t            from = sizeof size;
    for (size_t n = piece.len; n > 0; n >>= 4)
        size[--from] = digits[n & 15];

    buf_clear(&s->scratch);
    if (buf_reserve(&s->scratch, piece.len + CHUNK_FRAME_BYTES) == NULL)
        return (str){NULL, 0};
    (void)buf_add(&s->scratch, (str){size + from, sizeof size - from});
    (void)buf_add(&s->scratch, STR("\r\n"));
    (void)buf_add(&s->scratch, piece);
    (void)buf_add(&s->scratch, STR("\r\n"));
    return buf_str(&s->scratch);
}

static void stop_writer(wait *w)
{
    http_turn *turn = w->ctx;
    turn->writer = NULL;
    wait_done(w, RES_GONE);
}

static res wait_for_room(task *t, http_turn *turn)
{
    http_conn *c = turn->x.conn;
    if (c->broken || c->closing)
        return RES_GONE;
    if (c->tcp.write_queue_size <= HTTP_UNSENT_BYTES)
        return RES_OK;
    assert(turn->writer == NULL); /* pieces of a stream have an order: one task writes them */
    wait w = WAIT_INIT("http write");
    w.ctx = turn;
    turn->writer = &w;
    return wait_for(t, &w, stop_writer);
}

res http_stream_write(task *t, http_exchange *x, str piece)
{
    http_turn *turn = http_turn_of(x);
    http_conn *c = x->conn;
    assert(x->streaming && !x->ended);
    while (piece.len > 0) {
        res r = task_stopped(t);
        if (r != RES_OK)
            return r;
        str part = str_slice(piece, 0, HTTP_UNSENT_BYTES);
        if (has_body(x)) {
            str bytes = turn->parser.http10 ? part : compose_chunk(c->server, part);
            if (bytes.len == 0)
                c->broken = true;
            http_conn_send(c, bytes, STR(""));
            x->sent_bytes += part.len;
        }
        r = wait_for_room(t, turn);
        if (r != RES_OK)
            return r;
        piece = str_from(piece, part.len);
    }
    return RES_OK;
}

void http_stream_end(http_exchange *x)
{
    assert(x->streaming && !x->ended);
    if (has_body(x) && !http_turn_of(x)->parser.http10)
        http_conn_send(x->conn, STR("0\r\n\r\n"), STR(""));
    x->ended = true;
}
