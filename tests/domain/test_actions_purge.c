/* test_actions_purge.c -- the timer that removes stale records, and the payloads that it and updates keep.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "core/gzip.h"
#include "core/metrics.h"
#include "domain/actions.h"
#include "domain/actions/history.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/purge_service.h"
#include "runtime/dispatch.h"
#include "runtime/exchange.h"
#include "runtime/gate.h"
#include "runtime/wait.h"

#define OLD_STAMP "20200102T030405678Z-0123456789ab"
#define ARCHIVED  ",\"repoInfo\":{\"archived\":true}"
#define DISABLED  ",\"repoInfo\":{\"disabled\":true}"

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
    settings_forget_for_test();
}

static void put_row(task *t, const char *owner, const char *name, const char *members, const char *synced)
{
    entity e = entity_new(t->arena, record_key(t->arena, str_of(owner)), record_key(t->arena, str_of(name)));
    entity_set_str(&e, "PayloadJson",
                   arena_strf(t->arena, "{\"name\":\"%s\",\"owner\":\"%s\"%s}", name, owner, members));
    entity_set_str(&e, "PayloadHash", STR(ROWS_HASH));
    entity_set_str(&e, "LastSyncedUtc", str_of(synced));
    entity_set_str(&e, "Owner", str_of(owner));
    entity_set_str(&e, "Name", str_of(name));
    OK(tables_upsert_replace(t, settings_get()->records, &e));
}

/* Rows that nothing may happen to: their stamps are old, but they are in use. */
static void put_healthy(task *t, unsigned rows)
{
    char name[16];
    for (unsigned i = 0; i < rows; i++) {
        (void)snprintf(name, sizeof name, "h%04u", i);
        put_row(t, "healthy", name, i % 2 == 0 ? "" : ",\"repoInfo\":{\"archived\":false}", OLD);
    }
}

static bool is_there(task *t, const char *owner, const char *name)
{
    entity e;
    res    r = tables_get(t, settings_get()->records, str_of(owner), str_of(name), &e);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
    return r == RES_OK;
}

static bool is_kept(task *t, const char *name, blob_got *ret)
{
    res r = blobs_get(t, settings_get()->history, str_of(name), &(blob_get){0}, ret);
    ck_assert_msg(r == RES_OK || r == RES_NOT_FOUND || r == RES_UNPROVISIONED, "%s", res_name(r));
    task_forget(t);
    return r == RES_OK;
}

static size_t kept_count(task *t)
{
    blob_page page;
    OK(blobs_list(t, settings_get()->history, STR(""), '\0', 1000, STR(""), &page));
    return page.len;
}

static got run_purge(task *t)
{
    got g = rig_post(t, "/ActionsPurge", STR("{\"Data\":{\"timer\":{}},\"Metadata\":{}}"));
    ck_status(g, 200);
    return g;
}

static void switch_on(void)
{
    set("ACTIONS_STALE_DAYS", "30");
    set("ACTIONS_PURGE_DRYRUN", "0");
}

/* ---- what is purged ---- */

/* ACT-66. */
RIG_TEST(the_purge_is_off_by_default)
{
    put_healthy(t, 20);
    put_row(t, "o", "n", ARCHIVED, OLD);
    set("ACTIONS_PURGE_DRYRUN", "0"); /* even so */
    got g = run_purge(t);
    ck_assert(str_has(g.body, STR("purge is off")));
    ck_assert(is_there(t, "o", "n"));
    ck_assert_uint_eq(kept_count(t), 0);
}

/* ACT-66. */
RIG_TEST(a_dry_run_deletes_nothing_and_tells_what_it_would)
{
    rig_log_capture();
    set("ACTIONS_STALE_DAYS", "30");
    put_healthy(t, 37);
    for (int n = 0; n < 3; n++)
        put_row(t, "o", arena_strf(t->arena, "n%d", n).at, ARCHIVED, OLD);
    (void)run_purge(t);
    for (int n = 0; n < 3; n++)
        ck_assert(is_there(t, "o", arena_strf(t->arena, "n%d", n).at));
    ck_assert_uint_eq(kept_count(t), 0);
    str log = rig_log();
    ck_assert(str_has(log, STR("purge would remove 'o/n0', which has not changed since " OLD)));
    ck_assert(str_has(log, STR("purge would remove 'o/n1'")));
    ck_assert(!str_has(log, STR("purge would remove 'o/n2'")));
    ck_assert(!str_has(log, STR("'healthy/")));
}

