/* test_sched_chat.c -- a conversation about a group's calendar: commands, proposals, rules.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/clock.h"
#include "domain/sched_model.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/appointments.h"
#include "domain/scheduler/chat_memory.h"
#include "domain/scheduler/state.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define ANN          "ann@example.org"
#define NOWHERE      "6a1f0c3e-5b1d-4c1a-9d57-000000000001"
#define ADD                                                                                       \
    "{\"kind\":\"proposal\",\"message\":\"Dentist?\",\"actions\":[{\"type\":\"add_appointment\"," \
    "\"desc\":\"Dentist\",\"date\":\"2026-03-03\",\"startTime\":\"10:00\",\"durationMins\":60}]}"

typedef struct {
    str ann, group;
} table_of_ann;

static table_of_ann sit_down(task *t)
{
    table_of_ann x = {.ann = people_named(t, ANN)};
    x.group = people_group(t, x.ann, "Family");
    return x;
}

static got say(task *t, const table_of_ann *x, const char *message)
{
    return people_post(t, x->ann, "/api/chat",
                       "{\"groupId\":\"%.*s\",\"message\":\"%s\",\"traceId\":\"tr-1\"}", STR_ARG(x->group),
                       message);
}

static size_t appointments_now(task *t, str group)
{
    appointment *list;
    size_t       count;
    bool         truncated;
    OK(appointments_list(t, group, &list, &count, &truncated));
    return count;
}

static appointment dentist(task *t, const table_of_ann *x)
{
    appointment        a;
    actor              by = {people_user_key(ANN), STR("auth:ann")};
    appointment_change c = {.set = SET_TITLE | SET_TIME, .title = STR("Dentist")};
    OK(when_make(t->arena, STR("2026-03-03"), STR("10:00"), 60, zone_find(STR("UTC")), &c.time));
    OK(appointment_create(t, x->group, (str){0}, &c, &by, &a));
    return a;
}

/* ---- who, and what ---- */

/* SCHED-62. */
RIG_TEST(an_unknown_group_is_404_with_the_callers_trace)
{
    str ann = people_named(t, ANN);
    got g = people_post(t, ann, "/api/chat",
                        "{\"groupId\":\"" NOWHERE "\",\"message\":\"help\",\"traceId\":\"tr-9\"}");
    ck_status(g, 404);
    ck_str_eq(rig_text(&g, "error"), STR("group_not_found"));
    ck_str_eq(rig_text(&g, "traceId"), STR("tr-9"));
}

RIG_TEST(a_message_is_needed_before_a_session_is)
{
    got g = people_post(t, (str){0}, "/api/chat", "{\"groupId\":\"" NOWHERE "\",\"message\":\" \"}");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "kind"), STR("error"));
    ck_str_eq(rig_text(&g, "message"), STR("message is required"));
    ck_assert_int_eq(json_typeof(rig_at(&g, "opId")), JSON_NULL);
    g = people_post(t, (str){0}, "/api/chat", "{\"groupId\":\"" NOWHERE "\",\"message\":\"help\"}");
    ck_status(g, 401);
}

typedef struct {
    const char *who;
    int         status;
} standing;

/* SCHED-45, SCHED-46, SCHED-47, SCHED-48, SCHED-49: state.json of the group has nobody in people[]. */
static const standing standings[] = {{"active", 200},  {"stranger", 403}, {"invited", 403},
                                     {"removed", 403}, {"deleted", 404},  {"roster", 403}};

RIG_TEST(membership_rows_alone_decide_who_may_chat)
{
    table_of_ann x = sit_down(t);
    str          bob = people_named(t, "bob@example.org"), who = str_of(standings[i].who);
    if (str_eq(who, STR("active")) || str_eq(who, STR("removed")) || str_eq(who, STR("deleted")))
        people_add(t, x.group, "bob@example.org");
    if (str_eq(who, STR("invited")))
        people_invite(t, x.group, "bob@example.org");
    if (str_eq(who, STR("removed")))
        people_drop(t, x.group, "bob@example.org");
    if (str_eq(who, STR("deleted")))
        ck_status(people_post(t, x.ann, "/api/group/delete", "{\"groupId\":\"%.*s\"}", STR_ARG(x.group)),
                  200);
    if (str_eq(who, STR("roster"))) {
        state s;
        OK(state_read(t, x.group, &s));
        json *doc = state_copy(t->arena, &s, x.group);
        json *row = json_push_object(json_set_array(doc, "people"));
        json_set_str(row, "personId", people_user_key("bob@example.org"));
        json_set_str(row, "email", STR("bob@example.org"));
        json_set_str(row, "status", STR("active"));
        OK(state_save(t, x.group, s.etag, doc, NULL));
    }
    x.ann = bob;
    got g = say(t, &x, "help");
    ck_status(g, standings[i].status);
}

