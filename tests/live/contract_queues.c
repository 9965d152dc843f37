/* contract_queues.c -- queues: what is put is received, hidden, given back, moved away, and deleted once.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "live/contract.h"
#include "live/live.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { LONG_S = 3600, POISON_TRIES = 5 };

/* Exactly one message is visible. */
static queue_message receive_one(task *t, queue in, unsigned hide_s)
{
    queue_message *got;
    size_t         count;
    OK(queues_receive(t, in, 1, hide_s, &got, &count));
    ck_assert_uint_eq(count, 1);
    return got[0];
}

static size_t visible(task *t, queue in)
{
    queue_message *got;
    size_t         count;
    OK(queues_peek(t, in, QUEUES_RECEIVE_MAX, &got, &count));
    return count;
}

/* ---- queues ---- */

/* STORE-40 */
LIVE_TEST(a_queue_can_be_created_twice_and_deleted_once)
{
    queue in = live_queue();
    OK(queues_create(t, in));
    OK(queues_create(t, in));
    OK(queues_delete(t, in));
    EXPECT(RES_NOT_FOUND, queues_delete(t, in));
}

LIVE_TEST(a_missing_queue_is_unprovisioned_below_and_made_above)
{
    const backend *b = store_backend(STORE_MAIN);
    queue          in = live_queue();
    queue_message *got, one;
    size_t         count;
    uint64_t       about;
    EXPECT(RES_UNPROVISIONED, b->queues->receive(b->queues_self, t, in.name, 1, 30, &got, &count));
    EXPECT(RES_UNPROVISIONED, b->queues->put(b->queues_self, t, in.name, STR("eA=="), 0, 60, &one));
    EXPECT(RES_UNPROVISIONED, b->queues->count(b->queues_self, t, in.name, &about));
    OK(queues_receive(t, in, 1, 30, &got, &count));
    ck_assert_uint_eq(count, 0);
    OK(queues_delete(t, in));
}

static const char *const bad_queues[] = {"", "ab", "Abc", "a_b", "-abc", "abc-", "a--b", "a/b"};

LIVE_TEST(a_bad_queue_name_is_refused_by_every_call)
{
    queue          in = {.name = str_of(bad_queues[i])};
    queue_message *got;
    size_t         count;
    EXPECT(RES_INVALID, queues_create(t, in));
    EXPECT(RES_INVALID, queues_delete(t, in));
    EXPECT(RES_INVALID, queues_put(t, in, STR("x"), 0, 0, NULL));
    EXPECT(RES_INVALID, queues_receive(t, in, 1, 30, &got, &count));
}

LIVE_TEST(queues_are_listed_by_prefix_in_pages)
{
    const char *prefix = live_name("l");
    for (int n = 0; n < 5; n++) { /* Azurite's markers go by the order of creation, its pages by name */
        int k = live_is() == LIVE_AZURE ? n : 4 - n;
        OK(queues_create(t, (queue){.name = str_of(textf("%s-%d", prefix, k))}));
    }
    str    token = {0}, *names;
    size_t count, all = 0;
    do {
        OK(queues_list(t, STORE_MAIN, str_of(textf("%s-", prefix)), 2, token, &names, &count, &token));
        ck_assert_uint_le(count, 2);
        for (size_t k = 0; k < count; k++, all++)
            ck_str_eq(names[k], str_of(textf("%s-%zu", prefix, all)));
    } while (token.len > 0);
    ck_assert_uint_eq(all, 5);
}

/* ---- a message's life ---- */