/* ACT-66. */
RIG_TEST(of_forty_rows_the_two_first_that_are_archived_and_old_go_with_their_payload_kept)
{
    blob_got kept;
    str      payload;
    switch_on();
    put_healthy(t, 36);
    put_row(t, "Oo", "N0", ARCHIVED, OLD);
    put_row(t, "Oo", "N1", ARCHIVED, arena_cstr(t->arena, row_now(t->arena)));
    put_row(t, "Oo", "N2", DISABLED, OLD);
    put_row(t, "zz", "n3", ARCHIVED, OLD);
    got g = run_purge(t);
    ck_assert(str_has(g.body, STR("purge: 2 of 40 records removed, 0 left")));

    ck_assert(!is_there(t, "oo", "n0"));
    ck_assert(is_there(t, "oo", "n1")); /* archived just now */
    ck_assert(!is_there(t, "oo", "n2"));
    ck_assert(is_there(t, "zz", "n3")); /* too many for one run */
    ck_assert(is_there(t, "healthy", "h0000"));
    ck_assert_uint_eq(kept_count(t), 2);
    ck_assert(is_kept(t, "oo/n0/" OLD_STAMP ".json.gz", &kept));
    OK(gzip_unpack(t->arena, kept.body, MIB, &payload));
    ck_str_eq(payload, STR("{\"name\":\"N0\",\"owner\":\"Oo\"" ARCHIVED "}"));
    ck_str_eq(http_header_get(kept.info.metadata, kept.info.metadata_count, STR("reason")), STR("purge"));
    ck_str_eq(http_header_get(kept.info.metadata, kept.info.metadata_count, STR("hash")), STR(ROWS_HASH));
    ck_str_eq(http_header_get(kept.info.metadata, kept.info.metadata_count, STR("lastsynced")), STR(OLD));

    (void)run_purge(t); /* of 38, one */
    ck_assert(!is_there(t, "zz", "n3"));
    ck_assert_uint_eq(kept_count(t), 3);
    ck_assert_int_eq(metrics_value(metrics_counter("trestle_actions_purged_total", "", "")), 3);
}

/* ACT-66. */
RIG_TEST(of_nineteen_rows_none_goes)
{
    switch_on();
    put_healthy(t, 18);
    put_row(t, "o", "n", ARCHIVED, OLD);
    (void)run_purge(t);
    ck_assert(is_there(t, "o", "n"));
}

RIG_TEST(with_the_setting_for_any_record_age_is_enough_and_the_most_is_kept_to)
{
    switch_on();
    set("ACTIONS_PURGE_ANY", "1");
    set("ACTIONS_PURGE_MAX", "1");
    put_healthy(t, 60);
    got g = run_purge(t);
    ck_assert(str_has(g.body, STR("purge: 1 of 60 records removed")));
    ck_assert(!is_there(t, "healthy", "h0000"));
    ck_assert(is_there(t, "healthy", "h0001"));
}

RIG_TEST(rows_that_cannot_be_understood_stay_and_hold_up_nobody)
{
    switch_on();
    set("ACTIONS_PURGE_ANY", "1");
    for (int n = 0; n < 40; n++)
        put_row(t, "o", arena_strf(t->arena, "f%02d", n).at, "", "2999-01-01T00:00:00.000Z");
    put_row(t, "a", "broken", "", OLD);
    rows_put_raw(t, "a", "broken", "{");
    put_row(t, "a", "nostamp", ARCHIVED, "yesterday");
    put_row(t, "b", "good", ARCHIVED, OLD);
    (void)run_purge(t);
    ck_assert(is_there(t, "a", "broken"));
    ck_assert(is_there(t, "a", "nostamp"));
    ck_assert(!is_there(t, "b", "good"));
}

/* ACT-66. */
RIG_TEST(a_record_whose_history_cannot_be_written_stays)
{
    rig_log_capture();
    switch_on();
    set("ACTIONS_HISTORY_CONTAINER", "Not-A-Name");
    put_healthy(t, 39);
    put_row(t, "o", "n", ARCHIVED, OLD);
    (void)run_purge(t);
    ck_assert(is_there(t, "o", "n"));
    ck_assert(str_has(rig_log(), STR("purge leaves 'o/n' as it is")));
}

RIG_TEST(more_than_a_hundred_of_one_owner_go_in_one_run)
{
    if (live_is() == LIVE_AZURE)
        return; /* two thousand rows take Azurite long, and it does no more than the embedded store here */
    switch_on();
    set("ACTIONS_PURGE_ANY", "1");
    put_healthy(t, 2100);
    got g = run_purge(t);
    ck_assert(str_has(g.body, STR("purge: 105 of 2100 records removed, 0 left")));
    ck_assert(!is_there(t, "healthy", "h0104"));
    ck_assert(is_there(t, "healthy", "h0105"));
}

/* ---- history ---- */

