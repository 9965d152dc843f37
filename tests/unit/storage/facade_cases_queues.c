/* facade_cases_queues.c -- what is refused before any back end hears of it, and what reaches it: queues.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/facade_rig.h"

#define JOBS  ((queue){.name = STR("jobs")})
#define PLAIN ((queue){.name = STR("jobs"), .plain = true})
#define CALL  FACADE_CALL

static res receive(task *t, unsigned most, unsigned hide_s)
{
    queue_message *list;
    size_t         count;
    return queues_receive(t, JOBS, most, hide_s, &list, &count);
}

static res hide(task *t, unsigned hide_s)
{
    queue_message m = {.id = STR("id"), .receipt = STR("old")};
    return queues_update(t, JOBS, &m, (str){0}, hide_s);
}

CALL(name_bad, queues_create(t, (queue){.name = STR("Jobs")}))
CALL(name_good, queues_create(t, JOBS))
/* STORE-41, our half: 65,536 bytes on the wire, and not one more. */
CALL(wire_most, queues_put(t, JOBS, facade_repeat(t, 'x', 49152), 0, 0, NULL))
CALL(wire_more, queues_put(t, JOBS, facade_repeat(t, 'x', 49153), 0, 0, NULL))
CALL(plain_most, queues_put(t, PLAIN, facade_repeat(t, 'x', 65536), 0, 0, NULL))
CALL(plain_more, queues_put(t, PLAIN, facade_repeat(t, 'x', 65537), 0, 0, NULL))
CALL(plain_control, queues_put(t, PLAIN, STR("a\x01"), 0, 0, NULL))
CALL(plain_no_utf8, queues_put(t, PLAIN, STR("\xFF"), 0, 0, NULL))
CALL(base64_of_any, queues_put(t, JOBS, STR("\xFF\x01"), 0, 0, NULL))
CALL(delay_most, queues_put(t, JOBS, STR("x"), QUEUES_HIDE_MAX_S, QUEUES_TTL_FOREVER, NULL))
CALL(delay_more, queues_put(t, JOBS, STR("x"), QUEUES_HIDE_MAX_S + 1, QUEUES_TTL_FOREVER, NULL))
CALL(delay_beyond_life, queues_put(t, JOBS, STR("x"), 10, 10, NULL))
CALL(life_negative, queues_put(t, JOBS, STR("x"), 0, -2, NULL))
CALL(receive_none, receive(t, 0, 30))
CALL(receive_many, receive(t, 33, 30))
CALL(receive_all, receive(t, 32, QUEUES_HIDE_MAX_S))
CALL(receive_visible, receive(t, 1, 0))
CALL(receive_long, receive(t, 1, QUEUES_HIDE_MAX_S + 1))
CALL(hide_zero, hide(t, 0))
CALL(hide_long, hide(t, QUEUES_HIDE_MAX_S + 1))
CALL(remove_blind, queues_remove(t, JOBS, STR("id"), STR("")))
CALL(remove_good, queues_remove(t, JOBS, STR("id"), STR("receipt")))

static const facade_trial calls[] = {
    {name_bad, RES_INVALID, "queue 'Jobs'"},
    {name_good, RES_OK, NULL},
    {wire_most, RES_OK, NULL},
    {wire_more, RES_TOO_LARGE, "65536"},
    {plain_most, RES_OK, NULL},
    {plain_more, RES_TOO_LARGE, "65536"},
    {plain_control, RES_INVALID, "control"},
    {plain_no_utf8, RES_INVALID, "UTF-8"},
    {base64_of_any, RES_OK, NULL},
    {delay_most, RES_OK, NULL},
    {delay_more, RES_INVALID, "604800"},
    {delay_beyond_life, RES_INVALID, "10 s"},
    {life_negative, RES_INVALID, "-2 s"},
    {receive_none, RES_INVALID, "1 to 32"},
    {receive_many, RES_INVALID, "1 to 32"},
    {receive_all, RES_OK, NULL},
    {receive_visible, RES_INVALID, "1 s"},
    {receive_long, RES_INVALID, "604800"},
    {hide_zero, RES_OK, NULL},
    {hide_long, RES_INVALID, "604800"},
    {remove_blind, RES_INVALID, "receipt"},
    {remove_good, RES_OK, NULL},
};

START_TEST(a_call_of_queues_is_sent_or_refused)
{
    facade_try(&calls[_i]);
}
END_TEST

static res put_hello(task *t, void *ctx)
{
    queue_message m;
    TRY(queues_put(t, *(const queue *)ctx, STR("hello"), 0, 0, &m));
    ck_assert(str_eq(m.id, STR("id")) && str_eq(m.body, STR("hello")));
    return RES_OK;
}

