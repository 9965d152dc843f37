/* test_actions_batch.c -- POST /api/ActionsUpsert/batch over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/buf.h"
#include "domain/actions/settings.h"
#include "domain/actions_suites.h"
#include "domain/rig.h"
#include "runtime/key_lock.h"

#define PATH "/api/ActionsUpsert/batch"

static got post(task *t, const char *body)
{
    return rig_post(t, PATH, str_of(body));
}

static size_t rows(task *t)
{
    entity_page page;
    OK(tables_query(t, settings_get()->records, &(table_query){0}, &page));
    return page.len;
}

static entity stored(task *t, const char *partition, const char *row)
{
    entity e;
    OK(tables_get(t, settings_get()->records, str_of(partition), str_of(row), &e));
    return e;
}

static str payload(task *t, const char *partition, const char *row)
{
    entity e = stored(t, partition, row);
    return arena_copy(t->arena, entity_str(&e, "PayloadJson", STR("")));
}

/* "{"owner":…,"name":…,"v":…}" for `count` records of as many owners. */
static str records_of(task *t, size_t count, size_t owners, size_t version)
{
    buf text;
    buf_init(&text, t->arena, MIB);
    buf_add_char(&text, '[');
    for (size_t i = 0; i < count; i++)
        buf_addf(&text, "%s{\"owner\":\"o%zu\",\"name\":\"n%zu\",\"v\":%zu}", i > 0 ? "," : "", i % owners, i,
                 version);
    buf_add_char(&text, ']');
    return buf_str(&text);
}

static str status_at(const got *g, size_t i)
{
    return rig_text(g, textf("results/%zu/status", i));
}

static void expect_counts(const got *g, const char *name, int64_t wanted)
{
    static const char *const names[] = {"created", "updated",  "unchanged", "superseded",
                                        "invalid", "conflict", "failed",    "aborted"};
    int64_t                  total = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        total += rig_int(g, names[i]);
    ck_assert_int_eq(rig_int(g, "total"), total);
    ck_assert_int_eq(rig_int(g, name), wanted);
}

/* ---- the whole request ---- */

/* ACT-63, first part. */
static const struct {
    const char *body;
    int64_t     received;
} refused[] = {
    {"[]", 0},
    {"{\"records\":[]}", 0},
    {"{}", 0},
    {"{\"records\":{}}", 0},
    {"{\"records\":7}", 0},
    {"null", 0},
    {"\"x\"", 0},
    {"", 0},
    {"{\"owner\":\"o\",\"name\":\"n\"}", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"}", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"}]]", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"},]", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"} {}]", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"},{\"owner\":\"o\",\"name\":tru}]", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"},{\"owner\":\"o\",\"name\":\"\xFF\"}]", 0},
    {"[{\"owner\":\"o\",\"name\":\"n\"},{]}]", 0},
    {"{\"records\":[{\"owner\":\"o\",\"name\":\"n\"}],\"x\":nul}", 0},
    {"{\"x\":\"\xFF\",\"records\":[{\"owner\":\"o\",\"name\":\"n\"}]}", 0},
};

RIG_TEST(a_body_that_is_no_batch_is_refused_whole)
{
    got g = post(t, refused[i].body);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "errorCode"), STR("VALIDATION_FAILED"));
    ck_assert_uint_eq(rig_text(&g, "correlationId").len, 32);
    ck_assert_int_eq(rig_int(&g, "details/max"), 100);
    ck_assert_int_eq(rig_int(&g, "details/received"), refused[i].received);
    ck_assert_uint_eq(rows(t), 0);
}

/* ACT-63. */
RIG_TEST(a_batch_of_101_is_refused_whole)
{
    got g = rig_post(t, PATH, records_of(t, 101, 3, 1));
    ck_status(g, 400);
    ck_assert_int_eq(rig_int(&g, "details/received"), 101);
    ck_assert_uint_eq(rows(t), 0);
}

RIG_TEST(a_batch_above_8_mib_is_413_and_nothing_is_stored)
{
    str fill = live_repeat(t->arena, STR("xxxxxxxxxxxxxxxx"), 600 * KIB);
    got g = rig_post(
        t, PATH, arena_strf(t->arena, "[{\"owner\":\"o\",\"name\":\"n\",\"x\":\"%.*s\"}]", STR_ARG(fill)));
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert_uint_eq(rows(t), 0);
}

