/* test_actions_upsert.c -- POST /api/ActionsUpsert over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"
#include "domain/actions_suites.h"
#include "domain/rig.h"
#include "live/history.h"
#include "runtime/key_lock.h"

#define PATH "/api/ActionsUpsert"

static got post(task *t, const char *body)
{
    return rig_post(t, PATH, str_of(body));
}

static entity stored(task *t, const char *partition, const char *row)
{
    entity e;
    OK(tables_get(t, settings_get()->records, str_of(partition), str_of(row), &e));
    return e;
}

static size_t rows(task *t)
{
    entity_page page;
    OK(tables_query(t, settings_get()->records, &(table_query){0}, &page));
    return page.len;
}

static void expect_invalid(const got *g, const char *message)
{
    ck_status(*g, 400);
    ck_str_eq(rig_text(g, "errorCode"), STR("VALIDATION_FAILED"));
    ck_str_eq(rig_text(g, "message"), str_of(message));
    ck_assert_uint_eq(rig_text(g, "correlationId").len, 32);
}

/* ---- what is refused ---- */

/* ACT-1. */
static const struct {
    const char *body, *message;
} refused[] = {
    {"{\"name\":\"n\"}", "Missing required field: owner"},
    {"{\"owner\":\"o\"}", "Missing required field: name"},
    {"{}", "Missing required field: owner"},
    {"{\"owner\":null,\"name\":\"n\"}", "Missing required field: owner"},
    {"{\"owner\":\" \\t\",\"name\":\"n\"}", "Missing required field: owner"},
    {"{\"owner\":\"o\",\"name\":\"\"}", "Missing required field: name"},
    {"{\"owner\":[],\"name\":\"n\"}", "Field owner must be a string."},
    {"{\"owner\":\"o\",\"name\":true}", "Field name must be a string."},
    {"null", "Request body must be a JSON object."},
    {"", "Request body must be a JSON object."},
    {"[{\"owner\":\"o\",\"name\":\"n\"}]", "Request body must be a JSON object."},
    {"7", "Request body must be a JSON object."},
    {"{\"owner\":\"o\",\"name\":\"n\"", "Request body must be a JSON object."},
    {"{\"owner\":\"o\",\"name\":\"n\"}}", "Request body must be a JSON object."},
    {"{\"owner\":\"o\",\"name\":\"n\",\"x\":\"\xC3\x28\"}", "Request body must be a JSON object."},
    {"{\"owner\":\"o\",\"name\":\"n\",\"x\":\"\xED\xA0\x80\"}", "Request body must be a JSON object."},
};

RIG_TEST(a_body_that_is_no_record_is_refused_with_the_field_and_nothing_is_stored)
{
    got g = post(t, refused[i].body);
    expect_invalid(&g, refused[i].message);
    ck_assert_uint_eq(rows(t), 0);
}

/* ACT-54. */
static const struct {
    const char *body, *field;
} forbidden[] = {
    {"{\"owner\":\"a/b\",\"name\":\"n\"}", "owner"},
    {"{\"owner\":\"o\",\"name\":\"a\\\\b\"}", "name"},
    {"{\"owner\":\"a#b\",\"name\":\"n\"}", "owner"},
    {"{\"owner\":\"o\",\"name\":\"a?b\"}", "name"},
    {"{\"owner\":\"o\",\"name\":\"a\\u0001b\"}", "name"},
    {"{\"owner\":\"a\\u007fb\",\"name\":\"n\"}", "owner"},
    {"{\"owner\":\"o\",\"name\":\"a\\u0085b\"}", "name"},
    {"{\"owner\":\"a\\nb\",\"name\":\"n\"}", "owner"},
    {"{\"owner\":\"a\\ud800b\",\"name\":\"n\"}", "owner"},
};

RIG_TEST(a_key_that_tables_forbid_is_refused_with_field_and_reason)
{
    got g = post(t, forbidden[i].body);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "errorCode"), STR("VALIDATION_FAILED"));
    ck_str_eq(rig_text(&g, "details/field"), str_of(forbidden[i].field));
    ck_assert_uint_gt(rig_text(&g, "details/reason").len, 0);
    ck_assert_uint_eq(rows(t), 0);
}

