/* test_sched_direct_more.c -- POST /api/direct: constraints, suggestions, mails, reminders, times, people;
 * and what happens when something breaks.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdlib.h>

#include "core/clock.h"
#include "domain/sched_direct.h"
#include "domain/sched_model.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/events.h"
#include "domain/scheduler/reminders.h"

#define ANN "ann@example.org"
#define BOB "bob@example.org"

/* An action on that appointment; `more` begins with a comma. */
static got act(task *t, const desk *d, const char *type, str id, const char *more)
{
    return direct_askf(t, d, "{\"type\":\"%s\",\"appointmentId\":\"%.*s\"%s}", type, STR_ARG(id), more);
}

static const char *moref(task *t, const char *fmt, str value)
{
    return arena_strf(t->arena, "%s\"%.*s\"", fmt, STR_ARG(value)).at;
}

/* The desk of another member of the same group. */
static desk beside(task *t, const desk *d, const char *email)
{
    desk other = *d;
    people_add(t, d->group, email);
    other.session = people_named(t, email);
    return other;
}

static size_t letters(void)
{
    DIR   *d = opendir(getenv("EMAIL_SINK_DIR"));
    size_t n = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += str_ends(str_of(e->d_name), STR(".json")) ? 1 : 0;
    if (d != NULL)
        (void)closedir(d);
    return n;
}

static void with_mail(void)
{
    ck_assert_int_eq(setenv("EMAIL_SINK_DIR", arena_strf(scratch(), "%s/mail", live_dir()).at, 1), 0);
}

/* ---- constraints ---- */

#define MINE(rest) ",\"memberEmail\":\"Ann@Example.org\"," rest

RIG_TEST(constraints_are_ones_own_and_say_whether_all_is_well)
{
    desk        d = desk_open(t), bob = beside(t, &d, BOB);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    const char *wish = MINE("\"field\":\"title\",\"operator\":\"contains\",\"value\":\"dentist\"");
    got         g = act(t, &bob, "add_constraint", p.id, wish);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("forbidden_constraint_member"));
    g = act(t, &d, "add_constraint", p.id, wish);
    ck_status(g, 200);
    str id = rig_text(&g, "constraints/byMember/ann@example.org/0/constraintId");
    ck_str_eq(rig_text(&g, "reconciliation/status"), STR("unreconciled"));
    ck_str_eq(rig_text(&g, "reconciliation/reasons/0"),
              arena_strf(t->arena, "constraint_violated:%.*s", STR_ARG(id)));
    ck_str_eq(rig_text(&g, "appendedEvents/0/type"), STR("CONSTRAINT_ADDED"));
    ck_str_eq(rig_text(&g, "appendedEvents/1/type"), STR("RECONCILIATION_CHANGED"));
    ck_status(
        direct_ask(t, &d, "{\"type\":\"set_appointment_desc\",\"code\":\"APPT-1\",\"desc\":\"My DENTIST\"}"),
        200);
    g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_str_eq(rig_text(&g, "appointment/reconciliation/status"), STR("reconciled"));
    g = act(t, &d, "edit_constraint", p.id,
            moref(t, MINE("\"field\":\"location\",\"operator\":\"required\",\"constraintId\":"), id));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "constraints/byMember/ann@example.org/0/field"), STR("location"));
    ck_str_eq(rig_text(&g, "reconciliation/status"), STR("unreconciled"));
    g = act(t, &d, "remove_constraint", p.id, moref(t, MINE("\"constraintId\":"), STR("other")));
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("constraint_not_found"));
    g = act(t, &d, "remove_constraint", p.id, moref(t, MINE("\"constraintId\":"), id));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "reconciliation/status"), STR("reconciled"));
    g = act(t, &d, "add_constraint", p.id, MINE("\"field\":\"title\",\"operator\":\"equals\""));
    ck_status(g, 400);
}

typedef struct {
    const desk *d;
    str         id;
    int         kept;
} race;

static res add_one(task *t, size_t i, void *ctx)
{
    race *r = ctx;
    (void)i;
    got g = act(t, r->d, "add_constraint", r->id, MINE("\"field\":\"title\",\"operator\":\"required\""));
    if (g.status != 200) {
        ck_status(g, 409);
        ck_str_eq(rig_text(&g, "error"), STR("state_changed"));
    }
    r->kept += g.status == 200 ? 1 : 0;
    return RES_OK;
}

