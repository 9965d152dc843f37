/* test_sched_start.c -- the tables at start, what calls cost in storage calls, and storage that fails, all
 * counted at a storage account in memory.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "domain/sched_people.h"
#include "domain/sched_service.h"
#include "domain/sched_suites.h"
#include "domain/scheduler.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/settings.h"

#define ANN    "ann@example.org"
#define BOB    "bob@example.org"
#define GROUPS "/api/me/groups"

enum { FIRST_AT_ONCE = 20, MANY = 250, LOOKS_MAX = 500, LOOK_EVERY_MS = 10 };

#define SERVICE_TEST(name)                  \
    static rig_fn name##_body;              \
    START_TEST(name)                        \
    {                                       \
        sched_service_run(name##_body, _i); \
    }                                       \
    END_TEST                                \
    static void name##_body(task *t, __attribute__((unused)) int i)

/* ---- the tables ---- */

/* SCHED-11. */
SERVICE_TEST(the_first_request_makes_the_tables_and_no_other_does)
{
    str ann = people_sign_in(t, ANN);
    ck_assert_uint_eq(sched_service_count("CREATE"), 0);
    got g = people_get(t, ann, GROUPS);
    ck_status(g, 200);
    ck_assert_uint_eq(sched_service_count("CREATE"), PLACE_COUNT);
    for (place p = 0; p < PLACE_COUNT; p++) {
        str name = place_table(p).name, prefix = str_of(getenv("SCHED_TABLE_PREFIX"));
        ck_assert(str_starts(name, prefix));
        ck_assert_uint_ge(sched_service_count(textf("CREATE %s", str_from(name, prefix.len).at)), 1);
    }
    g = people_get(t, ann, GROUPS);
    ck_status(g, 200);
    ck_assert_uint_eq(sched_service_count("CREATE"), PLACE_COUNT);
}

static str everybody;
static int statuses[FIRST_AT_ONCE];

static res ask_first(task *t, size_t i, void *ctx)
{
    (void)ctx;
    statuses[i] = people_get(t, everybody, GROUPS).status;
    return RES_OK;
}

/* SCHED-12. */
SERVICE_TEST(twenty_first_requests_make_each_table_once)
{
    everybody = people_sign_in(t, ANN);
    OK(par_each(t, FIRST_AT_ONCE, FIRST_AT_ONCE, ask_first, NULL));
    for (size_t n = 0; n < FIRST_AT_ONCE; n++)
        ck_assert_int_eq(statuses[n], 200);
    ck_assert_uint_eq(sched_service_count("CREATE"), PLACE_COUNT);
}

/* SCHED-13. */
SERVICE_TEST(tables_that_cannot_be_made_are_tried_again_by_the_next_request)
{
    str ann = people_sign_in(t, ANN);
    sched_service_fail("CREATE", SCHED_SERVICE_REFUSED, UINT32_MAX);
    got g = people_post(t, ann, "/api/group/join", "{\"groupId\":\"6a1f0c3e-0000-4000-8000-000000000000\"}");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("INTERNAL_ERROR"));
    ck_assert_uint_gt(rig_text(&g, "traceId").len, 0);
    ck_assert(!str_has(g.body, STR("Sorry"))); /* the service's words are for the log */
    everybody = ann;
    OK(par_each(t, FIRST_AT_ONCE, FIRST_AT_ONCE, ask_first, NULL));
    for (size_t n = 0; n < FIRST_AT_ONCE; n++)
        ck_assert_int_eq(statuses[n], 500);
    sched_service_fail("CREATE", NULL, 0);
    g = people_get(t, ann, GROUPS);
    ck_status(g, 200);
}

/* SCHED-14, SCHED-96. */
SERVICE_TEST(health_asks_no_storage)
{
    sched_service_fail("", SCHED_SERVICE_BUSY, UINT32_MAX);
    got g = rig_get(t, "/api/health");
    ck_status(g, 200);
    ck_assert_uint_eq(sched_service_count(""), 0);
}

