/* test_long_value.c -- values above 64 KiB in one entity.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/long_value.h"

#include <string.h>

#include "unit/suites.h"

enum { BUDGET = 64 * MIB };

static arena *a;
static entity e;

static void before(void)
{
    a = arena_new(BUDGET);
    ck_assert_ptr_nonnull(a);
    e = entity_new(a, STR("p"), STR("r"));
}

static void after(void)
{
    arena_free(a);
}

/* Bytes that gzip cannot make smaller; the same in each run. */
static str noise(size_t len)
{
    char    *bytes = arena_alloc(a, len + 1);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < len; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        bytes[i] = (char)(state >> 24);
    }
    return (str){bytes, len};
}

static void set_and_get(str value, int64_t parts)
{
    str got, why = STR("");
    ck_assert_int_eq(long_value_set(&e, "doc", value), RES_OK);
    ck_assert_int_eq(entity_check(a, &e, &why), RES_OK);
    ck_assert_int_eq(entity_int(&e, "doc", -1), parts);
    ck_assert_int_eq(entity_int(&e, "doc_bytes", -1), (int64_t)value.len);
    ck_assert_uint_eq(e.count, 2 + (size_t)parts);
    ck_assert_int_eq(long_value_get(a, &e, "doc", value.len, &got), RES_OK);
    ck_assert(str_eq(got, value));
}

START_TEST(a_value_comes_back_whatever_its_length)
{
    char *zeros = arena_zalloc(a, 5 * MIB);
    set_and_get(STR("short"), 1);
    set_and_get((str){zeros, 5 * MIB}, 1); /* packs well */
    set_and_get(noise(900 * KIB), 15);
    set_and_get(STR("short again"), 1); /* the parts of the longer one are gone */
    set_and_get(STR(""), 0);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_changes_nothing)
{
    ck_assert_int_eq(long_value_set(&e, "doc", STR("before")), RES_OK);
    ck_assert_int_eq(long_value_set(&e, "doc", noise(16 * 65536)), RES_TOO_LARGE);
    str got;
    ck_assert_int_eq(long_value_get(a, &e, "doc", KIB, &got), RES_OK);
    ck_assert(str_eq(got, STR("before")));
}
END_TEST

START_TEST(the_name_may_be_gone_afterwards)
{
    char name[] = "doc";
    str  got;
    ck_assert_int_eq(long_value_set(&e, name, STR("text")), RES_OK);
    memset(name, '#', 3);
    ck_assert_int_eq(long_value_get(a, &e, "doc", KIB, &got), RES_OK);
}
END_TEST

START_TEST(a_limit_of_the_reader_holds)
{
    str got = STR("untouched");
    ck_assert_int_eq(long_value_set(&e, "doc", STR("0123456789")), RES_OK);
    ck_assert_int_eq(long_value_get(a, &e, "doc", 9, &got), RES_TOO_LARGE);
    ck_assert_int_eq(long_value_get(a, &e, "other", 9, &got), RES_NOT_FOUND);
    ck_assert(str_eq(got, STR("untouched")));
}
END_TEST

static void drop_middle(void)
{
    entity_drop(&e, "doc_1");
}

static void drop_length(void)
{
    entity_drop(&e, "doc_bytes");
}

static void wrong_length(void)
{
    entity_set_int64(&e, "doc_bytes", 200 * KIB - 1);
}

static void longer_length(void)
{
    entity_set_int64(&e, "doc_bytes", 200 * KIB + 1);
}

static void fewer_parts(void)
{
    entity_set_int32(&e, "doc", 3);
}

static void many_parts(void)
{
    entity_set_int32(&e, "doc", 16);
}

static void negative_parts(void)
{
    entity_set_int32(&e, "doc", -1);
}

static void no_parts(void)
{
    entity_set_int32(&e, "doc", 0);
}

static void text_parts(void)
{
    entity_set_str(&e, "doc", STR("4"));
}

static void text_part(void)
{
    entity_set_str(&e, "doc_0", STR("text"));
}

static void other_part(void)
{
    entity_set_binary(&e, "doc_2", noise(65536));
}

static void (*const damages[])(void) = {drop_middle, drop_length, wrong_length, longer_length,
                                        fewer_parts, many_parts,  no_parts,     negative_parts,
                                        text_parts,  text_part,   other_part};

START_TEST(damage_is_told_from_a_value)
{
    str got;
    ck_assert_int_eq(long_value_set(&e, "doc", noise(200 * KIB)), RES_OK);
    ck_assert_int_eq(entity_int(&e, "doc", 0), 4);
    damages[_i]();
    ck_assert_int_eq(long_value_get(a, &e, "doc", MIB, &got), RES_UPSTREAM);
}
END_TEST

START_TEST(parts_left_by_a_merge_are_ignored)
{
    entity stored = e, changes = e;
    str    got;
    ck_assert_int_eq(long_value_set(&stored, "doc", noise(200 * KIB)), RES_OK);
    ck_assert_int_eq(long_value_set(&changes, "doc", STR("short")), RES_OK);
    entity_merge(&stored, &changes);
    ck_assert(entity_has(&stored, "doc_3"));
    ck_assert_int_eq(long_value_get(a, &stored, "doc", MIB, &got), RES_OK);
    ck_assert(str_eq(got, STR("short")));
}
END_TEST

Suite *suite_long_value(void)
{
    Suite *s = suite_create("long_value");
    TCase *c = tcase_create("long_value");
    tcase_add_checked_fixture(c, before, after);
    tcase_add_test(c, a_value_comes_back_whatever_its_length);
    tcase_add_test(c, what_does_not_fit_is_refused_and_changes_nothing);
    tcase_add_test(c, the_name_may_be_gone_afterwards);
    tcase_add_test(c, a_limit_of_the_reader_holds);
    tcase_add_loop_test(c, damage_is_told_from_a_value, 0, sizeof damages / sizeof *damages);
    tcase_add_test(c, parts_left_by_a_merge_are_ignored);
    suite_add_tcase(s, c);
    return s;
}
