/* test_actions_summary.c -- what of a record gets into the snapshot, and what a caller can read.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/projection.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "domain/actions/json_out.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define NAMED "{\"owner\":\"o\",\"name\":\"n\""

static const json_val *parsed(const char *text)
{
    const json_val *v;
    ck_assert_msg(json_parse(scratch(), str_of(text), &v, NULL) == RES_OK, "'%s'", text);
    return v;
}

/* The item of a payload; NULL: none was added. */
static const json_val *item_of(const char *payload, int64_t *ret_updated_us)
{
    projection_source from = {.payload = parsed(payload)};
    buf               out;
    int64_t           updated_us;
    buf_init(&out, scratch(), MIB);
    if (!projection_add(&out, &from, ret_updated_us != NULL ? ret_updated_us : &updated_us)) {
        ck_assert_uint_eq(out.len, 0);
        return NULL;
    }
    return parsed(arena_cstr(scratch(), buf_str(&out)));
}

static str printed(const json_val *item, const char *key)
{
    return json_print_val(scratch(), json_get(item, key));
}

#define EXPECT(item, key, want)                                                                           \
    do {                                                                                                  \
        str ck_got = printed((item), (key)), ck_want = str_of(want);                                      \
        ck_assert_msg(str_eq(ck_got, ck_want), "%s is '%.*s', not '%s'", (key), STR_ARG(ck_got), (want)); \
    } while (0)

/* ACT-45. */
START_TEST(a_full_record_keeps_what_readers_see_and_no_more)
{
    int64_t         updated_us;
    const json_val *item = item_of(
        "{\"owner\":\" Acme \",\"name\":\"acme_x\",\"secret\":1,\"description\":\" does \\\"it\\\"\\n \","
        "\"actionType\":{\"actionType\":\"Node\",\"nodeVersion\":\"20\",\"fileFound\":\"action.yml\"},"
        "\"repoInfo\":{\"updated_at\":\"2026-02-11T08:15:42Z\",\"archived\":true,\"disabled\":true},"
        "\"dependents\":{\"dependents\":\"1,204\",\"dependentsLastUpdated\":\"x\"},"
        "\"releaseInfo\":[\"v2\",\"v1\"],\"verified\":\"TRUE\",\"ossf\":true,\"ossfScore\":6.4,"
        "\"vulnerabilityStatus\":{\"critical\":1,\"high\":2,\"lastUpdated\":\"x\"}}",
        &updated_us);
    ck_assert_ptr_nonnull(item);
    ck_assert_int_eq(updated_us, INT64_C(1770797742000000));
    ck_assert_uint_eq(json_len(item), 11);
    EXPECT(item, "owner", "\"Acme\"");
    EXPECT(item, "name", "\"acme_x\"");
    EXPECT(item, "actionType", "{\"actionType\":\"Node\",\"nodeVersion\":\"20\"}");
    EXPECT(item, "repoInfo", "{\"updated_at\":\"2026-02-11T08:15:42Z\",\"archived\":true}");
    EXPECT(item, "dependents", "{\"dependents\":\"1,204\"}");
    EXPECT(item, "releaseInfo", "[\"v2\"]");
    EXPECT(item, "description", "\"does \\\"it\\\"\"");
    EXPECT(item, "verified", "true");
    EXPECT(item, "ossf", "true");
    EXPECT(item, "ossfScore", "6.4");
    EXPECT(item, "vulnerabilityStatus", "{\"critical\":1,\"high\":2}");
}
END_TEST

/* ACT-45. */
START_TEST(what_is_absent_or_null_has_its_default)
{
    static const char *const bare[] = {
        NAMED "}",
        NAMED ",\"actionType\":null,\"repoInfo\":null,\"dependents\":null,\"releaseInfo\":null,"
              "\"description\":null,\"verified\":null,\"ossf\":null,\"ossfScore\":null,"
              "\"vulnerabilityStatus\":null}",
        NAMED ",\"actionType\":{},\"repoInfo\":[],\"dependents\":{},\"releaseInfo\":[],\"description\":\" \","
              "\"verified\":\"no\",\"ossf\":\"x\",\"ossfScore\":\"x\",\"vulnerabilityStatus\":{}}",
    };
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        int64_t         updated_us;
        const json_val *item = item_of(bare[i], &updated_us);
        ck_assert(updated_us == INT64_MIN);
        EXPECT(item, "actionType", "{\"actionType\":\"\",\"nodeVersion\":null}");
        EXPECT(item, "repoInfo", "{\"updated_at\":\"\",\"archived\":false}");
        EXPECT(item, "dependents", "{\"dependents\":\"0\"}");
        EXPECT(item, "releaseInfo", "[]");
        EXPECT(item, "description", "null");
        EXPECT(item, "verified", "false");
        EXPECT(item, "ossf", "false");
        EXPECT(item, "ossfScore", "0");
        EXPECT(item, "vulnerabilityStatus", "{\"critical\":0,\"high\":0}");
    }
}
END_TEST

