/* test_http_header.c -- finding header lines, and what may stand in them.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>

#include "runtime/http_header.h"
#include "unit/suites.h"

static const http_header list[] = {
    {STR_INIT("Host"), STR_INIT("a")},
    {STR_INIT("Content-Type"), STR_INIT("text/plain")},
    {STR_INIT("X-Empty"), {NULL, 0}},
    {STR_INIT("content-type"), STR_INIT("second")},
};

START_TEST(the_first_header_of_a_name_is_found_in_any_case)
{
    str got = http_header_get(list, 4, STR("CONTENT-type"));
    ck_assert(str_eq(got, STR("text/plain")));
}
END_TEST

START_TEST(an_absent_header_has_no_pointer_and_an_empty_one_has)
{
    ck_assert_ptr_null(http_header_get(list, 4, STR("Content")).at);
    ck_assert_ptr_null(http_header_get(NULL, 0, STR("Host")).at);
    ck_assert_ptr_nonnull(http_header_get(list, 4, STR("x-empty")).at);
    ck_assert_uint_eq(http_header_get(list, 4, STR("x-empty")).len, 0);
}
END_TEST

START_TEST(names_are_tokens_and_nothing_else)
{
    static const char token_marks[] = "!#$%&'*+-.^_`|~";
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool mark = false;
        for (size_t i = 0; i < sizeof token_marks - 1; i++)
            mark |= token_marks[i] == byte;
        char name[] = {'X', byte, 'y'};
        ck_assert_msg(http_header_name_ok((str){name, 3}) == (letter_or_digit || mark), "byte %d", c);
    }
    ck_assert(!http_header_name_ok(STR("")));
}
END_TEST

START_TEST(values_are_printable_ascii_with_tabs)
{
    for (int c = 0; c < 256; c++) {
        char value[] = {'a', (char)c, 'b'};
        bool fine = (c >= ' ' && c <= '~') || c == '\t';
        ck_assert_msg(http_header_value_ok((str){value, 3}) == fine, "byte %d", c);
    }
    ck_assert(http_header_value_ok(STR("")));
}
END_TEST

typedef struct {
    const char *asked, *of;
    bool        yes;
} question;

static const question tags[] = {
    {"\"a\"", "\"a\"", true},
    {"\"b\", \"a\"", "\"a\"", true},
    {"W/\"a\"", "\"a\"", true},
    {"\"a\"", "W/\"a\"", true},
    {" * ", "\"a\"", true},
    {"\"b\"", "\"a\"", false},
    {"a", "\"a\"", false},
    {"", "\"a\"", false},
    {"w/\"a\"", "\"a\"", false},
    {"\"b\",W/\"a\"", "\"a\"", true},
    {"", "", false},
};

START_TEST(if_none_match_is_a_list_of_tags_or_all_of_them)
{
    bool got = http_etag_matches(str_of(tags[_i].asked), str_of(tags[_i].of));
    ck_assert_msg(got == tags[_i].yes, "%s and %s", tags[_i].asked, tags[_i].of);
}
END_TEST

static const question codings[] = {
    {"gzip", "gzip", true},        {"GZIP", "gzip", true},
    {"br, gzip", "gzip", true},    {"br,gzip;q=0.001", "gzip", true},
    {"gzip; q=1.0", "gzip", true}, {"*", "gzip", true},
    {"gzip;q=0", "gzip", false},   {"gzip;q=0.000, *", "gzip", false},
    {"*;q=0", "gzip", false},      {"*;q=0, gzip", "gzip", true},
    {"identity", "gzip", false},   {"xgzip", "gzip", false},
    {"", "gzip", false},           {"*, gzip;q=0", "gzip", false},
    {"gzip;Q=0", "gzip", false},   {"gzip;x=1;q=0", "gzip", false},
};

START_TEST(a_coding_is_accepted_when_it_or_a_star_has_a_weight)
{
    bool got = http_accepts(str_of(codings[_i].asked), str_of(codings[_i].of));
    ck_assert_msg(got == codings[_i].yes, "%s", codings[_i].asked);
}
END_TEST

Suite *suite_http_header(void)
{
    Suite *s = suite_create("http_header");
    TCase *t = tcase_create("http_header");
    tcase_add_test(t, the_first_header_of_a_name_is_found_in_any_case);
    tcase_add_test(t, an_absent_header_has_no_pointer_and_an_empty_one_has);
    tcase_add_test(t, names_are_tokens_and_nothing_else);
    tcase_add_test(t, values_are_printable_ascii_with_tabs);
    tcase_add_loop_test(t, if_none_match_is_a_list_of_tags_or_all_of_them, 0, sizeof tags / sizeof *tags);
    tcase_add_loop_test(t, a_coding_is_accepted_when_it_or_a_star_has_a_weight, 0,
                        sizeof codings / sizeof *codings);
    suite_add_tcase(s, t);
    return s;
}
