/* test_actions_batch_faults.c -- POST /api/ActionsUpsert/batch over a store that loses races, replies and its
 * mind; and how many calls it costs.
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"
#include "domain/actions_service.h"
#include "domain/actions_suites.h"

#define PATH "/api/ActionsUpsert/batch"

#define PART_RACED(index)   SERVICE_PART_FAILS("412", "UpdateConditionNotSatisfied", index ":Another one.")
#define PART_REFUSED(index) SERVICE_PART_FAILS("400", "PropertyValueTooLarge", index ":Too much.")
#define PART_BUSY(index)    SERVICE_PART_FAILS("503", "ServerBusy", index ":Busy.")
#define PART_LATE(index)    SERVICE_PART_FAILS("500", "OperationTimedOut", index ":Late.")

static str records(task *t, size_t count, const char *owner)
{
    buf text;
    buf_init(&text, t->arena, MIB);
    for (size_t i = 0; i < count; i++)
        buf_addf(&text, "%s{\"owner\":\"%s\",\"name\":\"n%02zu\"}", i > 0 ? "," : "[", owner, i);
    buf_add_char(&text, ']');
    return buf_str(&text);
}

typedef struct {
    const char    *what;
    service_plan   plan;
    size_t         records;
    bool           strict;
    int            status;
    service_counts counts;
    int64_t        created, updated, unchanged, conflict, failed, aborted;
    bool           retryable; /* of what failed */
} outcome;