/* ACT-45. */
static const struct {
    const char *member, *key, *want;
} forms[] = {
    {"\"actionType\":\"Docker\"", "actionType", "{\"actionType\":\"Docker\",\"nodeVersion\":null}"},
    {"\"actionType\":{\"nodeVersion\":24}", "actionType", "{\"actionType\":\"\",\"nodeVersion\":24}"},
    {"\"dependents\":{\"dependents\":25}", "dependents", "{\"dependents\":\"25\"}"},
    {"\"repoInfo\":{\"archived\":\"true\"}", "repoInfo", "{\"updated_at\":\"\",\"archived\":false}"},
    {"\"repoInfo\":{\"archived\":1}", "repoInfo", "{\"updated_at\":\"\",\"archived\":false}"},
    {"\"releaseInfo\":[{\"tag_name\":\"v3\"},\"v2\"]", "releaseInfo", "[\"v3\"]"},
    {"\"releaseInfo\":[{\"tag\":\"v4\"}]", "releaseInfo", "[\"v4\"]"},
    {"\"releaseInfo\":[{}]", "releaseInfo", "[]"},
    {"\"tagInfo\":[\"v1\"]", "releaseInfo", "[]"},
    {"\"verified\":true", "verified", "true"},
    {"\"verified\":1", "verified", "true"},
    {"\"verified\":\"1\"", "verified", "true"},
    {"\"verified\":\"True\"", "verified", "true"},
    {"\"verified\":2", "verified", "false"},
    {"\"verified\":\"yes\"", "verified", "false"},
    {"\"openssf_score\":0", "ossf", "true"},
    {"\"ossf_score\":7", "ossfScore", "7"},
    {"\"openssf_score\":5,\"ossfScore\":7", "ossfScore", "5"},
    {"\"ossf\":true", "ossfScore", "0"},
};

START_TEST(a_member_is_understood_in_each_of_its_forms)
{
    char payload[256];
    (void)snprintf(payload, sizeof payload, NAMED ",%s}", forms[_i].member);
    EXPECT(item_of(payload, NULL), forms[_i].key, forms[_i].want);
}
END_TEST

/* ACT-45: 200 UTF-16 units, of which the ellipsis is one. */
START_TEST(a_long_description_ends_in_an_ellipsis_at_200)
{
    for (size_t units = 199; units <= 202; units++) {
        char text[256] = {0}, payload[512];
        memset(text, 'd', units);
        (void)snprintf(payload, sizeof payload, NAMED ",\"description\":\"%s\"}", text);
        str shown = json_text(json_get(item_of(payload, NULL), "description"), (str){0});
        if (units <= 200) {
            ck_assert_uint_eq(shown.len, units);
            continue;
        }
        ck_assert_uint_eq(shown.len, 199 + strlen("\xE2\x80\xA6"));
        ck_assert(str_ends(shown, STR("d\xE2\x80\xA6")));
    }
}
END_TEST

START_TEST(a_cut_never_parts_a_character)
{
    char many[120 * 4 + 1], payload[1024];
    for (size_t i = 0; i < 120; i++)
        memcpy(many + 4 * i, "\xF0\x9F\x98\x80", 5); /* two units each */
    (void)snprintf(payload, sizeof payload, "%s%s\"}", NAMED ",\"description\":\"d", many);
    str shown = json_text(json_get(item_of(payload, NULL), "description"), (str){0});
    ck_assert(str_is_utf8(shown));
    ck_assert_uint_eq(shown.len, 1 + 99 * 4 + 3);
}
END_TEST

START_TEST(without_owner_or_name_there_is_no_item_but_the_columns_help_out)
{
    buf     out;
    int64_t updated_us;
    ck_assert_ptr_null(item_of("{\"owner\":\"o\"}", NULL));
    ck_assert_ptr_null(item_of("{\"owner\":\" \",\"name\":\"n\"}", NULL));
    ck_assert_ptr_null(item_of("[1]", NULL));
    buf_init(&out, scratch(), MIB);
    projection_source from = {.payload = parsed("{}"), .owner = STR("O"), .name = STR("N")};
    ck_assert(projection_add(&out, &from, &updated_us));
    const json_val *item = parsed(arena_cstr(scratch(), buf_str(&out)));
    EXPECT(item, "owner", "\"O\"");
    EXPECT(item, "name", "\"N\"");
}
END_TEST

START_TEST(any_text_comes_back_from_what_is_written)
{
    char all[256];
    for (int i = 1; i < 128; i++)
        all[i - 1] = (char)i;
    buf out;
    buf_init(&out, scratch(), MIB);
    json_out_text(&out, (str){all, 127});
    str back = json_text(parsed(arena_cstr(scratch(), buf_str(&out))), (str){0});
    ck_assert(str_eq(back, (str){all, 127}));
}
END_TEST

Suite *suite_actions_summary(void)
{
    Suite *s = suite_create("actions_summary");
    TCase *c = tcase_create("projection");
    tcase_add_test(c, a_full_record_keeps_what_readers_see_and_no_more);
    tcase_add_test(c, what_is_absent_or_null_has_its_default);
    tcase_add_loop_test(c, a_member_is_understood_in_each_of_its_forms, 0,
                        (int)(sizeof forms / sizeof *forms));
    tcase_add_test(c, a_long_description_ends_in_an_ellipsis_at_200);
    tcase_add_test(c, a_cut_never_parts_a_character);
    tcase_add_test(c, without_owner_or_name_there_is_no_item_but_the_columns_help_out);
    tcase_add_test(c, any_text_comes_back_from_what_is_written);
    suite_add_tcase(s, c);
    return s;
}
