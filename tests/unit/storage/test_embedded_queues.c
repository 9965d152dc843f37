/* test_embedded_queues.c -- queues of the SQLite file: who gets a message, when, and by which receipt.
 *
 * Time stands still unless a test moves it.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "storage/embedded/schema.h"
#include "unit/storage/embedded_rig.h"
#include "unit/suites.h"

#define Q embedded_queues

enum { NOON_S = 1767355200, DAY_S = 24 * 3600 };

static void set_time(int64_t after_noon_s)
{
    clock_set_for_test((NOON_S + after_noon_s) * 1000000, 1);
}

static void before(void)
{
    embedded_rig_before();
    set_time(0);
}

static void after(void)
{
    clock_unset_for_test();
    embedded_rig_after();
}

static const str jobs = STR_INIT("jobs");

static queue_message put(task *t, engine *e, const char *body, unsigned delay_s, int ttl_s)
{
    queue_message m;
    ck_assert_int_eq(Q.put(e, t, jobs, str_of(body), delay_s, ttl_s, &m), RES_OK);
    return m;
}

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

static queue_message receive_one(task *t, engine *e, unsigned hide_s)
{
    queue_message *all = NULL;
    size_t         count = 0;
    ck_assert_int_eq(Q.receive(e, t, jobs, 1, hide_s, &all, &count), RES_OK);
    ck_assert_uint_eq(count, 1);
    return all[0];
}

static uint64_t count_of(task *t, engine *e)
{
    uint64_t n = 99;
    ck_assert_int_eq(Q.count(e, t, jobs, &n), RES_OK);
    return n;
}

static void make(task *t, engine *e)
{
    ck_assert_int_eq(Q.create(e, t, jobs), RES_OK);
}

/* ---- whole queues ---- */

/* STORE-40, embedded: the second creation says that it was there; the shared part takes that for success. */
STORE_TEST(a_queue_is_made_once_and_gone_when_dropped)
{
    ck_assert_int_eq(Q.create(e, t, jobs), RES_OK);
    ck_assert_int_eq(Q.create(e, t, jobs), RES_CONFLICT);
    (void)put(t, e, "a", 0, 0);
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
    make(t, e);
    queue_message sent = put(t, e, "hello", 0, 60);
    ck_assert_uint_gt(sent.id.len, 0);
    ck_assert_uint_gt(sent.receipt.len, 0);
    set_time(5);
    queue_message m = receive_one(t, e, 30);
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
    make(t, e);
    char *large = arena_alloc(t->arena, QUEUES_WIRE_MAX);
    for (size_t i = 0; i < QUEUES_WIRE_MAX; i++)
        large[i] = (char)i;
    const str all[] = {
        STR("<&>\"' \xc3\xa9\xf0\x9f\x98\x80"), STR("a\0b"), STR(""), {large, QUEUES_WIRE_MAX}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        queue_message sent;
        ck_assert_int_eq(Q.put(e, t, jobs, all[i], 0, 0, &sent), RES_OK);
        queue_message m = receive_one(t, e, 30);
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
    make(t, e);
    (void)put(t, e, "late", 10, 0);
    (void)put(t, e, "a", 0, 0);
    (void)put(t, e, "b", 0, 0);
    set_time(1);
    (void)put(t, e, "c", 0, 0);
    ck_assert_str_eq(bodies(t, e, 32, 0), "a b c");
    ck_assert_str_eq(bodies(t, e, 1, 100), "a");
    set_time(10);
    ck_assert_str_eq(bodies(t, e, 32, 100), "b c late");
    ck_assert_str_eq(bodies(t, e, 32, 100), "");
}

STORE_TEST(a_received_message_is_hidden_for_as_long_as_was_asked_and_counted_each_time)
{
    make(t, e);
    (void)put(t, e, "a", 0, 0);
    for (int round = 0; round < 5; round++) {
        set_time(round * 30);
        queue_message m = receive_one(t, e, 30);
        ck_assert_int_eq(m.dequeue_count, round + 1);
        set_time(round * 30 + 29);
        ck_assert_str_eq(bodies(t, e, 1, 30), "");
        ck_assert_str_eq(bodies(t, e, 1, 0), "");
        ck_assert_uint_eq(count_of(t, e), 1); /* hidden ones count */
    }
}

STORE_TEST(peeking_changes_nothing_and_gives_no_receipt)
{
    make(t, e);
    (void)put(t, e, "a", 0, 0);
    queue_message *all;
    size_t         count;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(Q.peek(e, t, jobs, 32, &all, &count), RES_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_int_eq(all[0].dequeue_count, 0);
        ck_assert_uint_eq(all[0].receipt.len, 0);
    }
    ck_assert_int_eq(receive_one(t, e, 30).dequeue_count, 1);
}

/* ---- receipts ---- */

/* STORE-40, embedded */
STORE_TEST(only_the_latest_receipt_counts)
{
    make(t, e);
    queue_message sent = put(t, e, "a", 0, 0);
    queue_message first = receive_one(t, e, 30);
    ck_assert_int_eq(Q.remove(e, t, jobs, sent.id, sent.receipt), RES_PRECONDITION);
    set_time(30);
    queue_message second = receive_one(t, e, 30);
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
    ck_assert_uint_eq(count_of(t, e), 0);
}

STORE_TEST(a_receipt_outlives_the_hiding_time_until_another_has_the_message)
{
    make(t, e);
    (void)put(t, e, "a", 0, 0);
    queue_message m = receive_one(t, e, 30);
    set_time(1000);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 30), RES_OK);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_OK);
}