RIG_TEST(a_prompt_of_a_megabyte_is_refused)
{
    table_of_ann x = sit_down(t);
    str          text = live_repeat(t->arena, STR("plan "), MIB / 5);
    got          g = say(t, &x, arena_cstr(t->arena, text));
    ck_status(g, 413);
    g = say(t, &x, arena_cstr(t->arena, str_slice(text, 0, 9000)));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "message"), STR("message is too long"));
}

/* ---- without a model ---- */

/* SCHED-65, SCHED-69. */
RIG_TEST(commands_need_no_model)
{
    table_of_ann x = sit_down(t);
    got          g = say(t, &x, " Show   APPOINTMENTS?! ");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("reply"));
    ck_str_eq(rig_text(&g, "assistantText"), STR("No appointments found."));
    ck_assert_uint_eq(json_len(rig_at(&g, "snapshot/appointments")), 0);
    (void)dentist(t, &x);
    g = say(t, &x, "appointments");
    ck_str_eq(rig_text(&g, "assistantText"), STR("Listed 1 appointment(s)."));
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/title"), STR("Dentist"));
    g = say(t, &x, "yes");
    ck_str_eq(rig_text(&g, "kind"), STR("question"));
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    g = say(t, &x, "Cancel.");
    ck_str_eq(rig_text(&g, "assistantText"), STR("Nothing to cancel."));
    g = say(t, &x, "help");
    ck_str_eq(rig_text(&g, "kind"), STR("reply"));
    g = say(t, &x, "dentist tomorrow at ten");
    ck_status(g, 502);
    ck_str_eq(rig_text(&g, "error"), STR("OPENAI_CALL_FAILED"));
    ck_str_eq(rig_text(&g, "message"), STR("OPENAI_API_KEY is not configured"));
}

/* ---- proposals ---- */

/* SCHED-67, SCHED-80. */
RIG_TEST(what_is_confirmed_is_written_to_document_and_index)
{
    appointment a;
    model_on();
    model_says(ADD);
    table_of_ann x = sit_down(t);
    got          g = say(t, &x, "dentist on March 3 at ten for an hour");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("proposal"));
    ck_str_eq(rig_text(&g, "assistantText"), STR("Added an appointment — Dentist on 2026-03-03 10:00 (60m)"));
    ck_assert(rig_text(&g, "proposalId").len > 0);
    ck_assert_uint_eq(appointments_now(t, x.group), 0);
    g = say(t, &x, "maybe");
    ck_str_eq(rig_text(&g, "message"), STR("Please confirm or cancel."));
    ck_assert_uint_eq(json_len(rig_at(&g, "options")), 2);
    g = say(t, &x, "Yes!");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("applied"));
    ck_str_eq(rig_text(&g, "assistantText"), STR("Added APPT-1 — Dentist on 2026-03-03 10:00 (60m)"));
    ck_str_eq(rig_text(&g, "snapshot/appointments/0/code"), STR("APPT-1"));
    OK(appointment_by_code(t, x.group, STR("APPT-1"), false, &a));
    ck_str_eq(a.title, STR("Dentist"));
    ck_assert_uint_eq(model_asked(), 1);
    g = say(t, &x, "yes");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    ck_assert_uint_eq(appointments_now(t, x.group), 1);
    model_off();
}

/* SCHED-67. */
RIG_TEST(what_is_cancelled_is_not_written)
{
    model_on();
    model_says(ADD);
    table_of_ann x = sit_down(t);
    (void)say(t, &x, "dentist");
    got g = say(t, &x, "no");
    ck_str_eq(rig_text(&g, "assistantText"), STR("Cancelled."));
    g = say(t, &x, "confirm");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    ck_assert_uint_eq(appointments_now(t, x.group), 0);
    model_off();
}

