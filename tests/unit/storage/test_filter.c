/* test_filter.c -- filters: as text, as a decision about a row, as ranges of keys.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/filter.h"

#include <math.h>

#include "unit/suites.h"

#define GUID "c9da6455-213d-42c9-9a79-3e9149a57833"

static arena *a;

static void before(void)
{
    a = arena_new(8 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void after(void)
{
    arena_free(a);
}

static void check_text(const filter *f, const char *expected)
{
    str got = filter_text(a, f);
    ck_assert_msg(str_eq(got, str_of(expected)), "got: %.*s\nexpected: %s", STR_ARG(got), expected);
}

/* ---- text ---- */

START_TEST(every_type_has_its_literal)
{
    edm_ticks ticks;
    ck_assert(edm_time_parse(STR("2024-03-01T00:00:00.1234567Z"), &ticks));
    check_text(filter_str(a, "s", FILTER_EQ, STR("o'b''")), "s eq 'o''b'''''");
    check_text(filter_str(a, "s", FILTER_NE, STR("")), "s ne ''");
    check_text(filter_int32(a, "n", FILTER_GT, -4), "n gt -4");
    check_text(filter_int64(a, "n", FILTER_GE, 5), "n ge 5L");
    check_text(filter_int64(a, "n", FILTER_GE, INT64_MIN), "n ge -9223372036854775808L");
    check_text(filter_double(a, "d", FILTER_LT, 2.5), "d lt 2.5");
    check_text(filter_double(a, "d", FILTER_LT, 1), "d lt 1.0");
    check_text(filter_double(a, "d", FILTER_LT, -1e21), "d lt -1.0e21");
    check_text(filter_double(a, "d", FILTER_LT, 1.5e-300), "d lt 1.5e-300");
    check_text(filter_bool(a, "b", FILTER_EQ, true), "b eq true");
    check_text(filter_bool(a, "b", FILTER_EQ, false), "b eq false");
    check_text(filter_ticks(a, "t", FILTER_LE, ticks), "t le datetime'2024-03-01T00:00:00.1234567Z'");
    check_text(filter_guid(a, "g", FILTER_EQ, STR("C9DA6455-213D-42C9-9A79-3E9149A57833")),
               "g eq guid'" GUID "'");
    check_text(filter_binary(a, "x", FILTER_EQ, (str){"\0\xAB", 2}), "x eq X'00ab'");
}
END_TEST

START_TEST(parts_are_joined_in_parentheses)
{
    const filter *x = filter_int32(a, "x", FILTER_EQ, 1), *y = filter_int32(a, "y", FILTER_EQ, 2);
    check_text(filter_and(a, x, y), "(x eq 1) and (y eq 2)");
    check_text(filter_or(a, filter_and(a, x, y), filter_not(a, y)),
               "((x eq 1) and (y eq 2)) or (not (y eq 2))");
    check_text(filter_not(a, filter_or(a, x, y)), "not ((x eq 1) or (y eq 2))");
    check_text(filter_not(a, filter_not(a, x)), "x eq 1");
}
END_TEST

START_TEST(the_filter_of_all_rows_has_no_text)
{
    const filter *x = filter_int32(a, "x", FILTER_EQ, 1);
    ck_assert_uint_eq(filter_text(a, NULL).len, 0);
    ck_assert_ptr_eq(filter_and(a, NULL, x), x);
    ck_assert_ptr_eq(filter_and(a, x, NULL), x);
    ck_assert_ptr_null(filter_or(a, NULL, x));
    ck_assert_ptr_null(filter_or(a, x, NULL));
    ck_assert_ptr_null(filter_prefix(a, "x", STR("")));
}
END_TEST

/* The unit half of STORE-24: whatever the value, it stays one literal. */
START_TEST(a_value_cannot_become_syntax)
{
    check_text(filter_str(a, "PartitionKey", FILTER_EQ, STR("x' or PartitionKey ne '")),
               "PartitionKey eq 'x'' or PartitionKey ne '''");
}
END_TEST

/* ---- prefixes ---- */

static const struct {
    const char *prefix, *behind; /* NULL: none */
} prefixes[] = {
    {"abc", "abd"},
    {"a", "b"},
    {"o'", "o("},
    {"\x7F", "\xC2\x80"},
    {"\u07FF", "\u0800"},
    {"x\uD7FF", "x\U00010000"}, /* D7FF plus one would be half a surrogate pair */
    {"\U00010000", "\U00010001"},
    {"\U000103FF", "\U00010400"}, /* the low surrogate carries */
    {"\U0010FFFF", "\uE000"},
    {"a\uFFFF", "b"},
    {"\U0010FFFF\uFFFF\uFFFF", "\uE000"},
    {"\uFFFF", NULL},
    {"\uFFFF\uFFFF", NULL},
};

