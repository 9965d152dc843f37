/* reply.c -- what a handler says: status, headers, a body whole or in pieces, messages for outputs, log
 * lines.
 *
 * Everything is only noted here, except for a stream over plain HTTP, which leaves at once. The runtime sends
 * the rest when the handler has returned: by http_respond, or by reply_to_envelope (envelope_write.c).
 *
 * A later reply replaces an earlier one; after reply_stream there is no way back. Names and values of headers
 * and messages are copied, bodies are not.
 *
 * Most calls have no task to note a failure in: the reason is kept in `error`, for the edge to log. A handler
 * that does not look at the result would hide its own mistake, so that a line in the log warns of it too.
 *
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "core/log.h"
#include "runtime/exchange.h"

enum { FIRST_HEADERS = 8 };

void reply_init(reply *out, arena *a, const function *fn, http_exchange *x)
{
    *out = (reply){.arena = a, .fn = fn, .x = x};
    buf_init(&out->collected, a, REPLY_COLLECTED_MAX);
}

static PRINTF_LIKE(2, 3) res mistake(reply *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str text = arena_vstrf(out->arena, fmt, args);
    va_end(args);

    out->error = text.at != NULL ? text : STR("out of memory while a mistake was reported");
    log_warn("%.*s", STR_ARG(out->error));
    return RES_INTERNAL;
}

/* ---- headers ---- */

/* These say how the message is framed, which is the server's and the host's business (spec 4.2). */
static bool is_owned(str name)
{
    static const str owned[] = {STR_INIT("content-length"), STR_INIT("transfer-encoding"),
                                STR_INIT("connection"), STR_INIT("date")};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if (str_eq_nocase(name, owned[i]))
            return true;
    return false;
}

static res check_header(reply *out, str name, str value)
{
    if (out->streaming)
        return mistake(out, "header '%.*s' is set after the stream has begun", STR_ARG(name));
    if (!http_header_name_ok(name))
        return mistake(out, "a header's name is not a token of HTTP");
    if (is_owned(name))
        return mistake(out, "header '%.*s' is the runtime's to set", STR_ARG(name));
    if (!http_header_value_ok(value)) /* the value may be a caller's: it is not repeated */
        return mistake(out, "the value of header '%.*s' is not printable ASCII", STR_ARG(name));
    return RES_OK;
}

static bool grow_headers(reply *out)
{
    if (out->header_count < out->header_cap)
        return true;
    size_t       cap = out->header_cap > 0 ? 2 * out->header_cap : FIRST_HEADERS;
    http_header *list =
        arena_regrow(out->arena, out->headers, out->header_cap * sizeof *list, cap * sizeof *list);
    if (list == NULL)
        return false;
    out->headers = list;
    out->header_cap = cap;
    return true;
}

static res append_header(reply *out, str name, str value)
{
    if (out->header_count == REPLY_HEADERS_MAX)
        return mistake(out, "more than %d headers are set", REPLY_HEADERS_MAX);
    http_header copy = {arena_copy(out->arena, name), arena_copy(out->arena, value)};
    if (copy.name.at == NULL || copy.value.at == NULL || !grow_headers(out))
        return RES_MEMORY;
    out->headers[out->header_count++] = copy;
    return RES_OK;
}

static void drop_headers(reply *out, str name, size_t before)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->header_count; i++)
        if (i >= before || !str_eq_nocase(out->headers[i].name, name))
            out->headers[kept++] = out->headers[i];
    out->header_count = kept;
}

res reply_add_header(reply *out, const char *name, str value)
{
    res r = check_header(out, str_of(name), value);
    return r == RES_OK ? append_header(out, str_of(name), value) : r;
}

/* The new one is added before the old ones go: when it fails, nothing has changed. */
res reply_header(reply *out, const char *name, str value)
{
    size_t before = out->header_count;
    res    r = reply_add_header(out, name, value);
    if (r == RES_OK)
        drop_headers(out, str_of(name), before);
    return r;
}

/* ---- bodies ---- */

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

/* Status and Content-Type; an empty type means none, and drops that of an earlier reply. */
static res begin(reply *out, int status, str content_type)
{
    if (out->streaming)
        return mistake(out, "a second reply is given after the stream has begun");
    if (status < 200 || status > 599)
        return mistake(out, "%d is not a final status of HTTP", status);
    if (content_type.len == 0) {
        drop_headers(out, STR("content-type"), out->header_count);
    } else {
        size_t before = out->header_count;
        res    r = check_header(out, STR("Content-Type"), content_type);
        if (r == RES_OK)
            r = append_header(out, STR("Content-Type"), content_type);
        if (r != RES_OK)
            return r;
        drop_headers(out, STR("content-type"), before);
    }
    out->status = status;
    out->body = (str){0};
    return RES_OK;
}