#define RENAME                                                                                            \
    "{\"kind\":\"proposal\",\"message\":\"ok\",\"actions\":[{\"type\":\"set_appointment_desc\",\"code\":" \
    "\"appt1\",\"desc\":\"Doctor\"}]}"

/* SCHED-67: of the document. */
RIG_TEST(an_appointment_that_has_changed_meanwhile_is_409)
{
    model_on();
    model_says(RENAME);
    table_of_ann x = sit_down(t);
    appointment  a = dentist(t, &x), now;
    actor        by = {people_user_key(ANN), STR("auth:ann")};
    ck_str_eq(a.code, STR("APPT-1"));
    got g = say(t, &x, "call it doctor");
    ck_str_eq(rig_text(&g, "kind"), STR("proposal"));
    OK(appointment_update(t, x.group, a.id, &(appointment_change){.set = SET_NOTES, .notes = STR("n")}, &by,
                          &now));
    g = say(t, &x, "ok");
    ck_status(g, 409);
    ck_str_eq(rig_text(&g, "kind"), STR("error"));
    ck_str_eq(rig_text(&g, "message"), STR("State changed. Retry."));
    OK(appointment_read(t, x.group, a.id, false, &now));
    ck_str_eq(now.title, STR("Dentist"));
    g = say(t, &x, "again");
    ck_str_eq(rig_text(&g, "kind"), STR("proposal"));
    g = say(t, &x, "ok");
    ck_status(g, 200);
    OK(appointment_read(t, x.group, a.id, false, &now));
    ck_str_eq(now.title, STR("Doctor"));
    model_off();
}

/* SCHED-67: of state.json. */
RIG_TEST(a_state_that_has_changed_meanwhile_is_409)
{
    state s;
    model_on();
    model_says(ADD);
    table_of_ann x = sit_down(t);
    (void)say(t, &x, "dentist");
    OK(state_read(t, x.group, &s));
    json *doc = state_copy(t->arena, &s, x.group);
    json_set_str(doc, "odd", STR("one"));
    OK(state_save(t, x.group, s.etag, doc, NULL));
    got g = say(t, &x, "y");
    ck_status(g, 409);
    ck_str_eq(rig_text(&g, "error"), STR("state_changed"));
    ck_assert_uint_eq(appointments_now(t, x.group), 0);
    model_off();
}

RIG_TEST(a_proposal_expires_after_ten_minutes)
{
    model_on();
    model_says(ADD);
    table_of_ann x = sit_down(t);
    chat_key     k = chat_key_of(t->arena, x.group, x.ann);
    (void)say(t, &x, "dentist");
    ck_assert(chat_proposal(t->arena, &k).len > 0);
    uint64_t mono = clock_mono_us();
    int64_t  wall = clock_wall_us();
    clock_set_for_test(wall, mono + UINT64_C(9) * 60 * 1000000);
    ck_assert(chat_proposal(t->arena, &k).len > 0);
    clock_set_for_test(wall, mono + UINT64_C(10) * 60 * 1000000 + 1000000);
    ck_assert(chat_proposal(t->arena, &k).len == 0);
    clock_unset_for_test();
    got g = say(t, &x, "yes");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    model_off();
}

RIG_TEST(a_proposal_is_of_one_session_and_one_group)
{
    model_on();
    model_says(ADD);
    table_of_ann x = sit_down(t), other = x;
    people_add(t, x.group, "bob@example.org");
    (void)say(t, &x, "dentist");
    other.ann = people_named(t, "bob@example.org");
    got g = say(t, &other, "yes");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    other = x;
    other.group = people_group(t, x.ann, "Other");
    g = say(t, &other, "yes");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    model_off();
}

/* A code of another group is no code here, whatever a model says. */
RIG_TEST(a_model_cannot_reach_another_groups_appointment)
{
    appointment now;
    model_on();
    model_says("{\"kind\":\"proposal\",\"message\":\"ok\",\"actions\":[{\"type\":\"delete_appointment\","
               "\"code\":\"APPT-1\"}]}");
    table_of_ann x = sit_down(t), other = x;
    appointment  theirs = dentist(t, &x);
    other.group = people_group(t, x.ann, "Other");
    got g = say(t, &other, "delete the dentist");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("question"));
    ck_str_eq(rig_text(&g, "message"), STR("I do not know APPT-1. Which appointment do you mean?"));
    g = say(t, &other, "yes");
    ck_str_eq(rig_text(&g, "message"), STR("What should I confirm?"));
    OK(appointment_read(t, x.group, theirs.id, false, &now));
    ck_assert(!now.deleted);
    model_off();
}

