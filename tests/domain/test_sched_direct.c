/* test_sched_direct.c -- POST /api/direct: the gate, the members of actions, edits, details, messages.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/sched_direct.h"
#include "domain/sched_suites.h"

/* ---- what every answer has ---- */

RIG_TEST(every_answer_names_version_invocation_and_trace)
{
    desk        d = desk_open(t);
    http_header headers[] = {
        {STR("x-session-id"), d.session},
        {STR("traceparent"), STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")},
        {STR("X-Azure-Functions-InvocationId"), STR("inv-1")}};
    str body = arena_strf(t->arena,
                          "{\"groupId\":\"%.*s\",\"traceId\":\"mine\",\"action\":{\"type\":"
                          "\"list_appointments\"}}",
                          STR_ARG(d.group));
    got g = rig_call(t, "POST", "/api/direct", body, headers, 3);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "directVersion"), STR("unknown"));
    ck_str_eq(rig_text(&g, "invocationId"), STR("inv-1"));
    ck_str_eq(rig_text(&g, "traceId"), STR("mine"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "opId")), JSON_NULL);
    ck_str_eq(rig_header(&g, "x-trace-id"), STR("mine"));
    ck_str_eq(rig_header(&g, "x-invocation-id"), STR("inv-1"));
    ck_str_eq(rig_header(&g, "x-traceparent"), headers[1].value);
    ck_str_eq(rig_header(&g, "cache-control"), STR("no-store"));
    ck_assert(str_has(rig_header(&g, "access-control-expose-headers"), STR("x-trace-id")));
}

RIG_TEST(what_is_refused_names_them_too)
{
    desk d = desk_open(t);
    got g = people_post(t, (str){0}, "/api/direct", "{\"groupId\":\"%.*s\",\"action\":{}}", STR_ARG(d.group));
    ck_status(g, 401);
    ck_str_eq(rig_text(&g, "error"), STR("unauthorized"));
    ck_assert(rig_at(&g, "invocationId") != NULL && rig_header(&g, "x-invocation-id").len > 0);
    g = people_post(t, d.session, "/api/direct", "[1]");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "code"), STR("BAD_JSON"));
    ck_assert(rig_at(&g, "directVersion") != NULL);
}

/* ---- the gate ---- */

static got list(task *t, str session, str group)
{
    return people_post(t, session, "/api/direct",
                       "{\"groupId\":\"%.*s\",\"action\":{\"type\":\"list_appointments\"}}", STR_ARG(group));
}

/* SCHED-45, SCHED-70. */
RIG_TEST(an_active_row_lets_in_whatever_the_blob_and_the_body_say)
{
    desk d = desk_open(t);
    str  bob = people_sign_in(t, "bob@example.org");
    people_add(t, d.group, "bob@example.org");
    ck_status(list(t, bob, d.group), 200);
    got g = people_post(t, bob, "/api/direct",
                        "{\"groupId\":\"%.*s\",\"email\":\"nobody@else.org\",\"action\":{\"type\":"
                        "\"create_blank_appointment\"}}",
                        STR_ARG(d.group));
    ck_status(g, 200);
    str    id = rig_text(&g, "snapshot/appointments/0/id");
    entity e = people_row(t, PLACE_APPOINTMENT_PARTICIPANTS,
                          arena_strf(t->arena, "g:%.*s|a:%.*s", STR_ARG(d.group), STR_ARG(id)),
                          arena_strf(t->arena, "m:auth:%.*s", STR_ARG(people_user_key("bob@example.org"))));
    ck_str_eq(entity_str(&e, "role", (str){0}), STR("organizer"));
}

/* SCHED-46. */
RIG_TEST(who_stands_in_the_blob_alone_is_not_let_in)
{
    desk d = desk_open(t);
    str  eve = people_sign_in(t, "eve@example.org");
    OK(blobs_put(
        t, sched_settings_get()->state, place_state_blob(t->arena, d.group),
        STR("{\"schemaVersion\":3,\"people\":[{\"email\":\"eve@example.org\",\"status\":\"active\"}],"
            "\"rules\":[]}"),
        &(blob_put){0}, NULL));
    got g = list(t, eve, d.group);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("not_allowed"));
}

