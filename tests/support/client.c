/* client.c -- see client.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/client.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "support/process.h"
#include "support/scratch.h"

enum { RECEIVE = 64 * KIB, RECEIVED_MAX = 512 * MIB };

struct client {
    int    fd;
    buf    in;
    size_t taken; /* of in: answers were made of these */
    bool   ended; /* the peer closed or reset */
};

/* ---- connecting and sending ---- */

client *client_try(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        int why = errno;
        (void)close(fd);
        ck_assert_msg(why == ECONNREFUSED || why == ECONNRESET, "connect: %s", strerror(why));
        return NULL;
    }
    struct timeval limit = {.tv_sec = CLIENT_LIMIT_MS / 1000};
    int            on = 1;
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
    ck_assert_int_eq(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);

    client *c = arena_one(scratch(), client);
    c->fd = fd;
    buf_init(&c->in, scratch(), RECEIVED_MAX);
    return c;
}

client *client_open(int port)
{
    client *c = client_try(port);
    ck_assert_msg(c != NULL, "port %d refuses connections", port);
    return c;
}

void client_close(client *c)
{
    if (c != NULL && c->fd >= 0)
        (void)close(c->fd);
    if (c != NULL)
        c->fd = -1;
}

void client_reset(client *c)
{
    struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client_close(c);
}

void client_end(client *c)
{
    (void)shutdown(c->fd, SHUT_WR);
}

bool client_send(client *c, str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = send(c->fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ck_assert_msg(errno == EPIPE || errno == ECONNRESET, "send: %s", strerror(errno));
            return false;
        }
        bytes = str_from(bytes, (size_t)n);
    }
    return true;
}

bool client_sendf(client *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str text = arena_vstrf(scratch(), fmt, args);
    va_end(args);
    return client_send(c, text);
}

void client_send_slowly(client *c, str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        ck_assert(client_send(c, str_slice(bytes, i, i + 1)));
}

/* ---- receiving ---- */

static str unread(const client *c)
{
    return str_from(buf_str(&c->in), c->taken);
}

size_t client_unread(const client *c)
{
    return unread(c).len;
}

/* Reads once; false when the time is over. The end of the connection sets `ended`. */
static bool receive(client *c, int limit_ms)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int           n;
    do
        n = poll(&p, 1, limit_ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return false;

    char *room = buf_reserve(&c->in, RECEIVE);
    ck_assert_ptr_nonnull(room);
    ssize_t got = recv(c->fd, room, RECEIVE, 0);
    if (got > 0)
        c->in.len += (size_t)got;
    else
        c->ended = true;
    return true;
}

static void receive_more(client *c, const char *what)
{
    if (!receive(c, CLIENT_LIMIT_MS))
        ck_abort_msg("%s did not come within %d ms; so far: '%.*s'", what, CLIENT_LIMIT_MS,
                     STR_ARG(str_slice(unread(c), 0, 400)));
}

str client_peek(client *c, size_t at_least)
{
    while (unread(c).len < at_least && !c->ended)
        receive_more(c, "more of an answer");
    return unread(c);
}

bool client_gets(client *c, str text)
{
    while (!str_has(unread(c), text) && !c->ended)
        receive_more(c, text.at);
    return str_has(unread(c), text);
}

bool client_closed(client *c)
{
    while (!c->ended && unread(c).len == 0)
        if (!receive(c, CLIENT_LIMIT_MS))
            return false;
    return unread(c).len == 0;
}

bool client_silent(client *c, int ms)
{
    return unread(c).len == 0 && !c->ended && !receive(c, ms);
}

/* ---- reading answers ---- */

str answer_header(const answer *a, const char *name)
{
    for (size_t i = 0; i < a->field_count; i++)
        if (str_eq_nocase(a->fields[i].name, str_of(name)))
            return a->fields[i].value;
    return (str){0};
}

size_t answer_count(const answer *a, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < a->field_count; i++)
        n += str_eq_nocase(a->fields[i].name, str_of(name)) ? 1 : 0;
    return n;
}

bool answer_closes(const answer *a)
{
    return str_eq_nocase(answer_header(a, "connection"), STR("close"));
}

