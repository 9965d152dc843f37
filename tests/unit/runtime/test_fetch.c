/* test_fetch.c -- fetch against a scripted server: what is sent, what is understood, what is kept and
 * bounded.
 *
 * Faults, redirects, TLS and streams have files of their own beside this one (fetch_cases_*.c).
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"
#include "unit/runtime/fetch_rig.h"
#include "unit/suites.h"

#define GET(w, path) ((fetch_request){.method = STR("GET"), .url = str_of(wire_url((w), (path)))})

static wire *one_answer(const char *bytes)
{
    return wire_start(&(wire_answer){.bytes = bytes}, 1, NULL);
}

/* ---- what is sent ---- */

START_TEST(a_request_reaches_the_wire_as_it_was_given)
{
    wire       *w = one_answer(RIG_OK("", "0"));
    http_header headers[] = {
        {STR("X-Ms-Date"), STR("Thu, 01 Jan")}, {STR("Empty"), STR("")}, {STR("Blank"), STR(" ")}};
    fetch_request in = {.method = STR("MERGE"),
                        .url = str_of(wire_url(w, "/a/../b(x='1',y=%27)?q=a%20b&c=//#fragment")),
                        .headers = headers,
                        .header_count = 3,
                        .body = STR("{\"a\":1}")};
    ck_assert_int_eq(rig_fetch(in).result, RES_OK);

    wire_request q = wire_request_at(w, 0);
    char         want[512];
    (void)snprintf(
        want, sizeof want,
        "MERGE /a/../b(x='1',y=%%27)?q=a%%20b&c=// HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX-Ms-Date: Thu, 01 "
        "Jan\r\nEmpty:\r\nBlank:\r\nContent-Length: 7\r\n\r\n",
        wire_port(w));
    ck_assert_str_eq(q.head.at,
                     want); /* and nothing else: no Accept, Expect, Content-Type, Accept-Encoding */
    ck_assert_str_eq(q.body.at, "{\"a\":1}");
    wire_stop(w);
}
END_TEST

static const struct {
    const char *method, *body;
    const char *length; /* NULL: no Content-Length */
} bodies[] = {
    {"GET", "", NULL},   {"HEAD", "", NULL},   {"DELETE", "", NULL}, {"PUT", "", "0"},
    {"POST", "", "0"},   {"PATCH", "", "0"},   {"GET", "abc", "3"},  {"DELETE", "ab", "2"},
    {"PUT", "abc", "3"}, {"POST", "abc", "3"}, {"OPTIONS", "", "0"},
};

START_TEST(a_body_has_its_length_and_methods_without_one_have_none)
{
    wire *w = one_answer(RIG_OK("", "0"));
    ck_assert_int_eq(rig_fetch((fetch_request){.method = str_of(bodies[_i].method),
                                               .url = str_of(wire_url(w, "/")),
                                               .body = str_of(bodies[_i].body)})
                         .result,
                     RES_OK);
    wire_request q = wire_request_at(w, 0);
    ck_assert(str_starts(q.head, str_of(bodies[_i].method)));
    ck_assert_str_eq(q.body.at, bodies[_i].body);
    char line[64] = "";
    if (bodies[_i].length != NULL)
        (void)snprintf(line, sizeof line, "Content-Length: %s", bodies[_i].length);
    if (bodies[_i].length != NULL)
        ck_assert(wire_has_header(w, 0, line));
    else
        ck_assert(!str_has(q.head, STR("Content-Length")));
    wire_stop(w);
}
END_TEST

START_TEST(a_body_of_two_megabytes_arrives_whole)
{
    enum { BYTES = 2 * MIB };
    wire *w = one_answer(RIG_OK("", "0"));
    char *body = malloc(BYTES);
    ck_assert_ptr_nonnull(body);
    for (size_t i = 0; i < BYTES; i++)
        body[i] = (char)('a' + i % 23);
    ck_assert_int_eq(
        rig_fetch(
            (fetch_request){.method = STR("PUT"), .url = str_of(wire_url(w, "/")), .body = {body, BYTES}})
            .result,
        RES_OK);
    wire_request q = wire_request_at(w, 0);
    ck_assert_uint_eq(q.body.len, BYTES);
    ck_assert(memcmp(q.body.at, body, BYTES) == 0);
    ck_assert(!str_has(q.head, STR("Expect")));
    free(body);
    wire_stop(w);
}
END_TEST

/* ---- what is understood ---- */