RIG_TEST(of_many_constraints_at_once_none_that_was_acknowledged_is_lost)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    race        r = {.d = &d, .id = p.id};
    OK(par_each(t, 8, 8, add_one, &r));
    got g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_assert_int_ge(r.kept, 1);
    ck_assert_uint_ge(json_len(rig_at(&g, "constraints/byMember/ann@example.org")), (size_t)r.kept);
}

/* ---- suggestions ---- */

static got suggest(task *t, const desk *d, str id, const char *field, const char *value)
{
    str more = arena_strf(t->arena, ",\"field\":\"%s\",\"value\":\"%s\"", field, value);
    return act(t, d, "create_suggestion", id, more.at);
}

RIG_TEST(a_member_has_three_active_suggestions_a_field)
{
    desk        d = desk_open(t), bob = beside(t, &d, BOB);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    for (int n = 0; n < 3; n++)
        ck_status(suggest(t, &d, p.id, "title", "Same"), 200);
    got g = suggest(t, &d, p.id, "title", "Same");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("suggestion_limit_exceeded"));
    ck_status(suggest(t, &d, p.id, "location", "Here"), 200);
    g = suggest(t, &bob, p.id, "title", "Same");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "suggestions/byField/title/0/conflicted"));
    str first = rig_text(&g, "suggestions/byField/title/0/suggestionId");
    g = suggest(t, &bob, p.id, "title", "Other");
    ck_assert(rig_bool(&g, "suggestions/byField/title/0/conflicted"));
    g = act(t, &bob, "dismiss_suggestion", p.id, moref(t, ",\"suggestionId\":", first));
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "error"), STR("not_suggestion_proposer"));
    g = act(t, &d, "dismiss_suggestion", p.id, moref(t, ",\"suggestionId\":", first));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "suggestions/byField/title/0/status"), STR("dismissed"));
    g = act(t, &d, "dismiss_suggestion", p.id, moref(t, ",\"suggestionId\":", first));
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("suggestion_not_found"));
    ck_status(suggest(t, &d, p.id, "title", "Same"), 200);
}

RIG_TEST(a_reaction_is_one_of_each_member)
{
    desk        d = desk_open(t), bob = beside(t, &d, BOB);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    got         g = suggest(t, &d, p.id, "title", "Dentist");
    const char *up = moref(t, ",\"reaction\":\"up\",\"suggestionId\":", rig_text(&g, "suggestionId"));
    const char *down = moref(t, ",\"reaction\":\"down\",\"suggestionId\":", rig_text(&g, "suggestionId"));
    ck_status(act(t, &d, "react_suggestion", p.id, up), 200);
    ck_status(act(t, &bob, "react_suggestion", p.id, up), 200);
    g = act(t, &bob, "react_suggestion", p.id, down);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "suggestions/byField/title/0/reactions")), 2);
    ck_str_eq(rig_text(&g, "suggestions/byField/title/0/reactions/bob@example.org"), STR("down"));
}

RIG_TEST(an_applied_suggestion_is_the_field)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "");
    got         g = suggest(t, &d, p.id, "time", "2099-03-05 9-10am");
    g = act(t, &d, "apply_suggestion", p.id, moref(t, ",\"suggestionId\":", rig_text(&g, "suggestionId")));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "appendedEvents/0/type"), STR("SUGGESTION_APPLIED"));
    ck_str_eq(rig_text(&g, "appendedEvents/1/type"), STR("FIELD_CHANGED"));
    ck_str_eq(rig_text(&g, "appendedEvents/3/type"), STR("RECONCILIATION_CHANGED"));
    g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_str_eq(rig_text(&g, "appointment/date"), STR("2099-03-05"));
    ck_str_eq(rig_text(&g, "appointment/startTime"), STR("09:00"));
    g = suggest(t, &d, p.id, "location", "Main St 1");
    g = act(t, &d, "apply_suggestion", p.id, moref(t, ",\"suggestionId\":", rig_text(&g, "suggestionId")));
    g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_str_eq(rig_text(&g, "appointment/location"), STR("Main St 1"));
    g = suggest(t, &d, p.id, "time", "whenever");
    g = act(t, &d, "apply_suggestion", p.id, moref(t, ",\"suggestionId\":", rig_text(&g, "suggestionId")));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("suggestion_time_unresolved"));
}

/* ---- mails ---- */

