/* test_provision.c -- one attempt for all who come first; and things made when they are found missing.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/provision.h"

#include "runtime/wait.h"
#include "storage/backend.h"
#include "unit/storage/storage_rig.h"
#include "unit/suites.h"

enum { CALLERS = 5, TRIES = 50 };

typedef struct {
    provision p;
    unsigned  attempts;
    res       answer;     /* of an attempt */
    unsigned  cancel_at;  /* the attempt whose task is cancelled meanwhile; 0: none */
    unsigned  exhaust_at; /* … whose memory is spent */
} scene;

static res make(task *t, void *ctx)
{
    scene   *s = ctx;
    unsigned mine = ++s->attempts;
    if (mine == s->cancel_at)
        task_cancel(t, RES_GONE);
    TRY(task_sleep(t, 1));
    if (mine == s->exhaust_at) {
        arena_fail_at(1);
        str never = arena_copy(t->arena, STR("the stack is left here"));
        ck_abort_msg("not here: %.*s", STR_ARG(never));
    }
    TRY(task_sleep(t, 1));
    return s->answer == RES_OK ? RES_OK : task_fail(t, s->answer, "making it");
}

static res call(task *t, void *ctx)
{
    scene *s = ctx;
    return provision_once(t, &s->p, make, s);
}

static void run(scene *s, storage_rig_task list[CALLERS])
{
    for (size_t i = 0; i < CALLERS; i++)
        list[i] = (storage_rig_task){.fn = call, .ctx = s};
    storage_rig_run_all(list, CALLERS);
    ck_assert(!s->p.busy);
    ck_assert_ptr_null(s->p.over.first);
}

START_TEST(callers_at_once_share_one_attempt_and_success_is_remembered)
{
    scene            s = {.p = PROVISION_INIT};
    storage_rig_task list[CALLERS];
    run(&s, list);
    run(&s, list);
    for (size_t i = 0; i < CALLERS; i++)
        ck_assert_int_eq(list[i].result, RES_OK);
    ck_assert_uint_eq(s.attempts, 1);
    provision_forget(&s.p);
    run(&s, list);
    ck_assert_uint_eq(s.attempts, 2);
}
END_TEST

START_TEST(a_failure_is_shared_but_not_remembered)
{
    scene            s = {.p = PROVISION_INIT, .answer = RES_UNREACHABLE};
    storage_rig_task list[CALLERS];
    run(&s, list);
    ck_assert_uint_eq(s.attempts, 1);
    for (size_t i = 0; i < CALLERS; i++) {
        ck_assert_int_eq(list[i].result, RES_UNREACHABLE);
        ck_assert_str_eq(list[i].message, "making it");
    }
    s.answer = RES_OK;
    run(&s, list);
    ck_assert_uint_eq(s.attempts, 2);
    ck_assert_int_eq(list[CALLERS - 1].result, RES_OK);
}
END_TEST

START_TEST(the_next_takes_over_when_the_first_is_cancelled)
{
    scene            s = {.p = PROVISION_INIT, .cancel_at = 1};
    storage_rig_task list[CALLERS];
    run(&s, list);
    ck_assert_uint_eq(s.attempts, 2);
    ck_assert_int_eq(list[0].result, RES_GONE);
    for (size_t i = 1; i < CALLERS; i++)
        ck_assert_int_eq(list[i].result, RES_OK);
}
END_TEST

START_TEST(the_next_takes_over_when_the_first_has_no_memory_left)
{
    scene            s = {.p = PROVISION_INIT, .exhaust_at = 1};
    storage_rig_task list[CALLERS];
    run(&s, list);
    arena_fail_at(0);
    ck_assert_uint_eq(s.attempts, 2);
    ck_assert_int_eq(list[0].result, RES_MEMORY);
    for (size_t i = 1; i < CALLERS; i++)
        ck_assert_int_eq(list[i].result, RES_OK);
}
END_TEST

START_TEST(it_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TRIES);
        scene            s = {.p = PROVISION_INIT};
        storage_rig_task list[CALLERS];
        arena_fail_at(nth);
        run(&s, list);
        bool all = arena_fail_pending();
        arena_fail_at(0);
        unsigned failed = 0;
        for (size_t i = 0; i < CALLERS; i++)
            failed += list[i].result != RES_OK;
        ck_assert_uint_le(failed, 1);
        ck_assert(s.p.done);
        if (all)
            break;
    }
}
END_TEST

START_TEST(it_survives_being_cancelled_at_every_wait)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TRIES);
        scene            s = {.p = PROVISION_INIT};
        storage_rig_task list[CALLERS];
        wait_cancel_at(nth, RES_GONE);
        run(&s, list);
        bool all = wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        unsigned gone = 0;
        for (size_t i = 0; i < CALLERS; i++)
            gone += list[i].result == RES_GONE;
        ck_assert_uint_eq(gone, all ? 0 : 1);
        ck_assert(s.p.done);
        if (all)
            break;
    }
}
END_TEST

/* ---- made when missing ---- */

typedef struct {
    bool     exists;
    unsigned creates, ops;
    res      answer; /* of a create */
} shelf;

