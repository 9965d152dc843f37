/* test_sched_purge.c -- what goes for good, what does not, and that nothing goes unless it is told to.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "core/metrics.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/settings.h"
#include "domain/scheduler/state.h"

#define ANN   "ann@example.org"
#define BOB   "bob@example.org"
#define TIMER "{\"Data\":{\"timer\":{}},\"Metadata\":{}}"
#define PAST  "2026-01-01T00:00:00.000Z"
#define NEVER "2099-01-01T00:00:00.000Z"

static void run_purge(task *t, bool dry)
{
    ck_assert_int_eq(setenv("SCHED_PURGE_DRYRUN", dry ? "1" : "0", 1), 0);
    sched_settings_forget_for_test();
    got g = rig_post(t, "/schedPurge", STR(TIMER));
    ck_assert_msg(g.status == 200, "status %d: %.*s", g.status, STR_ARG(g.body));
}

static bool is_there(task *t, place where, str partition, str row)
{
    entity e;
    res    r = tables_get(t, place_table(where), partition, row, &e);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
    return r == RES_OK;
}

static bool has_group(task *t, str id)
{
    return is_there(t, PLACE_GROUPS, STR("group"), id);
}

static bool has_blob(task *t, str name)
{
    blob_info info;
    res       r = blobs_head(t, sched_settings_get()->state, name, &info);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    task_forget(t);
    return r == RES_OK;
}

static void mark(task *t, place where, str partition, str row, const char *purge_after)
{
    entity e = people_row(t, where, partition, row);
    entity_set_bool(&e, "isDeleted", true);
    entity_set_str(&e, "deletedAt", STR("2025-12-02T00:00:00.000Z"));
    entity_set_str(&e, "deletedByUserKey", people_user_key(ANN));
    entity_set_str(&e, "purgeAfterAt", str_of(purge_after));
    OK(tables_replace(t, place_table(where), &e, ETAG_ANY));
}

static str index_row(arena *a, const char *id)
{
    return arena_strf(a, "20260102030405Z|%s", id);
}

static str participants_of(arena *a, str group, const char *id)
{
    return arena_strf(a, "g:%.*s|a:%s", STR_ARG(group), id);
}

/* Index row, document, an event, one participant. */
static void put_appointment(task *t, str group, const char *id)
{
    entity e = entity_new(t->arena, group, index_row(t->arena, id));
    entity_set_str(&e, "appointmentId", str_of(id));
    entity_set_bool(&e, "isDeleted", false);
    OK(tables_insert(t, place_table(PLACE_APPOINTMENTS_INDEX), &e));
    e = entity_new(t->arena, participants_of(t->arena, group, id), STR("m:auth:x"));
    entity_set_str(&e, "status", STR("assigned"));
    OK(tables_insert(t, place_table(PLACE_APPOINTMENT_PARTICIPANTS), &e));
    container in = sched_settings_get()->state;
    OK(blobs_put(t, in, place_appointment_blob(t->arena, group, str_of(id)), STR("{}"), &(blob_put){0},
                 NULL));
    OK(blobs_put(t, in, place_event_chunk(t->arena, group, str_of(id), 1), STR("[]"), &(blob_put){0}, NULL));
}

static bool has_appointment(task *t, str group, const char *id)
{
    bool row = is_there(t, PLACE_APPOINTMENTS_INDEX, group, index_row(t->arena, id));
    bool person =
        is_there(t, PLACE_APPOINTMENT_PARTICIPANTS, participants_of(t->arena, group, id), STR("m:auth:x"));
    bool document = has_blob(t, place_appointment_blob(t->arena, group, str_of(id)));
    bool events = has_blob(t, place_event_chunk(t->arena, group, str_of(id), 1));
    ck_assert_msg(row == person && row == document && row == events, "%s is there in part", id);
    return row;
}

static str make_group(task *t, str ann, const char *name)
{
    str group = people_group(t, ann, name);
    people_add(t, group, BOB);
    put_appointment(t, group, "a1");
    return group;
}

RIG_TEST(a_dry_run_says_what_is_due_and_removes_nothing)
{
    str group = make_group(t, people_named(t, ANN), "Old");
    mark(t, PLACE_GROUPS, STR("group"), group, PAST);
    rig_log_capture();
    ck_assert_int_eq(unsetenv("SCHED_PURGE_DRYRUN"), 0); /* which is the default */
    sched_settings_forget_for_test();
    got g = rig_post(t, "/schedPurge", STR(TIMER));
    ck_status(g, 200);
    ck_assert(str_has(rig_log(), str_of(textf("purge would remove group group %.*s", STR_ARG(group)))));
    ck_assert(str_has(g.body, STR("1 of kind group are due")));
    ck_assert(has_group(t, group) && has_appointment(t, group, "a1"));
}

