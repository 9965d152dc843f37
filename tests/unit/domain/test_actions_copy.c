/* test_actions_copy.c -- a row as text and back; and cursors, which are texts as well.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/copy.h"

#include <check.h>
#include <string.h>

#include "core/base64.h"
#include "domain/actions/cursor.h"
#include "domain/actions/row.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define EXPECT(got, want)                                                                    \
    do {                                                                                     \
        str ck_got = (got), ck_want = str_of(want);                                          \
        ck_assert_msg(str_eq(ck_got, ck_want), "'%.*s', not '%s'", STR_ARG(ck_got), (want)); \
    } while (0)

static entity row_with(const char *owner, const char *payload)
{
    entity e = entity_new(scratch(), STR("o"), STR("n"));
    e.etag = STR("W/\"datetime'2026'\"");
    ck_assert(edm_time_parse(STR("2026-01-02T03:04:05.1234567Z"), &e.timestamp));
    entity_set_str(&e, "PayloadJson", str_of(payload));
    entity_set_str(&e, "PayloadHash", STR("abc"));
    entity_set_str(&e, "LastSyncedUtc", STR("2026-01-02T03:04:05.678Z"));
    entity_set_str(&e, "Owner", str_of(owner));
    entity_set_str(&e, "Name", STR("N"));
    return e;
}

static const struct {
    const char *owner, *payload;
} rows[] = {
    {"O", "{\"name\":\"N\",\"owner\":\"O\"}"},
    {"\",\"payload\":{}", "{\"x\":\",\\\"payload\\\":\",\"payload\":{\"payload\":1}}"},
    {"\xC3\xA9\"\\", "{\"s\":\"\\ud800 \xF0\x9F\x98\x80\"}"},
};

/* Whatever stands in it, the payload comes back byte for byte. */
START_TEST(a_row_comes_back_as_it_was)
{
    entity e = row_with(rows[_i].owner, rows[_i].payload), again;
    str    text = copy_make(scratch(), &e), payload;
    ck_assert_uint_gt(text.len, 0);
    ck_assert(copy_read(scratch(), STR("o"), STR("n"), text, &again));
    ck_assert(entity_same(&e, &again));
    ck_assert(str_eq(e.etag, again.etag));
    ck_assert(e.timestamp == again.timestamp);
    ck_assert_int_eq(row_payload(scratch(), &again, &payload), RES_OK);
    EXPECT(payload, rows[_i].payload);
}
END_TEST

START_TEST(a_copy_is_json)
{
    const json_val *doc;
    entity          e = row_with("O", "{\"name\":\"N\"}");
    str             text = copy_make(scratch(), &e);
    ck_assert_int_eq(json_parse(scratch(), text, &doc, NULL), RES_OK);
    EXPECT(json_text(json_get(doc, "etag"), STR("")), "W/\"datetime'2026'\"");
    EXPECT(json_text(json_get(json_get(doc, "payload"), "name"), STR("")), "N");
}
END_TEST

START_TEST(a_large_or_unreadable_payload_is_not_copied)
{
    char *large = arena_alloc(scratch(), COPY_BYTES_MAX + 2);
    memset(large, 'x', COPY_BYTES_MAX + 1);
    large[COPY_BYTES_MAX + 1] = '\0';
    entity e = row_with("O", large), none = entity_new(scratch(), STR("o"), STR("n"));
    ck_assert_uint_eq(copy_make(scratch(), &e).len, 0);
    large[COPY_BYTES_MAX] = '\0';
    e = row_with("O", large);
    ck_assert_uint_gt(copy_make(scratch(), &e).len, 0);
    ck_assert_uint_eq(copy_make(scratch(), &none).len, 0);
}
END_TEST

static const char *const no_copies[] = {"",
                                        "}",
                                        "{}",
                                        "{\"etag\":\"e\"}",
                                        ",\"payload\":}",
                                        "{\"etag\":\"e\",\"payload\":",
                                        "{\"etag\":\"e\",\"payload\":}",
                                        "{\"etag\":7,\"payload\":{}}",
                                        "{\"etag\":\"\",\"payload\":{}}",
                                        "{\"etag\":\"e\",\"payload\":{}x",
                                        "[\"etag\",\"payload\":{}}"};

START_TEST(what_is_no_copy_is_told_from_one)
{
    entity e;
    ck_assert(!copy_read(scratch(), STR("o"), STR("n"), str_of(no_copies[_i]), &e));
}
END_TEST

/* ---- cursors ---- */

START_TEST(a_cursor_gives_its_token_again)
{
    str token, cursor = cursor_make(scratch(), STR("AQIDBA-_token\"\\"));
    ck_assert_uint_eq(cursor.len % 4, 0);
    ck_assert(cursor_read(scratch(), cursor, &token));
    EXPECT(token, "AQIDBA-_token\"\\");
    ck_assert_uint_eq(cursor_make(scratch(), STR("")).len, 0);
}
END_TEST

static const char *const no_cursors[] = {"",
                                         "=",
                                         "!",
                                         "{}",
                                         "{\"continuation\":\"\"}",
                                         "{\"continuation\":7}",
                                         "[\"continuation\"]",
                                         "\"continuation\"",
                                         "{\"continuation\":\"x\""};

START_TEST(what_is_no_cursor_is_told_from_one)
{
    str token, text = str_of(no_cursors[_i]);
    ck_assert(!cursor_read(scratch(), text, &token));
    ck_assert(!cursor_read(scratch(), base64_encode(scratch(), text), &token));
}
END_TEST

START_TEST(an_endless_cursor_is_none)
{
    str   token;
    char *text = arena_alloc(scratch(), MIB);
    memset(text, 'e', MIB);
    ck_assert(!cursor_read(scratch(), (str){text, MIB}, &token));
}
END_TEST

Suite *suite_actions_copy(void)
{
    Suite *s = suite_create("actions_copy");
    TCase *c = tcase_create("copy");
    tcase_add_loop_test(c, a_row_comes_back_as_it_was, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(c, a_copy_is_json);
    tcase_add_test(c, a_large_or_unreadable_payload_is_not_copied);
    tcase_add_loop_test(c, what_is_no_copy_is_told_from_one, 0, (int)(sizeof no_copies / sizeof *no_copies));
    tcase_add_test(c, a_cursor_gives_its_token_again);
    tcase_add_loop_test(c, what_is_no_cursor_is_told_from_one, 0,
                        (int)(sizeof no_cursors / sizeof *no_cursors));
    tcase_add_test(c, an_endless_cursor_is_none);
    suite_add_tcase(s, c);
    return s;
}