static void wait_for_tables(task *t, size_t wanted)
{
    for (int n = 0; sched_service_count("CREATE") < wanted; n++) {
        ck_assert_int_lt(n, LOOKS_MAX);
        OK(task_sleep(t, LOOK_EVERY_MS));
    }
}

/* §2.13: once, behind everybody's back. */
SERVICE_TEST(the_tables_are_made_when_the_process_starts)
{
    sched_start();
    wait_for_tables(t, PLACE_COUNT);
    got g = people_get(t, people_sign_in(t, ANN), GROUPS);
    ck_status(g, 200);
    ck_assert_uint_eq(sched_service_count("CREATE"), PLACE_COUNT);
}

SERVICE_TEST(a_start_without_storage_is_a_line_in_the_log)
{
    rig_log_capture();
    sched_service_fail("CREATE", SCHED_SERVICE_REFUSED, UINT32_MAX);
    sched_start();
    for (int n = 0; !str_has(rig_log(), STR("scheduler tables failed")); n++) {
        ck_assert_int_lt(n, LOOKS_MAX);
        OK(task_sleep(t, LOOK_EVERY_MS));
    }
    sched_service_fail("CREATE", NULL, 0);
    got g = people_get(t, people_sign_in(t, ANN), GROUPS);
    ck_status(g, 200);
}

SERVICE_TEST(nothing_is_made_where_nothing_is_set_up)
{
    ck_assert_int_eq(setenv("STATE_CONTAINER", "", 1), 0);
    sched_start();
    OK(task_sleep(t, LOOK_EVERY_MS));
    ck_assert_uint_eq(sched_service_count(""), 0);
}

static const char *const bad_keys[] = {"a/b", "a\\b", "a#b", "a?b", "a\nb", "a\x7f", "a\xc2\x85"};

/* SCHED-15. */
SERVICE_TEST(a_key_that_no_table_takes_is_refused_before_it_is_sent)
{
    entity e;
    str    key = str_of(bad_keys[i]), ann = people_sign_in(t, ANN);
    EXPECT(RES_INVALID, tables_get(t, place_table(PLACE_GROUPS), STR("group"), key, &e));
    task_forget(t);
    e = entity_new(t->arena, key, STR("r"));
    EXPECT(RES_INVALID, tables_insert(t, place_table(PLACE_USER_PROFILES), &e));
    task_forget(t);
    sched_service_forget();
    json *body = json_object(t->arena);
    json_set_str(body, "groupId", key);
    json_set_str(body, "groupName", STR("n"));
    str text = json_print(t->arena, body);
    got g = people_post(t, ann, "/api/group/rename", "%.*s", STR_ARG(text));
    ck_status(g, 404);
    ck_assert_uint_eq(sched_service_count("GET Groups"), 0);
    str kept = place_key_text(t->arena, key, "x");
    ck_assert_msg(kept.len == key.len && str_find_char(kept, '_') < kept.len, "%.*s", STR_ARG(kept));
}

/* ---- what calls cost ---- */

/* As rows alone: making them by the API is not what is counted. */
static void put_memberships(task *t, const char *email, unsigned count)
{
    str key = people_user_key(email);
    OK(places_make(t));
    for (unsigned n = 0; n < count; n++) {
        group_row g;
        entity    e;
        str       id = str_of(textf("6a1f0c3e-0000-4000-8000-%012u", n)), now = call_now(t->arena);
        OK(group_insert(t, id, str_of(textf("Group %04u", n)), key, now, &g));
        e = entity_new(t->arena, key, id);
        entity_set_str(&e, "groupId", id);
        entity_set_str(&e, "status", STR("active"));
        entity_set_str(&e, "joinedAt", now);
        entity_set_str(&e, "updatedAt", now);
        OK(tables_insert(t, place_table(PLACE_USER_GROUPS), &e));
    }
}

/* SCHED-90. */
SERVICE_TEST(my_groups_cost_one_query_and_a_read_each)
{
    put_memberships(t, ANN, 50);
    str ann = people_sign_in(t, ANN);
    sched_service_forget();
    got g = people_get(t, ann, GROUPS);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 50);
    ck_assert_uint_eq(sched_service_count("QUERY UserGroups"), 1);
    ck_assert_uint_eq(sched_service_count("GET Groups"), 50);
    ck_assert_uint_eq(sched_service_count("BLOB GET"), 1); /* the session */
    ck_assert_uint_eq(sched_service_count(""), 52);
    sched_service_forget();
    g = people_get(t, ann, GROUPS);
    ck_assert_uint_eq(sched_service_count(""), 51); /* it was seen a moment ago */
}