START_TEST(a_prefix_ends_before_the_next_text)
{
    str           prefix = str_of(prefixes[_i].prefix), why;
    const filter *f = filter_prefix(a, "RowKey", prefix);
    ck_assert_int_eq(filter_check(a, f, &why), RES_OK);
    if (prefixes[_i].behind == NULL) {
        ck_assert_int_eq(f->kind, FILTER_COMPARE);
        ck_assert_int_eq(f->op, FILTER_GE);
        ck_assert(str_eq(f->value.text, prefix));
        return;
    }
    str behind = f->right->value.text;
    ck_assert_int_eq(f->right->op, FILTER_LT);
    ck_assert(str_eq(behind, str_of(prefixes[_i].behind)));
    ck_assert(str_is_utf8(behind));

    entity inside = entity_new(a, STR("p"), arena_strf(a, "%s\uFFFF", prefixes[_i].prefix));
    entity first = entity_new(a, STR("p"), prefix), beyond = entity_new(a, STR("p"), behind);
    ck_assert(filter_matches(f, &inside));
    ck_assert(filter_matches(f, &first));
    ck_assert(!filter_matches(f, &beyond));
}
END_TEST

START_TEST(a_prefix_may_hold_a_zero_byte)
{
    const filter *f = filter_prefix(a, "x", (str){"a\0b", 3});
    ck_assert(str_eq(f->right->value.text, (str){"a\0c", 3}));
}
END_TEST

/* ---- checks ---- */

static void refuse(const filter *f, const char *word)
{
    str why = STR("");
    ck_assert_int_eq(filter_check(a, f, &why), RES_INVALID);
    ck_assert_msg(str_has(why, str_of(word)), "%.*s", STR_ARG(why));
}

START_TEST(what_azure_would_refuse_is_refused)
{
    str           why;
    const filter *many = NULL;
    for (int i = 0; i < FILTER_COMPARISONS_MAX; i++)
        many = filter_or(a, filter_int32(a, "n", FILTER_EQ, i),
                         many != NULL ? many : filter_int32(a, "m", FILTER_EQ, 0));
    refuse(many, "15");
    many = many->right; /* 15 of them */
    ck_assert_uint_eq(many->comparisons, FILTER_COMPARISONS_MAX);
    ck_assert_int_eq(filter_check(a, many, &why), RES_OK);
    ck_assert_int_eq(filter_check(a, NULL, &why), RES_OK);

    refuse(filter_int32(a, "a-b", FILTER_EQ, 1), "'a-b'");
    refuse(filter_int32(a, "a eq 1 or b", FILTER_EQ, 1), "name");
    refuse(filter_str(a, "s", FILTER_EQ, STR("\xFF")), "UTF-8");
    refuse(filter_prefix(a, "s", STR("a\xC3")), "UTF-8");
    refuse(filter_guid(a, "g", FILTER_EQ, STR("' or 1 eq 1")), "GUID");
    refuse(filter_double(a, "d", FILTER_EQ, NAN), "finite");
    refuse(filter_double(a, "d", FILTER_EQ, -INFINITY), "finite");
    refuse(filter_ticks(a, "t", FILTER_EQ, INT64_MAX), "1601");
    refuse(
        filter_and(a, filter_int32(a, "n", FILTER_EQ, 1), filter_not(a, filter_int32(a, "1x", FILTER_EQ, 1))),
        "'1x'");
    ck_assert_int_eq(filter_check(a, filter_str(a, "Timestamp", FILTER_EQ, STR("")), &why), RES_OK);
}
END_TEST

/* A filter as deep as 15 comparisons can make it. */
START_TEST(the_deepest_filter_is_walked)
{
    entity        e = entity_new(a, STR("p"), STR("r"));
    filter_range  p, r;
    const filter *f = filter_not(a, filter_int32(a, "n", FILTER_EQ, 0));
    for (int i = 1; i < FILTER_COMPARISONS_MAX; i++)
        f = filter_not(a, filter_and(a, f, filter_not(a, filter_int32(a, "n", FILTER_EQ, i))));
    str why;
    ck_assert_int_eq(filter_check(a, f, &why), RES_OK);
    ck_assert_uint_gt(filter_text(a, f).len, 0);
    (void)filter_matches(f, &e);
    filter_key_ranges(f, &p, &r);
    ck_assert(!p.has_to);
}
END_TEST

