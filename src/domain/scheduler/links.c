/* links.c -- see links.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/links.h"

#include <string.h>

#include "domain/scheduler/settings.h"

enum { HOST_MAX = 253 + sizeof ":65535" };

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A header comes from anybody: what is no host and port is not made part of a link. */
static bool is_host(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_plain(s.at[i]) && memchr(".-_:[]", s.at[i], 6) == NULL)
            return false;
    return s.len > 0 && s.len <= HOST_MAX;
}

static bool is_origin(str s)
{
    size_t slashes = str_find(s, STR("://"));
    str    scheme = str_slice(s, 0, slashes);
    return (str_eq_nocase(scheme, STR("https")) || str_eq_nocase(scheme, STR("http"))) &&
           is_host(str_from(s, slashes + STR("://").len));
}

str links_base(arena *a, const request *in)
{
    str base = sched_settings_get()->web_base_url, origin = str_trim(request_header(in, "Origin"));
    str host = str_trim(request_header(in, "X-Forwarded-Host"));
    if (base.len == 0 && is_origin(origin))
        base = origin;
    if (base.len == 0 && is_host(host))
        base = arena_strf(a, "https://%.*s", STR_ARG(host));
    while (str_ends(base, STR("/")))
        base.len--;
    return base;
}

str links_escape(arena *a, str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char             *out = arena_alloc(a, text.len * 3 + 1);
    size_t            n = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (is_plain(text.at[i]) || memchr("-._~", c, 4) != NULL) {
            out[n++] = text.at[i];
            continue;
        }
        out[n++] = '%';
        out[n++] = digits[c >> 4];
        out[n++] = digits[c & 15];
    }
    out[n] = '\0';
    return (str){out, n};
}
