/* error_reply.c -- see error_reply.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/error_reply.h"

#include "core/json.h"

typedef struct {
    int         status;
    const char *name;
} status_name;

/* Statuses that the HTTP server gives by itself and that no result code has. */
static const status_name protocol_names[] = {
    {400, "bad_request"},       {408, "request_timeout"},
    {414, "uri_too_long"},      {417, "expectation_failed"},
    {431, "headers_too_large"}, {501, "not_implemented"},
    {503, "unavailable"},       {505, "http_version_not_supported"},
};

const char *error_name_of_status(int status)
{
    for (size_t i = 0; i < sizeof protocol_names / sizeof *protocol_names; i++)
        if (protocol_names[i].status == status)
            return protocol_names[i].name;
    for (int code = RES_OK + 1; code < RES_COUNT; code++)
        if (res_get((res)code)->http_status == status)
            return res_name((res)code);
    return res_name(RES_INTERNAL);
}

const error_shape *error_shape_of(const error_shape *rows, size_t count, str prefix, str path)
{
    if (str_starts(path, STR("/")))
        path = str_from(path, 1);
    if (prefix.len > 0) {
        if (!str_starts_nocase(path, prefix) || path.len <= prefix.len || path.at[prefix.len] != '/')
            return NULL;
        path = str_from(path, prefix.len + 1);
    }
    str first = str_slice(path, 0, str_find_char(path, '/'));
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(first, str_of(rows[i].segment)))
            return &rows[i];
    return NULL;
}

str error_body(arena *a, const char *name, str message, str trace)
{
    json *body = json_object(a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "error", str_of(name));
    json_set_str(body, "message", message);
    json_set_str(body, "traceId", trace);
    str text = body != NULL ? json_print(a, body) : (str){0};
    return text.len > 0 ? text
                        : STR("{\"ok\":false,\"error\":\"out_of_memory\",\"message\":\"out of memory\"}");
}

str error_body_of(arena *a, res code, str message, str trace)
{
    const res_info *info = res_get(code);
    bool            show = info->http_status < 500 && message.len > 0;
    return error_body(a, info->name, show ? message : str_of(info->text), trace);
}
