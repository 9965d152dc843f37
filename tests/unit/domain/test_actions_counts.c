/* test_actions_counts.c -- sums of counts, their bounds, and ages.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/counts.h"

#include <check.h>

#include "core/iso8601.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define EXPECT(got, want)                                                                    \
    do {                                                                                     \
        str ck_got = (got), ck_want = str_of(want);                                          \
        ck_assert_msg(str_eq(ck_got, ck_want), "'%.*s', not '%s'", STR_ARG(ck_got), (want)); \
    } while (0)

static const facts node = {.type = STR_INIT("Node"), .verified = true};
static const facts scored = {.type = STR_INIT("Docker"), .archived = true, .with_ossf = true};
static const facts untyped = {0};

static str text_of(const counts *c)
{
    return json_print(scratch(), counts_json(scratch(), c));
}

START_TEST(each_record_counts_once_in_all_that_it_is)
{
    counts c = {0};
    counts_add(&c, &node, 1);
    counts_add(&c, &scored, 1);
    counts_add(&c, &node, 1);
    counts_add(&c, &untyped, 1);
    EXPECT(text_of(&c), "{\"total\":4,\"byType\":{\"Node\":2,\"Docker\":1,\"Unknown\":1},\"verified\":2,"
                        "\"archived\":1,\"withOssf\":1}");
    counts_add(&c, &node, -1);
    counts_add(&c, &scored, -1);
    EXPECT(text_of(&c), "{\"total\":2,\"byType\":{\"Node\":1,\"Unknown\":1},\"verified\":1,\"archived\":0,"
                        "\"withOssf\":0}");
}
END_TEST

START_TEST(a_difference_that_is_merged_leaves_nothing_below_zero)
{
    counts have = {0}, less = {0};
    counts_add(&have, &node, 1);
    counts_add(&less, &node, -3);
    counts_add(&less, &scored, -1);
    counts sum = have;
    counts_merge(&sum, &less, 1, true);
    EXPECT(text_of(&sum), "{\"total\":0,\"byType\":{},\"verified\":0,\"archived\":0,\"withOssf\":0}");
    ck_assert(counts_are_zero(&sum));
    sum = have;
    counts_merge(&sum, &less, 1, false);
    ck_assert_int_eq(sum.total, -3);
    ck_assert(!counts_are_zero(&sum));
    counts_merge(&sum, &less, -1, false);
    EXPECT(text_of(&sum), textf("%.*s", STR_ARG(text_of(&have))));
}
END_TEST

/* A change of type alone is a difference, though its total is zero. */
START_TEST(a_moved_type_is_not_nothing)
{
    counts c = {0};
    ck_assert(counts_are_zero(&c));
    counts_add(&c, &(facts){.type = STR("a")}, 1);
    counts_add(&c, &(facts){.type = STR("b")}, -1);
    ck_assert_int_eq(c.total, 0);
    ck_assert(!counts_are_zero(&c));
}
END_TEST

START_TEST(types_beyond_the_bounds_are_counted_together)
{
    counts c = {0};
    for (int i = 0; i < 1000; i++)
        counts_add(&c, &(facts){.type = str_of(textf("type %d", i))}, 1);
    counts_add(&c, &(facts){.type = {textf("%065d", 0), 65}}, 1);
    counts_add(&c, &(facts){.type = {textf("%064d", 0), 64}}, 1);
    ck_assert_uint_eq(c.type_count, COUNTS_TYPES_MAX + 1);
    const str last = {c.types[COUNTS_TYPES_MAX].name, c.types[COUNTS_TYPES_MAX].len};
    EXPECT(last, COUNTS_OTHER);
    ck_assert_int_eq(c.types[COUNTS_TYPES_MAX].n, 1000 - COUNTS_TYPES_MAX + 2);
    ck_assert_uint_le(text_of(&c).len, 32000);
}
END_TEST

