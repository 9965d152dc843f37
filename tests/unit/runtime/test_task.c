/* test_task.c -- waits, deadlines, cancellation, children, threads, and running out of memory.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

typedef struct {
    task_fn *body;
    void    *ctx;
    res      result;
    char     message[256];
    int      ended;
} run;

static res run_body(task *t, void *ctx)
{
    run *r = ctx;
    return r->body(t, r->ctx);
}

static void run_end(task *t, void *ctx, res result, str message)
{
    (void)t;
    run *r = ctx;
    r->result = result;
    r->ended++;
    (void)snprintf(r->message, sizeof r->message, "%.*s", STR_ARG(message));
}

/* Runs one body in a loop of its own until everything has ended. */
static run run_task(task_fn *body, void *ctx, uint64_t deadline_ms, size_t memory_bytes)
{
    run       r = {.body = body, .ctx = ctx};
    task_spec spec = {.name = "test", .deadline_ms = deadline_ms, .memory_bytes = memory_bytes};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&spec, run_body, run_end, &r, NULL), RES_OK);
    loop_run();
    loop_close();
    ck_assert_int_eq(r.ended, 1);
    return r;
}

static res nap(task *t, void *ctx)
{
    (void)ctx;
    return task_sleep(t, 1);
}

static res nap_for_an_hour(task *t, void *ctx)
{
    (void)ctx;
    res r = task_sleep(t, 3600 * 1000);
    ck_assert_int_eq(task_sleep(t, 1), r); /* every later wait gives the same reason */
    ck_assert_int_eq(task_stopped(t), r);
    return r;
}

START_TEST(a_sleep_ends)
{
    ck_assert_int_eq(run_task(nap, NULL, 0, 0).result, RES_OK);
}
END_TEST

START_TEST(the_deadline_ends_a_wait_with_timeout)
{
    ck_assert_int_eq(run_task(nap_for_an_hour, NULL, 20, 0).result, RES_TIMEOUT);
}
END_TEST

static res cancel_the_other(task *t, void *ctx)
{
    res r = task_sleep(t, 5);
    task_cancel(*(task **)ctx, RES_GONE);
    return r;
}

START_TEST(a_cancelled_sleep_returns_the_reason)
{
    run   r = {.body = nap_for_an_hour};
    task *other = NULL;
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "a"}, run_body, run_end, &r, &other), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "b"}, cancel_the_other, NULL, &other, NULL), RES_OK);
    loop_run();
    loop_close();
    ck_assert_int_eq(r.result, RES_GONE);
}
END_TEST

static res fail_in_layers(task *t, void *ctx)
{
    (void)ctx;
    res r = task_fail(t, RES_UPSTREAM, "tables answered %d", 500);
    return task_fail(t, r, "score of team '%s'", "red");
}

START_TEST(a_failure_reads_from_the_outside_in)
{
    run r = run_task(fail_in_layers, NULL, 0, 0);
    ck_assert_int_eq(r.result, RES_UPSTREAM);
    ck_assert_str_eq(r.message, "score of team 'red': tables answered 500");
}
END_TEST

/* ---- memory ---- */

static res eat(task *t, void *ctx)
{
    while (task_stopped(t) == RES_OK) {
        char *p = arena_alloc(t->arena, 1000);
        p[999] = 1;
        ++*(int *)ctx;
    }
    return RES_INTERNAL; /* not reached: an allocation leaves the stack before */
}

START_TEST(a_task_that_spends_its_memory_ends_with_out_of_memory)
{
    int blocks = 0;
    run r = run_task(eat, &blocks, 0, 100 * KIB);
    ck_assert_int_eq(r.result, RES_MEMORY);
    ck_assert_int_gt(blocks, 90);
    ck_assert_int_lt(blocks, 110);
}
END_TEST