/* ACT-56: what becomes of a transaction, case by case. */
static const outcome outcomes[] = {
    /* ACT-63. */
    {"100 new records of one owner are one transaction",
     {.look = {SERVICE_MISSING}, .commit = {SERVICE_DONE}},
     100,
     false,
     200,
     {.look = 100, .commit = 1},
     .created = 100},
    {"one alone needs none",
     {.look = {SERVICE_MISSING}, .insert = {SERVICE_DONE}},
     1,
     false,
     200,
     {.look = 1, .insert = 1},
     .created = 1},
    {"one 412 in a group of 20",
     {.look = {SERVICE_OTHER}, .commit = {PART_RACED("3"), SERVICE_DONE}},
     20,
     false,
     200,
     {.look = 21, .commit = 2},
     .updated = 20},
    {"one 412, and it is the same by now",
     {.look = {SERVICE_OTHER, SERVICE_OTHER, SERVICE_OTHER, SERVICE_OURS},
      .commit = {PART_RACED("1"), SERVICE_DONE}},
     3,
     false,
     200,
     {.look = 4, .commit = 2},
     .updated = 2,
     .unchanged = 1},
    {"one 409: somebody else made it",
     {.look = {SERVICE_MISSING, SERVICE_MISSING, SERVICE_OTHER},
      .commit = {SERVICE_PART_FAILS("409", "EntityAlreadyExists", "0:There."), SERVICE_DONE}},
     2,
     false,
     200,
     {.look = 3, .commit = 2},
     .created = 1,
     .updated = 1},
    {"one 404: somebody else removed it",
     {.look = {SERVICE_OTHER, SERVICE_OTHER, SERVICE_MISSING},
      .commit = {SERVICE_PART_FAILS("404", "ResourceNotFound", "1:Gone."), SERVICE_DONE}},
     2,
     false,
     200,
     {.look = 3, .commit = 2},
     .created = 1,
     .updated = 1},
    {"412 each time: three more transactions, then one by one",
     {.look = {SERVICE_OTHER}, .commit = {PART_RACED("3")}, .replace = {SERVICE_DONE}},
     5,
     false,
     200,
     {.look = 5 + 3 + 5, .commit = 4, .replace = 5},
     .updated = 5},
    {"412 for ever: the contended one alone is a conflict",
     {.look = {SERVICE_OTHER},
      .commit = {PART_RACED("0")},
      .replace = {SERVICE_RACED, SERVICE_RACED, SERVICE_RACED, SERVICE_RACED, SERVICE_DONE}},
     3,
     false,
     207,
     {.look = 3 + 3 + 3 + 4, .commit = 4, .replace = 6},
     .updated = 2,
     .conflict = 1,
     .retryable = true},
    {"a failure that names no write is taken for the first one's",
     {.look = {SERVICE_OTHER},
      .commit = {SERVICE_PART_FAILS("412", "UpdateConditionNotSatisfied", "Well.")},
      .replace = {SERVICE_DONE}},
     4,
     false,
     200,
     {.look = 4 + 3 + 4, .commit = 4, .replace = 4},
     .updated = 4},
    {"a failure that names a write beyond the last: one by one",
     {.look = {SERVICE_OTHER}, .commit = {PART_RACED("7")}, .replace = {SERVICE_DONE}},
     4,
     false,
     200,
     {.look = 8, .commit = 1, .replace = 4},
     .updated = 4},
    {"one is refused, the others are sent again",
     {.look = {SERVICE_MISSING}, .commit = {PART_REFUSED("1"), SERVICE_DONE}},
     3,
     false,
     207,
     {.look = 3, .commit = 2},
     .created = 2,
     .failed = 1},
    {"too large for one request: halves",
     {.look = {SERVICE_MISSING},
      .commit = {SERVICE_FAILS("413", "RequestBodyTooLarge", "Big."), SERVICE_DONE}},
     8,
     false,
     200,
     {.look = 8, .commit = 3},
     .created = 8},
    {"lost, and carried out",
     {.look = {SERVICE_MISSING, SERVICE_MISSING, SERVICE_MISSING, SERVICE_OURS},
      .commit = {SERVICE_LOST, SERVICE_PART_FAILS("409", "EntityAlreadyExists", "0:There.")}},
     3,
     false,
     200,
     {.look = 6, .commit = 2},
     .created = 3},
    {"timed out, and carried out",
     {.look = {SERVICE_OTHER, SERVICE_OTHER, SERVICE_OURS}, .commit = {PART_LATE("0")}},
     2,
     false,
     200,
     {.look = 4, .commit = 1},
     .updated = 2},
    {"timed out, and not carried out",
     {.look = {SERVICE_OTHER}, .commit = {PART_LATE("0"), SERVICE_DONE}},
     2,
     false,
     200,
     {.look = 4, .commit = 2},
     .updated = 2},
    {"busy inside of a transaction, once",
     {.look = {SERVICE_OTHER}, .commit = {PART_BUSY("0"), SERVICE_DONE}},
     2,
     false,
     200,
     {.look = 2, .commit = 2},
     .updated = 2},
    {"busy inside of a transaction, for ever",
     {.look = {SERVICE_OTHER}, .commit = {PART_BUSY("0")}},
     2,
     false,
     500,
     {.look = 2, .commit = 4},
     .failed = 2,
     .retryable = true},
    {"busy for ever",
     {.look = {SERVICE_MISSING}, .commit = {SERVICE_BUSY}},
     4,
     false,
     500,
     {.look = 4, .commit = 4},
     .failed = 4,
     .retryable = true},
    {"garbage instead of a batch",
     {.look = {SERVICE_MISSING}, .commit = {"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\nwell"}},
     2,
     false,
     500,
     {.look = 4, .commit = 1},
     .failed = 2,
     .retryable = true},
    {"a refused key",
     {.look = {SERVICE_MISSING}, .commit = {SERVICE_FAILS("403", "AuthenticationFailed", "No.")}},
     2,
     false,
     500,
     {.look = 2, .commit = 1},
     .failed = 2},
    {"nobody can be asked what is there",
     {.look = {SERVICE_FAILS("403", "AuthenticationFailed", "No.")}},
     3,
     false,
     500,
     {.look = 3},
     .failed = 3},
    {"strict: one is contended, none is written",
     {.look = {SERVICE_OTHER}, .commit = {PART_RACED("1")}},
     3,
     true,
     500,
     {.look = 6, .commit = 4},
     .conflict = 1,
     .aborted = 2,
     .retryable = true},
    {"strict: one is refused, none is written",
     {.look = {SERVICE_MISSING}, .commit = {PART_REFUSED("2")}},
     3,
     true,
     500,
     {.look = 3, .commit = 1},
     .failed = 1,
     .aborted = 2},
    {"strict: too large for one request, none is written",
     {.look = {SERVICE_MISSING}, .commit = {SERVICE_FAILS("413", "RequestBodyTooLarge", "Big.")}},
     3,
     true,
     500,
     {.look = 3, .commit = 1},
     .failed = 3},
    {"strict: one 412, then all are written",
     {.look = {SERVICE_OTHER}, .commit = {PART_RACED("1"), SERVICE_DONE}},
     3,
     true,
     200,
     {.look = 4, .commit = 2},
     .updated = 3},
};

static void check_result(const got *g, size_t k, const outcome *o)
{
    str status = rig_text(g, textf("results/%zu/status", k));
    if (!str_eq(status, STR("failed")) && !str_eq(status, STR("conflict")))
        return;
    ck_assert(!rig_bool(g, textf("results/%zu/success", k)));
    ck_assert_msg(rig_bool(g, textf("results/%zu/error/retryable", k)) == o->retryable, "%s: %.*s", o->what,
                  STR_ARG(g->body));
    ck_assert_uint_gt(rig_text(g, textf("results/%zu/error/details/message", k)).len, 0);
}

