/* test_sched_appointments.c -- appointments as data: documents, index rows, participants.
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "domain/sched_appointments.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"
#include "domain/scheduler/state.h"

static str member_of(const json_val *doc, const char *name)
{
    return json_text(json_get(doc, name), (str){0});
}

static const json_val *parsed(task *t, const json *built)
{
    const json_val *v;
    OK(json_parse(t->arena, json_print(t->arena, built), &v, NULL));
    return v;
}

static const json_val *snapshot_of(task *t, str group)
{
    json *v;
    OK(appointments_snapshot(t, group, &v));
    return parsed(t, v);
}

static const json_val *items_of(task *t, str group)
{
    return json_get(snapshot_of(t, group), "appointments");
}

/* ---- creating ---- */

/* SCHED-71, SCHED-99. */
RIG_TEST(an_appointment_is_a_document_and_a_row_with_the_next_code)
{
    desk        d = desk_open(t);
    appointment one = desk_add(t, &d, "Dentist", "10:00"), two = desk_add(t, &d, "Party", "");
    appointment read;
    ck_str_eq(one.code, STR("APPT-1"));
    ck_str_eq(two.code, STR("APPT-2"));
    ck_assert(str_ends(one.id, STR("-APPT-1")));
    OK(appointment_read(t, d.group, one.id, false, &read));
    ck_str_eq(read.title, STR("Dentist"));
    ck_str_eq(member_of(read.doc, "start"), STR("2026-03-05T10:00:00.000Z"));
    ck_str_eq(member_of(read.doc, "date"), STR("2026-03-05"));
    ck_str_eq(member_of(read.doc, "startTime"), STR("10:00"));
    ck_assert_int_eq(json_int(json_get(read.doc, "durationMins"), 0), 60);
    str       where = arena_strf(t->arena, "familyscheduler/groups/%.*s/appointments/%.*s/appointment.json",
                                 STR_ARG(d.group), STR_ARG(one.id));
    blob_info info;
    OK(blobs_head(t, sched_settings_get()->documents, where, &info));
    ck_str_eq(info.content_type, STR("application/json; charset=utf-8"));
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 2);
}

/* SCHED-16. */
RIG_TEST(row_keys_begin_with_fourteen_digits_and_z)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Dentist", "10:00");
    ck_str_eq(p.index.row, arena_strf(t->arena, "20260305100000Z|%.*s", STR_ARG(p.id)));
    (void)desk_add(t, &d, "Some day", "");
    entity_page rows = desk_rows(t, d.group);
    ck_assert_uint_eq(rows.len, 2);
    for (size_t n = 0; n < rows.len; n++) {
        for (size_t k = 0; k < 14; k++)
            ck_assert(isdigit((unsigned char)rows.at[n].row.at[k]) != 0);
        ck_assert_int_eq(memcmp(rows.at[n].row.at + 14, "Z|", 2), 0);
        ck_assert_uint_gt(rows.at[n].row.len, 16);
    }
}

typedef struct {
    const desk *d;
    str         codes[24];
} crowd;

static res add_one(task *t, size_t i, void *ctx)
{
    crowd             *c = ctx;
    appointment        p;
    appointment_change first = {.set = SET_TITLE, .title = STR("together")};
    TRY(appointment_create(t, c->d->group, (str){0}, &first, &c->d->by, &p));
    c->codes[i] = p.code;
    return RES_OK;
}

RIG_TEST(those_who_create_at_once_get_different_codes)
{
    desk  d = desk_open(t);
    crowd c = {.d = &d};
    OK(par_each(t, 24, 24, add_one, &c));
    for (size_t n = 0; n < 24; n++)
        for (size_t k = 0; k < n; k++)
            ck_assert(!str_eq(c.codes[n], c.codes[k]));
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 24);
}

RIG_TEST(the_code_of_a_deleted_appointment_is_not_given_again)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "gone", "");
    bool        was;
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    ck_str_eq(desk_add(t, &d, "next", "").code, STR("APPT-2"));
}

/* A row as another writer makes it: without our columns. */
static entity foreign_row(task *t, str group, const char *id, const char *updated)
{
    entity e = entity_new(t->arena, group, arena_strf(t->arena, "20260101000000Z|%s", id));
    entity_set_str(&e, "appointmentId", str_of(id));
    entity_set_str(&e, "status", STR("active"));
    entity_set_bool(&e, "hasScan", false);
    entity_set_str(&e, "createdAt", STR("2026-01-01T00:00:00.000Z"));
    entity_set_str(&e, "updatedAt", str_of(updated));
    entity_set_bool(&e, "isDeleted", false);
    return e;
}

