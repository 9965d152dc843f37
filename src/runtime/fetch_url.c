/* fetch_url.c -- which URLs we fetch, whom they name, and what a Location means.
 *
 * A URL reaches the wire as it was given (requests to Azure are signed over the exact path), so it is checked
 * and never repaired: visible ASCII, http or https, a host, perhaps a port, no user or password.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/fetch_internal.h"

enum { PORT_HTTP = 80, PORT_HTTPS = 443, PORT_MAX = 65535, HOST_MAX = 255 };

static bool visible(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] <= ' ' || s.at[i] > '~')
            return false;
    return true;
}

/* Letters, digits and -._ of names and IPv4, or an IPv6 address in brackets. */
static bool host_ok(str host)
{
    if (host.len == 0 || host.len > HOST_MAX)
        return false;
    bool v6 = host.at[0] == '[';
    if (v6 && (host.len < 4 || host.at[host.len - 1] != ']'))
        return false;
    str inner = v6 ? str_slice(host, 1, host.len - 1) : host;
    for (size_t i = 0; i < inner.len; i++) {
        char c = str_lower_char(inner.at[i]);
        bool digit = c >= '0' && c <= '9';
        bool ok = v6 ? digit || (c >= 'a' && c <= 'f') || c == ':' || c == '.'
                     : digit || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
        if (!ok)
            return false;
    }
    return true;
}

static size_t authority_len(str s)
{
    size_t i = 0;
    while (i < s.len && strchr("/?#", s.at[i]) == NULL)
        i++;
    return i;
}

const char *fetch_url_check(str url, fetch_origin *ret)
{
    fetch_origin o = {0};
    if (url.len > FETCH_URL_MAX)
        return "the URL is longer than 8 KiB";
    if (!visible(url))
        return "the URL holds a character that must be percent-encoded";

    str rest;
    if (str_starts_nocase(url, STR("https://"))) {
        o.tls = true;
        rest = str_from(url, sizeof "https://" - 1);
    } else if (str_starts_nocase(url, STR("http://"))) {
        rest = str_from(url, sizeof "http://" - 1);
    } else {
        return "the URL is neither http:// nor https://";
    }

    str authority = str_slice(rest, 0, authority_len(rest));
    if (str_find_char(authority, '@') < authority.len)
        return "the URL holds a user or password";
    size_t colon = authority.len;
    while (colon > 0 && authority.at[colon - 1] >= '0' && authority.at[colon - 1] <= '9')
        colon--;
    bool has_port = colon > 0 && colon <= authority.len && authority.at[colon - 1] == ':';
    o.host = has_port ? str_slice(authority, 0, colon - 1) : authority;
    if (!host_ok(o.host))
        return "the URL names no valid host";

    uint64_t port = o.tls ? PORT_HTTPS : PORT_HTTP;
    if (has_port && (!str_to_u64(str_from(authority, colon), &port) || port == 0 || port > PORT_MAX))
        return "the URL names no valid port";
    o.port = (unsigned)port;
    *ret = o;
    return NULL;
}

bool fetch_url_same_origin(const fetch_origin *a, const fetch_origin *b)
{
    return a->tls == b->tls && a->port == b->port && str_eq_nocase(a->host, b->host);
}

/* The room is taken from the arena first: after that nothing allocates there, so the handle cannot be lost.
 */
bool fetch_url_resolve(arena *a, str base, str location, str *ret)
{
    if (location.len > FETCH_URL_MAX || memchr(location.at, '\0', location.len) != NULL)
        return false;
    const char *from = arena_cstr(a, base), *to = arena_cstr(a, location);
    char       *room = arena_alloc(a, FETCH_URL_MAX);

    char  *found = NULL;
    size_t len = 0;
    CURLU *url = curl.url();
    if (url != NULL && curl.url_set(url, CURLUPART_URL, from, CURLU_PATH_AS_IS) == CURLUE_OK &&
        curl.url_set(url, CURLUPART_URL, to, CURLU_URLENCODE) == CURLUE_OK &&
        curl.url_set(url, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
        curl.url_get(url, CURLUPART_URL, &found, 0) == CURLUE_OK)
        len = strlen(found);
    bool ok = len > 0 && len <= FETCH_URL_MAX;
    if (ok)
        memcpy(room, found, len);
    curl.free(found);
    curl.url_cleanup(url);
    *ret = (str){room, ok ? len : 0};
    return ok;
}
