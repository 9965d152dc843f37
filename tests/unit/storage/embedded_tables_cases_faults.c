/* embedded_tables_cases_faults.c -- embedded tables when bytes are damaged, too much is asked, memory ends,
 * or the caller leaves.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "storage/embedded/row_codec.h"
#include "storage/embedded/schema.h"
#include "unit/storage/embedded_rig.h"
#include "unit/storage/embedded_tables_cases.h"

#define T embedded_tables

static const str things = STR_INIT("Things");

/* ---- bytes ---- */

static void one_of_each(entity *e)
{
    entity_set_str(e, "s", STR("text"));
    entity_set_int32(e, "i", -7);
    entity_set_int64(e, "l", 1234567890123);
    entity_set_double(e, "d", 0.1);
    entity_set_bool(e, "b", true);
    entity_set_ticks(e, "t", 17634672437001453);
    entity_set_guid(e, "g", STR("c9da6455-213d-42c9-9a79-3e9149a57833"));
    entity_set_binary(e, "x", (str){"\0\1", 2});
}

/* Into memory of exactly its size, so that a read beyond it is found. */
static bool decodes(str body)
{
    static property props[ENTITY_PROPS_MAX];
    size_t          count;
    char           *copy = malloc(body.len + (body.len == 0));
    memcpy(copy, body.at, body.len);
    bool whole = row_decode((str){copy, body.len}, NULL, props, &count);
    free(copy);
    return whole;
}

START_TEST(a_cut_or_longer_row_is_no_row)
{
    arena *a = arena_new(MIB);
    entity e = entity_new(a, STR("p"), STR("r"));
    buf    body;
    one_of_each(&e);
    buf_init(&body, a, MIB);
    row_encode(e.props, e.count, &body);
    ck_assert(decodes(buf_str(&body)));
    for (size_t len = 0; len < body.len; len++)
        ck_assert(!decodes((str){body.at, len}));
    (void)buf_add_char(&body, 0);
    ck_assert(!decodes(buf_str(&body)));
    arena_free(a);
}
END_TEST

START_TEST(a_row_with_any_byte_changed_is_read_safely)
{
    arena *a = arena_new(MIB);
    entity e = entity_new(a, STR("p"), STR("r"));
    buf    body;
    size_t refused = 0;
    one_of_each(&e);
    buf_init(&body, a, MIB);
    row_encode(e.props, e.count, &body);
    for (size_t i = 0; i < body.len; i++) {
        char before = body.at[i];
        for (int byte = 0; byte < 256; byte++) {
            body.at[i] = (char)byte;
            refused += !decodes(buf_str(&body));
        }
        body.at[i] = before;
    }
    ck_assert_uint_gt(refused, 1000);
    arena_free(a);
}
END_TEST

static const struct {
    const char *etag;
    bool        good;
} etags[] = {
    {"W/\"datetime'2026-11-18T05%3A20%3A43.7001453Z'\"", true},
    {"W/\"datetime'2026-11-18T05%3a20%3a43.7001453Z'\"", true},
    {"W/\"datetime'2026-11-18T05%3A20%3A43.7001453Z'", false},
    {"\"datetime'2026-11-18T05%3A20%3A43.7001453Z'\"", false},
    {"W/\"datetime'2026-13-18T05%3A20%3A43.7001453Z'\"", false},
    {"W/\"datetime''\"", false},
    {"W/\"datetime'\"", false},
    {"W/\"0x8DE\"", false},
    {"", false},
    {"W/\"datetime'2026-11-18T05%3A20%3A43.700145300000000000000000000000000000000Z'\"", false},
};

START_TEST(an_etag_is_a_time_in_azures_form_or_none)
{
    edm_ticks ticks;
    char      text[ROW_ETAG_BYTES];
    ck_assert_int_eq(row_etag_parse(str_of(etags[_i].etag), &ticks), etags[_i].good);
    if (etags[_i].good)
        ck_assert(str_eq_nocase(row_etag(ticks, text), str_of(etags[_i].etag)));
}
END_TEST

static res damage_rows(engine_conn *c, void *job, engine_outcome *out)
{
    (void)job;
    sqlite3_stmt *s = engine_prepare(c, "UPDATE entities SET body = X'0199'", out);
    ck_assert_ptr_nonnull(s);
    (void)engine_step(c, s, out);
    return RES_OK;
}

static res write_it(task *t, engine *e, write_kind kind, entity *it)
{
    table_write w = {.kind = kind, .e = it, .etag = ETAG_ANY};
    return T.write(e, t, things, &w);
}

static res put(task *t, engine *e, write_kind kind, const char *row)
{
    entity it = entity_new(t->arena, STR("p"), str_of(row));
    one_of_each(&it);
    return write_it(t, e, kind, &it);
}