STORE_TEST(who_put_a_message_may_take_it_back)
{
    make(t, e);
    queue_message m = put(t, e, "a", 0, 0);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_OK);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
}

STORE_TEST(an_update_hides_anew_and_keeps_the_body_unless_told)
{
    make(t, e);
    (void)put(t, e, "old", 0, 0);
    queue_message m = receive_one(t, e, 30);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 60), RES_OK);
    set_time(59);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
    set_time(60);
    ck_assert_str_eq(bodies(t, e, 1, 0), "old");
    const str empty = STR(""), other = STR("new");
    ck_assert_int_eq(Q.update(e, t, jobs, &m, &other, 0), RES_OK);
    ck_assert_str_eq(bodies(t, e, 1, 0), "new");
    ck_assert_int_eq(Q.update(e, t, jobs, &m, &empty, 0), RES_OK);
    m = receive_one(t, e, 30);
    ck_assert_uint_eq(m.body.len, 0);
    ck_assert_int_eq(m.dequeue_count, 2); /* updates are no receives */
}

STORE_TEST(a_foreign_receipt_or_id_gets_nothing)
{
    static const char *const receipts[] = {"", "x", "0000000000000000", "AgAAAAMAAAAAAAAA", "' OR 1=1 --"};
    make(t, e);
    queue_message m = put(t, e, "a", 0, 0);
    for (size_t i = 0; i < sizeof receipts / sizeof *receipts; i++)
        ck_assert_int_eq(Q.remove(e, t, jobs, m.id, str_of(receipts[i])), RES_PRECONDITION);
    ck_assert_int_eq(Q.remove(e, t, jobs, STR("no-such-id"), m.receipt), RES_NOT_FOUND);
    ck_assert_int_eq(Q.create(e, t, STR("other")), RES_OK);
    ck_assert_int_eq(Q.remove(e, t, STR("other"), m.id, m.receipt), RES_NOT_FOUND);
    ck_assert_uint_eq(count_of(t, e), 1);
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
    make(t, e);
    (void)put(t, e, "a", 0, lives[i].ttl_s);
    set_time(last_s);
    ck_assert_str_eq(bodies(t, e, 1, 0), "a");
    ck_assert_uint_eq(count_of(t, e), 1);
    if (lives[i].lives_s < 0)
        return;
    set_time(last_s + 1);
    ck_assert_str_eq(bodies(t, e, 1, 0), "");
    ck_assert_uint_eq(count_of(t, e), 0);
    ck_assert_str_eq(bodies(t, e, 1, 30), "");
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 0);
}

STORE_TEST(a_message_that_expires_while_held_is_gone)
{
    make(t, e);
    (void)put(t, e, "a", 0, 10);
    queue_message m = receive_one(t, e, 30);
    set_time(10);
    ck_assert_int_eq(Q.update(e, t, jobs, &m, NULL, 30), RES_NOT_FOUND);
    ck_assert_int_eq(Q.remove(e, t, jobs, m.id, m.receipt), RES_NOT_FOUND);
}

STORE_TEST(putting_removes_what_has_expired_too)
{
    make(t, e);
    for (int i = 0; i < 10; i++)
        (void)put(t, e, "old", 0, 1);
    set_time(1);
    (void)put(t, e, "new", 0, 60);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM messages"), 1);
}

STORE_TEST(clearing_leaves_an_empty_queue_and_other_queues_alone)
{
    queue_message m;
    make(t, e);
    ck_assert_int_eq(Q.create(e, t, STR("other")), RES_OK);
    ck_assert_int_eq(Q.put(e, t, STR("other"), STR("x"), 0, 0, &m), RES_OK);
    (void)put(t, e, "a", 0, 0);
    (void)put(t, e, "b", 100, 0);
    ck_assert_int_eq(Q.clear(e, t, jobs), RES_OK);
    ck_assert_uint_eq(count_of(t, e), 0);
    uint64_t others = 0;
    ck_assert_int_eq(Q.count(e, t, STR("other"), &others), RES_OK);
    ck_assert_uint_eq(others, 1);
}

/* ---- at once, and again ---- */

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
    make(t, e);
    ck_assert_int_eq(par_each(t, MESSAGES, RECEIVERS, put_numbered, c), RES_OK);
    ck_assert_uint_eq(count_of(t, e), MESSAGES);
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
    queue_message m = receive_one(t, e, 30);
    ck_assert(str_eq(m.body, STR("kept")));
    ck_assert_int_eq(m.dequeue_count, 2);
}

static void put_and_receive_once(task *t, engine *e)
{
    make(t, e);
    (void)put(t, e, "kept", 0, 0);
    (void)receive_one(t, e, 30);
}

START_TEST(messages_and_their_counts_outlive_the_process)
{
    embedded_rig_run(put_and_receive_once);
    set_time(30);
    embedded_rig_run(check_put_before);
}
END_TEST

Suite *suite_embedded_queues(void)
{
    Suite *s = suite_create("embedded_queues");
    TCase *c = tcase_create("queues");
    tcase_add_checked_fixture(c, before, after);
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
    tcase_add_test(c, of_64_receivers_at_once_exactly_one_gets_each_message);
    tcase_add_test(c, every_failing_allocation_is_out_of_memory_and_the_store_goes_on);
    tcase_add_test(c, every_cancelled_wait_ends_the_call_and_the_store_goes_on);
    tcase_add_test(c, messages_and_their_counts_outlive_the_process);
    suite_add_tcase(s, c);
    return s;
}
