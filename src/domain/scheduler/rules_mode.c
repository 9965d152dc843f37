/* rules_mode.c -- POST /api/chat with ruleMode: words about when somebody has time become rules, shown first
 * (draft), then saved (confirm) (§6.2).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/id.h"
#include "domain/scheduler/chat.h"
#include "domain/scheduler/rules_save.h"
#include "domain/scheduler/settings.h"

enum { INTERVALS_MAX = 50, DEFAULT_MINUTES = 60, ID_MAX = 128, PROMPT_MAX = 500, DAYS_MAX = 14 };
static const int64_t DAY_US = INT64_C(24) * 3600 * 1000 * 1000;

typedef struct {
    chat    *x;
    str      person, prompt;
    bool     saves;
    person  *people;
    size_t   people_count;
    interval list[INTERVALS_MAX];
    size_t   count;
    json    *assumptions, *warnings;
} rules_call;

static str text_of(const json_val *v, const char *name)
{
    return str_trim(json_text(json_get(v, name), (str){0}));
}

static bool is_status(str s)
{
    return str_eq(s, STR("available")) || str_eq(s, STR("unavailable"));
}

/* ---- what was sent ---- */

static bool refuse(call *c, const char *error, const char *message)
{
    c->result = chat_error(c, 400, error, message);
    return false;
}

static bool refuse_status(call *c, str said)
{
    json *body = json_object(c->a);
    json_set_str(body, "kind", STR("error"));
    json_set_str(body, "got", str_slice(said, 0, ID_MAX));
    c->result = call_refuse_with(c, 400, "invalid_rule_status", NULL,
                                 STR("status must be available or unavailable"), body);
    return false;
}

bool rules_mode_fits(call *c)
{
    str mode = call_text(c, "ruleMode");
    if (!str_eq(mode, STR("draft")) && !str_eq(mode, STR("confirm")))
        return refuse(c, "bad_request", "ruleMode must be draft or confirm");
    if (call_text(c, "personId").len == 0)
        return refuse(c, "personId_required", "personId is required");
    for (json_iter it = json_each(json_get(c->body, "rules")); json_next(&it);)
        if (!is_status(text_of(it.value, "status")))
            return refuse_status(c, text_of(it.value, "status"));
    return true;
}

static bool is_here(const rules_call *r, str person_id)
{
    const person *p = person_named(r->people, r->people_count, person_id);
    return p != NULL && p->active && str_eq(p->id, person_id);
}

/* ---- intervals that come from a draft ---- */

static bool read_interval(rules_call *r, const json_val *item)
{
    call    *c = r->x->c;
    interval n = {.person = text_of(item, "personId"),
                  .zone = zone_name(plan_zone(text_of(item, "timezone"), r->x->zone)),
                  .prompt = str_slice(text_of(item, "promptId"), 0, ID_MAX),
                  .original = str_slice(text_of(item, "originalPrompt"), 0, PROMPT_MAX)};
    str      status = text_of(item, "status");
    n.available = str_eq(status, STR("available"));
    if (n.person.len == 0 || !is_status(status) || !iso8601_parse(text_of(item, "startUtc"), &n.from_us) ||
        !iso8601_parse(text_of(item, "endUtc"), &n.to_us) || n.to_us <= n.from_us)
        return refuse(c, "invalid_drafted_intervals",
                      "An interval needs personId, status, startUtc and a later endUtc");
    if (!str_eq(n.person, r->person) || !is_here(r, n.person))
        return refuse(c, "invalid_drafted_intervals_person", "An interval is somebody else's");
    if (n.to_us - n.from_us > DAYS_MAX * DAY_US)
        return refuse(c, "INTERVAL_TOO_LARGE", "An interval may have 14 days");
    r->list[r->count++] = n;
    return true;
}

static bool read_intervals(rules_call *r)
{
    const json_val *list = json_get(r->x->c->body, "draftedIntervals");
    if (json_typeof(list) != JSON_ARRAY || json_len(list) > INTERVALS_MAX)
        return refuse(r->x->c, "invalid_drafted_intervals", "draftedIntervals must be a list of at most 50");
    for (json_iter it = json_each(list); json_next(&it);)
        if (!read_interval(r, it.value))
            return false;
    return true;
}

