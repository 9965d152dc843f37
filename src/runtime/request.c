/* request.c -- what a handler may ask of its request, and how one is made from plain HTTP.
 *
 * The accessors read the same fields whether request_from_http (here) or request_from_envelope
 * (envelope_read.c) filled them; only inputs and metadata, which plain HTTP does not have, look into the
 * envelope's JSON.
 *
 * Encodings of inputs (spec 3.2). The host writes a text twice as JSON, the public docs show it once:
 *
 *     message        host                      docs
 *     {"a":1}        "\"{\\\"a\\\":1}\""       "{\"a\":1}"
 *     hi             "\"hi\""                  "hi"
 *     "hi"           "\"\\\"hi\\\"\""          "\"hi\""      <- the same as the host's form of hi
 *
 * So a string whose text is a JSON string is taken for the host's form. What cannot be told apart is the last
 * row: a message that is itself a JSON string literal, in the form of the docs, loses its quotes. No host is
 * known to send that form.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base64.h"
#include "core/id.h"
#include "runtime/exchange.h"

enum { TRACEPARENT_LEN = 55, TRACE_ID_AT = 3, TRACE_ID_LEN = 32, PARENT_ID_AT = 36, PARENT_ID_LEN = 16 };

/* ---- ids ---- */

/* Digits of traceparent are lower case by its standard. */
static bool all_hex(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

static bool all_zero(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] != '0')
            return false;
    return true;
}

/* 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 */
static str trace_of(str parent)
{
    if (parent.len != TRACEPARENT_LEN || !str_starts(parent, STR("00-")) || parent.at[35] != '-' ||
        parent.at[52] != '-')
        return (str){0};
    str trace = str_slice(parent, TRACE_ID_AT, TRACE_ID_AT + TRACE_ID_LEN);
    str span = str_slice(parent, PARENT_ID_AT, PARENT_ID_AT + PARENT_ID_LEN);
    if (!all_hex(trace) || !all_hex(span) || !all_hex(str_from(parent, 53)))
        return (str){0};
    if (all_zero(trace) || all_zero(span))
        return (str){0};
    return trace;
}

/* Two traceparents leave open which is true: then none is. */
str request_trace_of(const http_header *headers, size_t count)
{
    const http_header *only = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!str_eq_nocase(headers[i].name, STR("traceparent")))
            continue;
        if (only != NULL)
            return (str){0};
        only = &headers[i];
    }
    return only != NULL ? trace_of(str_trim(only->value)) : (str){0};
}

/* The host appends its id to what a caller has sent (spec 5.2), in the same line or in one of its own: only
 * the last element of the last line is the host's. */
str request_invocation_of(const http_header *headers, size_t count)
{
    str id = {0};
    for (size_t i = 0; i < count; i++) {
        str rest = headers[i].value, element;
        if (!str_eq_nocase(headers[i].name, STR("x-azure-functions-invocationid")))
            continue;
        id = (str){0};
        while (str_next_field(&rest, ',', &element))
            id = str_trim(element);
    }
    return id.len > 0 && id.len <= REQUEST_INVOCATION_MAX ? id : (str){0};
}

/* ---- plain HTTP ---- */

