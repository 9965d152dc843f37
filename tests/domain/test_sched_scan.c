/* test_sched_scan.c -- appointments from pictures.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "domain/sched_appointments.h"
#include "domain/sched_model.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/image.h"
#include "domain/scheduler/settings.h"

#define PNG "\x89PNG\r\n\x1a\nrest of it"

static str picture(void)
{
    return base64_encode(scratch(), STR(PNG));
}

/* A model first, for settings are read once; and it may be asked more often than people may in a day. */
static desk desk_with_model(task *t)
{
    model_on();
    ck_assert_int_eq(setenv("USAGE_DAILY_REQUEST_LIMIT", "1000000", 1), 0);
    ck_assert_int_eq(setenv("USAGE_DAILY_TOKEN_LIMIT", "100000000", 1), 0);
    return desk_open(t);
}

static got scan(task *t, const desk *d, str base64)
{
    return people_post(
        t, d->session, "/api/scanAppointment",
        "{\"groupId\":\"%.*s\",\"imageMime\":\"image/png\",\"timezone\":\"UTC\",\"imageBase64\":"
        "\"%.*s\"}",
        STR_ARG(d->group), STR_ARG(base64));
}

static appointment read_back(task *t, const desk *d, str id)
{
    appointment p;
    OK(appointment_read(t, d->group, id, false, &p));
    return p;
}

static str member_of(const appointment *p, const char *name)
{
    return json_text(json_get(p->doc, name), (str){0});
}

#define TWO                                                                                      \
    "{\"appointments\":[{\"title\":\"Dentist\",\"date\":\"2026-03-05\",\"startTime\":\"10:00\"," \
    "\"location\":\"Main St 1\"},{\"date\":\"2026-03-06\",\"notes\":\"Bring cake. And more.\"}]}"

/* SCHED-81, SCHED-82, SCHED-83, SCHED-91, SCHED-99. */
RIG_TEST(each_appointment_in_a_picture_becomes_one_with_the_picture)
{
    month_counts counts;
    blob_got     found;
    desk         d = desk_with_model(t);
    model_says(TWO);
    got g = scan(t, &d, picture());
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "extractedCount"), 2);
    ck_str_eq(rig_text(&g, "appointmentId"), rig_text(&g, "appointmentIds/0"));
    ck_assert(str_starts(rig_text(&g, "traceId"), STR("scan-")));
    appointment one = read_back(t, &d, rig_text(&g, "appointmentIds/0"));
    appointment two = read_back(t, &d, rig_text(&g, "appointmentIds/1"));
    ck_str_eq(one.title, STR("Dentist"));
    ck_str_eq(member_of(&one, "start"), STR("2026-03-05T10:00:00.000Z"));
    ck_str_eq(member_of(&one, "end"), STR("2026-03-05T11:00:00.000Z"));
    ck_assert(one.time.suggested);
    ck_str_eq(member_of(&one, "scanStatus"), STR("parsed"));
    ck_str_eq(two.title, STR("Bring cake"));
    ck_assert(json_truth(json_get(two.doc, "isAllDay"), false));
    ck_assert(!str_eq(one.code, two.code));
    ck_assert(entity_bool(&two.index, "hasScan", false));
    ck_assert(entity_has(&two.index, "scanCapturedAt"));
    ck_str_eq(member_of(&two, "scanImageKey"),
              arena_strf(t->arena, "familyscheduler/groups/%.*s/appointments/%.*s/scan/scan.png",
                         STR_ARG(d.group), STR_ARG(two.id)));
    OK(blobs_get(t, sched_settings_get()->documents, member_of(&two, "scanImageKey"), &(blob_get){0},
                 &found));
    ck_str_eq(found.body, STR(PNG));
    OK(month_read(t, str_slice(call_now(t->arena), 0, 7), &counts));
    ck_assert_int_eq(counts.of[COUNT_NEW_APPOINTMENTS], 2);
    model_off();
}

