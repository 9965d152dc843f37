/* http_cases_life.c -- time-outs, limits, draining, and everything that goes wrong on the way.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

#include "core/clock.h"
#include "unit/runtime/http_rig.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static const str chunked_post =
    STR_INIT("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");

/* ---- time, which stands still but for these ---- */

enum { START_US = 1000000 };

static uint64_t elapsed_ms;

static void sweep_then(rig *r)
{
    clock_set_for_test(1767323045000000, START_US + elapsed_ms * 1000);
    http_server_sweep(r->server);
}

/* The client lets it be so many seconds after the start. */
static void pass_to(rig *r, uint64_t seconds)
{
    elapsed_ms = seconds * 1000;
    rig_do(r, sweep_then);
}

static void one_connection_is_here(rig *r)
{
    r->is_true = r->server->conn_count == 1;
}

static void one_request_has_begun(rig *r)
{
    const http_conn *c = r->server->conns;
    r->is_true = c != NULL && c->turn != NULL && c->turn->parser.head.len > 0;
}

static void body_of_two_bytes_is_here(rig *r)
{
    const http_conn *c = r->server->conns;
    r->is_true = c != NULL && c->turn != NULL && c->turn->parser.body_bytes == 2;
}

static void nobody_is_here(rig *r)
{
    r->is_true = r->server->conn_count == 0;
}

static void run_with_stopped_clock(rig *r, rig_fn *client)
{
    rig_init(r);
    clock_set_for_test(1767323045000000, START_US);
    rig_serve(r, client);
}

static void speak_idle(rig *r)
{
    peer p = dial(r);
    rig_until(r, one_connection_is_here);
    pass_to(r, 90);
    say(&p, STR(GET("/hello")));
    WANT(r, hear(&p, false) && p.status == 200, "after 90 s: %d", p.status);
    pass_to(r, 122);
    say(&p, STR(GET("/hello")));
    WANT(r, hear(&p, false) && p.status == 200, "%d", p.status);
    pass_to(r, 260); /* 138 s later */
    WANT(r, is_closed(&p));
    hang_up(&p);
}

/* HOST-48: 130 s is the time-out that http_server_defaults documents. */
START_TEST(an_idle_connection_survives_90_s_and_120_s_but_not_130_s)
{
    rig r;
    ck_assert_uint_ge(http_server_defaults().idle_ms, 120000);
    run_with_stopped_clock(&r, speak_idle);
}
END_TEST

static void speak_slow_head(rig *r)
{
    peer p = dial(r);
    say(&p, STR("GET /hello HTTP/1.1\r\nHo"));
    rig_until(r, one_request_has_begun);
    pass_to(r, 19);
    say(&p, STR("st: a\r\n")); /* a byte now and then does not help */
    pass_to(r, 21);
    WANT(r, hear(&p, false) && p.status == 408, "%d", p.status);
    WANT(r, str_eq(heard_header(&p, STR("Connection")), STR("close")));
    WANT(r, is_closed(&p));
    hang_up(&p);
}

/* HOST-49 */
START_TEST(a_head_that_takes_more_than_20_s_is_a_408)
{
    rig r;
    run_with_stopped_clock(&r, speak_slow_head);
    ck_assert_int_eq(r.last_status, 408);
}
END_TEST

static void speak_slow_body(rig *r)
{
    peer p = dial(r);
    say(&p, STR("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"));
    rig_until(r, one_request_has_begun);
    pass_to(r, 29);
    say(&p, STR("he"));
    rig_until(r, body_of_two_bytes_is_here);
    pass_to(r, 60); /* 31 s after the latest byte */
    WANT(r, hear(&p, false) && p.status == 408, "%d", p.status);
    WANT(r, is_closed(&p));
    hang_up(&p);
}

START_TEST(a_body_that_stalls_for_30_s_is_a_408)
{
    rig r;
    run_with_stopped_clock(&r, speak_slow_body);
}
END_TEST

static void flood_waits(rig *r)
{
    const http_conn *c = r->server->conns;
    r->is_true = c != NULL && c->turn != NULL && c->turn->writer != NULL;
}

static void speak_stalled_reader(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/flood")));
    rig_until(r, flood_waits);
    pass_to(r, 29); /* sees how much is unsent */
    WANT(r, r->server->conn_count == 1);
    pass_to(r, 90);
    rig_until(r, nobody_is_here);
    hang_up(&p);
}

START_TEST(a_peer_that_takes_no_byte_for_60_s_is_dropped)
{
    rig r;
    run_with_stopped_clock(&r, speak_stalled_reader);
    ck_assert_int_eq(r.ended_with, RES_GONE);
}
END_TEST

/* ---- limits ---- */

