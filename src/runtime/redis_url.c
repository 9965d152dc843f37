/* redis_url.c -- redis:// and rediss:// URLs, taken apart.
 *
 * What is refused is told without a word of the URL itself, which holds a password.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/redis_internal.h"

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = str_lower_char(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(arena *a, str text, str *ret)
{
    char  *out = arena_alloc(a, text.len + 1);
    size_t n = 0;
    if (out == NULL)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_of(text.at[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_of(text.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        out[n++] = c;
    }
    out[n] = '\0';
    *ret = (str){out, n};
    return true;
}

/* Letters, digits, dots, dashes and underscores; with colons for IPv6. */
static bool is_host(str host, bool v6)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = str_lower_char(host.at[i]);
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
        if (!plain && !(v6 ? c == ':' || c == '%' : c == '-' || c == '_'))
            return false;
    }
    return host.len > 0 && host.len <= REDIS_HOST_MAX;
}

static bool number_in(str text, uint64_t low, uint64_t high, unsigned *ret)
{
    uint64_t n;
    if (!str_to_u64(text, &n) || n < low || n > high)
        return false;
    *ret = (unsigned)n;
    return true;
}

static const char *parse_place(str place, redis_url *u)
{
    bool   v6 = str_starts(place, STR("["));
    size_t end = v6 ? str_find_char(place, ']') : str_find_char(place, ':');
    if (v6 && end == place.len)
        return "the ] behind its host is missing";
    u->host = str_slice(place, v6 ? 1 : 0, end);
    str rest = str_from(place, v6 ? end + 1 : end);
    if (!is_host(u->host, v6))
        return "its host is missing or malformed";
    if (rest.len == 0)
        return NULL;
    if (rest.at[0] != ':' || !number_in(str_from(rest, 1), 1, UINT16_MAX, &u->port))
        return "its port is not a number from 1 to 65535";
    return NULL;
}

static const char *parse_user(arena *a, str info, redis_url *u)
{
    size_t colon = str_find_char(info, ':');
    if (colon == info.len && info.len > 0)
        return "it has a user without a password; a password alone is written :password@";
    if (!decode(a, str_slice(info, 0, colon), &u->user) ||
        !decode(a, str_from(info, colon + 1), &u->password))
        return "a % in its user or password is not followed by two hexadecimal digits";
    return u->user.len > 0 && u->password.len == 0 ? "it has a user without a password" : NULL;
}

static bool has_controls(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.at[i] <= ' ' || s.at[i] == 0x7f)
            return true;
    return false;
}

/* The last @ ends the user's part: a password with a bare one in it is common, and cannot mean anything else.
 */
static size_t find_at(str s)
{
    size_t at = s.len;
    for (size_t i = 0; i < s.len; i++)
        if (s.at[i] == '@')
            at = i;
    return at;
}

const char *redis_url_parse(arena *a, str url, redis_url *ret)
{
    redis_url   u = {.port = REDIS_PORT};
    const char *wrong;
    if (url.len > REDIS_URL_MAX || has_controls(url))
        return "it is longer than 2,048 bytes, or has blanks or control characters";
    u.tls = str_starts_nocase(url, STR("rediss://"));
    if (!u.tls && !str_starts_nocase(url, STR("redis://")))
        return "it does not begin with redis:// or rediss://";

    str rest = str_from(url, u.tls ? STR("rediss://").len : STR("redis://").len);
    if (str_find_char(rest, '?') < rest.len || str_find_char(rest, '#') < rest.len)
        return "it has a ? or #; in a password these are written %3F and %23";
    size_t at = find_at(rest);
    if (at < rest.len) {
        wrong = parse_user(a, str_slice(rest, 0, at), &u);
        if (wrong != NULL)
            return wrong;
        rest = str_from(rest, at + 1);
    }
    size_t slash = str_find_char(rest, '/');
    str    db = str_from(rest, slash + 1);
    wrong = parse_place(str_slice(rest, 0, slash), &u);
    if (wrong != NULL)
        return wrong;
    if (db.len > 0 && !number_in(db, 0, REDIS_DB_MAX, &u.db))
        return "its database is not a number from 0 to 65535";
    *ret = u;
    return NULL;
}