static const struct {
    const char *says;
    int         status;
    const char *error; /* of a refusal */
    const char *title;
} answers[] = {
    {"{\"title\":\"Alone\",\"date\":\"2026-03-05\"}", 200, NULL, "Alone"},
    {"[{\"title\":\"Listed\",\"date\":\"2026-03-05\"}]", 200, NULL, "Listed"},
    {"{\"appointments\":[{\"title\":\"Inside\"}]}", 200, NULL, "Inside"},
    {"{\"appointments\":{\"title\":\"Single\"}}", 200, NULL, "Single"},
    {"{\"location\":\"Town hall\",\"date\":\"2026-03-05\"}", 200, NULL, "Appointment at Town hall"},
    {"{\"date\":\"2026-03-05\"}", 200, NULL, "Appointment"},
    {"{\"appointments\":[]}", 422, "no_appointments_found", NULL},
    {"{}", 422, "no_appointments_found", NULL},
    {"{\"appointments\":[{},{\"startTime\":\"10:00\"},7]}", 422, "no_valid_appointments_found", NULL},
    {"I cannot see anything", 502, "scan_parse_failed", NULL},
};
enum { ANSWERS = sizeof answers / sizeof *answers };

static size_t pictures_of(task *t, str group)
{
    blob_page page;
    size_t    found = 0;
    OK(blobs_list(t, sched_settings_get()->documents,
                  arena_strf(t->arena, "familyscheduler/groups/%.*s/appointments/", STR_ARG(group)), 0, 100,
                  (str){0}, &page));
    for (size_t n = 0; n < page.len; n++)
        found += str_has(page.at[n].name, STR("/scan/"));
    return found;
}

/* SCHED-82, SCHED-83. */
RIG_TEST(what_a_model_says_is_read_in_each_of_its_forms)
{
    desk d = desk_with_model(t);
    model_says(answers[i].says);
    got g = scan(t, &d, picture());
    ck_status(g, answers[i].status);
    if (answers[i].error != NULL) {
        ck_str_eq(rig_text(&g, "error"), str_of(answers[i].error));
        ck_assert_uint_eq(desk_rows(t, d.group).len, 0);
        ck_assert_uint_eq(pictures_of(t, d.group), 0);
    } else {
        ck_str_eq(read_back(t, &d, rig_text(&g, "appointmentId")).title, str_of(answers[i].title));
        ck_assert_uint_eq(pictures_of(t, d.group), 1);
    }
    model_off();
}

RIG_TEST(what_could_not_be_used_is_told_by_its_place)
{
    desk d = desk_with_model(t);
    model_says(
        "{\"appointments\":[{},{\"title\":\"Good\",\"date\":\"2026-13-45\"},{\"startTime\":\"10:00\"}]}");
    got g = scan(t, &d, picture());
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "extractedCount"), 3);
    ck_assert_uint_eq(json_len(rig_at(&g, "appointmentIds")), 1);
    ck_assert_int_eq(rig_int(&g, "errors/0/index"), 0);
    ck_str_eq(rig_text(&g, "errors/0/reason"), STR("no_meaningful_content"));
    ck_assert_int_eq(rig_int(&g, "errors/1/index"), 2);
    ck_str_eq(rig_text(&g, "errors/1/reason"), STR("missing_required_fields"));
    appointment p = read_back(t, &d, rig_text(&g, "appointmentId"));
    ck_assert(json_truth(json_get(p.doc, "scanAutoDate"), false));
    ck_assert_int_eq(p.time.status, TIME_UNRESOLVED);
    model_off();
}

/* SCHED-81. */
RIG_TEST(pictures_are_taken_raw_and_as_data_urls)
{
    desk d = desk_with_model(t);
    model_says(TWO);
    ck_status(scan(t, &d, picture()), 200);
    ck_status(scan(t, &d, arena_strf(t->arena, "data:image/png;base64,%.*s", STR_ARG(picture()))), 200);
    model_off();
}