/* SCHED-47, SCHED-48. */
RIG_TEST(the_invited_and_the_removed_are_not_let_in)
{
    desk d = desk_open(t);
    str  bob = people_sign_in(t, "bob@example.org");
    people_invite(t, d.group, "bob@example.org");
    ck_status(list(t, bob, d.group), 403);
    people_drop(t, d.group, "bob@example.org");
    ck_status(list(t, bob, d.group), 403);
}

/* SCHED-49. */
RIG_TEST(a_deleted_group_is_not_found)
{
    desk d = desk_open(t);
    ck_status(people_post(t, d.session, "/api/group/delete", "{\"groupId\":\"%.*s\"}", STR_ARG(d.group)),
              200);
    got g = list(t, d.session, d.group);
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("group_not_found"));
}

/* ---- the members of actions ---- */

#define A "\"appointmentId\":\"a\""
#define R "\"clientRequestId\":\"r\""

static const struct {
    const char *action, *message;
} bad_actions[] = {
    {"7", "action must be an object"},
    {"[]", "action must be an object"},
    {"null", "action must be an object"},
    {"{}", "action.type is required"},
    {"{\"type\":7}", "action.type is required"},
    {"{\"type\":\"  \"}", "action.type is required"},
    {"{\"type\":\"fly\"}", "unsupported action type: fly"},
    {"{\"type\":\"seed_sample_data\"}", "unsupported action type: seed_sample_data"},
    {"{\"type\":\"set_appointment_date\",\"date\":\"2026-03-05\"}", "code is required"},
    {"{\"type\":\"set_appointment_date\",\"code\":7,\"date\":\"2026-03-05\"}", "code is required"},
    {"{\"type\":\"set_appointment_date\",\"code\":\"APPT-1\"}", "date is required"},
    {"{\"type\":\"set_appointment_date\",\"code\":\"APPT-1\",\"date\":20260305}", "date is required"},
    {"{\"type\":\"set_appointment_date\",\"code\":\"APPT-1\",\"date\":\"2026-02-30\"}",
     "date must be a date (YYYY-MM-DD)"},
    {"{\"type\":\"set_appointment_start_time\"}", "code is required"},
    {"{\"type\":\"set_appointment_start_time\",\"code\":\"APPT-1\",\"startTime\":\"25:00\"}",
     "startTime must be a time of day (HH:MM)"},
    {"{\"type\":\"set_appointment_duration\"}", "code is required"},
    {"{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":0}",
     "durationMins must be a whole number from 1 to 1440"},
    {"{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":1441}",
     "durationMins must be a whole number from 1 to 1440"},
    {"{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":1.5}",
     "durationMins must be a whole number from 1 to 1440"},
    {"{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":\"an hour\"}",
     "durationMins must be a whole number from 1 to 1440"},
    {"{\"type\":\"set_appointment_location\"}", "code is required"},
    {"{\"type\":\"set_appointment_notes\"}", "code is required"},
    {"{\"type\":\"set_appointment_desc\",\"code\":\"APPT-1\"}", "desc is required"},
    {"{\"type\":\"set_appointment_desc\",\"code\":\"APPT-1\",\"desc\":[]}", "desc is required"},
    {"{\"type\":\"set_appointment_desc\",\"desc\":\"x\"}", "code is required"},
    {"{\"type\":\"reschedule_appointment\",\"date\":\"2026-03-05\"}", "code is required"},
    {"{\"type\":\"reschedule_appointment\",\"code\":\"APPT-1\"}", "date is required"},
    {"{\"type\":\"delete_appointment\"}", "appointmentId or code is required"},
    {"{\"type\":\"delete_appointment\",\"appointmentId\":7}", "appointmentId or code is required"},
    {"{\"type\":\"restore_appointment\"}", "appointmentId is required"},
    {"{\"type\":\"restore_appointment\",\"appointmentId\":{}}", "appointmentId is required"},
    {"{\"type\":\"get_appointment_detail\"}", "appointmentId is required"},
    {"{\"type\":\"get_appointment_detail\"," A ",\"limit\":101}",
     "limit must be a whole number from 1 to 100"},
    {"{\"type\":\"append_appointment_message\",\"text\":\"x\"," R "}", "appointmentId is required"},
    {"{\"type\":\"append_appointment_message\"," A "," R "}", "text is required"},
    {"{\"type\":\"append_appointment_message\"," A ",\"text\":3," R "}", "text is required"},
    {"{\"type\":\"append_appointment_message\"," A ",\"text\":\"x\"}", "clientRequestId is required"},
    {"{\"type\":\"apply_appointment_proposal\"," A ",\"field\":\"title\",\"value\":\"x\"," R "}",
     "proposalId is required"},
    {"{\"type\":\"apply_appointment_proposal\"," A ",\"proposalId\":\"p\",\"value\":\"x\"," R "}",
     "field is required"},
    {"{\"type\":\"apply_appointment_proposal\"," A
     ",\"proposalId\":\"p\",\"field\":\"time\",\"value\":\"x\"," R "}",
     "field must be one of title"},
    {"{\"type\":\"apply_appointment_proposal\"," A ",\"proposalId\":\"p\",\"field\":\"title\"," R "}",
     "value is required"},
    {"{\"type\":\"apply_appointment_proposal\"," A
     ",\"proposalId\":\"p\",\"field\":\"title\",\"value\":\"x\"}",
     "clientRequestId is required"},
    {"{\"type\":\"edit_appointment_proposal\"," A ",\"field\":\"title\",\"value\":\"x\"," R "}",
     "proposalId is required"},
    {"{\"type\":\"edit_appointment_proposal\"," A ",\"proposalId\":\"p\",\"field\":\"title\"," R "}",
     "value is required"},
    {"{\"type\":\"pause_appointment_proposal\"," A "}", "proposalId is required"},
    {"{\"type\":\"resume_appointment_proposal\"," A "}", "proposalId is required"},
    {"{\"type\":\"dismiss_appointment_proposal\"," A ",\"proposalId\":1}", "proposalId is required"},
    {"{\"type\":\"dismiss_appointment_proposal\",\"proposalId\":\"p\"}", "appointmentId is required"},
    {"{\"type\":\"add_constraint\"," A ",\"field\":\"title\",\"operator\":\"required\"}",
     "memberEmail is required"},
    {"{\"type\":\"add_constraint\"," A ",\"memberEmail\":\"a@b.c\",\"operator\":\"required\"}",
     "field is required"},
    {"{\"type\":\"add_constraint\"," A
     ",\"memberEmail\":\"a@b.c\",\"field\":\"mood\",\"operator\":\"equals\"}",
     "field must be one of title|time|location|general"},
    {"{\"type\":\"add_constraint\"," A ",\"memberEmail\":\"a@b.c\",\"field\":\"title\"}",
     "operator is required"},
    {"{\"type\":\"add_constraint\"," A ",\"memberEmail\":\"a@b.c\",\"field\":\"title\",\"operator\":\"is\"}",
     "operator must be one of equals|contains|not_contains|required"},
    {"{\"type\":\"edit_constraint\"," A ",\"memberEmail\":\"a@b.c\",\"field\":\"title\",\"operator\":"
     "\"required\"}",
     "constraintId is required"},
    {"{\"type\":\"remove_constraint\"," A ",\"memberEmail\":\"a@b.c\"}", "constraintId is required"},
    {"{\"type\":\"remove_constraint\"," A ",\"constraintId\":\"c\"}", "memberEmail is required"},
    {"{\"type\":\"create_suggestion\"," A ",\"value\":\"x\"}", "field is required"},
    {"{\"type\":\"create_suggestion\"," A ",\"field\":\"general\",\"value\":\"x\"}",
     "field must be one of title|time|location"},
    {"{\"type\":\"create_suggestion\"," A ",\"field\":\"title\"}", "value is required"},
    {"{\"type\":\"dismiss_suggestion\"," A "}", "suggestionId is required"},
    {"{\"type\":\"apply_suggestion\"," A "}", "suggestionId is required"},
    {"{\"type\":\"react_suggestion\"," A ",\"reaction\":\"up\"}", "suggestionId is required"},
    {"{\"type\":\"react_suggestion\"," A ",\"suggestionId\":\"s\"}", "reaction is required"},
    {"{\"type\":\"react_suggestion\"," A ",\"suggestionId\":\"s\",\"reaction\":\"meh\"}",
     "reaction must be one of up|down"},
    {"{\"type\":\"preview_appointment_update_email\"," A "}", "recipientPersonIds is required"},
    {"{\"type\":\"preview_appointment_update_email\"," A ",\"recipientPersonIds\":[]}",
     "recipientPersonIds is required"},
    {"{\"type\":\"preview_appointment_update_email\"," A ",\"recipientPersonIds\":[7]}",
     "recipientPersonIds must be a list of 1 to 100 texts"},
    {"{\"type\":\"send_appointment_update_email\"," A ",\"recipientPersonIds\":[\"p\"]}",
     "clientRequestId is required"},
    {"{\"type\":\"send_appointment_update_email\"," A ",\"recipientPersonIds\":\"p\"," R "}",
     "recipientPersonIds is required"},
    {"{\"type\":\"list_appointment_notifications\"," A ",\"limit\":51}",
     "limit must be a whole number from 1 to 50"},
    {"{\"type\":\"create_appointment_reminder\"," A "," R "}", "offsetMinutes is required"},
    {"{\"type\":\"create_appointment_reminder\"," A ",\"offsetMinutes\":\"5\"," R "}",
     "offsetMinutes is required"},
    {"{\"type\":\"create_appointment_reminder\"," A ",\"offsetMinutes\":4," R "}",
     "offsetMinutes must be a whole number from 5 to 10080"},
    {"{\"type\":\"create_appointment_reminder\"," A ",\"offsetMinutes\":10081," R "}",
     "offsetMinutes must be a whole number from 5 to 10080"},
    {"{\"type\":\"create_appointment_reminder\"," A ",\"offsetMinutes\":10}", "clientRequestId is required"},
    {"{\"type\":\"cancel_appointment_reminder\"," A "}", "reminderId is required"},
    {"{\"type\":\"resolve_appointment_time\"}", "whenText is required"},
    {"{\"type\":\"resolve_appointment_time\",\"whenText\":5}", "whenText is required"},
};

