/* fetch_cases_faults.c -- what fetch makes of bad peers, dead connections, lost clients and lost
 * memory.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/runtime/fetch_rig.h"

#define GET(w, path) ((fetch_request){.method = STR("GET"), .url = str_of(wire_url((w), (path)))})

/* ---- peers ---- */

#define EIGHT(x) x x x x x x x x

#define HEADER_1K EIGHT(EIGHT("0123456789abcdef"))
static const struct {
    const char *bytes;
    size_t      len;
    wire_then   then;
    res         result;
} broken[] = {
    {"", 0, WIRE_CLOSE, RES_UNREACHABLE},
    {"", 0, WIRE_RESET, RES_UNREACHABLE},
    {"HTTP/1.1 200 OK\r\nContent-Len", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Len", 0, WIRE_RESET, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", 0, WIRE_RESET, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n123\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"garbage that is no HTTP\r\n\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"\x16\x03\x01\x02\x00", 5, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 abc\r\n\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", 0, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n", 0, WIRE_KEEP, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nA B: c\r\nContent-Length: 0\r\n\r\n", 0, WIRE_KEEP, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 0\r\n\r\n", 47, WIRE_CLOSE, RES_UPSTREAM},
    {"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 0, WIRE_HANG, RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nA: " EIGHT(EIGHT(HEADER_1K)) "\r\nContent-Length: 0\r\n\r\n", 0, WIRE_KEEP,
     RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\n" EIGHT(EIGHT(EIGHT("A: b\r\n"))) "Content-Length: 0\r\n\r\n", 0, WIRE_KEEP,
     RES_UPSTREAM},
    {EIGHT(
         EIGHT(EIGHT(EIGHT("HTTP/1.1 100 Continue\r\nA: 0123456789012345678901234567890123456789\r\n\r\n")))),
     0, WIRE_HANG, RES_UPSTREAM},
};

START_TEST(a_broken_answer_is_told_from_none)
{
    wire *w = wire_start(
        &(wire_answer){
            .bytes = broken[_i].bytes, .len = broken[_i].len, .then = broken[_i].then, .then_ms = 20},
        1, NULL);
    rig_got got = rig_get(w, "/secret?sig=secret");
    ck_assert_msg(got.result == broken[_i].result, "%s: %s", res_name(got.result), got.message);
    char origin[64];
    (void)snprintf(origin, sizeof origin, "http://127.0.0.1:%u: ", wire_port(w));
    ck_assert_ptr_eq(strstr(got.message, origin), got.message);
    ck_assert_uint_gt(strlen(got.message), strlen(origin));
    ck_assert_ptr_null(strstr(got.message, "secret"));
    ck_assert_uint_eq(wire_requests(w), 1); /* on a fresh connection nothing is repeated */
    wire_stop(w);
}
END_TEST

START_TEST(a_port_where_nobody_listens_is_unreachable)
{
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    ck_assert(bind(fd, (struct sockaddr *)&at, len) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    char url[64]; /* bound, but not listening: nobody else can take the port meanwhile */
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/secret", ntohs(at.sin_port));
    rig_got got = rig_fetch((fetch_request){.method = STR("GET"), .url = str_of(url)});
    ck_assert_int_eq(got.result, RES_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(got.message, "onnect"));
    ck_assert_ptr_null(strstr(got.message, "secret"));
    (void)close(fd);
}
END_TEST

/* ---- time ---- */

static const wire_answer slow[] = {
    {.then = WIRE_HANG},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123", .then = WIRE_HANG},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234567890", .drip_bytes = 1, .drip_ms = 40},
};

START_TEST(a_slow_peer_ends_in_a_time_out_when_the_calls_time_is_over)
{
    wire         *w = wire_start(&slow[_i], 1, NULL);
    fetch_request in = GET(w, "/secret");
    in.timeout_ms = 150;
    rig_got got = rig_fetch(in);
    ck_assert_int_eq(got.result, RES_TIMEOUT);
    ck_assert_uint_ge(got.took_us, 140000);
    ck_assert_uint_lt(got.took_us, 1500000); /* the peer would have taken 2 s or for ever */
    ck_assert_ptr_null(strstr(got.message, "secret"));
    wire_stop(w);
}
END_TEST

static res fetch_until_deadline(task *t, void *ctx)
{
    fetch_answer a;
    return fetch(t, &GET(ctx, "/"), &a);
}

START_TEST(a_slow_peer_ends_in_a_time_out_when_the_tasks_time_is_over)
{
    wire *w = wire_start(&slow[_i], 1, NULL);
    ck_assert_int_eq(rig_run(fetch_until_deadline, w, 150), RES_TIMEOUT);
    ck_assert(wire_wait_open(w, 0, 5000));
    wire_stop(w);
}
END_TEST

/* The listener's queue of one is full: further connections are neither accepted nor refused. */
START_TEST(a_connection_that_is_not_made_in_its_time_is_unreachable)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), queued[4];
    ck_assert(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, 0) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    for (size_t i = 0; i < 4; i++) {
        queued[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(queued[i], (struct sockaddr *)&at, len);
    }
    char url[64];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(at.sin_port));
    rig_got got = rig_fetch(
        (fetch_request){.method = STR("GET"), .url = str_of(url), .connect_ms = 100, .timeout_ms = 20000});
    ck_assert_msg(got.result == RES_UNREACHABLE, "%s: %s", res_name(got.result), got.message);
    ck_assert_uint_lt(got.took_us, 5000000);
    for (size_t i = 0; i < 4; i++)
        (void)close(queued[i]);
    (void)close(fd);
}
END_TEST