STORE_TEST(a_damaged_row_fails_what_reads_it_and_can_be_replaced)
{
    entity      row;
    entity_page page;
    table_query all = {0};
    table_query some = {.where = filter_int32(t->arena, "i", FILTER_EQ, -7)};
    ck_assert_int_eq(T.create(e, t, things), RES_OK);
    ck_assert_int_eq(put(t, e, WRITE_INSERT, "r"), RES_OK);
    ck_assert_int_eq(engine_write(t, e, damage_rows, NULL), RES_OK);
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), NULL, &row), RES_UPSTREAM);
    ck_assert(str_has(task_message(t), STR("damaged")));
    ck_assert_int_eq(T.query(e, t, things, &all, &page), RES_UPSTREAM);
    ck_assert_int_eq(T.query(e, t, things, &some, &page), RES_UPSTREAM);
    ck_assert_int_eq(put(t, e, WRITE_MERGE, "r"), RES_UPSTREAM);
    ck_assert_int_eq(put(t, e, WRITE_REPLACE, "r"), RES_OK);
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), NULL, &row), RES_OK);
}

/* ---- what is refused ---- */

/* STORE-21, for what only the store can know */
STORE_TEST(a_merge_that_makes_an_entity_too_large_is_refused)
{
    ck_assert_int_eq(T.create(e, t, things), RES_OK);
    char *text = arena_alloc(t->arena, 30000);
    memset(text, 'x', 30000);
    entity row = entity_new(t->arena, STR("p"), STR("r")), more = entity_new(t->arena, STR("p"), STR("r"));
    for (int i = 0; i < 16; i++) { /* 60,000 bytes each, by Azure's count */
        entity_set_str(&row, arena_strf(t->arena, "a%d", i).at, (str){text, 30000});
        entity_set_str(&more, arena_strf(t->arena, "b%d", i).at, (str){text, 30000});
    }
    ck_assert_int_eq(write_it(t, e, WRITE_INSERT, &row), RES_OK);
    ck_assert_int_eq(write_it(t, e, WRITE_MERGE, &more), RES_TOO_LARGE);
    entity many = entity_new(t->arena, STR("p"), STR("r"));
    for (int i = 0; i < 250; i++)
        entity_set_int32(&many, arena_strf(t->arena, "c%d", i).at, i);
    ck_assert_int_eq(write_it(t, e, WRITE_UPSERT_MERGE, &many), RES_TOO_LARGE);
    entity now;
    ck_assert_int_eq(T.get(e, t, things, STR("p"), STR("r"), NULL, &now), RES_OK);
    ck_assert(entity_same(&now, &row));
}

STORE_TEST(a_token_that_is_none_is_refused)
{
    entity_page page;
    ck_assert_int_eq(T.create(e, t, things), RES_OK);
    table_query q = {.token = STR("\x7f no token")};
    ck_assert_int_eq(T.query(e, t, things, &q, &page), RES_INVALID);
}

/* ---- everything once, with something failing ---- */

static res everything(task *t, engine *e)
{
    static const char *const some[] = {"s", "g", NULL};
    entity                   row,
        rows[2] = {entity_new(t->arena, STR("p"), STR("x")), entity_new(t->arena, STR("p"), STR("y"))};
    table_write both[] = {{.kind = WRITE_UPSERT_REPLACE, .e = &rows[0]},
                          {.kind = WRITE_UPSERT_MERGE, .e = &rows[1]}};
    size_t      failed;
    entity_page page;
    name_page   names;
    res         r = T.create(e, t, things);
    if (r != RES_OK && r != RES_CONFLICT)
        return r;
    TRY(put(t, e, WRITE_UPSERT_REPLACE, "r"));
    TRY(put(t, e, WRITE_MERGE, "r"));
    TRY(T.get(e, t, things, STR("p"), STR("r"), some, &row));
    TRY(T.commit(e, t, things, both, 2, &failed));
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, STR("p")), .top = 2};
    TRY(T.query(e, t, things, &q, &page));
    ck_assert_uint_eq(page.len, 2);
    TRY(T.list(e, t, STR(""), 10, STR(""), &names));
    TRY(put(t, e, WRITE_DELETE, "r"));
    return T.drop(e, t, things);
}

START_TEST(every_failing_allocation_ends_the_task_and_nothing_else)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        res r = embedded_rig_try(everything, nth, 0, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
        ck_assert_int_lt(nth, 300);
    }
}
END_TEST

START_TEST(every_cancelled_wait_ends_the_task_and_leaves_the_store_usable)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        res r = embedded_rig_try(everything, 0, nth, &pending);
        ck_assert_int_eq(r, pending ? RES_OK : RES_GONE);
        ck_assert_int_lt(nth, 30);
    }
}
END_TEST

TCase *embedded_tables_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, a_cut_or_longer_row_is_no_row);
    tcase_add_test(c, a_row_with_any_byte_changed_is_read_safely);
    tcase_add_loop_test(c, an_etag_is_a_time_in_azures_form_or_none, 0, sizeof etags / sizeof *etags);
    tcase_add_test(c, a_damaged_row_fails_what_reads_it_and_can_be_replaced);
    tcase_add_test(c, every_failing_allocation_ends_the_task_and_nothing_else);
    tcase_add_test(c, every_cancelled_wait_ends_the_task_and_leaves_the_store_usable);
    tcase_add_test(c, a_merge_that_makes_an_entity_too_large_is_refused);
    tcase_add_test(c, a_token_that_is_none_is_refused);
    return c;
}
