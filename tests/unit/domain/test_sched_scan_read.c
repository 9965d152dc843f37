/* test_sched_scan_read.c -- what is taken of a model's answer, and documents as pure texts.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/scan_read.h"

#include <check.h>

#include "core/clock.h"
#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/appointment_index.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define NOW          STR("2026-01-02T03:04:05.678Z")

static void ck_str_eq(str got, str want)
{
    ck_assert_msg(str_eq(got, want), "'%.*s', not '%.*s'", STR_ARG(got), STR_ARG(want));
}

static const json_val *parsed(str text)
{
    const json_val *v = NULL;
    ck_assert_msg(json_parse(scratch(), text, &v, NULL) == RES_OK, "%.*s", STR_ARG(text));
    return v;
}

static str text_of(const json_val *doc, const char *name)
{
    return json_text(json_get(doc, name), (str){0});
}

/* ---- titles ---- */

static const struct {
    scan_fields f;
    const char *title;
} titles[] = {
    {{.title = STR_INIT("Dentist"), .notes = STR_INIT("x")}, "Dentist"},
    {{.notes = STR_INIT("Bring cake. And more.")}, "Bring cake"},
    {{.notes = STR_INIT("Version 2.5 of it! Really")}, "Version 2.5 of it"},
    {{.notes = STR_INIT("first line\nsecond")}, "first line"},
    {{.notes = STR_INIT(". odd"), .location = STR_INIT("Hall")}, "Appointment at Hall"},
    {{.location = STR_INIT("Hall")}, "Appointment at Hall"},
    {{.date = STR_INIT("2026-01-01")}, "Appointment"},
};

/* SCHED-83. */
START_TEST(a_title_is_made_of_what_else_was_seen)
{
    ck_str_eq(scan_title(scratch(), &titles[_i].f), str_of(titles[_i].title));
}
END_TEST

START_TEST(a_title_made_of_notes_has_at_most_eighty_characters)
{
    char notes[] = "ä23456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 12345";
    str  title = scan_title(scratch(), &(scan_fields){.notes = str_of(notes)});
    ck_assert_uint_eq(title.len,
                      80); /* 79 characters are left of 80, for the last is a blank; ä has two bytes */
    ck_assert(str_is_utf8(title));
}
END_TEST

/* ---- fields ---- */

static const struct {
    const char *item, *reason; /* NULL: taken */
} items[] = {
    {"{\"title\":\"x\"}", NULL},
    {"{\"date\":\"2026-03-05\"}", NULL},
    {"{\"notes\":\"x\",\"startTime\":\"10:00\"}", NULL},
    {"{}", "no_meaningful_content"},
    {"7", "no_meaningful_content"},
    {"{\"title\":7,\"date\":\"soon\"}", "no_meaningful_content"},
    {"{\"title\":\" \\n \"}", "no_meaningful_content"},
    {"{\"startTime\":\"10:00\"}", "missing_required_fields"},
};

START_TEST(an_item_without_what_and_when_is_none)
{
    scan_fields f;
    const char *reason = scan_read_item(scratch(), parsed(str_of(items[_i].item)), &f);
    ck_assert((reason == NULL) == (items[_i].reason == NULL));
    if (reason != NULL)
        ck_assert_str_eq(reason, items[_i].reason);
}
END_TEST

START_TEST(no_more_than_ten_items_are_taken)
{
    const json_val *found[SCAN_ITEMS_MAX];
    ck_assert_uint_eq(scan_items(parsed(STR("[1,2,3,4,5,6,7,8,9,10,11,12]")), found), 10);
}
END_TEST

START_TEST(a_rescan_leaves_what_it_does_not_see)
{
    scan_fields        f;
    appointment_change c;
    ck_assert(scan_read_item(scratch(), parsed(STR("{\"location\":\"Hall\"}")), &f) == NULL);
    scan_change(scratch(), &f, zone_find(STR("UTC")), false, &c);
    ck_assert_uint_eq(c.set, SET_LOCATION);
}
END_TEST

/* ---- documents ---- */