static str foreign_document(task *t, const char *id, const char *code, const char *updated)
{
    return arena_strf(
        t->arena,
        "{\"id\":\"%s\",\"code\":\"%s\",\"schemaVersion\":1,\"title\":\"old\","
        "\"date\":\"2026-01-01\",\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"%s\"}",
        id, code, updated);
}

static void add_foreign(task *t, str group, const char *id, const char *code)
{
    entity row = foreign_row(t, group, id, "2026-01-01T00:00:00.000Z");
    desk_put_row(t, &row);
    desk_put_document(t, group, str_of(id), foreign_document(t, id, code, "2026-01-01T00:00:00.000Z"));
}

/* SCHED-71. */
RIG_TEST(codes_of_other_writers_are_counted_too)
{
    desk d = desk_open(t);
    add_foreign(t, d.group, "theirs", "APPT-7");
    ck_str_eq(desk_add(t, &d, "ours", "").code, STR("APPT-8"));
    add_foreign(t, d.group, "again", "APPT-12");
    ck_str_eq(desk_add(t, &d, "ours", "").code, STR("APPT-13"));
}

/* SCHED-91. */
RIG_TEST(each_new_appointment_is_counted)
{
    desk         d = desk_open(t);
    month_counts n;
    (void)desk_add(t, &d, "one", "");
    (void)desk_add(t, &d, "two", "09:00");
    OK(month_read(t, str_slice(call_now(t->arena), 0, 7), &n));
    ck_assert_int_eq(n.of[COUNT_NEW_APPOINTMENTS], 2);
}

/* ---- finding ---- */

RIG_TEST(a_code_is_found_however_it_is_written)
{
    static const char *const ways[] = {"APPT-2", "appt-2", "APPT 2", "appt2", " Appt-2 "};
    desk                     d = desk_open(t);
    appointment              found, two;
    (void)desk_add(t, &d, "one", "");
    two = desk_add(t, &d, "two", "");
    for (size_t n = 0; n < sizeof ways / sizeof *ways; n++) {
        OK(appointment_by_code(t, d.group, str_of(ways[n]), false, &found));
        ck_str_eq(found.id, two.id);
    }
    EXPECT(RES_NOT_FOUND, appointment_by_code(t, d.group, STR("APPT-9"), false, &found));
    EXPECT(RES_NOT_FOUND, appointment_by_code(t, d.group, STR("dentist"), false, &found));
}

RIG_TEST(a_code_that_two_have_is_a_conflict)
{
    desk        d = desk_open(t);
    appointment found;
    add_foreign(t, d.group, "a", "APPT-1");
    add_foreign(t, d.group, "b", "APPT-1");
    EXPECT(RES_CONFLICT, appointment_by_code(t, d.group, STR("APPT-1"), false, &found));
}

/* SCHED-73. */
RIG_TEST(without_row_or_document_there_is_no_appointment)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "whole", ""), found;
    entity      lonely = foreign_row(t, d.group, "rowonly", "2026-01-01T00:00:00.000Z");
    bool        was;
    desk_put_row(t, &lonely);
    desk_put_document(t, d.group, STR("doconly"), STR("{\"id\":\"doconly\",\"code\":\"APPT-5\"}"));
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, STR("rowonly"), false, &found));
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, STR("doconly"), false, &found));
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, STR("../state.json"), false, &found));
    const json_val *items = items_of(t, d.group);
    ck_assert_uint_eq(json_len(items), 1);
    ck_str_eq(member_of(json_at(items, 0), "id"), p.id);
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, p.id, false, &found));
}

/* ---- changing ---- */

static appointment change(task *t, const desk *d, str id, appointment_change c)
{
    appointment p;
    OK(appointment_update(t, d->group, id, &c, &d->by, &p));
    return p;
}

