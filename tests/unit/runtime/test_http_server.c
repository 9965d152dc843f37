/* test_http_server.c -- answers, streams, bodies and the order of requests, over real sockets.
 *
 * What is refused is in http_cases_strict.c; time-outs, limits, draining and faults are in http_cases_life.c.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "unit/runtime/http_rig.h"
#include "unit/suites.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static bool is_whole_answer(const peer *p, int status, str body)
{
    return p->status == status && str_eq(p->body, body);
}

/* ---- answers ---- */

static void speak_hello(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/hello")));
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("hello")), "%d", p.status);
    WANT(r, str_starts(p.head, STR("HTTP/1.1 200 OK\r\n")), "%.*s", STR_ARG(p.head));
    WANT(r, str_eq(heard_header(&p, STR("Content-Type")), STR("text/plain")));
    WANT(r, str_eq(heard_header(&p, STR("Date")), STR("Fri, 02 Jan 2026 03:04:05 GMT")));
    WANT(r, heard_header(&p, STR("Connection")).at == NULL);
    WANT(r, p.has_length && !p.chunked);
    hang_up(&p);
}

/* HOST-28: exactly one of Content-Length and Transfer-Encoding. */
START_TEST(an_answer_has_length_date_and_the_apps_headers)
{
    rig r;
    rig_init(&r);
    clock_set_for_test(1767323045000000, 1000000);
    rig_serve(&r, speak_hello);
    ck_assert_int_eq(r.last_status, 200);
}
END_TEST

static void speak_status(rig *r)
{
    static const int statuses[] = {200, 201, 302, 400, 404, 418, 500, 599};
    peer             p = dial(r);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char text[64];
        int  len = snprintf(text, sizeof text, "GET /status?%d HTTP/1.1\r\nHost: a\r\n\r\n", statuses[i]);
        say(&p, (str){text, (size_t)len});
        WANT(r, hear(&p, false) && is_whole_answer(&p, statuses[i], STR("body")), "%d", statuses[i]);
        WANT(r, str_has(p.head, STR("Set-Cookie: a=1\r\n")) && str_has(p.head, STR("Set-Cookie: b=2\r\n")));
        WANT(r, str_eq(heard_header(&p, STR("Location")), STR("/elsewhere")));
        WANT(r, !str_has(p.head, STR("njected")), "%.*s", STR_ARG(p.head));
    }
    hang_up(&p);
}

/* HOST-38, and of HOST-26 that a 400 of a handler leaves the connection usable. */
START_TEST(statuses_and_headers_of_the_app_pass_as_they_are)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_status);
}
END_TEST

static void speak_bodiless(rig *r)
{
    static const char *const requests[] = {GET("/status?204"), GET("/status?304"),
                                           "HEAD /status?200 HTTP/1.1\r\nHost: a\r\n\r\n",
                                           "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n"};
    peer                     p = dial(r);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        say(&p, str_of(requests[i]));
        WANT(r, hear(&p, true) && p.status != 0, "%s", requests[i]);
        str length = heard_header(&p, STR("Content-Length"));
        WANT(r, i == 2 ? str_eq(length, STR("4")) : length.at == NULL, "%.*s", STR_ARG(p.head));
        say(&p, STR(GET("/hello")));
        WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("hello")), "after %s", requests[i]);
    }
    hang_up(&p);
}

/* HOST-39, HOST-40 */
START_TEST(head_and_204_and_304_carry_no_body_and_the_next_request_parses)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_bodiless);
}
END_TEST

static void speak_large(rig *r)
{
    peer p = dial(r);
    for (int i = 0; i < 3; i++)
        say(&p, STR(GET("/large"))); /* more than the socket takes at once */
    for (int i = 0; i < 3; i++) {
        WANT(r, hear(&p, false) && p.status == 200 && p.body.len == (size_t)200 * KIB, "%zu", p.body.len);
        WANT(r, p.body.len > 0 && p.body.at[0] == 'L' && p.body.at[p.body.len - 1] == 'L');
    }
    hang_up(&p);
}

START_TEST(an_answer_larger_than_the_socket_takes_arrives_whole)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_large);
}
END_TEST

START_TEST(every_status_has_a_reason)
{
    ck_assert_str_eq(http_reason(404), "Not Found");
    ck_assert_str_eq(http_reason(503), "Service Unavailable");
    for (int status = 100; status < 600; status++)
        ck_assert_uint_gt(strlen(http_reason(status)), 0);
}
END_TEST

/* ---- streams ---- */

static void speak_stream(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/stream") GET("/hello")));
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("one,two")), "'%.*s'", STR_ARG(p.body));
    WANT(r, p.chunked && !p.has_length);
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("hello")));
    hang_up(&p);
}

START_TEST(a_stream_is_chunked_and_the_next_request_follows_it)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_stream);
}
END_TEST

