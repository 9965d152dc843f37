/* test_embedded_tables.c -- tables of the SQLite file: writes and their ETags, order, pages, transactions.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/embedded/row_codec.h"
#include "storage/embedded/schema.h"
#include "unit/storage/embedded_rig.h"
#include "unit/storage/embedded_tables_cases.h"
#include "unit/suites.h"

#define T embedded_tables

enum { LOOPS = 40, BATCH = 15, MANY_ROWS = 1005, DROPPED_ROWS = 990 };

static const str things = STR_INIT("Things");

static void make(task *t, engine *e)
{
    ck_assert_int_eq(T.create(e, t, things), RES_OK);
}

static entity row_of(task *t, const char *pk, const char *rk, int32_t n)
{
    entity row = entity_new(t->arena, str_of(pk), str_of(rk));
    entity_set_int32(&row, "n", n);
    return row;
}

static res put(task *t, engine *e, write_kind kind, entity *row, str etag)
{
    table_write w = {.kind = kind, .e = row, .etag = etag};
    return T.write(e, t, things, &w);
}

static void insert(task *t, engine *e, const char *pk, const char *rk, int32_t n)
{
    entity row = row_of(t, pk, rk, n);
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &row, STR("")), RES_OK);
}

/* Rows 0000, 0001, … of partition p. */
static void insert_many(task *t, engine *e, int count)
{
    entity      rows[BATCH];
    table_write all[BATCH];
    size_t      failed;
    for (int i = 0; i < count; i += BATCH) {
        for (int k = 0; k < BATCH; k++) {
            rows[k] = row_of(t, "p", arena_strf(t->arena, "%04d", i + k).at, i + k);
            all[k] = (table_write){.kind = WRITE_INSERT, .e = &rows[k]};
        }
        ck_assert_int_eq(T.commit(e, t, things, all, BATCH, &failed), RES_OK);
    }
}

static entity get(task *t, engine *e, const char *pk, const char *rk)
{
    entity row;
    ck_assert_int_eq(T.get(e, t, things, str_of(pk), str_of(rk), NULL, &row), RES_OK);
    return row;
}

static bool is_there(task *t, engine *e, const char *pk, const char *rk)
{
    entity row;
    res    r = T.get(e, t, things, str_of(pk), str_of(rk), NULL, &row);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    return r == RES_OK;
}

/* ---- tables ---- */

/* STORE-11 */
STORE_TEST(a_table_is_made_once_and_found_in_any_case)
{
    make(t, e);
    ck_assert_int_eq(T.create(e, t, things), RES_CONFLICT);
    ck_assert_int_eq(T.create(e, t, STR("THINGS")), RES_CONFLICT);
    insert(t, e, "a", "1", 5);
    entity row;
    ck_assert_int_eq(T.get(e, t, STR("tHiNgS"), STR("a"), STR("1"), NULL, &row), RES_OK);
    ck_assert_int_eq(entity_int(&row, "n", 0), 5);
}

STORE_TEST(tables_are_listed_in_order_as_they_were_named)
{
    static const char *const names[] = {"delta", "Alpha", "beta", "alps", "Alpine"};
    name_page                page;
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(T.create(e, t, str_of(names[i])), RES_OK);
    ck_assert_int_eq(T.list(e, t, STR("al"), 2, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 2);
    ck_assert(str_eq(page.names[0], STR("Alpha")) && str_eq(page.names[1], STR("Alpine")));
    ck_assert_uint_gt(page.next.len, 0);
    ck_assert_int_eq(T.list(e, t, STR("al"), 2, page.next, &page), RES_OK);
    ck_assert_uint_eq(page.count, 1);
    ck_assert(str_eq(page.names[0], STR("alps")));
    ck_assert_uint_eq(page.next.len, 0);
    ck_assert_int_eq(T.list(e, t, STR(""), 5, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 5);
    ck_assert_uint_eq(page.next.len, 0);
}

STORE_TEST(a_dropped_table_is_gone_at_once_and_its_rows_in_time)
{
    engine_add_chore(e, tables_chore);
    make(t, e);
    insert_many(t, e, DROPPED_ROWS);
    ck_assert_int_eq(T.drop(e, t, STR("things")), RES_OK);
    ck_assert_int_eq(T.drop(e, t, things), RES_NOT_FOUND);
    entity row;
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("1"), NULL, &row), RES_UNPROVISIONED);
    make(t, e);
    ck_assert(!is_there(t, e, "p", "1")); /* a new table is empty, whatever is left of the old one */
    for (int i = 0; i < 10; i++)
        insert(t, e, "other", arena_strf(t->arena, "%d", i).at, i);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT count(*) FROM entities"), 10);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT count(*) FROM dropped_tables"), 0);
}