/* SCHED-76. */
RIG_TEST(every_change_makes_document_and_row_later)
{
    desk               d = desk_open(t);
    str                people[] = {d.by.user_key};
    appointment_change changes[] = {
        {.set = SET_TITLE, .title = STR("new")},
        {.set = SET_TIME, .time = desk_when(t, "2026-04-01", "", 0)},
        {.set = SET_LOCATION, .location = STR("12 Main St,\n\nSpringfield ,, USA,")},
        {.set = SET_NOTES, .notes = STR("bring cake")},
        {.set = SET_PEOPLE, .people = people, .people_count = 1},
        {.set = SET_SCAN, .scan_status = STR("parsed")},
    };
    appointment before = desk_add(t, &d, "old", "10:00");
    for (size_t n = 0; n < sizeof changes / sizeof *changes; n++) {
        appointment after = change(t, &d, before.id, changes[n]);
        ck_assert(str_compare(member_of(after.doc, "updatedAt"), member_of(before.doc, "updatedAt")) > 0);
        entity_page rows = desk_rows(t, d.group);
        ck_assert_uint_eq(rows.len, 1);
        ck_str_eq(entity_str(&rows.at[0], "updatedAt", (str){0}), member_of(after.doc, "updatedAt"));
        before = after;
    }
    ck_str_eq(before.title, STR("new"));
    ck_str_eq(member_of(before.doc, "location"), STR("12 Main St, Springfield, USA"));
    ck_str_eq(member_of(before.doc, "notes"), STR("bring cake"));
    ck_str_eq(member_of(before.doc, "scanStatus"), STR("parsed"));
    ck_assert(json_truth(json_get(before.doc, "isAllDay"), false));
    ck_assert(json_get(before.doc, "startTime") == NULL);
}

RIG_TEST(a_row_moves_with_the_time_and_keeps_its_creation)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "moves", "10:00");
    str         created = entity_str(&p.index, "createdAt", (str){0});
    p = change(t, &d, p.id,
               (appointment_change){.set = SET_TIME, .time = desk_when(t, "2027-01-02", "08:30", 30)});
    entity_page rows = desk_rows(t, d.group);
    ck_assert_uint_eq(rows.len, 1);
    ck_str_eq(rows.at[0].row, arena_strf(t->arena, "20270102083000Z|%.*s", STR_ARG(p.id)));
    ck_str_eq(entity_str(&rows.at[0], "createdAt", (str){0}), created);
    ck_str_eq(entity_str(&rows.at[0], "startTime", (str){0}), STR("2027-01-02T08:30:00.000Z"));
}

static res change_one_member(task *t, size_t i, void *ctx)
{
    const appointment_change *all = ((void **)ctx)[0];
    const desk               *d = ((void **)ctx)[1];
    const str                *id = ((void **)ctx)[2];
    appointment               p;
    return appointment_update(t, d->group, *id, &all[i], &d->by, &p);
}

RIG_TEST(changes_that_come_at_once_lose_nothing)
{
    desk               d = desk_open(t);
    appointment        p = desk_add(t, &d, "old", "");
    json              *more = json_object(t->arena);
    appointment_change all[] = {
        {.set = SET_TITLE, .title = STR("title")},
        {.set = SET_NOTES, .notes = STR("notes")},
        {.set = SET_LOCATION, .location = STR("there")},
        {.set = SET_TIME, .time = desk_when(t, "2026-06-01", "12:00", 30)},
        {.set = SET_MORE, .more = more},
        {.set = SET_SCAN, .scan_status = STR("pending")},
    };
    void *ctx[] = {all, &d, &p.id};
    json_set_str(more, "theirs", STR("kept"));
    OK(par_each(t, 6, 6, change_one_member, ctx));
    OK(appointment_read(t, d.group, p.id, false, &p));
    ck_str_eq(p.title, STR("title"));
    ck_str_eq(member_of(p.doc, "notes"), STR("notes"));
    ck_str_eq(member_of(p.doc, "location"), STR("there"));
    ck_str_eq(member_of(p.doc, "start"), STR("2026-06-01T12:00:00.000Z"));
    ck_str_eq(member_of(p.doc, "theirs"), STR("kept"));
    ck_str_eq(member_of(p.doc, "scanStatus"), STR("pending"));
    ck_assert_uint_eq(desk_rows(t, d.group).len, 1);
}

/* ---- what a crash leaves ---- */

RIG_TEST(a_row_that_is_behind_its_document_is_mended_by_reading)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "moves", "10:00");
    entity      old = entity_copy(t->arena, &desk_rows(t, d.group).at[0]);
    (void)change(t, &d, p.id,
                 (appointment_change){.set = SET_TIME, .time = desk_when(t, "2026-05-01", "11:00", 60)});
    OK(tables_remove(t, place_table(PLACE_APPOINTMENTS_INDEX), d.group, desk_rows(t, d.group).at[0].row,
                     ETAG_ANY));
    desk_put_row(t, &old);
    OK(appointment_read(t, d.group, p.id, false, &p));
    ck_str_eq(p.index.row, arena_strf(t->arena, "20260501110000Z|%.*s", STR_ARG(p.id)));
    entity_page rows = desk_rows(t, d.group);
    ck_assert_uint_eq(rows.len, 1);
    ck_str_eq(rows.at[0].row, p.index.row);
}