static int hex_digit(char c)
{
    char low = str_lower_char(c);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* A str with a pointer, also when it is empty, for it is present; without one, memory has run out. */
static str unescape(arena *a, str s)
{
    if (str_find_char(s, '%') == s.len && str_find_char(s, '+') == s.len)
        return s.len > 0 ? s : STR("");
    char *out = arena_alloc(a, s.len);
    if (out == NULL)
        return (str){0};

    size_t len = 0;
    for (size_t i = 0; i < s.len; i++) {
        int high = s.len - i > 2 ? hex_digit(s.at[i + 1]) : -1;
        int low = s.len - i > 2 ? hex_digit(s.at[i + 2]) : -1;
        if (s.at[i] == '%' && high >= 0 && low >= 0) {
            out[len++] = (char)(high * 16 + low);
            i += 2;
        } else if (s.at[i] == '+') {
            out[len++] = ' ';
        } else {
            out[len++] = s.at[i];
        }
    }
    return (str){out, len};
}

void request_parse_query(arena *a, str query, http_header **ret, size_t *ret_count)
{
    size_t most = 0, count = 0;
    str    rest = query, pair;
    *ret = NULL;
    *ret_count = 0;

    while (most < REQUEST_QUERIES_MAX && str_next_field(&rest, '&', &pair))
        most += pair.len > 0;
    http_header *list = most > 0 ? arena_array(a, http_header, most) : NULL;
    if (list == NULL)
        return;

    rest = query;
    while (count < most && str_next_field(&rest, '&', &pair)) {
        size_t equals = str_find_char(pair, '=');
        if (pair.len == 0)
            continue;
        http_header *next = &list[count++];
        next->name = unescape(a, str_slice(pair, 0, equals));
        next->value = unescape(a, str_from(pair, equals + 1));
        if (next->name.at == NULL || next->value.at == NULL)
            return; /* no pairs at all rather than some of them */
    }
    *ret = list;
    *ret_count = count;
}

static str fresh_id(arena *a)
{
    char text[UUID_TEXT + 1];
    return arena_copy(a, id_uuid(text));
}

void request_from_http(request *ret, const http_exchange *x, const function *fn, http_header *params,
                       size_t param_count)
{
    *ret = (request){.arena = x->arena,
                     .fn = fn,
                     .invocation = x->log.invocation,
                     .trace = request_trace_of(x->headers, x->header_count),
                     .method = x->method,
                     .path = x->path,
                     .host = http_header_get(x->headers, x->header_count, STR("host")),
                     .body = x->body,
                     .headers = x->headers,
                     .header_count = x->header_count,
                     .params = params,
                     .param_count = param_count};
    if (ret->invocation.len == 0)
        ret->invocation = request_invocation_of(x->headers, x->header_count);
    if (ret->invocation.len == 0)
        ret->invocation = fresh_id(x->arena);
    request_parse_query(x->arena, x->query, &ret->queries, &ret->query_count);
}

/* ---- accessors ---- */

str request_function(const request *in)
{
    return in->fn->name;
}

str request_invocation(const request *in)
{
    return in->invocation;
}

str request_trace(const request *in)
{
    return in->trace.len > 0 ? in->trace : in->invocation;
}

str request_method(const request *in)
{
    return in->method;
}

str request_path(const request *in)
{
    return in->path;
}

str request_host(const request *in)
{
    return in->host;
}

str request_body(const request *in)
{
    return in->body;
}

str request_param(const request *in, const char *name)
{
    return http_header_get(in->params, in->param_count, str_of(name));
}

str request_query(const request *in, const char *name)
{
    return http_header_get(in->queries, in->query_count, str_of(name));
}

str request_header(const request *in, const char *name)
{
    return http_header_get(in->headers, in->header_count, str_of(name));
}

const http_header *request_queries(const request *in, size_t *ret_count)
{
    *ret_count = in->query_count;
    return in->queries;
}

const http_header *request_headers(const request *in, size_t *ret_count)
{
    *ret_count = in->header_count;
    return in->headers;
}

/* ---- inputs and metadata ---- */

static const binding *input_binding(const request *in, str name)
{
    for (size_t i = 0; i < in->fn->binding_count; i++)
        if (!in->fn->bindings[i].output && str_eq(in->fn->bindings[i].name, name))
            return &in->fn->bindings[i];
    return NULL;
}

/* An input that does not exist arrives as the string "null" (spec 3.3 d). A trigger always exists: there,
 * these are four characters of text, or the base64 of three bytes. */
static bool is_missing(const request *in, const binding *b, const json_val *v)
{
    if (json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL)
        return true;
    return (b == NULL || b != in->fn->trigger_binding) && str_eq(json_text(v, (str){0}), STR("null"));
}

/* Base64 is encoded once; a second encoding is undone all the same ("parse both"). */
static bool bytes_of(arena *a, const json_val *v, str *ret)
{
    str text;
    return json_typeof(v) == JSON_STRING && (base64_decode(a, json_text(v, (str){0}), ret) ||
                                             (envelope_text(a, v, &text) && base64_decode(a, text, ret)));
}

static bool input(const request *in, str name, str *ret)
{
    const binding  *b = input_binding(in, name);
    const json_val *v = json_get_str(in->data, name);
    if (is_missing(in, b, v))
        return false;
    return b != NULL && b->binary ? bytes_of(in->arena, v, ret) : envelope_text(in->arena, v, ret);
}

bool request_input_bytes(const request *in, const char *name, str *ret)
{
    return input(in, str_of(name), ret);
}

/* What a binary binding brings is text only if it is UTF-8. */
bool request_input_text(const request *in, const char *name, str *ret)
{
    str text;
    if (!input(in, str_of(name), &text) || !str_is_utf8(text))
        return false;
    *ret = text;
    return true;
}

const json_val *request_input_json(const request *in, const char *name)
{
    const json_val *v = json_get(in->data, name), *parsed;
    str             text;
    if (json_typeof(v) != JSON_STRING)
        return json_typeof(v) == JSON_NULL ? NULL : v;
    if (!request_input_text(in, name, &text) || json_parse(in->arena, text, &parsed, NULL) != RES_OK)
        return NULL;
    return parsed;
}

const json_val *request_meta(const request *in, const char *key)
{
    const json_val *v = envelope_value(in->arena, json_get_nocase(in->metadata, str_of(key)));
    return json_typeof(v) == JSON_NULL ? NULL : v;
}

str request_meta_text(const request *in, const char *key)
{
    const json_val *v = json_get_nocase(in->metadata, str_of(key));
    str             text;
    if (str_eq(json_text(v, (str){0}), STR("null")) || !envelope_text(in->arena, v, &text))
        return (str){0};
    return text;
}

int64_t request_meta_int(const request *in, const char *key, int64_t otherwise)
{
    const json_val *v = envelope_value(in->arena, json_get_nocase(in->metadata, str_of(key)));
    return json_int(envelope_value(in->arena, v), otherwise);
}

bool request_is_past_due(const request *in)
{
    if (in->fn->trigger != TRIGGER_TIMER || in->fn->trigger_binding == NULL)
        return false;
    const json_val *timer = envelope_value(in->arena, json_get_str(in->data, in->fn->trigger_binding->name));
    return json_truth(envelope_value(in->arena, json_get_nocase(timer, STR("IsPastDue"))), false);
}