/* ---- the table of the specification's §10 (ACT-56) ---- */

RIG_TEST(three_owners_all_new_are_created)
{
    got g = rig_post(t, PATH, records_of(t, 9, 3, 1));
    ck_status(g, 200);
    expect_counts(&g, "created", 9);
    ck_assert_uint_eq(rig_text(&g, "correlationId").len, 32);
    for (size_t k = 0; k < 9; k++) {
        ck_assert_int_eq(rig_int(&g, textf("results/%zu/index", k)), (int64_t)k);
        ck_str_eq(rig_text(&g, textf("results/%zu/name", k)), str_of(textf("n%zu", k)));
    }
    ck_assert_uint_eq(rows(t), 9);
    str synced = rig_text(&g, "results/0/lastSyncedUtc"); /* one time for each transaction */
    ck_str_eq(rig_text(&g, "results/3/lastSyncedUtc"), synced);
    ck_str_eq(rig_text(&g, "results/6/lastSyncedUtc"), synced);
}

RIG_TEST(one_without_a_name_among_five_is_invalid_and_four_are_written)
{
    got g = post(
        t,
        "{\"records\":[{\"owner\":\"o\",\"name\":\"a\"},{\"owner\":\"o\",\"name\":\"b\"},{\"owner\":\"o\"},"
        "{\"owner\":\"o\",\"name\":\"c\"},{\"owner\":\"p\",\"name\":\"d\"}],\"more\":[1,{}]}");
    ck_status(g, 207);
    expect_counts(&g, "created", 4);
    expect_counts(&g, "invalid", 1);
    ck_str_eq(status_at(&g, 2), STR("invalid"));
    ck_str_eq(rig_text(&g, "results/2/action"), STR("unknown"));
    ck_str_eq(rig_text(&g, "results/2/error/errorCode"), STR("VALIDATION_FAILED"));
    ck_str_eq(rig_text(&g, "results/2/error/message"), STR("Missing required field: name"));
    ck_assert(!rig_bool(&g, "results/2/error/retryable"));
    ck_assert_uint_eq(rows(t), 4);
}

RIG_TEST(of_one_key_twice_the_last_one_wins)
{
    got g = post(t, "[{\"owner\":\"o\",\"name\":\"n\",\"v\":1},{\"owner\":\"o\",\"name\":\"n\",\"v\":2}]");
    ck_status(g, 200);
    expect_counts(&g, "superseded", 1);
    expect_counts(&g, "created", 1);
    ck_str_eq(status_at(&g, 0), STR("superseded"));
    ck_assert_int_eq(rig_int(&g, "results/0/supersededBy"), 1);
    ck_assert(rig_bool(&g, "results/0/success"));
    ck_str_eq(payload(t, "o", "n"), STR("{\"name\":\"n\",\"owner\":\"o\",\"v\":2}"));
}

RIG_TEST(keys_that_normalise_equal_are_duplicates)
{
    got g = post(t, "[{\"owner\":\"Foo\",\"name\":\"n\"},{\"owner\":\" foo "
                    "\",\"name\":\"N\"},{\"owner\":\"foo\",\"name\":\"m\"}]");
    ck_status(g, 200);
    ck_str_eq(status_at(&g, 0), STR("superseded"));
    ck_str_eq(status_at(&g, 1), STR("created"));
    ck_str_eq(rig_text(&g, "results/1/action"), STR("foo/N"));
    ck_assert_uint_eq(rows(t), 2);
}

RIG_TEST(an_answer_is_byte_by_byte_as_specified)
{
    got g = post(t, "[{\"owner\":\"O\",\"name\":\"N\"},{\"name\":\"x\"},{\"owner\":\"o\",\"name\":\"n\"}]");
    ck_status(g, 207);
    str id = rig_text(&g, "correlationId"), at = rig_text(&g, "results/2/lastSyncedUtc");
    ck_str_eq(
        g.body,
        arena_strf(
            t->arena,
            "{\"total\":3,\"created\":1,\"updated\":0,\"unchanged\":0,\"superseded\":1,\"invalid\":1,"
            "\"conflict\":0,\"failed\":0,\"aborted\":0,\"correlationId\":\"%.*s\",\"results\":["
            "{\"index\":0,\"success\":true,\"action\":\"O/N\",\"status\":\"superseded\",\"updated\":false,"
            "\"created\":false,\"owner\":\"O\",\"name\":\"N\",\"supersededBy\":2},"
            "{\"index\":1,\"success\":false,\"action\":\"unknown\",\"status\":\"invalid\",\"updated\":false,"
            "\"created\":false,\"error\":{\"errorCode\":\"VALIDATION_FAILED\","
            "\"message\":\"Missing required field: owner\",\"retryable\":false}},"
            "{\"index\":2,\"success\":true,\"action\":\"o/n\",\"status\":\"created\",\"updated\":true,"
            "\"created\":true,\"owner\":\"o\",\"name\":\"n\",\"lastSyncedUtc\":\"%.*s\"}]}",
            STR_ARG(id), STR_ARG(at)));
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
}

