/* test_json.c -- reading: getters, duplicates, numbers, depth; building: every setter, bad text, lack of
 * memory.
 *
 * SPDX-License-Identifier: MIT */
#include "core/json.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { BUDGET = 64 * MIB };

static arena *a;

static void setup(void)
{
    a = arena_new(BUDGET);
    ck_assert_ptr_nonnull(a);
}

static void teardown(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static void assert_text(str got, str want)
{
    ck_assert_msg(str_eq(got, want), "got '%.*s', want '%.*s'", STR_ARG(got), STR_ARG(want));
}

static const json_val *parsed(str text)
{
    const json_val *v = NULL;
    json_error      err = {0};
    res             r = json_parse(a, text, &v, &err);
    ck_assert_msg(r == RES_OK, "'%.*s' refused at %zu: %s", STR_ARG(text), err.offset, err.text);
    ck_assert_ptr_nonnull(v);
    return v;
}

/* ---- reading ---- */

static const struct {
    str       text;
    json_type type;
} types[] = {
    {STR_INIT("null"), JSON_NULL},      {STR_INIT("true"), JSON_BOOL},
    {STR_INIT("1"), JSON_NUMBER},       {STR_INIT("-1.5"), JSON_NUMBER},
    {STR_INIT("1e400"), JSON_NUMBER},   {STR_INIT("123456789012345678901234567890"), JSON_NUMBER},
    {STR_INIT("\"\""), JSON_STRING},    {STR_INIT("[]"), JSON_ARRAY},
    {STR_INIT(" { } \n"), JSON_OBJECT},
};

START_TEST(a_text_has_the_type_of_its_value)
{
    ck_assert_int_eq(json_typeof(parsed(types[_i].text)), types[_i].type);
}
END_TEST

START_TEST(the_getters_accept_null_and_give_what_was_asked_for_otherwise)
{
    ck_assert_int_eq(json_typeof(NULL), JSON_NONE);
    ck_assert_ptr_null(json_get(NULL, "a"));
    ck_assert_ptr_null(json_get_str(NULL, STR("a")));
    ck_assert_ptr_null(json_get_nocase(NULL, STR("a")));
    ck_assert_ptr_null(json_at(NULL, 0));
    assert_text(json_text(NULL, STR("x")), STR("x"));
    ck_assert(json_truth(NULL, true));
    ck_assert_int_eq(json_int(NULL, 7), 7);
    ck_assert_double_eq(json_double(NULL, 7.5), 7.5);
    ck_assert_uint_eq(json_len(NULL), 0);
    json_iter it = json_each(NULL);
    ck_assert(!json_next(&it));
}
END_TEST

START_TEST(a_getter_of_another_type_gives_what_was_asked_for_otherwise)
{
    const json_val *v = parsed(STR("{\"s\":\"1\",\"n\":1,\"b\":true,\"z\":null,\"l\":[1]}"));
    assert_text(json_text(json_get(v, "n"), STR("x")), STR("x"));
    ck_assert_int_eq(json_int(json_get(v, "s"), 7), 7);
    ck_assert_int_eq(json_int(json_get(v, "b"), 7), 7);
    ck_assert_int_eq(json_int(json_get(v, "z"), 7), 7);
    ck_assert_double_eq(json_double(json_get(v, "s"), 7.5), 7.5);
    ck_assert(!json_truth(json_get(v, "n"), false));
    ck_assert_uint_eq(json_len(json_get(v, "s")), 0);
    ck_assert_ptr_null(json_get(json_get(v, "l"), "0"));
    ck_assert_ptr_null(json_at(v, 0));
    ck_assert_ptr_null(json_get(v, "absent"));
}
END_TEST

START_TEST(a_chain_of_getters_reaches_a_nested_member)
{
    const json_val *v =
        parsed(STR("{\"RetryContext\":{\"RetryCount\":3,\"ok\":true,\"why\":\"caf\\u00e9\"}}"));
    ck_assert_int_eq(json_int(json_get(json_get(v, "RetryContext"), "RetryCount"), 0), 3);
    ck_assert_int_eq(json_int(json_get(json_get(v, "Retry"), "RetryCount"), -1), -1);
    ck_assert(json_truth(json_get(json_get(v, "RetryContext"), "ok"), false));
    assert_text(json_text(json_get(json_get(v, "RetryContext"), "why"), STR("")), STR("caf\xC3\xA9"));
}
END_TEST

START_TEST(of_duplicate_keys_the_last_wins)
{
    const json_val *v = parsed(STR("{\"a\":1,\"b\":2,\"\\u0061\":3,\"A\":4}"));
    ck_assert_int_eq(json_int(json_get(v, "a"), 0), 3);
    ck_assert_int_eq(json_int(json_get_str(v, str_slice(STR("xax"), 1, 2)), 0), 3);
    ck_assert_int_eq(json_int(json_get_nocase(v, STR("a")), 0), 4);
    ck_assert_int_eq(json_int(json_get_nocase(v, STR("B")), 0), 2);
}
END_TEST

START_TEST(a_key_with_a_nul_is_not_its_beginning)
{
    const json_val *v = parsed(STR("{\"a\\u0000b\":1}"));
    ck_assert_ptr_null(json_get(v, "a"));
    ck_assert_int_eq(json_int(json_get_str(v, STR("a\0b")), 0), 1);
}
END_TEST

static const struct {
    str     text;
    int64_t want; /* -7 for none */
} ints[] = {
    {STR_INIT("0"), 0},
    {STR_INIT("-0"), 0},
    {STR_INIT("9223372036854775807"), INT64_MAX},
    {STR_INIT("-9223372036854775808"), INT64_MIN},
    {STR_INIT("9223372036854775808"), -7},
    {STR_INIT("-9223372036854775809"), -7},
    {STR_INIT("18446744073709551615"), -7},
    {STR_INIT("99999999999999999999999"), -7},
    {STR_INIT("5.0"), 5},
    {STR_INIT("-2e3"), -2000},
    {STR_INIT("5.5"), -7},
    {STR_INIT("-9223372036854775808.0"), INT64_MIN},
    {STR_INIT("9223372036854775808.0"), -7},
    {STR_INIT("1e300"), -7},
    {STR_INIT("1e400"), -7},
};

START_TEST(an_integer_is_any_whole_number_in_range)
{
    ck_assert_int_eq(json_int(parsed(ints[_i].text), -7), ints[_i].want);
}
END_TEST

START_TEST(a_double_is_any_number_that_does_not_overflow)
{
    ck_assert_double_eq(json_double(parsed(STR("6.4")), 0), 6.4);
    ck_assert_double_eq(json_double(parsed(STR("-3")), 0), -3);
    ck_assert_double_eq(json_double(parsed(STR("18446744073709551615")), 0), 0x1p64);
    ck_assert_double_eq(json_double(parsed(STR("-100000000000000000000000")), 0), -1e23);
    ck_assert_double_eq(json_double(parsed(STR("1e400")), 7.5), 7.5);
    ck_assert_double_eq(json_double(parsed(STR("-1e400")), 7.5), 7.5);
}
END_TEST

static const struct {
    str  text;
    bool real;
} reals[] = {
    {STR_INIT("3"), false},
    {STR_INIT("-3"), false},
    {STR_INIT("123456789012345678901234567890"), false},
    {STR_INIT("3.0"), true},
    {STR_INIT("3e0"), true},
    {STR_INIT("1e400"), true},
    {STR_INIT("-1E400"), true},
    {STR_INIT("-0.0"), true},
    {STR_INIT("1.0e400"), true},
    {STR_INIT("\"3.0\""), false},
    {STR_INIT("[1.0]"), false},
    {STR_INIT("null"), false},
};

START_TEST(a_real_is_a_number_with_a_point_or_an_exponent)
{
    ck_assert_int_eq(json_is_real(parsed(reals[_i].text)), reals[_i].real);
    ck_assert(!json_is_real(NULL));
}
END_TEST

START_TEST(elements_and_members_are_visited_in_their_order)
{
    const json_val   *v = parsed(STR("{\"b\":[10,[20,21],30],\"a\":{\"x\":{}},\"b\":null}"));
    static const char keys[] = "bab";
    size_t            n = 0;
    for (json_iter it = json_each(v); json_next(&it); n++)
        assert_text(it.key, (str){keys + n, 1});
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(json_len(v), 3);

    const json_val *list = parsed(STR("[10,[20,21],30]"));
    n = 0;
    for (json_iter it = json_each(list); json_next(&it); n++)
        ck_assert_ptr_eq(it.value, json_at(list, n));
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(json_int(json_at(json_at(list, 1), 1), 0), 21);
    ck_assert_ptr_null(json_at(list, 3));
}
END_TEST

START_TEST(an_empty_container_has_nothing_to_visit)
{
    json_iter object = json_each(parsed(STR("{}"))), array = json_each(parsed(STR("[]"))),
              text = json_each(parsed(STR("\"ab\"")));
    ck_assert(!json_next(&object));
    ck_assert(!json_next(&array));
    ck_assert(!json_next(&text));
}
END_TEST

START_TEST(the_document_outlives_its_text)
{
    char            text[] = "{\"key\":\"value\"}";
    const json_val *v = parsed(str_of(text));
    memset(text, 'x', sizeof text - 1);
    assert_text(json_text(json_get(v, "key"), STR("")), STR("value"));
}
END_TEST

static const struct {
    str    text;
    size_t offset;
} refused[] = {
    {STR_INIT(""), 0},      {{NULL, 0}, 0},         {STR_INIT("{\"a\" 1}"), 5},
    {STR_INIT("[1 2]"), 3}, {STR_INIT("[1]x"), 3},  {STR_INIT("\xEF\xBB\xBF{}"), 0},
    {STR_INIT("[NaN]"), 1}, {STR_INIT("['a']"), 1}, {STR_INIT("[1,/**/2]"), 3},
};

START_TEST(what_is_not_json_is_refused_at_its_offset)
{
    const json_val *v = NULL;
    json_error      err = {.offset = SIZE_MAX};
    ck_assert_int_eq(json_parse(a, refused[_i].text, &v, &err), RES_INVALID);
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(err.offset, refused[_i].offset);
    ck_assert_ptr_nonnull(err.text);
    ck_assert_int_eq(json_parse(a, refused[_i].text, &v, NULL), RES_INVALID);
}
END_TEST

START_TEST(strings_that_are_not_utf8_are_refused)
{
    static const char *const bad[] = {"\"\x80\"", "\"\xC3\"", "\"\xED\xA0\x80\"", "\"\\ud800\"",
                                      "\"\\udc00x\""};
    const json_val          *v = NULL;
    ck_assert_int_eq(json_parse(a, str_of(bad[_i]), &v, NULL), RES_INVALID);
}
END_TEST

static str nested(size_t depth, const char *open, const char *inside, const char *close)
{
    size_t each = strlen(open) + strlen(close);
    char  *at = arena_alloc(a, depth * each + strlen(inside) + 1), *end = at;
    for (size_t i = 0; i < depth; i++)
        end = stpcpy(end, open);
    end = stpcpy(end, inside);
    for (size_t i = 0; i < depth; i++)
        end = stpcpy(end, close);
    return (str){at, (size_t)(end - at)};
}

START_TEST(nesting_is_accepted_up_to_its_limit)
{
    const json_val *v = NULL;
    json_error      err = {0};
    (void)parsed(nested(JSON_DEPTH_MAX, "[", "", "]"));
    (void)parsed(nested(JSON_DEPTH_MAX / 2, "[{\"a\":", "1", "},[]]"));
    ck_assert_int_eq(json_parse(a, nested(JSON_DEPTH_MAX + 1, "[", "", "]"), &v, &err), RES_INVALID);
    ck_assert_str_eq(err.text, "nested too deeply");
    ck_assert_int_eq(json_parse(a, nested(JSON_DEPTH_MAX, "[0,{\"a\":", "1", "}]"), &v, &err), RES_INVALID);
    ck_assert_int_eq(json_parse(a, nested(100000, "[", "", "]"), &v, &err), RES_INVALID);
    ck_assert_ptr_null(v);
}
END_TEST

START_TEST(many_containers_side_by_side_are_not_deep)
{
    char text[4 * JSON_DEPTH_MAX * 3];
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "[],", 3);
    str wide = arena_strf(a, "[%.*s[]]", (int)sizeof text, text);
    ck_assert_uint_eq(json_len(parsed(wide)), 4 * JSON_DEPTH_MAX + 1);
}
END_TEST