static void speak_too_many(rig *r)
{
    peer a = dial(r), b = dial(r);
    say(&a, STR(GET("/hello")));
    say(&b, STR(GET("/hello")));
    WANT(r, hear(&a, false) && a.status == 200);
    WANT(r, hear(&b, false) && b.status == 200);
    peer c = dial(r);
    WANT(r, hear(&c, false) && c.status == 503, "%d", c.status);
    WANT(r, is_closed(&c));
    say(&a, STR(GET("/hello")));
    WANT(r, hear(&a, false) && a.status == 200);
    hang_up(&a);
    hang_up(&b);
    hang_up(&c);
}

START_TEST(a_connection_beyond_the_limit_gets_a_503)
{
    rig r;
    rig_init(&r);
    r.options.connections_max = 2;
    rig_serve(&r, speak_too_many);
}
END_TEST

static void speak_beyond_tasks(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/hello")));
    WANT(r, hear(&p, false) && p.status == 503, "%d", p.status);
    WANT(r, str_eq(heard_header(&p, STR("Retry-After")), STR("1")));
    say(&p, STR(GET("/"))); /* the readiness ping */
    WANT(r, hear(&p, false) && p.status == 200, "%d", p.status);
    hang_up(&p);
}

START_TEST(beyond_the_limit_of_tasks_only_the_ping_is_not_a_503)
{
    rig r;
    rig_init(&r);
    task_set_limit(0);
    rig_serve(&r, speak_beyond_tasks);
    task_set_limit(10000);
    ck_assert_uint_eq(r.served, 0);
}
END_TEST

static struct rlimit files_before;

static void leave_one_descriptor(rig *r)
{
    int next = dup(0);
    close(next);
    struct rlimit few = {.rlim_cur = (rlim_t)next + 1, .rlim_max = files_before.rlim_max};
    r->is_true = setrlimit(RLIMIT_NOFILE, &few) == 0;
}

static void accepting_is_paused(rig *r)
{
    r->is_true = r->server->accept_paused;
}

static void give_descriptors_back(rig *r)
{
    WANT(r, setrlimit(RLIMIT_NOFILE, &files_before) == 0);
    http_server_sweep(r->server);
}

static void speak_without_descriptors(rig *r)
{
    rig_do(r, leave_one_descriptor);
    peer p = dial(r); /* takes the last one */
    WANT(r, p.fd >= 0);
    say(&p, STR(GET("/hello")));
    rig_until(r, accepting_is_paused);
    rig_do(r, give_descriptors_back);
    WANT(r, hear(&p, false) && p.status == 200, "%d", p.status);
    hang_up(&p);
}

/* valgrind keeps this limit itself: it lets the kernel accept, drops the connection, and says EMFILE. */
static bool under_valgrind(void)
{
#ifdef RUNNING_ON_VALGRIND
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

START_TEST(without_descriptors_a_connection_waits_and_is_served_later)
{
    rig r;
    rig_init(&r);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files_before), 0);
    rig_serve(&r, speak_without_descriptors);
}
END_TEST

START_TEST(an_idle_connection_takes_less_than_a_kilobyte)
{
    ck_assert_uint_le(sizeof(http_conn), 512);
}
END_TEST

/* ---- clients that leave ---- */

static void speak_and_leave(rig *r)
{
    for (size_t n = 0; n <= chunked_post.len; n++) {
        peer p = dial(r);
        say(&p, str_slice(chunked_post, 0, n));
        if (n % 2 == 0) { /* by a reset, every other time */
            struct linger at_once = {.l_onoff = 1};
            setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        hang_up(&p);
    }
    rig_until(r, nobody_is_here);
    WANT(r, ask(r, STR(GET("/hello"))) == 200);
}

/* HOST-49: rig_serve also holds that each exchange that was begun is done, and that no descriptor is left. */
START_TEST(a_client_may_leave_after_any_byte)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_and_leave);
}
END_TEST

static void speak_and_leave_gate(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/gate") GET("/hello")));
    rig_until(r, rig_gate_is_reached);
    hang_up(&p);
    rig_until(r, nobody_is_here);
}

/* HOST-46 */
START_TEST(a_client_that_leaves_cancels_the_task_that_serves_it)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_and_leave_gate);
    ck_assert_int_eq(r.ended_with, RES_GONE);
    ck_assert_int_eq(r.last_status, 0);
    ck_assert_uint_eq(r.served, 0);
}
END_TEST

static void speak_after_answer(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/after")));
    WANT(r, hear(&p, false) && p.status == 200, "%d", p.status);
    shutdown(p.fd, SHUT_WR);
    rig_until(r, rig_gate_is_reached);
    rig_do(r, rig_open_gate);
    WANT(r, is_closed(&p));
    hang_up(&p);
}

START_TEST(the_end_of_input_behind_an_answer_cancels_nothing)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_after_answer);
    ck_assert_int_eq(r.ended_with, RES_OK);
    ck_assert_int_eq(r.last_status, 200);
}
END_TEST

/* ---- failing allocations ---- */

static long nth;

static void fail_nth(rig *r)
{
    (void)r;
    arena_fail_at(nth);
}

static void see_whether_it_failed(rig *r)
{
    r->is_true = arena_fail_pending();
    arena_fail_at(0);
}