static const struct {
    const char *mime, *base64;
    int         status;
    const char *error;
} bad_pictures[] = {
    {"image/png", "", 400, "invalid_scan_payload"},
    {"image/gif", "R0lGODlh", 400, "invalid_scan_payload"},
    {"", "R0lGODlh", 400, "invalid_scan_payload"},
    {"image/png", "not base64!", 400, "invalid_image_base64"},
    {"image/png", "data:image/png,plain", 400, "invalid_image_base64"},
    {"image/png", "aGVsbG8=", 400, "invalid_scan_payload"},         /* no picture at all */
    {"image/png", "/9j/4AAQSkZJRg==", 400, "invalid_scan_payload"}, /* a JPEG that lies */
};
enum { BAD_PICTURES = sizeof bad_pictures / sizeof *bad_pictures };

/* SCHED-81. */
RIG_TEST(a_bad_picture_is_refused_before_anything_is_written)
{
    desk d = desk_open(t);
    got  g = people_post(t, d.session, "/api/scanAppointment",
                         "{\"groupId\":\"%.*s\",\"imageMime\":\"%s\",\"imageBase64\":\"%s\"}",
                         STR_ARG(d.group), bad_pictures[i].mime, bad_pictures[i].base64);
    ck_status(g, bad_pictures[i].status);
    ck_str_eq(rig_text(&g, "error"), str_of(bad_pictures[i].error));
    ck_assert_uint_eq(pictures_of(t, d.group), 0);
}

RIG_TEST(a_picture_above_three_mebibytes_is_too_large)
{
    desk  d = desk_open(t);
    char *bytes = arena_zalloc(t->arena, IMAGE_BYTES_MAX + 1);
    memcpy(bytes, PNG, sizeof PNG);
    got g = scan(t, &d, base64_encode(t->arena, (str){bytes, IMAGE_BYTES_MAX + 1}));
    ck_status(g, 413);
    ck_str_eq(rig_text(&g, "error"), STR("image_too_large"));
}

RIG_TEST(without_a_model_a_scan_says_so_and_leaves_nothing)
{
    desk d = desk_open(t);
    got  g = scan(t, &d, picture());
    ck_status(g, 502);
    ck_str_eq(rig_text(&g, "error"), STR("scan_parse_failed"));
    ck_str_eq(rig_text(&g, "message"), STR("OPENAI_API_KEY is not configured"));
    ck_assert_uint_eq(pictures_of(t, d.group), 0);
}

/* SCHED-46. */
RIG_TEST(scans_of_other_peoples_groups_are_refused)
{
    desk d = desk_open(t);
    str  eve = people_sign_in(t, "eve@example.org");
    str  mine = d.session;
    d.session = eve;
    ck_status(scan(t, &d, picture()), 403);
    d.session = (str){0};
    ck_status(scan(t, &d, picture()), 401);
    d.session = mine;
    d.group = STR("no-group");
    got g = scan(t, &d, picture());
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_group_id"));
}

/* ---- the picture ---- */

static got image_of(task *t, const desk *d, str id)
{
    return people_get(t, d->session,
                      arena_strf(t->arena, "/api/appointmentScanImage?groupId=%.*s&appointmentId=%.*s",
                                 STR_ARG(d->group), STR_ARG(id))
                          .at);
}

static str scanned(task *t, const desk *d)
{
    model_says(TWO);
    got g = scan(t, d, picture());
    ck_status(g, 200);
    return rig_text(&g, "appointmentId");
}

RIG_TEST(the_picture_of_an_appointment_is_served_as_it_came)
{
    desk d = desk_with_model(t);
    str  id = scanned(t, &d);
    got  g = image_of(t, &d, id);
    ck_status(g, 200);
    ck_str_eq(g.body, STR(PNG));
    ck_str_eq(rig_header(&g, "content-type"), STR("image/png"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("private, max-age=300"));
    ck_str_eq(rig_header(&g, "x-content-type-options"), STR("nosniff"));
    ck_status(image_of(t, &d, desk_add(t, &d, "no picture", "").id), 404);
    ck_status(image_of(t, &d, STR("nobody")), 404);
    g = image_of(t, &d, (str){0});
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("appointment_required"));
    model_off();
}