/* Strict, for the answer must be: one line a field, a colon right behind the name. */
static void read_head(answer *ret, str head)
{
    *ret = (answer){.head = arena_copy(scratch(), head)};
    str    rest = ret->head;
    size_t end = str_find(rest, STR("\r\n"));
    str    line = str_slice(rest, 0, end);
    ck_assert_msg(str_starts(line, STR("HTTP/1.1 ")) && line.len >= 13, "status line '%.*s'", STR_ARG(line));
    uint64_t status = 0;
    ck_assert_msg(str_to_u64(str_slice(line, 9, 12), &status), "status line '%.*s'", STR_ARG(line));
    ret->status = (int)status;
    ck_assert_msg(ret->status >= 100 && ret->status <= 599 && line.at[12] == ' ', "status line '%.*s'",
                  STR_ARG(line));
    for (rest = str_from(rest, end + 2); !str_eq(rest, STR("\r\n")); rest = str_from(rest, end + 2)) {
        end = str_find(rest, STR("\r\n"));
        line = str_slice(rest, 0, end);
        size_t colon = str_find_char(line, ':');
        ck_assert_msg(colon > 0 && colon < line.len, "header line '%.*s'", STR_ARG(line));
        ck_assert_uint_lt(ret->field_count, ANSWER_HEADERS_MAX);
        ret->fields[ret->field_count++] =
            (answer_field){str_slice(line, 0, colon), str_trim(str_from(line, colon + 1))};
    }
    ret->sized = answer_header(ret, "content-length").at != NULL;
    ret->chunked = str_eq_nocase(answer_header(ret, "transfer-encoding"), STR("chunked"));
}

/* Waits for the end of a line at `from` of the unread bytes; false: the peer closed before. */
static bool find_line(client *c, size_t from, size_t *ret_end)
{
    for (;;) {
        str    rest = str_from(unread(c), from);
        size_t at = str_find(rest, STR("\r\n"));
        if (at < rest.len) {
            *ret_end = from + at;
            return true;
        }
        if (c->ended)
            return false;
        receive_more(c, "the end of a line");
    }
}

static bool read_chunks(client *c, answer *a, size_t at)
{
    buf body;
    buf_init(&body, scratch(), RECEIVED_MAX);
    for (;;) {
        size_t end;
        if (!find_line(c, at, &end))
            return false;
        unsigned long size = strtoul(arena_cstr(scratch(), str_slice(unread(c), at, end)), NULL, 16);
        at = end + 2;
        if (client_peek(c, at + size + 2).len < at + size + 2)
            return false;
        (void)buf_add(&body, str_slice(unread(c), at, at + size));
        ck_assert(str_eq(str_slice(unread(c), at + size, at + size + 2), STR("\r\n")));
        at += size + 2;
        if (size == 0)
            break;
    }
    ck_assert(!body.failed);
    a->body = buf_str(&body);
    c->taken += at;
    return true;
}

static bool read_sized(client *c, answer *a, size_t at)
{
    uint64_t size = 0;
    ck_assert(str_to_u64(answer_header(a, "content-length"), &size));
    if (client_peek(c, at + size).len < at + size)
        return false;
    a->body = arena_copy(scratch(), str_slice(unread(c), at, at + size));
    c->taken += at + size;
    return true;
}

static bool read_answer(client *c, bool to_head, answer *ret)
{
    size_t at;
    while ((at = str_find(unread(c), STR("\r\n\r\n"))) == unread(c).len) {
        if (c->ended)
            return false;
        receive_more(c, "the head of an answer");
    }
    at += 4;
    read_head(ret, str_slice(unread(c), 0, at));
    ck_assert_msg(!(ret->sized && ret->chunked), "two framings: %.*s", STR_ARG(ret->head));
    if (to_head || ret->status < 200 || ret->status == 204 || ret->status == 304) {
        c->taken += at;
        return true;
    }
    ck_assert_msg(ret->sized || ret->chunked, "no framing: %.*s", STR_ARG(ret->head));
    return ret->chunked ? read_chunks(c, ret, at) : read_sized(c, ret, at);
}

bool client_answers(client *c, answer *ret)
{
    return read_answer(c, false, ret);
}

answer client_answer(client *c)
{
    answer ret;
    if (!read_answer(c, false, &ret))
        ck_abort_msg("the connection ended within an answer, at: '%.*s'",
                     STR_ARG(str_slice(unread(c), 0, 400)));
    return ret;
}

answer client_answer_to_head(client *c)
{
    answer ret;
    ck_assert(read_answer(c, true, &ret));
    return ret;
}

/* ---- whole calls ---- */

answer client_call(int port, const char *method, const char *target, const char *head, str body)
{
    client *c = client_open(port);
    ck_assert(client_sendf(c, "%s %s HTTP/1.1\r\nHost: app.example\r\n%s", method, target, head));
    if (body.at != NULL)
        ck_assert(client_sendf(c, "Content-Length: %zu\r\n", body.len));
    ck_assert(client_send(c, STR("\r\n")));
    (void)client_send(c, body); /* a refusal may come before all of it was read */
    answer ret = client_answer(c);
    client_close(c);
    return ret;
}

answer client_get(int port, const char *target)
{
    return client_call(port, "GET", target, "", (str){0});
}