/* ---- one entity ---- */

/* STORE-19 */
STORE_TEST(every_type_comes_back_as_it_was)
{
    make(t, e);
    entity in = entity_new(t->arena, STR("p"), STR("r"));
    entity_set_str(&in, "empty", STR(""));
    entity_set_str(&in, "text", STR("\x01 \xc3\xbc \xf0\x9f\x98\x80 '\""));
    entity_set_int32(&in, "i32", INT32_MIN);
    entity_set_int32(&in, "i32max", INT32_MAX);
    entity_set_int64(&in, "i64", INT64_MIN);
    entity_set_int64(&in, "i64max", INT64_MAX);
    entity_set_double(&in, "three", 3.0);
    entity_set_double(&in, "nan", (double)NAN);
    entity_set_double(&in, "inf", (double)INFINITY);
    entity_set_double(&in, "minus", (double)-INFINITY);
    entity_set_double(&in, "zero", -0.0);
    entity_set_bool(&in, "yes", true);
    entity_set_bool(&in, "no", false);
    entity_set_ticks(&in, "time", 17634672437001453);
    entity_set_ticks(&in, "early", -116444736000000000);
    entity_set_guid(&in, "guid", STR("C9DA6455-213D-42C9-9A79-3E9149A57833"));
    entity_set_binary(&in, "bytes", (str){"a\0b\xff", 4});
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &in, STR("")), RES_OK);
    entity out = get(t, e, "p", "r");
    ck_assert(entity_same(&in, &out));
    ck_assert(str_eq(in.etag, out.etag));
    ck_assert(signbit(entity_double(&out, "zero", 1)));
    ck_assert(isnan(entity_double(&out, "nan", 1)));

    static const char *const some[] = {"guid", "i64", "none", NULL};
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), some, &out), RES_OK);
    ck_assert_uint_eq(out.count, 2);
    ck_assert_int_eq(entity_int(&out, "i64", 0), INT64_MIN);
    ck_assert(str_eq(out.etag, in.etag));
}

STORE_TEST(an_entity_without_properties_and_with_empty_keys_is_one)
{
    make(t, e);
    entity in = entity_new(t->arena, STR(""), STR(""));
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &in, STR("")), RES_OK);
    entity out = get(t, e, "", "");
    ck_assert_uint_eq(out.count, 0);
    entity_set_int32(&out, "later", 1);
    ck_assert_int_eq(put(t, e, WRITE_REPLACE, &out, out.etag), RES_OK);
    out = get(t, e, "", "");
    ck_assert_int_eq(entity_int(&out, "later", 0), 1);
}

