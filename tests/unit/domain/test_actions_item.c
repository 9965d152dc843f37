/* test_actions_item.c -- rows as readers get them: whole, in JSON, and nothing twice.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/item.h"

#include <check.h>

#include "core/canon.h"
#include "domain/actions/record.h"
#include "unit/suites.h"

enum { OUT_MAX = 4 * MIB };

static arena *a;

static void open_arena(void)
{
    a = arena_new(16 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_free(a);
}

static entity row_of(const char *payload)
{
    entity e = entity_new(a, STR("acme"), STR("acme_setup"));
    e.etag = STR("W/\"datetime'2026'\"");
    entity_set_str(&e, "PayloadJson", str_of(payload));
    entity_set_str(&e, "PayloadHash", STR("abc"));
    entity_set_str(&e, "LastSyncedUtc", STR("2026-01-02T03:04:05.000Z"));
    entity_set_str(&e, "Owner", STR("Acme"));
    entity_set_str(&e, "Name", STR("acme_Setup"));
    return e;
}

#define META                                                                                               \
    "\"_metadata\":{\"partitionKey\":\"acme\",\"rowKey\":\"acme_setup\",\"payloadHash\":\"abc\",\"etag\":" \
    "\"W/\\\"datetime'2026'\\\"\",\"lastSyncedUtc\":"
#define LISTED META "\"2026-01-02T03:04:05.000Z\"}}"
#define SINGLE META "\"2026-01-02T03:04:05Z\"}}"

static res add(const entity *e, item_form form, str *ret)
{
    buf out;
    buf_init(&out, a, OUT_MAX);
    res r = item_add(a, &out, e, form);
    *ret = buf_str(&out);
    return r;
}

static void assert_item(const entity *e, item_form form, const char *want)
{
    str is;
    ck_assert_int_eq(add(e, form, &is), RES_OK);
    ck_assert_msg(str_eq(is, str_of(want)), "'%.*s' is not '%s'", STR_ARG(is), want);
}

static const struct {
    const char *payload, *item; /* of the item, what stands before _metadata */
} listed[] = {
    {"{\"name\":\"n\",\"owner\":\"o\"}", "{\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null,"},
    /* ACT-15. */
    {"{\"name\":\"n\",\"ossfScore\":6.4,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":6.4,\"owner\":\"o\",\"openssf_score\":6.4,"},
    {"{\"name\":\"n\",\"ossf_score\":-1,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossf_score\":-1,\"owner\":\"o\",\"openssf_score\":-1,"},
    {"{\"name\":\"n\",\"openssf_score\":7,\"ossfScore\":6,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":6,\"owner\":\"o\",\"openssf_score\":7,"},
    {"{\"name\":\"n\",\"openssf_score\":null,\"ossfScore\":6,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":6,\"owner\":\"o\",\"openssf_score\":6,"},
    {"{\"name\":\"n\",\"openssf_score\":\"7\",\"ossfScore\":6,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":6,\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":\"n\",\"openssf_score\":\"\",\"ossfScore\":6,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":6,\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":\"n\",\"ossfScore\":1e999,\"owner\":\"o\"}",
     "{\"name\":\"n\",\"ossfScore\":null,\"owner\":\"o\",\"openssf_score\":null,"},
    /* what a caller has sent back is not doubled */
    {"{\"_metadata\":{\"etag\":\"old\"},\"a\":1,\"name\":\"n\",\"openssf_score\":2,\"owner\":\"o\",\"z\":[{}]"
     "}",
     "{\"a\":1,\"name\":\"n\",\"owner\":\"o\",\"z\":[{}],\"openssf_score\":2,"},
    {"{\"a\":{\"_metadata\":1,\"owner\":2},\"name\":\"n\",\"owner\":\"o\"}",
     "{\"a\":{\"_metadata\":1,\"owner\":2},\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null,"},
    /* ACT-13: filled from the columns. */
    {"{\"a\":1}", "{\"a\":1,\"owner\":\"Acme\",\"name\":\"acme_Setup\",\"openssf_score\":null,"},
    {"{}", "{\"owner\":\"Acme\",\"name\":\"acme_Setup\",\"openssf_score\":null,"},
    {"{\"name\":\"\",\"owner\":null,\"z\":1}",
     "{\"z\":1,\"owner\":\"Acme\",\"name\":\"acme_Setup\",\"openssf_score\":null,"},
    {"{\"name\":\"n\"}", "{\"name\":\"n\",\"owner\":\"Acme\",\"openssf_score\":null,"},
    {"{\"owner\":1}", "{\"owner\":1,\"name\":\"acme_Setup\",\"openssf_score\":null,"},
    /* of a writer that is not canonical */
    {" { \"owner\" : \"o\" , \"b\" : \"\\u00e9\\ud800\", \"a\" : [ 1.0 ], \"name\" : \"n\" } ",
     "{\"a\":[1],\"b\":\"\xC3\xA9\\ud800\",\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":\"acme_n\",\"owner\":\"o\"}", "{\"name\":\"acme_n\",\"owner\":\"o\",\"openssf_score\":null,"},
};

