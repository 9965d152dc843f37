/* ai.c -- see ai.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/ai.h"

#include <math.h>

#include "core/base64.h"
#include "core/log.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/settings.h"
#include "runtime/fetch.h"

enum {
    ANSWER_MAX = 1 * MIB,
    PING_ANSWER_MAX = 64 * KIB,
    PING_MS = 7000,
    REFUSED_SHOWN_MAX = 8000, /* bytes of a refused answer that the model sees again */
    ID_MAX = 128,
    HEADERS_MAX = 3,
};

/* One question with its attempts. */
typedef struct {
    const ai_question *q;
    ai_check_fn       *check;
    void              *ctx;
    str                model;
    str                refused, why; /* the first answer and its fault; empty before there is one */
    int64_t            tokens_in, tokens_out;
    ai_answer          answer;
} asking;

/* ---- the request ---- */

static void push_message(json *list, const char *role, str text)
{
    json *m = json_push_object(list);
    json_set_str(m, "role", str_of(role));
    json_set_str(m, "content", text);
}

static void push_image(arena *a, json *list, const ai_question *q)
{
    json *m = json_push_object(list);
    json_set_str(m, "role", STR("user"));
    json *parts = json_set_array(m, "content"), *text = json_push_object(parts);
    json_set_str(text, "type", STR("text"));
    json_set_str(text, "text", q->user);
    json *picture = json_push_object(parts);
    json_set_str(picture, "type", STR("image_url"));
    json_set_str(
        json_set_object(picture, "image_url"), "url",
        arena_strf(a, "data:%.*s;base64,%.*s", STR_ARG(q->image_mime), STR_ARG(base64_encode(a, q->image))));
}

static str body_of(arena *a, const asking *x)
{
    json *body = json_object(a);
    json_set_str(body, "model", x->model);
    json_set_int(body, "temperature", 0);
    json_set_str(json_set_object(body, "response_format"), "type", STR("json_object"));
    json *messages = json_set_array(body, "messages");
    push_message(messages, "system", x->q->system);
    if (x->q->image.len > 0)
        push_image(a, messages, x->q);
    else
        push_message(messages, "user", x->q->user);
    if (x->why.len > 0) {
        push_message(messages, "assistant", x->refused);
        push_message(messages, "user",
                     arena_strf(a,
                                "Your answer cannot be used: %.*s. Answer again, with one JSON object and "
                                "nothing else.",
                                STR_ARG(x->why)));
    }
    return json_print(a, body);
}

static size_t headers_of(arena *a, http_header headers[HEADERS_MAX])
{
    const sched_settings *s = sched_settings_get();
    size_t                n = 0;
    headers[n++] = (http_header){STR("Content-Type"), STR("application/json")};
    headers[n++] = (http_header){STR("Accept"), STR("application/json")};
    if (s->ai_key.len > 0)
        headers[n++] = (http_header){STR("Authorization"), arena_strf(a, "Bearer %.*s", STR_ARG(s->ai_key))};
    return n;
}

static str url_of(arena *a, const char *rest)
{
    str base = sched_settings_get()->ai_base_url;
    while (str_ends(base, STR("/")))
        base.len--;
    return arena_strf(a, "%.*s/%s", STR_ARG(base), rest);
}

/* ---- the exchange ---- */

/* What this process knows of a failure is enough for people; what the wire said may name what they sent. */
static res say(task *t, res r, str text)
{
    task_forget(t);
    return task_fail(t, r, "%.*s", STR_ARG(text));
}

static res exchange(task *t, const fetch_request *in, fetch_answer *ret)
{
    res r = fetch(t, in, ret);
    if (r != RES_OK && task_stopped(t) != RES_OK)
        return r;
    switch (r) {
    case RES_OK:
        break;
    case RES_TIMEOUT:
        return say(t, r, STR("timeout"));
    case RES_TOO_LARGE:
        return say(t, RES_UPSTREAM, STR("OpenAI's answer is too large"));
    case RES_UPSTREAM:
        return say(t, r, STR("OpenAI's answer broke off"));
    case RES_MEMORY:
        return r;
    default:
        return say(t, RES_UNREACHABLE, STR("OpenAI cannot be reached"));
    }
    if (ret->status / 100 != 2)
        return say(t, RES_UPSTREAM, arena_strf(t->arena, "OpenAI HTTP %d", ret->status));
    return RES_OK;
}

/* Absent, odd and negative numbers are none. */
static int64_t tokens_of(const json_val *said, const char *name, const char *older)
{
    double n = json_double(json_get(said, name), json_double(json_get(said, older), 0));
    return n >= 0 && n < INT32_MAX ? (int64_t)floor(n) : 0;
}