static const struct {
    const char *bytes, *body, *x_test;
    wire_then   then;
    int         status;
    const char *method;
} answers[] = {
    {RIG_OK("hello", "5"), "hello", "", WIRE_KEEP, 200, "GET"},
    {"HTTP/1.1 404 Not Found\r\nX-Test: a\r\nContent-Length: 1\r\n\r\nn", "n", "a", WIRE_KEEP, 404, "GET"},
    {"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "", "", WIRE_KEEP, 500, "POST"},
    {"HTTP/1.1 204 No Content\r\nX-Test:  b \r\n\r\n", "", "b", WIRE_KEEP, 204, "DELETE"},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 99999999\r\n\r\n", "", "", WIRE_KEEP, 304, "GET"},
    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nX-Test: head\r\n\r\n", "", "head", WIRE_KEEP, 200,
     "HEAD"},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Test: "
     "trailer\r\n\r\n",
     "abcde", "", WIRE_KEEP, 200, "GET"},
    {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", "", WIRE_CLOSE, 200, "GET"},
    {"HTTP/1.0 200 OK\r\n\r\nold", "old", "", WIRE_CLOSE, 200, "GET"},
    {"HTTP/1.1 103 Early\r\nX-Test: early\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nX-Other: "
     "1\r\nContent-Length: 0\r\n\r\n",
     "", "", WIRE_KEEP, 201, "PUT"},
    {"HTTP/1.1 200 OK\r\nX-Test: a\r\n  b\r\nContent-Length: 0\r\n\r\n", "", "a   b", WIRE_KEEP, 200, "GET"},
    {"HTTP/1.1 200\r\nx-TEST: first\r\nX-Test: second\r\nContent-Length: 0\r\n\r\n", "", "first", WIRE_KEEP,
     200, "GET"},
    {"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nX-Test: stays\r\nContent-Length: 0\r\n\r\n", "", "stays",
     WIRE_KEEP, 302, "GET"},
    {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nraw", "raw", "", WIRE_KEEP, 200,
     "GET"},
};

static void check_answer(int i, size_t drip_bytes)
{
    wire *w = wire_start(
        &(wire_answer){.bytes = answers[i].bytes, .then = answers[i].then, .drip_bytes = drip_bytes}, 1,
        NULL);
    rig_got got =
        rig_fetch((fetch_request){.method = str_of(answers[i].method), .url = str_of(wire_url(w, "/"))});
    ck_assert_str_eq(got.message, "");
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_int_eq(got.status, answers[i].status);
    ck_assert_str_eq(got.body, answers[i].body);
    ck_assert_str_eq(got.x_test, answers[i].x_test);
    ck_assert(!got.reused && !got.retried);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}

START_TEST(an_answer_is_understood_at_once)
{
    check_answer(_i, 0);
}
END_TEST

START_TEST(an_answer_is_understood_byte_by_byte)
{
    check_answer(_i, 1);
}
END_TEST

START_TEST(an_answer_may_be_as_long_as_allowed_and_no_longer)
{
    static const char *const bytes[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12345678",
    };
    wire         *w = wire_start(&(wire_answer){.bytes = bytes[_i], .then = WIRE_CLOSE}, 1, NULL);
    fetch_request in = GET(w, "/secret?key=1");
    in.answer_max = 8;
    rig_got got = rig_fetch(in);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_str_eq(got.body, "12345678");

    in.answer_max = 7;
    got = rig_fetch(in);
    ck_assert_int_eq(got.result, RES_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(got.message, "longer than 7 bytes"));
    ck_assert_ptr_null(strstr(got.message, "secret"));
    wire_stop(w);
}
END_TEST