/* Each write upon what is there: nothing, the row as the caller knows it, or a newer one. STORE-12, 14, 17 */
static const struct {
    write_kind kind;
    bool       exists;
    enum { ETAG_FRESH, ETAG_STALE, ETAG_STAR, ETAG_NONE, ETAG_BROKEN } etag;
    res want;
} writes[] = {
    {WRITE_INSERT, false, ETAG_NONE, RES_OK},
    {WRITE_INSERT, true, ETAG_NONE, RES_CONFLICT},
    {WRITE_REPLACE, true, ETAG_FRESH, RES_OK},
    {WRITE_REPLACE, true, ETAG_STALE, RES_PRECONDITION},
    {WRITE_REPLACE, true, ETAG_STAR, RES_OK},
    {WRITE_REPLACE, true, ETAG_BROKEN, RES_INVALID},
    {WRITE_REPLACE, false, ETAG_STALE, RES_NOT_FOUND},
    {WRITE_REPLACE, false, ETAG_STAR, RES_NOT_FOUND},
    {WRITE_MERGE, true, ETAG_FRESH, RES_OK},
    {WRITE_MERGE, true, ETAG_STALE, RES_PRECONDITION},
    {WRITE_MERGE, true, ETAG_STAR, RES_OK},
    {WRITE_MERGE, true, ETAG_BROKEN, RES_INVALID},
    {WRITE_MERGE, false, ETAG_STALE, RES_NOT_FOUND},
    {WRITE_MERGE, false, ETAG_STAR, RES_NOT_FOUND},
    {WRITE_UPSERT_REPLACE, true, ETAG_NONE, RES_OK},
    {WRITE_UPSERT_REPLACE, false, ETAG_NONE, RES_OK},
    {WRITE_UPSERT_MERGE, true, ETAG_NONE, RES_OK},
    {WRITE_UPSERT_MERGE, false, ETAG_NONE, RES_OK},
    {WRITE_DELETE, true, ETAG_FRESH, RES_OK},
    {WRITE_DELETE, true, ETAG_STALE, RES_PRECONDITION},
    {WRITE_DELETE, true, ETAG_STAR, RES_OK},
    {WRITE_DELETE, true, ETAG_BROKEN, RES_INVALID},
    {WRITE_DELETE, false, ETAG_STALE, RES_NOT_FOUND},
    {WRITE_DELETE, false, ETAG_STAR, RES_NOT_FOUND},
};

STORE_TEST(each_write_succeeds_exactly_when_its_condition_holds)
{
    bool exists = writes[embedded_rig_case].exists;
    make(t, e);
    entity old = row_of(t, "p", "r", 1);
    entity_set_str(&old, "kept", STR("by merges"));
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &old, STR("")), RES_OK);
    str first = old.etag;
    ck_assert_int_eq(put(t, e, WRITE_REPLACE, &old, first), RES_OK);
    ck_assert(!str_eq(first, old.etag));
    if (!exists)
        ck_assert_int_eq(put(t, e, WRITE_DELETE, &old, ETAG_ANY), RES_OK);

    str    etags[] = {old.etag, first, ETAG_ANY, STR(""), STR("\"0x8D1\"")};
    entity mine = row_of(t, "p", "r", 2);
    mine.etag = STR("untouched");
    res want = writes[embedded_rig_case].want;
    ck_assert_int_eq(put(t, e, writes[embedded_rig_case].kind, &mine, etags[writes[embedded_rig_case].etag]),
                     want);
    bool deleted = want == RES_OK && writes[embedded_rig_case].kind == WRITE_DELETE;
    ck_assert_int_eq(is_there(t, e, "p", "r"), (exists || want == RES_OK) && !deleted);
    if (want != RES_OK) {
        ck_assert(str_eq(mine.etag, STR("untouched")));
        if (exists)
            ck_assert_int_eq(entity_int(&(entity[]){get(t, e, "p", "r")}[0], "n", 0), 1);
    } else if (deleted) {
        ck_assert_uint_eq(mine.etag.len, 0);
    } else {
        entity now = get(t, e, "p", "r");
        bool   merged = exists && (writes[embedded_rig_case].kind == WRITE_MERGE ||
                                 writes[embedded_rig_case].kind == WRITE_UPSERT_MERGE);
        ck_assert_int_eq(entity_int(&now, "n", 0), 2);
        ck_assert_int_eq(entity_has(&now, "kept"), merged); /* STORE-15 */
        ck_assert(str_eq(now.etag, mine.etag));
        ck_assert(str_starts(now.etag, STR("W/\"datetime'20")) && str_ends(now.etag, STR("Z'\"")));
    }
}

