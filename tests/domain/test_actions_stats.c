/* test_actions_stats.c -- counts over the catalogue: GET actions/stats and actions/status, the timer, and the
 * row that writes keep up to date.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/actions/aggregate.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"

enum { PATCHED_WITHIN_MS = 20 * 1000, LOOK_EVERY_MS = 20 };

#define CACHED_STATS \
    "{\"total\":70,\"byType\":{\"Node\":60,\"Docker\":10},\"verified\":5,\"archived\":4,\"withOssf\":3}"
#define CACHED_STATUS                                                                               \
    "{\"totalCount\":70,\"newestSyncedUtc\":\"2026-01-01T00:00:00.000Z\",\"oldestSyncedUtc\":null," \
    "\"ageDistribution\":{\"within1day\":70},\"generatedAt\":\"x\",\"interpretation\":\"y\"}"
#define CACHED "{\"stats\":" CACHED_STATS ",\"status\":" CACHED_STATUS ",\"cachedAt\":\"z\",\"own\":[1]}"

static const json_val *cache_json(task *t)
{
    const json_val *doc;
    str             text = rows_cache(t);
    ck_assert_uint_gt(text.len, 0);
    OK(json_parse(t->arena, text, &doc, NULL));
    return doc;
}

static int64_t cached(task *t, const char *part, const char *member)
{
    return json_int(json_get(json_get(cache_json(t), part), member), -1);
}

static void put_five(task *t)
{
    rows_put(t, "a", "node1",
             ",\"actionType\":{\"actionType\":\"Node\"},\"verified\":true,\"repoInfo\":{\"archived\":true}");
    rows_put(t, "a", "node2",
             ",\"actionType\":{\"actionType\":\"Node\"},\"verified\":\"true\",\"ossf\":true");
    rows_put(t, "b", "docker", ",\"actionType\":\"Docker\",\"verified\":1,\"ossfScore\":6.4");
    rows_put(t, "b", "none", ",\"repoInfo\":{\"archived\":\"true\"}");
    rows_put(t, "c", "verified", ",\"actionType\":{\"actionType\":\"Composite\"},\"verified\":true");
}

static void check_five(const got *g)
{
    ck_assert_int_eq(rig_int(g, "total"), 5);
    ck_assert_int_eq(rig_int(g, "byType/Node"), 2);
    ck_assert_int_eq(rig_int(g, "byType/Docker"), 1);
    ck_assert_int_eq(rig_int(g, "byType/Composite"), 1);
    ck_assert_int_eq(rig_int(g, "byType/Unknown"), 1);
    ck_assert_int_eq(rig_int(g, "verified"), 2);
    ck_assert_int_eq(rig_int(g, "archived"), 1);
    ck_assert_int_eq(rig_int(g, "withOssf"), 2);
}

/* ---- stats ---- */

/* ACT-34. */
RIG_TEST(stats_count_kinds_and_say_so_in_headers)
{
    put_five(t);
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    check_five(&g);
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("5"));
    ck_str_eq(rig_header(&g, "x-verified-count"), STR("2"));
    ck_str_eq(rig_header(&g, "x-archived-count"), STR("1"));
    ck_str_eq(rig_header(&g, "x-ossf-count"), STR("2"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_assert(str_ends(rig_header(&g, "x-table-endpoint"), str_of(getenv("ACTIONS_TABLE_NAME"))));
    ck_assert_int_eq(cached(t, "stats", "total"), 5); /* written back */
}

/* ACT-35. */
RIG_TEST(rows_that_are_no_records_are_not_counted)
{
    put_five(t);
    rows_put_raw(t, "d", "broken", "{");
    rows_put_raw(t, "d", "array", "[]");
    rows_put_raw(t, "d", "empty", "");
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    check_five(&g);
    g = rig_get(t, "/api/actions/status");
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "totalCount"), 5);
}

/* ACT-36, 37. */
RIG_TEST(stats_come_from_the_cache_row_until_a_refresh_is_asked_for)
{
    put_five(t);
    rows_put_cache(t, CACHED);
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "total"), 70);
    ck_assert_int_eq(rig_int(&g, "byType/Docker"), 10);
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("70"));
    ck_str_eq(rig_header(&g, "x-verified-count"), STR("5"));
    g = rig_get(t, "/api/actions/stats?refresh=true");
    ck_status(g, 200);
    check_five(&g); /* and the cache row is none of the five */
    g = rig_get(t, "/api/actions/stats");
    check_five(&g);
}

