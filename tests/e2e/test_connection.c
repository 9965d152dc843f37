/* test_connection.c -- connections: many, long, early ended, slow, malformed (spec 9, HOST-47 to 51).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buf.h"
#include "e2e/e2e.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* HOST-47, HOST-48 */
START_TEST(a_thousand_requests_pass_one_connection)
{
    client *c = client_open(shared.port);
    for (int i = 0; i < 1000; i++) {
        ck_assert(client_sendf(c, "GET /api/hello?n=%d HTTP/1.1\r\nHost: a\r\n\r\n", i));
        answer a = client_answer(c);
        ck_assert_status(a, 200);
        ck_assert(!answer_closes(&a));
        if (i % 100 == 0)
            ck_assert_holds(a.body, textf("[\"n\",\"%d\"]", i));
    }
    client_close(c);
}
END_TEST

/* HOST-47 */
START_TEST(two_hundred_connections_are_served_at_once)
{
    enum { MANY = 200 };
    client *c[MANY];
    for (int i = 0; i < MANY; i++) {
        c[i] = client_open(shared.port);
        ck_assert(client_sendf(c[i], "GET /api/slow/200 HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
    for (int i = MANY - 1; i >= 0; i--)
        ck_assert_status(client_answer(c[i]), 200);
    for (int i = 0; i < MANY; i++) { /* all of them stay open */
        ck_assert(client_sendf(c[i], "GET /api/hello?n=%d HTTP/1.1\r\nHost: a\r\n\r\n", i));
        ck_assert_holds(client_answer(c[i]).body, textf("[\"n\",\"%d\"]", i));
    }
    for (int i = 0; i < MANY; i++)
        client_close(c[i]);
}
END_TEST

/* HOST-47: the first takes longest, and still comes first. */
START_TEST(pipelined_requests_are_answered_in_order)
{
    client *c = client_open(shared.port);
    buf     all;
    buf_init(&all, scratch(), 1 * MIB);
    buf_addf(&all, "GET /api/slow/150 HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < 50; i++)
        buf_addf(&all, "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n%03d", i);
    ck_assert(client_send(c, buf_str(&all)));
    ck_assert_str_is(client_answer(c).body, "slept\n");
    for (int i = 0; i < 50; i++)
        ck_assert_str_is(client_answer(c).body, textf("%03d", i));
    ck_assert(client_silent(c, 20));
    client_close(c);
}
END_TEST

/* HOST-46, HOST-49: nothing tells the end of what a peer sends from the end of the peer. A call that waits is
 * cancelled; it is not answered by half. */
START_TEST(a_peer_that_ends_its_side_is_taken_for_gone)
{
    answer  before = client_get(shared.port, "/api/stats"), after = before;
    int64_t gone = int_at(answer_json(&before), "gone");
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "GET /api/slow/50000 HTTP/1.1\r\nHost: a\r\n\r\n"));
    client_end(c);
    ck_assert(client_closed(c));
    client_close(c);
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (int_at(answer_json(&after), "gone") == gone && process_now_ms() < until)
        after = client_get(shared.port, "/api/stats");
    ck_assert_int_eq(int_at(answer_json(&after), "gone"), gone + 1);
}
END_TEST

static const char *const halves[] = {
    "",
    "G",
    "GET /api/hello HTTP/1.1\r\nHost:",
    "GET /api/hello HTTP/1.1\r\nHost: a\r\n",
    "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this",
    "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    "POST /onmsg HTTP/1.1\r\nX-Azure-Functions-InvocationId: i\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
};

/* HOST-49 */
START_TEST(half_a_request_and_then_the_end_disturbs_nobody)
{
    for (int i = 0; i < 20; i++) {
        client *c = client_open(shared.port);
        ck_assert(client_send(c, str_of(halves[_i])));
        if (i % 2 == 0)
            client_reset(c);
        else
            client_close(c);
    }
    ck_assert_status(client_get(shared.port, "/api/hello"), 200);
}
END_TEST

/* HOST-49: the documented limit is 20 s; here it is set lower. */
START_TEST(a_head_that_takes_too_long_is_408_and_the_end)
{
    server  s = server_start(&(server_spec){.env = LIST("TRESTLE_HEAD_TIMEOUT_MS=300")});
    client *c = client_open(s.port);
    ck_assert(client_send(c, STR("GET /api/hello HTTP/1.1\r\nHos")));
    answer a = client_answer(c);
    ck_assert_status(a, 408);
    ck_assert(answer_closes(&a));
    ck_assert(client_closed(c));
    client_close(c);

    /* A byte now and then does not help: the limit is for the whole head. */
    client  *slow = client_open(s.port);
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    ck_assert(client_send(slow, STR("GET /api/hello HTTP/1.1\r\nX: ")));
    while (client_silent(slow, 50) && process_now_ms() < until)
        (void)client_send(slow, STR("x"));
    answer b;
    if (client_answers(slow, &b)) /* it may be lost in the reset of a peer that still sends */
        ck_assert_status(b, 408);
    ck_assert_uint_lt(process_now_ms(), until);
    client_close(slow);

    /* An idle connection has begun no head: nobody hurries it. */
    client *idle = client_open(s.port);
    ck_assert(client_sendf(idle, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert_status(client_answer(idle), 200);
    ck_assert(client_silent(idle, 1500));
    ck_assert(client_sendf(idle, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert_status(client_answer(idle), 200);
    client_close(idle);
}
END_TEST

static answer with_header_of(size_t bytes)
{
    char *fill = arena_alloc(scratch(), bytes);
    memset(fill, 'p', bytes);
    client *c = client_open(shared.port);
    (void)client_sendf(c, "GET /api/stats HTTP/1.1\r\nHost: a\r\nx-ms-client-principal: ");
    (void)client_send(c, (str){fill, bytes});
    (void)client_send(c, STR("\r\n\r\n"));
    answer a = {0};
    if (!client_answers(c, &a))
        a.status = 431; /* the answer was lost in the reset, since we were still sending */
    client_close(c);
    return a;
}

/* HOST-50 */
START_TEST(a_head_of_64_kilobytes_is_accepted_and_one_of_a_megabyte_is_431)
{
    ck_assert_status(with_header_of(64 * KIB), 200);
    ck_assert_status(with_header_of(128 * KIB), 431);
    ck_assert_status(with_header_of(1 * MIB), 431);
    ck_assert_status(client_get(shared.port, "/"), 200);
}
END_TEST

typedef struct {
    const char *bytes;
    size_t      len;
} raw_case;

#define RAW(text)              \
    {                          \
        text, sizeof(text) - 1 \
    }
static const raw_case malformed[] = {
    RAW("GET /api/hello HTTP/1.1\nHost: a\n\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nX: folded\r\n value\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nX: n\0ul\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nX\0: y\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\n\r\n"),
    RAW("GET /api/hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\nx"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\nxx"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\nx"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"),
    RAW("POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
    RAW("GET  /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW("GET /api/\x01hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW("GET api/hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW("G@T /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW("\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n"),
};

/* HOST-51: each of these could be read in two ways, or in none. */
START_TEST(a_malformed_request_is_400_and_the_end_of_the_connection)
{
    const raw_case *r = &malformed[_i];
    client         *c = client_open(shared.port);
    ck_assert(client_send(c, (str){r->bytes, r->len}));
    (void)client_send(c, STR("GET /api/hello HTTP/1.1\r\nHost: smuggled\r\n\r\n"));
    answer a = client_answer(c);
    ck_assert_status(a, 400);
    ck_assert(answer_closes(&a));
    ck_assert_str_is(text_at(answer_json(&a), "error"), "bad_request");
    ck_assert_uint_gt(text_at(answer_json(&a), "message").len, 0);
    ck_assert(client_closed(c));
    client_close(c);
}
END_TEST

/* HOST-51: HTTP/2 and other versions (spec 9.6). */
START_TEST(another_version_of_http_is_refused_and_the_connection_ends)
{
    static const char *const firsts[] = {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                         "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
                                         "GET / HTTP/3.7\r\nHost: a\r\n\r\n", "GET /\r\n\r\n"};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        client *c = client_open(shared.port);
        answer  a;
        ck_assert(client_send(c, str_of(firsts[i])));
        if (client_answers(c, &a))
            ck_assert_msg(a.status == 400 || a.status == 505, "'%s' gives %d", firsts[i], a.status);
        ck_assert(client_closed(c));
        client_close(c);
    }
}
END_TEST

START_TEST(connections_beyond_the_limit_are_refused_with_503)
{
    server  s = server_start(&(server_spec){.env = LIST("TRESTLE_MAX_CONNECTIONS=3")});
    client *c[3];
    for (int i = 0; i < 3; i++) {
        uint64_t until = process_now_ms() + E2E_LIMIT_MS;
        answer   a = {0};
        while (a.status != 200 &&
               process_now_ms() < until) { /* the one that looked for readiness may linger */
            c[i] = client_open(s.port);
            ck_assert(client_sendf(c[i], "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
            a = client_answer(c[i]);
            if (a.status != 200)
                client_close(c[i]);
        }
        ck_assert_status(a, 200);
    }
    client *fourth = client_open(s.port);
    answer  a;
    (void)client_sendf(fourth, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n");
    if (client_answers(fourth, &a)) /* its answer can be lost: it never read our request */
        ck_assert_status(a, 503);
    ck_assert(client_closed(fourth));
    ck_assert(client_sendf(c[1], "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert_status(client_answer(c[1]), 200);
    client_close(fourth);
    for (int i = 0; i < 3; i++)
        client_close(c[i]);
}
END_TEST

/* A refusal says what is wrong, in one shape. */
START_TEST(every_refusal_is_json_that_names_the_error)
{
    answer a = client_get(shared.port, "/api/nowhere");
    ck_assert_status(a, 404);
    ck_assert_str_is(text_at(answer_json(&a), "error"), "not_found");
    ck_assert(!json_truth(json_path(answer_json(&a), "ok"), true));
    answer b = client_call(shared.port, "POST", "/api/hello", "", str_of(textf("%070000d", 1)));
    ck_assert_status(b, 413);
    ck_assert_str_is(text_at(answer_json(&b), "error"), "too_large");
    answer d = client_get(shared.port, "/api/fail/conflict?message=why");
    ck_assert_status(d, 409);
    ck_assert_str_is(text_at(answer_json(&d), "message"), "as asked: 'why'");
    answer e = client_get(shared.port, "/api/fail/upstream?message=inner"); /* 5xx: nothing of the inside */
    ck_assert_status(e, 502);
    ck_assert(!str_has(e.body, STR("inner")));
    answer f = client_get(shared.port, "/api/late");
    ck_assert_status(f, 504);
    ck_assert_str_is(text_at(answer_json(&f), "error"), "timeout");
    answer g = client_get(shared.port, "/api/hog");
    ck_assert_status(g, 503);
    ck_assert_holds(text_at(answer_json(&g), "message"), "memory");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_connection");
    TCase *tc = e2e_add_shared(s, "shared");
    tcase_add_test(tc, a_thousand_requests_pass_one_connection);
    tcase_add_test(tc, two_hundred_connections_are_served_at_once);
    tcase_add_test(tc, pipelined_requests_are_answered_in_order);
    tcase_add_test(tc, a_peer_that_ends_its_side_is_taken_for_gone);
    tcase_add_loop_test(tc, half_a_request_and_then_the_end_disturbs_nobody, 0,
                        sizeof halves / sizeof *halves);
    tcase_add_test(tc, a_head_of_64_kilobytes_is_accepted_and_one_of_a_megabyte_is_431);
    tcase_add_loop_test(tc, a_malformed_request_is_400_and_the_end_of_the_connection, 0,
                        sizeof malformed / sizeof *malformed);
    tcase_add_test(tc, another_version_of_http_is_refused_and_the_connection_ends);
    tcase_add_test(tc, every_refusal_is_json_that_names_the_error);
    TCase *alone = e2e_add_alone(s, "alone");
    tcase_add_test(alone, a_head_that_takes_too_long_is_408_and_the_end);
    tcase_add_test(alone, connections_beyond_the_limit_are_refused_with_503);
    return s;
}

int main(void)
{
    return e2e_main("e2e_connection", suite);
}
