/* test_str.c -- borrowed views: comparing, searching, cutting, numbers and UTF-8.
 *
 * SPDX-License-Identifier: MIT */
#include "core/str.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const str nothing = {NULL, 0};

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static const struct {
    str a, b;
    int order, order_nocase;
} orders[] = {
    {STR_INIT(""), STR_INIT(""), 0, 0},
    {STR_INIT(""), STR_INIT("a"), -1, -1},
    {STR_INIT("a"), STR_INIT("a"), 0, 0},
    {STR_INIT("a"), STR_INIT("b"), -1, -1},
    {STR_INIT("ab"), STR_INIT("abc"), -1, -1},
    {STR_INIT("b"), STR_INIT("abc"), 1, 1},
    {STR_INIT("ABC"), STR_INIT("abc"), -1, 0},
    {STR_INIT("Zoo"), STR_INIT("apple"), -1, 1},
    {STR_INIT("a\0b"), STR_INIT("a\0c"), -1, -1},
    {STR_INIT("\x7f"), STR_INIT("\x80"), -1, -1}, /* bytes are unsigned */
    {STR_INIT("[a"), STR_INIT("{a"), -1, -1},     /* 0x20 apart, but no letters */
    {STR_INIT("@"), STR_INIT("`"), -1, -1},
    {STR_INIT("\xc4"), STR_INIT("\xe4"), -1, -1}, /* only ASCII folds */
};

START_TEST(two_texts_compare_by_their_bytes)
{
    str a = orders[_i].a, b = orders[_i].b;
    int order = orders[_i].order, nocase = orders[_i].order_nocase;

    ck_assert_int_eq(sign(str_compare(a, b)), order);
    ck_assert_int_eq(sign(str_compare(b, a)), -order);
    ck_assert_int_eq(sign(str_compare_nocase(a, b)), nocase);
    ck_assert_int_eq(sign(str_compare_nocase(b, a)), -nocase);
    ck_assert(str_eq(a, b) == (order == 0));
    ck_assert(str_eq_nocase(a, b) == (nocase == 0));
}
END_TEST

static const struct {
    str  s, part;
    bool starts, starts_nocase, ends, ends_nocase, has;
} parts[] = {
    {STR_INIT(""), STR_INIT(""), true, true, true, true, true},
    {STR_INIT("abc"), STR_INIT(""), true, true, true, true, true},
    {STR_INIT(""), STR_INIT("a"), false, false, false, false, false},
    {STR_INIT("abc"), STR_INIT("abc"), true, true, true, true, true},
    {STR_INIT("abc"), STR_INIT("abcd"), false, false, false, false, false},
    {STR_INIT("abc"), STR_INIT("ab"), true, true, false, false, true},
    {STR_INIT("abc"), STR_INIT("AB"), false, true, false, false, false},
    {STR_INIT("abc"), STR_INIT("bc"), false, false, true, true, true},
    {STR_INIT("abc"), STR_INIT("BC"), false, false, false, true, false},
    {STR_INIT("abc"), STR_INIT("b"), false, false, false, false, true},
    {STR_INIT("a\0bc"), STR_INIT("\0b"), false, false, false, false, true},
};

START_TEST(a_part_is_found_where_it_stands)
{
    str s = parts[_i].s, part = parts[_i].part;
    ck_assert(str_starts(s, part) == parts[_i].starts);
    ck_assert(str_starts_nocase(s, part) == parts[_i].starts_nocase);
    ck_assert(str_ends(s, part) == parts[_i].ends);
    ck_assert(str_ends_nocase(s, part) == parts[_i].ends_nocase);
    ck_assert(str_has(s, part) == parts[_i].has);
}
END_TEST

