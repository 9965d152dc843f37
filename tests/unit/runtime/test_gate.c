/* test_gate.c -- tasks that wait for another one.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/gate.h"

#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

enum { WAITERS = 5 };

typedef struct {
    gate     g;
    unsigned passed, refused;
    res      last;
} scene;

static res wait_there(task *t, void *ctx)
{
    scene *s = ctx;
    s->last = gate_wait(t, &s->g);
    if (s->last == RES_OK)
        s->passed++;
    else
        s->refused++;
    return s->last;
}

static res open_later(task *t, void *ctx)
{
    scene *s = ctx;
    res    r = task_sleep(t, 2);
    gate_open(&s->g);
    return r;
}

static void start(task_fn *fn, void *ctx, uint64_t deadline_ms)
{
    task_spec spec = {.name = "test", .deadline_ms = deadline_ms};
    ck_assert_int_eq(task_start(&spec, fn, NULL, ctx, NULL), RES_OK);
}

START_TEST(all_that_wait_pass_when_it_opens)
{
    scene s = {0};
    ck_assert_int_eq(loop_open(), RES_OK);
    for (int i = 0; i < WAITERS; i++)
        start(wait_there, &s, 0);
    start(open_later, &s, 0);
    loop_run();
    loop_close();
    ck_assert_uint_eq(s.passed, WAITERS);
    ck_assert_ptr_null(s.g.first);
}
END_TEST

START_TEST(whoever_is_cancelled_leaves_and_the_others_still_pass)
{
    scene s = {0};
    ck_assert_int_eq(loop_open(), RES_OK);
    wait_cancel_at(2, RES_GONE); /* the second waiter */
    for (int i = 0; i < WAITERS; i++)
        start(wait_there, &s, 0);
    start(open_later, &s, 0);
    loop_run();
    loop_close();
    ck_assert_uint_eq(s.passed, WAITERS - 1);
    ck_assert_uint_eq(s.refused, 1);
}
END_TEST

START_TEST(a_gate_that_never_opens_ends_at_the_deadline)
{
    scene s = {0};
    ck_assert_int_eq(loop_open(), RES_OK);
    start(wait_there, &s, 5);
    loop_run();
    loop_close();
    ck_assert_int_eq(s.last, RES_TIMEOUT);
    ck_assert_ptr_null(s.g.first);
}
END_TEST

START_TEST(opening_a_gate_where_nobody_waits_changes_nothing)
{
    gate g = {0};
    gate_open(&g);
    ck_assert_ptr_null(g.first);
}
END_TEST

Suite *suite_gate(void)
{
    Suite *s = suite_create("gate");
    TCase *c = tcase_create("gate");
    tcase_add_test(c, all_that_wait_pass_when_it_opens);
    tcase_add_test(c, whoever_is_cancelled_leaves_and_the_others_still_pass);
    tcase_add_test(c, a_gate_that_never_opens_ends_at_the_deadline);
    tcase_add_test(c, opening_a_gate_where_nobody_waits_changes_nothing);
    suite_add_tcase(s, c);
    return s;
}
