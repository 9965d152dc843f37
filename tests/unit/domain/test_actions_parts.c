/* test_actions_parts.c -- boundaries of members and elements, also in texts that are no JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/parts.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

#define EXPECT(got, want)                                                                    \
    do {                                                                                     \
        str ck_got = (got), ck_want = str_of(want);                                          \
        ck_assert_msg(str_eq(ck_got, ck_want), "'%.*s', not '%s'", STR_ARG(ck_got), (want)); \
    } while (0)

START_TEST(members_come_with_key_value_and_whole)
{
    part  one;
    parts p = parts_of(STR(" { \"a\" : 1 ,\"b\":{\"x\":[1,\"}\\\"\"]},\"c\":\"d,\\\\\" }"));
    ck_assert(parts_next(&p, &one));
    EXPECT(one.key, "a");
    EXPECT(one.value, "1");
    EXPECT(one.whole, "\"a\" : 1");
    ck_assert(parts_next(&p, &one));
    EXPECT(one.key, "b");
    EXPECT(one.value, "{\"x\":[1,\"}\\\"\"]}");
    ck_assert(parts_next(&p, &one));
    EXPECT(one.value, "\"d,\\\\\"");
    ck_assert(!parts_next(&p, &one));
    ck_assert(!p.damaged);
}
END_TEST

START_TEST(elements_have_no_key)
{
    part  one;
    parts p = parts_of(STR("[ null, [2 ,3],\"x\"]"));
    ck_assert(parts_next(&p, &one));
    EXPECT(one.value, "null");
    ck_assert_uint_eq(one.key.len, 0);
    ck_assert(parts_next(&p, &one));
    EXPECT(one.value, "[2 ,3]");
    ck_assert(parts_next(&p, &one));
    EXPECT(one.whole, "\"x\"");
    ck_assert(!parts_next(&p, &one));
    ck_assert(!p.damaged);
}
END_TEST

START_TEST(an_empty_container_has_no_parts_and_is_whole)
{
    part        one;
    const char *texts[] = {"{}", "[]", " { } ", "[\n]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        parts p = parts_of(str_of(texts[i]));
        ck_assert_msg(!parts_next(&p, &one) && !p.damaged, "'%s'", texts[i]);
    }
}
END_TEST

START_TEST(of_several_members_of_a_name_the_last_counts)
{
    part one;
    ck_assert(parts_member(STR("{\"a\":1,\"b\":2,\"a\":3}"), STR("a"), &one));
    EXPECT(one.value, "3");
    ck_assert(!parts_member(STR("{\"a\":1}"), STR("b"), &one));
    ck_assert(!parts_member(STR("[\"a\",1]"), STR("a"), &one));
    ck_assert(!parts_member(STR("{\"a\":1"), STR("a"), &one));
}
END_TEST

static const char *const broken[] = {
    "",          "x",          "\"a\"",       "{",        "[",     "{\"a\"",    "{\"a\":", "{\"a\":1",
    "{\"a\":1,", "{\"a\":1,}", "[1,]",        "[1 2]",    "{1:2}", "{\"a\" 1}", "[\"x]",   "[\"x\\",
    "[\"x\\\"]", "[[1]",       "[{\"a\":\"}", "{\"a\":}", "{,}",   "[,]",       "[1",      "[[",
};

START_TEST(what_is_cut_or_no_json_is_damaged)
{
    /* In memory of its own size, so that a look past the end is seen. */
    size_t n = strlen(broken[_i]);
    char  *copy = malloc(n + 1);
    memcpy(copy, broken[_i], n);
    char *exact = realloc(copy, n > 0 ? n : 1);
    part  one;
    parts p = parts_of((str){exact, n});
    while (parts_next(&p, &one))
        ck_assert(one.whole.at >= exact && one.whole.at + one.whole.len <= exact + n);
    ck_assert_msg(p.damaged, "'%s'", broken[_i]);
    ck_assert(!parts_next(&p, &one));
    free(exact);
}
END_TEST

Suite *suite_actions_parts(void)
{
    Suite *s = suite_create("actions_parts");
    TCase *c = tcase_create("parts");
    tcase_add_test(c, members_come_with_key_value_and_whole);
    tcase_add_test(c, elements_have_no_key);
    tcase_add_test(c, an_empty_container_has_no_parts_and_is_whole);
    tcase_add_test(c, of_several_members_of_a_name_the_last_counts);
    tcase_add_loop_test(c, what_is_cut_or_no_json_is_damaged, 0, (int)(sizeof broken / sizeof *broken));
    suite_add_tcase(s, c);
    return s;
}
