/* test_facade.c -- what is refused before any back end hears of it, and what reaches it instead: tables.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/wait.h"
#include "unit/storage/facade_rig.h"
#include "unit/suites.h"

enum { TORTURE_MAX = 300 };

#define TABLE     ((table){.name = STR("Scores")})
#define CONTAINER ((container){.name = STR("files")})
#define QUEUE     ((queue){.name = STR("jobs")})

/* ---- no storage ---- */

static entity *row(task *t)
{
    entity *e = arena_one(t->arena, entity);
    *e = entity_new(t->arena, STR("p"), STR("r"));
    return e;
}

FACADE_CALL(get_row, tables_get(t, TABLE, STR("p"), STR("r"), row(t)))
FACADE_CALL(head_blob, blobs_head(t, CONTAINER, STR("name"), arena_one(t->arena, blob_info)))
FACADE_CALL(clear_queue, queues_clear(t, QUEUE))

START_TEST(without_storage_the_answer_says_what_to_set)
{
    store_set_for_test(STORE_MAIN, NULL);
    facade_try(&(facade_trial){get_row, RES_CONFIG,
                               "set AZURE_STORAGE_CONNECTION_STRING or start with --storage embedded"});
    facade_try(&(facade_trial){head_blob, RES_CONFIG, "no storage is set up"});
    facade_try(&(facade_trial){clear_queue, RES_CONFIG, "no storage is set up"});
}
END_TEST

/* ---- tables ---- */

static res create_table(task *t, str name)
{
    return tables_create(t, (table){.name = name});
}

FACADE_CALL(name_short, create_table(t, STR("ab")))
FACADE_CALL(name_three, create_table(t, STR("ab1")))
FACADE_CALL(name_63, create_table(t, facade_repeat(t, 'a', 63)))
FACADE_CALL(name_64, create_table(t, facade_repeat(t, 'a', 64)))
FACADE_CALL(name_digit, create_table(t, STR("1abc")))
FACADE_CALL(name_dash, create_table(t, STR("a-bc")))
FACADE_CALL(name_reserved, create_table(t, STR("Tables")))
FACADE_CALL(name_quote, create_table(t, STR("ab')")))
FACADE_CALL(get_bad_key, tables_get(t, TABLE, STR("a/b"), STR("r"), row(t)))
FACADE_CALL(get_bad_row, tables_get(t, TABLE, STR("p"), facade_repeat(t, 'x', 513), row(t)))
FACADE_CALL(get_some_bad,
            tables_get_some(t, TABLE, STR("p"), STR("r"), (const char *const[]){"a,b", NULL}, row(t)))
FACADE_CALL(get_some_good,
            tables_get_some(t, TABLE, STR("p"), STR("r"), (const char *const[]){"a", "RowKey", NULL}, row(t)))
/* STORE-17: without an ETag nothing is replaced, merged or deleted. */
FACADE_CALL(replace_blind, tables_replace(t, TABLE, row(t), STR("")))
FACADE_CALL(merge_blind, tables_merge(t, TABLE, row(t), STR("")))
FACADE_CALL(remove_blind, tables_remove(t, TABLE, STR("p"), STR("r"), STR("")))
FACADE_CALL(replace_any, tables_replace(t, TABLE, row(t), ETAG_ANY))
FACADE_CALL(merge_etag,
            tables_merge(t, TABLE, row(t), STR("W/\"datetime'2026-11-18T05%3A20%3A43.7001453Z'\"")))
FACADE_CALL(remove_any, tables_remove(t, TABLE, STR("p"), STR("r"), ETAG_ANY))
FACADE_CALL(remove_bad_key, tables_remove(t, TABLE, STR("p"), STR("r\n"), ETAG_ANY))
FACADE_CALL(etag_breaks_line, tables_replace(t, TABLE, row(t), STR("x\r\nX-Evil: 1")))
FACADE_CALL(insert_plain, tables_insert(t, TABLE, row(t)))
FACADE_CALL(upsert_plain, tables_upsert_replace(t, TABLE, row(t)))
FACADE_CALL(upsert_merge_plain, tables_upsert_merge(t, TABLE, row(t)))
FACADE_CALL(list_none, tables_list(t, STORE_MAIN, STR(""), 0, STR(""), NULL, NULL, NULL))
FACADE_CALL(list_many, tables_list(t, STORE_MAIN, STR(""), 1001, STR(""), NULL, NULL, NULL))
FACADE_CALL(list_prefix, tables_list(t, STORE_MAIN, STR("a'b"), 10, STR(""), NULL, NULL, NULL))
FACADE_CALL(list_token, tables_list(t, STORE_MAIN, STR(""), 10, STR("garbage"), NULL, NULL, NULL))

