/* test_actions_upsert_faults.c -- POST /api/ActionsUpsert over a store that loses races, replies and its
 * mind; and how many calls it costs.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/actions/settings.h"
#include "domain/actions_service.h"
#include "domain/actions_suites.h"

#define PATH "/api/ActionsUpsert"
#define BODY "{\"owner\":\"o\",\"name\":\"n\"}"
#define HASH "ab998e2d53417e85989c4c850c6901a581fcd34e28308fbd9c3b3d6e4041794e" /* of BODY, canonical */
#define SAME SERVICE_ROW(HASH, "2026-01-01T00:00:00.000Z", "W/\"5\"")
#define GARBAGE                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"PartitionKey" \
    "\":[[[\"PayloadHash\":"

static got post(task *t)
{
    return rig_post(t, PATH, STR(BODY));
}

/* ---- decisions ---- */

static const struct {
    const char    *what;
    service_plan   plan;
    int            status;
    bool           updated, created;
    service_counts counts;
} decisions[] = {
    /* ACT-61. */
    {"unchanged: one call", {.look = {SAME}}, 200, false, false, {.look = 1}},
    {"new: two calls",
     {.look = {SERVICE_MISSING}, .insert = {SERVICE_DONE}},
     201,
     true,
     true,
     {.look = 1, .insert = 1}},
    {"changed: two calls",
     {.look = {SERVICE_OTHER}, .replace = {SERVICE_DONE}},
     200,
     true,
     false,
     {.look = 1, .replace = 1}},
    /* ACT-8. */
    {"409, and it is the same by now",
     {.look = {SERVICE_MISSING, SAME}, .insert = {SERVICE_THERE}},
     200,
     false,
     false,
     {.look = 2, .insert = 1}},
    {"409, and it is another one",
     {.look = {SERVICE_MISSING, SERVICE_OTHER}, .insert = {SERVICE_THERE}, .replace = {SERVICE_DONE}},
     200,
     true,
     false,
     {.look = 2, .insert = 1, .replace = 1}},
    /* ACT-9. */
    {"412, and it is the same by now",
     {.look = {SERVICE_OTHER, SAME}, .replace = {SERVICE_RACED}},
     200,
     false,
     false,
     {.look = 2, .replace = 1}},
    {"412, and another one still",
     {.look = {SERVICE_OTHER}, .replace = {SERVICE_RACED, SERVICE_DONE}},
     200,
     true,
     false,
     {.look = 2, .replace = 2}},
    {"404 to a replacement: removed meanwhile",
     {.look = {SERVICE_OTHER, SERVICE_MISSING}, .replace = {SERVICE_MISSING}, .insert = {SERVICE_DONE}},
     201,
     true,
     true,
     {.look = 2, .replace = 1, .insert = 1}},
    /* A reply that was lost: storage sends again, and gets the echo. */
    {"lost insert that was carried out",
     {.look = {SERVICE_MISSING, SERVICE_OURS}, .insert = {SERVICE_LOST, SERVICE_THERE}},
     201,
     true,
     true,
     {.look = 2, .insert = 2}},
    {"lost insert, and the same text by another",
     {.look = {SERVICE_MISSING, SAME}, .insert = {SERVICE_LOST, SERVICE_THERE}},
     200,
     false,
     false,
     {.look = 2, .insert = 2}},
    {"lost insert, and another text by another",
     {.look = {SERVICE_MISSING, SERVICE_OTHER},
      .insert = {SERVICE_LOST, SERVICE_THERE},
      .replace = {SERVICE_DONE}},
     200,
     true,
     false,
     {.look = 2, .insert = 2, .replace = 1}},
    {"lost replacement that was carried out",
     {.look = {SERVICE_OTHER, SERVICE_OURS}, .replace = {SERVICE_LOST, SERVICE_RACED}},
     200,
     true,
     false,
     {.look = 2, .replace = 2}},
    {"a service that says 500, and has done it",
     {.look = {SERVICE_MISSING, SERVICE_OURS},
      .insert = {SERVICE_FAILS("500", "OperationTimedOut", "Late.")}},
     201,
     true,
     true,
     {.look = 2, .insert = 4}},
    {"a service that is busy once",
     {.look = {SERVICE_BUSY, SERVICE_MISSING}, .insert = {SERVICE_BUSY, SERVICE_DONE}},
     201,
     true,
     true,
     {.look = 2, .insert = 2}},
};

