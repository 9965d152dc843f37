/* contract_query.c -- queries: pages, order, selections, and reading all in bounded memory.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "live/contract.h"
#include "live/live.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

enum { MANY = 1005, BATCHES_AT_ONCE = 4 };

static void put_row(task *t, table in, str partition, str row)
{
    entity e = entity_new(t->arena, partition, row);
    OK(tables_insert(t, in, &e));
}

/* ---- many rows ---- */

static res put_hundred(task *t, size_t i, void *ctx)
{
    table       in = *(const table *)ctx;
    table_write writes[TABLES_BATCH_MAX];
    size_t      n = 0;
    for (size_t row = i * TABLES_BATCH_MAX; row < MANY && n < TABLES_BATCH_MAX; row++, n++) {
        entity *e = arena_one(t->arena, entity);
        *e = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%05zu", row));
        entity_set_int32(e, "n", (int32_t)row);
        entity_set_bool(e, "even", row % 2 == 0);
        writes[n] = (table_write){.kind = WRITE_INSERT, .e = e};
    }
    return tables_commit(t, in, writes, n, NULL);
}

static table many_rows(task *t)
{
    table in = live_table();
    OK(tables_create(t, in));
    OK(par_each(t, (MANY + TABLES_BATCH_MAX - 1) / TABLES_BATCH_MAX, BATCHES_AT_ONCE, put_hundred, &in));
    return in;
}