/* STORE-22: a key that is forbidden, and a value that is too long, are not sent. */
static res insert_with(task *t, size_t units)
{
    entity *e = row(t);
    entity_set_str(e, "text", facade_repeat(t, 'x', units));
    return tables_insert(t, TABLE, e);
}

FACADE_CALL(insert_long, insert_with(t, 32769))
FACADE_CALL(insert_longest, insert_with(t, 32768))
FACADE_CALL(insert_bad_key, tables_insert(t, TABLE, &(entity){.partition = STR("a?"), .a = t->arena}))
FACADE_CALL(operation_missing,
            tables_write(t, TABLE, &(table_write){.kind = WRITE_INSERT, .e = row(t), .operation = "op"}))

static res query_with(task *t, table_query q)
{
    entity_page page;
    return tables_query(t, TABLE, &q, &page);
}

FACADE_CALL(query_plain, query_with(t, (table_query){0}))
FACADE_CALL(query_1000, query_with(t, (table_query){.top = 1000}))
FACADE_CALL(query_1001, query_with(t, (table_query){.top = 1001}))
FACADE_CALL(query_select, query_with(t, (table_query){.select = (const char *const[]){"*", NULL}}))
FACADE_CALL(query_filter, query_with(t, (table_query){.where = filter_int32(t->arena, "a-b", FILTER_EQ, 1)}))
FACADE_CALL(query_token, query_with(t, (table_query){.token = STR("AAAAAAAAAAAA")}))
FACADE_CALL(query_no_base64, query_with(t, (table_query){.token = STR("a b")}))

static const facade_trial table_calls[] = {
    {name_short, RES_INVALID, "'ab'"},
    {name_three, RES_OK, NULL},
    {name_63, RES_OK, NULL},
    {name_64, RES_INVALID, "63"},
    {name_digit, RES_INVALID, "letter"},
    {name_dash, RES_INVALID, "letter"},
    {name_reserved, RES_INVALID, "'tables'"},
    {name_quote, RES_INVALID, "table"},
    {get_row, RES_OK, NULL},
    {get_bad_key, RES_INVALID, "PartitionKey"},
    {get_bad_row, RES_TOO_LARGE, "512"},
    {get_some_bad, RES_INVALID, "'a,b'"},
    {get_some_good, RES_OK, NULL},
    {replace_blind, RES_INVALID, "ETag"},
    {merge_blind, RES_INVALID, "ETag"},
    {remove_blind, RES_INVALID, "ETag"},
    {replace_any, RES_OK, NULL},
    {merge_etag, RES_OK, NULL},
    {remove_any, RES_OK, NULL},
    {remove_bad_key, RES_INVALID, "RowKey"},
    {etag_breaks_line, RES_INVALID, "ETag"},
    {insert_plain, RES_OK, NULL},
    {upsert_plain, RES_OK, NULL},
    {upsert_merge_plain, RES_OK, NULL},
    {list_none, RES_INVALID, "1 to 1000"},
    {list_many, RES_INVALID, "1 to 1000"},
    {list_prefix, RES_INVALID, "a'b"},
    {list_token, RES_INVALID, "token"},
    {insert_long, RES_TOO_LARGE, "32768"},
    {insert_longest, RES_OK, NULL},
    {insert_bad_key, RES_INVALID, "PartitionKey"},
    {operation_missing, RES_INVALID, "'op'"},
    {query_plain, RES_OK, NULL},
    {query_1000, RES_OK, NULL},
    {query_1001, RES_INVALID, "1 to 1000"},
    {query_select, RES_INVALID, "'*'"},
    {query_filter, RES_INVALID, "'a-b'"},
    {query_token, RES_INVALID, "token"},
    {query_no_base64, RES_INVALID, "token"},
};

START_TEST(a_call_of_tables_is_sent_or_refused)
{
    facade_try(&table_calls[_i]);
}
END_TEST

/* ---- transactions ---- */

typedef struct {
    size_t count, bytes_each, same_row, other_partition, no_etag; /* indices; 0: none */
    size_t failed;
} batch;