static const char *const useless[] = {"",   "nonsense",         "[]",
                                      "{}", "{\"stats\":null}", "{\"stats\":{\"verified\":1}}"};
enum { USELESS = sizeof useless / sizeof *useless };

/* ACT-36: a cache row that says nothing is as good as none. */
RIG_TEST(a_cache_row_that_says_nothing_is_replaced)
{
    put_five(t);
    rows_put_cache(t, useless[i]);
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    check_five(&g);
    ck_assert_int_eq(cached(t, "stats", "total"), 5);
}

/* ACT-38. */
RIG_TEST(an_empty_table_has_zeros)
{
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"total\":0,\"byType\":{},\"verified\":0,\"archived\":0,\"withOssf\":0}"));
    g = rig_get(t, "/api/actions/status");
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "totalCount"), 0);
    ck_assert_int_eq(rig_int(&g, "ageDistribution/noTimestamp"), 0);
    ck_assert_int_eq(json_typeof(rig_at(&g, "newestSyncedUtc")), JSON_NULL);
    ck_assert_int_eq(json_typeof(rig_at(&g, "oldestSyncedUtc")), JSON_NULL);
}

/* ---- the timer ---- */

/* ACT-39. */
RIG_TEST(the_timer_counts_and_keeps_all_else_in_the_cache_row)
{
    put_five(t);
    rows_put_cache(t, CACHED);
    got g = rig_post(t, "/StatsWarmup", STR("{\"Data\":{\"timer\":{}},\"Metadata\":{}}"));
    ck_assert_msg(g.status / 100 == 2, "status %d", g.status);
    ck_assert_int_eq(cached(t, "stats", "total"), 5);
    ck_assert_int_eq(cached(t, "status", "totalCount"), 70);
    ck_assert_uint_eq(json_len(json_get(cache_json(t), "own")), 1);
    ck_assert(!str_eq(json_text(json_get(cache_json(t), "cachedAt"), STR("")), STR("z")));
}

/* ---- status ---- */

#define DAY_US (INT64_C(24) * 3600 * 1000000)

static const struct {
    int64_t     age_us;
    const char *bucket;
} aged[] = {{0, "within1day"},
            {DAY_US, "within1day"},
            {-DAY_US, "within1day"},
            {DAY_US + 1000, "within7days"},
            {7 * DAY_US, "within7days"},
            {7 * DAY_US + 1000, "within30days"},
            {30 * DAY_US, "within30days"},
            {30 * DAY_US + 1000, "olderThan30days"},
            {300 * DAY_US, "olderThan30days"}};
enum { AGED = sizeof aged / sizeof *aged };

/* ACT-40. */
RIG_TEST(status_puts_each_age_into_its_bucket)
{
    static const char *const buckets[] = {"within1day", "within7days", "within30days", "olderThan30days",
                                          "noTimestamp"};
    int64_t                  now_us = clock_wall_us() / 1000 * 1000;
    str                      synced = iso8601_arena(t->arena, now_us - aged[i].age_us, 3);
    rows_put_synced(t, "o", "n", textf("%.*s", STR_ARG(synced)));
    clock_set_for_test(now_us, clock_mono_us());
    got g = rig_get(t, "/api/actions/status");
    clock_unset_for_test();
    ck_status(g, 200);
    for (size_t k = 0; k < sizeof buckets / sizeof *buckets; k++)
        ck_assert_int_eq(rig_int(&g, textf("ageDistribution/%s", buckets[k])),
                         str_eq(str_of(buckets[k]), str_of(aged[i].bucket)));
    ck_str_eq(rig_text(&g, "newestSyncedUtc"), synced);
    ck_str_eq(rig_text(&g, "oldestSyncedUtc"), synced);
}

/* ACT-40. */
RIG_TEST(status_tells_the_newest_and_the_oldest_and_who_has_no_time)
{
    rows_put_synced(t, "o", "a", "2025-05-05T05:05:05.500Z");
    rows_put_synced(t, "o", "b", "2024-04-04T04:04:04.400Z");
    rows_put_synced(t, "o", "c", "yesterday");
    rows_put_synced(t, "o", "d", "2026-06-06T06:06:06.600Z");
    got g = rig_get(t, "/api/actions/status?refresh=true");
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_assert_int_eq(rig_int(&g, "totalCount"), 4);
    ck_str_eq(rig_text(&g, "newestSyncedUtc"), STR("2026-06-06T06:06:06.600Z"));
    ck_str_eq(rig_text(&g, "oldestSyncedUtc"), STR("2024-04-04T04:04:04.400Z"));
    ck_assert_int_eq(rig_int(&g, "ageDistribution/noTimestamp"), 1);
    ck_assert_uint_gt(rig_text(&g, "generatedAt").len, 0);
    ck_assert(str_has(rig_text(&g, "interpretation"), STR("lastSyncedUtc")));
    ck_assert_int_eq(cached(t, "status", "totalCount"), 4);
}

