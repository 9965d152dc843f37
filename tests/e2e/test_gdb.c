/* test_gdb.c -- the gdb commands for parked tasks, on a program with one (tests/support/fiber_gdb.py).
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "e2e/e2e.h"

enum { EXIT_SKIPPED = 77 };

/* Also before the tests run, so without scratch(). */
static const char *find_gdb(void)
{
    static char file[1024];
    str         path = str_of(getenv("PATH")), folder;
    while (str_next_field(&path, ':', &folder)) {
        (void)snprintf(file, sizeof file, "%.*s/gdb", STR_ARG(folder));
        if (access(file, X_OK) == 0)
            return file;
    }
    return NULL;
}

static outcome ask_gdb(const server *s, const char *command)
{
    const char *args[] = {"-nx",  "-batch",
                          "-iex", "set debuginfod enabled off",
                          "-p",   textf("%d", (int)process_pid(s->proc)),
                          "-x",   textf("%s/tests/support/fiber_gdb.py", e2e_source()),
                          "-ex",  "fiber-list",
                          "-ex",  command,
                          NULL};
    return e2e_run(find_gdb(), args, NULL, NULL);
}

static int64_t running_calls(const server *s)
{
    answer a = client_get(s->port, "/api/stats");
    return int_at(answer_json(&a), "running");
}

static server with_parked_call(client **ret)
{
    server s = server_start(&(server_spec){0});
    *ret = client_open(s.port);
    ck_assert(client_sendf(*ret, "GET /api/slow/50000 HTTP/1.1\r\nHost: a\r\n"
                                 "X-Azure-Functions-InvocationId: the-parked-one\r\n\r\n"));
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (running_calls(&s) == 0 && process_now_ms() < until)
        process_pause();
    ck_assert_int_eq(running_calls(&s), 1);
    return s;
}

START_TEST(the_backtrace_of_a_parked_task_names_its_handler)
{
    client *c;
    server  s = with_parked_call(&c);
    outcome o = ask_gdb(&s, "fiber-bt slow");
    ck_assert_holds(o.out, "slow  invocation 'the-parked-one'  waits for sleep");
    size_t sleeping = str_find(o.out, STR(" in task_sleep")), handler = str_find(o.out, STR(" in slow at "));
    size_t served = str_find(o.out, STR("serve_http"));
    ck_assert_msg(sleeping < handler && handler < served && served < o.out.len, "%.*s\n%.*s", STR_ARG(o.out),
                  STR_ARG(o.err));
    ck_assert_holds(str_from(o.out, handler), "app_handlers.c:");

    ck_assert_int_eq(running_calls(&s), 1); /* looking has changed nothing */
    ck_assert(client_silent(c, 1));
    client_close(c);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(a_task_that_does_not_exist_is_said_so)
{
    client *c;
    server  s = with_parked_call(&c);
    outcome o = ask_gdb(&s, "fiber-bt nobody");
    ck_assert_holds(o.err, "no live task is called 'nobody'");
    client_close(c);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_gdb");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_test(tc, the_backtrace_of_a_parked_task_names_its_handler);
    tcase_add_test(tc, a_task_that_does_not_exist_is_said_so);
    return s;
}

int main(void)
{
    if (find_gdb() == NULL) {
        puts("gdb is not on the PATH");
        puts("e2e_gdb: 0 passed, 0 failed, 1 skipped");
        return EXIT_SKIPPED;
    }
    return e2e_main("e2e_gdb", suite);
}
