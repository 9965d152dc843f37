/* test_embedded_queues.c -- queues of the SQLite file: who gets a message, when, and by which receipt.
 *
 * Many at once, failures and restarts are in embedded_queues_cases_many.c.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/embedded_queues_rig.h"
#include "unit/suites.h"

/* The bodies that a receive (or a peek, with hide_s 0) gives, joined by blanks. */
static const char *bodies(task *t, engine *e, unsigned most, unsigned hide_s)
{
    queue_message *all = NULL;
    size_t         count = 99;
    res            r = hide_s > 0 ? Q.receive(e, t, jobs, most, hide_s, &all, &count)
                                  : Q.peek(e, t, jobs, most, &all, &count);
    ck_assert_int_eq(r, RES_OK);
    str text = STR("");
    for (size_t i = 0; i < count; i++)
        text = arena_strf(t->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "", STR_ARG(all[i].body));
    return arena_cstr(t->arena, text);
}

/* ---- whole queues ---- */

/* STORE-40, embedded: the second creation says that it was there; the shared part takes that for success. */
STORE_TEST(a_queue_is_made_once_and_gone_when_dropped)
{
    ck_assert_int_eq(Q.create(e, t, jobs), RES_OK);
    ck_assert_int_eq(Q.create(e, t, jobs), RES_CONFLICT);
    (void)queues_rig_put(t, e, "a", 0, 0);
    ck_assert_int_eq(Q.drop(e, t, jobs), RES_OK);
    ck_assert_int_eq(Q.drop(e, t, jobs), RES_UNPROVISIONED);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 0);
    ck_assert_int_eq(Q.create(e, t, jobs), RES_OK);
    ck_assert_str_eq(bodies(t, e, 32, 30), "");
}

STORE_TEST(every_operation_on_a_missing_queue_says_so)
{
    queue_message  m = {.id = STR("i"), .receipt = STR("r")}, *all;
    size_t         n;
    uint64_t       count;
    const str      body = STR("b");
    const unsigned none = 0;
    ck_assert_int_eq(Q.put(e, t, jobs, body, none, 0, &m), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.receive(e, t, jobs, 1, 1, &all, &n), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.peek(e, t, jobs, 1, &all, &n), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, &body, 1), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.count(e, t, jobs, &count), RES_UNPROVISIONED);
    ck_assert_int_eq(Q.clear(e, t, jobs), RES_UNPROVISIONED);
    ck_assert(str_has(task_message(t), STR("there is no queue 'jobs'")));
}