START_TEST(a_value_is_printed_compactly_and_large_numbers_keep_their_digits)
{
    str text = STR("{ \"b\" : [ 1 , \"x\\u0001/\" , 123456789012345678901234567890 , 1e400 , null ] }");
    assert_text(json_print_val(a, parsed(text)),
                STR("{\"b\":[1,\"x\\u0001/\",123456789012345678901234567890,1e400,null]}"));
    assert_text(json_print_val(a, parsed(STR(" 12 "))), STR("12"));
}
END_TEST

/* ---- building ---- */

static json *built(void)
{
    const json_val *v = parsed(STR("{\"deep\":[1,{\"x\":\"\xC3\xA9\"}]}"));
    json           *root = json_object(a);
    json_set_str(root, "s", STR("a\"b\n"));
    json_set_int(root, "i", INT64_MIN);
    json_set_double(root, "d", 1.5);
    json_set_bool(root, "t", true);
    json_set_null(root, "z");
    json *inner = json_set_object(root, "o");
    json_set_bool(inner, "f", false);
    json *list = json_set_array(root, "l");
    json_push_str(list, STR("e"));
    json_push_int(list, -1);
    json_push_val(list, v);
    json_set_int(json_push_object(list), "k", 1);
    json_push_int(json_push_array(list), 2);
    json_set_val(root, "v", json_get(v, "deep"));
    json_set_str_at(root, str_slice(STR("xkeyx"), 1, 4), STR(""));
    return root;
}

