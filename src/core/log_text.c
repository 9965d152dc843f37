/* log_text.c -- JSON escapes, secrets, and URLs that may be shown.
 *
 * Secrets are looked for in the text as it came, before it is escaped, at each byte; a table of first bytes
 * makes that cheap. Bytes that are not UTF-8 become U+FFFD, so that a line is always valid JSON.
 *
 * SPDX-License-Identifier: MIT */
#include "log_text.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/iso8601.h"

typedef struct {
    char   at[LOG_SECRET_BYTES_KEPT];
    size_t kept_len, whole_len;
} secret;

static secret secrets[LOG_SECRETS_MAX];
static size_t secrets_len;
static bool   begins_secret[256];

bool log_text_put(log_text *to, str s)
{
    if (s.len > to->max - to->len)
        return false;
    if (s.len > 0)
        memcpy(to->at + to->len, s.at, s.len);
    to->len += s.len;
    return true;
}

str log_text_level(log_level level)
{
    static const str names[] = {STR_INIT("debug"), STR_INIT("info"), STR_INIT("warn"), STR_INIT("error"),
                                STR_INIT("off")};
    return names[level];
}

void log_text_head(log_text *to, log_level level)
{
    char time[ISO8601_SIZE];
    log_text_put(to, STR("{\"time\":\""));
    log_text_put(to, iso8601_format(clock_wall_us(), 3, time));
    log_text_put(to, STR("\",\"level\":\""));
    log_text_put(to, log_text_level(level));
    log_text_put(to, STR("\",\"msg\":\""));
}

/* How many bytes from here on belong to a secret; 0: none. The end of a text may hold the beginning of a
 * secret that somebody else has cut: that counts as well. */
static size_t secret_at(str rest)
{
    size_t longest = 0;
    if (!begins_secret[(uint8_t)rest.at[0]])
        return 0;
    for (size_t i = 0; i < secrets_len; i++) {
        const secret *s = &secrets[i];
        size_t        len = rest.len < s->kept_len ? rest.len : s->kept_len;
        if (len >= LOG_SECRET_BYTES_MIN && s->whole_len > longest && memcmp(rest.at, s->at, len) == 0)
            longest = s->whole_len;
    }
    return longest < rest.len ? longest : rest.len;
}