STORE_TEST(queues_are_listed_by_prefix_in_pages)
{
    static const char *const names[] = {"b-2", "a", "b-1", "b", "c", "b-3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(Q.create(e, t, str_of(names[i])), RES_OK);
    name_page page;
    ck_assert_int_eq(Q.list(e, t, STR("b"), 3, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 3);
    ck_assert(str_eq(page.names[0], STR("b")) && str_eq(page.names[2], STR("b-2")));
    ck_assert_uint_gt(page.next.len, 0);
    ck_assert_int_eq(Q.list(e, t, STR("b"), 3, page.next, &page), RES_OK);
    ck_assert_uint_eq(page.count, 1);
    ck_assert(str_eq(page.names[0], STR("b-3")));
    ck_assert_uint_eq(page.next.len, 0);
    ck_assert_int_eq(Q.list(e, t, STR(""), 6, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 6);
    ck_assert_uint_eq(page.next.len, 0);
}

/* ---- delivery ---- */

STORE_TEST(what_was_put_is_received_with_its_times_and_a_count_of_one)
{
    queues_rig_make(t, e);
    queue_message sent = queues_rig_put(t, e, "hello", 0, 60);
    ck_assert_uint_gt(sent.id.len, 0);
    ck_assert_uint_gt(sent.receipt.len, 0);
    queues_rig_set_time(5);
    queue_message m = queues_rig_receive(t, e, 30);
    ck_assert(str_eq(m.id, sent.id));
    ck_assert(!str_eq(m.receipt, sent.receipt));
    ck_assert(str_eq(m.body, STR("hello")));
    ck_assert_int_eq(m.dequeue_count, 1);
    ck_assert_int_eq(m.inserted_us, (int64_t)NOON_S * 1000000);
    ck_assert_int_eq(m.expires_us, (int64_t)(NOON_S + 60) * 1000000);
    ck_assert_int_eq(m.next_visible_us, (int64_t)(NOON_S + 35) * 1000000);
}

/* STORE-41, embedded: bodies are bytes here, whatever the encoding above makes of them. */
STORE_TEST(a_body_of_any_bytes_up_to_the_limit_comes_back)
{
    queues_rig_make(t, e);
    char *large = arena_alloc(t->arena, QUEUES_WIRE_MAX);
    for (size_t i = 0; i < QUEUES_WIRE_MAX; i++)
        large[i] = (char)i;
    const str all[] = {
        STR("<&>\"' \xc3\xa9\xf0\x9f\x98\x80"), STR("a\0b"), STR(""), {large, QUEUES_WIRE_MAX}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        queue_message sent;
        ck_assert_int_eq(Q.put(e, t, jobs, all[i], 0, 0, &sent), RES_OK);
        queue_message m = queues_rig_receive(t, e, 30);
        ck_assert(str_eq(m.body, all[i]));
        ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_OK);
    }
    for (size_t i = 0; i < QUEUES_RECEIVE_MAX; i++) {
        queue_message sent;
        ck_assert_int_eq(Q.put(e, t, jobs, all[3], 0, 0, &sent), RES_OK);
    }
    queue_message *got;
    size_t         count;
    ck_assert_int_eq(Q.receive(e, t, jobs, QUEUES_RECEIVE_MAX, 30, &got, &count), RES_OK);
    ck_assert_uint_eq(count, QUEUES_RECEIVE_MAX);
}

STORE_TEST(the_one_that_has_been_visible_longest_comes_first)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "late", 10, 0);
    (void)queues_rig_put(t, e, "a", 0, 0);
    (void)queues_rig_put(t, e, "b", 0, 0);
    queues_rig_set_time(1);
    (void)queues_rig_put(t, e, "c", 0, 0);
    ck_assert_str_eq(bodies(t, e, 32, 0), "a b c");
    ck_assert_str_eq(bodies(t, e, 1, 100), "a");
    queues_rig_set_time(10);
    ck_assert_str_eq(bodies(t, e, 32, 100), "b c late");
    ck_assert_str_eq(bodies(t, e, 32, 100), "");
}

STORE_TEST(a_received_message_is_hidden_for_as_long_as_was_asked_and_counted_each_time)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "a", 0, 0);
    for (int round = 0; round < 5; round++) {
        queues_rig_set_time(round * 30);
        queue_message m = queues_rig_receive(t, e, 30);
        ck_assert_int_eq(m.dequeue_count, round + 1);
        queues_rig_set_time(round * 30 + 29);
        ck_assert_str_eq(bodies(t, e, 1, 30), "");
        ck_assert_str_eq(bodies(t, e, 1, 0), "");
        ck_assert_uint_eq(queues_rig_count(t, e), 1); /* hidden ones count */
    }
}

STORE_TEST(peeking_changes_nothing_and_gives_no_receipt)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "a", 0, 0);
    queue_message *all;
    size_t         count;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(Q.peek(e, t, jobs, 32, &all, &count), RES_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_int_eq(all[0].dequeue_count, 0);
        ck_assert_uint_eq(all[0].receipt.len, 0);
    }
    ck_assert_int_eq(queues_rig_receive(t, e, 30).dequeue_count, 1);
}

/* ---- receipts ---- */