static void speak_half(rig *r)
{
    static const char piece[] = "\r\n\r\n4\r\nhalf\r\n";
    char              got[1024];
    size_t            len = 0;
    peer              p = dial(r);
    say(&p, STR(GET("/half")));
    /* HOST-45: the piece is here while the handler still waits. */
    while (len < sizeof got && memmem(got, len, piece, sizeof piece - 1) == NULL) {
        ssize_t n = recv(p.fd, got + len, sizeof got - len, 0);
        WANT(r, n > 0);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    rig_until(r, rig_gate_is_reached);
    rig_do(r, rig_open_gate);
    ssize_t n = recv(p.fd, got, sizeof got, 0);
    WANT(r, n < 0, "a broken stream ended in order, or went on: %zd", n);
    hang_up(&p);
}

START_TEST(pieces_are_flushed_and_a_stream_without_its_end_is_a_reset)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_half);
    ck_assert_int_eq(r.ended_with, RES_OK);
}
END_TEST

static void flood_waits(rig *r)
{
    http_conn *c = r->server->conns;
    r->is_true = c != NULL && c->turn != NULL && c->turn->writer != NULL;
    WANT(r, c == NULL || c->tcp.write_queue_size < (size_t)3 * HTTP_UNSENT_BYTES, "%zu",
         c->tcp.write_queue_size);
}

static void speak_flood(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/flood")));
    rig_until(r, flood_waits);
    size_t  all = 0;
    ssize_t n;
    while (all < (size_t)8 * MIB && (n = recv(p.fd, p.bytes, ANSWER_BYTES_MAX, 0)) > 0)
        all += (size_t)n;
    WANT(r, all >= (size_t)8 * MIB, "%zu", all);
    hang_up(&p);
}

/* HOST-46 */
START_TEST(a_stream_waits_for_a_slow_peer_and_ends_when_it_leaves)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_flood);
    ck_assert_int_eq(r.ended_with, RES_GONE);
}
END_TEST

/* ---- bodies ---- */

static void speak_bytes(rig *r)
{
    char body[256];
    for (int i = 0; i < 256; i++)
        body[i] = (char)i;
    peer p = dial(r);
    say(&p, STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 256\r\n\r\n"));
    say(&p, (str){body, 100});
    say(&p, (str){body + 100, 156});
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, (str){body, 256}));
    hang_up(&p);
}

START_TEST(all_256_bytes_pass_unchanged)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_bytes);
}
END_TEST

enum { HUGE_CHUNK = 1000 * 1000, HUGE_CHUNKS = 140 };

static void speak_huge(rig *r)
{
    char *chunk = malloc(HUGE_CHUNK);
    memset(chunk, 1, HUGE_CHUNK);
    peer p = dial(r);
    say(&p, STR("POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (int i = 0; i < HUGE_CHUNKS; i++) {
        say(&p, STR("f4240\r\n"));
        say(&p, (str){chunk, HUGE_CHUNK});
        say(&p, STR("\r\n"));
    }
    say(&p, STR("0\r\n\r\n"));
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("140000000 34180")), "%d '%.*s'", p.status,
         STR_ARG(p.body));
    free(chunk);
    hang_up(&p);
}

/* HOST-27 */
START_TEST(a_chunked_body_of_140_megabytes_is_accepted)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_huge);
}
END_TEST

static void speak_too_much(rig *r)
{
    char *bytes = calloc(1, (size_t)4 * MIB);
    peer  p = dial(r);
    say(&p, STR("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 4194304\r\n\r\n"));
    WANT(r, say(&p, (str){bytes, (size_t)4 * MIB})); /* all before it reads, as simple clients do */
    WANT(r, hear(&p, false) && p.status == 413, "%d", p.status);
    WANT(r, is_closed(&p));
    free(bytes);
    hang_up(&p);
}

START_TEST(a_client_that_sends_all_before_it_reads_sees_the_413)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_too_much);
    ck_assert_uint_eq(r.refused, 1);
}
END_TEST

static void speak_expect(rig *r)
{
    peer p = dial(r);
    say(&p, STR("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"));
    WANT(r, hear(&p, false) && p.status == 100, "%d", p.status);
    say(&p, STR("hi"));
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("hi")), "%d", p.status);
    /* With the body already here there is nothing to wait for. */
    say(&p, STR("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nho"));
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("ho")), "%d", p.status);
    /* The final answer at once when the body would be refused. */
    say(&p, STR("POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
    WANT(r, hear(&p, false) && p.status == 413, "%d", p.status);
    WANT(r, is_closed(&p));
    hang_up(&p);
}

/* HOST-35 */
START_TEST(a_body_that_is_expected_is_asked_for_and_one_too_large_is_not)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_expect);
}
END_TEST

/* ---- many requests ---- */

static void speak_thousand(rig *r)
{
    peer p = dial(r);
    int  right = 0;
    for (int i = 0; i < 1000; i++) {
        say(&p, STR(GET("/hello")));
        right += hear(&p, false) && is_whole_answer(&p, 200, STR("hello"));
    }
    WANT(r, right == 1000, "%d", right);
    hang_up(&p);
}