static res shelf_create(void *self, task *t, str name)
{
    shelf *s = self;
    (void)name;
    s->creates++;
    TRY(task_sleep(t, 1));
    if (s->answer != RES_OK && s->answer != RES_CONFLICT)
        return task_fail(t, s->answer, "no shelf");
    s->exists = true;
    return s->answer;
}

static res shelf_use(task *t, void *ctx)
{
    shelf *s = ctx;
    s->ops++;
    return s->exists ? RES_OK : task_fail(t, RES_UNPROVISIONED, "missing");
}

static res use_named(task *t, shelf *s, const char *name)
{
    res r = made_when_missing(t, str_of(name), shelf_create, s, shelf_use, s);
    if (r == RES_OK)
        ck_assert_uint_eq(task_message(t).len, 0);
    return r;
}

static res use(task *t, void *ctx)
{
    return use_named(t, ctx, "shelf");
}

static res use_other(task *t, void *ctx)
{
    return use_named(t, ctx, "other");
}

static void run_shelf(shelf *s, storage_rig_task list[CALLERS])
{
    for (size_t i = 0; i < CALLERS; i++)
        list[i] = (storage_rig_task){.fn = use, .ctx = s};
    storage_rig_run_all(list, CALLERS);
}

START_TEST(what_is_missing_is_made_once_for_all_that_need_it)
{
    shelf            s = {0};
    storage_rig_task list[CALLERS];
    run_shelf(&s, list);
    for (size_t i = 0; i < CALLERS; i++)
        ck_assert_int_eq(list[i].result, RES_OK);
    ck_assert_uint_eq(s.creates, 1);
    ck_assert_uint_eq(s.ops, 2 * CALLERS);
    s.exists = false; /* deleted by somebody: made again, for nothing is remembered */
    run_shelf(&s, list);
    ck_assert_uint_eq(s.creates, 2);
}
END_TEST

START_TEST(what_exists_is_not_made)
{
    shelf s = {.exists = true};
    ck_assert_int_eq(storage_rig_run(use, &s, 0), RES_OK);
    ck_assert_uint_eq(s.creates, 0);
    ck_assert_uint_eq(s.ops, 1);
}
END_TEST

START_TEST(that_another_has_made_it_meanwhile_is_as_good)
{
    shelf s = {.answer = RES_CONFLICT};
    ck_assert_int_eq(storage_rig_run(use, &s, 0), RES_OK);
    ck_assert_uint_eq(s.creates, 1);
}
END_TEST

START_TEST(a_failure_to_make_it_reaches_all_and_the_next_tries_again)
{
    shelf            s = {.answer = RES_THROTTLED};
    storage_rig_task list[CALLERS];
    run_shelf(&s, list);
    ck_assert_uint_eq(s.creates, 1);
    for (size_t i = 0; i < CALLERS; i++) {
        ck_assert_int_eq(list[i].result, RES_THROTTLED);
        ck_assert_str_eq(list[i].message, "no shelf");
    }
    s.answer = RES_OK;
    ck_assert_int_eq(storage_rig_run(use, &s, 0), RES_OK);
    ck_assert_uint_eq(s.creates, 2);
}
END_TEST

START_TEST(different_names_are_made_apart)
{
    shelf            s = {0};
    storage_rig_task list[2] = {{.fn = use, .ctx = &s}, {.fn = use_other, .ctx = &s}};
    storage_rig_run_all(list, 2);
    ck_assert_uint_eq(s.creates, 2);
}
END_TEST

/* After each run, whatever became of it, the next one finds all places free. */
START_TEST(making_survives_every_failing_allocation_and_cancelled_wait)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TRIES);
        shelf            s = {0};
        storage_rig_task list[CALLERS];
        arena_fail_at(nth);
        wait_cancel_at(nth, RES_GONE);
        run_shelf(&s, list);
        bool all = arena_fail_pending() && wait_cancel_pending();
        arena_fail_at(0);
        wait_cancel_at(0, RES_OK);
        unsigned failed = 0;
        for (size_t i = 0; i < CALLERS; i++)
            failed += list[i].result != RES_OK;
        ck_assert_uint_le(failed, 2);
        ck_assert(s.exists);
        if (all)
            break;
    }
}
END_TEST

Suite *suite_provision(void)
{
    Suite *s = suite_create("provision");
    TCase *c = tcase_create("provision");
    tcase_add_test(c, callers_at_once_share_one_attempt_and_success_is_remembered);
    tcase_add_test(c, a_failure_is_shared_but_not_remembered);
    tcase_add_test(c, the_next_takes_over_when_the_first_is_cancelled);
    tcase_add_test(c, the_next_takes_over_when_the_first_has_no_memory_left);
    tcase_add_test(c, it_survives_every_failing_allocation);
    tcase_add_test(c, it_survives_being_cancelled_at_every_wait);
    suite_add_tcase(s, c);
    TCase *m = tcase_create("made");
    tcase_add_test(m, what_is_missing_is_made_once_for_all_that_need_it);
    tcase_add_test(m, what_exists_is_not_made);
    tcase_add_test(m, that_another_has_made_it_meanwhile_is_as_good);
    tcase_add_test(m, a_failure_to_make_it_reaches_all_and_the_next_tries_again);
    tcase_add_test(m, different_names_are_made_apart);
    tcase_add_test(m, making_survives_every_failing_allocation_and_cancelled_wait);
    suite_add_tcase(s, m);
    return s;
}