/* STORE-40, embedded */
STORE_TEST(only_the_latest_receipt_counts)
{
    queues_rig_make(t, e);
    queue_message sent = queues_rig_put(t, e, "a", 0, 0);
    queue_message first = queues_rig_receive(t, e, 30);
    ck_assert_int_eq(Q.remove(e, t, jobs, sent.id, sent.receipt), RES_PRECONDITION);
    queues_rig_set_time(30);
    queue_message second = queues_rig_receive(t, e, 30);
    ck_assert_int_eq(Q.remove(e, t, jobs, first.id, first.receipt), RES_PRECONDITION);
    ck_assert_int_eq(Q.update(e, t, jobs, &first, NULL, 0), RES_PRECONDITION);
    ck_assert(str_has(task_message(t), STR("is void")));

    queue_message held = second;
    const str     body = STR("b");
    ck_assert_int_eq(Q.update(e, t, jobs, &held, &body, 0), RES_OK);
    ck_assert(!str_eq(held.receipt, second.receipt));
    ck_assert_int_eq(held.next_visible_us, (int64_t)(NOON_S + 30) * 1000000);
    ck_assert_int_eq(Q.remove(e, t, jobs, second.id, second.receipt), RES_PRECONDITION);
    ck_assert_int_eq(Q.remove(e, t, jobs, held.id, held.receipt), RES_OK);
    ck_assert_int_eq(Q.remove(e, t, jobs, held.id, held.receipt), RES_NOT_FOUND);
    ck_assert_int_eq(Q.update(e, t, jobs, &held, NULL, 0), RES_NOT_FOUND);
    ck_assert_uint_eq(queues_rig_count(t, e), 0);
}

STORE_TEST(a_receipt_outlives_the_hiding_time_until_another_has_the_message)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "a", 0, 0);
    queue_message m = queues_rig_receive(t, e, 30);
    queues_rig_set_time(1000);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 30), RES_OK);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_OK);
}

STORE_TEST(who_put_a_message_may_take_it_back)
{
    queues_rig_make(t, e);
    queue_message m = queues_rig_put(t, e, "a", 0, 0);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_OK);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
}

STORE_TEST(an_update_hides_anew_and_keeps_the_body_unless_told)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "old", 0, 0);
    queue_message m = queues_rig_receive(t, e, 30);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 60), RES_OK);
    queues_rig_set_time(59);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
    queues_rig_set_time(60);
    ck_assert_str_eq(bodies(t, e, 1, 0), "old");
    const str empty = STR(""), other = STR("new");
    ck_assert_int_eq(Q.update(e, t, jobs, &m, &other, 0), RES_OK);
    ck_assert_str_eq(bodies(t, e, 1, 0), "new");
    ck_assert_int_eq(Q.update(e, t, jobs, &m, &empty, 0), RES_OK);
    m = queues_rig_receive(t, e, 30);
    ck_assert_uint_eq(m.body.len, 0);
    ck_assert_int_eq(m.dequeue_count, 2); /* updates are no receives */
}

STORE_TEST(a_foreign_receipt_or_id_gets_nothing)
{
    static const char *const receipts[] = {"", "x", "0000000000000000", "AgAAAAMAAAAAAAAA", "' OR 1=1 --"};
    queues_rig_make(t, e);
    queue_message m = queues_rig_put(t, e, "a", 0, 0);
    for (size_t i = 0; i < sizeof receipts / sizeof *receipts; i++)
        ck_assert_int_eq(Q.remove(e, t, jobs, m.id, str_of(receipts[i])), RES_PRECONDITION);
    ck_assert_int_eq(Q.remove(e, t, jobs, STR("no-such-id"), m.receipt), RES_NOT_FOUND);
    ck_assert_int_eq(Q.create(e, t, STR("other")), RES_OK);
    ck_assert_int_eq(Q.remove(e, t, STR("other"), m.id, m.receipt), RES_NOT_FOUND);
    ck_assert_uint_eq(queues_rig_count(t, e), 1);
}

/* ---- expiry ---- */

static const struct {
    int     ttl_s;
    int64_t lives_s; /* -1: for ever */
} lives[] = {{1, 1}, {60, 60}, {0, 7 * DAY_S}, {7 * DAY_S, 7 * DAY_S}, {QUEUES_TTL_FOREVER, -1}};

STORE_TEST(a_message_is_delivered_until_it_expires_and_not_a_second_longer)
{
    const int     i = embedded_rig_case;
    const int64_t last_s = lives[i].lives_s < 0 ? 7000LL * 365 * DAY_S : lives[i].lives_s - 1;
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "a", 0, lives[i].ttl_s);
    queues_rig_set_time(last_s);
    ck_assert_str_eq(bodies(t, e, 1, 0), "a");
    ck_assert_uint_eq(queues_rig_count(t, e), 1);
    if (lives[i].lives_s < 0)
        return;
    queues_rig_set_time(last_s + 1);
    ck_assert_str_eq(bodies(t, e, 1, 0), "");
    ck_assert_uint_eq(queues_rig_count(t, e), 0);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 0);
}