static const json_val *document(const json_val *before, appointment_change c, appointment_life life)
{
    doc_step s = {
        .id = STR("1-APPT-1"), .code = STR("APPT-1"), .now = NOW, .user_key = STR("u"), .life = life};
    return parsed(appointment_doc_text(scratch(), before, &c, &s));
}

static const json_val *blank(void)
{
    return document(NULL, (appointment_change){.time = {.status = TIME_UNRESOLVED, .missing = MISSING_DATE}},
                    LIFE_STAYS);
}

static const char *const members[] = {
    "id",
    "code",
    "schemaVersion",
    "title",
    "time",
    "date",
    "timezone",
    "isAllDay",
    "assigned",
    "people",
    "location",
    "locationRaw",
    "locationDisplay",
    "locationMapQuery",
    "locationName",
    "locationAddress",
    "locationDirections",
    "notes",
    "scanStatus",
    "scanImageKey",
    "scanImageMime",
    "scanCapturedAt",
    "scanAutoDate",
    "isDeleted",
    "deletedAt",
    "deletedByUserKey",
    "purgeAfterAt",
    "createdAt",
    "updatedAt",
    "reconciliation",
    "constraints",
    "suggestions",
    "notification",
};

START_TEST(a_new_document_has_every_member)
{
    ck_assert_msg(json_get(blank(), members[_i]) != NULL, "%s", members[_i]);
}
END_TEST

START_TEST(what_this_program_does_not_know_stays)
{
    const json_val *v =
        parsed(STR("{\"id\":\"1-APPT-1\",\"theirs\":[1,{\"x\":2}],\"title\":\"old\",\"code\":\"APPT-1\"}"));
    v = document(v, (appointment_change){.set = SET_TITLE, .title = STR("new")}, LIFE_STAYS);
    ck_str_eq(json_print_val(scratch(), json_get(v, "theirs")), STR("[1,{\"x\":2}]"));
    ck_str_eq(text_of(v, "title"), STR("new"));
    ck_assert_uint_eq(json_len(v), 6);
}
END_TEST

START_TEST(texts_are_cut_at_whole_characters)
{
    char *longer = arena_alloc(scratch(), 2000);
    for (size_t i = 0; i < 2000; i += 2)
        longer[i] = '\xc3', longer[i + 1] = '\xa4';
    const json_val *v = document(blank(),
                                 (appointment_change){.set = SET_TITLE | SET_NOTES | SET_LOCATION,
                                                      .title = {longer, 2000},
                                                      .notes = {longer, 2000},
                                                      .location = {longer, 2000}},
                                 LIFE_STAYS);
    ck_assert_uint_eq(text_of(v, "title").len, (size_t)TITLE_MAX * 2);
    ck_assert_uint_eq(text_of(v, "notes").len, (size_t)NOTES_MAX * 2);
    ck_assert_uint_eq(text_of(v, "location").len, (size_t)LOCATION_MAX * 2);
}
END_TEST

START_TEST(people_are_a_set_in_their_order)
{
    str             people[] = {STR("b"), STR("a"), STR("b"), STR("")};
    const json_val *v = document(
        blank(), (appointment_change){.set = SET_PEOPLE, .people = people, .people_count = 4}, LIFE_STAYS);
    ck_str_eq(json_print_val(scratch(), json_get(v, "people")), STR("[\"b\",\"a\"]"));
    ck_str_eq(json_print_val(scratch(), json_get(v, "assigned")), STR("[\"b\",\"a\"]"));
}
END_TEST

START_TEST(a_scan_that_was_deleted_comes_back_as_it_was)
{
    const json_val *v =
        document(blank(), (appointment_change){.set = SET_SCAN, .scan_status = STR("parsed")}, LIFE_STAYS);
    v = document(v, (appointment_change){0}, LIFE_ENDS);
    ck_str_eq(text_of(v, "scanStatus"), STR("deleted"));
    ck_str_eq(text_of(v, "purgeAfterAt"), STR("2026-02-01T03:04:05.678Z"));
    v = document(v, (appointment_change){0}, LIFE_RETURNS);
    ck_str_eq(text_of(v, "scanStatus"), STR("parsed"));
    ck_assert(!json_truth(json_get(v, "isDeleted"), true));
    ck_assert_int_eq(json_typeof(json_get(v, "deletedAt")), JSON_NULL);
}
END_TEST

