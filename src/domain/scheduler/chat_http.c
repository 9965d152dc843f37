/* chat_http.c -- POST /api/chat: propose, confirm, carry out (§6.1).
 *
 * What changes something is proposed first, with what it would do; a yes carries it out, if the group's state
 * and the appointments are still what they were then. Yes, no, help and the list need no model.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/chat.h"

#include <string.h>

#include "core/clock.h"
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"

enum { MESSAGE_MAX = 8000, COMMAND_MAX = 40 };

/* ---- answers ---- */

static json *told(chat *x, const char *kind, json *body)
{
    body = body != NULL ? body : json_object(x->c->a);
    json_set_str(body, "kind", str_of(kind));
    return body;
}

/* Every answer shows what the group looks like now. */
static res finish(chat *x, json *body, str said)
{
    json *snapshot;
    if (!call_went(x->c, appointments_snapshot(x->c->t, x->group, &snapshot)))
        return x->c->result;
    chat_note(&x->key, true, x->message);
    chat_note(&x->key, false, said);
    json_set_json(body, "snapshot", snapshot);
    return call_answer(x->c, 200, body);
}

static res finish_text(chat *x, const char *kind, str text, json *body)
{
    body = told(x, kind, body);
    json_set_str(body, "assistantText", text);
    return finish(x, body, text);
}

res chat_reply(chat *x, str text, json *body)
{
    return finish_text(x, "reply", text, body);
}

/* options: a model's, or NULL. */
static res ask(chat *x, str text, const json_val *options, bool free_text)
{
    json *body = told(x, "question", NULL);
    json_set_str(body, "message", text);
    json_set_val(body, "options", options);
    json_set_bool(body, "allowFreeText", free_text);
    return finish(x, body, text);
}

res chat_error(call *c, int status, const char *error, const char *message)
{
    json *body = json_object(c->a);
    json_set_str(body, "kind", STR("error"));
    json_set_null(body, "opId");
    return call_refuse_with(c, status, error, NULL, str_of(message), body);
}

res chat_ai_failed(chat *x, res r)
{
    call *c = x->c;
    c->result = task_stopped(c->t);
    if (c->result != RES_OK || r == RES_MEMORY)
        return c->result != RES_OK ? c->result : r;
    str message = arena_copy(c->a, task_message(c->t));
    task_forget(c->t);
    if (r == RES_THROTTLED)
        return call_refuse_with(c, 429, "usage_limit_reached", NULL, message, NULL);
    json *body = json_object(c->a);
    json_set_null(body, "opId");
    return call_refuse_with(c, 502, "OPENAI_CALL_FAILED", NULL, message, body);
}

/* ---- commands ---- */

static bool is_one_of(str s, const char *const *words)
{
    for (; *words != NULL; words++)
        if (str_eq(s, str_of(*words)))
            return true;
    return false;
}

static bool is_yes(str s)
{
    static const char *const words[] = {"confirm", "yes", "y", "ok", NULL};
    return is_one_of(s, words);
}

static bool is_no(str s)
{
    static const char *const words[] = {"cancel", "no", "n", NULL};
    return is_one_of(s, words);
}

static bool is_list(str s)
{
    static const char *const words[] = {"appointments", "list appointments", "show appointments", NULL};
    return is_one_of(s, words);
}

/* In lower case, with single blanks, without signs at its end; empty when it is longer than any command. */
static str command_of(arena *a, str message)
{
    char  *out = arena_alloc(a, COMMAND_MAX + 1);
    size_t n = 0;
    for (size_t i = 0; i < message.len; i++) {
        char c = message.at[i];
        bool blank = c == ' ' || (c >= '\t' && c <= '\r');
        if (blank && n > 0 && out[n - 1] == ' ')
            continue;
        if (n == COMMAND_MAX)
            return (str){0};
        out[n++] = blank ? ' ' : str_lower_char(c);
    }
    while (n > 0 && strchr("?!.,:; ", out[n - 1]) != NULL)
        n--;
    return (str){out, n};
}

/* ---- proposals ---- */

static str joined(arena *a, const str *lines, size_t count)
{
    size_t len = 1, n = 0;
    for (size_t i = 0; i < count; i++)
        len += lines[i].len + 1;
    char *out = arena_alloc(a, len);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            out[n++] = '\n';
        if (lines[i].len > 0)
            memcpy(out + n, lines[i].at, lines[i].len);
        n += lines[i].len;
    }
    return (str){out, n};
}

static plan_run run_of(chat *x, bool dry)
{
    return (plan_run){.group = x->group,
                      .zone = x->zone,
                      .by = {str_of(x->c->who.user_key), x->m->m.member_key},
                      .now = x->now,
                      .dry_run = dry};
}

static str text_of(const json_val *v, const char *name)
{
    return json_text(json_get(v, name), (str){0});
}