STORE_TEST(a_message_that_expires_while_held_is_gone)
{
    queues_rig_make(t, e);
    (void)queues_rig_put(t, e, "a", 0, 10);
    queue_message m = queues_rig_receive(t, e, 30);
    queues_rig_set_time(10);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 30), RES_NOT_FOUND);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_NOT_FOUND);
}

STORE_TEST(putting_removes_what_has_expired_too)
{
    queues_rig_make(t, e);
    for (int i = 0; i < 10; i++)
        (void)queues_rig_put(t, e, "old", 0, 1);
    queues_rig_set_time(1);
    (void)queues_rig_put(t, e, "new", 0, 60);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 1);
}

STORE_TEST(clearing_leaves_an_empty_queue_and_other_queues_alone)
{
    queue_message m;
    queues_rig_make(t, e);
    ck_assert_int_eq(Q.create(e, t, STR("other")), RES_OK);
    ck_assert_int_eq(Q.put(e, t, STR("other"), STR("x"), 0, 0, &m), RES_OK);
    (void)queues_rig_put(t, e, "a", 0, 0);
    (void)queues_rig_put(t, e, "b", 100, 0);
    ck_assert_int_eq(Q.clear(e, t, jobs), RES_OK);
    ck_assert_uint_eq(queues_rig_count(t, e), 0);
    uint64_t others = 0;
    ck_assert_int_eq(Q.count(e, t, STR("other"), &others), RES_OK);
    ck_assert_uint_eq(others, 1);
}

STORE_TEST(many_messages_of_a_queue_that_was_cleared_or_dropped_are_gone_in_the_end)
{
    queues_rig_make(t, e);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 200; i++)
            (void)queues_rig_put(t, e, "old", 0, 0);
        ck_assert_int_eq(round == 0 ? Q.clear(e, t, jobs) : Q.drop(e, t, jobs), RES_OK);
        if (round > 0)
            queues_rig_make(t, e);
        (void)queues_rig_put(t, e, "new", 0, 0);
        ck_assert_uint_eq(queues_rig_count(t, e), 1);
        embedded_rig_settle(t, e);
        ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 1);
        ck_assert_str_eq(bodies(t, e, 32, 30), "new");
    }
}

Suite *suite_embedded_queues(void)
{
    Suite *s = suite_create("embedded_queues");
    TCase *c = tcase_create("queues");
    tcase_add_checked_fixture(c, queues_rig_before, queues_rig_after);
    tcase_add_test(c, a_queue_is_made_once_and_gone_when_dropped);
    tcase_add_test(c, every_operation_on_a_missing_queue_says_so);
    tcase_add_test(c, queues_are_listed_by_prefix_in_pages);
    tcase_add_test(c, what_was_put_is_received_with_its_times_and_a_count_of_one);
    tcase_add_test(c, a_body_of_any_bytes_up_to_the_limit_comes_back);
    tcase_add_test(c, the_one_that_has_been_visible_longest_comes_first);
    tcase_add_test(c, a_received_message_is_hidden_for_as_long_as_was_asked_and_counted_each_time);
    tcase_add_test(c, peeking_changes_nothing_and_gives_no_receipt);
    tcase_add_test(c, only_the_latest_receipt_counts);
    tcase_add_test(c, a_receipt_outlives_the_hiding_time_until_another_has_the_message);
    tcase_add_test(c, who_put_a_message_may_take_it_back);
    tcase_add_test(c, an_update_hides_anew_and_keeps_the_body_unless_told);
    tcase_add_test(c, a_foreign_receipt_or_id_gets_nothing);
    tcase_add_loop_test(c, a_message_is_delivered_until_it_expires_and_not_a_second_longer, 0,
                        sizeof lives / sizeof *lives);
    tcase_add_test(c, a_message_that_expires_while_held_is_gone);
    tcase_add_test(c, putting_removes_what_has_expired_too);
    tcase_add_test(c, clearing_leaves_an_empty_queue_and_other_queues_alone);
    tcase_add_test(c, many_messages_of_a_queue_that_was_cleared_or_dropped_are_gone_in_the_end);
    suite_add_tcase(s, c);
    suite_add_tcase(s, embedded_queues_cases_many());
    return s;
}