#define BUILT                                                                                              \
    "{\"s\":\"a\\\"b\\n\",\"i\":-9223372036854775808,\"d\":1.5,\"t\":true,\"z\":null,\"o\":{\"f\":false}," \
    "\"l\":[\"e\",-1,{\"deep\":[1,{\"x\":\"\xC3\xA9\"}]},{\"k\":1},[2]],\"v\":[1,{\"x\":\"\xC3\xA9\"}],"   \
    "\"key\":\"\"}"

START_TEST(a_tree_is_printed_with_all_that_was_set)
{
    assert_text(json_print(a, built()), STR(BUILT));
}
END_TEST

START_TEST(a_pretty_tree_has_a_line_for_each_value_and_ends_with_a_newline)
{
    json *root = json_object(a);
    json_set_str(root, "a", STR("x"));
    json_push_int(json_set_array(root, "list"), 1);
    (void)json_set_object(root, "none");
    assert_text(json_print_pretty(a, root),
                STR("{\n  \"a\": \"x\",\n  \"list\": [\n    1\n  ],\n  \"none\": {}\n}\n"));
    ck_assert_uint_eq(json_print_pretty(a, NULL).len, 0);
}
END_TEST

START_TEST(a_part_of_a_tree_can_be_printed)
{
    json *list = json_array(a);
    json_set_int(json_push_object(list), "a", 1);
    json *part = json_push_object(list);
    json_set_int(part, "b", 2);
    assert_text(json_print(a, part), STR("{\"b\":2}"));
    assert_text(json_print(a, list), STR("[{\"a\":1},{\"b\":2}]"));
}
END_TEST