START_TEST(a_null_str_behaves_as_the_empty_text)
{
    ck_assert(str_eq(nothing, STR("")));
    ck_assert(str_eq_nocase(STR(""), nothing));
    ck_assert_int_eq(str_compare(nothing, nothing), 0);
    ck_assert_int_lt(str_compare(nothing, STR("a")), 0);
    ck_assert_int_gt(str_compare_nocase(STR("a"), nothing), 0);
    ck_assert(str_starts(STR("a"), nothing) && str_ends(nothing, nothing) && str_has(nothing, nothing));
    ck_assert(!str_has(nothing, STR("a")));
    ck_assert_uint_eq(str_find_char(nothing, 'a'), 0);
    ck_assert_uint_eq(str_find(nothing, STR("a")), 0);
    ck_assert_uint_eq(str_slice(nothing, 1, 2).len, 0);
    ck_assert_uint_eq(str_trim(nothing).len, 0);
    ck_assert(str_is_utf8(nothing));
    ck_assert_uint_eq(str_of(NULL).len, 0);
    ck_assert_uint_eq(str_of("four").len, 4);
}
END_TEST

START_TEST(find_gives_the_first_place_or_the_length)
{
    str s = STR("one two two");
    ck_assert_uint_eq(str_find_char(s, 't'), 4);
    ck_assert_uint_eq(str_find_char(s, 'x'), s.len);
    ck_assert_uint_eq(str_find(s, STR("two")), 4);
    ck_assert_uint_eq(str_find(s, STR("three")), s.len);
    ck_assert_uint_eq(str_find(s, STR("")), 0);
    ck_assert_uint_eq(str_find(STR("tw"), STR("two")), 2);
    /* The needle goes on behind the end of the view, and must not be seen there. */
    ck_assert_uint_eq(str_find(str_slice(s, 0, 6), STR("two")), 6);
}
END_TEST

static const struct {
    size_t from, to;
    str    expected;
} slices[] = {
    {0, 5, STR_INIT("hello")},
    {1, 3, STR_INIT("el")},
    {5, 5, STR_INIT("")},
    {3, 1, STR_INIT("")},
    {4, 99, STR_INIT("o")},
    {99, 100, STR_INIT("")},
    {0, SIZE_MAX, STR_INIT("hello")},
    {SIZE_MAX, 0, STR_INIT("")},
};

START_TEST(a_slice_is_clamped_to_the_text)
{
    str whole = STR("hello");
    str got = str_slice(whole, slices[_i].from, slices[_i].to);
    ck_assert(str_eq(got, slices[_i].expected));
    ck_assert(got.at >= whole.at);
    ck_assert(got.at + got.len <= whole.at + whole.len);
    if (slices[_i].to >= whole.len)
        ck_assert(str_eq(str_from(whole, slices[_i].from), slices[_i].expected));
}
END_TEST

static const struct {
    str s, expected;
} trims[] = {
    {STR_INIT(""), STR_INIT("")},           {STR_INIT(" \t\r\n"), STR_INIT("")},
    {STR_INIT("a"), STR_INIT("a")},         {STR_INIT("  a b \r\n"), STR_INIT("a b")},
    {STR_INIT("\ta"), STR_INIT("a")},       {STR_INIT("a\n"), STR_INIT("a")},
    {STR_INIT("\va\f"), STR_INIT("\va\f")}, /* not among those that are trimmed */
    {STR_INIT("\0 "), STR_INIT("\0")},
};

START_TEST(trim_takes_blanks_tabs_and_line_ends_only)
{
    ck_assert(str_eq(str_trim(trims[_i].s), trims[_i].expected));
}
END_TEST

static const struct {
    str s;
    int count;
    str fields[5];
} splits[] = {
    {STR_INIT(""), 0, {{0}}},
    {STR_INIT("a"), 1, {STR_INIT("a")}},
    {STR_INIT("a,b"), 2, {STR_INIT("a"), STR_INIT("b")}},
    {STR_INIT("a,,b"), 3, {STR_INIT("a"), STR_INIT(""), STR_INIT("b")}},
    {STR_INIT("a,"), 2, {STR_INIT("a"), STR_INIT("")}},
    {STR_INIT(",a"), 2, {STR_INIT(""), STR_INIT("a")}},
    {STR_INIT(","), 2, {STR_INIT(""), STR_INIT("")}},
    {STR_INIT(",,,"), 4, {STR_INIT(""), STR_INIT(""), STR_INIT(""), STR_INIT("")}},
    {STR_INIT(" a , b "), 2, {STR_INIT(" a "), STR_INIT(" b ")}},
};