static void decide(task *t, int i)
{
    got            g = post(t);
    service_counts n = service_count(), want = decisions[i].counts;
    ck_assert_msg(g.status == decisions[i].status, "%s: %d %.*s", decisions[i].what, g.status,
                  STR_ARG(g.body));
    ck_assert_msg(rig_bool(&g, "updated") == decisions[i].updated &&
                      rig_bool(&g, "created") == decisions[i].created,
                  "%s: %.*s", decisions[i].what, STR_ARG(g.body));
    ck_assert_msg(n.look == want.look && n.insert == want.insert && n.replace == want.replace,
                  "%s: %u looks, %u inserts, %u replacements", decisions[i].what, n.look, n.insert,
                  n.replace);
}

START_TEST(what_is_found_decides_what_is_written)
{
    service_run(&decisions[_i].plan, decide, _i);
}
END_TEST

static void unchanged(task *t, __attribute__((unused)) int i)
{
    got g = post(t);
    ck_str_eq(g.body, STR("{\"updated\":false,\"created\":false,\"owner\":\"o\",\"name\":\"n\","
                          "\"lastSyncedUtc\":\"2026-01-01T00:00:00.000Z\"}"));
}

/* ACT-61: the stored time, not that of the check. */
START_TEST(an_unchanged_record_answers_with_the_stored_time)
{
    service_run(&decisions[0].plan, unchanged, 0);
}
END_TEST

/* ---- failures ---- */

static const struct {
    const char  *what;
    service_plan plan;
    int          peer;
    const char  *code, *retry_after;
} failures[] = {
    /* ACT-3, ACT-4. */
    {"the insert is refused as busy",
     {.look = {SERVICE_MISSING}, .insert = {SERVICE_BUSY}},
     503,
     "ServiceUnavailable",
     "5"},
    {"the lookup is refused as busy", {.look = {SERVICE_BUSY}}, 503, "ServiceUnavailable", "5"},
    {"throttled",
     {.look = {SERVICE_FAILS("429", "TooManyRequests", "Slow down.")}},
     429,
     "TooManyRequests",
     "5"},
    {"a broken service", {.look = {SERVICE_FAILS("500", "InternalError", "Oh.")}}, 500, "InternalError", "5"},
    {"it breaks when it writes, and nothing was done",
     {.look = {SERVICE_MISSING}, .insert = {SERVICE_FAILS("500", "InternalError", "Oh.")}},
     500,
     "InternalError",
     "5"},
    {"it breaks when it replaces, and nothing was done",
     {.look = {SERVICE_OTHER}, .replace = {SERVICE_FAILS("500", "InternalError", "Oh.")}},
     500,
     "InternalError",
     "5"},
    {"a refused key",
     {.look = {SERVICE_FAILS("403", "AuthenticationFailed", "sig=secret")}},
     403,
     "AuthenticationFailed",
     NULL},
    {"garbage", {.look = {GARBAGE}}, 0, NULL, "5"},
    {"no HTTP", {.look = {"220 ready\r\n\r\n"}}, 0, NULL, "5"},
    {"nobody there", {.look = {SERVICE_LOST}}, 0, NULL, "5"},
};

static void fails(task *t, int i)
{
    rig_log_capture();
    got g = post(t);
    str log = rig_log(), retry = rig_header(&g, "retry-after");
    ck_assert_msg(g.status == 500, "%s: %d %.*s", failures[i].what, g.status, STR_ARG(g.body));
    ck_str_eq(rig_text(&g, "errorCode"), STR("PERSISTENCE_FAILED"));
    ck_str_eq(rig_text(&g, "message"), STR("Failed to persist action record."));
    ck_assert_msg(str_eq(retry, str_of(failures[i].retry_after)), "%s: %.*s", failures[i].what,
                  STR_ARG(retry));
    ck_assert_uint_gt(rig_text(&g, "details/message").len, 0);
    ck_str_eq(rig_text(&g, "details/name"), STR("StorageError"));
    ck_assert_msg((rig_at(&g, "details/statusCode") != NULL) == (failures[i].peer != 0), "%s: %.*s",
                  failures[i].what, STR_ARG(g.body));
    if (failures[i].peer != 0) {
        ck_assert_int_eq(rig_int(&g, "details/statusCode"), failures[i].peer);
        ck_str_eq(rig_text(&g, "details/code"), str_of(failures[i].code));
        ck_str_eq(rig_text(&g, "details/errorDetails/code"), str_of(failures[i].code));
    }
    ck_assert(str_has(log, STR("\"level\":\"error\"")));
    ck_assert(str_has(log, rig_text(&g, "correlationId")));
    ck_assert(!str_has(g.body, STR("secret")) && !str_has(log, STR("secret")));
    ck_assert(rig_header(&g, "cache-control").at == NULL);
}

