/* azure_cases_faults.c -- azure_call when the wire, the memory or the service fails: what is repeated, what
 * is doubtful, and when the breaker says no.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/metrics.h"
#include "unit/storage/azure_rig.h"

#define SECRET_PATH "/hunter2path"
#define PUT_ROW       \
    ((azure_request){ \
        .operation = "tables_put", .method = STR("PUT"), .path = STR(SECRET_PATH), .body = STR("{}")})

/* ---- broken answers ---- */

enum { OFFSETS_MAX = 256 };

#define WHOLE "HTTP/1.1 200 OK\r\nETag: W/\"1\"\r\nContent-Length: 12\r\nServer: test\r\n\r\nhello, world"

typedef struct {
    wire           *w;
    azure_endpoint *e;
    atomic_bool     cut[OFFSETS_MAX];
    size_t          doubts;
} offsets;

/* The first request for "/NNN" gets NNN bytes and a reset; the second all of the answer. */
static void cut_at_path(void *ctx, const wire_request *q, wire_answer *ret)
{
    offsets *o = ctx;
    uint64_t n = 0;
    size_t   at = str_find(q->head, STR("/acct/")) + 6;
    bool     ok = str_to_u64(str_slice(q->head, at, at + 3), &n) && n < OFFSETS_MAX;
    bool     first = ok && !atomic_exchange(&o->cut[n], true);
    *ret = (wire_answer){.bytes = WHOLE};
    if (first)
        *ret = (wire_answer){.bytes = n > 0 ? WHOLE : NULL, .len = n, .then = WIRE_RESET, .then_ms = 5};
}

static res call_cut(task *t, size_t i, void *ctx)
{
    offsets      *o = ctx;
    azure_request in = PUT_ROW;
    azure_answer  a;
    in.path = arena_strf(t->arena, "/%03zu", i);
    TRY(azure_call(t, o->e, &in, &a));
    ck_assert_int_eq(a.http.status, 200);
    ck_assert(str_eq(a.http.body, STR("hello, world")));
    ck_assert_msg(a.doubtful, "cut at %zu", i);
    o->doubts += a.doubtful;
    return RES_OK;
}

static res call_all_cut(task *t, void *ctx)
{
    return par_each(t, strlen(WHOLE), 40, call_cut, ctx);
}

START_TEST(an_answer_that_is_reset_at_any_byte_is_asked_for_again_and_doubtful)
{
    static offsets o;
    o.w = wire_start_fn(cut_at_path, &o, NULL);
    o.e = azure_rig_endpoint(o.w, AZURE_TABLES);
    res r = rig_run(call_all_cut, &o, 0);
    ck_assert_msg(r == RES_OK, "%s", rig_message());
    ck_assert_uint_eq(o.doubts, strlen(WHOLE));
    wire_stop(o.w);
}
END_TEST

static const wire_answer hopeless[] = {
    {.bytes = "garbage that is no HTTP\r\n\r\n", .then = WIRE_CLOSE},
    {.bytes = "HTTP/1.1 abc\r\n\r\n", .then = WIRE_CLOSE},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", .then = WIRE_CLOSE},
    {.bytes = "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n"},
    {.then = WIRE_RESET},
};

START_TEST(what_is_never_an_answer_fails_after_four_tries_without_a_secret_in_its_words)
{
    wire     *w = wire_start(&hopeless[_i], 1, NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), PUT_ROW, 0);
    ck_assert(got.result == RES_UPSTREAM || got.result == RES_UNREACHABLE);
    ck_assert_uint_eq(wire_requests(w), 4);
    ck_assert_ptr_nonnull(strstr(got.message, "tables_put (4 tries): http://127.0.0.1:"));
    ck_assert_ptr_null(strstr(got.message, "hunter2"));
    ck_assert_ptr_null(strstr(got.message, "SharedKey"));
    wire_stop(w);
}
END_TEST

START_TEST(an_answer_above_its_limit_is_not_asked_for_again)
{
    wire         *w = wire_start(&(wire_answer){.bytes = RIG_OK("12345678", "8")}, 1, NULL);
    azure_request in = PUT_ROW;
    in.answer_max = 4;
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0).result, RES_TOO_LARGE);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

/* ---- connections ---- */

typedef struct {
    wire           *w;
    azure_endpoint *e;
    azure_got       first, second;
    bool            once;
} two_calls;

static res call_after_idle_close(task *t, void *ctx)
{
    two_calls    *two = ctx;
    azure_request in = PUT_ROW;
    two->first = azure_rig_call_in(t, two->e, &in);
    ck_assert(wire_wait_open(two->w, 0, 5000));
    TRY(task_sleep(t, 30)); /* the loop sees the end of the idle connection */
    in.once = two->once;
    two->second = azure_rig_call_in(t, two->e, &in);
    return RES_OK;
}

