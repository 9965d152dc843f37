/* envelope_write.c -- a reply becomes the envelope that the host understands (spec 4).
 *
 *     {"Outputs": {"res": {"statusCode": 201, "headers": {…}, "body": "…"}, "queue": ["m 1", "m 2"]},
 *      "Logs": ["…"], "ReturnValue": null}
 *
 * An output binding called $return goes to ReturnValue instead. The host guesses at what a string means: in
 * ReturnValue and in outputs that are not http it is decoded if it could be base64, else parsed if it could
 * be JSON (spec 4.3, 4.4). So text always leaves in a form that is not guessed at: an object with `body` for
 * an http answer, an array of strings for messages. A bare base64 string is used for bytes alone.
 *
 * What must stay true: the host gets what the handler said, or the handler's author a clear error. Nothing is
 * ever repaired by leaving something out.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "core/json.h"
#include "core/log.h"
#include "runtime/exchange.h"

#include <stdarg.h>

typedef struct {
    reply *out;
    json  *root, *outputs;
    bool   returned; /* ReturnValue is set */
    str   *error;
} writer;

static PRINTF_LIKE(2, 3) res refuse(const writer *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str text = arena_vstrf(w->out->arena, fmt, args);
    va_end(args);
    *w->error = text.at != NULL ? text : STR("the reply cannot be carried by the host's envelope");
    return RES_INTERNAL;
}

static res no_memory(const writer *w)
{
    *w->error = STR("envelope: out of memory");
    return RES_MEMORY;
}

static bool is_return(const binding *b)
{
    return str_eq_nocase(b->name, STR("$return"));
}

/* Where the value of an output binding goes: its object, and its key there. */
static json *place_of(writer *w, const binding *b, const char **ret_key)
{
    if (is_return(b)) {
        w->returned = true;
        *ret_key = "ReturnValue";
        return w->root;
    }
    *ret_key = arena_cstr(w->out->arena, b->name);
    return *ret_key != NULL ? w->outputs : NULL;
}

/* ---- the http answer ---- */

/* Values of one name joined with ", " (RFC 9110 §5.3), from the first that has it. */
static str folded(const reply *out, size_t first)
{
    str name = out->headers[first].name, all = out->headers[first].value;
    for (size_t i = first + 1; i < out->header_count && all.at != NULL; i++)
        if (str_eq_nocase(out->headers[i].name, name))
            all = arena_strf(out->arena, "%.*s, %.*s", STR_ARG(all), STR_ARG(out->headers[i].value));
    return all;
}

static bool appears_before(const reply *out, size_t i)
{
    return http_header_get(out->headers, i, out->headers[i].name).at != NULL;
}

static res write_headers(const writer *w, json *headers)
{
    const reply *out = w->out;
    for (size_t i = 0; i < out->header_count; i++) {
        str name = out->headers[i].name;
        if (!appears_before(out, i)) {
            str value = folded(out, i);
            if (value.at == NULL)
                return no_memory(w);
            json_set_str_at(headers, name, value);
        } else if (str_eq_nocase(name, STR("set-cookie"))) {
            return refuse(w,
                          "function '%.*s' sets two cookies, but the host's JSON carries one Set-Cookie at "
                          "most; enable forwarding in host.json",
                          STR_ARG(out->fn->name));
        }
    }
    /* The host's own default, but said: it would also be taken for JSON (spec 4.2). */
    if (http_header_get(out->headers, out->header_count, STR("content-type")).at == NULL)
        json_set_str(headers, "Content-Type", STR("text/plain; charset=utf-8"));
    return RES_OK;
}

/* Bytes leave as a base64 string in ReturnValue, which has no place for a status or headers (spec 4.3). The
 * Content-Type is then the host's choice. */
static res write_binary_return(writer *w, const binding *b, str body)
{
    const reply *out = w->out;
    str          type = http_header_get(out->headers, out->header_count, STR("content-type"));
    size_t       others = out->header_count - (type.at != NULL ? 1 : 0);

    if (b->binary)
        return refuse(w,
                      "the output '$return' of function '%.*s' has dataType 'binary', so that the host would "
                      "not decode a binary body; remove dataType or enable forwarding in host.json",
                      STR_ARG(out->fn->name));
    if (out->status != 200 || others > 0)
        return refuse(w,
                      "function '%.*s' answers a binary body with status %d and %zu headers, but '$return' "
                      "carries neither a status nor headers with it; enable forwarding in host.json",
                      STR_ARG(out->fn->name), out->status, others);
    if (!str_eq_nocase(type, STR("application/octet-stream")))
        log_warn("function '%.*s': the Content-Type '%.*s' of a binary body is lost through '$return'",
                 STR_ARG(out->fn->name), STR_ARG(type));

    str text = base64_encode(out->arena, body);
    if (text.at == NULL)
        return no_memory(w);
    json_set_str(w->root, "ReturnValue", text);
    w->returned = true;
    return RES_OK;
}

