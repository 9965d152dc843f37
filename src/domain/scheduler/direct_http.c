/* direct_http.c -- POST /api/direct: one action, without a model in between (§4.5: 37, §6.5).
 *
 * The order of checks: body and groupId, session, the action's members, the gate, then the action. A new
 * action is a row of the table below and a function.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler.h"
#include "domain/scheduler/direct.h"
#include "domain/scheduler/settings.h"

static const char *const suggested[] = {"title", "time", "location", NULL};
static const char *const constrained[] = {"title", "time", "location", "general", NULL};
static const char *const operators[] = {"equals", "contains", "not_contains", "required", NULL};
static const char *const reactions[] = {"up", "down", NULL};
static const char *const title_only[] = {"title", NULL};

enum {
    CODE_MAX = 40,
    ZONE_MAX = 64,
    EMAIL_MAX = 254,
    VALUE_MAX = 300,
    MAIL_TEXT_MAX = 2000,
    WORDS_MAX = 1000
};

/* Members that many actions share. */
#define APPOINTMENT                                          \
    {                                                        \
        "appointmentId", MEMBER_TEXT, 0, DIRECT_ID_MAX, NULL \
    }
#define CODE                                   \
    {                                          \
        "code", MEMBER_TEXT, 0, CODE_MAX, NULL \
    }
#define ZONE                                             \
    {                                                    \
        "timezone", MEMBER_TEXT_MAYBE, 0, ZONE_MAX, NULL \
    }
#define START                                      \
    {                                              \
        "startTime", MEMBER_TIME_MAYBE, 0, 0, NULL \
    }
#define MINUTES                                                         \
    {                                                                   \
        "durationMins", MEMBER_NUMBER_MAYBE, 1, TIME_DURATION_MAX, NULL \
    }
#define REQUEST                                                \
    {                                                          \
        "clientRequestId", MEMBER_TEXT, 0, DIRECT_ID_MAX, NULL \
    }
#define ID(name)                                  \
    {                                             \
        name, MEMBER_TEXT, 0, DIRECT_ID_MAX, NULL \
    }
#define MAYBE(name, n)                      \
    {                                       \
        name, MEMBER_TEXT_MAYBE, 0, n, NULL \
    }
#define NEEDED(name, n)               \
    {                                 \
        name, MEMBER_TEXT, 0, n, NULL \
    }
#define CHOICE(name, c)              \
    {                                \
        name, MEMBER_CHOICE, 0, 0, c \
    }
#define RECIPIENTS                                                   \
    {                                                                \
        "recipientPersonIds", MEMBER_TEXTS, 1, DIRECT_LIST_MAX, NULL \
    }

/* By name. */
static const direct_action actions[] = {
    {"add_constraint",
     direct_add_constraint,
     true,
     {APPOINTMENT, NEEDED("memberEmail", EMAIL_MAX), CHOICE("field", constrained),
      CHOICE("operator", operators), MAYBE("value", VALUE_MAX)}},
    {"append_appointment_message",
     direct_append_message,
     true,
     {APPOINTMENT, NEEDED("text", DIRECT_TEXT_MAX), REQUEST}},
    {"apply_appointment_proposal",
     direct_apply_proposal,
     true,
     {APPOINTMENT, ID("proposalId"), CHOICE("field", title_only), NEEDED("value", DIRECT_TEXT_MAX), REQUEST}},
    {"apply_suggestion", direct_apply_suggestion, true, {APPOINTMENT, ID("suggestionId")}},
    {"cancel_appointment_reminder", direct_cancel_reminder, true, {APPOINTMENT, ID("reminderId")}},
    {"create_appointment_reminder",
     direct_create_reminder,
     true,
     {APPOINTMENT, {"offsetMinutes", MEMBER_NUMBER, 5, 10080, NULL}, MAYBE("message", NOTES_MAX), REQUEST}},
    {"create_blank_appointment", direct_create_blank, false, {ZONE}},
    {"create_suggestion",
     direct_create_suggestion,
     true,
     {APPOINTMENT, CHOICE("field", suggested), NEEDED("value", VALUE_MAX)}},
    {"delete_appointment",
     direct_delete,
     false,
     {MAYBE("appointmentId", DIRECT_ID_MAX), MAYBE("code", CODE_MAX)}},
    {"dismiss_appointment_proposal",
     direct_dismiss_proposal,
     true,
     {APPOINTMENT, ID("proposalId"), MAYBE("clientRequestId", DIRECT_ID_MAX)}},
    {"dismiss_suggestion", direct_dismiss_suggestion, true, {APPOINTMENT, ID("suggestionId")}},
    {"edit_appointment_proposal",
     direct_edit_proposal,
     true,
     {APPOINTMENT, ID("proposalId"), CHOICE("field", title_only), NEEDED("value", DIRECT_TEXT_MAX), REQUEST}},
    {"edit_constraint",
     direct_edit_constraint,
     true,
     {APPOINTMENT, NEEDED("memberEmail", EMAIL_MAX), ID("constraintId"), CHOICE("field", constrained),
      CHOICE("operator", operators), MAYBE("value", VALUE_MAX)}},
    {"get_appointment_detail",
     direct_detail,
     true,
     {APPOINTMENT, {"limit", MEMBER_NUMBER_MAYBE, 1, 100, NULL}}},
    {"list_appointment_notifications",
     direct_list_notifications,
     true,
     {APPOINTMENT, {"limit", MEMBER_NUMBER_MAYBE, 1, 50, NULL}}},
    {"list_appointments", direct_list, false, {{NULL, MEMBER_NO_MORE, 0, 0, NULL}}},
    {"pause_appointment_proposal",
     direct_pause_proposal,
     true,
     {APPOINTMENT, ID("proposalId"), MAYBE("clientRequestId", DIRECT_ID_MAX)}},
    {"preview_appointment_update_email",
     direct_preview_update,
     true,
     {APPOINTMENT, RECIPIENTS, MAYBE("userMessage", MAIL_TEXT_MAX)}},
    {"react_suggestion",
     direct_react_suggestion,
     true,
     {APPOINTMENT, ID("suggestionId"), CHOICE("reaction", reactions)}},
    {"remove_constraint",
     direct_remove_constraint,
     true,
     {APPOINTMENT, NEEDED("memberEmail", EMAIL_MAX), ID("constraintId")}},
    {"reschedule_appointment",
     direct_reschedule,
     false,
     {CODE, {"date", MEMBER_DATE, 0, 0, NULL}, START, MINUTES, ZONE}},
    {"resolve_appointment_time",
     direct_resolve_time,
     false,
     {NEEDED("whenText", WORDS_MAX), ZONE, MAYBE("appointmentId", DIRECT_ID_MAX)}},
    {"restore_appointment", direct_restore, false, {APPOINTMENT}},
    {"resume_appointment_proposal",
     direct_resume_proposal,
     true,
     {APPOINTMENT, ID("proposalId"), MAYBE("clientRequestId", DIRECT_ID_MAX)}},
    {"send_appointment_update_email",
     direct_send_update,
     true,
     {APPOINTMENT, RECIPIENTS, MAYBE("userMessage", MAIL_TEXT_MAX), REQUEST}},
    {"set_appointment_date", direct_set_date, false, {CODE, {"date", MEMBER_DATE, 0, 0, NULL}}},
    {"set_appointment_desc", direct_set_desc, false, {CODE, NEEDED("desc", TITLE_MAX)}},
    {"set_appointment_duration", direct_set_duration, false, {CODE, MINUTES}},
    {"set_appointment_location",
     direct_set_location,
     false,
     {CODE, MAYBE("location", LOCATION_MAX), MAYBE("locationRaw", LOCATION_MAX)}},
    {"set_appointment_notes", direct_set_notes, false, {CODE, MAYBE("notes", NOTES_MAX)}},
    {"set_appointment_start_time", direct_set_start_time, false, {CODE, START}},
};