enum { BAD_ACTIONS = sizeof bad_actions / sizeof *bad_actions };

RIG_TEST(an_action_with_a_member_missing_or_wrong_is_refused_in_these_words)
{
    desk d = desk_open(t);
    for (int n = 0; n < BAD_ACTIONS; n++) {
        got g = direct_ask(t, &d, bad_actions[n].action);
        ck_assert_msg(g.status == 400, "%s: %d", bad_actions[n].action, g.status);
        ck_str_eq(rig_text(&g, "message"), str_of(bad_actions[n].message));
        ck_assert(!rig_bool(&g, "ok"));
        ck_assert(rig_at(&g, "error") == NULL);
    }
}

RIG_TEST(texts_that_are_too_long_are_refused)
{
    desk d = desk_open(t);
    str  x = live_repeat(scratch(), STR("\xC3\xA9"), 161);
    got  g = direct_askf(t, &d, "{\"type\":\"set_appointment_desc\",\"code\":\"APPT-1\",\"desc\":\"%.*s\"}",
                         STR_ARG(x));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "message"), STR("desc must have at most 160 characters"));
    x = live_repeat(scratch(), STR("n"), 501);
    g = direct_askf(t, &d, "{\"type\":\"set_appointment_notes\",\"code\":\"APPT-1\",\"notes\":\"%.*s\"}",
                    STR_ARG(x));
    ck_str_eq(rig_text(&g, "message"), STR("notes must have at most 500 characters"));
}