/* ---- dead connections ---- */

static const struct {
    fetch_request in; /* but for its URL */
    wire_then     dies_by;
    bool          retried;
} dead[] = {
    {{.method = STR_INIT("GET")}, WIRE_CLOSE, true},
    {{.method = STR_INIT("GET")}, WIRE_RESET, true},
    {{.method = STR_INIT("HEAD")}, WIRE_CLOSE, true},
    {{.method = STR_INIT("PUT"), .body = STR_INIT("abc"), .repeatable = true}, WIRE_CLOSE, true},
    {{.method = STR_INIT("PUT"), .body = STR_INIT("abc"), .repeatable = true}, WIRE_RESET, true},
    {{.method = STR_INIT("POST"), .body = STR_INIT("abc")}, WIRE_CLOSE, false},
    {{.method = STR_INIT("POST"), .body = STR_INIT("abc")}, WIRE_RESET, false},
    {{.method = STR_INIT("POST")}, WIRE_CLOSE, false},
    {{.method = STR_INIT("DELETE")}, WIRE_RESET, false},
};

typedef struct {
    wire         *w;
    fetch_request in;
    rig_got       first, second;
} two_fetches;

static res fetch_again(task *t, void *ctx)
{
    two_fetches *two = ctx;
    two->first = rig_fetch_in(t, &GET(two->w, "/first"));
    two->second = rig_fetch_in(t, &two->in);
    return RES_OK;
}

START_TEST(a_dead_kept_connection_is_replaced_once_and_only_if_the_request_may_be_repeated)
{
    wire_answer rows[] = {
        {.bytes = RIG_OK("a", "1")}, {.then = dead[_i].dies_by}, {.bytes = RIG_OK("", "0")}};
    two_fetches two = {.w = wire_start(rows, 3, NULL), .in = dead[_i].in};
    two.in.url = str_of(wire_url(two.w, "/second"));
    ck_assert_int_eq(rig_run(fetch_again, &two, 0), RES_OK);
    ck_assert_int_eq(two.first.result, RES_OK);
    ck_assert(!two.first.retried);

    wire_request q = wire_request_at(two.w, 1);
    ck_assert_uint_eq(q.connection, 1);
    if (dead[_i].retried) {
        ck_assert_msg(two.second.result == RES_OK, "%s", two.second.message);
        ck_assert(two.second.retried && !two.second.reused);
        ck_assert_uint_eq(wire_requests(two.w), 3);
        wire_request again = wire_request_at(two.w, 2);
        ck_assert_uint_eq(again.connection, 2);
        ck_assert_str_eq(again.body.at, q.body.at);
    } else {
        ck_assert_int_eq(two.second.result, RES_UNREACHABLE);
        ck_assert_uint_eq(wire_requests(two.w), 2);
    }
    wire_stop(two.w);
}
END_TEST

