/* cors.c -- see cors.h.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/cors.h"

static str header_of(const http_exchange *x, str name)
{
    return http_header_get(x->headers, x->header_count, name);
}

static bool allowed(const host_settings *h, str origin)
{
    str rest = h->cors_origins, one;
    while (str_next_field(&rest, ',', &one)) {
        str trimmed = str_trim(one);
        if (str_eq(trimmed, STR("*")) || str_eq_nocase(trimmed, origin))
            return true;
    }
    return false;
}

bool cors_is_preflight(const host_settings *h, const http_exchange *x)
{
    return h->cors_origins.len > 0 && str_eq(x->method, STR("OPTIONS")) &&
           header_of(x, STR("origin")).at != NULL &&
           header_of(x, STR("access-control-request-method")).at != NULL;
}

size_t cors_headers(const host_settings *h, const http_exchange *x, http_header out[CORS_HEADERS_MAX])
{
    str origin = header_of(x, STR("origin"));
    if (h->cors_origins.len == 0 || origin.len == 0 || !http_header_value_ok(origin) || !allowed(h, origin))
        return 0;

    /* With credentials a browser refuses "*", so the origin itself is named, and caches are told. */
    bool   any = str_eq(str_trim(h->cors_origins), STR("*")) && !h->cors_credentials;
    size_t n = 0;
    out[n++] = (http_header){STR("Access-Control-Allow-Origin"), any ? STR("*") : origin};
    if (!any)
        out[n++] = (http_header){STR("Vary"), STR("Origin")};
    if (h->cors_credentials)
        out[n++] = (http_header){STR("Access-Control-Allow-Credentials"), STR("true")};
    return n;
}

void cors_answer_preflight(const host_settings *h, http_exchange *x)
{
    http_header *out = arena_array(x->arena, http_header, CORS_HEADERS_MAX + 3);
    if (out == NULL) {
        http_respond(x, 503, NULL, 0, (str){0});
        return;
    }
    size_t n = cors_headers(h, x, out);
    if (n > 0) {
        str asked = header_of(x, STR("access-control-request-headers"));
        out[n++] = (http_header){STR("Access-Control-Allow-Methods"),
                                 header_of(x, STR("access-control-request-method"))};
        out[n++] = (http_header){STR("Access-Control-Max-Age"), STR("600")};
        if (asked.len > 0)
            out[n++] = (http_header){STR("Access-Control-Allow-Headers"), asked};
    }
    http_respond(x, 204, out, n, (str){0});
}