static res read_envelope(task *t, str body, asking *x)
{
    const json_val *doc;
    if (json_parse(t->arena, body, &doc, NULL) != RES_OK)
        return say(t, RES_UPSTREAM, STR("OpenAI's answer is no JSON"));
    const json_val *said = json_get(doc, "usage");
    const json_val *first = json_at(json_get(doc, "choices"), 0);
    x->tokens_in = tokens_of(said, "input_tokens", "prompt_tokens");
    x->tokens_out = tokens_of(said, "output_tokens", "completion_tokens");
    x->answer = (ai_answer){
        .op_id = str_slice(json_text(json_get(doc, "id"), (str){0}), 0, ID_MAX),
        .text = str_trim(json_text(json_get(json_get(first, "message"), "content"), (str){0})),
    };
    return x->answer.text.len > 0 ? RES_OK : say(t, RES_UPSTREAM, STR("OpenAI's answer is empty"));
}

static res read_content(task *t, asking *x)
{
    str why = STR("it is no JSON object");
    if (json_parse(t->arena, x->answer.text, &x->answer.content, NULL) == RES_OK &&
        (json_typeof(x->answer.content) == JSON_OBJECT || json_typeof(x->answer.content) == JSON_ARRAY) &&
        (x->check == NULL || x->check(t->arena, x->answer.content, x->ctx, &why)))
        return RES_OK;
    x->refused = str_slice(x->answer.text, 0, REFUSED_SHOWN_MAX);
    x->why = why;
    return say(t, RES_INVALID, arena_strf(t->arena, "OpenAI's answer cannot be used: %.*s", STR_ARG(why)));
}

static res attempt(task *t, asking *x)
{
    http_header   headers[HEADERS_MAX];
    fetch_answer  answer;
    fetch_request in = {
        .method = STR("POST"),
        .url = url_of(t->arena, "chat/completions"),
        .headers = headers,
        .header_count = headers_of(t->arena, headers),
        .body = body_of(t->arena, x),
        .answer_max = ANSWER_MAX,
        .timeout_ms = sched_settings_get()->ai_timeout_ms,
    };
    TRY(exchange(t, &in, &answer));
    TRY(read_envelope(t, answer.body, x));
    return read_content(t, x);
}

/* ---- accounting ---- */

/* Counting forgets what went wrong before it, which is still wanted. */
static res account(task *t, const asking *x, res r)
{
    usage u = {.user_key = x->q->user_key, .model = x->model, .failed = r != RES_OK};
    str   message = arena_copy(t->arena, task_message(t));
    if (r == RES_OK) {
        u.tokens_in = x->tokens_in;
        u.tokens_out = x->tokens_out;
    } else {
        usage_note_error(message);
        log_warn("an AI call failed: %.*s", STR_ARG(message));
    }
    usage_record(t, &u);
    if (task_stopped(t) != RES_OK)
        return task_stopped(t);
    return r == RES_OK ? r : say(t, r, message);
}

static res attempt_and_account(task *t, asking *x)
{
    x->tokens_in = x->tokens_out = 0;
    return account(t, x, attempt(t, x));
}

/* Whoever cannot be asked what was used today does not stop anybody. */
static res look_at_limits(task *t)
{
    const sched_settings *s = sched_settings_get();
    usage_counts          today;
    if (usage_today(t, &today) != RES_OK) {
        task_forget(t);
        return task_stopped(t);
    }
    if (today.calls < s->requests_daily && today.tokens_in + today.tokens_out < s->tokens_daily)
        return RES_OK;
    return task_fail(t, RES_THROTTLED, "today's limit of AI calls is reached");
}

/* ---- questions ---- */

res ai_ask_checked(task *t, const ai_question *q, ai_check_fn *check, void *ctx, ai_answer *ret)
{
    const sched_settings *s = sched_settings_get();
    asking x = {.q = q, .check = check, .ctx = ctx, .model = q->model.len > 0 ? q->model : s->ai_model};
    if (!s->ai_configured)
        return task_fail(t, RES_CONFIG, "OPENAI_API_KEY is not configured");
    TRY(look_at_limits(t));
    res r = attempt_and_account(t, &x);
    if (r == RES_INVALID && check != NULL) {
        task_forget(t);
        r = attempt_and_account(t, &x);
    }
    if (r == RES_OK)
        *ret = x.answer;
    return r;
}

res ai_ask(task *t, const ai_question *q, ai_answer *ret)
{
    return ai_ask_checked(t, q, NULL, NULL, ret);
}

res ai_ping(task *t, uint64_t *ret_ms)
{
    const sched_settings *s = sched_settings_get();
    http_header           headers[HEADERS_MAX];
    fetch_answer          answer;
    if (!s->ai_configured)
        return task_fail(t, RES_CONFIG, "OPENAI_API_KEY is not configured");
    fetch_request in = {
        .method = STR("GET"),
        .url =
            url_of(t->arena, arena_cstr(t->arena, arena_strf(t->arena, "models/%.*s", STR_ARG(s->ai_model)))),
        .headers = headers,
        .header_count = headers_of(t->arena, headers),
        .answer_max = PING_ANSWER_MAX,
        .timeout_ms = PING_MS,
    };
    TRY(exchange(t, &in, &answer));
    *ret_ms = answer.took_us / 1000;
    return RES_OK;
}