RIG_TEST(without_a_group_nothing_is_asked)
{
    got g = people_post(t, (str){0}, "/api/direct", "{\"action\":{\"type\":\"list_appointments\"}}");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "message"), STR("groupId is required"));
}

/* ---- edits ---- */

/* SCHED-71, SCHED-91. */
RIG_TEST(a_new_appointment_gets_the_next_code_and_is_listed)
{
    desk d = desk_open(t);
    got  g = direct_ask(t, &d, "{\"type\":\"create_blank_appointment\",\"timezone\":\"UTC\"}");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/code"), STR("APPT-1"));
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/time/intent/status"), STR("unresolved"));
    str id = rig_text(&g, "snapshot/appointments/0/id"), today = str_slice(call_now(t->arena), 0, 10);
    if (!str_eq(rig_text(&g, "snapshot/appointments/0/date"), today)) /* midnight came between */
        ck_str_eq(rig_text(&g, "snapshot/appointments/0/date"), str_slice(call_now(t->arena), 0, 10));
    ck_assert(desk_document(t, d.group, id).len > 0);
    ck_assert_uint_eq(desk_rows(t, d.group).len, 1);
    g = direct_ask(t, &d, "{\"type\":\"create_blank_appointment\"}");
    ck_assert_uint_eq(json_len(rig_at(&g, "snapshot/appointments")), 2);
    ck_assert(str_has(g.body, STR("\"APPT-2\"")));
    str    day = str_slice(call_now(t->arena), 0, 10);
    entity m = people_row(t, PLACE_DAILY_METRICS, str_slice(day, 0, 7), day);
    ck_assert_int_eq(entity_int(&m, "newAppointments", 0), 2);
}