START_TEST(the_longest_names_fit_into_the_cache_row)
{
    counts c = {0};
    for (int i = 0; i < 1000; i++) { /* control characters take six each */
        char name[COUNTS_TYPE_BYTES] = {(char)(1 + i % 30), (char)(1 + i / 30)};
        for (size_t k = 2; k < sizeof name; k++)
            name[k] = '\1';
        counts_add(&c, &(facts){.type = {name, sizeof name}}, INT32_MAX);
    }
    ck_assert_uint_le(text_of(&c).len, 30000);
}
END_TEST

START_TEST(what_is_printed_is_read_again)
{
    counts          c = {0}, again;
    const json_val *doc;
    counts_add(&c, &node, 7);
    counts_add(&c, &scored, 2);
    ck_assert_int_eq(json_parse(scratch(), text_of(&c), &doc, NULL), RES_OK);
    ck_assert(counts_read(doc, &again));
    EXPECT(text_of(&again), textf("%.*s", STR_ARG(text_of(&c))));
}
END_TEST

static const char *const no_counts[] = {"[]", "7", "{}", "{\"total\":\"7\"}",
                                        "{\"total\":null,\"verified\":1}"};

START_TEST(what_has_no_total_is_no_count)
{
    counts          c;
    const json_val *doc;
    ck_assert_int_eq(json_parse(scratch(), str_of(no_counts[_i]), &doc, NULL), RES_OK);
    ck_assert(!counts_read(doc, &c));
    ck_assert(!counts_read(NULL, &c));
}
END_TEST

#define NOW "2026-03-31T00:00:00.000Z"

static int64_t us_of(const char *text)
{
    int64_t us;
    ck_assert(iso8601_parse(str_of(text), &us));
    return us;
}

START_TEST(ages_fall_into_one_bucket_each)
{
    static const char *const stamps[] = {"2026-03-30T00:00:00.000Z",
                                         "2026-03-29T23:59:59.999Z",
                                         "2026-03-24T00:00:00Z",
                                         "2026-03-23T23:59:59.999Z",
                                         "2026-03-01T00:00:00.000Z",
                                         "2026-02-28T23:59:59.999Z",
                                         "2026-04-01T00:00:00Z",
                                         "",
                                         "2026-03-30"};
    ages                     g = {0};
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++)
        ages_add(&g, str_of(stamps[i]), us_of(NOW));
    ck_assert_int_eq(g.total, 9);
    ck_assert_int_eq(g.within_1_day, 2);
    ck_assert_int_eq(g.within_7_days, 2);
    ck_assert_int_eq(g.within_30_days, 2);
    ck_assert_int_eq(g.older, 1);
    ck_assert_int_eq(g.no_timestamp, 2);
    ck_assert_int_eq(g.newest_us, us_of("2026-04-01T00:00:00Z"));
    ck_assert_int_eq(g.oldest_us, us_of("2026-02-28T23:59:59.999Z"));
}
END_TEST

/* Before 1970 a time is negative: the first one counts, not zero. */
START_TEST(the_newest_may_be_older_than_1970)
{
    ages g = {0};
    ages_add(&g, STR(""), us_of(NOW));
    ages_add(&g, STR("1960-01-01T00:00:00Z"), us_of(NOW));
    ck_assert_int_eq(g.newest_us, us_of("1960-01-01T00:00:00Z"));
    ck_assert_int_eq(g.oldest_us, us_of("1960-01-01T00:00:00Z"));
}
END_TEST

Suite *suite_actions_counts(void)
{
    Suite *s = suite_create("actions_counts");
    TCase *c = tcase_create("counts");
    tcase_add_test(c, each_record_counts_once_in_all_that_it_is);
    tcase_add_test(c, a_difference_that_is_merged_leaves_nothing_below_zero);
    tcase_add_test(c, a_moved_type_is_not_nothing);
    tcase_add_test(c, types_beyond_the_bounds_are_counted_together);
    tcase_add_test(c, the_longest_names_fit_into_the_cache_row);
    tcase_add_test(c, what_is_printed_is_read_again);
    tcase_add_loop_test(c, what_has_no_total_is_no_count, 0, (int)(sizeof no_counts / sizeof *no_counts));
    tcase_add_test(c, ages_fall_into_one_bucket_each);
    tcase_add_test(c, the_newest_may_be_older_than_1970);
    suite_add_tcase(s, c);
    return s;
}
