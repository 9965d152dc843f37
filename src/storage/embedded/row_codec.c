/* row_codec.c -- see row_codec.h.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/row_codec.h"

#include <string.h>

enum {
    FORMAT = 1,
    NUMBER_BYTES_MAX = 10,
    DOUBLE_BYTES = 8,
    HOUR_ENDS = 13, /* "2026-11-18T05" */
    MINUTE_ENDS = 16,
};

/* ---- numbers and texts ---- */

void row_put_number(buf *out, uint64_t n)
{
    char  *to = buf_reserve(out, NUMBER_BYTES_MAX);
    size_t len = 0;
    if (to == NULL)
        return;
    for (; n >= 0x80; n >>= 7)
        to[len++] = (char)(n | 0x80);
    to[len++] = (char)n;
    out->len += len;
}

void row_put_text(buf *out, str s)
{
    row_put_number(out, s.len);
    (void)buf_add(out, s);
}

bool row_take_number(str *rest, uint64_t *ret)
{
    uint64_t n = 0;
    for (size_t i = 0; i < rest->len && i < NUMBER_BYTES_MAX; i++) {
        uint64_t byte = (unsigned char)rest->at[i];
        if (i == NUMBER_BYTES_MAX - 1 && byte > 1)
            return false;
        n |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = str_from(*rest, i + 1);
            *ret = n;
            return true;
        }
    }
    return false;
}

static bool take_bytes(str *rest, uint64_t len, str *ret)
{
    if (len > rest->len)
        return false;
    *ret = (str){rest->at, (size_t)len};
    *rest = str_from(*rest, (size_t)len);
    return true;
}

bool row_take_text(str *rest, str *ret)
{
    uint64_t len;
    return row_take_number(rest, &len) && take_bytes(rest, len, ret);
}

/* Small numbers of either sign take few bytes. */
static uint64_t zigzag(int64_t n)
{
    return (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1 ^ ((n & 1) != 0 ? UINT64_MAX : 0));
}

static void put_double(buf *out, double d)
{
    uint64_t bits;
    char     bytes[DOUBLE_BYTES];
    memcpy(&bits, &d, sizeof bits);
    for (size_t i = 0; i < DOUBLE_BYTES; i++)
        bytes[i] = (char)(bits >> (8 * i));
    (void)buf_add(out, (str){bytes, sizeof bytes});
}

static bool take_double(str *rest, double *ret)
{
    str      bytes;
    uint64_t bits = 0;
    if (!take_bytes(rest, DOUBLE_BYTES, &bytes))
        return false;
    for (size_t i = 0; i < DOUBLE_BYTES; i++)
        bits |= (uint64_t)(unsigned char)bytes.at[i] << (8 * i);
    memcpy(ret, &bits, sizeof bits);
    return true;
}

/* ---- properties ---- */

static void put_value(const property *p, buf *out)
{
    switch (p->type) {
    case EDM_INT32:
    case EDM_INT64:
        row_put_number(out, zigzag(p->integer));
        return;
    case EDM_DATETIME:
        row_put_number(out, zigzag(p->ticks));
        return;
    case EDM_DOUBLE:
        put_double(out, p->real);
        return;
    case EDM_BOOL:
        (void)buf_add_char(out, p->truth ? 1 : 0);
        return;
    case EDM_STRING:
    case EDM_GUID:
    case EDM_BINARY:
    case EDM_COUNT:
        row_put_text(out, p->text);
        return;
    }
}

static bool take_value(str *rest, property *ret)
{
    uint64_t n = 0;
    switch (ret->type) {
    case EDM_INT32:
        if (!row_take_number(rest, &n))
            return false;
        ret->integer = unzigzag(n);
        return ret->integer >= INT32_MIN && ret->integer <= INT32_MAX;
    case EDM_INT64:
        if (!row_take_number(rest, &n))
            return false;
        ret->integer = unzigzag(n);
        return true;
    case EDM_DATETIME:
        if (!row_take_number(rest, &n))
            return false;
        ret->ticks = unzigzag(n);
        return true;
    case EDM_BOOL:
        if (!row_take_number(rest, &n) || n > 1)
            return false;
        ret->truth = n == 1;
        return true;
    case EDM_DOUBLE:
        return take_double(rest, &ret->real);
    case EDM_STRING:
    case EDM_GUID:
    case EDM_BINARY:
        return row_take_text(rest, &ret->text);
    case EDM_COUNT:
        break;
    }
    return false;
}