START_TEST(a_text_has_one_field_more_than_separators)
{
    str rest = splits[_i].s, field;
    for (int i = 0; i < splits[_i].count; i++) {
        ck_assert(str_next_field(&rest, ',', &field));
        ck_assert(str_eq(field, splits[_i].fields[i]));
    }
    field = STR("untouched");
    ck_assert(!str_next_field(&rest, ',', &field));
    ck_assert(!str_next_field(&rest, ',', &field));
    ck_assert(str_eq(field, STR("untouched")));
}
END_TEST

static const struct {
    str      s;
    bool     is_u64, is_i64;
    uint64_t u;
    int64_t  i;
} numbers[] = {
    {STR_INIT("0"), true, true, 0, 0},
    {STR_INIT("42"), true, true, 42, 42},
    {STR_INIT("007"), true, true, 7, 7},
    {STR_INIT("9223372036854775807"), true, true, INT64_MAX, INT64_MAX},
    {STR_INIT("9223372036854775808"), true, false, (uint64_t)INT64_MAX + 1, 0},
    {STR_INIT("18446744073709551615"), true, false, UINT64_MAX, 0},
    {STR_INIT("18446744073709551616"), false, false, 0, 0},
    {STR_INIT("18446744073709551620"), false, false, 0, 0},
    {STR_INIT("99999999999999999999"), false, false, 0, 0},
    {STR_INIT("000000000000000000000000001"), true, true, 1, 1},
    {STR_INIT("-1"), false, true, 0, -1},
    {STR_INIT("-0"), false, true, 0, 0},
    {STR_INIT("-9223372036854775808"), false, true, 0, INT64_MIN},
    {STR_INIT("-9223372036854775809"), false, false, 0, 0},
    {STR_INIT(""), false, false, 0, 0},
    {STR_INIT("-"), false, false, 0, 0},
    {STR_INIT("--1"), false, false, 0, 0},
    {STR_INIT("+1"), false, false, 0, 0},
    {STR_INIT(" 1"), false, false, 0, 0},
    {STR_INIT("1 "), false, false, 0, 0},
    {STR_INIT("1.0"), false, false, 0, 0},
    {STR_INIT("1e3"), false, false, 0, 0},
    {STR_INIT("0x10"), false, false, 0, 0},
    {STR_INIT("1\0"), false, false, 0, 0},
    {STR_INIT("/"), false, false, 0, 0},
    {STR_INIT(":"), false, false, 0, 0},
};

START_TEST(only_a_whole_decimal_number_in_range_is_a_number)
{
    uint64_t u = 77;
    int64_t  i = -77;
    ck_assert(str_to_u64(numbers[_i].s, &u) == numbers[_i].is_u64);
    ck_assert_uint_eq(u, numbers[_i].is_u64 ? numbers[_i].u : 77);
    ck_assert(str_to_i64(numbers[_i].s, &i) == numbers[_i].is_i64);
    ck_assert_int_eq(i, numbers[_i].is_i64 ? numbers[_i].i : -77);
}
END_TEST