/* STORE-13 */
STORE_TEST(a_missing_table_is_told_from_a_missing_entity)
{
    entity      row = row_of(t, "p", "r", 1);
    entity_page page;
    table_query all = {0};
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &row, STR("")), RES_UNPROVISIONED);
    ck_assert_int_eq(put(t, e, WRITE_DELETE, &row, ETAG_ANY), RES_UNPROVISIONED);
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), NULL, &row), RES_UNPROVISIONED);
    ck_assert_int_eq(T.query(e, t, things, &all, &page), RES_UNPROVISIONED);
    ck_assert(str_has(task_message(t), things));
    make(t, e);
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), NULL, &row), RES_NOT_FOUND);
}

static res add_one(task *t, size_t i, void *ctx)
{
    engine *e = ctx;
    (void)i;
    for (;;) {
        entity row = get(t, e, "p", "counter");
        entity_set_int32(&row, "n", (int32_t)entity_int(&row, "n", 0) + 1);
        res r = put(t, e, WRITE_REPLACE, &row, row.etag);
        if (r != RES_PRECONDITION)
            return r;
    }
}

/* STORE-18 */
STORE_TEST(forty_concurrent_read_modify_write_loops_end_at_forty)
{
    make(t, e);
    insert(t, e, "p", "counter", 0);
    ck_assert_int_eq(par_each(t, LOOPS, LOOPS, add_one, e), RES_OK);
    entity row = get(t, e, "p", "counter");
    ck_assert_int_eq(entity_int(&row, "n", 0), LOOPS);
}

static size_t inserted;

static res insert_same(task *t, size_t i, void *ctx)
{
    entity row = row_of(t, "p", "only", (int32_t)i);
    res    r = put(t, ctx, WRITE_INSERT, &row, STR(""));
    inserted += r == RES_OK;
    return r == RES_CONFLICT ? RES_OK : r;
}

STORE_TEST(of_twenty_concurrent_inserts_of_one_key_one_succeeds)
{
    make(t, e);
    inserted = 0;
    ck_assert_int_eq(par_each(t, 20, 20, insert_same, e), RES_OK);
    ck_assert_uint_eq(inserted, 1);
}

/* ---- pages ---- */

static size_t query(task *t, engine *e, const filter *where, unsigned top, str token, entity_page *ret)
{
    table_query q = {.where = where, .top = top, .token = token};
    ck_assert_int_eq(T.query(e, t, things, &q, ret), RES_OK);
    return ret->len;
}

/* STORE-27: by UTF-16 units, in which an emoji (D83D DE00) comes before U+E000 and U+FFFF. */
STORE_TEST(rows_come_in_the_order_of_utf16_units)
{
    static const char *const ordered[] = {"",
                                          "B",
                                          "a",
                                          "ab",
                                          "a\xee\x80\x80",
                                          "\xc3\xbc",
                                          "\xed\x9f\xbf",
                                          "\xf0\x9f\x98\x80",
                                          "\xf4\x8f\xbf\xbf",
                                          "\xee\x80\x80",
                                          "\xef\xbf\xbf",
                                          "\xef\xbf\xbf\xef\xbf\xbf"};
    enum { KEYS = sizeof ordered / sizeof *ordered };
    entity_page page;
    make(t, e);
    for (size_t i = 0; i < KEYS; i++)
        for (size_t k = 0; k < KEYS; k++)
            insert(t, e, ordered[(i * 5) % KEYS], ordered[(k * 7) % KEYS], 1);
    ck_assert_uint_eq(query(t, e, NULL, 1000, STR(""), &page), KEYS * KEYS);
    for (size_t i = 0; i < page.len; i++) {
        ck_assert(str_eq(page.at[i].partition, str_of(ordered[i / KEYS])));
        ck_assert(str_eq(page.at[i].row, str_of(ordered[i % KEYS])));
    }
    const filter *from = filter_str(t->arena, "PartitionKey", FILTER_GE, STR("\xee\x80\x80"));
    ck_assert_uint_eq(query(t, e, from, 1000, STR(""), &page), 3 * KEYS);
    const filter *emoji = filter_str(t->arena, "RowKey", FILTER_LT, STR("\xf0\x9f\x98\x80"));
    const filter *first = filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("B"));
    ck_assert_uint_eq(query(t, e, filter_and(t->arena, first, emoji), 1000, STR(""), &page), 7);
}