START_TEST(a_connection_that_was_closed_while_idle_costs_the_next_call_nothing)
{
    two_calls two = {.w = wire_start(&(wire_answer){.bytes = RIG_OK("", "0"), .then = WIRE_CLOSE}, 1, NULL),
                     .once = _i == 1};
    two.e = azure_rig_endpoint(two.w, AZURE_TABLES);
    ck_assert_int_eq(rig_run(call_after_idle_close, &two, 0), RES_OK);
    ck_assert_int_eq(two.second.result, RES_OK);
    ck_assert_uint_eq(two.second.tries, 1);
    ck_assert(!two.second.doubtful);
    wire_stop(two.w);
}
END_TEST

static res call_on_dead(task *t, void *ctx)
{
    two_calls    *two = ctx;
    azure_request in = PUT_ROW;
    two->first = azure_rig_call_in(t, two->e, &in);
    two->second = azure_rig_call_in(t, two->e, &in);
    return RES_OK;
}

START_TEST(a_kept_connection_that_dies_under_a_write_leaves_a_doubt)
{
    wire_answer rows[] = {{.bytes = RIG_OK("", "0")}, {.then = WIRE_CLOSE}, {.bytes = RIG_OK("", "0")}};
    two_calls   two = {.w = wire_start(rows, 3, NULL)};
    two.e = azure_rig_endpoint(two.w, AZURE_TABLES);
    ck_assert_int_eq(rig_run(call_on_dead, &two, 0), RES_OK);
    ck_assert(!two.first.doubtful);
    ck_assert_int_eq(two.second.result, RES_OK);
    ck_assert(two.second.doubtful);
    wire_stop(two.w);
}
END_TEST

static res fetch_after_idling(task *t, void *ctx)
{
    for (int i = 0; i < 2; i++) {
        fetch_answer  a;
        fetch_request in = {.method = STR("GET"), .url = str_of(wire_url(ctx, "/")), .idle_max_s = 1};
        TRY(fetch(t, &in, &a));
        TRY(task_sleep(t, i == 0 ? 2100 : 0)); /* libcurl's own clock, in whole seconds */
    }
    return RES_OK;
}

START_TEST(a_connection_that_was_idle_for_too_long_is_not_used_again)
{
    wire *w = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    ck_assert_int_eq(rig_run(fetch_after_idling, w, 0), RES_OK);
    ck_assert_uint_eq(wire_connections(w), 2);
    wire_stop(w);
}
END_TEST

/* ---- a server that is not there ---- */

typedef struct {
    int             fd; /* bound, so that nobody else gets the port */
    unsigned        port;
    azure_endpoint *e;
    azure_got       got;
    bool            listens; /* at some time */
} absent;

static absent absent_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    absent             a = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ck_assert(bind(a.fd, (struct sockaddr *)&at, len) == 0 &&
              getsockname(a.fd, (struct sockaddr *)&at, &len) == 0);
    a.port = ntohs(at.sin_port);
    a.e = azure_rig_connect(
        AZURE_TABLES,
        textf("AccountName=acct;AccountKey=" RIG_KEY ";TableEndpoint=http://127.0.0.1:%u/acct", a.port));
    return a;
}

static void serve_one(void *arg)
{
    static const char answer[] = RIG_STATUS("201 Created", "Connection: close\r\n");
    absent           *a = arg;
    char              request[4096];
    int               fd = accept(a->fd, NULL, NULL);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt((int)recv(fd, request, sizeof request, 0), 0);
    ck_assert_int_gt((int)send(fd, answer, strlen(answer), MSG_NOSIGNAL), 0);
    (void)close(fd);
}

static res call_or_serve(task *t, size_t i, void *ctx)
{
    absent       *a = ctx;
    azure_request in = PUT_ROW;
    if (i == 0) {
        a->got = azure_rig_call_in(t, a->e, &in);
        return RES_OK;
    }
    if (!a->listens)
        return RES_OK;
    TRY(task_sleep(t, 5)); /* the first try is refused meanwhile; three more follow, within 1.4 s */
    ck_assert_int_eq(listen(a->fd, 4), 0);
    return task_offload(t, serve_one, a);
}

static res call_absent(task *t, void *ctx)
{
    return par_each(t, 2, 2, call_or_serve, ctx);
}

/* STORE-44 */
START_TEST(a_server_that_stays_away_is_a_network_error_before_the_deadline)
{
    absent a = absent_server();
    (void)rig_run(call_absent, &a, 3000);
    ck_assert_int_eq(a.got.result, RES_UNREACHABLE);
    ck_assert_uint_lt(a.got.took_us, 3000000);
    ck_assert_ptr_nonnull(strstr(a.got.message, "tables_put"));
    (void)close(a.fd);
}
END_TEST