/* ACT-59. */
RIG_TEST(a_key_of_512_units_is_stored_and_one_of_513_is_refused)
{
    str owner = live_repeat(t->arena, STR("x"), 510), emoji = STR("\xF0\x9F\x98\x80"); /* two units */
    str body =
        arena_strf(t->arena, "{\"owner\":\"%.*s%.*s\",\"name\":\"n\"}", STR_ARG(owner), STR_ARG(emoji));
    got g = rig_post(t, PATH, body);
    ck_status(g, 201);
    body = arena_strf(t->arena, "{\"owner\":\"%.*sy%.*s\",\"name\":\"n\"}", STR_ARG(owner), STR_ARG(emoji));
    g = rig_post(t, PATH, body);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "details/field"), STR("owner"));
    ck_assert_uint_eq(rows(t), 1);
}

static str nested(task *t, size_t depth)
{
    str open = live_repeat(t->arena, STR("["), depth), close = live_repeat(t->arena, STR("]"), depth);
    return arena_strf(t->arena, "{\"owner\":\"o\",\"name\":\"n\",\"x\":%.*s%.*s}", STR_ARG(open),
                      STR_ARG(close));
}

RIG_TEST(nesting_deeper_than_64_levels_is_refused)
{
    got g = rig_post(t, PATH, nested(t, 63));
    ck_status(g, 201);
    static const size_t depths[] = {64, 600, 10000};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        g = rig_post(t, PATH, nested(t, depths[d]));
        ck_status(g, 400);
        ck_str_eq(rig_text(&g, "errorCode"), STR("VALIDATION_FAILED"));
        ck_assert(str_has(rig_text(&g, "message"), STR("64")));
    }
    entity e = stored(t, "o", "n");
    ck_assert_uint_lt(entity_str(&e, "PayloadJson", STR("")).len, 200);
}

RIG_TEST(a_body_above_the_setting_is_413_with_both_sizes)
{
    ck_assert_int_eq(setenv("ACTIONS_MAX_BODY_BYTES", "2048", 1), 0);
    settings_forget_for_test();
    str fill = live_repeat(t->arena, STR("x"), 2048);
    got g = rig_post(t, PATH,
                     arena_strf(t->arena, "{\"owner\":\"o\",\"name\":\"n\",\"x\":\"%.*s\"}", STR_ARG(fill)));
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert_int_eq(rig_int(&g, "details/maxSize"), 2048);
    ck_assert_int_eq(rig_int(&g, "details/actualSize"), 2048 + 31);
    ck_assert_uint_eq(rows(t), 0);
}

RIG_TEST(a_body_of_64_mib_is_413_and_nothing_is_stored)
{
    str fill =
        live_repeat(t->arena, STR("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), MIB);
    got g = rig_post(t, PATH, fill);
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert_uint_eq(rig_text(&g, "correlationId").len, 32);
    ck_assert_uint_eq(rows(t), 0);
}

RIG_TEST(a_record_that_does_not_fit_into_a_row_is_413)
{
    str   noise = live_noise(t->arena, 1400 * KIB, 7);
    char *hex = arena_alloc(t->arena, 2 * noise.len);
    for (size_t k = 0; k < noise.len; k++) {
        hex[2 * k] = "0123456789abcdef"[(unsigned char)noise.at[k] >> 4];
        hex[2 * k + 1] = "0123456789abcdef"[noise.at[k] & 15];
    }
    str text = {hex, 2 * noise.len};
    got g = rig_post(t, PATH,
                     arena_strf(t->arena, "{\"owner\":\"o\",\"name\":\"n\",\"x\":\"%.*s\"}", STR_ARG(text)));
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert_int_gt(rig_int(&g, "details/actualSize"), rig_int(&g, "details/maxSize"));
    ck_assert_uint_eq(rows(t), 0);
}

/* ACT-2. */
RIG_TEST(a_refusal_is_logged_as_a_warning_with_its_correlation_id)
{
    rig_log_capture();
    got g = post(t, "{\"name\":\"n\"}");
    str log = rig_log();
    ck_assert(str_has(log, rig_text(&g, "correlationId")));
    ck_assert(str_has(log, STR("\"level\":\"warn\"")));
    ck_assert(str_has(log, STR("Missing required field: owner")));
}

/* ACT-10. */
RIG_TEST(correlation_ids_differ_and_details_are_left_out_when_there_are_none)
{
    got a = post(t, "{}"), b = post(t, "{}");
    ck_assert(!str_eq(rig_text(&a, "correlationId"), rig_text(&b, "correlationId")));
    ck_assert_ptr_null(rig_at(&a, "details"));
    str id = rig_text(&a, "correlationId");
    for (size_t k = 0; k < id.len; k++)
        ck_assert(strchr("0123456789abcdef", id.at[k]) != NULL);
}

/* ---- what is stored ---- */

static void stop_clock(void)
{
    clock_set_for_test(INT64_C(1767323045678000), clock_mono_us()); /* 2026-01-02T03:04:05.678Z */
}

/* ACT-5. */
RIG_TEST(a_new_record_is_created)
{
    stop_clock();
    got g = post(t, "{\"owner\":\" Acme-Labs \",\"name\":\"Setup\\tThing\\t\"}");
    ck_status(g, 400);
    g = post(t, "{\"owner\":\" Acme-Labs \",\"name\":\"Setup-\\\"Thing\\\"\\t\"}");
    clock_unset_for_test();
    ck_status(g, 201);
    ck_str_eq(g.body,
              STR("{\"updated\":true,\"created\":true,\"owner\":\"Acme-Labs\","
                  "\"name\":\"Setup-\\\"Thing\\\"\",\"lastSyncedUtc\":\"2026-01-02T03:04:05.678Z\"}"));
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
}

/* ACT-6. The stored time is that of the last change. */
RIG_TEST(the_same_record_again_is_unchanged_and_not_written)
{
    stop_clock();
    got g = post(t, "{\"owner\":\"O\",\"name\":\"N\",\"a\":1.0}");
    ck_status(g, 201);
    clock_unset_for_test();
    entity before = stored(t, "o", "n");
    g = post(t, " { \"a\" : 1, \"name\":\"N \", \"owner\":\"O\" } ");
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"updated\":false,\"created\":false,\"owner\":\"O\",\"name\":\"N\","
                          "\"lastSyncedUtc\":\"2026-01-02T03:04:05.678Z\"}"));
    entity after = stored(t, "o", "n");
    ck_str_eq(after.etag, before.etag);
}