static got rename_group(task *t, str session, str group)
{
    return people_post(t, session, "/api/group/rename", "{\"groupId\":\"%.*s\",\"groupName\":\"New\"}",
                       STR_ARG(group));
}

/* SCHED-90. */
SERVICE_TEST(a_gate_costs_two_reads_and_a_rename_one_write)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    got g = rename_group(t, ann, group);
    ck_status(g, 200);
    sched_service_forget();
    g = rename_group(t, ann, group);
    ck_status(g, 200);
    ck_assert_uint_eq(sched_service_count("GET Groups"), 1);
    ck_assert_uint_eq(sched_service_count("GET GroupMembers"), 1);
    ck_assert_uint_eq(sched_service_count("REPLACE Groups"), 1);
    ck_assert_uint_eq(sched_service_count(""), 3);
}

/* SCHED-98. */
SERVICE_TEST(somebody_in_many_groups_gets_them_all)
{
    put_memberships(t, ANN, MANY);
    str ann = people_sign_in(t, ANN);
    sched_service_forget();
    got g = people_get(t, ann, GROUPS);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), MANY);
    ck_str_eq(rig_text(&g, "groups/0/groupName"), STR("Group 0000"));
    ck_str_eq(rig_text(&g, "groups/249/groupName"), STR("Group 0249"));
    ck_assert_uint_eq(sched_service_count("QUERY UserGroups"), 2); /* pages of 200 */
    sched_service_page(50);
    sched_service_forget();
    g = people_get(t, ann, GROUPS);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), MANY);
    ck_assert_uint_eq(sched_service_count("QUERY UserGroups"), 5);
}

/* ---- storage that fails ---- */

static const struct {
    const char *line, *answer;
    unsigned    times;
    int         status;
} failures[] = {
    {"GET Groups", SCHED_SERVICE_BUSY, 1, 200}, /* asked again */
    {"GET GroupMembers", SCHED_SERVICE_BUSY, 2, 200},
    {"REPLACE Groups", SCHED_SERVICE_RACED, 1, 200}, /* read again, and written */
    {"GET Groups", SCHED_SERVICE_REFUSED, 1000, 500},
    {"GET GroupMembers", SCHED_SERVICE_REFUSED, 1000, 500},
    {"REPLACE Groups", SCHED_SERVICE_REFUSED, 1000, 500},
    {"REPLACE GroupMembers", SCHED_SERVICE_REFUSED, 1000, 200}, /* last seen is a nicety */
    {"REPLACE GroupMembers", SCHED_SERVICE_RACED, 1000, 200},
    {"REPLACE UserGroups", SCHED_SERVICE_REFUSED, 1000, 200},
    {"BLOB GET", SCHED_SERVICE_FAILS("403", "AuthorizationFailure"), 1000, 500},
};

SERVICE_TEST(a_rename_over_storage_that_fails_is_done_or_refused)
{
    str ann = people_named(t, ANN), group = people_group(t, ann, "Mine");
    auth_forget_for_test();
    sched_service_fail(failures[i].line, failures[i].answer, failures[i].times);
    got g = rename_group(t, ann, group);
    ck_status(g, failures[i].status);
    ck_assert(!str_has(g.body, STR("Sorry")));
    sched_service_fail("", NULL, 0);
    g = people_get(t, ann, GROUPS);
    ck_str_eq(rig_text(&g, "groups/0/groupName"), failures[i].status == 200 ? STR("New") : STR("Mine"));
}