/* STORE-40 */
LIVE_TEST(a_message_is_put_received_and_removed)
{
    queue         in = live_queue();
    queue_message put;
    int64_t       day_us = INT64_C(24) * 3600 * 1000000;
    OK(queues_put(t, in, STR("hello"), 0, 0, &put));
    queue_message got = receive_one(t, in, LONG_S);
    ck_str_eq(got.body, STR("hello"));
    ck_str_eq(got.id, put.id);
    ck_assert_int_eq(got.dequeue_count, 1);
    ck_assert(!got.undecodable);
    ck_assert_int_gt(got.expires_us - got.inserted_us, 6 * day_us);
    ck_assert_int_lt(got.expires_us - got.inserted_us, 8 * day_us);
    ck_assert_int_gt(got.next_visible_us, clock_wall_us() + (LONG_S - 120) * INT64_C(1000000));
    ck_assert_uint_eq(visible(t, in), 0);
    OK(queues_remove(t, in, got.id, got.receipt));
    EXPECT(RES_NOT_FOUND, queues_remove(t, in, got.id, got.receipt));
}

/* STORE-40 */
LIVE_TEST(the_receipt_of_an_earlier_receive_is_void)
{
    queue in = live_queue();
    OK(queues_put(t, in, STR("hello"), 0, 0, NULL));
    queue_message first = receive_one(t, in, LONG_S), now = first;
    OK(queues_update(t, in, &now, (str){0}, 0));
    ck_assert(!str_eq(first.receipt, now.receipt));
    EXPECT(RES_PRECONDITION, queues_remove(t, in, first.id, first.receipt));
    EXPECT(RES_PRECONDITION, queues_update(t, in, &first, STR("x"), 0));
    queue_message second = receive_one(t, in, LONG_S);
    ck_assert_int_eq(second.dequeue_count, 2);
    ck_str_eq(second.body, STR("hello"));
    EXPECT(RES_PRECONDITION, queues_remove(t, in, now.id, now.receipt));
    OK(queues_remove(t, in, second.id, second.receipt));
}

LIVE_TEST(an_update_can_change_the_body_and_the_time)
{
    queue in = live_queue();
    OK(queues_put(t, in, STR("old"), 0, 0, NULL));
    queue_message m = receive_one(t, in, LONG_S);
    int64_t       before = m.next_visible_us;
    OK(queues_update(t, in, &m, STR("new <&>"), 2 * LONG_S));
    ck_assert_int_gt(m.next_visible_us, before + (LONG_S / 2) * INT64_C(1000000));
    ck_assert_uint_eq(visible(t, in), 0);
    OK(queues_update(t, in, &m, (str){0}, 0));
    ck_str_eq(receive_one(t, in, LONG_S).body, STR("new <&>"));
}

LIVE_TEST(an_update_can_empty_the_body)
{
    queue in = live_queue();
    OK(queues_put(t, in, STR("old"), 0, 0, NULL));
    queue_message m = receive_one(t, in, LONG_S);
    OK(queues_update(t, in, &m, STR(""), 0));
    ck_assert_uint_eq(receive_one(t, in, LONG_S).body.len, 0);
}

LIVE_TEST(a_message_that_is_gone_is_not_found)
{
    queue in = live_queue();
    OK(queues_put(t, in, STR("x"), 0, 0, NULL));
    queue_message m = receive_one(t, in, LONG_S);
    OK(queues_remove(t, in, m.id, m.receipt));
    EXPECT(RES_NOT_FOUND, queues_update(t, in, &m, STR("y"), 10));
}

/* Times are whole seconds: a real second must pass. */
LIVE_TEST(a_delayed_or_hidden_message_comes_back_in_time)
{
    queue          in = live_queue();
    queue_message *got;
    size_t         count, seen = 0;
    OK(queues_put(t, in, STR("delayed"), 1, 0, NULL));
    OK(queues_put(t, in, STR("hidden"), 0, 0, NULL));
    ck_str_eq(receive_one(t, in, 1).body, STR("hidden"));
    ck_assert_uint_eq(visible(t, in), 0);
    while (seen < 2) { /* the deadline of the task is the limit */
        OK(queues_receive(t, in, 10, LONG_S, &got, &count));
        for (size_t k = 0; k < count; k++)
            ck_assert_int_eq(got[k].dequeue_count, str_eq(got[k].body, STR("hidden")) ? 2 : 1);
        seen += count;
        OK(task_sleep(t, 50));
    }
}