/* ---- unchanged, updated ---- */

RIG_TEST(unchanged_records_are_left_alone_and_changed_ones_replaced)
{
    got g = rig_post(t, PATH, records_of(t, 20, 2, 1));
    ck_status(g, 200);
    entity before = stored(t, "o0", "n0");
    g = rig_post(t, PATH, records_of(t, 20, 2, 1));
    ck_status(g, 200);
    expect_counts(&g, "unchanged", 20);
    ck_str_eq(rig_text(&g, "results/0/lastSyncedUtc"), entity_str(&before, "LastSyncedUtc", STR("")));
    entity after = stored(t, "o0", "n0");
    ck_str_eq(after.etag, before.etag);
    g = rig_post(t, PATH, records_of(t, 24, 2, 2));
    ck_status(g, 200);
    expect_counts(&g, "updated", 20);
    expect_counts(&g, "created", 4);
    ck_str_eq(payload(t, "o1", "n1"), STR("{\"name\":\"n1\",\"owner\":\"o1\",\"v\":2}"));
}

/* The element's own text is read: numbers and lone surrogates are as the caller wrote them. */
RIG_TEST(a_record_in_a_batch_is_stored_as_it_would_be_alone)
{
    static const char record[] = "{\"owner\":\"o\",\"name\":\"n\",\"x\":[1.50,1e400,12345678901234567890,-0],"
                                 "\"s\":\"\\ud800\\\"]}\\\\\",\"k\":1,\"k\":{\"b\":[],\"a\":\"[\"}}";
    got               g = rig_post(t, "/api/ActionsUpsert", str_of(record));
    ck_status(g, 201);
    g = post(t, textf("\xEF\xBB\xBF [ %s\n,\t{\"owner\":\"o\",\"name\":\"m\"} ] ", record));
    ck_status(g, 200);
    ck_str_eq(status_at(&g, 0), STR("unchanged"));
    ck_str_eq(status_at(&g, 1), STR("created"));
}

RIG_TEST(a_record_nested_too_deeply_is_invalid_and_spoils_no_other)
{
    static const size_t depths[] = {70, 10000};
    str open = live_repeat(t->arena, STR("["), depths[i]), close = live_repeat(t->arena, STR("]"), depths[i]);
    got g = rig_post(
        t, PATH,
        arena_strf(t->arena,
                   "[{\"owner\":\"o\",\"name\":\"n\",\"x\":%.*s%.*s},{\"owner\":\"o\",\"name\":\"m\"},"
                   "{\"owner\":\"a/b\",\"name\":\"m\"}]",
                   STR_ARG(open), STR_ARG(close)));
    ck_status(g, 207);
    ck_str_eq(status_at(&g, 0), STR("invalid"));
    ck_str_eq(status_at(&g, 1), STR("created"));
    ck_str_eq(status_at(&g, 2), STR("invalid"));
    ck_str_eq(rig_text(&g, "results/2/error/details/field"), STR("owner"));
    ck_assert_uint_eq(rows(t), 1);
}

RIG_TEST(a_batch_of_invalid_records_is_400)
{
    got g = post(t, "[{\"owner\":\"o\"},7,[],{\"owner\":\"a#b\",\"name\":\"n\"}]");
    ck_status(g, 400);
    expect_counts(&g, "invalid", 4);
    ck_str_eq(rig_text(&g, "results/1/error/message"), STR("Request body must be a JSON object."));
}