RIG_TEST(a_deletion_that_did_not_reach_its_row_is_completed_by_reading)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "gone", "10:00"), found;
    entity      old = entity_copy(t->arena, &desk_rows(t, d.group).at[0]);
    bool        was;
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    desk_put_row(t, &old);
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 0);
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, p.id, false, &found));
    ck_assert(entity_bool(&desk_rows(t, d.group).at[0], "isDeleted", false));
}

RIG_TEST(of_two_rows_the_newer_counts_and_the_next_write_leaves_one)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "twice", "10:00");
    entity      double_row = entity_copy(t->arena, &p.index);
    double_row.row = arena_strf(t->arena, "20250101000000Z|%.*s", STR_ARG(p.id));
    entity_set_str(&double_row, "updatedAt", STR("2025-01-01T00:00:00.000Z"));
    desk_put_row(t, &double_row);
    ck_assert_uint_eq(desk_rows(t, d.group).len, 2);
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 1);
    OK(appointment_read(t, d.group, p.id, false, &p));
    (void)change(t, &d, p.id, (appointment_change){.set = SET_TITLE, .title = STR("once")});
    entity_page rows = desk_rows(t, d.group);
    ck_assert_uint_eq(rows.len, 1);
    ck_assert(str_starts(rows.at[0].row, STR("20260305100000Z|")));
}

RIG_TEST(a_document_that_is_damaged_is_skipped_by_lists_alone)
{
    desk        d = desk_open(t);
    appointment bad = desk_add(t, &d, "bad", ""), good = desk_add(t, &d, "good", ""), found;
    desk_put_document(t, d.group, bad.id, STR("{\"half"));
    const json_val *items = items_of(t, d.group);
    ck_assert_uint_eq(json_len(items), 1);
    ck_str_eq(member_of(json_at(items, 0), "id"), good.id);
    EXPECT(RES_UPSTREAM, appointment_read(t, d.group, bad.id, false, &found));
}

/* ---- the end, and the return ---- */

/* SCHED-74, SCHED-75, SCHED-95. */
RIG_TEST(a_deleted_appointment_is_marked_for_thirty_days_and_can_return)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "gone", "10:00");
    bool        was = true;
    int64_t     deleted, purged;
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    ck_assert(!was);
    entity row = desk_rows(t, d.group).at[0];
    ck_assert(entity_bool(&row, "isDeleted", false));
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("deleted"));
    ck_str_eq(entity_str(&row, "deletedByUserKey", (str){0}), d.by.user_key);
    ck_assert(iso8601_parse(entity_str(&row, "deletedAt", (str){0}), &deleted));
    ck_assert(iso8601_parse(entity_str(&row, "purgeAfterAt", (str){0}), &purged));
    ck_assert_int_eq(purged - deleted, INT64_C(30) * 86400 * 1000000);
    ck_assert(str_has(desk_document(t, d.group, p.id), STR("\"isDeleted\":true")));
    ck_assert(str_has(desk_document(t, d.group, p.id), STR("\"scanStatus\":\"deleted\"")));
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 0);
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    ck_assert(was);

    OK(appointment_restore(t, d.group, p.id, &d.by, &was));
    ck_assert(!was);
    row = desk_rows(t, d.group).at[0];
    ck_assert(!entity_bool(&row, "isDeleted", true));
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("active"));
    ck_assert(!entity_has(&row, "deletedAt") && !entity_has(&row, "deletedByUserKey") &&
              !entity_has(&row, "purgeAfterAt"));
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 1);
    OK(appointment_restore(t, d.group, p.id, &d.by, &was));
    ck_assert(was);
    EXPECT(RES_NOT_FOUND, appointment_delete(t, d.group, STR("nobody"), &d.by, &was));
}

/* ---- people ---- */

static const participant *find_participant(const participant *list, size_t count, str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].member_key, key))
            return &list[i];
    return NULL;
}

