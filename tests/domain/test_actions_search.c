/* test_actions_search.c -- GET actions/search over a snapshot of both stores.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/snapshot.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/derived_wire.h"

#define SEARCH  "/api/actions/search"
#define REFRESH "/api/actions/snapshot/refresh"

static void put_some(task *t)
{
    rows_put(t, "Acme", "Acme_deploy",
             ",\"description\":\"Uploads Pages to a bucket\",\"actionType\":{\"actionType\":\"Node\"},"
             "\"verified\":true,\"repoInfo\":{\"updated_at\":\"2026-01-03T00:00:00Z\"}");
    rows_put(t, "globex", "bucket-sync",
             ",\"actionType\":{\"actionType\":\"Docker\"},"
             "\"repoInfo\":{\"updated_at\":\"2026-01-02T00:00:00Z\",\"archived\":true}");
    rows_put(t, "initech", "lint",
             ",\"description\":\"Checks pages\",\"actionType\":{\"actionType\":\"Node\"},"
             "\"repoInfo\":{\"updated_at\":\"2026-01-01T00:00:00Z\"}");
    ck_status(rig_post(t, REFRESH, STR("")), 200);
}

static void expect(task *t, const char *query, const char *names)
{
    str    all = str_of(names), name;
    got    g = rig_get(t, textf(SEARCH "?%s", query));
    size_t n = 0;
    ck_status(g, 200);
    while (str_next_field(&all, ' ', &name)) {
        ck_assert_msg(n < json_len(rig_at(&g, "items")), "'%s' finds %zu", query, n);
        ck_str_eq(rig_text(&g, textf("items/%zu/name", n++)), name);
    }
    ck_assert_msg(json_len(rig_at(&g, "items")) == n, "'%s' finds more than %zu", query, n);
    ck_assert_int_eq(rig_int(&g, "total"), (int64_t)n);
}

/* ACT-65. */
RIG_TEST(every_word_must_occur_in_any_case)
{
    put_some(t);
    expect(t, "q=pages", "Acme_deploy lint");
    expect(t, "q=PAGES%20upLOADS", "Acme_deploy");
    expect(t, "q=pages+nothing", "");
    expect(t, "q=initech", "lint");
    expect(t, "q=bucket", "bucket-sync Acme_deploy");
    expect(t, "", "Acme_deploy bucket-sync lint");
}

/* ACT-65. */
RIG_TEST(type_verified_and_archived_filter)
{
    put_some(t);
    expect(t, "type=node", "Acme_deploy lint");
    expect(t, "type=Node&q=lint", "lint");
    expect(t, "verified=true", "Acme_deploy");
    expect(t, "verified=false", "bucket-sync lint");
    expect(t, "archived=true", "bucket-sync");
    expect(t, "archived=false&type=docker", "");
}

/* ACT-65. */
RIG_TEST(a_limit_of_101_gives_100_and_offsets_leave_no_gap)
{
    enum { RECORDS = 130 };
    bool seen[RECORDS] = {false};
    for (int n = 0; n < RECORDS; n++)
        rows_put(t, "many", textf("n%03d", n), "");
    ck_status(rig_post(t, REFRESH, STR("")), 200);
    got g = rig_get(t, SEARCH "?q=many&limit=101");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 100);
    ck_assert_int_eq(rig_int(&g, "total"), RECORDS);
    g = rig_get(t, SEARCH "?q=many");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 20);
    for (size_t at = 0; at < RECORDS;) {
        g = rig_get(t, textf(SEARCH "?q=many&limit=37&offset=%zu", at));
        size_t count = json_len(rig_at(&g, "items"));
        ck_assert_uint_eq(count, at + 37 <= RECORDS ? 37 : RECORDS - at);
        for (size_t n = 0; n < count; n++) {
            uint64_t number;
            ck_assert(str_to_u64(str_from(rig_text(&g, textf("items/%zu/name", n)), 1), &number));
            ck_assert(!seen[number]);
            seen[number] = true;
        }
        at += count;
    }
}

/* ACT-65. */
RIG_TEST(without_a_snapshot_a_search_is_503)
{
    rows_put(t, "o", "n", "");
    got g = rig_get(t, SEARCH "?q=n");
    ck_status(g, 503);
    ck_str_eq(rig_header(&g, "retry-after"), STR("60"));
    ck_assert(rig_text(&g, "hint").len > 0);
}

RIG_TEST(an_answer_has_the_items_of_the_snapshot_as_they_stand_there)
{
    put_some(t);
    got g = rig_get(t, SEARCH "?q=lint"), whole = rig_get(t, "/api/actions/snapshot");
    ck_str_eq(json_print_val(t->arena, rig_at(&g, "items/0")),
              json_print_val(t->arena, rig_at(&whole, "items/2")));
    ck_assert_uint_eq(json_len(g.json), 2);
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
}

RIG_TEST(what_makes_no_sense_is_400_without_cache_headers)
{
    static const char *const queries[] = {"verified=perhaps", "archived=2",
                                          "q=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q"};
    for (size_t n = 0; n < sizeof queries / sizeof *queries; n++) {
        got g = rig_get(t, textf(SEARCH "?%s", queries[n]));
        ck_status(g, 400);
        ck_assert(rig_text(&g, "error").len > 0);
        ck_assert(rig_header(&g, "cache-control").at == NULL);
    }
    str long_q = live_repeat(t->arena, STR("x"), 513);
    ck_status(rig_get(t, textf(SEARCH "?q=%.*s", STR_ARG(long_q))), 400);
}

RIG_TEST(other_methods_are_refused)
{
    ck_status(rig_post(t, SEARCH, STR("")), 405);
    got o = rig_call(t, "OPTIONS", SEARCH, (str){0}, NULL, 0);
    ck_status(o, 204);
    ck_str_eq(rig_header(&o, "allow"), STR("GET,OPTIONS"));
}

DERIVED_TEST(a_store_that_fails_is_500, .head = 403, .get = 403)
{
    got g = rig_get(t, SEARCH "?q=x");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("Failed to search the actions."));
    ck_assert_uint_eq(derived()->queries, 0);
}

static void forget(task *t)
{
    (void)t;
    snapshot_forget_for_test();
}

RIG_TEST(a_search_survives_every_failure_inside)
{
    static const int tolerated[] = {500, 0};
    put_some(t);
    rig_torture(t, &(rig_request){.method = "GET", .target = SEARCH "?q=pages&limit=1"}, 200, tolerated,
                forget);
}

Suite *suite_actions_search(void)
{
    Suite *s = suite_create("actions_search");
    TCase *c = live_case("search");
    tcase_add_test(c, every_word_must_occur_in_any_case);
    tcase_add_test(c, type_verified_and_archived_filter);
    tcase_add_test(c, a_limit_of_101_gives_100_and_offsets_leave_no_gap);
    tcase_add_test(c, without_a_snapshot_a_search_is_503);
    tcase_add_test(c, an_answer_has_the_items_of_the_snapshot_as_they_stand_there);
    tcase_add_test(c, what_makes_no_sense_is_400_without_cache_headers);
    tcase_add_test(c, other_methods_are_refused);
    tcase_add_test(c, a_store_that_fails_is_500);
    tcase_add_test(c, a_search_survives_every_failure_inside);
    suite_add_tcase(s, c);
    return s;
}