/* ACT-36, for status. */
RIG_TEST(status_comes_from_the_cache_row_until_a_refresh_is_asked_for)
{
    put_five(t);
    rows_put_cache(t, CACHED);
    got g = rig_get(t, "/api/actions/status");
    ck_status(g, 200);
    ck_str_eq(g.body, STR(CACHED_STATUS));
    g = rig_get(t, "/api/actions/status?refresh=true");
    ck_assert_int_eq(rig_int(&g, "totalCount"), 5);
    ck_assert_int_eq(cached(t, "stats", "total"), 70); /* which nobody asked to be counted */
}

/* ---- what writes leave ---- */

static void wait_for_newest(task *t, const char *newest)
{
    for (int waited_ms = 0; waited_ms < PATCHED_WITHIN_MS; waited_ms += LOOK_EVERY_MS) {
        if (str_eq(json_text(json_get(json_get(cache_json(t), "status"), "newestSyncedUtc"), STR("")),
                   str_of(newest)))
            return;
        OK(task_sleep(t, LOOK_EVERY_MS));
    }
    ck_abort_msg("the cache row has not been patched");
}

/* ACT-58: a new record that is not verified was none of the verified before. */
RIG_TEST(creating_an_unverified_record_leaves_verified_unchanged)
{
    rows_put_cache(t, CACHED);
    aggregate_note(NULL, &(facts){.type = STR("Node")}, STR("2026-02-01T00:00:00.000Z"));
    wait_for_newest(t, "2026-02-01T00:00:00.000Z");
    ck_assert_int_eq(cached(t, "stats", "total"), 71);
    ck_assert_int_eq(cached(t, "stats", "verified"), 5);
    ck_assert_int_eq(cached(t, "stats", "archived"), 4);
    ck_assert_int_eq(cached(t, "stats", "withOssf"), 3);
    ck_assert_int_eq(cached(t, "status", "totalCount"), 71);
    ck_assert_int_eq(json_int(json_get(json_get(json_get(cache_json(t), "stats"), "byType"), "Node"), 0), 61);
    ck_assert_uint_eq(json_len(json_get(cache_json(t), "own")), 1);
}

/* §12: many writes are one patch; types move, booleans count when they differ, nothing falls below zero. */
RIG_TEST(differences_of_many_writes_are_added_up)
{
    const facts node = {.type = STR("Node"), .verified = true}, docker = {.type = STR("Docker")};
    const facts scored = {.type = STR("Node"), .verified = true, .archived = true, .with_ossf = true};
    rows_put_cache(t, CACHED);
    aggregate_note(&node, &docker, STR("2025-01-01T00:00:00.000Z")); /* verified -1 */
    aggregate_note(&node, &scored, STR("2025-01-01T00:00:00.000Z")); /* archived, scored +1 */
    for (int k = 0; k < 12; k++)
        aggregate_note_removed(&docker); /* 11 are there by now */
    aggregate_note(NULL, &node, STR("2026-03-01T00:00:00.000Z"));
    wait_for_newest(t, "2026-03-01T00:00:00.000Z");
    ck_assert_int_eq(cached(t, "stats", "total"), 59);
    ck_assert_int_eq(cached(t, "status", "totalCount"), 59);
    ck_assert_int_eq(cached(t, "stats", "verified"), 5);
    ck_assert_int_eq(cached(t, "stats", "archived"), 5);
    ck_assert_int_eq(cached(t, "stats", "withOssf"), 4);
    const json_val *types = json_get(json_get(cache_json(t), "stats"), "byType");
    ck_assert_int_eq(json_int(json_get(types, "Node"), 0), 60);
    ck_assert_ptr_null(json_get(types, "Docker"));
}