static const struct {
    const char *action, *path, *want;
} edits[] = {
    {"{\"type\":\"set_appointment_desc\",\"code\":\"appt 1\",\"desc\":\" Dentist \"}", "title", "Dentist"},
    {"{\"type\":\"set_appointment_notes\",\"code\":\"APPT-1\",\"notes\":\"bring it\"}", "notes", "bring it"},
    {"{\"type\":\"set_appointment_location\",\"code\":\"APPT-1\",\"location\":\"A\\n B\"}", "locationDisplay",
     "A, B"},
    {"{\"type\":\"set_appointment_location\",\"code\":\"APPT-1\",\"locationRaw\":\"C\"}", "location", "C"},
    {"{\"type\":\"set_appointment_date\",\"code\":\"APPT-1\",\"date\":\"2026-04-06\"}", "date", "2026-04-06"},
    {"{\"type\":\"set_appointment_start_time\",\"code\":\"APPT-1\",\"startTime\":\"11:15\"}", "startTime",
     "11:15"},
    {"{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":90}",
     "time/resolved/endUtc", "2026-03-05T12:00:00.000Z"},
    {"{\"type\":\"reschedule_appointment\",\"code\":\"APPT-1\",\"date\":\"2026-05-01\",\"startTime\":\"08:"
     "00\","
     "\"durationMins\":30}",
     "time/resolved/startUtc", "2026-05-01T08:00:00.000Z"},
};

enum { EDITS = sizeof edits / sizeof *edits };

/* SCHED-76. */
RIG_TEST(each_edit_changes_the_document_and_the_index)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    str         before = entity_str(&p.index, "updatedAt", (str){0});
    got         g = direct_ask(t, &d, edits[i].action);
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    str path = arena_strf(t->arena, "snapshot/appointments/0/%s", edits[i].path);
    ck_str_eq(rig_text(&g, path.at), str_of(edits[i].want));
    appointment after;
    OK(appointment_read(t, d.group, p.id, false, &after));
    str updated = entity_str(&after.index, "updatedAt", (str){0});
    ck_assert_int_gt(str_compare(updated, before), 0);
    ck_str_eq(json_text(json_get(after.doc, "updatedAt"), (str){0}), updated);
    ck_assert_uint_eq(desk_rows(t, d.group).len, 1);
}

RIG_TEST(an_empty_start_makes_a_whole_day_and_an_empty_length_is_missing)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    got         g = direct_ask(t, &d,
                               "{\"type\":\"set_appointment_duration\",\"code\":\"APPT-1\",\"durationMins\":\"\"}");
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/time/intent/status"), STR("partial"));
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/time/intent/missing/0"), STR("duration"));
    g = direct_ask(t, &d, "{\"type\":\"set_appointment_start_time\",\"code\":\"APPT-1\",\"startTime\":\"\"}");
    ck_assert(rig_bool(&g, "snapshot/appointments/0/isAllDay"));
    ck_assert(rig_at(&g, "snapshot/appointments/0/startTime") == NULL);
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/date"), STR("2026-03-05"));
    ck_assert(p.id.len > 0);
}