/* STORE-44 */
START_TEST(a_server_that_comes_back_meanwhile_is_a_success_without_doubt)
{
    absent a = absent_server();
    a.listens = true;
    res r = rig_run(call_absent, &a, 20000);
    ck_assert_msg(r == RES_OK && a.got.result == RES_OK, "%s", a.got.message);
    ck_assert_int_eq(a.got.status, 201);
    ck_assert(!a.got.doubtful); /* a connection that was refused carried nothing */
    (void)close(a.fd);
}
END_TEST

/* ---- memory and clients ---- */

static res call_twice(task *t, void *ctx)
{
    azure_request in = PUT_ROW;
    azure_answer  a;
    fetch_stream *s = NULL;
    str           piece;
    in.query = STR("comp=x");
    TRY(azure_call(t, ctx, &in, &a));
    ck_assert_int_eq(a.http.status, 404);
    ck_assert_int_eq(azure_result(t, &in, &a), RES_UNPROVISIONED);
    task_forget(t);
    in.method = STR("GET");
    TRY(azure_call_stream(t, ctx, &in, &a, &s));
    do
        TRY(fetch_read(t, s, &piece));
    while (piece.len > 0);
    return RES_OK;
}

#define NO_CONTAINER \
    "HTTP/1.1 404 x\r\nContent-Length: 44\r\n\r\n{\"odata.error\":{\"code\":\"ContainerNotFound\"}}"

static void answer_by_method(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    *ret = (wire_answer){.bytes = str_starts(q->head, STR("GET ")) ? RIG_OK("hello", "5") : NO_CONTAINER};
}

START_TEST(a_call_survives_every_failing_allocation)
{
    wire           *w = wire_start_fn(answer_by_method, NULL, NULL);
    azure_endpoint *e = azure_rig_endpoint(w, AZURE_BLOBS);
    long            nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res r = rig_run(call_twice, e, 0);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert_int_lt(nth, 1000);
    }
    arena_fail_at(0);
    ck_assert_int_gt(nth, 30);
    ck_assert_int_eq(rig_run(call_twice, e, 0), RES_OK);
    wire_stop(w);
}
END_TEST

START_TEST(a_call_survives_being_cancelled_at_every_wait)
{
    wire           *w = wire_start_fn(answer_by_method, NULL, NULL);
    azure_endpoint *e = azure_rig_endpoint(w, AZURE_BLOBS);
    long            nth = 1;
    for (;; nth++) {
        wait_cancel_at(nth, RES_GONE);
        res r = rig_run(call_twice, e, 0);
        if (wait_cancel_pending())
            break;
        ck_assert_int_eq(r, RES_GONE);
        ck_assert_int_lt(nth, 100);
    }
    wait_cancel_at(0, RES_OK);
    ck_assert_int_gt(nth, 2);
    ck_assert_int_eq(e->breaker.failures, 0); /* clients that leave say nothing about the service */
    wire_stop(w);
}
END_TEST

/* ---- streams ---- */

typedef struct {
    azure_endpoint *e;
    int             status;
    size_t          bytes;
    unsigned        tries;
    const char     *code;
} streamed;

static res call_streamed(task *t, void *ctx)
{
    streamed     *s = ctx;
    azure_request in = PUT_ROW;
    azure_answer  a;
    fetch_stream *stream = NULL;
    in.method = STR("GET");
    in.body = (str){0};
    TRY(azure_call_stream(t, s->e, &in, &a, &stream));
    s->status = a.http.status;
    s->tries = a.tries;
    s->code = textf("%.*s", STR_ARG(a.code));
    for (str piece = STR("x"); stream != NULL && piece.len > 0;) {
        TRY(fetch_read(t, stream, &piece));
        s->bytes += piece.len;
    }
    return RES_OK;
}

START_TEST(a_stream_is_retried_by_its_head_and_a_failure_is_read_at_once)
{
    wire_answer rows[] = {
        {.bytes = RIG_STATUS("503 x", "retry-after-ms: 1\r\n")},
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n", .fill_bytes = 3000000},
        {.bytes = NO_CONTAINER},
    };
    wire    *w = wire_start(rows, 3, NULL);
    streamed s = {.e = azure_rig_endpoint(w, AZURE_BLOBS)};
    ck_assert_int_eq(rig_run(call_streamed, &s, 0), RES_OK);
    ck_assert_int_eq(s.status, 200);
    ck_assert_uint_eq(s.tries, 2);
    ck_assert_uint_eq(s.bytes, 3000000);
    s.bytes = 0;
    ck_assert_int_eq(rig_run(call_streamed, &s, 0), RES_OK);
    ck_assert_int_eq(s.status, 404);
    ck_assert_str_eq(s.code, "ContainerNotFound");
    ck_assert_uint_eq(s.bytes, 0);
    wire_stop(w);
}
END_TEST

