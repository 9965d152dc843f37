/* test_actions_facts.c -- what is counted of a record.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/facts.h"

#include <check.h>

#include "unit/suites.h"

static arena *a;

static void open_arena(void)
{
    a = arena_new(MIB);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_free(a);
}

static facts read_facts(const char *payload)
{
    facts f;
    ck_assert_int_eq(facts_read(a, str_of(payload), &f), RES_OK);
    return f;
}

static const struct {
    const char *payload, *type;
} types[] = {
    {"{}", ""},
    {"{\"actionType\":\"Docker\"}", "Docker"},
    {"{\"actionType\":{\"actionType\":\"Node\",\"nodeVersion\":\"20\"}}", "Node"},
    {"{\"actionType\":{\"actionType\":null}}", ""},
    {"{\"actionType\":null}", ""},
    {"{\"actionType\":7}", ""},
    {"{\"actionType\":[\"Node\"]}", ""},
};

START_TEST(the_type_is_a_text_or_within_an_object)
{
    ck_assert(str_eq(read_facts(types[_i].payload).type, str_of(types[_i].type)));
}
END_TEST

START_TEST(only_true_is_true)
{
    facts f = read_facts("{\"verified\":true,\"repoInfo\":{\"archived\":true,\"disabled\":true}}");
    ck_assert(f.verified && f.archived && f.disabled && !f.with_ossf);
    f = read_facts("{\"verified\":1,\"repoInfo\":{\"archived\":\"true\",\"disabled\":1},\"ossf\":\"true\"}");
    ck_assert(!f.verified && !f.archived && !f.disabled && !f.with_ossf);
    f = read_facts("{\"verified\":false,\"repoInfo\":null,\"archived\":true,\"ossf\":false}");
    ck_assert(!f.verified && !f.archived && !f.disabled && !f.with_ossf);
}
END_TEST

/* ACT-15. */
static const struct {
    const char *payload;
    bool        found;
    double      score;
} scores[] = {
    {"{\"openssf_score\":1.5,\"ossfScore\":2,\"ossf_score\":3}", true, 1.5},
    {"{\"openssf_score\":null,\"ossfScore\":2,\"ossf_score\":3}", true, 2},
    {"{\"ossf_score\":-0.5}", true, -0.5},
    {"{\"ossfScore\":0}", true, 0},
    {"{\"openssf_score\":\"7\",\"ossfScore\":2}", false, 0},
    {"{\"openssf_score\":false,\"ossfScore\":2}", false, 0},
    {"{\"ossfScore\":1e999}", false, 0},
    {"{\"ossfScore\":null}", false, 0},
    {"{}", false, 0},
};

START_TEST(the_score_is_the_first_of_three_members_that_is_not_null_if_it_is_a_number)
{
    const json_val *v;
    double          score = 0;
    ck_assert_int_eq(json_parse(a, str_of(scores[_i].payload), &v, NULL), RES_OK);
    ck_assert_int_eq(facts_score(v, &score), scores[_i].found);
    ck_assert(score >= scores[_i].score && score <= scores[_i].score);
    ck_assert_int_eq(facts_of(v).with_ossf, scores[_i].found);
}
END_TEST

START_TEST(a_payload_that_is_no_object_has_no_facts)
{
    static const char *const bad[] = {"", "[]", "null", "1", "{", "{\"a\":\"\xFF\"}", "{\"a\":\"\\ud8\"}"};
    facts                    f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(facts_read(a, str_of(bad[i]), &f), RES_INVALID);
}
END_TEST

START_TEST(unpaired_surrogates_hide_no_facts)
{
    facts f = read_facts("{\"verified\":true,\"\\ud800\":\"\\udc00\\ud83d\\ude00\",\"ossf\":true}");
    ck_assert(f.verified && f.with_ossf);
}
END_TEST

START_TEST(facts_are_read_or_memory_is_said_to_be_missing)
{
    str payload = STR("{\"verified\":true,\"\\ud800\":{\"a\":[1,2,3]}}");
    for (long nth = 1;; nth++) {
        facts f;
        ck_assert_int_lt(nth, 100);
        arena_fail_at(nth);
        res  r = facts_read(a, payload, &f);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
        if (pending)
            break;
    }
}
END_TEST

Suite *suite_actions_facts(void)
{
    Suite *s = suite_create("actions_facts");
    TCase *c = tcase_create("facts");
    tcase_add_checked_fixture(c, open_arena, close_arena);
    tcase_add_loop_test(c, the_type_is_a_text_or_within_an_object, 0, sizeof types / sizeof *types);
    tcase_add_test(c, only_true_is_true);
    tcase_add_loop_test(c, the_score_is_the_first_of_three_members_that_is_not_null_if_it_is_a_number, 0,
                        sizeof scores / sizeof *scores);
    tcase_add_test(c, a_payload_that_is_no_object_has_no_facts);
    tcase_add_test(c, unpaired_surrogates_hide_no_facts);
    tcase_add_test(c, facts_are_read_or_memory_is_said_to_be_missing);
    suite_add_tcase(s, c);
    return s;
}