/* ---- applied ---- */

typedef const filter *build_fn(void);

#define CASE(name, expression)      \
    static const filter *name(void) \
    {                               \
        return expression;          \
    }

CASE(str_eq_hit, filter_str(a, "s", FILTER_EQ, STR("b")))
CASE(str_eq_case, filter_str(a, "s", FILTER_EQ, STR("B")))
CASE(str_gt, filter_str(a, "s", FILTER_GT, STR("B")))
CASE(str_le, filter_str(a, "s", FILTER_LE, STR("b")))
CASE(int32_lt, filter_int32(a, "i", FILTER_LT, -4))
CASE(int32_as_int64, filter_int64(a, "i", FILTER_EQ, -5))
CASE(int32_as_double, filter_double(a, "i", FILTER_EQ, -5))
CASE(int64_as_int32, filter_int32(a, "l", FILTER_EQ, 5))
CASE(int64_ge, filter_int64(a, "l", FILTER_GE, 5))
CASE(double_ne, filter_double(a, "d", FILTER_NE, 2.25))
CASE(nan_ge, filter_double(a, "nan", FILTER_GE, 0))
CASE(nan_lt, filter_double(a, "nan", FILTER_LT, 0))
CASE(bool_eq, filter_bool(a, "b", FILTER_EQ, true))
CASE(bool_gt, filter_bool(a, "b", FILTER_GT, false))
CASE(time_eq, filter_ticks(a, "t", FILTER_EQ, 17))
CASE(time_gt, filter_ticks(a, "t", FILTER_GT, 17))
CASE(guid_eq, filter_guid(a, "g", FILTER_EQ, STR("C9DA6455-213D-42C9-9A79-3E9149A57833")))
CASE(guid_as_str, filter_str(a, "g", FILTER_EQ, STR(GUID)))
CASE(binary_lt, filter_binary(a, "x", FILTER_LT, (str){"\1\1", 2}))
CASE(missing_ne, filter_bool(a, "none", FILTER_NE, true))
CASE(not_missing_eq, filter_not(a, filter_bool(a, "none", FILTER_EQ, true)))
CASE(mismatch_ne, filter_str(a, "i", FILTER_NE, STR("x")))
CASE(not_mismatch, filter_not(a, mismatch_ne()))
CASE(partition, filter_str(a, "PartitionKey", FILTER_EQ, STR("p")))
CASE(row, filter_str(a, "RowKey", FILTER_LT, STR("s")))
CASE(stamp, filter_ticks(a, "Timestamp", FILTER_GE, 1000))
CASE(stamp_late, filter_ticks(a, "Timestamp", FILTER_GT, 1000))
CASE(both, filter_and(a, bool_eq(), str_eq_hit()))
CASE(one_of_two, filter_and(a, bool_eq(), str_eq_case()))
CASE(either, filter_or(a, str_eq_case(), bool_eq()))
CASE(neither, filter_or(a, str_eq_case(), missing_ne()))

static const struct {
    build_fn *build;
    bool      expected;
} matches[] = {
    {str_eq_hit, true},
    {str_eq_case, false},
    {str_gt, true},
    {str_le, true},
    {int32_lt, true},
    {int32_as_int64, false},
    {int32_as_double, false},
    {int64_as_int32, false},
    {int64_ge, true},
    {double_ne, true},
    {nan_ge, false},
    {nan_lt, false},
    {bool_eq, true},
    {bool_gt, true},
    {time_eq, true},
    {time_gt, false},
    {guid_eq, true},
    {guid_as_str, false},
    {binary_lt, true},
    {missing_ne, false},
    {not_missing_eq, true},
    {mismatch_ne, false},
    {not_mismatch, true},
    {partition, true},
    {row, true},
    {stamp, true},
    {stamp_late, false},
    {both, true},
    {one_of_two, false},
    {either, true},
    {neither, false},
};

static entity sample(void)
{
    entity e = entity_new(a, STR("p"), STR("r"));
    e.timestamp = 1000;
    entity_set_str(&e, "s", STR("b"));
    entity_set_int32(&e, "i", -5);
    entity_set_int64(&e, "l", 5);
    entity_set_double(&e, "d", 2.5);
    entity_set_double(&e, "nan", NAN);
    entity_set_bool(&e, "b", true);
    entity_set_ticks(&e, "t", 17);
    entity_set_guid(&e, "g", STR(GUID));
    entity_set_binary(&e, "x", (str){"\1\0", 2});
    return e;
}