START_TEST(an_item_is_the_payload_with_score_and_metadata)
{
    entity e = row_of(listed[_i].payload);
    assert_item(&e, ITEM_LISTED, arena_strf(a, "%s" LISTED, listed[_i].item).at);
}
END_TEST

/* ACT-31, ACT-32. */
static const struct {
    const char *payload, *item;
} single[] = {
    {"{\"name\":\"acme_setup\",\"owner\":\"Acme\"}",
     "{\"owner\":\"Acme\",\"name\":\"setup\",\"openssf_score\":null,"},
    {"{\"a\":1,\"name\":\"acme_s\\\"\",\"owner\":\"Acme\"}",
     "{\"a\":1,\"owner\":\"Acme\",\"name\":\"s\\\"\",\"openssf_score\":null,"},
    {"{\"name\":\"acme_\",\"owner\":\"o\"}", "{\"name\":\"acme_\",\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":\"acme-setup\",\"owner\":\"o\"}",
     "{\"name\":\"acme-setup\",\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":\"acmes_x\",\"owner\":\"o\"}",
     "{\"name\":\"acmes_x\",\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"name\":5,\"owner\":\"o\"}", "{\"name\":5,\"owner\":\"o\",\"openssf_score\":null,"},
    {"{\"owner\":\"o\"}", "{\"owner\":\"o\",\"name\":\"Setup\",\"openssf_score\":null,"},
};

START_TEST(a_single_item_has_a_name_without_prefix_and_a_short_time)
{
    entity e = row_of(single[_i].payload);
    assert_item(&e, ITEM_SINGLE, arena_strf(a, "%s" SINGLE, single[_i].item).at);
}
END_TEST

/* ACT-31. */
START_TEST(only_whole_seconds_are_shortened_and_the_timestamp_is_shown_when_there_is_one)
{
    entity e = row_of("{\"name\":\"n\",\"owner\":\"o\"}");
    entity_set_str(&e, "LastSyncedUtc", STR("2026-01-02T03:04:05.010Z"));
    e.timestamp = 17672438451234567;
    assert_item(&e, ITEM_SINGLE,
                "{\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null," META
                "\"2026-01-02T03:04:05.010Z\",\"timestamp\":\"2026-01-01T05:04:05.1234567Z\"}}");
    assert_item(&e, ITEM_LISTED,
                "{\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null," META
                "\"2026-01-02T03:04:05.010Z\"}}");
}
END_TEST

START_TEST(what_a_row_does_not_have_is_null)
{
    entity e = entity_new(a, STR("p\"\x01"), STR("r"));
    entity_set_str(&e, "PayloadJson", STR("{\"name\":\"n\",\"owner\":\"o\"}"));
    assert_item(
        &e, ITEM_SINGLE,
        "{\"name\":\"n\",\"owner\":\"o\",\"openssf_score\":null,\"_metadata\":{\"partitionKey\":"
        "\"p\\\"\\u0001\",\"rowKey\":\"r\",\"payloadHash\":null,\"etag\":null,\"lastSyncedUtc\":null}}");
}
END_TEST