static res save(rules_call *r)
{
    call *c = r->x->c;
    r->count = intervals_merge(r->list, r->count);
    res n = intervals_save(c->t, r->x->group, r->list, r->count);
    if (n == RES_CONFLICT && task_stopped(c->t) == RES_OK) {
        task_forget(c->t);
        return chat_error(c, 409, "state_changed", "State changed. Retry.");
    }
    if (n == RES_TOO_LARGE) {
        json *body = json_object(c->a);
        task_forget(c->t);
        json_set_str(body, "kind", STR("error"));
        json_set_int(body, "limit", RULES_PER_PERSON_MAX);
        return call_refuse_with(c, 409, "rule_limit_exceeded", NULL, STR("A person may have 20 rules"), body);
    }
    if (!call_went(c, n))
        return c->result;
    json *body = json_object(c->a);
    json_set_json(body, "assumptions", r->assumptions);
    return chat_reply(r->x, arena_strf(c->a, "Saved %zu rule(s).", r->count), body);
}

/* ---- the model's items ---- */

static const char *required_action(const rules_call *r)
{
    return r->saves ? "add_rule_v2_confirm" : "add_rule_v2_draft";
}

/* The item's zone, else the person's, else the caller's. */
static const zone *zone_of(rules_call *r, const json_val *item)
{
    str           said = text_of(item, "timezone");
    const person *p = person_named(r->people, r->people_count, r->person);
    if (said.len == 0)
        json_push_str(r->assumptions, arena_strf(r->x->c->a, "Times are those of %.*s.",
                                                 STR_ARG(zone_name(plan_zone(p->zone, r->x->zone)))));
    return plan_zone(said.len > 0 ? said : p->zone, r->x->zone);
}

static bool span_of(rules_call *r, const json_val *item, const zone *z, interval *ret)
{
    when            w;
    const json_val *said = json_get(item, "timeResolved");
    str             start = text_of(item, "startTime");
    int             minutes = (int)json_int(json_get(item, "durationMins"), 0);
    if (iso8601_parse(text_of(said, "startUtc"), &ret->from_us) &&
        iso8601_parse(text_of(said, "endUtc"), &ret->to_us))
        return true;
    if (start.len > 0 && minutes == 0) {
        minutes = DEFAULT_MINUTES;
        json_push_str(r->assumptions, STR("Without a length, an hour is meant."));
    }
    if (when_make(r->x->c->a, text_of(item, "date"), start, start.len > 0 ? minutes : 0, z, &w) != RES_OK ||
        w.status != TIME_RESOLVED)
        return false;
    ret->from_us = w.start_us;
    ret->to_us = w.end_us;
    return true;
}

/* What cannot be used is told and left out. */
static bool read_item(rules_call *r, const json_val *item)
{
    str said = text_of(item, "personId"), original = text_of(item, "originalPrompt");
    if (said.len > 0 && !str_eq(said, r->person)) {
        json_push_str(r->warnings, STR("A rule for somebody else was left out."));
        return true;
    }
    const zone *z = zone_of(r, item);
    interval    n = {.person = r->person,
                     .zone = zone_name(z),
                     .prompt = r->prompt,
                     .original = str_slice(original.len > 0 ? original : r->x->message, 0, PROMPT_MAX),
                     .available = str_eq(text_of(item, "status"), STR("available"))};
    if (!span_of(r, item, z, &n)) {
        json_push_str(r->warnings, STR("A rule without a time was left out."));
        return true;
    }
    if (n.to_us - n.from_us > DAYS_MAX * DAY_US)
        return refuse(r->x->c, "INTERVAL_TOO_LARGE", "An interval may have 14 days");
    r->list[r->count++] = n;
    return true;
}

/* ---- a draft ---- */

static res draft_error(rules_call *r, const char *code, str details)
{
    arena *a = r->x->c->a;
    str    text = STR("I could not make rules of that.");
    json  *body = json_object(a), *e = json_set_object(body, "draftError");
    json_set_str(e, "message", text);
    json_set_str(e, "code", str_of(code));
    json_set_str(e, "traceId", r->x->c->trace);
    json_set_str(e, "details", details);
    json *hints = json_set_array(e, "hints");
    json_push_str(hints, STR("Name a day, such as \"next Tuesday\" or \"March 5\"."));
    json_push_str(hints, STR("Say from when to when, or that it is the whole day."));
    return chat_reply(r->x, text, body);
}