START_TEST(an_answer_of_more_than_a_mebibyte_is_refused_unless_asked_for)
{
    wire *w = wire_start(
        &(wire_answer){.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", .fill_bytes = 1048577},
        1, NULL);
    fetch_request in = GET(w, "/");
    ck_assert_int_eq(rig_fetch(in).result, RES_TOO_LARGE);
    in.answer_max = 2 * MIB;
    rig_got got = rig_fetch(in);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_uint_eq(got.body_len, 1048577);
    wire_stop(w);
}
END_TEST

/* ---- connections ---- */

static res fetch_fifty(task *t, void *ctx)
{
    for (int i = 0; i < 50; i++) {
        rig_got got = rig_fetch_in(t, &GET(ctx, "/"));
        ck_assert_int_eq(got.result, RES_OK);
        ck_assert_int_eq(got.reused, i > 0);
    }
    return RES_OK;
}

START_TEST(fifty_requests_in_a_row_use_one_connection)
{
    wire   *w = one_answer(RIG_OK("a", "1"));
    metric *opened = metrics_counter("trestle_fetch_connections_opened_total", "", "");
    metric *ok = metrics_counter("trestle_fetch_total", "result=\"ok\"", "");
    int64_t opened_before = metrics_value(opened), ok_before = metrics_value(ok);
    ck_assert_int_eq(rig_run(fetch_fifty, w, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(w), 1);
    ck_assert_int_eq(metrics_value(opened) - opened_before, 1);
    ck_assert_int_eq(metrics_value(ok) - ok_before, 50);
    ck_assert_int_eq(metrics_value(metrics_gauge("trestle_fetch_inflight", "", "")), 0);
    wire_stop(w);
}
END_TEST

static void echo_path(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    static _Thread_local char bytes[256];
    str                       path = str_slice(q->head, 4, 4 + 5); /* "GET /0042 …" */
    (void)snprintf(bytes, sizeof bytes, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%.*s", STR_ARG(path));
    *ret = (wire_answer){.bytes = bytes, .delay_ms = 20};
}

static res fetch_numbered(task *t, size_t i, void *ctx)
{
    char url[64], path[8];
    (void)snprintf(path, sizeof path, "/%04zu", i);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s", wire_port(ctx), path);
    fetch_answer a;
    TRY(fetch(t, &(fetch_request){.method = STR("GET"), .url = str_of(url)}, &a));
    return str_eq(a.body, str_of(path)) ? RES_OK : RES_INTERNAL;
}

static res fetch_in_parallel(task *t, void *ctx)
{
    TRY(par_each(t, 200, 64, fetch_numbered, ctx));
    return par_each(t, 200, 64, fetch_numbered, ctx);
}

START_TEST(sixty_four_at_once_get_each_its_own_answer_on_at_most_as_many_connections)
{
    wire *w = wire_start_fn(echo_path, NULL, NULL);
    ck_assert_int_eq(rig_run(fetch_in_parallel, w, 0), RES_OK);
    ck_assert_uint_eq(wire_requests(w), 400);
    ck_assert_uint_le(wire_connections(w), 64);
    wire_stop(w);
}
END_TEST

static res fetch_twelve(task *t, void *ctx)
{
    return par_each(t, 12, 12, fetch_numbered, ctx);
}

START_TEST(who_comes_when_all_turns_are_taken_waits_for_one)
{
    wire *w = wire_start_fn(echo_path, NULL, NULL);
    fetch_turn_set_limits(2, 100);
    ck_assert_int_eq(rig_run(fetch_twelve, w, 0), RES_OK);
    fetch_turn_set_limits(FETCH_AT_ONCE_MAX, FETCH_WAITING_MAX);
    ck_assert_uint_eq(wire_requests(w), 12);
    ck_assert_uint_le(wire_connections(w), 2);
    wire_stop(w);
}
END_TEST

START_TEST(who_comes_when_too_many_wait_is_refused)
{
    wire *w = wire_start_fn(echo_path, NULL, NULL);
    fetch_turn_set_limits(2, 3);
    ck_assert_int_eq(rig_run(fetch_twelve, w, 0), RES_UNAVAILABLE);
    fetch_turn_set_limits(FETCH_AT_ONCE_MAX, FETCH_WAITING_MAX);
    ck_assert_ptr_nonnull(strstr(rig_message(), "too many requests wait"));
    wire_stop(w);
}
END_TEST

static res one_hangs_the_other_waits(task *t, size_t i, void *ctx)
{
    fetch_request in = GET(ctx, "/");
    in.timeout_ms = i == 0 ? 2000 : 100;
    rig_got got = rig_fetch_in(t, &in);
    if (i == 0)
        return got.result;
    ck_assert_int_eq(got.result, RES_TIMEOUT);
    ck_assert_uint_ge(got.took_us, 90000);
    ck_assert_uint_lt(got.took_us, 1500000);
    return RES_GONE; /* ends the first one too */
}

static res fetch_two(task *t, void *ctx)
{
    return par_each(t, 2, 2, one_hangs_the_other_waits, ctx);
}

START_TEST(waiting_for_a_turn_counts_against_the_time_of_the_call)
{
    wire *w = wire_start(&(wire_answer){.then = WIRE_HANG}, 1, NULL);
    fetch_turn_set_limits(1, 100);
    ck_assert_int_eq(rig_run(fetch_two, w, 0), RES_GONE);
    fetch_turn_set_limits(FETCH_AT_ONCE_MAX, FETCH_WAITING_MAX);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

/* ---- the proxy ---- */

START_TEST(a_proxy_of_the_environment_is_used_only_if_wanted)
{
    wire         *proxy = one_answer(RIG_OK("proxy", "5")), *w = one_answer(RIG_OK("direct", "6"));
    fetch_request in = GET(w, "/x");
    setenv("HTTP_PROXY", wire_url(proxy, ""), 1);
    setenv("http_proxy", wire_url(proxy, ""), 1);
    ck_assert_str_eq(rig_fetch(in).body, "direct");

    setenv("TRESTLE_PROXY", "1", 1);
    ck_assert_str_eq(rig_fetch(in).body, "proxy");
    ck_assert(str_starts(wire_request_at(proxy, 0).head, STR("GET http://127.0.0.1:")));

    setenv("NO_PROXY", "127.0.0.1", 1);
    ck_assert_str_eq(rig_fetch(in).body, "direct");
    unsetenv("HTTP_PROXY"), unsetenv("http_proxy"), unsetenv("TRESTLE_PROXY"), unsetenv("NO_PROXY");
    wire_stop(proxy);
    wire_stop(w);
}
END_TEST

/* ---- the library ---- */

START_TEST(without_libcurl_a_fetch_says_so_and_the_next_one_tries_again)
{
    wire *w = one_answer(RIG_OK("a", "1"));
    fetch_turn_set_library("libcurl-that-is-not-there.so.4");
    rig_got got = rig_get(w, "/");
    ck_assert_int_eq(got.result, RES_CONFIG);
    ck_assert_ptr_nonnull(strstr(got.message, "libcurl cannot be loaded: libcurl-that-is-not-there.so.4"));

    fetch_turn_set_library("libc.so.6"); /* a library, but the wrong one */
    got = rig_get(w, "/");
    ck_assert_int_eq(got.result, RES_CONFIG);
    ck_assert_ptr_nonnull(strstr(got.message, "has no function 'curl_"));

    fetch_turn_set_library(NULL);
    ck_assert_int_eq(rig_get(w, "/").result, RES_OK);
    wire_stop(w);
}
END_TEST

START_TEST(the_librarys_version_names_libcurl_and_its_tls)
{
    arena *a = arena_new(64 * KIB);
    ck_assert_ptr_nonnull(a);
    str version = fetch_library_version(a);
    ck_assert(str_starts(version, STR("libcurl/")));
    ck_assert(str_has(version, STR(" OpenSSL/")));
    arena_free(a);
    fetch_shutdown();
}
END_TEST

static res leave_while_loading(task *t, void *ctx)
{
    wait_cancel_at(1, RES_GONE); /* the wait for the library */
    rig_got got = rig_fetch_in(t, &GET(ctx, "/"));
    fetch_shutdown(); /* the thread is at work now, or has just ended */
    return got.result;
}

START_TEST(a_shutdown_while_the_library_is_loading_waits_for_it)
{
    wire *w = one_answer(RIG_OK("a", "1"));
    ck_assert_int_eq(rig_run(leave_while_loading, w, 0), RES_GONE);
    ck_assert_uint_eq(wire_connections(w), 0);
    ck_assert_int_eq(rig_get(w, "/").result, RES_OK); /* and all can begin anew */
    wire_stop(w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

static TCase *exchange_cases(void)
{
    TCase *c = tcase_create("exchange");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, a_request_reaches_the_wire_as_it_was_given);
    LOOP(c, a_body_has_its_length_and_methods_without_one_have_none, bodies);
    tcase_add_test(c, a_body_of_two_megabytes_arrives_whole);
    LOOP(c, an_answer_is_understood_at_once, answers);
    LOOP(c, an_answer_is_understood_byte_by_byte, answers);
    tcase_add_loop_test(c, an_answer_may_be_as_long_as_allowed_and_no_longer, 0, 3);
    tcase_add_test(c, an_answer_of_more_than_a_mebibyte_is_refused_unless_asked_for);
    tcase_add_test(c, fifty_requests_in_a_row_use_one_connection);
    tcase_add_test(c, sixty_four_at_once_get_each_its_own_answer_on_at_most_as_many_connections);
    tcase_add_test(c, who_comes_when_all_turns_are_taken_waits_for_one);
    tcase_add_test(c, who_comes_when_too_many_wait_is_refused);
    tcase_add_test(c, waiting_for_a_turn_counts_against_the_time_of_the_call);
    tcase_add_test(c, a_proxy_of_the_environment_is_used_only_if_wanted);
    tcase_add_test(c, without_libcurl_a_fetch_says_so_and_the_next_one_tries_again);
    tcase_add_test(c, the_librarys_version_names_libcurl_and_its_tls);
    tcase_add_test(c, a_shutdown_while_the_library_is_loading_waits_for_it);
    return c;
}

Suite *suite_fetch(void)
{
    Suite *s = suite_create("fetch");
    suite_add_tcase(s, exchange_cases());
    suite_add_tcase(s, fetch_cases_input());
    suite_add_tcase(s, fetch_cases_faults());
    suite_add_tcase(s, fetch_cases_redirect());
    suite_add_tcase(s, fetch_cases_tls());
    suite_add_tcase(s, fetch_cases_stream());
    return s;
}
