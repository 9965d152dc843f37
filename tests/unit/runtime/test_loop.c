/* test_loop.c -- the loop runs tasks, ends when nothing is left, and reports what is live.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop.h"
#include "unit/suites.h"

typedef struct {
    int ran, ended;
    res result;
} seen;

static res note_run(task *t, void *ctx)
{
    (void)t;
    ((seen *)ctx)->ran++;
    return RES_CONFLICT;
}

static void note_end(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    seen *s = ctx;
    s->result = result;
    s->ended++;
}

START_TEST(a_task_runs_from_the_loop_and_not_from_task_start)
{
    seen s = {0};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "t"}, note_run, note_end, &s, NULL), RES_OK);
    ck_assert_int_eq(s.ran, 0);
    ck_assert_uint_eq(task_count(), 1);
    loop_run();
    ck_assert_int_eq(s.ran, 1);
    ck_assert_int_eq(s.ended, 1);
    ck_assert_int_eq(s.result, RES_CONFLICT);
    ck_assert_uint_eq(task_count(), 0);
    loop_close();
}
END_TEST

START_TEST(the_loop_can_be_opened_again_after_it_was_closed)
{
    for (int i = 0; i < 3; i++) {
        seen s = {0};
        ck_assert_int_eq(loop_open(), RES_OK);
        ck_assert_int_eq(task_start(&(task_spec){.name = "t"}, note_run, note_end, &s, NULL), RES_OK);
        loop_run();
        ck_assert_int_eq(s.ended, 1);
        loop_close();
    }
}
END_TEST

START_TEST(more_tasks_than_the_limit_are_refused)
{
    seen s = {0};
    ck_assert_int_eq(loop_open(), RES_OK);
    task_set_limit(2);
    ck_assert_int_eq(task_start(&(task_spec){.name = "t"}, note_run, note_end, &s, NULL), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "t"}, note_run, note_end, &s, NULL), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "t"}, note_run, note_end, &s, NULL), RES_UNAVAILABLE);
    loop_run();
    ck_assert_int_eq(s.ended, 2);
    task_set_limit(10000);
    loop_close();
}
END_TEST

static res raise_and_wait(task *t, void *ctx)
{
    (void)ctx;
    (void)raise(SIGUSR1);
    return task_sleep(t, 50);
}

START_TEST(sigusr1_lists_a_live_task_with_what_it_waits_for)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(loop_open(), RES_OK);
    log_set_fds(fds[1], fds[1]);
    task_spec spec = {.name = "napper", .log = {.invocation = STR("inv-7")}};
    ck_assert_int_eq(task_start(&spec, raise_and_wait, NULL, NULL, NULL), RES_OK);
    loop_run();
    log_set_fds(-1, -1);
    loop_close();

    char    text[4096];
    ssize_t n = read(fds[0], text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "napper"));
    ck_assert_ptr_nonnull(strstr(text, "inv-7"));
    ck_assert_ptr_nonnull(strstr(text, "sleep"));
    (void)close(fds[0]);
    (void)close(fds[1]);
}
END_TEST

Suite *suite_loop(void)
{
    Suite *s = suite_create("loop");
    TCase *c = tcase_create("loop");
    tcase_add_test(c, a_task_runs_from_the_loop_and_not_from_task_start);
    tcase_add_test(c, the_loop_can_be_opened_again_after_it_was_closed);
    tcase_add_test(c, more_tasks_than_the_limit_are_refused);
    tcase_add_test(c, sigusr1_lists_a_live_task_with_what_it_waits_for);
    suite_add_tcase(s, c);
    return s;
}