RIG_TEST(a_changed_record_is_replaced_whole)
{
    got g = post(t, "{\"owner\":\"O\",\"name\":\"N\",\"a\":1}");
    ck_status(g, 201);
    stop_clock();
    g = post(t, "{\"owner\":\"o\",\"name\":\"N\",\"b\":2}");
    clock_unset_for_test();
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"updated\":true,\"created\":false,\"owner\":\"o\",\"name\":\"N\","
                          "\"lastSyncedUtc\":\"2026-01-02T03:04:05.678Z\"}"));
    entity e = stored(t, "o", "n");
    ck_str_eq(entity_str(&e, "PayloadJson", STR("")), STR("{\"b\":2,\"name\":\"N\",\"owner\":\"o\"}"));
    ck_str_eq(entity_str(&e, "Owner", STR("")), STR("o"));
    ck_str_eq(entity_str(&e, "LastSyncedUtc", STR("")), STR("2026-01-02T03:04:05.678Z"));
}

/* ACT-61, the stored text. */
RIG_TEST(what_is_stored_is_the_canonical_text_and_its_hash)
{
    got g = post(t, "\xEF\xBB\xBF{\"owner\":\"o\",\"name\":\"n\",\"x\":[1.0,1.50,1e3,1e21,-0,0.0000001,"
                    "12345678901234567890,1e400],\"s\":\"\\ud800\"}");
    ck_status(g, 201);
    entity e = stored(t, "o", "n");
    str    text = entity_str(&e, "PayloadJson", STR(""));
    char   hex[SHA256_HEX + 1];
    ck_str_eq(text, STR("{\"name\":\"n\",\"owner\":\"o\",\"s\":\"\\ud800\","
                        "\"x\":[1,1.5,1000,1e+21,0,1e-7,12345678901234567000,null]}"));
    sha256_digest digest = hash_sha256(text);
    ck_str_eq(entity_str(&e, "PayloadHash", STR("")), hash_hex(&digest, hex));
    ck_assert_uint_eq(e.count, 5);
}