static void speak_while_memory_fails(rig *r)
{
    int status = 0;
    r->is_true = false;
    for (nth = 1; nth < 100 && !r->is_true; nth++) {
        rig_do(r, fail_nth);
        status = ask(r, chunked_post);
        rig_do(r, see_whether_it_failed);
        WANT(r, status == 200 || status == 503 || status == 0, "%ld: %d", nth, status);
    }
    WANT(r, nth > 4 && r->is_true && status == 200, "%ld: %d", nth, status);
}

START_TEST(the_server_survives_every_failing_allocation)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_while_memory_fails);
}
END_TEST

/* ---- draining ---- */

static void drain_in_time(rig *r)
{
    rig_drain(r, 60000);
}

static void speak_while_draining(rig *r)
{
    peer busy = dial(r), idle = dial(r);
    say(&idle, STR(GET("/hello")));
    WANT(r, hear(&idle, false) && idle.status == 200);
    say(&busy, STR(GET("/gate") GET("/hello")));
    rig_until(r, rig_gate_is_reached);
    rig_do(r, drain_in_time);
    WANT(r, is_closed(&idle));
    peer late = dial(r);
    WANT(r, late.fd < 0);
    rig_do(r, rig_open_gate);
    WANT(r, hear(&busy, false) && str_eq(busy.body, STR("through")), "%d", busy.status);
    WANT(r, heard_header(&busy, STR("Connection")).at == NULL, "another one is waiting");
    WANT(r, hear(&busy, false) && str_eq(busy.body, STR("hello")), "%d", busy.status);
    WANT(r, str_eq(heard_header(&busy, STR("Connection")), STR("close")));
    WANT(r, is_closed(&busy));
    hang_up(&busy);
    hang_up(&idle);
    hang_up(&late);
}

START_TEST(a_drain_lets_requests_finish_and_closes_the_rest)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_while_draining);
    ck_assert_int_eq(r.ended_with, RES_OK);
}
END_TEST

static void drain_at_once(rig *r)
{
    rig_drain(r, 1);
}

static void speak_beyond_drain(rig *r)
{
    peer p = dial(r);
    say(&p, STR(GET("/gate")));
    rig_until(r, rig_gate_is_reached);
    rig_do(r, drain_at_once);
    WANT(r, !hear(&p, false));
    hang_up(&p);
}

START_TEST(a_drain_cuts_off_what_outlasts_its_limit)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_beyond_drain);
    ck_assert_int_eq(r.ended_with, RES_GONE);
}
END_TEST

/* ---- listening ---- */

static void speak_same_port(rig *r)
{
    char                text[96];
    http_server_options same = r->options;
    http_app            app = {0};
    http_server        *second;
    str                 error = STR("");
    same.port = http_server_port(r->server);
    int len = snprintf(text, sizeof text, "port %d on 127.0.0.1 is in use by another program", same.port);
    WANT(r, http_server_open(r->arena, &same, &app, &second, &error) != RES_OK);
    WANT(r, str_eq(error, (str){text, (size_t)len}), "'%.*s'", STR_ARG(error));
    same.address = "localhost";
    WANT(r, http_server_open(r->arena, &same, &app, &second, &error) == RES_INVALID);
    WANT(r, str_has(error, STR("'localhost'")), "'%.*s'", STR_ARG(error));
}

static void speak_taken(rig *r)
{
    rig_do(r, speak_same_port);
}

START_TEST(a_port_in_use_and_a_bad_address_are_named_in_one_line)
{
    rig r;
    rig_init(&r);
    rig_serve(&r, speak_taken);
}
END_TEST

TCase *http_cases_life(void)
{
    TCase *t = tcase_create("life");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, an_idle_connection_survives_90_s_and_120_s_but_not_130_s);
    tcase_add_test(t, a_head_that_takes_more_than_20_s_is_a_408);
    tcase_add_test(t, a_body_that_stalls_for_30_s_is_a_408);
    tcase_add_test(t, a_peer_that_takes_no_byte_for_60_s_is_dropped);
    tcase_add_test(t, a_connection_beyond_the_limit_gets_a_503);
    tcase_add_test(t, beyond_the_limit_of_tasks_only_the_ping_is_not_a_503);
    if (!under_valgrind())
        tcase_add_test(t, without_descriptors_a_connection_waits_and_is_served_later);
    tcase_add_test(t, an_idle_connection_takes_less_than_a_kilobyte);
    tcase_add_test(t, a_client_may_leave_after_any_byte);
    tcase_add_test(t, a_client_that_leaves_cancels_the_task_that_serves_it);
    tcase_add_test(t, the_end_of_input_behind_an_answer_cancels_nothing);
    tcase_add_test(t, the_server_survives_every_failing_allocation);
    tcase_add_test(t, a_drain_lets_requests_finish_and_closes_the_rest);
    tcase_add_test(t, a_drain_cuts_off_what_outlasts_its_limit);
    tcase_add_test(t, a_port_in_use_and_a_bad_address_are_named_in_one_line);
    return t;
}