RIG_TEST(a_document_that_names_a_picture_elsewhere_has_none)
{
    desk               d = desk_open(t);
    appointment        p = desk_add(t, &d, "odd", "");
    appointment_change c = {.set = SET_SCAN,
                            .scan_key = STR("familyscheduler/users/somebody/profile.jpg"),
                            .scan_mime = STR("image/jpeg")};
    OK(blobs_put(t, sched_settings_get()->documents, c.scan_key, STR("\xff\xd8\xff secret"), &(blob_put){0},
                 NULL));
    OK(appointment_update(t, d.group, p.id, &c, &d.by, &p));
    ck_status(image_of(t, &d, p.id), 404);
}

/* ---- delete ---- */

/* SCHED-95. */
RIG_TEST(deleting_a_scan_deletes_the_appointment_softly)
{
    desk        d = desk_with_model(t);
    str         id = scanned(t, &d);
    appointment p;
    got         g = people_post(t, d.session, "/api/appointmentScanDelete",
                                "{\"groupId\":\"%.*s\",\"appointmentId\":\"%.*s\"}", STR_ARG(d.group), STR_ARG(id));
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    EXPECT(RES_NOT_FOUND, appointment_read(t, d.group, id, false, &p));
    OK(appointment_read(t, d.group, id, true, &p));
    ck_str_eq(member_of(&p, "scanStatus"), STR("deleted"));
    ck_status(image_of(t, &d, id), 404);
    ck_assert_uint_eq(pictures_of(t, d.group), 2);
    g = people_post(t, d.session, "/api/appointmentScanDelete",
                    "{\"groupId\":\"%.*s\",\"appointmentId\":\"nobody\"}", STR_ARG(d.group));
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("not_found"));
    model_off();
}

/* ---- rescan ---- */

static got rescan(task *t, const desk *d, str id)
{
    return people_post(t, d->session, "/api/appointmentScanRescan",
                       "{\"groupId\":\"%.*s\",\"appointmentId\":\"%.*s\",\"imageMime\":\"image/jpeg\","
                       "\"timezone\":\"UTC\",\"imageBase64\":\"/9j/4AAQSkZJRg==\"}",
                       STR_ARG(d->group), STR_ARG(id));
}

static appointment when_read_again(task *t, const desk *d, str id)
{
    for (;;) { /* the test's deadline ends it */
        appointment p = read_back(t, d, id);
        if (!str_eq(member_of(&p, "scanStatus"), STR("pending")))
            return p;
        OK(task_sleep(t, 5));
    }
}

RIG_TEST(a_rescan_answers_at_once_and_overwrites_later)
{
    desk d = desk_with_model(t);
    str  id = scanned(t, &d);
    model_forget();
    model_says("{\"appointments\":[{\"title\":\"Surgeon\",\"date\":\"2026-04-01\",\"startTime\":\"09:30\","
               "\"durationMins\":45}]}");
    got g = rescan(t, &d, id);
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    appointment p = when_read_again(t, &d, id);
    ck_str_eq(member_of(&p, "scanStatus"), STR("parsed"));
    ck_str_eq(p.title, STR("Surgeon"));
    ck_str_eq(member_of(&p, "start"), STR("2026-04-01T09:30:00.000Z"));
    ck_assert_int_eq(json_int(json_get(p.doc, "durationMins"), 0), 45);
    ck_str_eq(member_of(&p, "location"), STR("Main St 1"));
    ck_str_eq(member_of(&p, "scanImageMime"), STR("image/jpeg"));
    g = image_of(t, &d, id);
    ck_str_eq(rig_header(&g, "content-type"), STR("image/jpeg"));
    model_off();
}