START_TEST(bodies_are_base64_unless_the_queue_is_plain)
{
    queue in = JOBS, plain = PLAIN;
    ck_assert_int_eq(storage_rig_run(put_hello, &in, 0), RES_OK);
    ck_assert_str_eq(facade_saw.text, "aGVsbG8=");
    ck_assert_int_eq(facade_saw.ttl_s, QUEUES_TTL_DEFAULT_S);
    ck_assert_int_eq(storage_rig_run(put_hello, &plain, 0), RES_OK);
    ck_assert_str_eq(facade_saw.text, "hello");
}
END_TEST

static res receive_both(task *t, void *ctx)
{
    const queue   *in = ctx;
    queue_message *list;
    size_t         count;
    TRY(queues_receive(t, *in, 2, 30, &list, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert(str_eq(list[0].body, in->plain ? STR("aGVsbG8=") : STR("hello")));
    ck_assert(!list[0].undecodable);
    ck_assert(str_eq(list[1].body, STR("not base64!")));
    ck_assert(list[1].undecodable == !in->plain);
    return RES_OK;
}

START_TEST(what_is_not_base64_comes_as_it_is_and_is_flagged)
{
    queue in = JOBS, plain = PLAIN;
    ck_assert_int_eq(storage_rig_run(receive_both, &in, 0), RES_OK);
    ck_assert_int_eq(storage_rig_run(receive_both, &plain, 0), RES_OK);
}
END_TEST

static res change(task *t, void *ctx)
{
    queue_message m = {.id = STR("id"), .receipt = STR("old"), .body = STR("before")};
    (void)ctx;
    TRY(queues_update(t, JOBS, &m, (str){0}, 5));
    ck_assert_str_eq(facade_saw.text, "(none)");
    ck_assert(str_eq(m.receipt, STR("new")) && str_eq(m.body, STR("before")));
    TRY(queues_update(t, JOBS, &m, STR("hello"), 5));
    ck_assert_str_eq(facade_saw.text, "aGVsbG8=");
    ck_assert(str_eq(m.body, STR("hello")));
    TRY(queues_update(t, JOBS, &m, STR(""), 5)); /* an empty body is a body */
    ck_assert_str_eq(facade_saw.text, "");
    return RES_OK;
}

START_TEST(an_update_changes_the_body_only_when_there_is_one)
{
    ck_assert_int_eq(storage_rig_run(change, NULL, 0), RES_OK);
}
END_TEST

typedef struct {
    queue         in;
    queue_message m;
} poison;

static res put_aside(task *t, void *ctx)
{
    const poison *p = ctx;
    return queues_poison(t, p->in, &p->m);
}

/* The facade's half of STORE-42. */
START_TEST(poison_is_copied_in_its_own_encoding_and_deleted)
{
    poison p = {.in = JOBS, .m = {.id = STR("id"), .receipt = STR("r"), .body = STR("hello")}};
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_OK);
    ck_assert_str_eq(facade_saw.queue, "jobs-poison");
    ck_assert_str_eq(facade_saw.text, "aGVsbG8=");
    ck_assert_uint_eq(facade_saw.calls, 2);

    p.m.undecodable = true;
    p.m.body = STR("not base64!\r");
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_OK);
    ck_assert_str_eq(facade_saw.text, "not base64!\r");

    p = (poison){.in = PLAIN, .m = {.id = STR("id"), .receipt = STR("r"), .body = STR("hello")}};
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_OK);
    ck_assert_str_eq(facade_saw.text, "hello");
}
END_TEST

START_TEST(poison_that_is_gone_already_is_fine_but_a_void_receipt_is_not)
{
    poison p = {.in = JOBS, .m = {.id = STR("id"), .receipt = STR("r"), .body = STR("hello")}};
    facade_saw.answer = RES_NOT_FOUND;
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_OK);
    facade_saw.answer = RES_PRECONDITION;
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_PRECONDITION);
}
END_TEST

START_TEST(a_queue_whose_poison_has_no_name_is_refused_before_anything_is_done)
{
    poison p = {.in = {.name = STR("a234567890123456789012345678901234567890123456789012345678")},
                .m = {.id = STR("id"), .receipt = STR("r")}};
    ck_assert_int_eq(storage_rig_run(put_aside, &p, 0), RES_INVALID);
    ck_assert_uint_eq(facade_saw.calls, 0);
}
END_TEST

TCase *facade_cases_queues(void)
{
    TCase *c = tcase_create("queues");
    tcase_add_checked_fixture(c, facade_before, facade_after);
    tcase_add_loop_test(c, a_call_of_queues_is_sent_or_refused, 0, sizeof calls / sizeof *calls);
    tcase_add_test(c, bodies_are_base64_unless_the_queue_is_plain);
    tcase_add_test(c, what_is_not_base64_comes_as_it_is_and_is_flagged);
    tcase_add_test(c, an_update_changes_the_body_only_when_there_is_one);
    tcase_add_test(c, poison_is_copied_in_its_own_encoding_and_deleted);
    tcase_add_test(c, poison_that_is_gone_already_is_fine_but_a_void_receipt_is_not);
    tcase_add_test(c, a_queue_whose_poison_has_no_name_is_refused_before_anything_is_done);
    return c;
}