enum { ACTIONS = sizeof actions / sizeof *actions };

static const direct_action *find_action(str type)
{
    for (int i = 0; i < ACTIONS; i++)
        if (str_eq(type, str_of(actions[i].type)))
            return &actions[i];
    return NULL;
}

/* ---- what every answer has ---- */

static void dress(call *c, json *body)
{
    const direct *d = (const direct *)c; /* whose first member it is */
    json_set_str(body, "directVersion", sched_settings_get()->version);
    json_set_str(body, "invocationId", request_invocation(c->in));
    if (d->op.len > 0)
        json_set_str(body, "opId", d->op);
    else
        json_set_null(body, "opId");
}

/* A trace id of the caller's that cannot stand in a header is in the body alone. */
static void set_headers(const call *c)
{
    str parent = request_header(c->in, "traceparent");
    if (reply_header(c->out, "x-trace-id", c->trace) != RES_OK)
        task_forget(c->t);
    (void)reply_header(c->out, "x-invocation-id", request_invocation(c->in)); /* of the host, or ours */
    if (parent.len > 0 && reply_header(c->out, "x-traceparent", parent) != RES_OK)
        task_forget(c->t);
    /* These cannot break a line. */
    (void)reply_header(c->out, "cache-control", STR("no-store"));
    (void)reply_header(c->out, "access-control-expose-headers",
                       STR("x-trace-id, x-invocation-id, x-traceparent"));
}

static bool bad(direct *d, str message)
{
    json *body = json_object(d->c.a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", message);
    d->c.result = call_answer(&d->c, 400, body);
    return false;
}

/* ---- the steps ---- */

static bool read_action(direct *d)
{
    const json_val *action = json_get(d->c.body, "action");
    str             why;
    if (json_typeof(action) != JSON_OBJECT)
        return bad(d, STR("action must be an object"));
    str type = str_trim(json_text(json_get(action, "type"), (str){0}));
    if (type.len == 0)
        return bad(d, STR("action.type is required"));
    d->row = find_action(type);
    if (d->row == NULL) {
        str shown = str_slice(type, 0, 80);
        return bad(d, arena_strf(d->c.a, "unsupported action type: %.*s", STR_ARG(shown)));
    }
    d->action = action;
    return direct_check(d->c.a, d->row, action, &why) == RES_OK || bad(d, why);
}

res sched_direct(task *t, const request *in, reply *out)
{
    direct *d = arena_one(t->arena, direct);
    bool    sound = call_begin(&d->c, t, in, out, TRACE_CLIENT, NULL);
    d->c.dress = dress;
    set_headers(&d->c);
    if (!sound) /* answered, but without what every answer here has */
        return call_refuse(&d->c, 400, "bad_request", "BAD_JSON", "The request body must be a JSON object.");
    d->group = call_text(&d->c, "groupId");
    if (d->group.len == 0 && !bad(d, STR("groupId is required")))
        return d->c.result;
    if (!call_session(&d->c) || !read_action(d) || !gate_pass(&d->c, d->group, ADMIT_ACTIVE, &d->me))
        return d->c.result;
    return d->row->run(d);
}