/* ACT-55. */
RIG_TEST(a_large_payload_is_stored_compressed_and_comes_back_identical)
{
    str  fill = live_repeat(t->arena, STR("ab\xC3\xA9"), 11000); /* 33,000 units */
    str  body = arena_strf(t->arena, "{\"owner\":\"o\",\"name\":\"n\",\"x\":\"%.*s\"}", STR_ARG(fill));
    str  want = arena_strf(t->arena, "{\"name\":\"n\",\"owner\":\"o\",\"x\":\"%.*s\"}", STR_ARG(fill)), text;
    char hex[SHA256_HEX + 1];
    got  g = rig_post(t, PATH, body);
    ck_status(g, 201);
    entity e = stored(t, "o", "n");
    ck_str_eq(entity_str(&e, "PayloadEncoding", STR("")), STR("gzip"));
    OK(row_payload(t->arena, &e, &text));
    ck_assert(str_eq(text, want));
    sha256_digest digest = hash_sha256(want);
    ck_str_eq(row_hash(&e), hash_hex(&digest, hex));
    g = rig_post(t, PATH, body);
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "updated"));
    g = post(t, "{\"owner\":\"o\",\"name\":\"n\"}"); /* Replace: the compressed columns vanish */
    ck_status(g, 200);
    e = stored(t, "o", "n");
    ck_assert_uint_eq(e.count, 5);
}

RIG_TEST(a_number_is_as_good_a_name_as_its_text)
{
    got g = post(t, "{\"owner\":123,\"name\":1.50}");
    ck_status(g, 201);
    ck_str_eq(rig_text(&g, "owner"), STR("123"));
    ck_str_eq(rig_text(&g, "name"), STR("1.5"));
    (void)stored(t, "123", "1.5");
}

/* ACT-69, the first half. */
RIG_TEST(the_first_upsert_makes_the_table)
{
    str   *names, token;
    size_t count;
    got    g = post(t, "{\"owner\":\"o\",\"name\":\"n\"}");
    ck_status(g, 201);
    OK(tables_list(t, STORE_ACTIONS, settings_get()->records.name, 10, STR(""), &names, &count, &token));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows(t), 1);
}

/* ---- methods ---- */

/* ACT-7. */
RIG_TEST(options_is_204_and_touches_no_storage)
{
    static const char *const paths[] = {PATH, PATH "/batch"};
    got                      g = rig_call(t, "OPTIONS", paths[i], (str){0}, NULL, 0);
    ck_status(g, 204);
    ck_str_eq(rig_header(&g, "allow"), STR("POST,OPTIONS"));
    ck_str_eq(rig_header(&g, "access-control-allow-methods"), STR("GET,POST,OPTIONS"));
    ck_str_eq(rig_header(&g, "access-control-max-age"), STR("86400"));
    ck_assert_uint_eq(g.body.len, 0);
}

RIG_TEST(another_method_is_405_with_allow)
{
    static const char *const paths[] = {PATH, PATH "/batch"};
    got                      g = rig_get(t, paths[i]);
    ck_status(g, 405);
    ck_str_eq(g.body, STR("{\"error\":\"Method not allowed.\"}"));
    ck_assert_uint_gt(rig_header(&g, "allow").len, 0);
}

/* ---- many at once ---- */

enum { WRITERS = 64 };

typedef struct {
    unsigned   clock, variants;
    history_op ops[WRITERS];
    int        statuses[WRITERS];
    bool       wrote[WRITERS];
} writers;

static res write_one(task *t, size_t i, void *ctx)
{
    writers    *w = ctx;
    history_op *op = &w->ops[i];
    *op = (history_op){.kind = HISTORY_UPSERT, .value = (unsigned)i + 1, .called = ++w->clock};
    got g = rig_post(t, PATH,
                     arena_strf(t->arena, "{\"owner\":\"o\",\"name\":\"n\",\"v\":%zu}", i % w->variants));
    op->returned = ++w->clock;
    w->statuses[i] = g.status;
    w->wrote[i] = g.status < 300 && rig_bool(&g, "updated");
    op->result = g.status < 300 ? RES_OK : RES_UPSTREAM;
    return RES_OK;
}

static unsigned value_stored(task *t)
{
    entity          e = stored(t, "o", "n");
    const json_val *doc;
    OK(json_parse(t->arena, entity_str(&e, "PayloadJson", STR("")), &doc, NULL));
    return (unsigned)json_int(json_get(doc, "v"), -1);
}

/* ACT-57, with 64 instead of four. Each writes a text of its own, so all must be acknowledged as written, one
 * as new; and what is stored is one that may have come last. */
RIG_TEST(of_64_writers_of_one_key_none_fails_and_the_last_one_stands)
{
    writers *w = arena_one(t->arena, writers);
    size_t   created = 0;
    w->variants = WRITERS;
    OK(par_each(t, WRITERS, WRITERS, write_one, w));
    for (size_t k = 0; k < WRITERS; k++) {
        ck_assert_int_lt(w->statuses[k], 300);
        ck_assert(w->wrote[k]);
        created += w->statuses[k] == 201;
    }
    ck_assert_uint_eq(created, 1);
    ck_assert_uint_eq(key_lock_count(), 0);

    history_op ops[HISTORY_MAX];
    memcpy(ops, w->ops, sizeof w->ops);
    ops[0] = (history_op){
        .kind = HISTORY_READ, .value = value_stored(t) + 1, .called = w->clock + 1, .returned = w->clock + 2};
    bool was_first = ops[0].value == 1;
    ck_assert_msg(was_first || history_is_linearizable(ops, WRITERS), "%.*s",
                  STR_ARG(history_text(ops, WRITERS)));
}

