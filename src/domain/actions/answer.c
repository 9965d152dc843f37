/* answer.c -- see answer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/answer.h"

#include "core/id.h"
#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/settings.h"

#define ALLOW_METHODS "GET,POST,OPTIONS"
#define ALLOW_HEADERS "Content-Type, Authorization, x-functions-key, x-ms-client-request-id"

/* ---- CORS ---- */

/* The value of Access-Control-Allow-Origin; empty: the header is left out. */
static str allowed_origin(str origin)
{
    str list = settings_get()->cors_origins, one;
    if (list.len == 0)
        return STR("*");
    while (str_next_field(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, STR("*")))
            return one;
        if (one.len > 0 && str_eq(one, origin))
            return origin;
    }
    return (str){0};
}

static size_t cors_headers(str origin, http_header out[ERROR_HEADERS_MAX])
{
    size_t n = 0;
    str    allowed = allowed_origin(origin);
    if (allowed.len > 0)
        out[n++] = (http_header){STR("Access-Control-Allow-Origin"), allowed};
    if (settings_get()->cors_origins.len > 0)
        out[n++] = (http_header){STR("Vary"), STR("Origin")};
    out[n++] = (http_header){STR("Access-Control-Allow-Methods"), STR(ALLOW_METHODS)};
    out[n++] = (http_header){STR("Access-Control-Allow-Headers"), STR(ALLOW_HEADERS)};
    out[n++] = (http_header){STR("Access-Control-Max-Age"), STR("86400")};
    return n;
}

/* Names and values are ours, or an Origin that came over HTTP: reply_header cannot refuse them. */
static void set_header(reply *out, const char *name, str value)
{
    (void)reply_header(out, name, value);
}

void answer_headers(const request *in, reply *out, const char *cache)
{
    http_header list[ERROR_HEADERS_MAX];
    size_t      n = cors_headers(request_header(in, "origin"), list);
    for (size_t i = 0; i < n; i++)
        set_header(out, list[i].name.at, list[i].value); /* the names are literals, so they are terminated */
    if (cache != NULL)
        set_header(out, "Cache-Control", str_of(cache));
}

bool answer_options(const request *in, reply *out, const char *allow)
{
    if (!str_eq(request_method(in), STR("OPTIONS")))
        return false;
    (void)reply_empty(out, 204); /* cannot fail: no body, no header */
    answer_headers(in, out, NULL);
    set_header(out, "Allow", str_of(allow));
    return true;
}

res answer_json(const request *in, reply *out, int status, const char *cache, const json *body)
{
    TRY(reply_json(out, status, body));
    answer_headers(in, out, cache);
    return RES_OK;
}

/* ---- errors ---- */

res answer_error(task *t, const request *in, reply *out, int status, const char *message)
{
    json *body = json_object(t->arena);
    json_set_str(body, "error", str_of(message));
    return answer_json(in, out, status, NULL, body);
}

res answer_failed(task *t, const request *in, reply *out, res code, const char *message)
{
    if (task_stopped(t) != RES_OK || code == RES_MEMORY)
        return code; /* nobody reads it, or time or memory is spent: the runtime knows what to do */
    str f = request_function(in), why = task_message(t);
    log_error("%.*s: %s (%s: %.*s)", STR_ARG(f), message, res_name(code), STR_ARG(why));
    return answer_error(t, in, out, 500, message);
}

str answer_correlation_id(arena *a)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char     random[CORRELATION_HEX / 2];
    char             *hex = arena_alloc(a, CORRELATION_HEX + 1);
    if (hex == NULL)
        return (str){0};
    id_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        hex[2 * i] = digits[random[i] >> 4];
        hex[2 * i + 1] = digits[random[i] & 15];
    }
    hex[CORRELATION_HEX] = '\0';
    return (str){hex, CORRELATION_HEX};
}

res answer_upsert_error(task *t, const request *in, reply *out, const upsert_error *e)
{
    str   id = answer_correlation_id(t->arena), why = task_message(t);
    json *body = json_object(t->arena);
    bool  callers = e->status < 500;
    json_set_str(body, "errorCode", str_of(e->code));
    json_set_str(body, "message", e->message);
    json_set_str(body, "correlationId", id);
    json_set_json(body, "details", e->details);
    if (callers)
        log_warn("%s: %.*s [correlationId %.*s]", e->code, STR_ARG(e->message), STR_ARG(id));
    else
        log_error("%s: %.*s: %.*s [correlationId %.*s]", e->code, STR_ARG(e->message), STR_ARG(why),
                  STR_ARG(id));
    TRY(answer_json(in, out, e->status, NULL, body));
    if (e->retry_after_s > 0)
        set_header(out, "Retry-After", arena_strf(t->arena, "%u", e->retry_after_s));
    return RES_OK;
}

json *answer_storage_details(task *t, res code)
{
    const task_peer *said = task_peer_said(t);
    json            *d = json_object(t->arena);
    str              words = str_of(said->message);
    json_set_str(d, "message", words.len > 0 ? words : str_of(res_get(code)->text));
    json_set_str(d, "name", STR("StorageError"));
    if (said->status != 0)
        json_set_int(d, "statusCode", said->status);
    if (said->code[0] != '\0')
        json_set_str(d, "code", str_of(said->code));
    if (said->status != 0) {
        json *e = json_set_object(d, "errorDetails");
        json_set_str(e, "code", str_of(said->code));
        json_set_str(e, "message", words);
    }
    return d;
}

/* ---- the runtime's own refusals ---- */

static const char *upsert_code(int status)
{
    if (status == 413)
        return "CONSTRAINT_VIOLATION";
    return status < 500 ? "VALIDATION_FAILED" : "INTERNAL_ERROR";
}

void actions_error(arena *a, const error_facts *f, error_answer *ret)
{
    json *body = json_object(a);
    json_set_str(body, "error", f->code == RES_METHOD ? STR("Method not allowed.") : f->message);
    ret->body = json_print(a, body);
    ret->header_count = cors_headers(f->origin, ret->headers);
}

void actions_upsert_error(arena *a, const error_facts *f, error_answer *ret)
{
    if (f->code == RES_METHOD) {
        actions_error(a, f, ret);
        return;
    }
    json *body = json_object(a);
    json_set_str(body, "errorCode", str_of(upsert_code(f->status)));
    json_set_str(body, "message", f->message);
    json_set_str(body, "correlationId", answer_correlation_id(a));
    ret->body = json_print(a, body);
    ret->header_count = cors_headers(f->origin, ret->headers);
}

/* ---- conditions ---- */

bool answer_matches(str if_none_match, str etag)
{
    return http_etag_matches(if_none_match, etag);
}