void row_encode(const property *props, size_t count, buf *out)
{
    (void)buf_add_char(out, FORMAT);
    row_put_number(out, count);
    for (size_t i = 0; i < count; i++) {
        (void)buf_add_char(out, (char)props[i].type);
        row_put_text(out, props[i].name);
        put_value(&props[i], out);
    }
}

static bool take_head(str *rest, size_t *ret_count)
{
    uint64_t count;
    if (rest->len == 0 || rest->at[0] != FORMAT)
        return false;
    *rest = str_from(*rest, 1);
    if (!row_take_number(rest, &count) || count > ENTITY_PROPS_MAX)
        return false;
    *ret_count = (size_t)count;
    return true;
}

bool row_count(str body, size_t *ret)
{
    return take_head(&body, ret);
}

static bool take_property(str *rest, property *ret)
{
    if (rest->len == 0 || (unsigned char)rest->at[0] >= EDM_COUNT)
        return false;
    ret->type = (edm_type)rest->at[0];
    *rest = str_from(*rest, 1);
    return row_take_text(rest, &ret->name) && take_value(rest, ret);
}

static bool is_selected(const char *const *select, str name)
{
    if (select == NULL)
        return true;
    for (; *select != NULL; select++)
        if (str_eq(str_of(*select), name))
            return true;
    return false;
}

bool row_decode(str body, const char *const *select, property *props, size_t *ret_count)
{
    size_t count, len = 0;
    if (!take_head(&body, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        property p;
        if (!take_property(&body, &p))
            return false;
        if (is_selected(select, p.name))
            props[len++] = p;
    }
    *ret_count = len;
    return body.len == 0;
}

/* ---- keys ---- */

bool row_key_is_plain(str key)
{
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.at[i] == 0xee || (unsigned char)key.at[i] == 0xef)
            return false;
    return true;
}

void row_key_store(str key, char *out)
{
    for (size_t i = 0; i < key.len; i++) {
        unsigned char byte = (unsigned char)key.at[i];
        out[i] = (char)(byte == 0xee || byte == 0xef ? byte + 0x10 : byte);
    }
}

void row_key_load(char *key, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)key[i] >= 0xfe)
            key[i] = (char)((unsigned char)key[i] - 0x10);
}

/* ---- ETags ---- */

#define ETAG_BEGIN STR("W/\"datetime'")
#define ETAG_END   STR("'\"")

str row_etag(edm_ticks ticks, char out[ROW_ETAG_BYTES])
{
    char text[EDM_TIME_SIZE];
    str  time = edm_time_format(ticks, text);
    str  parts[] = {
         ETAG_BEGIN, str_slice(time, 0, HOUR_ENDS),   STR("%3A"), str_slice(time, HOUR_ENDS + 1, MINUTE_ENDS),
         STR("%3A"), str_from(time, MINUTE_ENDS + 1), ETAG_END};
    size_t len = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(out + len, parts[i].at, parts[i].len);
        len += parts[i].len;
    }
    return (str){out, len};
}

bool row_etag_parse(str etag, edm_ticks *ret)
{
    char   text[ROW_ETAG_BYTES];
    size_t len = 0;
    if (etag.len >= ROW_ETAG_BYTES || !str_starts(etag, ETAG_BEGIN) || !str_ends(etag, ETAG_END) ||
        etag.len < ETAG_BEGIN.len + ETAG_END.len)
        return false;
    str time = str_slice(etag, ETAG_BEGIN.len, etag.len - ETAG_END.len);
    while (time.len > 0) {
        bool colon = str_starts_nocase(time, STR("%3A"));
        text[len++] = colon ? ':' : time.at[0];
        time = str_from(time, colon ? 3 : 1);
    }
    return edm_time_parse((str){text, len}, ret);
}