static const struct {
    const char *doc, *at;
    bool        known;
} moments[] = {
    {"{\"start\":\"2026-03-05T10:00:00+01:00\",\"createdAt\":\"2026-01-01T00:00:00Z\"}", "20260305090000Z|x",
     true},
    {"{\"date\":\"2026-07-01\",\"startTime\":\"10:00\",\"timezone\":\"Europe/Berlin\"}", "20260701080000Z|x",
     true},
    {"{\"date\":\"2026-07-01\",\"timezone\":\"Europe/Berlin\"}", "20260701000000Z|x", false},
    {"{\"createdAt\":\"2026-01-01T12:13:14.567Z\"}", "20260101121314Z|x", false},
};

/* SCHED-16. */
START_TEST(rows_are_ordered_by_start_else_date_else_creation)
{
    bool            known;
    const json_val *doc = parsed(str_of(moments[_i].doc));
    int64_t         us = appointment_doc_moment(doc, &(when){.status = TIME_UNRESOLVED}, &known);
    when            none = {.status = TIME_UNRESOLVED};
    ck_str_eq(appointment_row_key(scratch(), &none, STR("x"), us), str_of(moments[_i].at));
    ck_assert(known == moments[_i].known);
}
END_TEST

START_TEST(a_version_is_later_than_the_one_before_whatever_the_clock_says)
{
    clock_set_for_test(INT64_C(1000000000000000), 0);
    ck_str_eq(appointment_later(scratch(), STR(""), STR("")), STR("2001-09-09T01:46:40.000Z"));
    ck_str_eq(appointment_later(scratch(), STR("2001-09-09T01:46:40.000Z"), STR("")),
              STR("2001-09-09T01:46:40.001Z"));
    ck_str_eq(appointment_later(scratch(), NOW, STR("2027-01-01T00:00:00.000Z")),
              STR("2027-01-01T00:00:00.001Z"));
    clock_unset_for_test();
}
END_TEST

static const struct {
    const char *text;
    int64_t     number;
} codes[] = {
    {"APPT-1", 1}, {"appt 12", 12},         {"Appt3", 3}, {" APPT - 4 ", 4}, {"APPT-", 0}, {"APPT--1", 0},
    {"RULE-1", 0}, {"APPT-99999999999", 0}, {"", 0},      {"APPT-1x", 0},
};

START_TEST(codes_are_numbers_behind_a_word)
{
    ck_assert_int_eq(code_number(str_of(codes[_i].text)), codes[_i].number);
}
END_TEST

Suite *suite_sched_scan_read(void)
{
    Suite *s = suite_create("sched_scan_read");
    TCase *c = tcase_create("scans and documents");
    tcase_add_loop_test(c, a_title_is_made_of_what_else_was_seen, 0, COUNT(titles));
    tcase_add_test(c, a_title_made_of_notes_has_at_most_eighty_characters);
    tcase_add_loop_test(c, an_item_without_what_and_when_is_none, 0, COUNT(items));
    tcase_add_test(c, no_more_than_ten_items_are_taken);
    tcase_add_test(c, a_rescan_leaves_what_it_does_not_see);
    tcase_add_loop_test(c, a_new_document_has_every_member, 0, COUNT(members));
    tcase_add_test(c, what_this_program_does_not_know_stays);
    tcase_add_test(c, texts_are_cut_at_whole_characters);
    tcase_add_test(c, people_are_a_set_in_their_order);
    tcase_add_test(c, a_scan_that_was_deleted_comes_back_as_it_was);
    tcase_add_loop_test(c, rows_are_ordered_by_start_else_date_else_creation, 0, COUNT(moments));
    tcase_add_test(c, a_version_is_later_than_the_one_before_whatever_the_clock_says);
    tcase_add_loop_test(c, codes_are_numbers_behind_a_word, 0, COUNT(codes));
    suite_add_tcase(s, c);
    return s;
}