/* ACT-33. */
START_TEST(a_row_that_cannot_be_read_is_told_and_leaves_nothing)
{
    static const char *const bad[] = {"", "[]", "null", "\"x\"", "{\"a\":1", "{\"a\":\"\xFF\"}", "nonsense"};
    str                      is;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        entity e = row_of(bad[i]);
        ck_assert_int_eq(add(&e, ITEM_LISTED, &is), RES_UPSTREAM);
        ck_assert_uint_eq(is.len, 0);
    }
    entity none = row_of("{}");
    entity_drop(&none, "PayloadJson");
    ck_assert_int_eq(add(&none, ITEM_SINGLE, &is), RES_UPSTREAM);

    entity lacking = row_of("{\"owner\":\"o\"}");
    entity_drop(&lacking, "Name");
    ck_assert_int_eq(add(&lacking, ITEM_SINGLE, &is), RES_UPSTREAM);
    ck_assert_uint_eq(is.len, 0);
    lacking = row_of("{\"name\":\"n\"}");
    entity_set_str(&lacking, "Owner", STR(""));
    ck_assert_int_eq(add(&lacking, ITEM_LISTED, &is), RES_UPSTREAM);
}
END_TEST

/* ACT-13. */
START_TEST(a_refilled_payload_has_the_canonical_text_that_it_had)
{
    static const char *const extra = ",\"openssf_score\":null,";
    record                   r;
    record_problem           why;
    str is, canonical, text = STR("{\"owner\":\"Acme\",\"name\":\"acme_Setup\",\"b\":[1],\"zAt\":\"x\"}");
    ck_assert_int_eq(record_read_now(a, text, MIB, true, &r, &why), RES_OK);

    entity e = row_of("{\"b\":[1],\"zAt\":\"x\"}");
    ck_assert_int_eq(add(&e, ITEM_LISTED, &is), RES_OK);
    size_t end = str_find(is, str_of(extra));
    ck_assert_uint_lt(end, is.len);
    str payload = arena_strf(a, "%.*s}", STR_ARG(str_slice(is, 0, end)));
    ck_assert_int_eq(canon_json(a, payload, &canonical, NULL), RES_OK);
    ck_assert(str_eq(canonical, r.canonical));
}
END_TEST

START_TEST(items_follow_one_another_in_one_buffer)
{
    buf    out;
    entity e = row_of("{\"name\":\"n\",\"owner\":\"o\"}");
    buf_init(&out, a, OUT_MAX);
    ck_assert_int_eq(item_add(a, &out, &e, ITEM_LISTED), RES_OK);
    size_t one = out.len;
    ck_assert_int_eq(item_add(a, &out, &e, ITEM_LISTED), RES_OK);
    ck_assert_uint_eq(out.len, 2 * one);
}
END_TEST

START_TEST(an_item_is_made_or_memory_is_said_to_be_missing)
{
    entity e = row_of(" {\"owner\":\"o\",\"name\":\"acme_n\",\"a\":{}}");
    for (long nth = 1;; nth++) {
        str is;
        ck_assert_int_lt(nth, 100);
        arena_fail_at(nth);
        res  r = add(&e, ITEM_SINGLE, &is);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
}
END_TEST

Suite *suite_actions_item(void)
{
    Suite *s = suite_create("actions_item");
    TCase *c = tcase_create("item");
    tcase_add_checked_fixture(c, open_arena, close_arena);
    tcase_add_loop_test(c, an_item_is_the_payload_with_score_and_metadata, 0, sizeof listed / sizeof *listed);
    tcase_add_loop_test(c, a_single_item_has_a_name_without_prefix_and_a_short_time, 0,
                        sizeof single / sizeof *single);
    tcase_add_test(c, only_whole_seconds_are_shortened_and_the_timestamp_is_shown_when_there_is_one);
    tcase_add_test(c, what_a_row_does_not_have_is_null);
    tcase_add_test(c, a_row_that_cannot_be_read_is_told_and_leaves_nothing);
    tcase_add_test(c, a_refilled_payload_has_the_canonical_text_that_it_had);
    tcase_add_test(c, items_follow_one_another_in_one_buffer);
    tcase_add_test(c, an_item_is_made_or_memory_is_said_to_be_missing);
    suite_add_tcase(s, c);
    return s;
}