/* SCHED-92. */
RIG_TEST(participants_follow_the_people_of_an_appointment)
{
    desk         d = desk_open(t);
    appointment  p = desk_add(t, &d, "party", "");
    participant *list;
    size_t       count;
    people_add(t, d.group, "bob@example.org");
    str bob = people_user_key("bob@example.org"), people[] = {bob, STR("Uncle Joe")};
    str key = auth_member_key_of(t->arena, bob);
    (void)change(t, &d, p.id, (appointment_change){.set = SET_PEOPLE, .people = people, .people_count = 2});
    OK(participants_read(t, d.group, p.id, &list, &count));
    ck_assert_uint_eq(count, 2);
    const participant *ann = find_participant(list, count, d.by.member_key),
                      *b = find_participant(list, count, key);
    ck_assert(ann != NULL && b != NULL);
    ck_str_eq(ann->role, STR("organizer"));
    ck_str_eq(ann->status, STR("assigned"));
    ck_str_eq(b->role, STR("attendee"));
    ck_str_eq(b->status, STR("assigned"));
    ck_str_eq(b->assigned_by, d.by.member_key);
    ck_assert(b->assigned_at.len > 0);
    (void)change(t, &d, p.id, (appointment_change){.set = SET_PEOPLE});
    OK(participants_read(t, d.group, p.id, &list, &count));
    ck_str_eq(find_participant(list, count, key)->status, STR("removed"));
    ck_str_eq(find_participant(list, count, d.by.member_key)->status, STR("assigned"));
}

/* SCHED-94. */
RIG_TEST(people_are_called_what_their_profiles_say)
{
    desk               d = desk_open(t);
    state              s;
    json              *doc, *joe;
    str                people[] = {d.by.user_key, STR("P-1"), STR("P-9")};
    appointment_change c = {.set = SET_PEOPLE, .people = people, .people_count = 3};
    appointment        p = desk_add(t, &d, "party", "");
    OK(state_read(t, d.group, &s));
    doc = state_copy(t->arena, &s, d.group);
    json *list = json_set_array(doc, "people");
    joe = json_push_object(list);
    json_set_str(joe, "personId", STR("P-1"));
    json_set_str(joe, "name", STR("Joe"));
    joe = json_push_object(list);
    json_set_str(joe, "personId", d.by.user_key);
    json_set_str(joe, "name", STR("Not Ann"));
    OK(state_save(t, d.group, s.etag, doc, NULL));
    (void)change(t, &d, p.id, c);
    const json_val *shown = json_get(json_at(items_of(t, d.group), 0), "peopleDisplay");
    ck_str_eq(json_text(json_at(shown, 0), (str){0}), STR("ann"));
    ck_str_eq(json_text(json_at(shown, 1), (str){0}), STR("Joe"));
    ck_str_eq(json_text(json_at(shown, 2), (str){0}), STR("P-9"));
}

/* ---- lists ---- */

/* SCHED-99. */
RIG_TEST(appointments_of_state_json_are_nobodys_business)
{
    desk        d = desk_open(t);
    state       s;
    appointment p = desk_add(t, &d, "real", "");
    OK(state_read(t, d.group, &s));
    json *doc = state_copy(t->arena, &s, d.group);
    json_set_str(json_push_object(json_set_array(doc, "appointments")), "id", STR("foreign"));
    OK(state_save(t, d.group, s.etag, doc, NULL));
    const json_val *items = items_of(t, d.group);
    ck_assert_uint_eq(json_len(items), 1);
    ck_str_eq(member_of(json_at(items, 0), "id"), p.id);
    ck_str_eq(member_of(json_at(items, 0), "desc"), STR("real"));
    OK(blobs_remove(t, sched_settings_get()->state, place_state_blob(t->arena, d.group), (str){0}));
    ck_assert_uint_eq(json_len(items_of(t, d.group)), 1);
}

RIG_TEST(the_newest_change_comes_first)
{
    desk         d = desk_open(t);
    appointment  one = desk_add(t, &d, "one", "10:00"), two = desk_add(t, &d, "two", "09:00");
    appointment *list;
    size_t       count;
    bool         truncated;
    (void)change(t, &d, two.id, (appointment_change){.set = SET_TITLE, .title = STR("2")});
    (void)change(t, &d, one.id, (appointment_change){.set = SET_TITLE, .title = STR("1")});
    OK(appointments_list(t, d.group, &list, &count, &truncated));
    ck_assert_uint_eq(count, 2);
    ck_str_eq(list[0].id, one.id);
    ck_str_eq(list[1].id, two.id);
    ck_assert(!truncated);
}

/* ---- columns ---- */