/* ACT-67: the name is fixed, so that a second try makes no second blob. */
RIG_TEST(an_old_payload_is_kept_once_under_its_fixed_name)
{
    blob_got kept;
    str      payload;
    entity   e;
    set("ACTIONS_HISTORY", "1");
    put_row(t, "Acme", "Set up", "", OLD);
    OK(tables_get(t, settings_get()->records, STR("acme"), STR("set up"), &e));
    for (int n = 0; n < 2; n++)
        OK(history_keep(t, &e, HISTORY_UPDATE));
    ck_assert_uint_eq(kept_count(t), 1);
    ck_assert(is_kept(t, "acme/set up/" OLD_STAMP ".json.gz", &kept));
    OK(gzip_unpack(t->arena, kept.body, MIB, &payload));
    ck_str_eq(payload, entity_str(&e, "PayloadJson", STR("")));
    ck_str_eq(http_header_get(kept.info.metadata, kept.info.metadata_count, STR("reason")), STR("update"));
}

/* ACT-67. */
RIG_TEST(without_the_setting_an_update_leaves_no_history)
{
    entity e;
    put_row(t, "o", "n", "", OLD);
    OK(tables_get(t, settings_get()->records, STR("o"), STR("n"), &e));
    OK(history_keep(t, &e, HISTORY_UPDATE));
    ck_assert_uint_eq(kept_count(t), 0);
    OK(history_keep(t, &e, HISTORY_PURGE));
    ck_assert_uint_eq(kept_count(t), 1);
}

RIG_TEST(a_row_with_an_odd_stamp_and_no_hash_gets_a_name_all_the_same)
{
    blob_got kept;
    entity   e = entity_new(t->arena, STR("o"), STR("n"));
    entity_set_str(&e, "PayloadJson", STR("{\"name\":\"n\",\"owner\":\"o\"}"));
    entity_set_str(&e, "LastSyncedUtc", STR("2026-01-02T03:04:05.6789123+01:00"));
    OK(history_keep(t, &e, HISTORY_PURGE));
    ck_assert(is_kept(t, "o/n/20260102T020405678Z-ab998e2d5341.json.gz", &kept));
    entity_set_str(&e, "LastSyncedUtc", STR("\xC3\xA9"));
    OK(history_keep(t, &e, HISTORY_PURGE));
    ck_assert(is_kept(t, "o/n/19700101T000000000Z-ab998e2d5341.json.gz", &kept));
    entity_drop(&e, "PayloadJson");
    EXPECT(RES_UPSTREAM, history_keep(t, &e, HISTORY_PURGE));
}

RIG_TEST(young_history_does_not_expire)
{
    entity e = entity_new(t->arena, STR("o"), STR("n"));
    size_t removed = 1;
    set("ACTIONS_HISTORY_DAYS", "1");
    entity_set_str(&e, "PayloadJson", STR("{}"));
    OK(history_keep(t, &e, HISTORY_PURGE));
    OK(history_expire(t, &removed));
    ck_assert_uint_eq(removed, 0);
    ck_assert_uint_eq(kept_count(t), 1);
}

/* ---- a scripted service ---- */

static service script;
static str     scripted_answer, scripted_log;

static void run_scripted(task *t, int i)
{
    (void)i;
    switch_on();
    rig_log_capture();
    scripted_answer = arena_copy(scratch(), run_purge(t).body);
    scripted_log = rig_log();
}

static void play(mood how)
{
    script = (service){.how = how};
    fill_page(&script);
    fill_blobs(&script);
    wire *w = wire_start_fn(answer, &script, NULL);
    rig_run(rig_wire_store(w), run_scripted, 0);
    wire_stop(w);
}

START_TEST(two_deletions_are_one_transaction_and_old_history_expires)
{
    play(AS_IT_SHOULD);
    ck_assert(str_has(scripted_answer, STR("purge: 2 of 40 records removed, 0 left")));
    ck_assert_msg(str_has(scripted_answer, STR("history: 2 blobs older than 365 days removed")), "%.*s",
                  STR_ARG(scripted_answer));
    ck_assert_uint_eq(script.batches, 1);
    ck_assert_uint_eq(script.puts, 2);
    ck_assert_uint_eq(script.deletes, 2); /* of blobs */
}
END_TEST

/* ACT-66. */
START_TEST(a_record_that_has_changed_meanwhile_stays_and_its_neighbour_goes)
{
    play(CHANGED);
    ck_assert(str_has(scripted_answer, STR("purge: 1 of 40 records removed, 1 left")));
    ck_assert(str_has(scripted_log, STR("purge leaves 'o/n0' as it is")));
    ck_assert(str_has(scripted_log, STR("purge removed 'o/n1'")));
    ck_assert_uint_eq(script.batches, 2);
}
END_TEST