static const char *to_all(task *t, const char *more)
{
    str ann = people_user_key(ANN), bob = people_user_key(BOB), cid = people_user_key("cid@example.org");
    return arena_strf(t->arena, ",\"recipientPersonIds\":[\"%.*s\",\"%.*s\",\"%.*s\",\"P-1\"]%s",
                      STR_ARG(ann), STR_ARG(bob), STR_ARG(cid), more)
        .at;
}

RIG_TEST(an_update_goes_once_to_those_who_want_it)
{
    with_mail();
    desk        d = desk_open(t), bob = beside(t, &d, BOB), cid = beside(t, &d, "cid@example.org");
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    ck_status(people_post(t, cid.session, "/api/user/preferences", "{\"mutedGroupIds\":[\"%.*s\"]}",
                          STR_ARG(d.group)),
              200);
    got g = act(t, &d, "preview_appointment_update_email", p.id, to_all(t, ",\"userMessage\":\"<b>\""));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "subject"), STR("Update: Meeting"));
    ck_str_eq(rig_text(&g, "recipients/0/name"), STR("bob"));
    ck_assert_uint_eq(json_len(rig_at(&g, "recipients")), 1);
    ck_assert(str_has(rig_text(&g, "html"), STR("&lt;b&gt;")));
    ck_assert_uint_eq(letters(), 0);
    g = act(t, &d, "send_appointment_update_email", p.id, to_all(t, ",\"clientRequestId\":\"s1\""));
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "deliveryStatus"), STR("sent"));
    ck_assert_int_eq(rig_int(&g, "recipientCountSent"), 1);
    ck_assert(rig_bool(&g, "excludedSelf"));
    ck_str_eq(rig_text(&g, "excludedRecipients/0/reason"), STR("muted_group"));
    ck_str_eq(rig_text(&g, "excludedRecipients/1/reason"), STR("inactive"));
    str sent_at = rig_text(&g, "sentAt");
    g = act(t, &d, "send_appointment_update_email", p.id, to_all(t, ",\"clientRequestId\":\"s1\""));
    ck_str_eq(rig_text(&g, "sentAt"), sent_at);
    ck_assert_uint_eq(letters(), 1);
    g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_str_eq(rig_text(&g, "lastNotification/sentAt"), sent_at);
    ck_status(people_post(t, bob.session, "/api/user/preferences", "{\"emailUpdatesEnabled\":false}"), 200);
    g = act(t, &d, "send_appointment_update_email", p.id, to_all(t, ",\"clientRequestId\":\"s2\""));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("no_eligible_recipients"));
    ck_str_eq(rig_text(&g, "excludedRecipients/0/reason"), STR("opted_out"));
}

RIG_TEST(when_no_mail_can_be_sent_it_is_said_and_nothing_is_noted)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    (void)beside(t, &d, BOB);
    got g = act(t, &d, "send_appointment_update_email", p.id, to_all(t, ",\"clientRequestId\":\"s1\""));
    ck_status(g, 502);
    ck_str_eq(rig_text(&g, "error"), STR("notification_send_failed"));
    ck_str_eq(rig_text(&g, "failedRecipients/0/reason"), STR("config_missing"));
    g = act(t, &d, "list_appointment_notifications", p.id, "");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "notifications")), 0);
}

RIG_TEST(notifications_are_listed_in_pages)
{
    with_mail();
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    (void)beside(t, &d, BOB);
    for (int n = 0; n < 3; n++) {
        str more = arena_strf(t->arena, ",\"clientRequestId\":\"s%d\"", n);
        ck_status(act(t, &d, "send_appointment_update_email", p.id, to_all(t, more.at)), 200);
    }
    got g = act(t, &d, "list_appointment_notifications", p.id, ",\"limit\":2");
    ck_assert_uint_eq(json_len(rig_at(&g, "notifications")), 2);
    ck_str_eq(rig_text(&g, "notifications/0/sender"), STR(ANN));
    str cursor = json_print_val(t->arena, rig_at(&g, "nextCursor"));
    str more = arena_strf(t->arena, ",\"limit\":2,\"cursor\":%.*s", STR_ARG(cursor));
    g = act(t, &d, "list_appointment_notifications", p.id, more.at);
    ck_assert_uint_eq(json_len(rig_at(&g, "notifications")), 1);
    ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
}

/* ---- reminders ---- */