LIVE_TEST(a_message_expires)
{
    queue          in = live_queue();
    queue_message  put, forever;
    queue_message *got;
    size_t         count;
    OK(queues_put(t, in, STR("short"), 0, 1, &put));
    OK(queues_put(t, in, STR("long"), 0, QUEUES_TTL_FOREVER, &forever));
    ck_assert_int_gt(forever.expires_us, put.expires_us + INT64_C(365) * 24 * 3600 * 1000000);
    do
        OK(task_sleep(t, 50));
    while (visible(t, in) > 1);
    OK(queues_receive(t, in, 32, LONG_S, &got, &count));
    ck_assert_uint_eq(count, 1);
    ck_str_eq(got[0].body, STR("long"));
}

LIVE_TEST(peeking_hides_nothing)
{
    queue          in = live_queue();
    queue_message *got;
    size_t         count;
    OK(queues_put(t, in, STR("x"), 0, 0, NULL));
    for (int n = 0; n < 3; n++) {
        OK(queues_peek(t, in, 1, &got, &count));
        ck_assert_uint_eq(count, 1);
        ck_str_eq(got[0].body, STR("x"));
        ck_assert_int_eq(got[0].dequeue_count, 0);
        ck_assert_uint_eq(got[0].receipt.len, 0);
    }
}

LIVE_TEST(many_are_received_counted_and_cleared)
{
    queue          in = live_queue();
    queue_message *got;
    size_t         count;
    uint64_t       about;
    for (int n = 0; n < 40; n++)
        OK(queues_put(t, in, arena_strf(t->arena, "%d", n), 0, 0, NULL));
    OK(queues_count(t, in, &about));
    ck_assert_uint_eq(about, 40);
    OK(queues_receive(t, in, 32, LONG_S, &got, &count));
    ck_assert_uint_eq(count, 32);
    ck_assert_uint_eq(visible(t, in), 8);
    OK(queues_clear(t, in));
    OK(queues_count(t, in, &about));
    ck_assert_uint_eq(about, 0);
}

/* ---- bodies: STORE-41 ---- */

static const str bodies[] = {
    STR_INIT(""),
    STR_INIT("<&> \"'"),
    STR_INIT("]]><!-- -->"),
    STR_INIT("\xc3\xbc \xf0\x9f\x98\x80"),
    STR_INIT(" blanks and\r\nlines\n "),
    STR_INIT("{\"json\":[1,2]}"),
    STR_INIT("eA=="),
};

LIVE_TEST(a_body_comes_back_in_both_encodings)
{
    queue coded = live_queue(), plain = live_queue();
    plain.plain = true;
    OK(queues_put(t, coded, bodies[i], 0, 0, NULL));
    ck_str_eq(receive_one(t, coded, LONG_S).body, bodies[i]);
    if (str_has(bodies[i], STR("\r"))) /* XML turns CRLF into LF: plain texts cannot keep it */
        return;
    OK(queues_put(t, plain, bodies[i], 0, 0, NULL));
    ck_str_eq(receive_one(t, plain, LONG_S).body, bodies[i]);
}

LIVE_TEST(any_bytes_fit_into_base64)
{
    queue in = live_queue();
    str   noise = live_noise(t->arena, 48 * KIB, 3);
    OK(queues_put(t, in, noise, 0, 0, NULL));
    ck_assert(str_eq(receive_one(t, in, LONG_S).body, noise));
}

LIVE_TEST(what_is_not_base64_is_given_as_it_came)
{
    queue in = live_queue(), as_plain = in;
    as_plain.plain = true;
    OK(queues_put(t, as_plain, STR("no base64!"), 0, 0, NULL));
    queue_message got = receive_one(t, in, LONG_S);
    ck_assert(got.undecodable);
    ck_str_eq(got.body, STR("no base64!"));
}