/* Length of the well-formed UTF-8 sequence at the start (Unicode, table 3-7); 0: there is none. */
static size_t utf8_len(str s)
{
    const uint8_t *b = (const uint8_t *)s.at;
    size_t len = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf5 ? 4 : 0;
    if (len < 2 || len > s.len)
        return len < 2 ? len : 0;
    uint8_t least = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t most = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    if (b[1] < least || b[1] > most)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* Whether the character at i is the second letter of "warn" in any case. */
static bool is_in_warn(str s, size_t i)
{
    return i > 0 && str_starts_nocase(str_from(s, i - 1), STR("warn"));
}

/* The JSON escape that a character needs, in `hex` if it has no shorter one; empty: none. */
static str escape_of(str s, size_t i, bool never_warn, char hex[8])
{
    uint8_t c = (uint8_t)s.at[i];
    switch (c) {
    case '"':
        return STR("\\\"");
    case '\\':
        return STR("\\\\");
    case '\n':
        return STR("\\n");
    case '\r':
        return STR("\\r");
    case '\t':
        return STR("\\t");
    default:
        if (c >= 0x20 && c != 0x7f && !(never_warn && (c | 0x20) == 'a' && is_in_warn(s, i)))
            return (str){NULL, 0};
        return (str){hex, (size_t)snprintf(hex, 8, "\\u%04x", c)};
    }
}

/* Nothing is taken from beyond the longest line, for there a secret may be incomplete. */
bool log_text_escape(log_text *to, str text, bool never_warn)
{
    size_t hidden_to = 0; /* secrets may overlap: all that any of them covers is hidden */
    for (size_t i = 0; i < text.len;) {
        size_t covers = i < LOG_LINE_BYTES_MAX ? secret_at(str_from(text, i)) : 0;
        if (covers > 0 && i >= hidden_to && !log_text_put(to, STR("***")))
            return false;
        if (covers > 0 && i + covers > hidden_to)
            hidden_to = i + covers;
        if (i < hidden_to) {
            i++;
            continue;
        }
        char   hex[8];
        str    escape = escape_of(text, i, never_warn, hex);
        size_t len = utf8_len(str_from(text, i));
        str    as = escape.len > 0 ? escape : len > 0 ? (str){text.at + i, len} : STR("\xef\xbf\xbd");
        if (i >= LOG_LINE_BYTES_MAX || !log_text_put(to, as))
            return false;
        i += len > 0 ? len : 1;
    }
    return true;
}

bool log_text_hide(str s)
{
    if (s.len < LOG_SECRET_BYTES_MIN)
        return true;
    for (size_t i = 0; i < secrets_len; i++)
        if (secrets[i].whole_len == s.len && memcmp(secrets[i].at, s.at, secrets[i].kept_len) == 0)
            return true;
    if (secrets_len == LOG_SECRETS_MAX)
        return false;

    secret *to = &secrets[secrets_len++];
    to->whole_len = s.len;
    to->kept_len = s.len < LOG_SECRET_BYTES_KEPT ? s.len : LOG_SECRET_BYTES_KEPT;
    memcpy(to->at, s.at, to->kept_len);
    begins_secret[(uint8_t)s.at[0]] = true;
    return true;
}

/* ---- URLs --------------------------------------------------------------------------------------------- */

static void put_some(log_text *to, str s)
{
    (void)log_text_put(to, str_slice(s, 0, to->max - to->len));
}

/* The names of a query without the values; a part without a name may itself be a token, and goes too. */
static void put_query(log_text *to, str query)
{
    str part, rest = query;
    for (bool first = true; str_next_field(&rest, '&', &part); first = false) {
        if (!first)
            put_some(to, STR("&"));
        size_t equals = str_find_char(part, '=');
        if (equals < part.len)
            put_some(to, str_slice(part, 0, equals + 1));
        if (part.len > 0)
            put_some(to, STR("***"));
    }
}

/* host, host:123, [::1] or [::1]:123. Anything else behind a colon may be half a password: somebody left a
 * slash or a question mark in it unescaped, as keys in base64 like to have, and the host is yet to come. */
static bool is_host(str s)
{
    size_t colon = s.len;
    while (colon > 0 && s.at[colon - 1] != ':')
        colon--;
    if (colon == 0 || str_ends(s, STR("]")))
        return true;
    for (size_t i = colon; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return true;
}

static void put_url(log_text *to, str url)
{
    size_t fragment = str_find_char(url, '#');
    size_t query = str_find_char(str_slice(url, 0, fragment), '?');
    str    place = str_slice(url, 0, query);
    size_t slash = str_find_char(place, '/');
    size_t authority = str_starts(str_from(place, slash), STR("//")) ? slash + 2 : 0;
    size_t path = authority + str_find_char(str_from(place, authority), '/');
    size_t host = path;
    while (host > authority && place.at[host - 1] != '@')
        host--;

    put_some(to, str_slice(place, 0, authority));
    if (!is_host(str_slice(place, host, path))) {
        put_some(to, STR("***"));
        return;
    }
    put_some(to, str_from(place, host));
    if (query < fragment) {
        put_some(to, STR("?"));
        put_query(to, str_slice(url, query + 1, fragment));
    }
    if (fragment < url.len)
        put_some(to, STR("#***"));
}

str log_safe_url(str url, char *out, size_t out_size)
{
    if (out_size == 0)
        return (str){out, 0};
    log_text to = {.at = out, .max = out_size - 1};
    put_url(&to, url);
    out[to.len] = '\0';
    return (str){out, to.len};
}