/* Who finds its own text there has nothing to write. */
RIG_TEST(of_64_writers_of_one_text_one_writes)
{
    writers *w = arena_one(t->arena, writers);
    size_t   wrote = 0;
    w->variants = 1;
    OK(par_each(t, WRITERS, WRITERS, write_one, w));
    for (size_t k = 0; k < WRITERS; k++) {
        ck_assert_int_lt(w->statuses[k], 300);
        wrote += w->wrote[k];
    }
    ck_assert_uint_eq(wrote, 1);
}

/* ---- torture ---- */

static const rig_request upserting = {
    .method = "POST", .target = PATH, .body = STR_INIT("{\"owner\":\"o\",\"name\":\"n\",\"a\":2}")};

static void put_back(task *t)
{
    got g = rig_direct(t, &(rig_request){.method = "POST",
                                         .target = PATH,
                                         .body = STR("{\"owner\":\"o\",\"name\":\"n\",\"a\":1}")});
    ck_assert_int_lt(g.status, 300);
    ck_assert_uint_eq(key_lock_count(), 0);
}

static void remove_it(task *t)
{
    res r = tables_remove(t, settings_get()->records, STR("o"), STR("n"), ETAG_ANY);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
}

RIG_TEST(an_update_survives_every_failing_allocation_and_every_cancelled_wait)
{
    rig_torture(t, &upserting, 200, NULL, put_back);
}

RIG_TEST(an_insert_survives_every_failing_allocation_and_every_cancelled_wait)
{
    rig_torture(t, &upserting, 201, NULL, remove_it);
    ck_assert_uint_eq(key_lock_count(), 0);
}

#define ROWS(list) (int)(sizeof(list) / sizeof *(list))

Suite *suite_upsert(void)
{
    Suite *s = suite_create("upsert");
    TCase *c = live_case("upsert");
    tcase_add_loop_test(c, a_body_that_is_no_record_is_refused_with_the_field_and_nothing_is_stored, 0,
                        ROWS(refused));
    tcase_add_loop_test(c, a_key_that_tables_forbid_is_refused_with_field_and_reason, 0, ROWS(forbidden));
    tcase_add_test(c, a_key_of_512_units_is_stored_and_one_of_513_is_refused);
    tcase_add_test(c, nesting_deeper_than_64_levels_is_refused);
    tcase_add_test(c, a_body_above_the_setting_is_413_with_both_sizes);
    tcase_add_test(c, a_body_of_64_mib_is_413_and_nothing_is_stored);
    tcase_add_test(c, a_record_that_does_not_fit_into_a_row_is_413);
    tcase_add_test(c, a_refusal_is_logged_as_a_warning_with_its_correlation_id);
    tcase_add_test(c, correlation_ids_differ_and_details_are_left_out_when_there_are_none);
    tcase_add_test(c, a_new_record_is_created);
    tcase_add_test(c, the_same_record_again_is_unchanged_and_not_written);
    tcase_add_test(c, a_changed_record_is_replaced_whole);
    tcase_add_test(c, what_is_stored_is_the_canonical_text_and_its_hash);
    tcase_add_test(c, a_large_payload_is_stored_compressed_and_comes_back_identical);
    tcase_add_test(c, a_number_is_as_good_a_name_as_its_text);
    tcase_add_test(c, the_first_upsert_makes_the_table);
    tcase_add_loop_test(c, options_is_204_and_touches_no_storage, 0, 2);
    tcase_add_loop_test(c, another_method_is_405_with_allow, 0, 2);
    tcase_add_test(c, of_64_writers_of_one_key_none_fails_and_the_last_one_stands);
    tcase_add_test(c, of_64_writers_of_one_text_one_writes);
    tcase_add_test(c, an_update_survives_every_failing_allocation_and_every_cancelled_wait);
    tcase_add_test(c, an_insert_survives_every_failing_allocation_and_every_cancelled_wait);
    suite_add_tcase(s, c);
    return s;
}