START_TEST(a_key_set_again_keeps_its_place_and_takes_the_new_value)
{
    json *root = json_object(a);
    json_set_int(root, "a", 1);
    json_set_int(root, "b", 2);
    json_set_str_at(root, STR("a"), STR("x"));
    assert_text(json_print(a, root), STR("{\"a\":\"x\",\"b\":2}"));
    json *inner = json_set_object(root, "a");
    json_set_int(inner, "c", 3);
    json_set_array(root, "b");
    json_push_int(json_set_array(root, "b"), 4);
    assert_text(json_print(a, root), STR("{\"a\":{\"c\":3},\"b\":[4]}"));
}
END_TEST

START_TEST(strings_are_copied)
{
    char  text[] = "value", key[] = "key";
    json *root = json_object(a);
    json_set_str_at(root, str_of(key), str_of(text));
    memset(text, 'x', sizeof text - 1);
    memset(key, 'x', sizeof key - 1);
    assert_text(json_print(a, root), STR("{\"key\":\"value\"}"));
}
END_TEST

START_TEST(doubles_are_printed_as_javascript_does)
{
    json *root = json_object(a);
    json_set_double(root, "a", 1);
    json_set_double(root, "b", -0.0);
    json_set_double(root, "c", 1e21);
    json_set_double(root, "d", (double)NAN);
    assert_text(json_print(a, root), STR("{\"a\":1,\"b\":0,\"c\":1e+21,\"d\":null}"));
}
END_TEST

