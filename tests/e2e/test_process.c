/* test_process.c -- the process: signals, faults, restarts, what it writes (spec 1.4, 1.5, HOST-52 to 55).
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "e2e/e2e.h"

#define LIST(...)  ((const char *const[]){__VA_ARGS__, NULL})
#define INVOCATION "X-Azure-Functions-InvocationId: 11111111-2222-4333-8444-555555555555\r\n"

static client *begin_call(const server *s, const char *target)
{
    client *c = client_open(s->port);
    ck_assert(client_sendf(c, "GET %s HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n", target));
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    int64_t  running = 0;
    while (running == 0 && process_now_ms() < until) {
        answer a = client_get(s->port, "/api/stats");
        running = int_at(answer_json(&a), "running");
    }
    ck_assert_int_gt(running, 0);
    return c;
}

static bool refuses(int port)
{
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    client  *c;
    while ((c = client_try(port)) != NULL && process_now_ms() < until) {
        client_close(c);
        process_pause();
    }
    return c == NULL;
}

static int exit_of(server *s)
{
    int status = -1;
    ck_assert_msg(process_wait(s->proc, E2E_LIMIT_MS, &status), "it does not end");
    return status;
}

/* HOST-52 */
START_TEST(a_call_under_way_ends_after_the_listener_has_closed)
{
    static const int signals[] = {SIGTERM, SIGINT};
    server           s = server_start(&(server_spec){0});
    client          *idle = client_open(s.port);
    ck_assert(client_sendf(idle, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert_status(client_answer(idle), 200);
    client *c = begin_call(&s, "/api/slow/2000");
    process_signal(s.proc, signals[_i]);
    ck_assert(refuses(s.port));
    ck_assert_uint_eq(client_unread(c), 0);
    ck_assert(client_silent(c, 1)); /* and it is still under way */
    ck_assert(client_closed(idle));

    answer a = client_answer(c);
    ck_assert_status(a, 200);
    ck_assert_str_is(a.body, "slept\n");
    ck_assert(answer_closes(&a));
    ck_assert(client_closed(c));
    ck_assert_int_eq(exit_of(&s), 0);
    ck_assert(!str_has(process_err(s.proc), STR("Sanitizer")));
}
END_TEST

/* HOST-52: a stream, too, is sent to its end. */
START_TEST(a_stream_under_way_ends_in_order)
{
    server  s = server_start(&(server_spec){0});
    client *c = begin_call(&s, "/api/stream/20/50");
    ck_assert(client_gets(c, STR("piece 0")));
    process_signal(s.proc, SIGTERM);
    answer a = client_answer(c);
    ck_assert_holds(a.body, "piece 19\n");
    ck_assert_int_eq(exit_of(&s), 0);
}
END_TEST

/* HOST-52: nothing under way, nothing to wait for. */
START_TEST(an_idle_program_leaves_at_once_with_zero)
{
    server   s = server_start(&(server_spec){0});
    uint64_t began = process_now_ms();
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_uint_lt(process_now_ms() - began, 5000);
}
END_TEST

/* HOST-52: exit code 0 would be "all is well"; a call that was cut off is not. */
START_TEST(a_second_signal_does_not_wait)
{
    server  s = server_start(&(server_spec){0});
    client *c = begin_call(&s, "/api/slow/50000");
    process_signal(s.proc, SIGTERM);
    ck_assert(refuses(s.port));
    process_signal(s.proc, SIGTERM);
    int status = exit_of(&s);
    ck_assert(WIFEXITED(status));
    ck_assert_int_ne(WEXITSTATUS(status), 0);
    ck_assert_int_ne(WEXITSTATUS(status), 200);
    answer a;
    ck_assert(!client_answers(c, &a));
    client_close(c);
}
END_TEST

/* HOST-52 */
START_TEST(a_call_that_outlasts_the_limit_is_cut_off)
{
    server  s = server_start(&(server_spec){.env = LIST("TRESTLE_DRAIN_MS=300")});
    client *c = begin_call(&s, "/api/slow/50000");
    process_signal(s.proc, SIGTERM);
    uint64_t began = process_now_ms();
    int      status = exit_of(&s);
    ck_assert(WIFEXITED(status));
    ck_assert_uint_lt(process_now_ms() - began, 20000);
    client_close(c);
}
END_TEST

START_TEST(sigusr1_lists_the_live_tasks)
{
    server  s = server_start(&(server_spec){0});
    client *c = begin_call(&s, "/api/slow/50000");
    process_signal(s.proc, SIGUSR1);
    ck_assert(
        process_says(s.proc, "task 'slow', invocation '11111111-2222-4333-8444-555555555555'", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "sleep", E2E_LIMIT_MS));
    ck_assert_status(client_get(s.port, "/"), 200);
    client_close(c);
}
END_TEST

typedef struct {
    const char *target;
    int         signum;
    const char *name;
} fault_case;

static const fault_case faults[] = {
    {"/api/crash", SIGSEGV, "SIGSEGV"},
    {"/api/abort", SIGABRT, "SIGABRT"},
};

static str last_line(str text)
{
    text = str_trim(text);
    for (size_t i = text.len; i > 0; i--)
        if (text.at[i - 1] == '\n')
            return str_from(text, i);
    return text;
}

/* HOST-53: the host shows the last three lines of stderr as the reason (spec 1.4). */
START_TEST(a_fault_ends_it_by_its_signal_and_the_last_line_tells_why)
{
    const fault_case *f = &faults[_i];
    server            s = server_start(&(server_spec){0});
    client           *c = client_open(s.port);
    answer            a;
    ck_assert(client_sendf(c, "GET %s HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n", f->target));
    ck_assert(!client_answers(c, &a));
    int status = exit_of(&s);
    str err = process_err(s.proc);
    if (e2e_sanitized()) { /* it has its own way to tell, and none for SIGABRT */
        ck_assert(!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 200));
        ck_assert(f->signum == SIGABRT || err.len > 0);
        return;
    }
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), f->signum);
    str last = last_line(err);
    ck_assert_holds(last, f->name);
    ck_assert_holds(last, textf("task '%s'", f->target + 5));
    ck_assert_holds(last, "11111111-2222-4333-8444-555555555555");
    ck_assert_holds(err, "frames of the fault");
    if (f->signum != SIGABRT) /* raised in the C library, whose frames cannot be walked */
        ck_assert_holds(err, "(dispatch_run+");
}
END_TEST