static res write_http(writer *w, const binding *b)
{
    const reply *out = w->out;
    str          body = out->streaming ? buf_str(&out->collected) : out->body;
    const char  *key;

    if (!str_is_utf8(body)) {
        if (is_return(b))
            return write_binary_return(w, b, body);
        return refuse(
            w,
            "function '%.*s' answers a binary body, which the named http output '%.*s' cannot carry; "
            "enable forwarding in host.json, or name the output '$return'",
            STR_ARG(out->fn->name), STR_ARG(b->name));
    }
    json *object = place_of(w, b, &key);
    if (object == NULL)
        return no_memory(w);
    json *answer = json_set_object(object, key);
    json_set_int(answer, "statusCode", out->status != 0 ? out->status : 204);
    json *headers = json_set_object(answer, "headers");
    json_set_str(answer, "body", body);
    return write_headers(w, headers);
}

/* ---- messages ---- */

/* Elements of an array are taken as they are. Bytes do not fit into a JSON string: only a single message can
 * leave as base64, for it is not in an array. */
static res write_binary_message(writer *w, const binding *b, const reply_item *only, size_t count)
{
    const char *key;
    if (count > 1)
        return refuse(
            w,
            "function '%.*s' gives output '%.*s' %zu messages of which some are binary; the host's JSON "
            "carries a binary message only alone",
            STR_ARG(w->out->fn->name), STR_ARG(b->name), count);
    if (b->binary)
        return refuse(
            w,
            "output '%.*s' of function '%.*s' has dataType 'binary', so that the host would not decode a "
            "binary message; remove dataType",
            STR_ARG(b->name), STR_ARG(w->out->fn->name));
    str   text = base64_encode(w->out->arena, only->text);
    json *object = place_of(w, b, &key);
    if (text.at == NULL || object == NULL)
        return no_memory(w);
    json_set_str(object, key, text);
    return RES_OK;
}

static res write_messages(writer *w, const binding *b)
{
    const reply_item *first = NULL;
    size_t            count = 0;
    bool              all_text = true;
    const char       *key;

    for (const reply_item *m = w->out->messages.first; m != NULL; m = m->next) {
        if (m->to != b)
            continue;
        first = first != NULL ? first : m;
        all_text = all_text && str_is_utf8(m->text);
        count++;
    }
    if (count == 0)
        return RES_OK;
    if (!all_text)
        return write_binary_message(w, b, first, count);

    json *object = place_of(w, b, &key);
    if (object == NULL)
        return no_memory(w);
    json *list = json_set_array(object, key);
    for (const reply_item *m = first; m != NULL; m = m->next)
        if (m->to == b)
            json_push_str(list, m->text);
    return RES_OK;
}

/* ---- the whole ---- */

/* A queue or timer function that replies as if it had a caller: a failure must not pass for success, or the
 * host would delete the message. */
static res check_unheard(const writer *w)
{
    const reply *out = w->out;
    if (out->fn->http_output == NULL && out->status >= 400)
        return refuse(w, "function '%.*s' replied with status %d, but has no http output to carry it",
                      STR_ARG(out->fn->name), out->status);
    return RES_OK;
}

static res write_outputs(writer *w)
{
    const function *fn = w->out->fn;
    res             r = check_unheard(w);
    if (r == RES_OK && fn->http_output != NULL)
        r = write_http(w, fn->http_output);
    for (size_t i = 0; i < fn->binding_count && r == RES_OK; i++)
        if (fn->bindings[i].output && &fn->bindings[i] != fn->http_output)
            r = write_messages(w, &fn->bindings[i]);
    return r;
}

res reply_to_envelope(reply *out, str *ret_text, str *ret_error)
{
    writer w = {.out = out, .root = json_object(out->arena), .error = ret_error};
    if (w.root == NULL || (w.outputs = json_set_object(w.root, "Outputs")) == NULL)
        return no_memory(&w);
    json *logs = json_set_array(w.root, "Logs");
    for (const reply_item *line = out->logs.first; line != NULL && logs != NULL; line = line->next)
        json_push_str(logs, line->text);

    res r = write_outputs(&w);
    if (r != RES_OK)
        return r;
    if (!w.returned)
        json_set_null(w.root, "ReturnValue");
    str text = json_print(out->arena, w.root);
    if (text.at == NULL)
        return no_memory(&w);
    *ret_text = text;
    return RES_OK;
}