RIG_TEST(a_group_goes_with_all_that_it_has_and_no_other_does)
{
    str ann = people_named(t, ANN), old = make_group(t, ann, "Old"), young = make_group(t, ann, "Young"),
        live = make_group(t, ann, "Live"), photo = place_ignite_photo(t->arena, old, STR("i"), STR("p"));
    OK(blobs_put(t, sched_settings_get()->state, photo, STR("jpeg"), &(blob_put){0}, NULL));
    mark(t, PLACE_GROUPS, STR("group"), old, PAST);
    mark(t, PLACE_GROUPS, STR("group"), young, NEVER);
    run_purge(t, false);
    ck_assert(!has_group(t, old));
    ck_assert(!has_appointment(t, old, "a1"));
    ck_assert(!has_blob(t, place_state_blob(t->arena, old)));
    ck_assert(!has_blob(t, photo));
    const char *const people[] = {ANN, BOB};
    for (size_t n = 0; n < 2; n++) {
        ck_assert(!is_there(t, PLACE_GROUP_MEMBERS, old, people_user_key(people[n])));
        ck_assert(!is_there(t, PLACE_USER_GROUPS, people_user_key(people[n]), old));
        ck_assert(is_there(t, PLACE_USER_GROUPS, people_user_key(people[n]), young));
    }
    str const kept[] = {young, live};
    for (size_t n = 0; n < 2; n++) {
        ck_assert(has_group(t, kept[n]) && has_appointment(t, kept[n], "a1"));
        ck_assert(has_blob(t, place_state_blob(t->arena, kept[n])));
    }
    got g = people_post(t, ann, "/api/group/restore", "{\"groupId\":\"%.*s\"}", STR_ARG(old));
    ck_str_eq(rig_text(&g, "message"), STR("Group not found"));
    run_purge(t, false);
    ck_assert(has_group(t, young) && has_group(t, live));
}

RIG_TEST(an_appointment_goes_alone)
{
    str group = make_group(t, people_named(t, ANN), "Live");
    put_appointment(t, group, "a2");
    put_appointment(t, group, "a3");
    mark(t, PLACE_APPOINTMENTS_INDEX, group, index_row(t->arena, "a1"), PAST);
    mark(t, PLACE_APPOINTMENTS_INDEX, group, index_row(t->arena, "a2"), NEVER);
    run_purge(t, false);
    ck_assert(!has_appointment(t, group, "a1"));
    ck_assert(has_appointment(t, group, "a2") && has_appointment(t, group, "a3"));
    ck_assert(has_group(t, group) && has_blob(t, place_state_blob(t->arena, group)));
}

/* A row that was left behind when the appointment moved takes nothing with it. */
RIG_TEST(an_appointment_that_has_another_row_keeps_its_documents)
{
    str    group = make_group(t, people_named(t, ANN), "Live");
    entity e = entity_new(t->arena, group, STR("20250102030405Z|a1"));
    entity_set_str(&e, "appointmentId", STR("a1"));
    OK(tables_insert(t, place_table(PLACE_APPOINTMENTS_INDEX), &e));
    mark(t, PLACE_APPOINTMENTS_INDEX, group, e.row, PAST);
    run_purge(t, false);
    ck_assert(!is_there(t, PLACE_APPOINTMENTS_INDEX, group, e.row));
    ck_assert(has_appointment(t, group, "a1"));
}

/* What a purge that was cut off has begun, nobody brings back, and the next one ends. */
RIG_TEST(a_group_that_is_being_purged_is_not_restored)
{
    str ann = people_named(t, ANN), group = make_group(t, ann, "Old");
    mark(t, PLACE_GROUPS, STR("group"), group, PAST);
    entity e = people_row(t, PLACE_GROUPS, STR("group"), group);
    entity_set_str(&e, GROUP_PURGING, STR(PAST));
    OK(tables_replace(t, place_table(PLACE_GROUPS), &e, ETAG_ANY));
    got g = people_post(t, ann, "/api/group/restore", "{\"groupId\":\"%.*s\"}", STR_ARG(group));
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "ok"));
    run_purge(t, false);
    ck_assert(!has_group(t, group) && !has_appointment(t, group, "a1"));
}

RIG_TEST(a_run_removes_at_most_five_hundred_groups)
{
    OK(places_make(t));
    for (unsigned from = 0; from < 600; from += 100) {
        entity      rows[100];
        table_write writes[100];
        for (unsigned n = 0; n < 100; n++) {
            rows[n] = entity_new(t->arena, STR("group"), str_of(textf("g%04u", from + n)));
            entity_set_bool(&rows[n], "isDeleted", true);
            entity_set_str(&rows[n], "purgeAfterAt", STR(PAST));
            writes[n] = (table_write){.kind = WRITE_INSERT, .e = &rows[n]};
        }
        OK(tables_commit(t, place_table(PLACE_GROUPS), writes, 100, NULL));
    }
    run_purge(t, false);
    ck_assert(!has_group(t, STR("g0499")));
    ck_assert(has_group(t, STR("g0500")) && has_group(t, STR("g0599")));
    run_purge(t, false);
    ck_assert(!has_group(t, STR("g0599")));
}

/* ---- failures inside ---- */

RIG_TEST(a_purge_that_is_not_set_up_is_no_failure)
{
    ck_assert_int_eq(setenv("STATE_CONTAINER", "", 1), 0);
    sched_settings_forget_for_test();
    got g = rig_post(t, "/schedPurge", STR(TIMER));
    ck_status(g, 200);
    ck_assert(str_has(g.body, STR("not set up")));
}

Suite *suite_sched_purge(void)
{
    Suite *s = suite_create("sched_purge");
    TCase *c = live_case("purge");
    tcase_add_test(c, a_dry_run_says_what_is_due_and_removes_nothing);
    tcase_add_test(c, a_group_goes_with_all_that_it_has_and_no_other_does);
    tcase_add_test(c, an_appointment_goes_alone);
    tcase_add_test(c, an_appointment_that_has_another_row_keeps_its_documents);
    tcase_add_test(c, a_group_that_is_being_purged_is_not_restored);
    tcase_add_test(c, a_run_removes_at_most_five_hundred_groups);
    tcase_add_test(c, a_purge_that_is_not_set_up_is_no_failure);
    suite_add_tcase(s, c);
    return s;
}