static void check_columns(const entity *e, const char *const *allowed)
{
    for (size_t i = 0; i < e->count; i++) {
        bool known = false;
        for (const char *const *name = allowed; *name != NULL; name++)
            known |= str_eq(e->props[i].name, str_of(*name));
        ck_assert_msg(known, "a column '%.*s'", STR_ARG(e->props[i].name));
    }
}

static void check_time(const entity *e, const char *name)
{
    int64_t us;
    str     text = entity_str(e, name, (str){0});
    ck_assert_msg(text.len == 24 && str_ends(text, STR("Z")) && iso8601_parse(text, &us), "%s is '%.*s'",
                  name, STR_ARG(text));
}

/* SCHED-89. */
RIG_TEST(rows_have_the_columns_of_the_specification)
{
    static const char *const index[] = {
        "appointmentId", "startTime", "status",    "hasScan",   "scanCapturedAt",
        "createdAt",     "updatedAt", "isDeleted", "deletedAt", "deletedByUserKey",
        "purgeAfterAt",  "code",      "codeNo",    NULL};
    static const char *const participants[] = {"status",     "role",      "assignedAt",
                                               "assignedBy", "updatedAt", NULL};
    desk                     d = desk_open(t);
    appointment              p = desk_add(t, &d, "party", "10:00");
    bool                     was;
    entity                   row = desk_rows(t, d.group).at[0];
    check_columns(&row, index);
    ck_assert_int_eq(entity_find(&row, STR("hasScan"))->type, EDM_BOOL);
    ck_assert_int_eq(entity_find(&row, STR("isDeleted"))->type, EDM_BOOL);
    check_time(&row, "createdAt");
    check_time(&row, "updatedAt");
    check_time(&row, "startTime");
    ck_assert(!entity_has(&row, "deletedAt") && !entity_has(&row, "scanCapturedAt"));
    OK(appointment_delete(t, d.group, p.id, &d.by, &was));
    row = desk_rows(t, d.group).at[0];
    check_columns(&row, index);
    check_time(&row, "deletedAt");
    check_time(&row, "purgeAfterAt");
    row = people_row(t, PLACE_APPOINTMENT_PARTICIPANTS,
                     arena_strf(t->arena, "g:%.*s|a:%.*s", STR_ARG(d.group), STR_ARG(p.id)),
                     arena_strf(t->arena, "m:%.*s", STR_ARG(d.by.member_key)));
    check_columns(&row, participants);
    check_time(&row, "assignedAt");
    check_time(&row, "updatedAt");
}

Suite *suite_sched_appointments(void)
{
    Suite *s = suite_create("sched_appointments");
    TCase *c = live_case("appointments");
    tcase_add_test(c, an_appointment_is_a_document_and_a_row_with_the_next_code);
    tcase_add_test(c, row_keys_begin_with_fourteen_digits_and_z);
    tcase_add_test(c, those_who_create_at_once_get_different_codes);
    tcase_add_test(c, the_code_of_a_deleted_appointment_is_not_given_again);
    tcase_add_test(c, codes_of_other_writers_are_counted_too);
    tcase_add_test(c, each_new_appointment_is_counted);
    tcase_add_test(c, a_code_is_found_however_it_is_written);
    tcase_add_test(c, a_code_that_two_have_is_a_conflict);
    tcase_add_test(c, without_row_or_document_there_is_no_appointment);
    tcase_add_test(c, every_change_makes_document_and_row_later);
    tcase_add_test(c, a_row_moves_with_the_time_and_keeps_its_creation);
    tcase_add_test(c, changes_that_come_at_once_lose_nothing);
    tcase_add_test(c, a_row_that_is_behind_its_document_is_mended_by_reading);
    tcase_add_test(c, a_deletion_that_did_not_reach_its_row_is_completed_by_reading);
    tcase_add_test(c, of_two_rows_the_newer_counts_and_the_next_write_leaves_one);
    tcase_add_test(c, a_document_that_is_damaged_is_skipped_by_lists_alone);
    tcase_add_test(c, a_deleted_appointment_is_marked_for_thirty_days_and_can_return);
    tcase_add_test(c, participants_follow_the_people_of_an_appointment);
    tcase_add_test(c, people_are_called_what_their_profiles_say);
    tcase_add_test(c, appointments_of_state_json_are_nobodys_business);
    tcase_add_test(c, the_newest_change_comes_first);
    tcase_add_test(c, rows_have_the_columns_of_the_specification);
    suite_add_tcase(s, c);
    return s;
}