START_TEST(a_connection_that_dies_twice_is_unreachable)
{
    wire_answer rows[] = {{.bytes = RIG_OK("a", "1")}, {.then = WIRE_CLOSE}};
    two_fetches two = {.w = wire_start(rows, 2, NULL)};
    two.in = GET(two.w, "/second");
    ck_assert_int_eq(rig_run(fetch_again, &two, 0), RES_OK);
    ck_assert_int_eq(two.second.result, RES_UNREACHABLE);
    ck_assert_uint_eq(wire_requests(two.w), 3);
    wire_stop(two.w);
}
END_TEST

START_TEST(half_an_answer_on_a_kept_connection_is_not_asked_for_again)
{
    wire_answer rows[] = {{.bytes = RIG_OK("a", "1")},
                          {.bytes = "HTTP/1.1 200 OK\r\nA: b", .then = WIRE_RESET, .then_ms = 20}};
    two_fetches two = {.w = wire_start(rows, 2, NULL)};
    two.in = GET(two.w, "/second");
    ck_assert_int_eq(rig_run(fetch_again, &two, 0), RES_OK);
    ck_assert_int_eq(two.second.result, RES_UPSTREAM);
    ck_assert_uint_eq(wire_requests(two.w), 2);
    wire_stop(two.w);
}
END_TEST

static res fetch_one_of_two(task *t, size_t i, void *ctx)
{
    (void)i;
    fetch_answer a;
    return fetch(t, &GET(ctx, "/"), &a);
}

static res fetch_with_two_dead(task *t, void *ctx)
{
    TRY(par_each(t, 2, 2, fetch_one_of_two, ctx));
    rig_got got = rig_fetch_in(t, &GET(ctx, "/third"));
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert(got.retried && !got.reused);
    return RES_OK;
}