static void turn_out(task *t, int i)
{
    const outcome *o = &outcomes[i];
    rig_log_capture();
    got            g = rig_post(t, o->strict ? PATH "?strict=true" : PATH, records(t, o->records, "o"));
    service_counts n = service_count();
    ck_assert_msg(g.status == o->status, "%s: %d %.*s", o->what, g.status, STR_ARG(g.body));
    ck_assert_msg(rig_int(&g, "created") == o->created && rig_int(&g, "updated") == o->updated &&
                      rig_int(&g, "unchanged") == o->unchanged && rig_int(&g, "conflict") == o->conflict &&
                      rig_int(&g, "failed") == o->failed && rig_int(&g, "aborted") == o->aborted,
                  "%s: %.*s", o->what, STR_ARG(g.body));
    ck_assert_msg(n.look == o->counts.look && n.insert == o->counts.insert &&
                      n.replace == o->counts.replace && n.commit == o->counts.commit,
                  "%s: %u looks, %u inserts, %u replacements, %u transactions", o->what, n.look, n.insert,
                  n.replace, n.commit);
    for (size_t k = 0; k < o->records; k++)
        check_result(&g, k, o);
}

START_TEST(a_transaction_turns_out_as_the_specification_says)
{
    service_run(&outcomes[_i].plan, turn_out, _i);
}
END_TEST

/* ---- one partition fails, another does not ---- */

static void two_partitions(task *t, __attribute__((unused)) int i)
{
    rig_log_capture();
    got g = rig_post(t, PATH,
                     STR("[{\"owner\":\"sick\",\"name\":\"1\"},{\"owner\":\"well\",\"name\":\"1\"},"
                         "{\"owner\":\"sick\",\"name\":\"2\"},{\"owner\":\"well\",\"name\":\"2\"},"
                         "{\"owner\":\"sick\",\"name\":\"1\"}]"));
    ck_status(g, 207);
    ck_assert_int_eq(rig_int(&g, "failed"), 2);
    ck_assert_int_eq(rig_int(&g, "created"), 2);
    ck_assert_int_eq(rig_int(&g, "superseded"), 1);
    ck_assert(!rig_bool(&g, "results/0/success")); /* as its winner */
    ck_assert(rig_bool(&g, "results/2/error/retryable"));
    ck_str_eq(rig_text(&g, "results/2/error/errorCode"), STR("PERSISTENCE_FAILED"));
    ck_assert_int_eq(rig_int(&g, "results/2/error/details/statusCode"), 503);
    ck_str_eq(rig_text(&g, "results/2/error/details/code"), STR("ServiceUnavailable"));
    ck_str_eq(rig_text(&g, "results/3/status"), STR("created"));
    ck_assert(str_has(rig_log(), rig_text(&g, "correlationId")));
}

START_TEST(a_partition_that_is_throttled_to_the_end_does_not_spoil_another)
{
    static const service_plan plan = {.look = {SERVICE_MISSING}, .commit = {SERVICE_BUSY}, .spared = "sick"};
    service_run(&plan, two_partitions, 0);
}
END_TEST

/* ---- torture ---- */

static void start_again(__attribute__((unused)) task *t)
{
    service_again();
}

static void torture(task *t, __attribute__((unused)) int i)
{
    static const int tolerated[] = {207, 500, 0};
    rig_log_capture();
    rig_torture(
        t,
        &(rig_request){.method = "POST",
                       .target = PATH,
                       .body = STR("[{\"owner\":\"o\",\"name\":\"1\"},{\"owner\":\"o\",\"name\":\"2\"}]")},
        200, tolerated, start_again);
}

static const service_plan tortures[] = {
    {.look = {SERVICE_MISSING}, .commit = {PART_RACED("7")}, .insert = {SERVICE_DONE}},
    {.look = {SERVICE_OTHER, SERVICE_OTHER, SERVICE_OURS}, .commit = {PART_LATE("0")}},
};

START_TEST(ways_through_a_failed_transaction_survive_failing_memory_and_cancelled_waits)
{
    service_run(&tortures[_i], torture, _i);
}
END_TEST

#define ROWS(list) (int)(sizeof(list) / sizeof *(list))

Suite *suite_batch_faults(void)
{
    Suite *s = suite_create("batch_faults");
    TCase *c = live_case("batch_faults");
    tcase_add_loop_test(c, a_transaction_turns_out_as_the_specification_says, 0, ROWS(outcomes));
    tcase_add_test(c, a_partition_that_is_throttled_to_the_end_does_not_spoil_another);
    tcase_add_loop_test(c, ways_through_a_failed_transaction_survive_failing_memory_and_cancelled_waits, 0,
                        ROWS(tortures));
    suite_add_tcase(s, c);
    return s;
}