/* What the copy has missed is written by the next try, and counted once. */
SERVICE_TEST(a_join_whose_copy_fails_is_mended_by_the_next_and_counted_once)
{
    str ann = people_named(t, ANN), bob = people_sign_in(t, BOB), group = people_group(t, ann, "Mine");
    people_invite(t, group, BOB);
    sched_service_fail("REPLACE UserGroups", SCHED_SERVICE_REFUSED, 1000);
    got g = people_post(t, bob, "/api/group/join", "{\"groupId\":\"%.*s\"}", STR_ARG(group));
    ck_status(g, 500);
    sched_service_fail("", NULL, 0);
    g = people_post(t, bob, "/api/group/join", "{\"groupId\":\"%.*s\"}", STR_ARG(group));
    ck_status(g, 200);
    g = people_get(t, bob, GROUPS);
    ck_str_eq(rig_text(&g, "groups/0/myStatus"), STR("active"));
    month_counts n;
    OK(month_read(t, str_slice(call_now(t->arena), 0, 7), &n));
    ck_assert_int_eq(n.of[COUNT_INVITES_ACCEPTED], 1);
}

SERVICE_TEST(a_count_that_cannot_be_written_fails_nobody)
{
    str ann = people_named(t, ANN);
    sched_service_fail("INSERT DailyMetrics", SCHED_SERVICE_REFUSED, 1000);
    (void)people_group(t, ann, "Mine");
    sched_service_fail("QUERY DailyMetrics", SCHED_SERVICE_NONSENSE, 1000);
    got g = people_get(t, ann, "/api/me/dashboard");
    ck_status(g, 200);
    ck_assert_int_eq(json_typeof(rig_at(&g, "monthSummary")), JSON_NULL);
    ck_assert_uint_eq(json_len(rig_at(&g, "groups")), 1);
}

/* SCHED-97. */
START_TEST(the_host_keeps_application_insights_on)
{
    char            text[8 * KIB];
    const json_val *doc;
    FILE           *f = fopen(textf("%s/host.json", getenv("TRESTLE_SOURCE_ROOT")), "re");
    ck_assert_ptr_nonnull(f);
    size_t len = fread(text, 1, sizeof text, f);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(json_parse(scratch(), (str){text, len}, &doc, NULL), RES_OK);
    const json_val *insights = json_get(json_get(doc, "logging"), "applicationInsights");
    ck_assert_int_eq(json_typeof(insights), JSON_OBJECT);
    const json_val *level = json_get(json_get(json_get(doc, "logging"), "logLevel"), "default");
    ck_assert(str_eq(json_text(level, (str){0}), STR("Information")));
    ck_assert(str_has(json_text(json_get(json_get(insights, "samplingSettings"), "excludedTypes"), (str){0}),
                      STR("Exception")));
}
END_TEST

Suite *suite_sched_start(void)
{
    Suite *s = suite_create("sched_start");
    TCase *c = live_case("start");
    tcase_add_test(c, the_first_request_makes_the_tables_and_no_other_does);
    tcase_add_test(c, twenty_first_requests_make_each_table_once);
    tcase_add_test(c, tables_that_cannot_be_made_are_tried_again_by_the_next_request);
    tcase_add_test(c, health_asks_no_storage);
    tcase_add_test(c, the_tables_are_made_when_the_process_starts);
    tcase_add_test(c, a_start_without_storage_is_a_line_in_the_log);
    tcase_add_test(c, nothing_is_made_where_nothing_is_set_up);
    tcase_add_loop_test(c, a_key_that_no_table_takes_is_refused_before_it_is_sent, 0,
                        (int)(sizeof bad_keys / sizeof *bad_keys));
    tcase_add_test(c, my_groups_cost_one_query_and_a_read_each);
    tcase_add_test(c, a_gate_costs_two_reads_and_a_rename_one_write);
    tcase_add_test(c, somebody_in_many_groups_gets_them_all);
    tcase_add_loop_test(c, a_rename_over_storage_that_fails_is_done_or_refused, 0,
                        (int)(sizeof failures / sizeof *failures));
    tcase_add_test(c, a_join_whose_copy_fails_is_mended_by_the_next_and_counted_once);
    tcase_add_test(c, a_count_that_cannot_be_written_fails_nobody);
    tcase_add_test(c, the_host_keeps_application_insights_on);
    suite_add_tcase(s, c);
    return s;
}