/* HOST-55 */
START_TEST(after_kill_9_it_binds_the_same_port_at_once)
{
    const char *root = textf("%s/tests/e2e/app", e2e_source());
    int         port = e2e_free_port();
    for (int i = 0; i < 4; i++) {
        process *p =
            process_start(&(process_spec){.args = LIST(e2e_app(), "--root", root),
                                          .env = LIST(textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", port))});
        ck_assert_msg(process_says(p, "listening on", E2E_LIMIT_MS) && process_alive(p), "start %d: %.*s", i,
                      STR_ARG(process_err(p)));
        server  s = {p, port};
        client *open = client_open(port), *calling = begin_call(&s, "/api/slow/50000");
        ck_assert(client_sendf(open, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
        ck_assert_status(client_answer(open), 200);
        process_end(p); /* SIGKILL */
        client_close(calling);
        client_close(open);
    }
}
END_TEST

/* ---- what it writes ---- */

/* Each line is one JSON object with time, level and msg; nothing else is on the stream. */
static size_t check_lines(str text, bool is_error_stream)
{
    str    line;
    size_t count = 0;
    while (str_next_field(&text, '\n', &line)) {
        if (line.len == 0)
            continue;
        const json_val *record = json_of(line);
        str             level = text_at(record, "level");
        bool            bad = str_eq(level, STR("warn")) || str_eq(level, STR("error"));
        ck_assert_msg(bad == is_error_stream, "on the wrong stream: %.*s", STR_ARG(line));
        (void)text_at(record, "time");
        (void)text_at(record, "msg");
        count++;
    }
    return count;
}

/* HOST-54 */
START_TEST(records_are_json_lines_split_by_level_and_written_at_once)
{
    server s = server_start(&(server_spec){.env = LIST("TRESTLE_ACCESS_LOG=1", "TRESTLE_LOG_LEVEL=debug")});
    ck_assert_status(
        client_call(s.port, "GET", "/api/fail/internal?message=two%0Alines", INVOCATION, (str){0}), 500);
    ck_assert_status(client_call(s.port, "GET", "/api/spin", INVOCATION, (str){0}), 200);
    /* It lives, and they are here: nothing waits in a buffer. */
    ck_assert(process_says(s.proc, "as asked: 'two\\nlines'", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "held the loop for", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "GET /api/spin 200", E2E_LIMIT_MS));
    ck_assert_uint_ge(check_lines(process_out(s.proc), false), 2);
    ck_assert_uint_ge(check_lines(process_err(s.proc), true), 2);
    ck_assert_holds(process_err(s.proc), "two\\nlines");
    ck_assert_holds(process_err(s.proc), "\"invocation\":\"11111111-2222-4333-8444-555555555555\"");
    ck_assert_holds(process_err(s.proc), "\"function\":\"fail\"");
}
END_TEST

/* HOST-54: the host drains the pipe, but a terminal may not (spec 9.16). */
START_TEST(a_stdout_that_nobody_reads_does_not_stop_it)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    server s = server_start(
        &(server_spec){.env = LIST("TRESTLE_ACCESS_LOG=1", "TRESTLE_LOG_LEVEL=debug"), .out_file = &ends[1]});
    client *c = client_open(s.port);
    for (int i = 0; i < 1500; i++) { /* some 150 bytes each: more than the 64 KiB of a pipe */
        ck_assert(client_sendf(c, "GET /api/stats HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n"));
        ck_assert_status(client_answer(c), 200);
    }
    client_close(c);
    process_end(s.proc);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
END_TEST

/* HOST-54: nor one that is closed. */
START_TEST(a_stdout_whose_reader_left_does_not_end_it)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    server s = server_start(&(server_spec){.env = LIST("TRESTLE_ACCESS_LOG=1"), .out_file = &ends[1]});
    (void)close(ends[0]);
    (void)close(ends[1]);
    for (int i = 0; i < 10; i++)
        ck_assert_status(client_get(s.port, "/api/hello"), 200);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* A key can come in the query or a header (spec 7); neither is ever written. */
START_TEST(a_key_never_appears_in_the_log)
{
    static const char key[] = "k3y-that-nobody-should-see";
    server      s = server_start(&(server_spec){.env = LIST("TRESTLE_ACCESS_LOG=1", "TRESTLE_LOG_LEVEL=debug",
                                                            textf("TRESTLE_FUNCTION_KEY=%s", key))});
    const char *head = textf(INVOCATION "x-functions-key: %s\r\n", key);
    ck_assert_status(client_call(s.port, "GET", textf("/api/hello?code=%s", key), head, (str){0}), 200);
    ck_assert_status(client_call(s.port, "GET", textf("/api/fail/internal?code=%s", key), head, (str){0}),
                     500);
    ck_assert_status(client_call(s.port, "GET", textf("/api/nowhere?code=%s", key), head, (str){0}), 404);
    ck_assert_status(client_call(s.port, "GET", textf("/api/fail/internal?message=%s", key), head, (str){0}),
                     500);
    ck_assert(process_says(s.proc, "as asked", E2E_LIMIT_MS));
    process_signal(s.proc, SIGUSR1);
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert_holds(process_out(s.proc), "GET /api/hello 200");
    ck_assert(!str_has(process_out(s.proc), str_of(key)));
    ck_assert(!str_has(process_err(s.proc), str_of(key)));
}
END_TEST

/* ---- fetch ---- */

static int listen_somewhere(int *ret_port)
{
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* HOST-46: a caller that leaves ends the outgoing call, too. */
START_TEST(a_caller_that_leaves_cancels_the_fetch_behind_it)
{
    server s = server_start(&(server_spec){0});
    int    port, listener = listen_somewhere(&port);

    client *c = client_open(s.port);
    ck_assert(client_sendf(c, "GET /api/fetcher HTTP/1.1\r\nHost: a\r\nx-url: http://127.0.0.1:%d/x\r\n\r\n",
                           port));
    struct timeval limit = {.tv_sec = E2E_LIMIT_MS / 1000};
    (void)setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit); /* accept heeds it, too */
    int  peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char bytes[2048];
    ck_assert_int_ge(peer, 0);
    (void)setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ssize_t n = recv(peer, bytes, sizeof bytes, 0);
    ck_assert_int_gt(n, 0);
    ck_assert(str_starts((str){bytes, (size_t)n}, STR("GET /x HTTP/1.1\r\n")));

    client_close(c); /* we never answer; the caller leaves */
    n = recv(peer, bytes, sizeof bytes, 0);
    ck_assert_msg(n == 0 || (n < 0 && errno == ECONNRESET), "the outgoing call is not ended");
    (void)close(peer);
    (void)close(listener);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(a_function_can_fetch_from_the_server_that_runs_it)
{
    server      s = server_start(&(server_spec){0});
    const char *head = textf("x-url: http://127.0.0.1:%d/api/slow/20\r\n", s.port);
    answer      a = client_call(s.port, "GET", "/api/fetcher", head, (str){0});
    ck_assert_status(a, 200);
    ck_assert_str_is(a.body, "200 slept\n");
    answer b = client_call(s.port, "GET", "/api/fetcher",
                           textf("x-url: http://127.0.0.1:%d/\r\n", e2e_free_port()), (str){0});
    ck_assert_status(b, 502);
    ck_assert_str_is(text_at(answer_json(&b), "error"), "unreachable");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_process");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_loop_test(tc, a_call_under_way_ends_after_the_listener_has_closed, 0, 2);
    tcase_add_test(tc, a_stream_under_way_ends_in_order);
    tcase_add_test(tc, an_idle_program_leaves_at_once_with_zero);
    tcase_add_test(tc, a_second_signal_does_not_wait);
    tcase_add_test(tc, a_call_that_outlasts_the_limit_is_cut_off);
    tcase_add_test(tc, sigusr1_lists_the_live_tasks);
    tcase_add_loop_test(tc, a_fault_ends_it_by_its_signal_and_the_last_line_tells_why, 0,
                        sizeof faults / sizeof *faults);
    tcase_add_test(tc, after_kill_9_it_binds_the_same_port_at_once);
    tcase_add_test(tc, records_are_json_lines_split_by_level_and_written_at_once);
    tcase_add_test(tc, a_stdout_that_nobody_reads_does_not_stop_it);
    tcase_add_test(tc, a_stdout_whose_reader_left_does_not_end_it);
    tcase_add_test(tc, a_key_never_appears_in_the_log);
    tcase_add_test(tc, a_caller_that_leaves_cancels_the_fetch_behind_it);
    tcase_add_test(tc, a_function_can_fetch_from_the_server_that_runs_it);
    return s;
}

int main(void)
{
    return e2e_main("e2e_process", suite);
}