static got remind(task *t, const desk *d, str id, int minutes, const char *asked)
{
    str more = arena_strf(t->arena, ",\"offsetMinutes\":%d,\"message\":\"soon\",\"clientRequestId\":\"%s\"",
                          minutes, asked);
    return act(t, d, "create_appointment_reminder", id, more.at);
}

static void move_to(task *t, const desk *d, const char *code, const char *date)
{
    ck_status(
        direct_askf(t, d,
                    "{\"type\":\"reschedule_appointment\",\"code\":\"%s\",\"date\":\"%s\",\"startTime\":"
                    "\"10:00\",\"durationMins\":30,\"timezone\":\"UTC\"}",
                    code, date),
        200);
}

RIG_TEST(a_reminder_needs_a_time_to_come_and_there_are_ten_at_most)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "");
    got         g = remind(t, &d, p.id, 10, "r");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("appointment_time_unresolved"));
    move_to(t, &d, "APPT-1", "2020-01-01");
    g = remind(t, &d, p.id, 10, "r");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("reminder_due_in_past"));
    move_to(t, &d, "APPT-1", "2099-01-01");
    for (int n = 0; n < 10; n++) {
        str asked = arena_strf(t->arena, "r%d", n);
        ck_status(remind(t, &d, p.id, 10 + n, asked.at), 200);
    }
    g = remind(t, &d, p.id, 10, "r0");
    ck_status(g, 200);
    str first = rig_text(&g, "reminder/reminderId");
    ck_str_eq(rig_text(&g, "reminder/dueAtIso"), STR("2099-01-01T09:50:00.000Z"));
    ck_assert_uint_eq(json_len(rig_at(&g, "appendedEvents")), 0);
    g = remind(t, &d, p.id, 50, "r11");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("reminder_limit_reached"));
    for (int n = 0; n < 2; n++) {
        g = act(t, &d, "cancel_appointment_reminder", p.id, moref(t, ",\"reminderId\":", first));
        ck_status(g, 200);
        ck_str_eq(rig_text(&g, "reminder/status"), STR("canceled"));
    }
    g = act(t, &d, "cancel_appointment_reminder", p.id, ",\"reminderId\":\"other\"");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("reminder_not_found"));
    ck_status(remind(t, &d, p.id, 50, "r12"), 200);
    g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_assert_uint_eq(json_len(rig_at(&g, "reminders")), 11);
}

static void tick(task *t)
{
    got g = rig_post(t, "/reminderTick", STR("{\"Data\":{\"timer\":{}},\"Metadata\":{}}"));
    ck_status(g, 200);
}

/* As if it had been set for now. */
static void make_due(task *t, str group, str appointment_id, str id)
{
    reminder_entry e = {
        .id = id, .group = group, .appointment = appointment_id, .due_at = call_now(t->arena)};
    OK(reminders_put(t, reminders_minute(clock_wall_us()), &e));
}

static str status_of(task *t, const desk *d, str id)
{
    got g = act(t, d, "get_appointment_detail", id, "");
    return rig_text(&g, "reminders/0/status");
}

/* SCHED-100. */
RIG_TEST(what_is_due_is_sent_once_and_a_broken_one_stops_no_other)
{
    with_mail();
    desk        d = desk_open(t);
    appointment broken = desk_add(t, &d, "Broken", "10:30"), p = desk_add(t, &d, "Meeting", "10:30");
    (void)beside(t, &d, BOB);
    move_to(t, &d, "APPT-1", "2099-01-01");
    move_to(t, &d, "APPT-2", "2099-01-01");
    got g = remind(t, &d, broken.id, 10, "r");
    make_due(t, d.group, broken.id, rig_text(&g, "reminder/reminderId"));
    g = remind(t, &d, p.id, 10, "r");
    make_due(t, d.group, p.id, rig_text(&g, "reminder/reminderId"));
    OK(blobs_put(t, sched_settings_get()->documents, place_event_chunk(t->arena, d.group, broken.id, 1),
                 STR("not json"), &(blob_put){0}, NULL));
    tick(t);
    ck_assert_uint_eq(letters(), 2);
    ck_str_eq(status_of(t, &d, p.id), STR("sent"));
    tick(t);
    ck_assert_uint_eq(letters(), 2);
}

