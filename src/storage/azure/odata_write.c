/* odata_write.c -- an entity as one line of JSON, straight into a buffer.
 *
 *     {"PartitionKey":"p","RowKey":"r","n":"5","n@odata.type":"Edm.Int64","s":"text"}
 *
 * The line is ASCII: Azurite decodes each piece of a request as it comes from the socket, so that a character
 * of several bytes that lies across two pieces would be stored as two or three U+FFFD. And it is one line:
 * Azurite finds the bodies of a batch by regular expressions that stop at line ends (spec 5.1), and
 * JavaScript counts U+2028 and U+2029 among these. So all that is not plain ASCII is escaped.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "core/base64.h"
#include "storage/azure/odata.h"
#include "storage/entity_text.h"

enum { NUMBER_SIZE = 40 };

/* ---- texts ---- */

enum { ESCAPED_MAX = 12 /* characters for one of the text */, SLICE = 512 };

/* What a byte needs: 0 nothing, 'u' the six characters of \uXXXX (for all of its character), else a
 * backslash and this. */
static const char escapes[256] = {
    [0x00 ... 0x08] = 'u', ['\t'] = 't', ['\n'] = 'n',  [0x0b ... 0x0c] = 'u', ['\r'] = 'r',
    [0x0e ... 0x1f] = 'u', ['"'] = '"',  ['\\'] = '\\', [0x80 ... 0xff] = 'u',
};

static char *put_unit(char *to, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *to++ = digits[unit >> shift & 15];
    return to;
}

/* In UTF-16, as JSON has it: two of them above U+FFFF. */
static char *put_unicode(char *to, uint32_t c)
{
    if (c <= 0xFFFF)
        return put_unit(to, c);
    return put_unit(put_unit(to, 0xD7C0 + (c >> 10)), 0xDC00 + (c & 0x3FF));
}

/* Up to the first character behind `end`; the room for the longest is there. */
static size_t put_slice(char **to, str s, size_t from, size_t end)
{
    size_t i = from;
    char  *at = *to;
    while (i < end) {
        char escape = escapes[(unsigned char)s.at[i]];
        if (escape == 0) {
            *at++ = s.at[i++];
        } else if (escape == 'u') {
            at = put_unicode(at, utf8_take(s, &i));
        } else {
            *at++ = '\\';
            *at++ = escape;
            i++;
        }
    }
    *to = at;
    return i;
}

/* Without the quotes. Slice by slice, so that the room for the worst case is small. */
static void write_escaped(buf *out, str s)
{
    for (size_t i = 0; i < s.len;) {
        size_t end = s.len - i < SLICE ? s.len : i + SLICE;
        char  *to = buf_reserve(out, (end - i) * ESCAPED_MAX);
        if (to == NULL)
            return;
        i = put_slice(&to, s, i, end);
        out->len = (size_t)(to - out->at);
    }
}

void odata_write_text(buf *out, str s)
{
    buf_add_char(out, '"');
    write_escaped(out, s);
    buf_add_char(out, '"');
}

/* For what can hold nothing that needs an escape. */
static void write_quoted(buf *out, str s)
{
    buf_add_char(out, '"');
    buf_add(out, s);
    buf_add_char(out, '"');
}

/* ---- values ---- */

/* 17 digits give every double back exactly. The point is there so that 3.0 stays a Double: with an annotation
 * alone, a reader that drops it would see an Int32. A locale may have another point. */
static void write_double(buf *out, double d)
{
    char text[NUMBER_SIZE];
    bool marked = false;
    if (isnan(d) || isinf(d)) {
        write_quoted(out, isnan(d) ? STR("NaN") : d > 0 ? STR("Infinity") : STR("-Infinity"));
        return;
    }
    int len = snprintf(text, sizeof text, "%.17g", d);
    for (int i = 0; i < len; i++) {
        if ((text[i] >= '0' && text[i] <= '9') || text[i] == '-' || text[i] == '+')
            continue;
        marked = true;
        if (text[i] != 'e')
            text[i] = '.';
    }
    buf_add(out, (str){text, (size_t)len});
    if (!marked)
        buf_add(out, STR(".0"));
}

static void write_integer(buf *out, int64_t n)
{
    if (n < 0)
        buf_add_char(out, '-');
    buf_add_u64(out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

static void write_binary(buf *out, str bytes)
{
    size_t len = base64_len(bytes.len);
    buf_add_char(out, '"');
    char *to = buf_reserve(out, len);
    if (to == NULL)
        return;
    base64_encode_to(bytes, to);
    out->len += len;
    buf_add_char(out, '"');
}

static void write_value(buf *out, const property *p)
{
    char time[EDM_TIME_SIZE];
    switch (p->type) {
    case EDM_INT32:
        write_integer(out, p->integer);
        break;
    case EDM_INT64: /* a number here would be refused (spec 4.3) */
        buf_add_char(out, '"');
        write_integer(out, p->integer);
        buf_add_char(out, '"');
        break;
    case EDM_DOUBLE:
        write_double(out, p->real);
        break;
    case EDM_BOOL:
        buf_add(out, p->truth ? STR("true") : STR("false"));
        break;
    case EDM_DATETIME:
        write_quoted(out, edm_time_format(p->ticks, time));
        break;
    case EDM_BINARY:
        write_binary(out, p->text);
        break;
    default: /* EDM_STRING, EDM_GUID */
        odata_write_text(out, p->text);
        break;
    }
}

static bool is_annotated(edm_type type)
{
    return type != EDM_STRING && type != EDM_INT32 && type != EDM_BOOL;
}

static void write_property(buf *out, const property *p)
{
    buf_add(out, STR(",\""));
    write_escaped(out, p->name);
    buf_add(out, STR("\":"));
    write_value(out, p);
    if (!is_annotated(p->type))
        return;
    buf_add(out, STR(",\""));
    write_escaped(out, p->name);
    buf_add(out, STR("@odata.type\":\""));
    buf_add(out, str_of(edm_name(p->type)));
    buf_add_char(out, '"');
}

void odata_write(buf *out, const entity *e)
{
    buf_add(out, STR("{\"PartitionKey\":"));
    odata_write_text(out, e->partition);
    buf_add(out, STR(",\"RowKey\":"));
    odata_write_text(out, e->row);
    for (size_t i = 0; i < e->count; i++)
        write_property(out, &e->props[i]);
    buf_add_char(out, '}');
}

size_t odata_least_bytes(const entity *e)
{
    enum { AROUND_KEYS = 31, AROUND_NAME = 4, ANNOTATION = 24 };
    size_t len = AROUND_KEYS + e->partition.len + e->row.len;
    for (size_t i = 0; i < e->count; i++) {
        const property *p = &e->props[i];
        bool            is_text = p->type == EDM_STRING || p->type == EDM_GUID;
        len += AROUND_NAME + p->name.len + (is_annotated(p->type) ? ANNOTATION + p->name.len : 0);
        len += p->type == EDM_BINARY ? base64_len(p->text.len) : is_text ? p->text.len : 1;
    }
    return len;
}