START_TEST(a_row_passes_or_not)
{
    entity        e = sample();
    const filter *f = matches[_i].build();
    ck_assert_msg(filter_matches(f, &e) == matches[_i].expected, "%.*s", STR_ARG(filter_text(a, f)));
    ck_assert(filter_matches(NULL, &e));
}
END_TEST

/* ---- ranges ---- */

static void check_range(filter_range r, const char *from, const char *to)
{
    ck_assert_msg(str_eq(r.from, str_of(from)), "from '%.*s', not '%s'", STR_ARG(r.from), from);
    ck_assert(r.has_to == (to != NULL));
    if (to != NULL)
        ck_assert_msg(str_eq(r.to, str_of(to)), "to '%.*s', not '%s'", STR_ARG(r.to), to);
    ck_assert(r.exact == (to != NULL && str_eq(r.from, r.to)));
}

static void check_ranges(const filter *f, const char *p_from, const char *p_to, const char *r_from,
                         const char *r_to)
{
    filter_range p, r;
    filter_key_ranges(f, &p, &r);
    check_range(p, p_from, p_to);
    check_range(r, r_from, r_to);
}

static const filter *key(const char *which, filter_op op, const char *value)
{
    return filter_str(a, which, op, str_of(value));
}

START_TEST(ranges_hold_every_row_that_passes)
{
    const filter *p = key("PartitionKey", FILTER_EQ, "p"), *q = key("PartitionKey", FILTER_EQ, "q");
    check_ranges(NULL, "", NULL, "", NULL);
    check_ranges(p, "p", "p", "", NULL);
    check_ranges(filter_and(a, p, filter_prefix(a, "RowKey", STR("ab"))), "p", "p", "ab", "ac");
    check_ranges(filter_and(a, p, key("RowKey", FILTER_EQ, "r")), "p", "p", "r", "r");
    check_ranges(filter_or(a, q, p), "p", "q", "", NULL);
    check_ranges(filter_or(a, p, key("RowKey", FILTER_EQ, "r")), "", NULL, "", NULL);
    check_ranges(filter_not(a, p), "", NULL, "", NULL);
    check_ranges(key("PartitionKey", FILTER_NE, "p"), "", NULL, "", NULL);
    check_ranges(key("PartitionKey", FILTER_GT, "p"), "p", NULL, "", NULL);
    check_ranges(filter_or(a, p, key("PartitionKey", FILTER_GE, "a")), "a", NULL, "", NULL);
    check_ranges(filter_and(a, key("RowKey", FILTER_LE, "k"), key("RowKey", FILTER_LT, "m")), "", NULL, "",
                 "k");
    check_ranges(filter_and(a, filter_int32(a, "PartitionKey", FILTER_EQ, 1), p), "p", "p", "", NULL);
    check_ranges(filter_str(a, "other", FILTER_EQ, STR("x")), "", NULL, "", NULL);
    /* By UTF-16: the emoji is before U+FFFF. */
    check_ranges(filter_or(a, key("RowKey", FILTER_EQ, "\uFFFF"), key("RowKey", FILTER_EQ, "\U0001F600")), "",
                 NULL, "\U0001F600", "\uFFFF");
}
END_TEST

START_TEST(deciding_allocates_nothing)
{
    filter_range  p, r;
    entity        e = sample();
    const filter *f = both();
    arena_fail_at(1);
    (void)filter_matches(f, &e);
    filter_key_ranges(f, &p, &r);
    bool untouched = arena_fail_pending();
    arena_fail_at(0);
    ck_assert(untouched);
}
END_TEST

Suite *suite_filter(void)
{
    Suite *s = suite_create("filter");
    TCase *c = tcase_create("filter");
    tcase_add_checked_fixture(c, before, after);
    tcase_add_test(c, every_type_has_its_literal);
    tcase_add_test(c, parts_are_joined_in_parentheses);
    tcase_add_test(c, the_filter_of_all_rows_has_no_text);
    tcase_add_test(c, a_value_cannot_become_syntax);
    tcase_add_loop_test(c, a_prefix_ends_before_the_next_text, 0, sizeof prefixes / sizeof *prefixes);
    tcase_add_test(c, a_prefix_may_hold_a_zero_byte);
    tcase_add_test(c, what_azure_would_refuse_is_refused);
    tcase_add_test(c, the_deepest_filter_is_walked);
    tcase_add_loop_test(c, a_row_passes_or_not, 0, sizeof matches / sizeof *matches);
    tcase_add_test(c, ranges_hold_every_row_that_passes);
    tcase_add_test(c, deciding_allocates_nothing);
    suite_add_tcase(s, c);
    return s;
}