static res run_batch(task *t, void *ctx)
{
    batch       *b = ctx;
    table_write *writes = arena_array(t->arena, table_write, b->count + 1);
    for (size_t i = 0; i < b->count; i++) {
        bool    other = b->other_partition == i && i > 0, again = b->same_row == i && i > 0;
        entity *e = arena_one(t->arena, entity);
        *e =
            entity_new(t->arena, other ? STR("q") : STR("p"), arena_strf(t->arena, "%zu", again ? i - 1 : i));
        for (size_t left = b->bytes_each; left > 0; left -= left < 65536 ? left : 65536)
            entity_set_binary(e, arena_strf(t->arena, "b%zu", left).at,
                              facade_repeat(t, 'x', left < 65536 ? left : 65536));
        writes[i] = (table_write){.kind = i % 2 == 0 ? WRITE_INSERT : WRITE_DELETE, .e = e, .etag = ETAG_ANY};
        if (b->no_etag == i)
            writes[i].etag = STR("");
    }
    return tables_commit(t, TABLE, writes, b->count, &b->failed);
}

/* STORE-31 */
static const struct {
    batch       b;
    res         expected;
    size_t      failed;
    const char *word;
} batches[] = {
    {{.count = 0}, RES_INVALID, 0, "1 to 100"},
    {{.count = 1}, RES_OK, 1, NULL},
    {{.count = 100}, RES_OK, 100, NULL},
    {{.count = 101}, RES_INVALID, 101, "1 to 100"},
    {{.count = 5, .other_partition = 3}, RES_INVALID, 3, "partition"},
    {{.count = 5, .same_row = 2}, RES_INVALID, 2, "same row"},
    {{.count = 5, .no_etag = 1}, RES_INVALID, 1, "ETag"},
    {{.count = 4, .bytes_each = 1000000}, RES_OK, 4, NULL},
    {{.count = 5, .bytes_each = 1000000}, RES_TOO_LARGE, 5, "4194304"},
};

START_TEST(a_transaction_is_sent_or_refused)
{
    batch b = batches[_i].b;
    res   r = storage_rig_run(run_batch, &b, 0);
    ck_assert_msg(r == batches[_i].expected, "%s: %s", res_name(r), storage_rig_message());
    ck_assert_uint_eq(facade_saw.calls, r == RES_OK ? 1 : 0);
    ck_assert_uint_eq(b.failed, batches[_i].failed);
    if (r != RES_OK)
        ck_assert_ptr_nonnull(strstr(storage_rig_message(), batches[_i].word));
}
END_TEST

START_TEST(the_write_at_fault_is_reported)
{
    batch b = {.count = 5};
    facade_saw.answer = RES_CONFLICT;
    ck_assert_int_eq(storage_rig_run(run_batch, &b, 0), RES_CONFLICT);
    ck_assert_uint_eq(b.failed, 4);
}
END_TEST

/* ---- pages ---- */

static res two_pages(task *t, void *ctx)
{
    entity_page page;
    (void)ctx;
    TRY(tables_query(t, TABLE, &(table_query){0}, &page));
    ck_assert_uint_eq(facade_saw.top, TABLES_PAGE_MAX);
    ck_assert_uint_gt(page.token.len, 0);
    for (size_t i = 0; i < page.token.len; i++)
        ck_assert(strchr("/+=&?# ", page.token.at[i]) == NULL);
    TRY(tables_query(t, TABLE, &(table_query){.token = page.token}, &page));
    ck_assert_str_eq(facade_saw.text, "1"); /* the back end's own words */

    /* A token with one character changed, or cut, or of another list is none. */
    char *broken = arena_cstr(t->arena, page.token);
    broken[page.token.len / 2] = broken[page.token.len / 2] == 'A' ? 'B' : 'A';
    facade_saw.calls = 0;
    ck_assert_int_eq(query_with(t, (table_query){.token = str_of(broken)}), RES_INVALID);
    str cut = str_slice(page.token, 0, page.token.len - 1);
    ck_assert_int_eq(query_with(t, (table_query){.token = cut}), RES_INVALID);
    blob_page blobs;
    ck_assert_int_eq(blobs_list(t, CONTAINER, STR(""), 0, 10, page.token, &blobs), RES_INVALID);
    ck_assert_uint_eq(facade_saw.calls, 0);
    task_forget(t);
    facade_saw.calls = 1;
    return RES_OK;
}

START_TEST(tokens_carry_the_position_and_nothing_else_passes_for_one)
{
    facade_try(&(facade_trial){two_pages, RES_OK, NULL});
}
END_TEST