RIG_TEST(what_is_canceled_or_deleted_is_not_sent)
{
    with_mail();
    desk        d = desk_open(t);
    appointment gone = desk_add(t, &d, "Gone", "10:30"), p = desk_add(t, &d, "Meeting", "10:30");
    move_to(t, &d, "APPT-1", "2099-01-01");
    move_to(t, &d, "APPT-2", "2099-01-01");
    got g = remind(t, &d, gone.id, 10, "r");
    make_due(t, d.group, gone.id, rig_text(&g, "reminder/reminderId"));
    g = remind(t, &d, p.id, 10, "r");
    str id = rig_text(&g, "reminder/reminderId");
    make_due(t, d.group, p.id, id);
    ck_status(act(t, &d, "cancel_appointment_reminder", p.id, moref(t, ",\"reminderId\":", id)), 200);
    ck_status(act(t, &d, "delete_appointment", gone.id, ""), 200);
    tick(t);
    ck_assert_uint_eq(letters(), 0);
    reminder_entry *left;
    size_t          count;
    OK(reminders_due(t, reminders_minute(clock_wall_us()), &left, &count));
    ck_assert_uint_eq(count, 0);
}

RIG_TEST(a_reminder_that_nobody_can_get_has_failed_and_is_not_tried_for_ever)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    move_to(t, &d, "APPT-1", "2099-01-01");
    got g = remind(t, &d, p.id, 10, "r");
    make_due(t, d.group, p.id, rig_text(&g, "reminder/reminderId"));
    tick(t);
    ck_str_eq(status_of(t, &d, p.id), STR("failed"));
}

typedef struct {
    const desk *d;
    str         id;
} burst;

static res send_again(task *t, size_t i, void *ctx)
{
    const burst *b = ctx;
    (void)i;
    got g = act(t, b->d, "send_appointment_update_email", b->id, to_all(t, ",\"clientRequestId\":\"s1\""));
    ck_status(g, 200);
    return RES_OK;
}

RIG_TEST(a_mail_that_is_asked_for_several_times_at_once_goes_once)
{
    with_mail();
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    burst       b = {.d = &d, .id = p.id};
    (void)beside(t, &d, BOB);
    OK(par_each(t, 4, 4, send_again, &b));
    ck_assert_uint_eq(letters(), 1);
}

/* ---- times ---- */

static got resolve(task *t, const desk *d, const char *words, const char *more)
{
    return direct_askf(t, d, "{\"type\":\"resolve_appointment_time\",\"whenText\":\"%s\"%s}", words, more);
}

/* SCHED-77. */
RIG_TEST(without_a_model_the_grammar_reads_times_and_saves_nothing)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    str         before = desk_document(t, d.group, p.id);
    const char *about = moref(t, ",\"timezone\":\"America/New_York\",\"appointmentId\":", p.id);
    got         g = resolve(t, &d, "Mar 5, 2099 9-10am", ",\"timezone\":\"America/New_York\"");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "time/resolved/startUtc"), STR("2099-03-05T14:00:00.000Z"));
    ck_str_eq(rig_text(&g, "timezone"), STR("America/New_York"));
    ck_assert(!rig_bool(&g, "usedFallback") && !rig_bool(&g, "fallbackAttempted"));
    ck_assert(rig_at(&g, "timeChoices") == NULL);
    g = resolve(t, &d, "at 5pm", about);
    ck_assert_uint_eq(json_len(rig_at(&g, "timeChoices")), 3);
    ck_str_eq(rig_text(&g, "timeChoices/2/id"), STR("appointment"));
    ck_str_eq(rig_text(&g, "timeChoices/2/startUtc"), STR("2026-03-05T22:00:00.000Z"));
    ck_str_eq(rig_text(&g, "timeChoices/2/endUtc"), STR("2026-03-05T23:00:00.000Z"));
    ck_assert(rig_at(&g, "timeChoices/0/isPast") != NULL);
    ck_str_eq(rig_text(&g, "appointmentId"), p.id);
    ck_str_eq(desk_document(t, d.group, p.id), before);
    g = resolve(t, &d, "at 5pm", ",\"timezone\":\"Mars/Olympus\"");
    ck_status(g, 400);
    ck_status(resolve(t, &d, "at 5pm", ",\"appointmentId\":\"nowhere\""), 404);
}