/* ---- the model ---- */

/* SCHED-63. */
RIG_TEST(a_refusal_of_the_model_is_502)
{
    model_on();
    model_status(401);
    table_of_ann x = sit_down(t);
    got          g = say(t, &x, "dentist");
    ck_status(g, 502);
    ck_str_eq(rig_text(&g, "error"), STR("OPENAI_CALL_FAILED"));
    ck_str_eq(rig_text(&g, "message"), STR("OpenAI HTTP 401"));
    ck_str_eq(rig_text(&g, "traceId"), STR("tr-1"));
    str    day = str_slice(call_now(t->arena), 0, 10);
    entity e = people_row(t, PLACE_USER_DAILY_USAGE, people_user_key(ANN), day);
    ck_assert_int_eq(entity_int(&e, "openaiErrors", -1), 1);
    ck_assert_int_eq(entity_int(&e, "openaiCalls", -1), 0);
    model_off();
}

/* SCHED-64. */
RIG_TEST(a_reply_counts_its_tokens_and_sends_no_addresses)
{
    model_on();
    model_says("{\"kind\":\"reply\",\"message\":\"Hello Ann\"}");
    table_of_ann x = sit_down(t);
    (void)dentist(t, &x);
    people_add(t, x.group, "bob@example.org");
    got g = say(t, &x, "hi there");
    ck_str_eq(rig_text(&g, "assistantText"), STR("Hello Ann"));
    str    day = str_slice(call_now(t->arena), 0, 10);
    entity e = people_row(t, PLACE_USER_DAILY_USAGE, people_user_key(ANN), day);
    ck_assert_int_eq(entity_int(&e, "openaiTokensIn", -1), MODEL_IN);
    ck_assert_int_eq(entity_int(&e, "openaiTokensOut", -1), MODEL_OUT);
    str asked = model_question(0);
    ck_assert(str_has(asked, STR("hi there")) && str_has(asked, STR("Dentist")) &&
              str_has(asked, STR("bob")));
    ck_assert(!str_has(asked, STR("@example.org")) && !str_has(asked, STR(MODEL_KEY)));
    ck_assert(!str_has(asked, x.ann));
    g = say(t, &x, "and again");
    ck_assert(str_has(model_question(1), STR("Hello Ann")));
    model_off();
}

/* SCHED-68. */
RIG_TEST(an_answer_off_the_schema_is_repaired_or_502)
{
    model_on();
    model_says("{\"kind\":\"proposal\",\"message\":\"ok\",\"actions\":[{\"type\":\"drop_tables\"}]}");
    model_says("{\"kind\":\"clarify\",\"message\":\"When?\",\"options\":[{\"label\":\"A\",\"value\":\"a\"}],"
               "\"allowFreeText\":false}");
    model_says("[]");
    table_of_ann x = sit_down(t);
    got          g = say(t, &x, "dentist");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("question"));
    ck_str_eq(rig_text(&g, "message"), STR("When?"));
    ck_assert(!rig_bool(&g, "allowFreeText"));
    ck_assert(str_has(model_question(1), STR("unsupported action type: drop_tables")));
    g = say(t, &x, "at ten");
    ck_status(g, 502);
    ck_assert_uint_eq(model_asked(), 4);
    model_off();
}

RIG_TEST(a_proposal_without_a_change_is_a_question_and_reading_is_done_at_once)
{
    model_on();
    model_says("{\"kind\":\"proposal\",\"message\":\"Which one?\",\"actions\":[{\"type\":\"list_people\"}]}");
    model_says("{\"kind\":\"reply\",\"message\":\"Here\",\"actions\":[{\"type\":\"list_appointments\"}]}");
    table_of_ann x = sit_down(t);
    (void)dentist(t, &x);
    got g = say(t, &x, "move it");
    ck_str_eq(rig_text(&g, "kind"), STR("question"));
    ck_str_eq(rig_text(&g, "message"), STR("Which one?"));
    g = say(t, &x, "what is there");
    ck_str_eq(rig_text(&g, "assistantText"), STR("APPT-1 — Dentist, 2026-03-03 10:00 (60m)"));
    model_off();
}