static const struct {
    str  s;
    bool good;
} utf8s[] = {
    {STR_INIT(""), true},
    {STR_INIT("plain"), true},
    {STR_INIT("\0"), true},
    {STR_INIT("\x7f"), true},
    {STR_INIT("\xc2\x80"), true},
    {STR_INIT("\xdf\xbf"), true},
    {STR_INIT("\xe0\xa0\x80"), true},
    {STR_INIT("\xed\x9f\xbf"), true},
    {STR_INIT("\xee\x80\x80"), true},
    {STR_INIT("\xef\xbf\xbf"), true},
    {STR_INIT("\xf0\x90\x80\x80"), true},
    {STR_INIT("\xf4\x8f\xbf\xbf"), true},
    {STR_INIT("gr\xc3\xbc\xc3\x9f dich \xe2\x82\xac \xf0\x9f\x98\x80 and more ASCII"), true},
    {STR_INIT("\x80"), false}, /* a continuation without a start */
    {STR_INIT("\xbf"), false},
    {STR_INIT("\xc0\xaf"), false}, /* overlong '/' in two, three and four bytes */
    {STR_INIT("\xc1\xbf"), false},
    {STR_INIT("\xe0\x80\xaf"), false},
    {STR_INIT("\xe0\x9f\xbf"), false},
    {STR_INIT("\xf0\x80\x80\xaf"), false},
    {STR_INIT("\xf0\x8f\xbf\xbf"), false},
    {STR_INIT("\xed\xa0\x80"), false}, /* surrogates */
    {STR_INIT("\xed\xbf\xbf"), false},
    {STR_INIT("\xf4\x90\x80\x80"), false}, /* above U+10FFFF */
    {STR_INIT("\xf5\x80\x80\x80"), false},
    {STR_INIT("\xff"), false},
    {STR_INIT("\xfe"), false},
    {STR_INIT("\xc3"), false}, /* cut short */
    {STR_INIT("\xe2\x82"), false},
    {STR_INIT("\xf0\x9f\x98"), false},
    {STR_INIT("\xc3("), false}, /* the second, third, fourth byte is wrong */
    {STR_INIT("\xe2\x82("), false},
    {STR_INIT("\xe2(\x82"), false},
    {STR_INIT("\xf0\x9f\x98("), false},
    {STR_INIT("\xf0\x9f(\x98"), false},
    {STR_INIT("\xe2\x82\xc0"), false},
};

/* At each offset of the eight-byte fast path; in memory of exact size, so that reading on is seen by ASan. */
START_TEST(utf8_is_judged_alike_at_every_offset)
{
    str s = utf8s[_i].s;
    for (size_t before = 0; before <= 17; before++)
        for (size_t after = 0; after <= 9; after++) {
            size_t len = before + s.len + after;
            char  *text = malloc(len > 0 ? len : 1);
            ck_assert_ptr_nonnull(text);
            memset(text, 'x', len);
            memcpy(text + before, s.at, s.len);
            bool good = str_is_utf8((str){text, len});
            free(text);
            ck_assert_msg(good == utf8s[_i].good, "with %zu bytes before and %zu after", before, after);
        }
}
END_TEST

START_TEST(a_view_prints_without_reading_its_pointer_when_null)
{
    char text[32];
    snprintf(text, sizeof text, "<%.*s|%.*s>", STR_ARG(nothing), STR_ARG(str_slice(STR("abcdef"), 1, 3)));
    ck_assert_str_eq(text, "<|bc>");
    ck_assert_int_eq(str_print_len((str){NULL, SIZE_MAX}), INT32_MAX);
}
END_TEST

Suite *suite_str(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("str");
    tcase_add_loop_test(t, two_texts_compare_by_their_bytes, 0, COUNT(orders));
    tcase_add_loop_test(t, a_part_is_found_where_it_stands, 0, COUNT(parts));
    tcase_add_test(t, a_null_str_behaves_as_the_empty_text);
    tcase_add_test(t, find_gives_the_first_place_or_the_length);
    tcase_add_loop_test(t, a_slice_is_clamped_to_the_text, 0, COUNT(slices));
    tcase_add_loop_test(t, trim_takes_blanks_tabs_and_line_ends_only, 0, COUNT(trims));
    tcase_add_loop_test(t, a_text_has_one_field_more_than_separators, 0, COUNT(splits));
    tcase_add_loop_test(t, only_a_whole_decimal_number_in_range_is_a_number, 0, COUNT(numbers));
    tcase_add_loop_test(t, utf8_is_judged_alike_at_every_offset, 0, COUNT(utf8s));
    tcase_add_test(t, a_view_prints_without_reading_its_pointer_when_null);
    suite_add_tcase(s, t);
    return s;
}
