/* test_bulk_window.c -- batches by owner, order within a key, and the place up to which all is settled.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_window.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bulk_ledger.h"
#include "unit/suites.h"

enum { BATCH = 10, ROOM = 64 };

static bulk_window *w;
static bulk_record *got[ROOM];
static uint64_t     numbered;

static void make_window(void)
{
    w = bulk_window_new();
    ck_assert_ptr_nonnull(w);
    numbered = 0;
}

static void free_window(void)
{
    bulk_window_free(w);
}

static bulk_record *made(const char *owner, const char *name)
{
    bulk_record *r = bulk_record_new(str_of(name));
    ck_assert_ptr_nonnull(r);
    bulk_record_sort(r, str_of(owner), str_of(name));
    r->number = ++numbered;
    return r;
}

static void add(const char *owner, const char *name)
{
    bulk_window_add(w, made(owner, name));
}

static void check_batch(size_t most, const char *names)
{
    char   seen[ROOM * 4] = "";
    size_t len = 0, n = bulk_window_take(w, got, most, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%.*s", i > 0 ? " " : "",
                                STR_ARG(bulk_record_text(got[i])));
    ck_assert_str_eq(seen, names);
}

static void drop(size_t n)
{
    for (size_t i = 0; i < n; i++)
        bulk_window_gone(w, got[i]);
}

START_TEST(records_of_one_owner_meet_in_one_batch)
{
    add("a", "1"), add("b", "2"), add("A ", "3"), add("c", "4"), add("a", "5");
    check_batch(BATCH, "1 3 5 2 4");
    ck_assert_uint_eq(bulk_window_count(w), 0);
    drop(5);
}
END_TEST

START_TEST(an_owner_is_not_split_to_fill_a_batch_unless_it_fills_one_by_itself)
{
    add("a", "1"), add("a", "2"), add("b", "3"), add("b", "4"), add("b", "5"), add("c", "6");
    check_batch(4, "1 2 6"); /* b would fit the next one whole */
    drop(3);
    check_batch(4, "3 4 5");
    drop(3);
    for (int i = 0; i < 5; i++)
        add("d", "d");
    check_batch(4, "d d d d");
    drop(4);
    check_batch(4, "d");
    drop(1);
}
END_TEST

START_TEST(the_owner_that_has_waited_longest_comes_first)
{
    add("a", "1"), add("b", "2"), add("c", "3");
    check_batch(1, "1");
    drop(1);
    add("a", "4");
    check_batch(1, "2");
    drop(1);
    check_batch(2, "3 4");
    drop(2);
}
END_TEST

START_TEST(bytes_limit_a_batch_but_never_hold_back_its_first_record)
{
    add("a", "12345"), add("a", "67890"), add("a", "x");
    ck_assert_uint_eq(bulk_window_take(w, got, BATCH, 1), 1);
    drop(1);
    ck_assert_uint_eq(bulk_window_take(w, got, BATCH, 6), 2);
    drop(2);
}
END_TEST

START_TEST(two_records_of_one_key_are_never_under_way_in_two_batches)
{
    bulk_record *first;
    add("a", "x"), add("b", "y");
    check_batch(1, "x");
    first = got[0];
    add("a", " X"), add("a", "z");
    check_batch(BATCH, "y"); /* z waits behind X, which waits for x */
    drop(1);
    ck_assert_uint_eq(bulk_window_take(w, got, BATCH, SIZE_MAX), 0);
    bulk_window_gone(w, first);
    check_batch(BATCH, " X z");
    drop(2);
}
END_TEST

START_TEST(records_that_come_back_go_before_later_ones_of_their_owner)
{
    add("a", "1"), add("a", "2"), add("a", "3");
    check_batch(2, "1 2");
    add("b", "4");
    bulk_window_again(w, got[1]);
    bulk_window_again(w, got[0]);
    check_batch(BATCH, "1 2 3 4");
    bulk_window_again(w, got[2]);
    bulk_window_gone(w, got[0]);
    bulk_window_gone(w, got[1]);
    bulk_window_gone(w, got[3]);
    add("c", "5");
    check_batch(BATCH, "3 5");
    drop(2);
}
END_TEST

START_TEST(a_window_is_full_by_records_or_by_bytes)
{
    for (int i = 0; i < BULK_WINDOW_RECORDS - 1; i++)
        bulk_window_add(w, made(i % 2 == 0 ? "a" : "b", "n"));
    ck_assert(!bulk_window_is_full(w));
    add("c", "n");
    ck_assert(bulk_window_is_full(w));
    ck_assert_uint_eq(bulk_window_take(w, got, 1, SIZE_MAX), 1);
    ck_assert(!bulk_window_is_full(w));
    drop(1);
    for (int i = 0; i < BULK_WINDOW_BYTES / (4 * MIB); i++) {
        char *text = calloc(1, 4 * MIB);
        bulk_window_add(w, bulk_record_new((str){text, 4 * MIB}));
        free(text);
    }
    ck_assert(bulk_window_is_full(w));
}
END_TEST