/* SCHED-77. */
RIG_TEST(a_model_is_believed_when_it_makes_sense_and_else_the_grammar)
{
    model_on();
    desk d = desk_open(t);
    model_says(
        "{\"time\":{\"intent\":{\"status\":\"resolved\",\"originalText\":\"x\",\"missing\":[]},"
        "\"resolved\":{\"startUtc\":\"2099-03-05T14:00:00.000Z\",\"endUtc\":\"2099-03-05T15:00:00.000Z\","
        "\"timezone\":\"UTC\",\"durationSource\":\"suggested\"}}}");
    got g = resolve(t, &d, "the usual", "");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "usedFallback") && rig_bool(&g, "fallbackAttempted"));
    ck_str_eq(rig_text(&g, "time/resolved/durationSource"), STR("suggested"));
    ck_str_eq(rig_text(&g, "time/intent/originalText"), STR("the usual"));
    ck_str_eq(rig_text(&g, "opId"), STR(MODEL_OP_ID));
    model_forget();
    model_says("{\"time\":{\"intent\":{\"status\":\"partial\"}}}");
    g = resolve(t, &d, "2099-03-05", "");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "usedFallback") && rig_bool(&g, "fallbackAttempted"));
    ck_str_eq(rig_text(&g, "time/intent/status"), STR("resolved"));
    model_forget();
    model_status(500);
    g = resolve(t, &d, "2099-03-05", "");
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "usedFallback"));
    model_off();
}

/* ---- people ---- */

static got on_person(task *t, const desk *d, const char *type, str id, const char *more)
{
    return direct_askf(t, d, "{\"type\":\"%s\",\"personId\":\"%.*s\"%s}", type, STR_ARG(id), more);
}

RIG_TEST(people_of_the_roster_have_names_of_their_own)
{
    desk d = desk_open(t);
    got  g = direct_ask(t, &d, "{\"type\":\"create_blank_person\"}");
    ck_status(g, 200);
    str one = rig_text(&g, "personId");
    g = direct_ask(t, &d, "{\"type\":\"create_blank_person\"}");
    str two = rig_text(&g, "personId");
    ck_status(on_person(t, &d, "update_person", one, ",\"name\":\"Zoe\",\"email\":\"zoe@example.org\""), 200);
    g = on_person(t, &d, "update_person", two, ",\"name\":\"Yan\",\"email\":\"Zoe@example.org\"");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "message"), STR("email is another person's"));
    ck_status(on_person(t, &d, "update_person", two, ",\"name\":\"zoe\""), 400);
    ck_status(on_person(t, &d, "update_person", two, ",\"name\":\"Yan\",\"email\":\"nothing\""), 400);
    ck_status(on_person(t, &d, "delete_person", one, ""), 200);
    ck_status(on_person(t, &d, "update_person", two, ",\"name\":\"Zoe\""), 200);
    g = on_person(t, &d, "delete_person", STR("P-nobody"), "");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "message"), STR("person not found"));
}

RIG_TEST(taking_a_member_off_the_roster_ends_the_membership_and_back)
{
    desk d = desk_open(t), bob = beside(t, &d, BOB);
    str  key = people_user_key(BOB), guest = people_guest(t, "gus@example.org", d.group);
    people_add(t, d.group, "gus@example.org");
    desk gus = {.group = d.group, .session = guest};
    ck_status(on_person(t, &gus, "delete_person", key, ""), 403);
    ck_status(on_person(t, &d, "delete_person", key, ""), 200);
    ck_status(direct_ask(t, &bob, "{\"type\":\"list_appointments\"}"), 403);
    entity row = people_row(t, PLACE_USER_GROUPS, key, d.group);
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("removed"));
    ck_status(on_person(t, &d, "reactivate_person", key, ""), 200);
    ck_status(direct_ask(t, &bob, "{\"type\":\"list_appointments\"}"), 200);
    row = people_row(t, PLACE_USER_GROUPS, key, d.group);
    ck_str_eq(entity_str(&row, "status", (str){0}), STR("active"));
    ck_assert(!entity_has(&row, "removedAt"));
    ck_status(on_person(t, &d, "update_person", key, ",\"name\":\"Bobby\""), 200);
    ck_status(on_person(t, &d, "update_person", key, ",\"name\":\"Bobby\",\"email\":\"b@x.org\""), 400);
}

/* ---- what breaks ---- */