#define FFFD "\xEF\xBF\xBD"

static const struct {
    str text, want;
} repairs[] = {
    {STR_INIT("a\x80z"), STR_INIT("a" FFFD "z")},
    {STR_INIT("\xC3"), STR_INIT(FFFD)},
    {STR_INIT("\xC3\xA9\xFF"), STR_INIT("\xC3\xA9" FFFD)},
    {STR_INIT("\xE2\x82z"), STR_INIT(FFFD "z")},                   /* one, for the two that began well */
    {STR_INIT("\xF0\x9F\x98"), STR_INIT(FFFD)},                    /* and for three, at the end */
    {STR_INIT("\xED\xA0\x80"), STR_INIT(FFFD FFFD FFFD)},          /* a surrogate begins badly */
    {STR_INIT("\xC0\x80"), STR_INIT(FFFD FFFD)},                   /* so does an overlong form */
    {STR_INIT("\xF4\x90\x80\x80"), STR_INIT(FFFD FFFD FFFD FFFD)}, /* and what is above U+10FFFF */
    {STR_INIT("\xF0\x9F\x98\x80\x80"), STR_INIT("\xF0\x9F\x98\x80" FFFD)},
};

START_TEST(bad_bytes_are_written_as_replacement_characters)
{
    json *list = json_array(a), *root = json_object(a);
    json_push_str(list, repairs[_i].text);
    assert_text(json_print(a, list), arena_strf(a, "[\"%.*s\"]", STR_ARG(repairs[_i].want)));
    json_set_str_at(root, repairs[_i].text, STR("v"));
    assert_text(json_print(a, root), arena_strf(a, "{\"%.*s\":\"v\"}", STR_ARG(repairs[_i].want)));
}
END_TEST

START_TEST(control_characters_and_nul_are_escaped)
{
    json *list = json_array(a);
    json_push_str(list, STR("\0\x01\x1F\x7F\"\\/\b\f\n\r\t"));
    assert_text(json_print(a, list), STR("[\"\\u0000\\u0001\\u001F\x7F\\\"\\\\/\\b\\f\\n\\r\\t\"]"));
}
END_TEST

START_TEST(building_upon_null_or_with_an_absent_value_does_nothing)
{
    json *list = json_array(a);
    json_push_val(list, NULL);
    json_set_val(json_push_object(list), "a", NULL);
    assert_text(json_print(a, list), STR("[{}]"));
    json_set_str(NULL, "a", STR("b"));
    json_set_int(NULL, "a", 1);
    json_set_double(NULL, "a", 1);
    json_set_bool(NULL, "a", true);
    json_set_null(NULL, "a");
    json_set_val(NULL, "a", parsed(STR("1")));
    json_set_str_at(NULL, STR("a"), STR("b"));
    json_push_str(NULL, STR("a"));
    json_push_int(NULL, 1);
    json_push_val(NULL, parsed(STR("1")));
    ck_assert_ptr_null(json_set_object(NULL, "a"));
    ck_assert_ptr_null(json_set_array(NULL, "a"));
    ck_assert_ptr_null(json_push_object(NULL));
    ck_assert_ptr_null(json_push_array(NULL));
    ck_assert_uint_eq(json_print(a, NULL).len, 0);
}
END_TEST