RIG_TEST(a_record_above_the_setting_is_invalid_alone)
{
    ck_assert_int_eq(setenv("ACTIONS_MAX_BODY_BYTES", "1024", 1), 0);
    settings_forget_for_test();
    str fill = live_repeat(t->arena, STR("x"), 1024);
    got g = rig_post(
        t, PATH,
        arena_strf(t->arena,
                   "[{\"owner\":\"o\",\"name\":\"n\",\"x\":\"%.*s\"},{\"owner\":\"o\",\"name\":\"m\"}]",
                   STR_ARG(fill)));
    ck_status(g, 207);
    ck_str_eq(status_at(&g, 0), STR("invalid"));
    ck_str_eq(rig_text(&g, "results/0/error/errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert_int_eq(rig_int(&g, "results/0/error/details/maxSize"), 1024);
    ck_str_eq(status_at(&g, 1), STR("created"));
}

/* ---- large ---- */

/* 7 MB in one partition: read in a thread, and more than one transaction. */
RIG_TEST(a_batch_of_large_records_is_split_and_stored)
{
    str fill = live_repeat(t->arena, STR("0123456789abcdef"), 1900); /* 30,400: stored raw */
    buf text;
    buf_init(&text, t->arena, 8 * MIB);
    for (size_t k = 0; k < 100; k++)
        buf_addf(&text, "%s{\"owner\":\"o\",\"name\":\"n%zu\",\"x\":\"%.*s\",\"pad\":%40000d}",
                 k > 0 ? "," : "[", k, STR_ARG(fill), 7);
    buf_add_char(&text, ']');
    got g = rig_post(t, PATH, buf_str(&text));
    ck_status(g, 200);
    expect_counts(&g, "created", 100);
    ck_assert_uint_eq(rows(t), 100);
    g = rig_post(t, PATH, buf_str(&text));
    expect_counts(&g, "unchanged", 100);
    ck_assert_uint_gt(payload(t, "o", "n99").len, 30400);
}

/* ---- strict ---- */

/* ACT-63, last part. */
RIG_TEST(strict_aborts_the_partition_of_an_invalid_record_and_no_other)
{
    got g =
        rig_post(t, PATH "?strict=true",
                 STR("[{\"owner\":\"A\",\"name\":\"1\"},{\"owner\":\" a\"},{\"owner\":\"b\",\"name\":\"1\"},"
                     "{\"owner\":\"a\",\"name\":\"2\"},{\"name\":\"x\"},{\"owner\":\"b\",\"name\":\"2\"}]"));
    ck_status(g, 207);
    expect_counts(&g, "aborted", 2);
    expect_counts(&g, "created", 2);
    expect_counts(&g, "invalid", 2);
    ck_str_eq(status_at(&g, 0), STR("aborted"));
    ck_assert(rig_bool(&g, "results/0/error/retryable"));
    ck_str_eq(status_at(&g, 3), STR("aborted"));
    ck_assert_uint_eq(rows(t), 2);
    (void)stored(t, "b", "1");
}

RIG_TEST(strict_without_anything_wrong_writes_all)
{
    got g = rig_post(t, "/api/ActionsUpsert/batch?strict=true", records_of(t, 30, 3, 1));
    ck_status(g, 200);
    expect_counts(&g, "created", 30);
    ck_assert_uint_eq(rows(t), 30);
}

RIG_TEST(strict_refuses_a_partition_that_is_no_single_transaction)
{
    str fill = live_repeat(t->arena, STR("0123456789abcdef"), 1900);
    buf text;
    buf_init(&text, t->arena, 8 * MIB);
    for (size_t k = 0; k < 70; k++)
        buf_addf(&text, "%s{\"owner\":\"%s\",\"name\":\"n%zu\",\"x\":\"%.*s\"}", k > 0 ? "," : "[",
                 k < 69 ? "o" : "p", k, STR_ARG(fill));
    buf_add_char(&text, ']');
    rig_log_capture();
    got g = rig_post(t, PATH "?strict=true", buf_str(&text));
    ck_status(g, 207);
    expect_counts(&g, "created", 1);
    expect_counts(&g, "failed", 69);
    ck_str_eq(rig_text(&g, "results/0/error/errorCode"), STR("CONSTRAINT_VIOLATION"));
    ck_assert(!rig_bool(&g, "results/0/error/retryable"));
    ck_assert_uint_eq(rows(t), 1);
}

/* ---- many at once ---- */

enum { CALLS = 16 };

static res send_batch(task *t, size_t i, void *ctx)
{
    size_t *stored_ones = ctx;
    got     g = i % 2 == 0 ? rig_post(t, PATH, records_of(t, 40, 4, i))
                           : rig_post(t, "/api/ActionsUpsert",
                                      arena_strf(t->arena, "{\"owner\":\"o1\",\"name\":\"n1\",\"v\":%zu}", i));
    ck_assert_msg(g.status == 200 || g.status == 201, "%d %.*s", g.status, STR_ARG(g.body));
    stored_ones[i] = 1;
    return RES_OK;
}

/* Batches over the same keys and single upserts in between wait for each other instead of racing. */
RIG_TEST(batches_and_single_upserts_of_the_same_keys_all_succeed)
{
    size_t stored_ones[CALLS] = {0};
    OK(par_each(t, CALLS, CALLS, send_batch, stored_ones));
    ck_assert_uint_eq(rows(t), 40);
    ck_assert_uint_eq(key_lock_count(), 0);
}

/* ---- torture ---- */

static const rig_request batching = {
    .method = "POST",
    .target = PATH,
    .body = STR_INIT("[{\"owner\":\"o\",\"name\":\"a\",\"v\":2},{\"owner\":\"o\","
                     "\"name\":\"b\",\"v\":2},{\"owner\":\"p\",\"name\":\"c\","
                     "\"v\":2},{\"owner\":\"o\",\"name\":\"d\"},{\"owner\":\"o\"},{"
                     "\"owner\":\"o\",\"name\":\"a\",\"v\":2}]")};

static void put_back(task *t)
{
    static const char *const owners[] = {"o", "p"}, *const names[] = {"b", "c"};
    got g = rig_direct(
        t, &(rig_request){
               .method = "POST",
               .target = PATH,
               .body = STR("[{\"owner\":\"o\",\"name\":\"a\",\"v\":1},{\"owner\":\"o\",\"name\":\"d\"}]")});
    ck_status(g, 200);
    for (size_t k = 0; k < 2; k++) {
        res r = tables_remove(t, settings_get()->records, str_of(owners[k]), str_of(names[k]), ETAG_ANY);
        ck_assert(r == RES_OK || r == RES_NOT_FOUND);
        task_forget(t);
    }
    ck_assert_uint_eq(key_lock_count(), 0);
}

RIG_TEST(a_batch_survives_every_failing_allocation_and_every_cancelled_wait)
{
    rig_torture(t, &batching, 207, NULL, put_back);
}

#define ROWS(list) (int)(sizeof(list) / sizeof *(list))

Suite *suite_batch(void)
{
    Suite *s = suite_create("batch");
    TCase *c = live_case("batch");
    tcase_add_loop_test(c, a_body_that_is_no_batch_is_refused_whole, 0, ROWS(refused));
    tcase_add_test(c, a_batch_of_101_is_refused_whole);
    tcase_add_test(c, a_batch_above_8_mib_is_413_and_nothing_is_stored);
    tcase_add_test(c, three_owners_all_new_are_created);
    tcase_add_test(c, one_without_a_name_among_five_is_invalid_and_four_are_written);
    tcase_add_test(c, of_one_key_twice_the_last_one_wins);
    tcase_add_test(c, keys_that_normalise_equal_are_duplicates);
    tcase_add_test(c, an_answer_is_byte_by_byte_as_specified);
    tcase_add_test(c, unchanged_records_are_left_alone_and_changed_ones_replaced);
    tcase_add_test(c, a_record_in_a_batch_is_stored_as_it_would_be_alone);
    tcase_add_loop_test(c, a_record_nested_too_deeply_is_invalid_and_spoils_no_other, 0, 2);
    tcase_add_test(c, a_batch_of_invalid_records_is_400);
    tcase_add_test(c, a_record_above_the_setting_is_invalid_alone);
    tcase_add_test(c, a_batch_of_large_records_is_split_and_stored);
    tcase_add_test(c, strict_aborts_the_partition_of_an_invalid_record_and_no_other);
    tcase_add_test(c, strict_without_anything_wrong_writes_all);
    tcase_add_test(c, strict_refuses_a_partition_that_is_no_single_transaction);
    tcase_add_test(c, batches_and_single_upserts_of_the_same_keys_all_succeed);
    tcase_add_test(c, a_batch_survives_every_failing_allocation_and_every_cancelled_wait);
    suite_add_tcase(s, c);
    return s;
}