/* As it is kept between two calls: the actions, and the versions that they are about. */
static str proposal_text(chat *x, str id, const plan_action *actions, size_t count, const plan_effects *e)
{
    json *v = json_object(x->c->a);
    json_set_str(v, "id", id);
    json_set_str(v, "etag", x->now.etag);
    json *list = json_set_array(v, "actions"), *touched = json_set_array(v, "touched");
    for (size_t i = 0; i < count; i++)
        json_push_val(list, actions[i].json);
    for (size_t i = 0; i < e->touched_count; i++) {
        json *item = json_push_object(touched);
        json_set_str(item, "id", e->touched[i].id);
        json_set_str(item, "etag", e->touched[i].etag);
    }
    return json_print(x->c->a, v);
}

static res ask_yes_or_no(chat *x)
{
    const json_val *options = NULL;
    str             text = STR("[{\"label\":\"Confirm\",\"value\":\"confirm\",\"style\":\"primary\"},"
                                           "{\"label\":\"Cancel\",\"value\":\"cancel\",\"style\":\"secondary\"}]");
    if (!call_went(x->c, json_parse(x->c->a, text, &options, NULL)))
        return x->c->result;
    return ask(x, STR("Please confirm or cancel."), options, false);
}

static res state_changed(chat *x)
{
    task_forget(x->c->t);
    return chat_error(x->c, 409, "state_changed", "State changed. Retry.");
}

static bool read_proposal(chat *x, str text, plan_run *run, plan_action **ret, size_t *ret_count,
                          str *ret_etag)
{
    const json_val *v;
    str             why;
    arena          *a = x->c->a;
    if (json_parse(a, text, &v, NULL) != RES_OK)
        return false;
    const json_val *list = json_get(v, "actions"), *touched = json_get(v, "touched");
    plan_action    *actions = arena_array(a, plan_action, json_len(list) + 1);
    plan_touched   *expected = arena_array(a, plan_touched, json_len(touched) + 1);
    size_t          n = 0;
    for (json_iter it = json_each(list); json_next(&it); n++)
        if (plan_read_action(a, it.value, &actions[n], &why) != RES_OK)
            return false;
    for (json_iter it = json_each(touched); json_next(&it);)
        expected[run->expected_count++] = (plan_touched){text_of(it.value, "id"), text_of(it.value, "etag")};
    run->expected = expected;
    *ret = actions;
    *ret_count = n;
    *ret_etag = text_of(v, "etag");
    return true;
}

/* The proposal is taken before anything is written: of two who confirm at once, one does. */
static res confirm(chat *x)
{
    plan_run     run = run_of(x, false);
    plan_action *actions;
    plan_effects e;
    size_t       count;
    str          etag, text = chat_take_proposal(x->c->a, &x->key);
    if (text.len == 0 || !read_proposal(x, text, &run, &actions, &count, &etag))
        return ask(x, STR("What should I confirm?"), NULL, true);
    if (!str_eq(etag, x->now.etag))
        return state_changed(x);
    res r = plan_execute(x->c->t, &run, actions, count, &e);
    if (r == RES_CONFLICT && task_stopped(x->c->t) == RES_OK)
        return state_changed(x);
    if (!call_went(x->c, r))
        return x->c->result;
    if (e.identity.len > 0)
        chat_speak_as(&x->key, e.identity);
    return finish_text(x, "applied", joined(x->c->a, e.lines, e.line_count), NULL);
}

static res unknown_code(chat *x, str code)
{
    return ask(x,
               arena_strf(x->c->a, "I do not know %.*s. Which %s do you mean?", STR_ARG(code),
                          str_starts(code, STR("RULE")) ? "rule" : "appointment"),
               NULL, true);
}

static res propose(chat *x, const plan *p)
{
    plan_action *actions = arena_array(x->c->a, plan_action, p->action_count + 1);
    plan_run     run = run_of(x, true);
    plan_effects e;
    size_t       n = 0;
    for (size_t i = 0; i < p->action_count; i++)
        if (plan_is_mutating(&p->actions[i]))
            actions[n++] = p->actions[i];
    if (n == 0)
        return ask(x, p->message, p->options, p->allow_free_text);
    if (!call_went(x->c, plan_execute(x->c->t, &run, actions, n, &e)))
        return x->c->result;
    if (e.unknown.len > 0)
        return unknown_code(x, e.unknown);
    str id = arena_strf(x->c->a, "%lld", (long long)(clock_wall_us() / 1000));
    if (!chat_propose(&x->key, proposal_text(x, id, actions, n, &e)))
        return ask(x, STR("That is too much at once. What should come first?"), NULL, true);
    json *body = json_object(x->c->a);
    json_set_str(body, "proposalId", id);
    return finish_text(x, "proposal", joined(x->c->a, e.lines, e.line_count), body);
}

/* ---- the model ---- */