static res allocate_and_nap(task *t, void *ctx)
{
    for (int i = 0; i < 5; i++) {
        int *p = arena_array(t->arena, int, 100);
        p[99] = i;
        TRY(task_sleep(t, 0));
        ck_assert_int_eq(p[99], i);
    }
    *(bool *)ctx = true;
    return RES_OK;
}

START_TEST(a_task_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        bool whole = false;
        arena_fail_at(nth);
        run r = run_task(allocate_and_nap, &whole, 0, 0);
        if (arena_fail_pending()) {
            arena_fail_at(0);
            ck_assert_int_eq(r.result, RES_OK);
            ck_assert(whole);
            ck_assert_int_gt(nth, 5);
            break;
        }
        ck_assert_int_eq(r.result, RES_MEMORY);
        ck_assert(!whole);
    }
}
END_TEST

START_TEST(a_task_survives_being_cancelled_at_every_wait)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 100);
        bool whole = false;
        wait_cancel_at(nth, RES_GONE);
        run r = run_task(allocate_and_nap, &whole, 0, 0);
        if (wait_cancel_pending()) {
            wait_cancel_at(0, RES_OK);
            ck_assert_int_eq(r.result, RES_OK);
            ck_assert_int_eq(nth, 6);
            break;
        }
        ck_assert_int_eq(r.result, RES_GONE);
    }
}
END_TEST

/* ---- children ---- */

typedef struct {
    int    done[100];
    size_t n, width, live, most;
    size_t fail_at; /* index that fails; SIZE_MAX: none */
    int    cancelled;
} family;

static res child(task *t, size_t i, void *ctx)
{
    family *f = ctx;
    f->live++;
    f->most = f->live > f->most ? f->live : f->most;
    res r = task_sleep(t, i == f->fail_at ? 1 : i % 3);
    f->live--;
    if (r != RES_OK) {
        f->cancelled++;
        return r;
    }
    if (i == f->fail_at)
        return task_fail(t, RES_CONFLICT, "child %zu", i);
    f->done[i]++;
    return RES_OK;
}

static res raise_children(task *t, void *ctx)
{
    family *f = ctx;
    res     r = par_each(t, f->n, f->width, child, f);
    ck_assert_uint_eq(f->live, 0); /* all have ended when par_each returns, however it ends */
    return r;
}

START_TEST(par_each_does_every_index_once_within_its_width)
{
    family f = {.n = 100, .width = 7, .fail_at = SIZE_MAX};
    ck_assert_int_eq(run_task(raise_children, &f, 0, 0).result, RES_OK);
    for (size_t i = 0; i < f.n; i++)
        ck_assert_int_eq(f.done[i], 1);
    ck_assert_uint_eq(f.most, 7);
}
END_TEST

START_TEST(the_first_failing_child_stops_the_rest_and_gives_its_message)
{
    family f = {.n = 100, .width = 10, .fail_at = 15};
    run    r = run_task(raise_children, &f, 0, 0);
    ck_assert_int_eq(r.result, RES_CONFLICT);
    ck_assert_str_eq(r.message, "child 15");
    ck_assert_int_eq(f.done[99], 0);
}
END_TEST

static res slow_child(task *t, size_t i, void *ctx)
{
    (void)i;
    res r = task_sleep(t, 3600 * 1000);
    *(int *)ctx += r == RES_TIMEOUT || r == RES_GONE; /* its own timer, or a sibling whose timer was first */
    return r;
}

static res raise_slow_children(task *t, void *ctx)
{
    return par_each(t, 30, 10, slow_child, ctx);
}

START_TEST(the_parents_deadline_ends_all_children)
{
    int stopped = 0;
    ck_assert_int_eq(run_task(raise_slow_children, &stopped, 20, 0).result, RES_TIMEOUT);
    ck_assert_int_eq(stopped, 10);
}
END_TEST