/* STORE-25 */
LIVE_TEST(a_thousand_and_five_rows_are_two_pages)
{
    table       in = many_rows(t);
    entity_page page;
    table_query q = {0};
    OK(tables_query(t, in, &q, &page));
    ck_assert_uint_eq(page.len, 1000);
    ck_assert_uint_gt(page.token.len, 0);
    for (size_t k = 0; k < page.token.len; k++)
        ck_assert_ptr_nonnull(
            strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~", page.token.at[k]));
    q.token = page.token;
    OK(tables_query(t, in, &q, &page));
    ck_assert_uint_eq(page.len, 5);
    ck_assert_uint_eq(page.token.len, 0);
    ck_str_eq(page.at[4].row, STR("01004"));
}

typedef struct {
    size_t rows, stop_at;
    bool   ordered;
    int    last;
} walk;

static res take_row(task *t, const entity *e, void *ctx)
{
    walk *w = ctx;
    int   n = (int)entity_int(e, "n", -1);
    w->ordered = w->ordered && n > w->last;
    w->last = n;
    w->rows++;
    ck_assert_ptr_nonnull(arena_alloc(t->arena, 16)); /* freed with its page */
    return w->rows == w->stop_at ? task_fail(t, RES_DENIED, "enough") : RES_OK;
}

LIVE_TEST(each_gives_every_row_in_order_and_stops_when_told)
{
    table in = many_rows(t);
    walk  all = {.ordered = true, .last = -1}, some = {.ordered = true, .last = -1, .stop_at = 1001};
    OK(tables_each(t, in, &(table_query){.top = 100}, take_row, &all));
    ck_assert_uint_eq(all.rows, MANY);
    ck_assert(all.ordered);
    EXPECT(RES_DENIED, tables_each(t, in, &(table_query){0}, take_row, &some));
    ck_assert_uint_eq(some.rows, 1001);
}

/* STORE-25: the filter holds on every page; a page may hold fewer rows than asked for. */
LIVE_TEST(a_filter_holds_on_every_page)
{
    table       in = many_rows(t);
    entity_page page;
    table_query q = {.where = filter_bool(t->arena, "even", FILTER_EQ, true), .top = 100};
    size_t      rows = 0;
    do {
        OK(tables_query(t, in, &q, &page));
        ck_assert_uint_le(page.len, 100);
        for (size_t k = 0; k < page.len; k++, rows++)
            ck_assert_int_eq(entity_int(&page.at[k], "n", -1), (int64_t)rows * 2);
        q.token = page.token;
    } while (page.token.len > 0);
    ck_assert_uint_eq(rows, 503);
}

/* ---- pages ---- */

/* STORE-25 */
LIVE_TEST(top_is_the_size_of_a_page)
{
    static const size_t sizes[] = {2, 2, 1};
    table               in = live_table();
    entity_page         page;
    table_query         q = {.top = 2};
    for (int n = 0; n < 5; n++)
        put_row(t, in, STR("p"), arena_strf(t->arena, "%d", n));
    for (size_t k = 0; k < 3; k++) {
        OK(tables_query(t, in, &q, &page));
        ck_assert_uint_eq(page.len, sizes[k]);
        ck_str_eq(page.at[0].row, str_of(textf("%zu", 2 * k)));
        ck_assert_int_eq(page.token.len > 0, k < 2);
        q.token = page.token;
    }
}

LIVE_TEST(pages_go_on_across_odd_keys_and_partitions)
{
    static const char *const keys[] = {"", "a b", "o'b", "p%2", "\xc3\xbc", "\xf0\x9f\x98\x80"};
    table                    in = live_table();
    entity_page              page;
    table_query              q = {.top = 1};
    size_t                   seen = 0;
    for (int n = 0; n < 36; n++)
        put_row(t, in, str_of(keys[n % 6]), str_of(keys[n / 6]));
    do {
        OK(tables_query(t, in, &q, &page));
        for (size_t k = 0; k < page.len; k++, seen++) {
            ck_str_eq(page.at[k].partition, str_of(keys[seen / 6]));
            ck_str_eq(page.at[k].row, str_of(keys[seen % 6]));
        }
        q.token = page.token;
    } while (page.token.len > 0);
    ck_assert_uint_eq(seen, 36);
}

LIVE_TEST(a_page_goes_on_behind_a_row_that_is_gone_by_then)
{
    table       in = live_table();
    entity_page page;
    table_query q = {.top = 2};
    for (int n = 0; n < 5; n++)
        put_row(t, in, STR("p"), arena_strf(t->arena, "%d", n));
    OK(tables_query(t, in, &q, &page));
    OK(tables_remove(t, in, STR("p"), STR("1"), ETAG_ANY));
    OK(tables_remove(t, in, STR("p"), STR("2"), ETAG_ANY));
    q.token = page.token;
    OK(tables_query(t, in, &q, &page));
    ck_assert_uint_ge(page.len, 1);
    ck_str_eq(page.at[0].row, STR("3"));
}

static const char *const bad_tokens[] = {"x",    "!!!!", "bm90IG9uZQ",
                                         "\xff", "a b",  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};

/* Azurite would take any. */
LIVE_TEST(a_token_that_is_none_is_refused)
{
    table       in = live_table();
    entity_page page;
    str        *names, token;
    size_t      count;
    put_row(t, in, STR("p"), STR("r"));
    EXPECT(RES_INVALID, tables_query(t, in, &(table_query){.token = str_of(bad_tokens[i])}, &page));
    EXPECT(RES_INVALID,
           tables_list(t, STORE_MAIN, STR(""), 10, str_of(bad_tokens[i]), &names, &count, &token));
}

LIVE_TEST(a_page_has_at_most_1000_rows)
{
    table       in = live_table();
    entity_page page;
    EXPECT(RES_INVALID, tables_query(t, in, &(table_query){.top = 1001}, &page));
    OK(tables_query(t, in, &(table_query){.top = 1000}, &page));
}

/* ---- order ---- */

/* STORE-27: by UTF-16 units, in which U+FF5E comes after an emoji. */
static const char *const in_order[] = {
    "",
    " ",
    "!",
    "'",
    "-",
    "0",
    "10",
    "9",
    "A",
    "AA",
    "B",
    "_",
    "a",
    "aa",
    "b",
    "~",
    "\xc3\xa4",
    "\xc3\xbc",
    "\xe6\x97\xa5",
    "\xf0\x9f\x98\x80",
    "\xf0\x9f\x98\x81",
    "\xef\xbd\x9e",
};

LIVE_TEST(rows_come_in_ordinal_order)
{
    table       in = live_table();
    entity_page page;
    for (int n = COUNT(in_order) - 1; n >= 0; n--)
        put_row(t, in, STR("p"), str_of(in_order[n]));
    OK(tables_query(t, in, &(table_query){0}, &page));
    ck_assert_uint_eq(page.len, COUNT(in_order));
    for (int n = 0; n < COUNT(in_order); n++)
        ck_str_eq(page.at[n].row, str_of(in_order[n]));
}

LIVE_TEST(partitions_come_in_ordinal_order)
{
    table       in = live_table();
    entity_page page;
    for (int n = COUNT(in_order) - 1; n >= 0; n--)
        put_row(t, in, str_of(in_order[n]), STR("r"));
    OK(tables_query(t, in, &(table_query){0}, &page));
    ck_assert_uint_eq(page.len, COUNT(in_order));
    for (int n = 0; n < COUNT(in_order); n++)
        ck_str_eq(page.at[n].partition, str_of(in_order[n]));
}

/* Every range of keys, against the list itself. */
LIVE_TEST(a_range_of_keys_is_ordinal_too)
{
    table in = live_table();
    for (int n = 0; n < COUNT(in_order); n++)
        put_row(t, in, STR("p"), str_of(in_order[n]));
    for (int from = 1; from < COUNT(in_order); from += 3) {
        entity_page   page;
        const filter *f = filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("p")),
                                     filter_str(t->arena, "RowKey", FILTER_GE, str_of(in_order[from])));
        OK(tables_query(t, in, &(table_query){.where = f}, &page));
        ck_assert_uint_eq(page.len, (size_t)(COUNT(in_order) - from));
        ck_str_eq(page.at[0].row, str_of(in_order[from]));
        f = filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("p")),
                       filter_str(t->arena, "RowKey", FILTER_LT, str_of(in_order[from])));
        OK(tables_query(t, in, &(table_query){.where = f}, &page));
        ck_assert_uint_eq(page.len, (size_t)from);
    }
}