static res whole(reply *out, int status, str content_type, str body)
{
    if (has_no_body(status) && body.len > 0)
        return mistake(out, "a reply with status %d cannot have a body", status);
    res r = begin(out, status, content_type);
    if (r == RES_OK)
        out->body = body;
    return r;
}

res reply_json(reply *out, int status, const json *body)
{
    str text = json_print(out->arena, body);
    if (text.at == NULL)
        return RES_MEMORY;
    return whole(out, status, STR("application/json; charset=utf-8"), text);
}

res reply_text(reply *out, int status, str body)
{
    return whole(out, status, STR("text/plain; charset=utf-8"), body);
}

res reply_bytes(reply *out, int status, const char *content_type, str body)
{
    return whole(out, status, str_of(content_type), body);
}

res reply_empty(reply *out, int status)
{
    return whole(out, status, (str){0}, (str){0});
}

/* ---- streams ---- */

static res stream_mistake(task *t, reply *out, const char *text)
{
    return task_fail(t, mistake(out, "%s", text), "%s", text);
}

bool reply_says_cors(const http_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts_nocase(headers[i].name, STR("access-control-")))
            return true;
    return false;
}

/* A stream leaves when it begins: what CORS demands must be among its headers by then. */
static res add_cors(reply *out)
{
    res r = RES_OK;
    if (reply_says_cors(out->headers, out->header_count))
        return r;
    for (size_t i = 0; i < out->cors_count && r == RES_OK; i++)
        r = append_header(out, out->cors[i].name, out->cors[i].value);
    return r;
}

res reply_stream(task *t, reply *out, int status, const char *content_type)
{
    if (has_no_body(status))
        return stream_mistake(t, out, "a stream needs a status that has a body");
    res r = begin(out, status, str_of(content_type));
    if (r == RES_OK)
        r = add_cors(out);
    if (r != RES_OK)
        return task_fail(t, r, "%.*s", STR_ARG(out->error));
    out->streaming = true;
    if (out->x != NULL)
        http_stream_begin(out->x, status, out->headers, out->header_count);
    return RES_OK;
}

/* An empty piece would be the end of a chunked body, and says nothing anyhow. */
res reply_write(task *t, reply *out, str piece)
{
    if (!out->streaming)
        return stream_mistake(t, out, "a piece is written before the stream has begun");
    if (piece.len == 0)
        return RES_OK;
    if (out->x != NULL)
        return http_stream_write(t, out->x, piece);
    if (!buf_add(&out->collected, piece))
        return task_fail(t, RES_TOO_LARGE, "a stream of more than %d bytes cannot be collected",
                         REPLY_COLLECTED_MAX);
    return RES_OK;
}

/* ---- outputs and logs ---- */

static bool append_item(reply *out, reply_list *list, const binding *to, str text)
{
    reply_item *item = arena_one(out->arena, reply_item);
    str         copy = arena_copy(out->arena, text);
    if (item == NULL || copy.at == NULL)
        return false;
    *item = (reply_item){.to = to, .text = copy};
    if (list->last != NULL)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
    list->count++;
    return true;
}

static const binding *output_binding(const function *fn, str name)
{
    for (size_t i = 0; i < fn->binding_count; i++)
        if (fn->bindings[i].output && str_eq(fn->bindings[i].name, name))
            return &fn->bindings[i];
    return NULL;
}

res reply_output(reply *out, const char *name, str message)
{
    const binding *to = output_binding(out->fn, str_of(name));
    if (to == NULL)
        return mistake(out, "function '%.*s' has no output binding '%s'", STR_ARG(out->fn->name), name);
    if (str_eq_nocase(to->type, STR("http")))
        return mistake(out, "output binding '%s' of function '%.*s' is its http answer, not a queue", name,
                       STR_ARG(out->fn->name));
    return append_item(out, &out->messages, to, message) ? RES_OK : RES_MEMORY;
}

/* Only the envelope carries lines to the host, and only so many; our own log has them all. */
static void note_line(reply *out, str line)
{
    log_info("%.*s", STR_ARG(line));
    if (out->x != NULL || out->logs.count > REPLY_LOGS_MAX)
        return;
    if (out->logs.count == REPLY_LOGS_MAX)
        line = STR("further lines are left out here");
    (void)append_item(out, &out->logs, NULL, line); /* a line less is no reason to fail an invocation */
}

/* The host makes one record of each entry: a text of several lines is several entries (spec 4.1). */
void reply_log(reply *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str rest = arena_vstrf(out->arena, fmt, args), line;
    va_end(args);

    while (str_next_field(&rest, '\n', &line)) {
        line = str_trim(line);
        if (line.len > 0)
            note_line(out, line);
    }
}