/* An answer after the patch has it, although the row was read just before. */
RIG_TEST(a_patch_is_seen_by_the_next_reader)
{
    rows_put_cache(t, CACHED);
    got g = rig_get(t, "/api/actions/stats");
    ck_assert_int_eq(rig_int(&g, "total"), 70);
    aggregate_note(NULL, &(facts){.type = STR("Node")}, STR("2026-02-01T00:00:00.000Z"));
    wait_for_newest(t, "2026-02-01T00:00:00.000Z");
    g = rig_get(t, "/api/actions/stats");
    ck_assert_int_eq(rig_int(&g, "total"), 71);
}

/* What a count has seen is not added to it by a patch that comes later. */
RIG_TEST(a_write_before_a_count_is_counted_once)
{
    rows_put(t, "o", "n", "");
    aggregate_note(NULL, &(facts){0}, STR("2026-02-01T00:00:00.000Z"));
    got g = rig_get(t, "/api/actions/stats?refresh=true");
    ck_assert_int_eq(rig_int(&g, "total"), 1);
    g = rig_get(t, "/api/actions/status?refresh=true");
    ck_assert_int_eq(rig_int(&g, "totalCount"), 1);
    aggregate_note(&(facts){0}, &(facts){.verified = true}, STR("2026-04-01T00:00:00.000Z"));
    wait_for_newest(t, "2026-04-01T00:00:00.000Z");
    ck_assert_int_eq(cached(t, "stats", "total"), 1);
    ck_assert_int_eq(cached(t, "status", "totalCount"), 1);
    ck_assert_int_eq(cached(t, "stats", "verified"), 1);
}

/* ---- many at once ---- */

static res ask(task *t, size_t i, void *ctx)
{
    (void)i, (void)ctx;
    got g = rig_get(t, "/api/actions/stats?refresh=true");
    ck_status(g, 200);
    check_five(&g);
    return RES_OK;
}

RIG_TEST(many_who_ask_for_fresh_numbers_all_get_them)
{
    put_five(t);
    OK(par_each(t, 32, 32, ask, NULL));
}

/* ---- failures inside ---- */

static void empty_cache(task *t)
{
    rows_put_cache(t, "{}");
}

RIG_TEST(counting_survives_every_failing_allocation_and_wait)
{
    static const rig_request scanned[] = {{.method = "GET", .target = "/api/actions/stats?refresh=true"},
                                          {.method = "GET", .target = "/api/actions/status?refresh=true"}};
    static const rig_request kept[] = {{.method = "GET", .target = "/api/actions/stats"},
                                       {.method = "GET", .target = "/api/actions/status"}};
    rows_put(t, "o", "n", "");
    rows_put(t, "o", "m", ",\"verified\":true");
    for (size_t k = 0; k < 2; k++)
        rig_torture(t, &scanned[k], 200, NULL, empty_cache);
    rows_put_cache(t, CACHED);
    for (size_t k = 0; k < 2; k++)
        rig_torture(t, &kept[k], 200, NULL, NULL);
}

Suite *suite_actions_stats(void)
{
    Suite *s = suite_create("actions_stats");
    TCase *c = live_case("actions_stats");
    tcase_add_test(c, stats_count_kinds_and_say_so_in_headers);
    tcase_add_test(c, rows_that_are_no_records_are_not_counted);
    tcase_add_test(c, stats_come_from_the_cache_row_until_a_refresh_is_asked_for);
    tcase_add_loop_test(c, a_cache_row_that_says_nothing_is_replaced, 0, USELESS);
    tcase_add_test(c, an_empty_table_has_zeros);
    tcase_add_test(c, the_timer_counts_and_keeps_all_else_in_the_cache_row);
    tcase_add_loop_test(c, status_puts_each_age_into_its_bucket, 0, AGED);
    tcase_add_test(c, status_tells_the_newest_and_the_oldest_and_who_has_no_time);
    tcase_add_test(c, status_comes_from_the_cache_row_until_a_refresh_is_asked_for);
    tcase_add_test(c, creating_an_unverified_record_leaves_verified_unchanged);
    tcase_add_test(c, differences_of_many_writes_are_added_up);
    tcase_add_test(c, a_patch_is_seen_by_the_next_reader);
    tcase_add_test(c, a_write_before_a_count_is_counted_once);
    tcase_add_test(c, many_who_ask_for_fresh_numbers_all_get_them);
    tcase_add_test(c, counting_survives_every_failing_allocation_and_wait);
    suite_add_tcase(s, c);
    return s;
}
