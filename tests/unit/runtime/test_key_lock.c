/* test_key_lock.c -- one task at a time for each key, in the order in which they came, whatever becomes of
 * them.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/key_lock.h"

#include <stdio.h>

#include "runtime/loop.h"
#include "runtime/wait.h"
#include "unit/suites.h"

enum { TASKS = 6, MANY = 200000, KEY_SIZE = 24 };

typedef struct {
    int  order[TASKS]; /* who had the lock, one after another */
    int  count, inside;
    bool release;
    res  last;
} scene;

typedef struct {
    scene *s;
    int    who;
    char   key[KEY_SIZE];
    bool   out_of_memory;
} actor;

static void start(task_fn *fn, void *ctx, task_end_fn *end, uint64_t deadline_ms)
{
    task_spec spec = {.name = "test", .deadline_ms = deadline_ms, .memory_bytes = 64 * KIB};
    ck_assert_int_eq(task_start(&spec, fn, end, ctx, NULL), RES_OK);
}

static void finish(void)
{
    loop_run();
    loop_close();
    ck_assert_uint_eq(key_lock_count(), 0);
}

/* Holds the lock over two waits, in which nobody else may have it. */
static res hold(task *t, void *ctx)
{
    actor    *a = ctx;
    scene    *s = a->s;
    key_lock *l;
    res       r = key_lock_take(t, str_of(a->key), &l);
    if (r != RES_OK)
        return s->last = r;
    s->order[s->count++] = a->who;
    ck_assert_int_eq(s->inside++, 0);
    r = task_sleep(t, 1);
    ck_assert_int_eq(--s->inside, 0);
    if (a->out_of_memory)
        ck_assert_ptr_null(arena_alloc(t->arena, MIB)); /* never compared: the task's stack is left */
    if (s->release) {
        key_lock_release(l);
        key_lock_release(l);
        r = task_sleep(t, 1);
    }
    return r;
}

static void start_all(scene *s, actor *actors, const char *key)
{
    ck_assert_int_eq(loop_open(), RES_OK);
    for (int i = 0; i < TASKS; i++) {
        actors[i] = (actor){.s = s, .who = i};
        (void)snprintf(actors[i].key, sizeof actors[i].key, "%s", key);
        start(hold, &actors[i], NULL, 0);
    }
}

START_TEST(one_key_is_held_by_one_task_at_a_time_in_the_order_of_their_coming)
{
    scene s = {.release = _i == 1};
    actor actors[TASKS];
    start_all(&s, actors, "acme/setup");
    finish();
    ck_assert_int_eq(s.count, TASKS);
    for (int i = 0; i < TASKS; i++)
        ck_assert_int_eq(s.order[i], i);
}
END_TEST

START_TEST(a_task_that_runs_out_of_memory_keeps_nobody_waiting)
{
    scene s = {0};
    actor actors[TASKS];
    start_all(&s, actors, "k");
    actors[0].out_of_memory = actors[3].out_of_memory = true;
    finish();
    ck_assert_int_eq(s.count, TASKS);
}
END_TEST

static res hold_two(task *t, void *ctx)
{
    key_lock **both = ctx;
    ck_assert_int_eq(key_lock_take(t, STR("a"), &both[0]), RES_OK);
    ck_assert_int_eq(key_lock_take(t, STR("b"), &both[1]), RES_OK);
    ck_assert_uint_eq(key_lock_count(), 2);
    return RES_OK;
}

START_TEST(other_keys_are_not_waited_for)
{
    key_lock *both[2];
    ck_assert_int_eq(loop_open(), RES_OK);
    wait_cancel_at(1, RES_GONE);
    start(hold_two, (void *)both, NULL, 0);
    finish();
    ck_assert(wait_cancel_pending());
    wait_cancel_at(0, RES_OK);
}
END_TEST

START_TEST(a_cancelled_waiter_leaves_the_queue_and_the_others_still_come_in_order)
{
    scene s = {.release = true};
    actor actors[TASKS];
    wait_cancel_at(_i + 1, RES_GONE); /* the first wait is that of the holder, then the waiters' */
    start_all(&s, actors, "k");
    finish();
    ck_assert_int_eq(s.count, _i == 0 ? TASKS : TASKS - 1);
    for (int i = 1; i < s.count; i++)
        ck_assert_int_lt(s.order[i - 1], s.order[i]);
    ck_assert(_i == 0 || s.last == RES_GONE);
}
END_TEST

START_TEST(waiting_ends_at_the_deadline)
{
    scene s = {0};
    actor first = {.s = &s, .key = "k"}, second = {.s = &s, .key = "k"};
    task *holder;
    ck_assert_int_eq(loop_open(), RES_OK);
    task_spec spec = {.name = "holder"};
    ck_assert_int_eq(task_start(&spec, hold, NULL, &first, &holder), RES_OK);
    start(hold, &second, NULL, 1);
    finish();
    ck_assert_int_ge(s.count, 1); /* how late the deadline's timer is depends on the machine */
    ck_assert(s.count == 2 || s.last == RES_TIMEOUT);
}
END_TEST