static void push_rule(rules_call *r, json *rules, json *preview, const interval *n)
{
    arena *a = r->x->c->a;
    json  *v = json_push_object(rules);
    when   time = {.status = TIME_RESOLVED, .start_us = n->from_us, .end_us = n->to_us, .zone = n->zone};
    str    status = n->available ? STR("available") : STR("unavailable");
    time.all_day = when_is_whole_days(plan_zone(n->zone, (str){0}), n->from_us, n->to_us);
    json_set_str(v, "personId", n->person);
    json_set_str(v, "status", status);
    json_set_str(v, "startUtc", iso8601_arena(a, n->from_us, 3));
    json_set_str(v, "endUtc", iso8601_arena(a, n->to_us, 3));
    json_set_str(v, "timezone", n->zone);
    json_set_str(v, "promptId", n->prompt);
    json_set_str(v, "originalPrompt", n->original);
    json_push_str(preview, arena_strf(a, "%.*s on %.*s", STR_ARG(status), STR_ARG(plan_time_text(a, &time))));
}

static res show_draft(rules_call *r)
{
    json *body = json_object(r->x->c->a);
    json *rules = json_set_array(body, "draftRules"), *preview = json_set_array(body, "preview");
    r->count = intervals_merge(r->list, r->count);
    for (size_t i = 0; i < r->count; i++)
        push_rule(r, rules, preview, &r->list[i]);
    json_set_json(body, "assumptions", r->assumptions);
    json_set_json(body, "warnings", r->warnings);
    json_set_str(body, "promptId", r->prompt);
    return chat_reply(r->x, arena_strf(r->x->c->a, "Drafted %zu rule(s).", r->count), body);
}

static bool is_plan(arena *a, const json_val *content, void *ctx, str *ret_why)
{
    return plan_read(a, content, ctx, ret_why) == RES_OK;
}

static str prompt_of(const rules_call *r)
{
    arena *a = r->x->c->a;
    json  *v = json_object(a);
    json_set_str(v, "message", r->x->message);
    json *context = json_set_object(v, "context");
    json_set_str(context, "nowIso", call_now(a));
    json_set_str(context, "timezone", r->x->zone);
    json_set_str(context, "requiredAction", str_of(required_action(r)));
    json_set_str(context, "personId", r->person);
    json_set_str(context, "promptId", r->prompt);
    return json_print(a, v);
}

static res use_plan(rules_call *r, const plan *p)
{
    size_t items = 0;
    if (p->kind == PLAN_QUESTION)
        return draft_error(r, "MODEL_QUESTION", p->message);
    for (size_t i = 0; i < p->action_count; i++) {
        if (strcmp(plan_type(&p->actions[i]), required_action(r)) != 0)
            return draft_error(r, "DISALLOWED_ACTION", str_of(plan_type(&p->actions[i])));
        for (json_iter it = json_each(json_get(p->actions[i].json, "rules")); json_next(&it); items++)
            if (r->count < INTERVALS_MAX && !read_item(r, it.value))
                return r->x->c->result;
    }
    if (items == 0)
        return draft_error(r, "ZERO_VALID_RULE_ITEMS", STR("The model named no rule."));
    if (r->count == 0)
        return draft_error(r, "ZERO_INTERVALS", STR("No rule had a span of time."));
    return r->saves ? save(r) : show_draft(r);
}

static res ask_model(rules_call *r)
{
    ai_answer   answer;
    plan        p = {0};
    task       *t = r->x->c->t;
    ai_question q = {
        .user_key = str_of(r->x->c->who.user_key), .system = str_of(chat_rules_system), .user = prompt_of(r)};
    res n = ai_ask_checked(t, &q, is_plan, &p, &answer);
    if (n == RES_INVALID && task_stopped(t) == RES_OK) {
        str details = arena_copy(t->arena, task_message(t));
        task_forget(t);
        return draft_error(r, "SCHEMA_VALIDATION_FAILED", details);
    }
    return n == RES_OK ? use_plan(r, &p) : chat_ai_failed(r->x, n);
}

res rules_mode(chat *x, str mode)
{
    call       *c = x->c;
    char        id[UUID_TEXT + 1];
    rules_call *r = arena_one(c->a, rules_call);
    *r = (rules_call){.x = x,
                      .person = call_text(c, "personId"),
                      .prompt = str_slice(call_text(c, "promptId"), 0, ID_MAX),
                      .saves = str_eq(mode, STR("confirm")),
                      .assumptions = json_array(c->a),
                      .warnings = json_array(c->a)};
    if (r->prompt.len == 0)
        r->prompt = arena_copy(c->a, id_uuid(id));
    if (!call_went(c, people_of(c->t, x->group, &x->now, &r->people, &r->people_count)))
        return c->result;
    if (r->saves && json_len(json_get(c->body, "draftedIntervals")) > 0)
        return read_intervals(r) ? save(r) : c->result;
    if (!is_here(r, r->person)) {
        (void)refuse(c, "person_not_found", "That person is not of this group");
        return c->result;
    }
    return ask_model(r);
}