RIG_TEST(an_unknown_code_is_told_with_the_snapshot)
{
    desk d = desk_open(t);
    got  g = direct_ask(t, &d, "{\"type\":\"set_appointment_notes\",\"code\":\"APPT-9\",\"notes\":\"x\"}");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "message"), STR("Not found: APPT-9"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "snapshot/appointments")), JSON_ARRAY);
}

/* SCHED-74, SCHED-75, SCHED-95. */
RIG_TEST(a_deleted_appointment_leaves_the_list_and_comes_back)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    got g = direct_askf(t, &d, "{\"type\":\"delete_appointment\",\"appointmentId\":\"%.*s\"}", STR_ARG(p.id));
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_assert_uint_eq(json_len(rig_at(&g, "snapshot/appointments")), 0);
    entity row = desk_rows(t, d.group).at[0];
    ck_assert(entity_bool(&row, "isDeleted", false));
    ck_str_eq(entity_str(&row, "deletedByUserKey", (str){0}), people_user_key("ann@example.org"));
    ck_assert(str_has(desk_document(t, d.group, p.id), STR("\"isDeleted\":true")));
    g = direct_askf(t, &d, "{\"type\":\"get_appointment_detail\",\"appointmentId\":\"%.*s\"}", STR_ARG(p.id));
    ck_status(g, 404);
    g = direct_askf(t, &d, "{\"type\":\"restore_appointment\",\"appointmentId\":\"%.*s\"}", STR_ARG(p.id));
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "snapshot/appointments")), 1);
    ck_assert(str_has(desk_document(t, d.group, p.id), STR("\"isDeleted\":false")));
    g = direct_askf(t, &d, "{\"type\":\"restore_appointment\",\"appointmentId\":\"%.*s\"}", STR_ARG(p.id));
    ck_str_eq(rig_text(&g, "message"), arena_strf(t->arena, "Already active: %.*s", STR_ARG(p.id)));
    g = direct_ask(t, &d, "{\"type\":\"delete_appointment\",\"appointmentId\":\"nowhere\"}");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "message"), STR("Not found: nowhere"));
    g = direct_ask(t, &d, "{\"type\":\"delete_appointment\",\"code\":\"APPT-1\"}");
    ck_assert(rig_bool(&g, "ok"));
}

/* ---- detail ---- */

static got detail_of(task *t, const desk *d, str id)
{
    return direct_askf(t, d, "{\"type\":\"get_appointment_detail\",\"appointmentId\":\"%.*s\"}", STR_ARG(id));
}

/* SCHED-73, SCHED-92, SCHED-99. */
RIG_TEST(a_detail_is_of_index_and_document_alone)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    OK(blobs_put(t, sched_settings_get()->state, place_state_blob(t->arena, d.group),
                 STR("{\"appointments\":[{\"id\":\"other\"}]}"), &(blob_put){0}, NULL));
    got g = detail_of(t, &d, p.id);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "appointment/title"), STR("Meeting"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "pendingProposal")), JSON_NULL);
    ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
    ck_assert_uint_eq(json_len(rig_at(&g, "eventsPage")), 0);
    ck_assert_uint_eq(json_len(rig_at(&g, "reminders")), 0);
    ck_str_eq(rig_text(&g, "participants/0/personId"), people_user_key("ann@example.org"));
    ck_str_eq(rig_text(&g, "participants/0/role"), STR("organizer"));
    ck_str_eq(rig_text(&g, "participants/0/name"), STR("ann"));
    ck_assert(!str_has(g.body, STR("auth:")));
    g = direct_ask(t, &d, "{\"type\":\"get_appointment_detail\",\"appointmentId\":\"nowhere\"}");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("appointment_not_found"));
    ck_str_eq(rig_text(&g, "appointmentId"), STR("nowhere"));
    OK(blobs_remove(t, sched_settings_get()->documents, place_appointment_blob(t->arena, d.group, p.id),
                    (str){0}));
    ck_status(detail_of(t, &d, p.id), 404);
}

