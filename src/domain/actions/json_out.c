/* json_out.c -- see json_out.h. Failures stick to the buf.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/json_out.h"

#include "core/canon.h"

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void add_escaped(buf *out, char c)
{
    switch (c) {
    case '"':
        (void)buf_add(out, STR("\\\""));
        return;
    case '\\':
        (void)buf_add(out, STR("\\\\"));
        return;
    case '\n':
        (void)buf_add(out, STR("\\n"));
        return;
    case '\r':
        (void)buf_add(out, STR("\\r"));
        return;
    case '\t':
        (void)buf_add(out, STR("\\t"));
        return;
    default:
        (void)buf_addf(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

void json_out_text(buf *out, str text)
{
    (void)buf_add_char(out, '"');
    for (size_t i = 0, from = 0; i <= text.len; i++) {
        if (i < text.len && is_plain(text.at[i]))
            continue;
        (void)buf_add(out, str_slice(text, from, i));
        if (i < text.len)
            add_escaped(out, text.at[i]);
        from = i + 1;
    }
    (void)buf_add_char(out, '"');
}

void json_out_text_or_null(buf *out, str text)
{
    if (text.len > 0)
        json_out_text(out, text);
    else
        (void)buf_add(out, STR("null"));
}

void json_out_number(buf *out, double n)
{
    char digits[CANON_NUMBER_SIZE];
    (void)buf_add(out, canon_number(n, digits));
}

void json_out_bool(buf *out, bool truth)
{
    (void)buf_add(out, truth ? STR("true") : STR("false"));
}

void json_out_key(buf *out, const char *key)
{
    char before = out->len > 0 ? out->at[out->len - 1] : '\0';
    if (before != '{' && before != '[')
        (void)buf_add_char(out, ',');
    json_out_text(out, str_of(key));
    (void)buf_add_char(out, ':');
}