/* STORE-25 */
STORE_TEST(pages_follow_each_other_without_gap_or_repetition)
{
    entity_page page;
    size_t      seen = 0, pages = 0;
    str         token = STR("");
    make(t, e);
    insert_many(t, e, MANY_ROWS);
    ck_assert_uint_eq(query(t, e, NULL, 0, STR(""), &page), 1000);
    ck_assert_uint_eq(query(t, e, NULL, 0, page.token, &page), 5);
    ck_assert_uint_eq(page.token.len, 0);

    const filter *odd = filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("p")),
                                   filter_int32(t->arena, "n", FILTER_GE, 5));
    do {
        (void)query(t, e, odd, 100, token, &page);
        for (size_t i = 0; i < page.len; i++, seen++)
            ck_assert_int_eq(entity_int(&page.at[i], "n", -1), (int64_t)seen + 5);
        token = page.token;
        pages++;
    } while (token.len > 0);
    ck_assert_uint_eq(seen, MANY_ROWS - 5);
    ck_assert_uint_eq(pages, 10);

    const filter *other = filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("a"));
    (void)query(t, e, odd, 1, STR(""), &page);
    ck_assert_uint_eq(query(t, e, other, 1, page.token, &page), 0); /* of another query: nothing, no harm */
}

STORE_TEST(rows_of_a_query_have_their_etag_and_what_was_selected)
{
    static const char *const some[] = {"n", NULL};
    entity_page              page;
    make(t, e);
    entity row = row_of(t, "p", "r", 4);
    entity_set_str(&row, "more", STR("text"));
    ck_assert_int_eq(put(t, e, WRITE_INSERT, &row, STR("")), RES_OK);
    insert(t, e, "p", "s", 5);
    table_query q = {.where = filter_str(t->arena, "more", FILTER_EQ, STR("text")), .select = some};
    ck_assert_int_eq(T.query(e, t, things, &q, &page), RES_OK);
    ck_assert_uint_eq(page.len, 1);
    ck_assert_uint_eq(page.at[0].count, 1);
    ck_assert_int_eq(entity_int(&page.at[0], "n", 0), 4);
    ck_assert(str_eq(page.at[0].etag, row.etag)); /* STORE-28 */
    ck_assert_int_eq(put(t, e, WRITE_REPLACE, &page.at[0], page.at[0].etag), RES_OK);
}

STORE_TEST(a_page_of_large_rows_ends_before_it_is_too_large)
{
    entity_page page;
    size_t      seen = 0;
    str         token = STR("");
    char       *bytes = arena_alloc(t->arena, 60000);
    memset(bytes, 1, 60000);
    make(t, e);
    for (int i = 0; i < 10; i++) {
        entity row = row_of(t, "p", arena_strf(t->arena, "%d", i).at, i);
        for (int k = 0; k < 15; k++)
            entity_set_binary(&row, arena_strf(t->arena, "b%d", k).at, (str){bytes, 60000});
        ck_assert_int_eq(put(t, e, WRITE_INSERT, &row, STR("")), RES_OK);
    }
    do {
        size_t len = query(t, e, NULL, 1000, token, &page);
        ck_assert_uint_gt(len, 0);
        ck_assert_uint_le(len, 5);
        seen += len;
        token = page.token;
    } while (token.len > 0);
    ck_assert_uint_eq(seen, 10);
}

/* ---- several ---- */