/* ---- failures inside ---- */

static table_of_ann tortured;

static void forget_again(task *t)
{
    (void)t;
    chat_forget_for_test();
}

static void propose_again(task *t)
{
    state    s;
    chat_key k = chat_key_of(t->arena, tortured.group, tortured.ann);
    OK(state_read(t, tortured.group, &s));
    json *etag = json_object(t->arena);
    json_set_str(etag, "etag", s.etag);
    str quoted = str_from(json_print(t->arena, etag), 1); /* "etag":"…"} */
    str text = arena_strf(t->arena,
                          "{\"id\":\"1\",%.*s,\"actions\":[{\"type\":\"set_appointment_notes\",\"code\":"
                          "\"APPT-1\",\"notes\":\"n\"},{\"type\":\"add_rule\",\"personId\":\"ann\",\"kind\":"
                          "\"available\",\"date\":\"2026-03-03\"}],\"touched\":[]}",
                          STR_ARG(str_slice(quoted, 0, quoted.len - 1)));
    chat_forget_for_test();
    ck_assert(chat_propose(&k, text));
}

static const struct {
    const char     *message, *more;
    rig_between_fn *between;
} tortures[] = {
    {"appointments", "", forget_again},
    {"dentist please", "", forget_again},
    {"yes", "", propose_again},
    {"busy", ",\"ruleMode\":\"draft\"", forget_again},
};

RIG_TEST(the_chat_survives_failing_memory_and_cancelled_waits)
{
    static const int tolerated[] = {500, 502, 409, 0};
    model_on();
    rig_log_capture();
    model_says(i == 3 ? "{\"kind\":\"question\",\"message\":\"When?\"}" : ADD);
    ck_assert_int_eq(setenv("USAGE_DAILY_REQUEST_LIMIT", "1000000", 1), 0);
    ck_assert_int_eq(setenv("USAGE_DAILY_TOKEN_LIMIT", "100000000", 1), 0);
    tortured = sit_down(t);
    (void)dentist(t, &tortured);
    str body = arena_strf(t->arena, "{\"groupId\":\"%.*s\",\"message\":\"%s\",\"personId\":\"%.*s\"%s}",
                          STR_ARG(tortured.group), tortures[i].message, STR_ARG(people_user_key(ANN)),
                          tortures[i].more);
    rig_request in = people_request(tortured.ann, "/api/chat", body.at);
    rig_torture(t, &in, 200, tolerated, tortures[i].between);
    model_off();
}

Suite *suite_sched_chat(void)
{
    Suite *s = suite_create("sched_chat");
    TCase *c = live_case("chat");
    tcase_add_test(c, an_unknown_group_is_404_with_the_callers_trace);
    tcase_add_test(c, a_message_is_needed_before_a_session_is);
    tcase_add_loop_test(c, membership_rows_alone_decide_who_may_chat, 0, COUNT(standings));
    tcase_add_test(c, a_prompt_of_a_megabyte_is_refused);
    tcase_add_test(c, commands_need_no_model);
    tcase_add_test(c, what_is_confirmed_is_written_to_document_and_index);
    tcase_add_test(c, what_is_cancelled_is_not_written);
    tcase_add_test(c, an_appointment_that_has_changed_meanwhile_is_409);
    tcase_add_test(c, a_state_that_has_changed_meanwhile_is_409);
    tcase_add_test(c, a_proposal_expires_after_ten_minutes);
    tcase_add_test(c, a_proposal_is_of_one_session_and_one_group);
    tcase_add_test(c, a_model_cannot_reach_another_groups_appointment);
    tcase_add_test(c, a_refusal_of_the_model_is_502);
    tcase_add_test(c, a_reply_counts_its_tokens_and_sends_no_addresses);
    tcase_add_test(c, an_answer_off_the_schema_is_repaired_or_502);
    tcase_add_test(c, a_proposal_without_a_change_is_a_question_and_reading_is_done_at_once);
    tcase_add_loop_test(c, the_chat_survives_failing_memory_and_cancelled_waits, 0, COUNT(tortures));
    suite_add_tcase(s, c);
    return s;
}
