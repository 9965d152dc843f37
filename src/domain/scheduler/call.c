/* call.c -- see call.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/call.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/scheduler/places.h"

enum { TRACE_MAX = 128 };

static str member_text(const json_val *object, const char *member)
{
    return str_trim(json_text(json_get(object, member), (str){0}));
}

/* ---- beginning ---- */

static str new_trace(arena *a)
{
    char id[UUID_TEXT + 1];
    return arena_copy(a, id_uuid(id));
}

static void choose_trace(call *c, call_trace how)
{
    str said = how == TRACE_CLIENT ? member_text(c->body, "traceId") : (str){0};
    if (said.len == 0 && how == TRACE_CLIENT)
        said = str_trim(request_query(c->in, "traceId"));
    c->trace = said.len > 0 ? str_slice(said, 0, TRACE_MAX) : new_trace(c->a);
}

static bool has_body(const request *in)
{
    str method = request_method(in);
    return !str_eq(method, STR("GET")) && !str_eq(method, STR("HEAD"));
}

bool call_begin(call *c, task *t, const request *in, reply *out, call_trace trace, const call_bad_json *bad)
{
    static const call_bad_json usual = {"bad_request", "BAD_JSON"};
    json_error                 error = {0};
    bool                       broken = false;
    *c = (call){.t = t, .a = t->arena, .in = in, .out = out, .result = RES_OK};
    if (has_body(in)) {
        broken = json_parse(c->a, request_body(in), &c->body, &error) != RES_OK ||
                 json_typeof(c->body) != JSON_OBJECT;
        if (broken)
            c->body = NULL;
    }
    choose_trace(c, trace);
    if (!broken)
        return true;
    bad = bad != NULL ? bad : &usual;
    c->result = call_refuse(c, 400, bad->error, bad->code, "The request body must be a JSON object.");
    return false;
}

void call_begin_bytes(call *c, task *t, const request *in, reply *out, call_trace trace)
{
    *c = (call){.t = t, .a = t->arena, .in = in, .out = out, .result = RES_OK};
    choose_trace(c, trace);
}

/* ---- what was sent ---- */

str call_text(const call *c, const char *member)
{
    return member_text(c->body, member);
}

bool call_flag(const call *c, const char *member, bool otherwise)
{
    return json_truth(json_get(c->body, member), otherwise);
}

str call_query(const call *c, const char *name)
{
    return str_trim(request_query(c->in, name));
}

static bool is_blank(char ch)
{
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

str call_collapsed(const call *c, const char *member)
{
    str    text = call_text(c, member);
    char  *out = arena_alloc(c->a, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = is_blank(text.at[i]);
        if (!blank || (n > 0 && out[n - 1] != ' '))
            out[n++] = blank ? ' ' : text.at[i];
    }
    if (n > 0 && out[n - 1] == ' ')
        n--;
    return (str){out, n};
}

bool call_is_uuid4(str id)
{
    return id_is_uuid(id) && id.at[14] == '4' && strchr("89abAB", id.at[19]) != NULL;
}

str call_now(arena *a)
{
    return iso8601_arena(a, clock_wall_us(), 3);
}

/* ---- who ---- */

static bool refuse_session(call *c, const auth_refusal *why)
{
    c->result = call_refuse(c, why->status, why->error, why->code, "%s", why->message);
    return false;
}

bool call_session(call *c)
{
    auth_refusal why;
    if (!places_have_container(c))
        return false;
    res r = auth_session(c->t, c->in, &c->who, &why);
    return r == RES_UNAUTHENTICATED ? refuse_session(c, &why) : call_went(c, r);
}

bool call_full_session(call *c)
{
    static const auth_refusal guest = {403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION",
                                       "A guest's session cannot do this"};
    if (!call_session(c))
        return false;
    return c->who.kind != SESSION_GRACE || refuse_session(c, &guest);
}

/* ---- answers ---- */

/* The type and status are ours; what could fail is the body, which lives in the task's arena. */
res call_answer(call *c, int status, json *body)
{
    json_set_str(body, "traceId", c->trace);
    if (c->dress != NULL)
        c->dress(c, body);
    return reply_json(c->out, status, body);
}

json *call_ok(call *c)
{
    json *body = json_object(c->a);
    json_set_bool(body, "ok", true);
    return body;
}

res call_refuse_with(call *c, int status, const char *error, const char *code, str message, json *body)
{
    body = body != NULL ? body : json_object(c->a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "error", str_of(error));
    if (code != NULL)
        json_set_str(body, "code", str_of(code));
    if (message.len > 0)
        json_set_str(body, "message", message);
    return call_answer(c, status, body);
}

res call_refuse(call *c, int status, const char *error, const char *code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str message = arena_vstrf(c->a, fmt, args);
    va_end(args);
    return call_refuse_with(c, status, error, code, message, NULL);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

res call_config_missing(call *c, const char *const *names, size_t count)
{
    const char **sorted = arena_array(c->a, const char *, count);
    json        *body = json_object(c->a), *list = json_set_array(body, "missing");
    memcpy(sorted, names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++)
        json_push_str(list, str_of(sorted[i]));
    return call_refuse_with(c, 500, "CONFIG_MISSING", NULL, STR("A setting is missing."), body);
}

bool call_went(call *c, res r)
{
    if (r == RES_OK)
        return true;
    c->result = task_stopped(c->t);
    if (c->result != RES_OK || r == RES_MEMORY) {
        c->result = c->result != RES_OK ? c->result : r;
        return false;
    }
    str function = request_function(c->in), why = task_message(c->t);
    log_error("%.*s failed with %s: %.*s [traceId %.*s]", STR_ARG(function), res_name(r), STR_ARG(why),
              STR_ARG(c->trace));
    c->result = call_refuse(c, 500, "INTERNAL_ERROR", NULL, "Something went wrong here. Please try again.");
    return false;
}