START_TEST(a_second_kept_connection_is_not_trusted_when_the_first_was_dead)
{
    wire_answer rows[] = {{.bytes = RIG_OK("a", "1"), .delay_ms = 100},
                          {.bytes = RIG_OK("a", "1"), .delay_ms = 100},
                          {.then = WIRE_CLOSE},
                          {.bytes = RIG_OK("a", "1")}};
    wire       *w = wire_start(rows, 4, NULL);
    ck_assert_int_eq(rig_run(fetch_with_two_dead, w, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(w), 3);
    ck_assert_uint_eq(wire_requests(w), 4);
    ck_assert_uint_eq(wire_request_at(w, 3).connection, 3);
    wire_stop(w);
}
END_TEST

static res fetch_after_idle_close(task *t, void *ctx)
{
    two_fetches *two = ctx;
    two->first = rig_fetch_in(t, &GET(two->w, "/first"));
    ck_assert(wire_wait_open(two->w, 0, 5000));
    TRY(task_sleep(t, 30)); /* the loop sees the end of the idle connection */
    two->second = rig_fetch_in(t, &two->in);
    return RES_OK;
}

START_TEST(a_connection_that_the_peer_closed_while_idle_harms_nobody)
{
    wire_answer rows[] = {{.bytes = RIG_OK("a", "1"), .then = WIRE_CLOSE}};
    two_fetches two = {.w = wire_start(rows, 1, NULL)};
    two.in = (fetch_request){.method = STR("GET"), .url = str_of(wire_url(two.w, "/second"))};
    ck_assert_int_eq(rig_run(fetch_after_idle_close, &two, 0), RES_OK);
    ck_assert_int_eq(two.second.result, RES_OK);
    ck_assert_uint_eq(wire_requests(two.w), 2);
    wire_stop(two.w);
}
END_TEST

/* ---- clients that leave, memory that ends ---- */

static res cancel_soon(task *t, size_t i, void *ctx)
{
    if (i == 1) {
        for (int ms = 0; wire_sent_bytes(ctx) == 0 && ms < 5000; ms += 10)
            TRY(task_sleep(t, 10));
        return RES_GONE; /* par_each cancels the other */
    }
    fetch_answer a;
    res          r = fetch(t, &GET(ctx, "/"), &a);
    ck_assert_int_eq(r, RES_GONE);
    return r;
}

static res fetch_and_leave(task *t, void *ctx)
{
    ck_assert_int_eq(par_each(t, 2, 2, cancel_soon, ctx), RES_GONE);
    task_forget(t);
    ck_assert(wire_wait_open(ctx, 0, 5000)); /* the connection is closed at once, not at the end of all */
    rig_got got = rig_fetch_in(t, &GET(ctx, "/"));
    ck_assert_int_eq(got.result, RES_OK); /* and the rest works on */
    return RES_OK;
}

START_TEST(a_cancelled_fetch_ends_at_once_and_closes_its_connection)
{
    wire_answer rows[] = {{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12", .then = WIRE_HANG},
                          {.bytes = RIG_OK("a", "1")}};
    wire       *w = wire_start(rows, 2, NULL);
    ck_assert_int_eq(rig_run(fetch_and_leave, w, 0), RES_OK);
    wire_stop(w);
}
END_TEST

static res fetch_twice(task *t, void *ctx)
{
    http_header   h = {STR("X-A"), STR("b")};
    fetch_request in = GET(ctx, "/");
    fetch_answer  a;
    in.headers = &h;
    in.header_count = 1;
    in.redirects_max = 2;
    TRY(fetch(t, &in, &a));
    fetch_stream *s;
    str           piece;
    TRY(fetch_open(t, &in, &a, &s));
    do
        TRY(fetch_read(t, s, &piece));
    while (piece.len > 0);
    return a.status == 200 ? RES_OK : RES_INTERNAL;
}

static void redirect_odd_ones(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    bool there = str_starts(q->head, STR("GET /there"));
    *ret =
        (wire_answer){.bytes = there ? RIG_OK("abc", "3")
                                     : "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"};
}

START_TEST(a_fetch_survives_every_failing_allocation)
{
    wire *w = wire_start_fn(redirect_odd_ones, NULL, NULL);
    long  nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res r = rig_run(fetch_twice, w, 0);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert_int_lt(nth, 1000);
    }
    arena_fail_at(0);
    ck_assert_int_gt(nth, 20);
    wire_stop(w);
}
END_TEST

START_TEST(a_fetch_survives_being_cancelled_at_every_wait)
{
    wire *w = wire_start_fn(redirect_odd_ones, NULL, NULL);
    long  nth = 1;
    for (;; nth++) {
        wait_cancel_at(nth, RES_GONE);
        res r = rig_run(fetch_twice, w, 0);
        if (wait_cancel_pending())
            break;
        ck_assert_int_eq(r, RES_GONE);
        ck_assert_int_lt(nth, 100);
    }
    wait_cancel_at(0, RES_OK);
    ck_assert_int_gt(nth, 4);
    ck_assert_int_eq(rig_run(fetch_twice, w, 0), RES_OK);
    wire_stop(w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

TCase *fetch_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, a_broken_answer_is_told_from_none, broken);
    tcase_add_test(c, a_port_where_nobody_listens_is_unreachable);
    LOOP(c, a_slow_peer_ends_in_a_time_out_when_the_calls_time_is_over, slow);
    LOOP(c, a_slow_peer_ends_in_a_time_out_when_the_tasks_time_is_over, slow);
    tcase_add_test(c, a_connection_that_is_not_made_in_its_time_is_unreachable);
    LOOP(c, a_dead_kept_connection_is_replaced_once_and_only_if_the_request_may_be_repeated, dead);
    tcase_add_test(c, a_connection_that_dies_twice_is_unreachable);
    tcase_add_test(c, half_an_answer_on_a_kept_connection_is_not_asked_for_again);
    tcase_add_test(c, a_second_kept_connection_is_not_trusted_when_the_first_was_dead);
    tcase_add_test(c, a_connection_that_the_peer_closed_while_idle_harms_nobody);
    tcase_add_test(c, a_cancelled_fetch_ends_at_once_and_closes_its_connection);
    tcase_add_test(c, a_fetch_survives_every_failing_allocation);
    tcase_add_test(c, a_fetch_survives_being_cancelled_at_every_wait);
    return c;
}