/* ---- messages and proposals ---- */

static got say(task *t, const desk *d, str id, const char *text, const char *asked)
{
    return direct_askf(t, d,
                       "{\"type\":\"append_appointment_message\",\"appointmentId\":\"%.*s\",\"text\":\"%s\","
                       "\"clientRequestId\":\"%s\"}",
                       STR_ARG(id), text, asked);
}

static got on_proposal(task *t, const desk *d, const char *verb, str id, str proposal, const char *more)
{
    return direct_askf(t, d,
                       "{\"type\":\"%s_appointment_proposal\",\"appointmentId\":\"%.*s\",\"proposalId\":"
                       "\"%.*s\"%s}",
                       verb, STR_ARG(id), STR_ARG(proposal), more);
}

RIG_TEST(a_message_is_kept_once_however_often_it_is_sent)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    got         g = say(t, &d, p.id, "hello", "r1");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "appendedEvents")), 1);
    ck_str_eq(rig_text(&g, "appendedEvents/0/type"), STR("USER_MESSAGE"));
    ck_str_eq(rig_text(&g, "appendedEvents/0/actor/email"), STR("ann@example.org"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "proposal")), JSON_NULL);
    g = say(t, &d, p.id, "hello", "r1");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "appendedEvents")), 0);
    g = detail_of(t, &d, p.id);
    ck_assert_uint_eq(json_len(rig_at(&g, "eventsPage")), 1);
    ck_assert_uint_eq(json_len(rig_at(&g, "projections/discussionEvents")), 1);
    ck_assert_uint_eq(json_len(rig_at(&g, "projections/changeEvents")), 0);
}

/* SCHED-79. */
RIG_TEST(a_proposal_is_pending_paused_edited_and_closed)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    got         g = say(t, &d, p.id, "Please Update Title TO Dentist", "r1");
    str         id = rig_text(&g, "proposal/proposalId");
    ck_str_eq(rig_text(&g, "proposal/to"), STR("Dentist"));
    ck_str_eq(rig_text(&g, "proposal/status"), STR("pending"));
    g = say(t, &d, p.id, "rename to Doctor", "r2");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("title_proposal_pending"));
    ck_str_eq(rig_text(&g, "pendingProposal/proposalId"), id);
    ck_status(on_proposal(t, &d, "pause", p.id, id, ""), 200);
    g = detail_of(t, &d, p.id);
    ck_str_eq(rig_text(&g, "pendingProposal/status"), STR("paused"));
    ck_status(on_proposal(t, &d, "resume", p.id, id, ""), 200);
    g = on_proposal(t, &d, "edit", p.id, id,
                    ",\"field\":\"title\",\"value\":\"Doc\",\"clientRequestId\":\"r3\"");
    ck_status(g, 200);
    g = detail_of(t, &d, p.id);
    ck_str_eq(rig_text(&g, "pendingProposal/status"), STR("pending"));
    ck_str_eq(rig_text(&g, "pendingProposal/to"), STR("Doc"));
    g = on_proposal(t, &d, "pause", p.id, STR("other"), "");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("proposal_not_active"));
    ck_status(on_proposal(t, &d, "dismiss", p.id, id, ",\"clientRequestId\":\"r4\""), 200);
    ck_status(on_proposal(t, &d, "dismiss", p.id, id, ",\"clientRequestId\":\"r4\""), 200);
    g = on_proposal(t, &d, "dismiss", p.id, id, "");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("proposal_not_found"));
    g = detail_of(t, &d, p.id);
    ck_assert_int_eq(json_typeof(rig_at(&g, "pendingProposal")), JSON_NULL);
}