/* Random work in three batches at once, some of which come back: nothing is lost or doubled, and a record is
 * done only when all earlier ones of its key are. */
START_TEST(nothing_is_lost_and_every_key_keeps_its_order)
{
    enum { RECORDS = 4000, KEYS = 40, BATCHES = 3 };
    uint64_t     last[KEYS] = {0};
    bulk_record *batch[BATCHES][BATCH];
    size_t       len[BATCHES] = {0}, done = 0;
    uint32_t     state = 7u + (uint32_t)_i;
    while (done < RECORDS) {
        state = state * 1664525u + 1013904223u;
        unsigned dice = state >> 24, i = (state >> 16) % BATCHES;
        if (dice < 128 && numbered < RECORDS) {
            unsigned key = (state >> 8) % KEYS;
            char     owner[8], name[8];
            (void)snprintf(owner, sizeof owner, "o%u", key % 7);
            (void)snprintf(name, sizeof name, "%u ", key);
            add(owner, name);
        } else if (len[i] == 0) {
            len[i] = bulk_window_take(w, batch[i], 1 + dice % BATCH, SIZE_MAX);
        } else {
            for (size_t k = 0; k < len[i]; k++) {
                bulk_record *r = batch[i][k];
                unsigned     key = (unsigned)strtoul(r->text, NULL, 10);
                if (dice % 3 == 0) {
                    bulk_window_again(w, r);
                    continue;
                }
                ck_assert_uint_gt(r->number, last[key]);
                last[key] = r->number;
                done++;
                bulk_window_gone(w, r);
            }
            len[i] = 0;
        }
    }
    ck_assert_uint_eq(numbered, RECORDS);
    ck_assert_uint_eq(bulk_window_count(w), 0);
}
END_TEST

/* ---- the ledger ---- */

START_TEST(the_place_moves_only_over_what_is_settled_without_a_gap)
{
    bulk_ledger *l = bulk_ledger_new(&(bulk_place){.records = 7, .at = {.offset = 70}});
    for (uint64_t i = 8; i <= 12; i++)
        ck_assert_uint_eq(bulk_ledger_add(l, &(bulk_place){.at = {.offset = 10 * i}}), i);
    bulk_ledger_settle(l, 9);
    bulk_ledger_settle(l, 12);
    ck_assert_uint_eq(l->reached.at.offset, 70);
    bulk_ledger_settle(l, 8);
    ck_assert_uint_eq(l->reached.at.offset, 90);
    ck_assert_uint_eq(l->reached.records, 9);
    bulk_ledger_settle(l, 11);
    bulk_ledger_settle(l, 10);
    ck_assert_uint_eq(l->reached.at.offset, 120);
    bulk_ledger_free(l);
}
END_TEST

START_TEST(a_ledger_is_full_until_its_first_record_is_settled)
{
    bulk_ledger *l = bulk_ledger_new(&(bulk_place){0});
    for (int i = 0; i < BULK_LEDGER_RECORDS; i++) {
        ck_assert(!bulk_ledger_is_full(l));
        (void)bulk_ledger_add(l, &(bulk_place){0});
    }
    ck_assert(bulk_ledger_is_full(l));
    bulk_ledger_settle(l, 2);
    ck_assert(bulk_ledger_is_full(l));
    bulk_ledger_settle(l, 1);
    ck_assert(!bulk_ledger_is_full(l));
    ck_assert_uint_eq(l->reached.records, 2);
    bulk_ledger_free(l);
}
END_TEST

Suite *suite_bulk_window(void)
{
    Suite *s = suite_create("bulk_window");
    TCase *tc = tcase_create("bulk_window");
    tcase_add_checked_fixture(tc, make_window, free_window);
    tcase_add_test(tc, records_of_one_owner_meet_in_one_batch);
    tcase_add_test(tc, an_owner_is_not_split_to_fill_a_batch_unless_it_fills_one_by_itself);
    tcase_add_test(tc, the_owner_that_has_waited_longest_comes_first);
    tcase_add_test(tc, bytes_limit_a_batch_but_never_hold_back_its_first_record);
    tcase_add_test(tc, two_records_of_one_key_are_never_under_way_in_two_batches);
    tcase_add_test(tc, records_that_come_back_go_before_later_ones_of_their_owner);
    tcase_add_test(tc, a_window_is_full_by_records_or_by_bytes);
    tcase_add_loop_test(tc, nothing_is_lost_and_every_key_keeps_its_order, 0, 4);
    tcase_add_test(tc, the_place_moves_only_over_what_is_settled_without_a_gap);
    tcase_add_test(tc, a_ledger_is_full_until_its_first_record_is_settled);
    suite_add_tcase(s, tc);
    return s;
}