typedef struct {
    const char *prefix;
    size_t      rows;
} prefix_case;

static const prefix_case prefixes[] = {
    {"abc", 4}, {"ab", 6}, {"abd", 1}, {"abcd", 1}, {"x", 0}, {"\xf0\x9f\x98\x80", 2}, {"o'", 1}, {"", 10},
};

/* STORE-27 */
LIVE_TEST(a_prefix_finds_what_begins_so_and_nothing_else)
{
    static const char *const rows[] = {"ab",
                                       "abc",
                                       "abcd",
                                       "abc~",
                                       "abc\xef\xbf\xbd",
                                       "abd",
                                       "B",
                                       "o'b",
                                       "\xf0\x9f\x98\x80",
                                       "\xf0\x9f\x98\x80x"};
    table                    in = live_table();
    entity_page              page;
    for (int n = 0; n < COUNT(rows); n++)
        put_row(t, in, STR("p"), str_of(rows[n]));
    str           prefix = str_of(prefixes[i].prefix);
    const filter *f = filter_prefix(t->arena, "RowKey", prefix);
    OK(tables_query(t, in, &(table_query){.where = f}, &page));
    ck_assert_uint_eq(page.len, prefixes[i].rows);
    for (size_t k = 0; k < page.len; k++)
        ck_assert(str_starts(page.at[k].row, prefix));
}

/* ---- what a row holds ---- */

/* STORE-28 */
LIVE_TEST(a_row_of_a_query_has_an_etag_to_write_with)
{
    static const char *const some[] = {"b", NULL};
    table                    in = live_table();
    entity                   e = entity_new(t->arena, STR("p"), STR("r"));
    entity_page              page;
    entity_set_int32(&e, "a", 1);
    entity_set_str(&e, "b", STR("text"));
    OK(tables_insert(t, in, &e));
    OK(tables_query(t, in, &(table_query){.select = some}, &page));
    ck_assert_uint_eq(page.len, 1);
    ck_assert_uint_eq(page.at[0].count, 1);
    ck_str_eq(page.at[0].partition, STR("p"));
    ck_str_eq(page.at[0].row, STR("r"));
    ck_str_eq(entity_str(&page.at[0], "b", STR("")), STR("text"));
    ck_str_eq(page.at[0].etag, e.etag);

    OK(tables_query(t, in, &(table_query){0}, &page));
    ck_assert_int_gt(page.at[0].timestamp, 0);
    OK(tables_replace(t, in, &page.at[0], page.at[0].etag));
    EXPECT(RES_PRECONDITION, tables_replace(t, in, &e, e.etag));
}

Suite *suite_query(void)
{
    Suite *s = suite_create("query");
    TCase *c = live_case("query");
    tcase_add_test(c, a_thousand_and_five_rows_are_two_pages);
    tcase_add_test(c, each_gives_every_row_in_order_and_stops_when_told);
    tcase_add_test(c, a_filter_holds_on_every_page);
    tcase_add_test(c, top_is_the_size_of_a_page);
    tcase_add_test(c, pages_go_on_across_odd_keys_and_partitions);
    tcase_add_test(c, a_page_goes_on_behind_a_row_that_is_gone_by_then);
    tcase_add_loop_test(c, a_token_that_is_none_is_refused, 0, COUNT(bad_tokens));
    tcase_add_test(c, a_page_has_at_most_1000_rows);
    tcase_add_test(c, rows_come_in_ordinal_order);
    tcase_add_test(c, partitions_come_in_ordinal_order);
    tcase_add_test(c, a_range_of_keys_is_ordinal_too);
    tcase_add_loop_test(c, a_prefix_finds_what_begins_so_and_nothing_else, 0, COUNT(prefixes));
    tcase_add_test(c, a_row_of_a_query_has_an_etag_to_write_with);
    suite_add_tcase(s, c);
    return s;
}