START_TEST(par_each_survives_every_failing_allocation_and_every_cancelled_wait)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        family f = {.n = 10, .width = 4, .fail_at = SIZE_MAX};
        wait_cancel_at(nth, RES_GONE);
        res  r = run_task(raise_children, &f, 0, 0).result;
        bool pending = wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        ck_assert_int_eq(r, pending ? RES_OK : RES_GONE);
        if (pending)
            break;
    }
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        family f = {.n = 10, .width = 4, .fail_at = 5};
        arena_fail_at(nth);
        res  r = run_task(raise_children, &f, 0, 0).result;
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, pending ? RES_CONFLICT : RES_MEMORY);
        if (pending)
            break;
    }
}
END_TEST

START_TEST(children_beyond_the_limit_of_tasks_wait_for_a_place)
{
    family f = {.n = 20, .width = 10, .fail_at = SIZE_MAX};
    task_set_limit(4);
    ck_assert_int_eq(run_task(raise_children, &f, 0, 0).result, RES_OK);
    task_set_limit(1);
    ck_assert_int_eq(run_task(raise_children, &f, 0, 0).result, RES_UNAVAILABLE);
    task_set_limit(10000);
    ck_assert_uint_eq(f.most, 3);
}
END_TEST

/* ---- threads ---- */

static void square(void *arg)
{
    int *n = arg;
    usleep(2000);
    *n *= *n;
}

static res square_outside(task *t, void *ctx)
{
    return task_offload(t, square, ctx);
}

START_TEST(offloaded_work_is_done_when_the_call_returns)
{
    int n = 12;
    ck_assert_int_eq(run_task(square_outside, &n, 0, 0).result, RES_OK);
    ck_assert_int_eq(n, 144);
}
END_TEST

START_TEST(a_cancelled_task_waits_for_the_thread_that_holds_its_work)
{
    int n = 5;
    wait_cancel_at(1, RES_GONE);
    ck_assert_int_eq(run_task(square_outside, &n, 0, 0).result, RES_GONE);
    ck_assert(n == 5 || n == 25); /* never begun, or complete */
}
END_TEST

/* ---- many ---- */

static res nap_ten_times(task *t, void *ctx)
{
    for (int i = 0; i < 10; i++)
        TRY(task_sleep(t, (uint64_t)i % 3));
    ++*(int *)ctx;
    return RES_OK;
}

START_TEST(hundreds_of_tasks_wait_at_once)
{
    enum { MANY = 500 };
    int done = 0;
    ck_assert_int_eq(loop_open(), RES_OK);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(
            task_start(&(task_spec){.name = "many", .deadline_ms = 60000}, nap_ten_times, NULL, &done, NULL),
            RES_OK);
    loop_run();
    loop_close();
    ck_assert_int_eq(done, MANY);
}
END_TEST

Suite *suite_task(void)
{
    Suite *s = suite_create("task");
    TCase *c = tcase_create("task");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_sleep_ends);
    tcase_add_test(c, the_deadline_ends_a_wait_with_timeout);
    tcase_add_test(c, a_cancelled_sleep_returns_the_reason);
    tcase_add_test(c, a_failure_reads_from_the_outside_in);
    tcase_add_test(c, a_task_that_spends_its_memory_ends_with_out_of_memory);
    tcase_add_test(c, a_task_survives_every_failing_allocation);
    tcase_add_test(c, a_task_survives_being_cancelled_at_every_wait);
    tcase_add_test(c, par_each_does_every_index_once_within_its_width);
    tcase_add_test(c, the_first_failing_child_stops_the_rest_and_gives_its_message);
    tcase_add_test(c, the_parents_deadline_ends_all_children);
    tcase_add_test(c, par_each_survives_every_failing_allocation_and_every_cancelled_wait);
    tcase_add_test(c, children_beyond_the_limit_of_tasks_wait_for_a_place);
    tcase_add_test(c, offloaded_work_is_done_when_the_call_returns);
    tcase_add_test(c, a_cancelled_task_waits_for_the_thread_that_holds_its_work);
    tcase_add_test(c, hundreds_of_tasks_wait_at_once);
    suite_add_tcase(s, c);
    return s;
}
