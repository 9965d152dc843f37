/* embedded_queues_cases_many.c -- embedded queues with many receivers, with failing allocations and waits,
 * and after a restart.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/embedded_queues_rig.h"

enum { MESSAGES = 500, RECEIVERS = 64 };

typedef struct {
    engine  *e;
    unsigned delivered[MESSAGES];
} crowd;

static res put_numbered(task *t, size_t i, void *ctx)
{
    queue_message m;
    return Q.put(((crowd *)ctx)->e, t, jobs, arena_strf(t->arena, "%zu", i), 0, 0, &m);
}

static res receive_all(task *t, size_t i, void *ctx)
{
    crowd         *c = ctx;
    queue_message *all;
    size_t         count;
    for (;;) {
        TRY(Q.receive(c->e, t, jobs, 1 + (unsigned)i % 7, 30, &all, &count));
        if (count == 0)
            return RES_OK;
        for (size_t k = 0; k < count; k++) {
            uint64_t n = MESSAGES;
            ck_assert(str_to_u64(all[k].body, &n) && n < MESSAGES);
            c->delivered[n]++;
        }
    }
}

STORE_TEST(of_64_receivers_at_once_exactly_one_gets_each_message)
{
    crowd *c = arena_one(t->arena, crowd);
    c->e = e;
    queues_rig_make(t, e);
    ck_assert_int_eq(par_each(t, MESSAGES, RECEIVERS, put_numbered, c), RES_OK);
    ck_assert_uint_eq(queues_rig_count(t, e), MESSAGES);
    ck_assert_int_eq(par_each(t, RECEIVERS, RECEIVERS, receive_all, c), RES_OK);
    for (size_t i = 0; i < MESSAGES; i++)
        ck_assert_uint_eq(c->delivered[i], 1);
}

static res use_everything(task *t, engine *e)
{
    queue_message m, *all;
    name_page     names;
    size_t        count;
    uint64_t      n;
    const str     body = STR("b");
    res           r = Q.create(e, t, jobs);
    if (r != RES_OK && r != RES_CONFLICT)
        return r;
    task_forget(t);
    TRY(Q.list(e, t, STR(""), 10, STR(""), &names));
    TRY(Q.clear(e, t, jobs));
    TRY(Q.put(e, t, jobs, STR("a"), 0, 0, &m));
    TRY(Q.put(e, t, jobs, STR("c"), 0, 0, &m));
    TRY(Q.peek(e, t, jobs, 32, &all, &count));
    TRY(Q.receive(e, t, jobs, 32, 30, &all, &count));
    ck_assert_uint_eq(count, 2);
    TRY(Q.update(e, t, jobs, &all[0], &body, 0));
    TRY(Q.remove(e, t, jobs, all[1].id, all[1].receipt));
    TRY(Q.count(e, t, jobs, &n));
    ck_assert_uint_eq(n, 1);
    return Q.drop(e, t, jobs);
}

START_TEST(every_failing_allocation_is_out_of_memory_and_the_store_goes_on)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 1000);
        res r = embedded_rig_try(use_everything, nth, 0, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
    }
}
END_TEST

START_TEST(every_cancelled_wait_ends_the_call_and_the_store_goes_on)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 1000);
        res r = embedded_rig_try(use_everything, 0, nth, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_GONE);
    }
}
END_TEST

static void check_put_before(task *t, engine *e)
{
    queue_message m = queues_rig_receive(t, e, 30);
    ck_assert(str_eq(m.body, STR("kept")));
    ck_assert_int_eq(m.dequeue_count, 2);
}

static void put_and_receive_once(task *t, engine *e)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "kept", 0, 0);
    (void)queues_rig_receive(t, e, 30);
}

START_TEST(messages_and_their_counts_outlive_the_process)
{
    embedded_rig_run(put_and_receive_once);
    queues_rig_set_time(30);
    embedded_rig_run(check_put_before);
}
END_TEST

TCase *embedded_queues_cases_many(void)
{
    TCase *c = tcase_create("many");
    tcase_add_checked_fixture(c, queues_rig_before, queues_rig_after);
    tcase_add_test(c, of_64_receivers_at_once_exactly_one_gets_each_message);
    tcase_add_test(c, every_failing_allocation_is_out_of_memory_and_the_store_goes_on);
    tcase_add_test(c, every_cancelled_wait_ends_the_call_and_the_store_goes_on);
    tcase_add_test(c, messages_and_their_counts_outlive_the_process);
    return c;
}