/* SCHED-72. */
RIG_TEST(who_comes_too_late_is_told_to_try_again)
{
    desk    d = desk_open(t);
    int64_t now_us = clock_wall_us();
    clock_set_for_test(now_us, clock_mono_us()); /* so that the id is known that will be given */
    str id = arena_strf(t->arena, "%lld-APPT-1", (long long)(now_us / 1000));
    desk_put_document(t, d.group, id, STR("{}"));
    got g = direct_ask(t, &d, "{\"type\":\"create_blank_appointment\"}");
    clock_unset_for_test();
    ck_status(g, 409);
    ck_assert(!rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "message"), STR("State changed. Retry."));
    ck_assert(rig_at(&g, "error") == NULL && rig_text(&g, "traceId").len > 0);
    ck_str_eq(rig_header(&g, "x-trace-id"), rig_text(&g, "traceId"));
    ck_str_eq(rig_header(&g, "x-invocation-id"), rig_text(&g, "invocationId"));
}

RIG_TEST(a_damaged_log_is_no_detail_and_no_message)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    OK(blobs_put(t, sched_settings_get()->documents, place_event_chunk(t->arena, d.group, p.id, 1),
                 STR("not json"), &(blob_put){0}, NULL));
    got g = act(t, &d, "get_appointment_detail", p.id, "");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("appointment_detail_failed"));
    g = act(t, &d, "append_appointment_message", p.id, ",\"text\":\"x\",\"clientRequestId\":\"r\"");
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("INTERNAL_ERROR"));
}

static const char *const tortures[] = {
    "{\"type\":\"set_appointment_notes\",\"code\":\"APPT-1\",\"notes\":\"x\"}",
    "{\"type\":\"get_appointment_detail\",\"appointmentId\":\"%.*s\"}",
    "{\"type\":\"append_appointment_message\",\"appointmentId\":\"%.*s\",\"text\":\"rename to X\","
    "\"clientRequestId\":\"r\"}",
};

enum { TORTURES = sizeof tortures / sizeof *tortures };

RIG_TEST(no_action_minds_where_it_is_broken)
{
    desk        d = desk_open(t);
    appointment p = desk_add(t, &d, "Meeting", "10:30");
    str         id = arena_copy(scratch(), p.id), from = str_of(tortures[i]);
    size_t      hole = str_find(from, STR("%.*s"));
    str         rest = hole < from.len ? str_from(from, hole + 4) : (str){0};
    str body = arena_strf(scratch(), "{\"groupId\":\"%.*s\",\"action\":%.*s%.*s%.*s}", STR_ARG(d.group),
                          (int)hole, from.at, hole < from.len ? str_print_len(id) : 0, id.at, STR_ARG(rest));
    rig_request in = people_request(d.session, "/api/direct", body.at);
    rig_torture(t, &in, 200, (const int[]){500, 0}, NULL);
}

Suite *suite_sched_direct_more(void)
{
    Suite *s = suite_create("sched_direct_more");
    TCase *c = live_case("direct_more");
    tcase_add_test(c, constraints_are_ones_own_and_say_whether_all_is_well);
    tcase_add_test(c, of_many_constraints_at_once_none_that_was_acknowledged_is_lost);
    tcase_add_test(c, a_member_has_three_active_suggestions_a_field);
    tcase_add_test(c, a_reaction_is_one_of_each_member);
    tcase_add_test(c, an_applied_suggestion_is_the_field);
    tcase_add_test(c, an_update_goes_once_to_those_who_want_it);
    tcase_add_test(c, when_no_mail_can_be_sent_it_is_said_and_nothing_is_noted);
    tcase_add_test(c, notifications_are_listed_in_pages);
    tcase_add_test(c, a_mail_that_is_asked_for_several_times_at_once_goes_once);
    tcase_add_test(c, a_reminder_needs_a_time_to_come_and_there_are_ten_at_most);
    tcase_add_test(c, what_is_due_is_sent_once_and_a_broken_one_stops_no_other);
    tcase_add_test(c, what_is_canceled_or_deleted_is_not_sent);
    tcase_add_test(c, a_reminder_that_nobody_can_get_has_failed_and_is_not_tried_for_ever);
    tcase_add_test(c, without_a_model_the_grammar_reads_times_and_saves_nothing);
    tcase_add_test(c, a_model_is_believed_when_it_makes_sense_and_else_the_grammar);
    tcase_add_test(c, people_of_the_roster_have_names_of_their_own);
    tcase_add_test(c, taking_a_member_off_the_roster_ends_the_membership_and_back);
    tcase_add_test(c, who_comes_too_late_is_told_to_try_again);
    tcase_add_test(c, a_damaged_log_is_no_detail_and_no_message);
    tcase_add_loop_test(c, no_action_minds_where_it_is_broken, 0, TORTURES);
    suite_add_tcase(s, c);
    return s;
}
