/* test_task_scope.c -- an arena within a task's arena.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "runtime/loop.h"
#include "unit/suites.h"

typedef struct {
    arena   *outer, *inner;
    unsigned cleaned;
    res      inside; /* what the scope is to return */
    bool     greedy;
    bool     nested;
} scene;

static struct {
    res  result;
    char message[256];
} last;

static void clean(void *ctx)
{
    ((scene *)ctx)->cleaned++;
}

static res part(task *t, void *ctx)
{
    scene *s = ctx;
    ck_assert_ptr_ne(t->arena, s->outer);
    s->inner = t->arena;
    arena_defer(t->arena, clean, s);
    if (s->greedy)
        ck_assert_ptr_null(arena_alloc(t->arena, 64 * KIB)); /* more than the scope has: does not return */
    if (s->nested) {
        s->nested = false;
        ck_assert_int_eq(task_scope(t, 16 * KIB, part, s), s->inside);
    }
    ck_assert_int_eq(task_sleep(t, 0), RES_OK);
    return s->inside == RES_OK ? RES_OK : task_fail(t, s->inside, "inside");
}

static res whole(task *t, void *ctx)
{
    scene *s = ctx;
    s->outer = t->arena;
    res r = task_scope(t, 16 * KIB, part, s);
    ck_assert_ptr_eq(t->arena, s->outer);
    return r == RES_OK ? RES_OK : task_fail(t, r, "outside");
}

static void on_end(task *t, void *ctx, res result, str message)
{
    const scene *s = ctx;
    ck_assert_ptr_eq(t->arena, s->outer);
    last.result = result;
    (void)snprintf(last.message, sizeof last.message, "%.*s", STR_ARG(message));
}

static void run(scene *s)
{
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "test"}, whole, on_end, s, NULL), RES_OK);
    loop_run();
    loop_close();
}

START_TEST(what_a_scope_allocates_is_gone_when_it_ends)
{
    scene s = {0};
    run(&s);
    ck_assert_int_eq(last.result, RES_OK);
    ck_assert_uint_eq(s.cleaned, 1);
}
END_TEST

START_TEST(the_message_of_a_failure_outlives_the_scope)
{
    scene s = {.inside = RES_CONFLICT};
    run(&s);
    ck_assert_int_eq(last.result, RES_CONFLICT);
    ck_assert_str_eq(last.message, "outside: inside");
}
END_TEST

START_TEST(a_scope_over_its_budget_ends_the_task_and_leaves_nothing)
{
    scene s = {.greedy = true};
    run(&s);
    ck_assert_int_eq(last.result, RES_MEMORY);
    ck_assert_uint_eq(s.cleaned, 1);
}
END_TEST

START_TEST(scopes_nest)
{
    scene s = {.nested = true};
    run(&s);
    ck_assert_int_eq(last.result, RES_OK);
    ck_assert_uint_eq(s.cleaned, 2);
    s = (scene){.nested = true, .greedy = true};
    run(&s);
    ck_assert_int_eq(last.result, RES_MEMORY);
}
END_TEST

START_TEST(a_scope_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        scene s = {.inside = RES_CONFLICT};
        ck_assert_int_eq(loop_open(), RES_OK);
        ck_assert_int_eq(task_start(&(task_spec){.name = "test"}, whole, on_end, &s, NULL), RES_OK);
        arena_fail_at(nth);
        loop_run();
        bool reached = !arena_fail_pending();
        arena_fail_at(0);
        loop_close();
        if (!reached)
            break;
        ck_assert_int_eq(last.result, RES_MEMORY);
    }
    ck_assert_int_eq(last.result, RES_CONFLICT);
}
END_TEST

Suite *suite_task_scope(void)
{
    Suite *s = suite_create("task_scope");
    TCase *c = tcase_create("task_scope");
    tcase_add_test(c, what_a_scope_allocates_is_gone_when_it_ends);
    tcase_add_test(c, the_message_of_a_failure_outlives_the_scope);
    tcase_add_test(c, a_scope_over_its_budget_ends_the_task_and_leaves_nothing);
    tcase_add_test(c, scopes_nest);
    tcase_add_test(c, a_scope_survives_every_failing_allocation);
    suite_add_tcase(s, c);
    return s;
}
