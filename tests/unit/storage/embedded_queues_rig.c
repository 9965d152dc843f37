/* embedded_queues_rig.c -- see embedded_queues_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/embedded_queues_rig.h"

#include "core/clock.h"

void queues_rig_set_time(int64_t after_noon_s)
{
    clock_set_for_test((NOON_S + after_noon_s) * 1000000, 1);
}

void queues_rig_before(void)
{
    embedded_rig_before();
    queues_rig_set_time(0);
}

void queues_rig_after(void)
{
    clock_unset_for_test();
    embedded_rig_after();
}

const str jobs = STR_INIT("jobs");

queue_message queues_rig_put(task *t, engine *e, const char *body, unsigned delay_s, int ttl_s)
{
    queue_message m;
    ck_assert_int_eq(Q.put(e, t, jobs, str_of(body), delay_s, ttl_s, &m), RES_OK);
    return m;
}

queue_message queues_rig_receive(task *t, engine *e, unsigned hide_s)
{
    queue_message *all = NULL;
    size_t         count = 0;
    ck_assert_int_eq(Q.receive(e, t, jobs, 1, hide_s, &all, &count), RES_OK);
    ck_assert_uint_eq(count, 1);
    return all[0];
}

uint64_t queues_rig_count(task *t, engine *e)
{
    uint64_t n = 99;
    ck_assert_int_eq(Q.count(e, t, jobs, &n), RES_OK);
    return n;
}

void queues_rig_make(task *t, engine *e)
{
    ck_assert_int_eq(Q.create(e, t, jobs), RES_OK);
}