/* SCHED-78. */
RIG_TEST(an_applied_proposal_is_the_title_and_is_applied_once)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    const char *apply = ",\"field\":\"title\",\"value\":\"Dentist\",\"clientRequestId\":\"r2\"";
    got         g = say(t, &d, p.id, "change title to Dentist", "r1");
    str         id = rig_text(&g, "proposal/proposalId");
    g = on_proposal(t, &d, "apply", p.id, id, apply);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "appendedEvents/0/type"), STR("PROPOSAL_APPLIED"));
    ck_str_eq(rig_text(&g, "appendedEvents/1/type"), STR("FIELD_CHANGED"));
    ck_str_eq(rig_text(&g, "appendedEvents/1/payload/from"), STR("Meeting"));
    ck_str_eq(rig_text(&g, "appendedEvents/2/type"), STR("SYSTEM_CONFIRMATION"));
    g = list(t, d.session, d.group);
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/title"), STR("Dentist"));
    g = on_proposal(t, &d, "apply", p.id, id, apply);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "appendedEvents")), 0);
    g = on_proposal(t, &d, "apply", p.id, id,
                    ",\"field\":\"title\",\"value\":\"X\",\"clientRequestId\":\"r9\"");
    ck_status(g, 404);
    str x = live_repeat(scratch(), STR("x"), 161);
    str more = arena_strf(t->arena, ",\"field\":\"title\",\"value\":\"%.*s\",\"clientRequestId\":\"r5\"",
                          STR_ARG(x));
    g = on_proposal(t, &d, "apply", p.id, id, more.at);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_title"));
}

RIG_TEST(events_come_in_pages_from_the_newest_on)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    for (int n = 0; n < 60; n++) {
        str asked = arena_strf(t->arena, "r%d", n), text = arena_strf(t->arena, "m%d", n);
        ck_status(say(t, &d, p.id, text.at, asked.at), 200);
    }
    got g = detail_of(t, &d, p.id);
    ck_assert_uint_eq(json_len(rig_at(&g, "eventsPage")), 50);
    ck_str_eq(rig_text(&g, "eventsPage/0/payload/text"), STR("m59"));
    str cursor = json_print_val(t->arena, rig_at(&g, "nextCursor"));
    g = direct_askf(t, &d, "{\"type\":\"get_appointment_detail\",\"appointmentId\":\"%.*s\",\"cursor\":%.*s}",
                    STR_ARG(p.id), STR_ARG(cursor));
    ck_assert_uint_eq(json_len(rig_at(&g, "eventsPage")), 10);
    ck_str_eq(rig_text(&g, "eventsPage/0/payload/text"), STR("m9"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
}

Suite *suite_sched_direct(void)
{
    Suite *s = suite_create("sched_direct");
    TCase *c = live_case("direct");
    tcase_add_test(c, every_answer_names_version_invocation_and_trace);
    tcase_add_test(c, what_is_refused_names_them_too);
    tcase_add_test(c, an_active_row_lets_in_whatever_the_blob_and_the_body_say);
    tcase_add_test(c, who_stands_in_the_blob_alone_is_not_let_in);
    tcase_add_test(c, the_invited_and_the_removed_are_not_let_in);
    tcase_add_test(c, a_deleted_group_is_not_found);
    tcase_add_test(c, an_action_with_a_member_missing_or_wrong_is_refused_in_these_words);
    tcase_add_test(c, texts_that_are_too_long_are_refused);
    tcase_add_test(c, without_a_group_nothing_is_asked);
    tcase_add_test(c, a_new_appointment_gets_the_next_code_and_is_listed);
    tcase_add_loop_test(c, each_edit_changes_the_document_and_the_index, 0, EDITS);
    tcase_add_test(c, an_empty_start_makes_a_whole_day_and_an_empty_length_is_missing);
    tcase_add_test(c, an_unknown_code_is_told_with_the_snapshot);
    tcase_add_test(c, a_deleted_appointment_leaves_the_list_and_comes_back);
    tcase_add_test(c, a_detail_is_of_index_and_document_alone);
    tcase_add_test(c, a_message_is_kept_once_however_often_it_is_sent);
    tcase_add_test(c, a_proposal_is_pending_paused_edited_and_closed);
    tcase_add_test(c, an_applied_proposal_is_the_title_and_is_applied_once);
    tcase_add_test(c, events_come_in_pages_from_the_newest_on);
    suite_add_tcase(s, c);
    return s;
}
