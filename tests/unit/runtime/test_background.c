/* test_background.c -- tasks that nobody waits for: how many there may be, and how they end with the process.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/background.h"

#include "runtime/loop.h"
#include "unit/suites.h"

typedef struct {
    unsigned ran, ended;
    res      last;
} scene;

static void open_loop(void)
{
    background_reset();
    ck_assert_int_eq(loop_open(), RES_OK);
}

static void close_loop(void)
{
    loop_run();
    loop_close();
    background_reset();
}

static res count(task *t, void *ctx)
{
    scene *s = ctx;
    s->ran++;
    s->last = task_sleep(t, 1);
    s->ended++;
    return s->last;
}

static res pause_long(task *t, void *ctx)
{
    scene *s = ctx;
    s->ran++;
    s->last = background_pause(t, 3600 * 1000);
    s->ended++;
    return s->last;
}

static res leave(task *t, void *ctx)
{
    TRY(task_sleep(t, 2));
    ((scene *)ctx)->ran += 100;
    background_leave();
    return RES_OK;
}

static res cancel(task *t, void *ctx)
{
    (void)ctx;
    TRY(task_sleep(t, 2));
    background_cancel();
    return RES_OK;
}

START_TEST(work_in_the_background_runs_to_its_end)
{
    scene s = {0};
    open_loop();
    ck_assert_int_eq(background_start("count", MIB, count, &s), RES_OK);
    ck_assert_uint_eq(s.ran, 0); /* later, from the loop */
    close_loop();
    ck_assert_uint_eq(s.ended, 1);
}
END_TEST

START_TEST(there_are_so_many_at_once_and_places_are_used_again)
{
    scene s = {0};
    open_loop();
    for (int i = 0; i < BACKGROUND_MAX; i++)
        ck_assert_int_eq(background_start("count", MIB, count, &s), RES_OK);
    ck_assert_int_eq(background_start("count", MIB, count, &s), RES_UNAVAILABLE);
    loop_run();
    ck_assert_uint_eq(s.ended, BACKGROUND_MAX);
    ck_assert_int_eq(background_start("count", MIB, count, &s), RES_OK);
    close_loop();
    ck_assert_uint_eq(s.ended, BACKGROUND_MAX + 1);
}
END_TEST

START_TEST(a_pause_ends_when_the_process_is_leaving_and_nothing_new_starts)
{
    scene s = {0};
    open_loop();
    ck_assert_int_eq(background_start("pause", MIB, pause_long, &s), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "leave"}, leave, NULL, &s, NULL), RES_OK);
    loop_run();
    ck_assert_uint_eq(s.ended, 1);
    ck_assert_int_eq(s.last, RES_OK);
    ck_assert(background_leaving());
    ck_assert_int_eq(background_start("late", MIB, count, &s), RES_UNAVAILABLE);
    close_loop();
}
END_TEST

START_TEST(what_is_cancelled_ends_with_gone)
{
    scene s = {0};
    open_loop();
    ck_assert_int_eq(background_start("pause", MIB, pause_long, &s), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "cancel"}, cancel, NULL, &s, NULL), RES_OK);
    close_loop();
    ck_assert_uint_eq(s.ended, 1);
    ck_assert_int_eq(s.last, RES_GONE);
}
END_TEST

/* ---- what a peer said ---- */

static res fail_second(task *t, size_t i, void *ctx)
{
    (void)ctx;
    if (i == 0)
        return task_sleep(t, 50);
    task_set_peer(t, 503, STR("ServerBusy"), STR("Too busy."));
    return task_fail(t, RES_THROTTLED, "child");
}

static res look_at_peer(task *t, void *ctx)
{
    scene *s = ctx;
    ck_assert_int_eq(task_peer_said(t)->status, 0);
    s->last = par_each(t, 2, 2, fail_second, NULL);
    s->ran = (unsigned)task_peer_said(t)->status;
    ck_assert_str_eq(task_peer_said(t)->code, "ServerBusy");
    ck_assert_str_eq(task_peer_said(t)->message, "Too busy.");
    task_forget(t);
    s->ended = (unsigned)task_peer_said(t)->status;
    return RES_OK;
}

START_TEST(what_the_peer_of_a_failed_child_said_is_the_parents_until_it_forgets)
{
    scene s = {.ended = 1};
    open_loop();
    ck_assert_int_eq(task_start(&(task_spec){.name = "peer"}, look_at_peer, NULL, &s, NULL), RES_OK);
    close_loop();
    ck_assert_int_eq(s.last, RES_THROTTLED);
    ck_assert_uint_eq(s.ran, 503);
    ck_assert_uint_eq(s.ended, 0);
}
END_TEST

Suite *suite_background(void)
{
    Suite *s = suite_create("background");
    TCase *c = tcase_create("background");
    tcase_add_test(c, work_in_the_background_runs_to_its_end);
    tcase_add_test(c, there_are_so_many_at_once_and_places_are_used_again);
    tcase_add_test(c, a_pause_ends_when_the_process_is_leaving_and_nothing_new_starts);
    tcase_add_test(c, what_is_cancelled_ends_with_gone);
    tcase_add_test(c, what_the_peer_of_a_failed_child_said_is_the_parents_until_it_forgets);
    suite_add_tcase(s, c);
    return s;
}