static res name_pages(task *t, void *ctx)
{
    str   *names, token;
    size_t count;
    (void)ctx;
    TRY(queues_list(t, STORE_MAIN, STR("na"), 10, STR(""), &names, &count, &token));
    ck_assert_uint_eq(count, 1);
    TRY(queues_list(t, STORE_MAIN, STR("na"), 10, token, &names, &count, &token));
    ck_assert_str_eq(facade_saw.text, "name 2");
    ck_assert_uint_eq(token.len, 0);
    return RES_OK;
}

START_TEST(lists_of_names_go_on_where_they_stopped)
{
    facade_try(&(facade_trial){name_pages, RES_OK, NULL});
}
END_TEST

typedef struct {
    unsigned rows;
    unsigned stop_after; /* 0: never */
    size_t   allocate;
    size_t   used_before, used_after;
} walk;

static res count_row(task *t, const entity *e, void *ctx)
{
    walk *w = ctx;
    ck_assert(str_eq(e->partition, STR("p")));
    (void)facade_repeat(t, 'x', w->allocate);
    if (++w->rows == w->stop_after)
        return task_fail(t, RES_DENIED, "enough");
    return RES_OK;
}

static res walk_all(task *t, void *ctx)
{
    walk *w = ctx;
    w->used_before = arena_used_bytes(t->arena);
    res r = tables_each(t, TABLE, &(table_query){0}, count_row, w);
    w->used_after = arena_used_bytes(t->arena);
    return r;
}

START_TEST(each_gives_every_row_of_every_page_in_bounded_memory)
{
    walk w = {.allocate = MIB};
    ck_assert_int_eq(storage_rig_run(walk_all, &w, 0), RES_OK);
    ck_assert_uint_eq(w.rows, (FACADE_PAGES - 1) * FACADE_PAGE_ROWS);
    ck_assert_uint_eq(facade_saw.calls, FACADE_PAGES);
    ck_assert_uint_lt(w.used_after - w.used_before, 16 * KIB);
}
END_TEST

START_TEST(each_stops_when_it_is_told_to)
{
    walk w = {.stop_after = 4};
    ck_assert_int_eq(storage_rig_run(walk_all, &w, 0), RES_DENIED);
    ck_assert_str_eq(storage_rig_message(), "enough");
    ck_assert_uint_eq(w.rows, 4);
}
END_TEST

START_TEST(each_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, TORTURE_MAX);
        walk w = {.allocate = 10};
        arena_fail_at(nth);
        res  r = storage_rig_run(walk_all, &w, 0);
        bool all = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, all ? RES_OK : RES_MEMORY);
        if (all)
            break;
    }
}
END_TEST

START_TEST(each_survives_being_cancelled_at_every_wait)
{
    facade_saw.slow = true;
    for (long nth = 1; nth <= FACADE_PAGES + 1; nth++) {
        walk w = {.allocate = 10};
        wait_cancel_at(nth, RES_GONE);
        res  r = storage_rig_run(walk_all, &w, 0);
        bool all = wait_cancel_pending();
        wait_cancel_at(0, RES_OK);
        ck_assert_int_eq(r, all ? RES_OK : RES_GONE);
        ck_assert(all == (nth == FACADE_PAGES + 1));
    }
}
END_TEST

Suite *suite_facade(void)
{
    Suite *s = suite_create("facade");
    TCase *c = tcase_create("tables");
    tcase_add_checked_fixture(c, facade_before, facade_after);
    tcase_add_test(c, without_storage_the_answer_says_what_to_set);
    tcase_add_loop_test(c, a_call_of_tables_is_sent_or_refused, 0, sizeof table_calls / sizeof *table_calls);
    tcase_add_loop_test(c, a_transaction_is_sent_or_refused, 0, sizeof batches / sizeof *batches);
    tcase_add_test(c, the_write_at_fault_is_reported);
    tcase_add_test(c, tokens_carry_the_position_and_nothing_else_passes_for_one);
    tcase_add_test(c, lists_of_names_go_on_where_they_stopped);
    tcase_add_test(c, each_gives_every_row_of_every_page_in_bounded_memory);
    tcase_add_test(c, each_stops_when_it_is_told_to);
    tcase_add_test(c, each_survives_every_failing_allocation);
    tcase_add_test(c, each_survives_being_cancelled_at_every_wait);
    suite_add_tcase(s, c);
    suite_add_tcase(s, facade_cases_blobs());
    suite_add_tcase(s, facade_cases_queues());
    return s;
}