LIVE_TEST(a_message_has_at_most_64_kib_on_the_wire)
{
    queue coded = live_queue(), plain = live_queue();
    plain.plain = true;
    OK(queues_put(t, coded, live_repeat(t->arena, STR("x"), 49152), 0, 0, NULL));
    EXPECT(RES_TOO_LARGE, queues_put(t, coded, live_repeat(t->arena, STR("x"), 49153), 0, 0, NULL));
    OK(queues_put(t, plain, live_repeat(t->arena, STR("x"), 65536), 0, 0, NULL));
    EXPECT(RES_TOO_LARGE, queues_put(t, plain, live_repeat(t->arena, STR("x"), 65537), 0, 0, NULL));
    queue_message m = receive_one(t, plain, LONG_S);
    EXPECT(RES_TOO_LARGE, queues_update(t, plain, &m, live_repeat(t->arena, STR("x"), 65537), 10));
}

LIVE_TEST(numbers_out_of_range_are_refused)
{
    queue          in = live_queue();
    queue_message *got;
    size_t         count;
    EXPECT(RES_INVALID, queues_receive(t, in, 0, 30, &got, &count));
    EXPECT(RES_INVALID, queues_receive(t, in, 33, 30, &got, &count));
    EXPECT(RES_INVALID, queues_receive(t, in, 1, 0, &got, &count));
    EXPECT(RES_INVALID, queues_receive(t, in, 1, QUEUES_HIDE_MAX_S + 1, &got, &count));
    EXPECT(RES_INVALID, queues_put(t, in, STR("x"), QUEUES_HIDE_MAX_S + 1, 0, NULL));
    EXPECT(RES_INVALID, queues_put(t, in, STR("x"), 0, -2, NULL));
}

/* STORE-42 */
LIVE_TEST(after_five_receives_a_message_goes_to_the_poison_queue)
{
    queue         in = live_queue(), poison = in;
    queue_message m = {0};
    poison.name = str_of(textf("%.*s-poison", STR_ARG(in.name)));
    OK(queues_put(t, in, STR("bad <apple>"), 0, 0, NULL));
    for (int n = 1; n <= POISON_TRIES; n++) {
        m = receive_one(t, in, LONG_S);
        ck_assert_int_eq(m.dequeue_count, n);
        if (n < POISON_TRIES)
            OK(queues_update(t, in, &m, (str){0}, 0));
    }
    OK(queues_poison(t, in, &m));
    uint64_t about;
    OK(queues_count(t, in, &about));
    ck_assert_uint_eq(about, 0);
    ck_str_eq(receive_one(t, poison, LONG_S).body, STR("bad <apple>"));
}

Suite *suite_queues(void)
{
    Suite *s = suite_create("queues");
    TCase *c = live_case("queues");
    tcase_add_test(c, a_queue_can_be_created_twice_and_deleted_once);
    tcase_add_test(c, a_missing_queue_is_unprovisioned_below_and_made_above);
    tcase_add_loop_test(c, a_bad_queue_name_is_refused_by_every_call, 0, COUNT(bad_queues));
    tcase_add_test(c, queues_are_listed_by_prefix_in_pages);
    tcase_add_test(c, a_message_is_put_received_and_removed);
    tcase_add_test(c, the_receipt_of_an_earlier_receive_is_void);
    tcase_add_test(c, an_update_can_change_the_body_and_the_time);
    tcase_add_test(c, an_update_can_empty_the_body);
    tcase_add_test(c, a_message_that_is_gone_is_not_found);
    tcase_add_test(c, a_delayed_or_hidden_message_comes_back_in_time);
    tcase_add_test(c, a_message_expires);
    tcase_add_test(c, peeking_hides_nothing);
    tcase_add_test(c, many_are_received_counted_and_cleared);
    tcase_add_loop_test(c, a_body_comes_back_in_both_encodings, 0, COUNT(bodies));
    tcase_add_test(c, any_bytes_fit_into_base64);
    tcase_add_test(c, what_is_not_base64_is_given_as_it_came);
    tcase_add_test(c, a_message_has_at_most_64_kib_on_the_wire);
    tcase_add_test(c, numbers_out_of_range_are_refused);
    tcase_add_test(c, after_five_receives_a_message_goes_to_the_poison_queue);
    suite_add_tcase(s, c);
    return s;
}