/* ---- handed over and cancelled in the same turn of the loop ---- */

typedef struct {
    task     *second;
    key_lock *l;
    res       got;
    bool      third_had_it;
} handover;

static res hand_over_and_cancel(task *t, void *ctx)
{
    handover *h = ctx;
    ck_assert_int_eq(key_lock_take(t, STR("k"), &h->l), RES_OK);
    res r = task_sleep(t, 1);
    key_lock_release(h->l);
    task_cancel(h->second, RES_GONE); /* owns it, and has not run since */
    return r;
}

static res wait_second(task *t, void *ctx)
{
    handover *h = ctx;
    key_lock *l;
    h->got = key_lock_take(t, STR("k"), &l);
    return h->got;
}

static res wait_third(task *t, void *ctx)
{
    handover *h = ctx;
    key_lock *l;
    res       r = key_lock_take(t, STR("k"), &l);
    h->third_had_it = r == RES_OK;
    return r;
}

START_TEST(a_lock_handed_to_a_task_that_is_cancelled_then_goes_on_to_the_next)
{
    handover  h = {0};
    task_spec spec = {.name = "second"};
    ck_assert_int_eq(loop_open(), RES_OK);
    start(hand_over_and_cancel, &h, NULL, 0);
    ck_assert_int_eq(task_start(&spec, wait_second, NULL, &h, &h.second), RES_OK);
    start(wait_third, &h, NULL, 0);
    finish();
    ck_assert_int_eq(h.got, RES_GONE);
    ck_assert(h.third_had_it);
}
END_TEST

/* ---- many, and none ---- */

static res hold_many(task *t, void *ctx)
{
    size_t *ret_most = ctx;
    char    key[KEY_SIZE];
    for (int i = 0; i < MANY; i++) {
        key_lock *l;
        int       len = snprintf(key, sizeof key, "owner/name-%d", i);
        ck_assert_int_eq(key_lock_take(t, (str){key, (size_t)len}, &l), RES_OK);
    }
    *ret_most = key_lock_count();
    return RES_OK;
}

/* With a list in place of the table this would take minutes, and the test's time would be up. */
START_TEST(very_many_keys_can_be_held_at_once)
{
    size_t    most = 0;
    task_spec spec = {.name = "many", .memory_bytes = 256 * MIB};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&spec, hold_many, NULL, &most, NULL), RES_OK);
    finish();
    ck_assert_uint_eq(most, MANY);
}
END_TEST

START_TEST(keys_are_bytes_and_the_empty_one_is_a_key_too)
{
    scene s = {.release = true};
    actor actors[TASKS];
    start_all(&s, actors, "");
    finish();
    ck_assert_int_eq(s.count, TASKS);
}
END_TEST

static void note(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    *(res *)ctx = result;
}

static res take_one(task *t, void *ctx)
{
    key_lock *l;
    (void)ctx;
    return key_lock_take(t, STR("k"), &l);
}

START_TEST(no_failing_allocation_leaves_a_key_behind)
{
    for (long nth = 1;; nth++) {
        res r = RES_INTERNAL;
        ck_assert_int_lt(nth, 20);
        ck_assert_int_eq(loop_open(), RES_OK);
        start(take_one, &r, note, 0);
        arena_fail_at(nth);
        finish();
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
}
END_TEST

static res take_when_stopped(task *t, void *ctx)
{
    key_lock *l;
    (void)ctx;
    task_cancel(t, RES_GONE);
    return key_lock_take(t, STR("k"), &l);
}

START_TEST(a_stopped_task_takes_nothing)
{
    res r = RES_OK;
    ck_assert_int_eq(loop_open(), RES_OK);
    start(take_when_stopped, &r, note, 0);
    finish();
    ck_assert_int_eq(r, RES_GONE);
}
END_TEST

Suite *suite_key_lock(void)
{
    Suite *s = suite_create("key_lock");
    TCase *c = tcase_create("key_lock");
    tcase_add_loop_test(c, one_key_is_held_by_one_task_at_a_time_in_the_order_of_their_coming, 0, 2);
    tcase_add_test(c, a_task_that_runs_out_of_memory_keeps_nobody_waiting);
    tcase_add_test(c, other_keys_are_not_waited_for);
    tcase_add_loop_test(c, a_cancelled_waiter_leaves_the_queue_and_the_others_still_come_in_order, 0, TASKS);
    tcase_add_test(c, waiting_ends_at_the_deadline);
    tcase_add_test(c, a_lock_handed_to_a_task_that_is_cancelled_then_goes_on_to_the_next);
    tcase_add_test(c, very_many_keys_can_be_held_at_once);
    tcase_add_test(c, keys_are_bytes_and_the_empty_one_is_a_key_too);
    tcase_add_test(c, no_failing_allocation_leaves_a_key_behind);
    tcase_add_test(c, a_stopped_task_takes_nothing);
    suite_add_tcase(s, c);
    return s;
}