START_TEST(a_failure_of_storage_is_500_with_its_own_words)
{
    service_run(&failures[_i].plan, fails, _i);
}
END_TEST

static void give_up(task *t, __attribute__((unused)) int i)
{
    rig_log_capture();
    got            g = post(t);
    service_counts n = service_count();
    ck_status(g, 500);
    ck_assert_uint_eq(n.replace, 4);
    ck_str_eq(rig_text(&g, "errorCode"), STR("PERSISTENCE_FAILED"));
    ck_str_eq(rig_text(&g, "details/code"), STR("MAX_RETRIES_EXCEEDED"));
    ck_str_eq(rig_header(&g, "retry-after"), STR("1"));
}

/* ACT-60. */
START_TEST(a_row_that_others_change_each_time_is_given_up_after_four_writes)
{
    static const service_plan plan = {.look = {SERVICE_OTHER}, .replace = {SERVICE_RACED}};
    service_run(&plan, give_up, 0);
}
END_TEST

/* ---- connections ---- */

enum { MANY = 1000 };

/* Rows as a service that keeps its connections would answer them. */
#define KEPT_ROW                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: W/\"5\"\r\nContent-Length: 57\r\n\r\n" \
    "{\"PartitionKey\":\"o\",\"RowKey\":\"n\",\"PayloadHash\":\"0000000\"}"

static void send_many(task *t, __attribute__((unused)) int i)
{
    rig_log_capture(); /* the rows have no payload, and that is told */
    for (int n = 0; n < MANY; n++) {
        got g = rig_direct(t, &(rig_request){.method = "POST", .target = PATH, .body = STR(BODY)});
        ck_status(g, 200);
    }
    service_counts n = service_count();
    ck_assert_uint_eq(n.look, MANY);
    ck_assert_uint_eq(n.replace, MANY);
    ck_assert_uint_le(n.connections, 2);
}

/* ACT-62. */
START_TEST(a_thousand_upserts_use_two_connections_at_most)
{
    static const service_plan plan = {.look = {KEPT_ROW}, .replace = {SERVICE_DONE}};
    service_run(&plan, send_many, 0);
}
END_TEST

/* ---- history ---- */

static void update_without_history(task *t, __attribute__((unused)) int i)
{
    ck_assert_int_eq(setenv("ACTIONS_HISTORY", "1", 1), 0);
    settings_forget_for_test();
    rig_log_capture();
    got            g = post(t);
    service_counts n = service_count();
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "updated"));
    ck_assert_uint_eq(n.replace, 1);
    ck_assert_uint_gt(n.blob, 0);
    ck_assert(str_has(rig_log(), STR("no history of 'o/n'")));
}

/* ACT-67, its last part. */
START_TEST(an_upsert_succeeds_although_history_cannot_be_kept)
{
    static const service_plan plan = {.look = {SERVICE_OTHER},
                                      .replace = {SERVICE_DONE},
                                      .blob = {SERVICE_FAILS("403", "AuthorizationFailure", "No.")}};
    service_run(&plan, update_without_history, 0);
}
END_TEST

/* ---- torture ---- */

static void start_again(__attribute__((unused)) task *t)
{
    service_again();
}

static void torture(task *t, int i)
{
    static const int tolerated[] = {500, 0};
    rig_log_capture();
    rig_torture(t, &(rig_request){.method = "POST", .target = PATH, .body = STR(BODY)}, decisions[i].status,
                tolerated, start_again);
}

/* Each way through, with every allocation failing and every wait cancelled. */
START_TEST(every_decision_survives_failing_memory_and_cancelled_waits)
{
    service_run(&decisions[_i].plan, torture, _i);
}
END_TEST

#define ROWS(list) (int)(sizeof(list) / sizeof *(list))

Suite *suite_upsert_faults(void)
{
    Suite *s = suite_create("upsert_faults");
    TCase *c = live_case("upsert_faults");
    tcase_add_loop_test(c, what_is_found_decides_what_is_written, 0, ROWS(decisions));
    tcase_add_test(c, an_unchanged_record_answers_with_the_stored_time);
    tcase_add_loop_test(c, a_failure_of_storage_is_500_with_its_own_words, 0, ROWS(failures));
    tcase_add_test(c, a_row_that_others_change_each_time_is_given_up_after_four_writes);
    tcase_add_test(c, a_thousand_upserts_use_two_connections_at_most);
    tcase_add_test(c, an_upsert_succeeds_although_history_cannot_be_kept);
    tcase_add_loop_test(c, every_decision_survives_failing_memory_and_cancelled_waits, 0, 3);
    suite_add_tcase(s, c);
    return s;
}