/* STORE-29, 30 */
STORE_TEST(a_transaction_is_applied_as_a_whole_or_not_at_all)
{
    size_t failed = 99;
    make(t, e);
    insert(t, e, "p", "replaced", 1);
    insert(t, e, "p", "merged", 1);
    insert(t, e, "p", "deleted", 1);
    entity rows[] = {row_of(t, "p", "replaced", 2), row_of(t, "p", "merged", 2), row_of(t, "p", "deleted", 2),
                     row_of(t, "p", "new", 2), row_of(t, "p", "missing", 2)};
    str    stale = get(t, e, "p", "replaced").etag;
    table_write all[] = {{WRITE_REPLACE, &rows[0], ETAG_ANY, NULL},
                         {WRITE_MERGE, &rows[1], ETAG_ANY, NULL},
                         {WRITE_DELETE, &rows[2], ETAG_ANY, NULL},
                         {WRITE_INSERT, &rows[3], STR(""), NULL},
                         {WRITE_DELETE, &rows[4], ETAG_ANY, NULL}};
    ck_assert_int_eq(T.commit(e, t, things, all, 5, &failed), RES_NOT_FOUND);
    ck_assert_uint_eq(failed, 4);
    all[1].etag = stale;
    ck_assert_int_eq(T.commit(e, t, things, all, 5, &failed), RES_PRECONDITION);
    ck_assert_uint_eq(failed, 1);
    all[1].etag = STR("nonsense");
    ck_assert_int_eq(T.commit(e, t, things, all, 5, &failed), RES_INVALID);
    ck_assert_uint_eq(failed, 1);
    all[1].etag = ETAG_ANY;
    all[2].kind = WRITE_INSERT;
    ck_assert_int_eq(T.commit(e, t, things, all, 5, &failed), RES_CONFLICT);
    ck_assert_uint_eq(failed, 2);
    all[2].kind = WRITE_DELETE;
    entity before = get(t, e, "p", "replaced");
    ck_assert_int_eq(entity_int(&before, "n", 0), 1);
    ck_assert(is_there(t, e, "p", "deleted") && !is_there(t, e, "p", "new"));
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(rows[i].etag.len, 0);

    ck_assert_int_eq(T.commit(e, t, things, all, 4, &failed), RES_OK);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(rows[i].etag.len > 0, i != 2);
    ck_assert(str_eq(get(t, e, "p", "merged").etag, rows[1].etag));
    ck_assert(!is_there(t, e, "p", "deleted") && is_there(t, e, "p", "new"));
    ck_assert_int_eq(T.commit(e, t, STR("Nowhere"), all, 1, &failed), RES_UNPROVISIONED);
    ck_assert_uint_eq(failed, 1);
}

Suite *suite_embedded_tables(void)
{
    Suite *s = suite_create("embedded_tables");
    TCase *c = tcase_create("tables");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, a_table_is_made_once_and_found_in_any_case);
    tcase_add_test(c, tables_are_listed_in_order_as_they_were_named);
    tcase_add_test(c, a_dropped_table_is_gone_at_once_and_its_rows_in_time);
    tcase_add_test(c, every_type_comes_back_as_it_was);
    tcase_add_test(c, an_entity_without_properties_and_with_empty_keys_is_one);
    tcase_add_loop_test(c, each_write_succeeds_exactly_when_its_condition_holds, 0,
                        sizeof writes / sizeof *writes);
    tcase_add_test(c, a_missing_table_is_told_from_a_missing_entity);
    tcase_add_test(c, forty_concurrent_read_modify_write_loops_end_at_forty);
    tcase_add_test(c, of_twenty_concurrent_inserts_of_one_key_one_succeeds);
    tcase_add_test(c, rows_come_in_the_order_of_utf16_units);
    tcase_add_test(c, pages_follow_each_other_without_gap_or_repetition);
    tcase_add_test(c, rows_of_a_query_have_their_etag_and_what_was_selected);
    tcase_add_test(c, a_page_of_large_rows_ends_before_it_is_too_large);
    tcase_add_test(c, a_transaction_is_applied_as_a_whole_or_not_at_all);
    suite_add_tcase(s, c);
    suite_add_tcase(s, embedded_tables_cases_faults());
    return s;
}