/* ACT-66. */
START_TEST(without_a_blob_service_nothing_is_deleted)
{
    play(NO_BLOBS);
    ck_assert(str_has(scripted_answer, STR("purge: 0 of 40 records removed, 2 left")));
    ck_assert_uint_eq(script.batches, 0);
}
END_TEST

START_TEST(a_failure_of_the_table_is_logged_and_is_none_of_the_invocation)
{
    play(NO_DELETES);
    ck_assert(str_has(scripted_answer, STR("purge: 0 of 40 records removed")));
    ck_assert(str_has(scripted_log, STR("purge failed with")));
    ck_assert(str_has(scripted_log, STR("purge of partition 'o'")));
}
END_TEST

/* ---- torture ---- */

typedef struct {
    long nth;
    bool waits, ended, untouched;
    res  result;
    gate on_end;
} attempt;

static res purge_tortured(task *t, void *ctx)
{
    attempt *x = ctx;
    function fn = {.name = STR("ActionsPurge")};
    request  in = {.arena = t->arena, .fn = &fn};
    reply    out;
    reply_init(&out, t->arena, &fn, NULL);
    if (x->waits)
        wait_cancel_at(x->nth, RES_GONE);
    else
        arena_fail_at(x->nth);
    res r = actions_purge(t, &in, &out);
    x->untouched = x->waits ? wait_cancel_pending() : arena_fail_pending();
    return r;
}

static void note_end(task *t, void *ctx, res result, str message)
{
    attempt *x = ctx;
    (void)t, (void)message;
    arena_fail_at(0);
    wait_cancel_at(0, RES_OK);
    x->result = result;
    x->ended = true;
    gate_open(&x->on_end);
}

/* Whatever fails: as long as the payload is not kept the row is there. */
RIG_TEST(no_failing_allocation_and_no_cancelled_wait_loses_a_payload)
{
    blob_got kept;
    switch_on();
    put_healthy(t, 19);
    for (int waits = 0; waits < 2; waits++) {
        attempt x = {.waits = waits == 1};
        while (!x.untouched) {
            ck_assert_int_lt(x.nth, 5000);
            x = (attempt){.waits = x.waits, .nth = x.nth + 1};
            put_row(t, "o", "n", ARCHIVED, OLD);
            if (is_kept(t, "o/n/" OLD_STAMP ".json.gz", &kept))
                OK(blobs_remove(t, settings_get()->history, STR("o/n/" OLD_STAMP ".json.gz"), STR("")));
            task_spec spec = {.name = "purge", .memory_bytes = 64 * MIB, .deadline_ms = LIVE_DEADLINE_MS};
            OK(task_start(&spec, purge_tortured, note_end, &x, NULL));
            while (!x.ended)
                OK(gate_wait(t, &x.on_end));
            ck_assert(x.result == RES_OK || x.result == RES_MEMORY || x.result == RES_GONE);
            ck_assert(is_there(t, "o", "n") || is_kept(t, "o/n/" OLD_STAMP ".json.gz", &kept));
        }
        ck_assert_int_eq(x.result, RES_OK);
        ck_assert(!is_there(t, "o", "n"));
    }
}

Suite *suite_actions_purge(void)
{
    Suite *s = suite_create("actions_purge");
    TCase *c = live_case("purge");
    tcase_add_test(c, the_purge_is_off_by_default);
    tcase_add_test(c, a_dry_run_deletes_nothing_and_tells_what_it_would);
    tcase_add_test(c, of_forty_rows_the_two_first_that_are_archived_and_old_go_with_their_payload_kept);
    tcase_add_test(c, of_nineteen_rows_none_goes);
    tcase_add_test(c, with_the_setting_for_any_record_age_is_enough_and_the_most_is_kept_to);
    tcase_add_test(c, rows_that_cannot_be_understood_stay_and_hold_up_nobody);
    tcase_add_test(c, a_record_whose_history_cannot_be_written_stays);
    tcase_add_test(c, more_than_a_hundred_of_one_owner_go_in_one_run);
    tcase_add_test(c, an_old_payload_is_kept_once_under_its_fixed_name);
    tcase_add_test(c, without_the_setting_an_update_leaves_no_history);
    tcase_add_test(c, a_row_with_an_odd_stamp_and_no_hash_gets_a_name_all_the_same);
    tcase_add_test(c, young_history_does_not_expire);
    tcase_add_test(c, two_deletions_are_one_transaction_and_old_history_expires);
    tcase_add_test(c, a_record_that_has_changed_meanwhile_stays_and_its_neighbour_goes);
    tcase_add_test(c, without_a_blob_service_nothing_is_deleted);
    tcase_add_test(c, a_failure_of_the_table_is_logged_and_is_none_of_the_invocation);
    tcase_add_test(c, no_failing_allocation_and_no_cancelled_wait_loses_a_payload);
    suite_add_tcase(s, c);
    return s;
}