START_TEST(a_tree_is_printed_whole_or_not_at_all_when_memory_fails)
{
    long nth = 1;
    for (;; nth++) {
        json_error      err;
        const json_val *v = NULL;
        arena_fail_at(nth);
        res r = json_parse(a, STR("{\"deep\":[1,{\"x\":\"y\"}]}"), &v, &err);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert_ptr_null(v);
    }
    ck_assert_int_gt(nth, 1);

    for (nth = 1;; nth++) {
        arena_fail_at(nth);
        json *root = json_object(a), *list = json_set_array(root, "list");
        for (int i = 0; i < 40; i++)
            json_set_str_at(json_push_object(list), STR("some key"),
                            STR("bad \xFF bytes and a value of some length"));
        json_set_double(root, "d", 0.5);
        str text = json_print(a, root);
        if (arena_fail_pending())
            break;
        ck_assert_uint_eq(text.len, 0);
    }
    ck_assert_int_gt(nth, 40);
}
END_TEST

START_TEST(a_deep_parse_reports_lack_of_memory)
{
    str text = nested(JSON_DEPTH_MAX + 1, "[", "", "]");
    for (long nth = 1;; nth++) {
        const json_val *v = NULL;
        arena_fail_at(nth);
        res r = json_parse(a, text, &v, NULL);
        if (arena_fail_pending()) {
            ck_assert_int_eq(r, RES_INVALID);
            break;
        }
        ck_assert_int_eq(r, RES_MEMORY);
    }
}
END_TEST

Suite *suite_json(void)
{
    Suite *s = suite_create("json");
    TCase *c = tcase_create("json");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, a_text_has_the_type_of_its_value, 0, COUNT(types));
    tcase_add_test(c, the_getters_accept_null_and_give_what_was_asked_for_otherwise);
    tcase_add_test(c, a_getter_of_another_type_gives_what_was_asked_for_otherwise);
    tcase_add_test(c, a_chain_of_getters_reaches_a_nested_member);
    tcase_add_test(c, of_duplicate_keys_the_last_wins);
    tcase_add_test(c, a_key_with_a_nul_is_not_its_beginning);
    tcase_add_loop_test(c, an_integer_is_any_whole_number_in_range, 0, COUNT(ints));
    tcase_add_test(c, a_double_is_any_number_that_does_not_overflow);
    tcase_add_loop_test(c, a_real_is_a_number_with_a_point_or_an_exponent, 0, COUNT(reals));
    tcase_add_test(c, elements_and_members_are_visited_in_their_order);
    tcase_add_test(c, an_empty_container_has_nothing_to_visit);
    tcase_add_test(c, the_document_outlives_its_text);
    tcase_add_loop_test(c, what_is_not_json_is_refused_at_its_offset, 0, COUNT(refused));
    tcase_add_loop_test(c, strings_that_are_not_utf8_are_refused, 0, 5);
    tcase_add_test(c, nesting_is_accepted_up_to_its_limit);
    tcase_add_test(c, many_containers_side_by_side_are_not_deep);
    tcase_add_test(c, a_value_is_printed_compactly_and_large_numbers_keep_their_digits);
    tcase_add_test(c, a_tree_is_printed_with_all_that_was_set);
    tcase_add_test(c, a_pretty_tree_has_a_line_for_each_value_and_ends_with_a_newline);
    tcase_add_test(c, a_part_of_a_tree_can_be_printed);
    tcase_add_test(c, a_key_set_again_keeps_its_place_and_takes_the_new_value);
    tcase_add_test(c, strings_are_copied);
    tcase_add_test(c, doubles_are_printed_as_javascript_does);
    tcase_add_loop_test(c, bad_bytes_are_written_as_replacement_characters, 0, COUNT(repairs));
    tcase_add_test(c, control_characters_and_nul_are_escaped);
    tcase_add_test(c, building_upon_null_or_with_an_absent_value_does_nothing);
    tcase_add_test(c, a_tree_is_printed_whole_or_not_at_all_when_memory_fails);
    tcase_add_test(c, a_deep_parse_reports_lack_of_memory);
    suite_add_tcase(s, c);
    return s;
}
