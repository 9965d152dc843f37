/* http_cases_strict.c -- what the server refuses, and how: one row, one connection.
 *
 * A row that closes must end the connection behind its answer; any other must leave it usable, which is tried
 * with a second request.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "unit/runtime/http_rig.h"

#define GET  "GET /hello HTTP/1.1\r\nHost: a\r\n"
#define POST "POST /echo HTTP/1.1\r\nHost: a\r\n"
#define TE   POST "Transfer-Encoding: chunked\r\n\r\n"

typedef struct {
    str  request;
    int  status;
    bool closes;
    str  body; /* NULL pointer: any */
} row;

static const row rows[] = {
    /* fine */
    {STR_INIT(GET "\r\n"), 200, false, STR_INIT("hello")},
    {STR_INIT("\r\n" GET "\r\n"), 200, false, STR_INIT("hello")},
    {STR_INIT("GET /query?a=1%2C2 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), 200, false, STR_INIT("a=1%2C2")},
    {STR_INIT("GET /headers HTTP/1.1\r\nHost:\r\nX:  a b \t \r\n\r\n"), 200, false, STR_INIT("Host=;X=a b;")},
    {STR_INIT(POST "Content-Length: 5\r\n\r\nhello"), 200, false, STR_INIT("hello")},
    {STR_INIT(POST "content-length: 05\r\n\r\nhello"), 200, false, STR_INIT("hello")},
    {STR_INIT(POST "Content-Length: 0\r\n\r\n"), 200, false, STR_INIT("")},
    /* HOST-36: chunked, with extensions and trailers, which do not become headers */
    {STR_INIT(TE "5\r\nhello\r\n0\r\n\r\n"), 200, false, STR_INIT("hello")},
    {STR_INIT(TE "1;a=b;c=\"d\"\r\nh\r\n004\r\nello\r\n0;x\r\nX-Trailer: y\r\n\r\n"), 200, false,
     STR_INIT("hello")},
    {STR_INIT(GET "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), 200, false, STR_INIT("hello")},
    {STR_INIT(POST "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"), 200, false,
     STR_INIT("hi")},
    {STR_INIT("PATCH /hello HTTP/1.1\r\nHost: a\r\n\r\n"), 200, false, STR_INIT("hello")},
    /* keep-alive */
    {STR_INIT(GET "Connection: close\r\n\r\n"), 200, true, STR_INIT("hello")},
    {STR_INIT(GET "Connection: foo, Close\r\n\r\n"), 200, true, STR_INIT("hello")},
    {STR_INIT("GET /hello HTTP/1.0\r\n\r\n"), 200, true, STR_INIT("hello")},
    {STR_INIT("GET /hello HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), 200, false, STR_INIT("hello")},
    {STR_INIT("GET /stream HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), 200, true, STR_INIT("one,two")},
    /* HOST-51: line ends, folding, bytes that no header has */
    {STR_INIT("GET /hello HTTP/1.1\nHost: a\n\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\nHost: a\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\nHost: a\r\n\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\r\n b\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\r\n\tb\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\n Host: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\0b\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\rb\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\x01\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X: a\x7f\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X\0: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X : a\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET ": a\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "X\r\n\r\n"), 400, true, {0}},
    {STR_INIT("\r\n\r\n\r\n\r\n\r\n" GET "\r\n"), 400, true, {0}},
    /* HOST-51: lengths */
    {STR_INIT(POST "Content-Length: -1\r\n\r\n"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: +1\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 0x1\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 18446744073709551616\r\n\r\n"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 1\r\nContent-Length: 2\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 1, 1\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length: 1 1\r\n\r\na"), 400, true, {0}},
    {STR_INIT(POST "Content-Length:\r\n\r\n"), 400, true, {0}},
    /* HOST-36, HOST-37: transfer codings */
    {STR_INIT(POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     400,
     true,
     {0}},
    {STR_INIT(POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: identity\r\n\r\n"), 501, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 501, true, {0}},
    {STR_INIT(POST "Transfer-Encoding:\r\n\r\n"), 501, true, {0}},
    {STR_INIT(POST "Transfer-Encoding: chunked, gzip\r\n\r\n"), 400, true, {0}},
    {STR_INIT("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "-5\r\nhello\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "0x5\r\nhello\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "5 \r\nhello\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "5\nhello\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "5\r\nhelloX\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "5\r\nhello\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "11111111111111111\r\n"), 400, true, {0}},
    {STR_INIT(TE "5;a=\nb\r\nhello\r\n0\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "0\r\nContent-Length: 7\r\n\r\n"), 400, true, {0}},
    {STR_INIT(TE "0\r\nX: y\n\r\n"), 400, true, {0}},
    /* Host */
    {STR_INIT("GET /hello HTTP/1.1\r\n\r\n"), 400, true, {0}},
    {STR_INIT(GET "Host: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\nHost: a@b\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n"), 400, true, {0}},
    /* targets, methods, versions */
    {STR_INIT("GET http://a/hello HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello#x HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /h\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET  /hello HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello  HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/1.1 \r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello x HTTP/1.1\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello\r\n"), 400, true, {0}},
    {STR_INIT("GET /hello HTTP/0.9\r\nHost: a\r\n\r\n"), 505, true, {0}},
    {STR_INIT("GET /hello HTTP/2.0\r\nHost: a\r\n\r\n"), 505, true, {0}},
    {STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505, true, {0}},
    {STR_INIT("GET /hello HTTP/1.2\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("OPTIONS /hello RTSP/1.0\r\nHost: a\r\n\r\n"), 400, true, {0}},
    {STR_INIT("FOO /hello HTTP/1.1\r\nHost: a\r\n\r\n"), 501, true, {0}},
    {STR_INIT("get /hello HTTP/1.1\r\nHost: a\r\n\r\n"), 501, true, {0}},
    {STR_INIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 400, true, {0}},
    /* refusals of other kinds */
    {STR_INIT(GET "Expect: 200-ok\r\n\r\n"), 417, true, {0}},
    {STR_INIT("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), 413, true, {0}},
    {STR_INIT("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n"), 413, true, {0}},
    {STR_INIT("POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n"),
     413,
     true,
     {0}},
    {STR_INIT(
         "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabcde"),
     413,
     true,
     {0}},
    {STR_INIT("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhell"), 200, false,
     STR_INIT("hell")},
    /* begin answers before the body: a short one is skipped, for others the connection is closed */
    {STR_INIT("POST /nosuch HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), 404, false, {0}},
    {STR_INIT("POST /nosuch HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nhello"), 404, true, {0}},
    {STR_INIT("POST /nosuch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     404,
     true,
     {0}},
    {STR_INIT("POST /nosuch HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"),
     404,
     true,
     {0}},
    {STR_INIT("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"), 500, false, {0}},
    {STR_INIT("GET /greedy HTTP/1.1\r\nHost: a\r\n\r\n"), 503, false, {0}},
};

static const row *current;
static size_t     piece;

static void speak_row(rig *r)
{
    peer p = dial(r);
    for (size_t at = 0; at < current->request.len; at += piece)
        say(&p, str_slice(current->request, at, at + piece));
    WANT(r, hear(&p, false) && p.status == current->status, "%d, not %d", p.status, current->status);
    WANT(r, current->body.at == NULL || str_eq(p.body, current->body), "'%.*s'", STR_ARG(p.body));
    bool says_close = str_eq(heard_header(&p, STR("connection")), STR("close"));
    WANT(r, says_close == current->closes, "'%.*s'", STR_ARG(p.head));
    if (current->closes) {
        WANT(r, is_closed(&p));
    } else {
        say(&p, STR(GET "\r\n"));
        WANT(r, hear(&p, false) && p.status == 200 && str_eq(p.body, STR("hello")), "second: %d", p.status);
    }
    hang_up(&p);
}

START_TEST(a_request_is_answered_as_its_row_says)
{
    rig r;
    current = &rows[_i];
    piece = SIZE_MAX / 2;
    rig_init(&r);
    rig_serve(&r, speak_row);
}
END_TEST

/* HOST-9 on the wire: where the bytes were cut makes no difference. */
START_TEST(a_request_sent_byte_by_byte_gets_the_same_answer)
{
    rig r;
    current = &rows[_i];
    piece = 1;
    rig_init(&r);
    rig_serve(&r, speak_row);
}
END_TEST

/* ---- sizes ---- */

/* HOST-50: `prefix`, then n times 'a', then `suffix`. */
static int ask_long(rig *r, const char *prefix, size_t n, const char *suffix)
{
    buf text;
    buf_init(&text, NULL, (size_t)2 * MIB);
    buf_add(&text, str_of(prefix));
    char *middle = buf_reserve(&text, n);
    if (middle != NULL)
        memset(middle, 'a', n);
    text.len += n;
    buf_add(&text, str_of(suffix));
    int status = text.failed ? -1 : ask(r, buf_str(&text));
    buf_free(&text);
    return status;
}

static void speak_long(rig *r)
{
    int status = ask_long(r, GET "X: ", (size_t)64 * KIB, "\r\n\r\n");
    WANT(r, status == 200, "64 KiB of fields: %d", status);
    status = ask_long(r, GET "X: ", (size_t)1 * MIB, "\r\n\r\n");
    WANT(r, status == 431, "1 MiB of fields: %d", status);
    status = ask_long(r, "GET /hello?", (size_t)16 * KIB - 7, " HTTP/1.1\r\nHost: a\r\n\r\n");
    WANT(r, status == 200, "target of 16 KiB: %d", status);
    status = ask_long(r, "GET /hello?", (size_t)16 * KIB - 6, " HTTP/1.1\r\nHost: a\r\n\r\n");
    WANT(r, status == 414, "target of one byte more: %d", status);
    status = ask_long(r, "GET /hello?", (size_t)1 * MIB, " HTTP/1.1\r\nHost: a\r\n\r\n");
    WANT(r, status == 414, "target of 1 MiB: %d", status);
    status = ask_long(r, TE "1;", 8000, "\r\nx\r\n0\r\n\r\n");
    WANT(r, status == 200, "extension of 8,000 bytes: %d", status);
    status = ask_long(r, TE "1;", 9000, "\r\nx\r\n0\r\n\r\n");
    WANT(r, status == 400, "extension of 9,000 bytes: %d", status);
    status = ask_long(r, TE "0\r\nX: ", 9000, "\r\n\r\n");
    WANT(r, status == 400, "trailer of 9,000 bytes: %d", status);
}

START_TEST(sizes_up_to_their_limits_are_accepted_and_beyond_refused)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_long);
}
END_TEST

static void speak_many_fields(rig *r)
{
    buf request;
    buf_init(&request, NULL, (size_t)64 * KIB);
    buf_add(&request, STR(GET));
    for (int i = 0; i < 255; i++)
        buf_add(&request, STR("X: y\r\n"));
    size_t len = request.len;
    buf_add(&request, STR("\r\n"));
    WANT(r, ask(r, buf_str(&request)) == 200);
    request.len = len;
    buf_add(&request, STR("X: y\r\n\r\n"));
    WANT(r, ask(r, buf_str(&request)) == 431);
    buf_free(&request);
}

START_TEST(the_257th_header_field_is_refused)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_many_fields);
}
END_TEST

TCase *http_cases_strict(void)
{
    TCase *t = tcase_create("strict");
    int    count = sizeof rows / sizeof *rows;
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, a_request_is_answered_as_its_row_says, 0, count);
    tcase_add_loop_test(t, a_request_sent_byte_by_byte_gets_the_same_answer, 0, count);
    tcase_add_test(t, sizes_up_to_their_limits_are_accepted_and_beyond_refused);
    tcase_add_test(t, the_257th_header_field_is_refused);
    return t;
}