static bool is_plan(arena *a, const json_val *content, void *ctx, str *ret_why)
{
    plan *p = ctx;
    if (plan_read(a, content, p, ret_why) != RES_OK)
        return false;
    for (size_t i = 0; i < p->action_count; i++)
        if (plan_is_for_rules(&p->actions[i])) {
            *ret_why = STR("that action is not one of the list");
            return false;
        }
    return true;
}

/* What only reads is done at once; what would change something is told as it would be, and no more. */
static res look_up(chat *x, const plan *p)
{
    plan_run     run = run_of(x, true);
    plan_effects e;
    if (!call_went(x->c, plan_execute(x->c->t, &run, p->actions, p->action_count, &e)))
        return x->c->result;
    return e.unknown.len > 0 ? unknown_code(x, e.unknown)
                             : chat_reply(x, joined(x->c->a, e.lines, e.line_count), NULL);
}

static res ask_model(chat *x)
{
    ai_answer   answer;
    plan        p = {0};
    ai_question q = {.user_key = str_of(x->c->who.user_key), .system = str_of(chat_system)};
    if (!sched_settings_get()->ai_configured)
        return chat_ai_failed(x, task_fail(x->c->t, RES_CONFIG, "OPENAI_API_KEY is not configured"));
    if (!call_went(x->c, chat_prompt(x, &q.user)))
        return x->c->result;
    res r = ai_ask_checked(x->c->t, &q, is_plan, &p, &answer);
    if (r != RES_OK)
        return chat_ai_failed(x, r);
    if (p.kind == PLAN_PROPOSAL)
        return propose(x, &p);
    if (p.kind == PLAN_QUESTION)
        return ask(x, p.message, p.options, p.allow_free_text);
    return p.action_count > 0 ? look_up(x, &p) : chat_reply(x, p.message, NULL);
}

/* ---- one message ---- */

static res list_appointments(chat *x)
{
    appointment *list;
    size_t       count;
    bool         truncated;
    if (!call_went(x->c, appointments_list(x->c->t, x->group, &list, &count, &truncated)))
        return x->c->result;
    return chat_reply(x,
                      count > 0 ? arena_strf(x->c->a, "Listed %zu appointment(s).", count)
                                : STR("No appointments found."),
                      NULL);
}

static res cancel(chat *x)
{
    (void)chat_take_proposal(x->c->a, &x->key); /* nobody wants it */
    return chat_reply(x, STR("Cancelled."), NULL);
}

static res converse(chat *x)
{
    str command = command_of(x->c->a, x->message);
    if (chat_proposal(x->c->a, &x->key).len > 0) {
        if (is_yes(command))
            return confirm(x);
        return is_no(command) ? cancel(x) : ask_yes_or_no(x);
    }
    if (is_yes(command))
        return ask(x, STR("What should I confirm?"), NULL, true);
    if (is_no(command))
        return chat_reply(x, STR("Nothing to cancel."), NULL);
    if (str_eq(command, STR("help")))
        return chat_reply(x,
                          STR("Say what is to be planned, such as \"dentist on March 3 at 10 for an hour\". "
                              "\"appointments\" lists what there is; \"confirm\" and \"cancel\" answer a "
                              "proposal."),
                          NULL);
    if (is_list(command))
        return list_appointments(x);
    return ask_model(x);
}

static res zone_of_caller(chat *x)
{
    profile p = {0};
    res     r = profile_read(x->c->t, x->m->m.member_key, &p);
    if (r == RES_NOT_FOUND)
        task_forget(x->c->t);
    else
        TRY(r);
    x->zone = zone_name(plan_zone(p.timezone, (str){0}));
    return RES_OK;
}

static bool open_chat(chat *x, call *c, membership *m)
{
    *x = (chat){.c = c, .m = m, .group = call_text(c, "groupId"), .message = call_text(c, "message")};
    if (x->message.len == 0 || x->message.len > MESSAGE_MAX) {
        c->result = chat_error(c, 400, "bad_request",
                               x->message.len == 0 ? "message is required" : "message is too long");
        return false;
    }
    if (x->group.len == 0) {
        c->result = chat_error(c, 400, "groupId_required", "groupId is required");
        return false;
    }
    if (call_text(c, "ruleMode").len > 0 && !rules_mode_fits(c))
        return false;
    if (!call_session(c) || !gate_pass(c, x->group, ADMIT_ACTIVE, m))
        return false;
    x->key = chat_key_of(c->a, x->group, c->who.id);
    return call_went(c, state_read(c->t, x->group, &x->now)) && call_went(c, zone_of_caller(x));
}

res sched_chat(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    chat       x;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !open_chat(&x, &c, &m))
        return c.result;
    str mode = call_text(&c, "ruleMode");
    return mode.len > 0 ? rules_mode(&x, mode) : converse(&x);
}