/* HOST-47, and the metrics of it. */
START_TEST(a_thousand_requests_in_a_row_are_answered_on_one_connection)
{
    rig     r;
    metric *ok = metrics_counter("trestle_http_requests_total", "status=\"2xx\"", "");
    metric *open = metrics_gauge("trestle_http_connections", "", "");
    int64_t before = metrics_value(ok);
    rig_init(&r);
    rig_serve(&r, speak_thousand);
    ck_assert_int_eq(metrics_value(ok) - before, 1000);
    ck_assert_int_eq(metrics_value(open), 0);
    ck_assert_uint_eq(r.served, 1000);
}
END_TEST

static void speak_parallel(rig *r)
{
    peer peers[200];
    int  right = 0;
    for (int i = 0; i < 200; i++)
        peers[i] = dial(r);
    for (int i = 0; i < 200; i++)
        say(&peers[i], STR(GET("/hello")));
    for (int i = 199; i >= 0; i--) {
        right += hear(&peers[i], false) && is_whole_answer(&peers[i], 200, STR("hello"));
        hang_up(&peers[i]);
    }
    WANT(r, right == 200, "%d", right);
}

/* HOST-47 */
START_TEST(two_hundred_connections_are_served_at_once)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_parallel);
}
END_TEST

enum { PIPELINED = 5000 };

static void speak_pipelined(rig *r)
{
    peer p = dial(r);
    buf  all;
    buf_init(&all, NULL, (size_t)1 * MIB);
    for (int i = 0; i < PIPELINED; i++) /* more than is held: reading has to stop and go on */
        buf_addf(&all, "GET /query?%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
    say(&p, buf_str(&all));
    int right = 0;
    for (int i = 0; i < PIPELINED; i++) {
        char want[16];
        int  len = snprintf(want, sizeof want, "%d", i);
        right += hear(&p, false) && is_whole_answer(&p, 200, (str){want, (size_t)len});
    }
    WANT(r, right == PIPELINED, "%d", right);
    buf_free(&all);
    hang_up(&p);
}

/* HOST-47 */
START_TEST(pipelined_requests_are_answered_in_order)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_pipelined);
}
END_TEST

static void held_is_bounded(rig *r)
{
    const http_conn *c = r->server->conns;
    r->is_true = c->read_stopped;
    WANT(r, c->held.len < HTTP_HELD_BYTES + HTTP_READ_BYTES, "%zu", c->held.len);
}

static void speak_behind_gate(rig *r)
{
    peer  p = dial(r);
    char *bytes = malloc((size_t)200 * KIB);
    memset(bytes, '\n', (size_t)200 * KIB);
    say(&p, STR(GET("/gate")));
    rig_until(r, rig_gate_is_reached);
    say(&p, (str){bytes, (size_t)200 * KIB});
    rig_until(r, held_is_bounded);
    rig_do(r, rig_open_gate);
    WANT(r, hear(&p, false) && is_whole_answer(&p, 200, STR("through")), "%d", p.status);
    WANT(r, hear(&p, false) && p.status == 400, "%d", p.status); /* so many empty lines are no request */
    free(bytes);
    hang_up(&p);
}

START_TEST(what_is_sent_behind_a_slow_request_is_held_up_to_a_bound)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_behind_gate);
}
END_TEST

Suite *suite_http_server(void)
{
    Suite *s = suite_create("http_server");
    TCase *t = tcase_create("http_server");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, an_answer_has_length_date_and_the_apps_headers);
    tcase_add_test(t, statuses_and_headers_of_the_app_pass_as_they_are);
    tcase_add_test(t, head_and_204_and_304_carry_no_body_and_the_next_request_parses);
    tcase_add_test(t, an_answer_larger_than_the_socket_takes_arrives_whole);
    tcase_add_test(t, every_status_has_a_reason);
    tcase_add_test(t, a_stream_is_chunked_and_the_next_request_follows_it);
    tcase_add_test(t, pieces_are_flushed_and_a_stream_without_its_end_is_a_reset);
    tcase_add_test(t, a_stream_waits_for_a_slow_peer_and_ends_when_it_leaves);
    tcase_add_test(t, all_256_bytes_pass_unchanged);
    tcase_add_test(t, a_chunked_body_of_140_megabytes_is_accepted);
    tcase_add_test(t, a_client_that_sends_all_before_it_reads_sees_the_413);
    tcase_add_test(t, a_body_that_is_expected_is_asked_for_and_one_too_large_is_not);
    tcase_add_test(t, a_thousand_requests_in_a_row_are_answered_on_one_connection);
    tcase_add_test(t, two_hundred_connections_are_served_at_once);
    tcase_add_test(t, pipelined_requests_are_answered_in_order);
    tcase_add_test(t, what_is_sent_behind_a_slow_request_is_held_up_to_a_bound);
    suite_add_tcase(s, t);
    suite_add_tcase(s, http_cases_strict());
    suite_add_tcase(s, http_cases_life());
    return s;
}