/* ---- the breaker ---- */

START_TEST(the_breaker_opens_after_failures_in_a_row_and_longer_each_time)
{
    breaker  b = BREAKER_INIT;
    uint64_t now = 1000000;
    for (int i = 0; i < BREAKER_FAILURES - 1; i++)
        breaker_failed(&b, now);
    breaker_succeeded(&b); /* in a row, or they do not count */
    for (int i = 0; i < BREAKER_FAILURES; i++) {
        ck_assert(breaker_may_pass(&b, now));
        breaker_failed(&b, now);
    }
    static const uint64_t open_ms[] = {5000, 10000, 20000, 30000, 30000};
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq((int)b.state, (int)BREAKER_OPEN);
        ck_assert(!breaker_may_pass(&b, now + open_ms[i] * 1000 - 1));
        breaker_failed(&b, now + 1); /* one that began before: nothing changes */
        now += open_ms[i] * 1000;
        ck_assert(breaker_may_pass(&b, now));
        ck_assert_int_eq((int)b.state, (int)BREAKER_HALF_OPEN);
        ck_assert(!breaker_may_pass(&b, now)); /* one at a time */
        breaker_failed(&b, now);
    }
    now += 30000 * 1000;
    ck_assert(breaker_may_pass(&b, now));
    ck_assert(breaker_may_pass(&b, now + BREAKER_PROBE_MS * 1000)); /* nothing was heard of the first */
    breaker_succeeded(&b);
    ck_assert_int_eq((int)b.state, (int)BREAKER_CLOSED);
    ck_assert(breaker_may_pass(&b, now) && breaker_may_pass(&b, now));
    ck_assert_uint_eq(b.open_ms, BREAKER_OPEN_MS);
}
END_TEST

START_TEST(an_endpoint_that_keeps_failing_is_left_alone_until_a_call_succeeds)
{
    wire_answer rows[BREAKER_FAILURES + 1];
    for (int i = 0; i < BREAKER_FAILURES; i++)
        rows[i] = (wire_answer){.bytes = RIG_STATUS("500 x", "")};
    rows[BREAKER_FAILURES] = (wire_answer){.bytes = RIG_OK("", "0")};
    wire           *w = wire_start(rows, BREAKER_FAILURES + 1, NULL);
    azure_endpoint *e = azure_rig_endpoint(w, AZURE_TABLES);
    azure_request   in = PUT_ROW;
    in.once = true; /* one try a call */
    metric *gauge =
        metrics_gauge("trestle_storage_breaker_state", textf("endpoint=\"%s\"", wire_url(w, "/acct")), "");
    for (int i = 0; i < BREAKER_FAILURES; i++)
        ck_assert_int_eq(azure_rig_call(e, in, 0).result, RES_UPSTREAM);
    ck_assert_int_eq(metrics_value(gauge), BREAKER_OPEN);

    azure_got got = azure_rig_call(e, in, 0);
    ck_assert_int_eq(got.result, RES_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(got.message, "has been failing"));
    ck_assert_uint_eq(wire_requests(w), BREAKER_FAILURES);

    e->breaker.until_us = clock_mono_us(); /* its time is over */
    ck_assert_int_eq(azure_rig_call(e, in, 0).result, RES_OK);
    ck_assert_int_eq(metrics_value(gauge), BREAKER_CLOSED);
    wire_stop(w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

TCase *azure_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, an_answer_that_is_reset_at_any_byte_is_asked_for_again_and_doubtful);
    LOOP(c, what_is_never_an_answer_fails_after_four_tries_without_a_secret_in_its_words, hopeless);
    tcase_add_test(c, an_answer_above_its_limit_is_not_asked_for_again);
    tcase_add_loop_test(c, a_connection_that_was_closed_while_idle_costs_the_next_call_nothing, 0, 2);
    tcase_add_test(c, a_kept_connection_that_dies_under_a_write_leaves_a_doubt);
    tcase_add_test(c, a_connection_that_was_idle_for_too_long_is_not_used_again);
    tcase_add_test(c, a_server_that_stays_away_is_a_network_error_before_the_deadline);
    tcase_add_test(c, a_server_that_comes_back_meanwhile_is_a_success_without_doubt);
    tcase_add_test(c, a_call_survives_every_failing_allocation);
    tcase_add_test(c, a_call_survives_being_cancelled_at_every_wait);
    tcase_add_test(c, a_stream_is_retried_by_its_head_and_a_failure_is_read_at_once);
    tcase_add_test(c, the_breaker_opens_after_failures_in_a_row_and_longer_each_time);
    tcase_add_test(c, an_endpoint_that_keeps_failing_is_left_alone_until_a_call_succeeds);
    return c;
}