RIG_TEST(a_rescan_that_fails_says_so_in_the_appointment)
{
    desk d = desk_with_model(t);
    str  id = scanned(t, &d);
    model_forget();
    model_status(429);
    ck_status(rescan(t, &d, id), 200);
    appointment p = when_read_again(t, &d, id);
    ck_str_eq(member_of(&p, "scanStatus"), STR("failed"));
    ck_str_eq(p.title, STR("Dentist"));
    ck_status(rescan(t, &d, STR("nobody")), 404);
    got g = rescan(t, &d, (str){0});
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_scan_payload"));
    model_off();
}

/* ---- failures inside ---- */

static const desk *tortured;
static str         tortured_id;

static void revive(task *t)
{
    bool was;
    OK(appointment_restore(t, tortured->group, tortured_id, &tortured->by, &was));
}

static const struct {
    const char *path;
    bool        is_get, has_picture;
} tortures[] = {
    {"/api/scanAppointment", false, true},
    {"/api/appointmentScanImage", true, false},
    {"/api/appointmentScanDelete", false, false},
    {"/api/appointmentScanRescan", false, true},
};

enum { TORTURES = sizeof tortures / sizeof *tortures };

RIG_TEST(no_call_about_a_scan_minds_where_it_is_broken)
{
    desk d = desk_with_model(t);
    tortured = &d;
    tortured_id = scanned(t, &d);
    model_forget();
    model_says("{\"title\":\"Alone\",\"date\":\"2026-03-05\"}");
    str query =
        arena_strf(scratch(), "?groupId=%.*s&appointmentId=%.*s", STR_ARG(d.group), STR_ARG(tortured_id));
    const char *target = tortures[i].is_get ? textf("%s%s", tortures[i].path, query.at) : tortures[i].path;
    const char *more =
        tortures[i].has_picture ? ",\"imageMime\":\"image/jpeg\",\"imageBase64\":\"/9j/4AAQSkZJRg==\"" : "";
    const char *body = textf("{\"groupId\":\"%s\",\"appointmentId\":\"%s\"%s}",
                             arena_cstr(scratch(), d.group), arena_cstr(scratch(), tortured_id), more);
    rig_request in = people_request(d.session, target, tortures[i].is_get ? NULL : body);
    rig_torture(t, &in, 200, (const int[]){500, 502, 0}, revive);
    model_off();
}

Suite *suite_sched_scan(void)
{
    Suite *s = suite_create("sched_scan");
    TCase *c = live_case("scan");
    tcase_add_test(c, each_appointment_in_a_picture_becomes_one_with_the_picture);
    tcase_add_loop_test(c, what_a_model_says_is_read_in_each_of_its_forms, 0, ANSWERS);
    tcase_add_test(c, what_could_not_be_used_is_told_by_its_place);
    tcase_add_test(c, pictures_are_taken_raw_and_as_data_urls);
    tcase_add_loop_test(c, a_bad_picture_is_refused_before_anything_is_written, 0, BAD_PICTURES);
    tcase_add_test(c, a_picture_above_three_mebibytes_is_too_large);
    tcase_add_test(c, without_a_model_a_scan_says_so_and_leaves_nothing);
    tcase_add_test(c, scans_of_other_peoples_groups_are_refused);
    tcase_add_test(c, the_picture_of_an_appointment_is_served_as_it_came);
    tcase_add_test(c, a_document_that_names_a_picture_elsewhere_has_none);
    tcase_add_test(c, deleting_a_scan_deletes_the_appointment_softly);
    tcase_add_test(c, a_rescan_answers_at_once_and_overwrites_later);
    tcase_add_test(c, a_rescan_that_fails_says_so_in_the_appointment);
    tcase_add_loop_test(c, no_call_about_a_scan_minds_where_it_is_broken, 0, TORTURES);
    suite_add_tcase(s, c);
    return s;
}
