/* sign.c -- see sign.h. Pure: bytes in, bytes out.
 *
 * A text is built in one allocation whose size is counted first; tables, the hot path, need nothing else.
 * Blobs and queues sort their x-ms- headers and query parameters, of which there are few.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/sign.h"

#include <assert.h>
#include <string.h>

#include "core/base64.h"
#include "core/buf.h"
#include "core/hash.h"

static void begin(buf *b, arena *a, size_t expected)
{
    buf_init(b, a, SIZE_MAX);
    if (buf_reserve(b, expected) == NULL)
        b->failed = true; /* as it is already; looked at in the end */
}

static str finish(const buf *b)
{
    str none = {0};
    return b->failed ? none : buf_str(b);
}

static str header(const sign_request *q, const char *name)
{
    return str_trim(http_header_get(q->headers, q->header_count, str_of(name)));
}

static void add_line(buf *b, str s)
{
    (void)buf_add(b, s);
    (void)buf_add_char(b, '\n');
}

/* ---- tables ---- */

/* The value of `comp`, alone of all parameters; a NULL pointer when there is none. */
static str comp_of(str query)
{
    str field;
    while (str_next_field(&query, '&', &field))
        if (str_starts(field, STR("comp=")))
            return str_from(field, strlen("comp="));
    return (str){0};
}

static void add_table_resource(buf *b, const sign_request *q)
{
    str comp = comp_of(q->query);
    (void)buf_add_char(b, '/');
    (void)buf_add(b, q->account);
    (void)buf_add(b, q->path);
    if (comp.at != NULL) {
        (void)buf_add(b, STR("?comp="));
        (void)buf_add(b, comp);
    }
}

static size_t table_bytes(const sign_request *q)
{
    return 256 + q->account.len + q->path.len;
}

str sign_tables_text(arena *a, const sign_request *q)
{
    buf b;
    begin(&b, a, table_bytes(q));
    add_line(&b, q->method);
    add_line(&b, header(q, "Content-MD5"));
    add_line(&b, header(q, "Content-Type"));
    add_line(&b, header(q, "x-ms-date"));
    add_table_resource(&b, q);
    return finish(&b);
}

str sign_tables_lite_text(arena *a, const sign_request *q)
{
    buf b;
    begin(&b, a, table_bytes(q));
    add_line(&b, header(q, "x-ms-date"));
    add_table_resource(&b, q);
    return finish(&b);
}

/* ---- blobs and queues ---- */

static void add_lower(buf *b, str s)
{
    char *to = buf_reserve(b, s.len);
    if (to == NULL)
        return;
    for (size_t i = 0; i < s.len; i++)
        to[i] = str_lower_char(s.at[i]);
    b->len += s.len;
}

static int by_name_then_value(const http_header *x, const http_header *y)
{
    int names = str_compare_nocase(x->name, y->name);
    return names != 0 ? names : str_compare(x->value, y->value);
}

static int by_name(const http_header *x, const http_header *y)
{
    return str_compare_nocase(x->name, y->name);
}

/* By insertion: stable, and there are few. */
static void sort(http_header *list, size_t count, int (*compare)(const http_header *, const http_header *))
{
    for (size_t i = 1; i < count; i++) {
        http_header one = list[i];
        size_t      at = i;
        for (; at > 0 && compare(&list[at - 1], &one) > 0; at--)
            list[at] = list[at - 1];
        list[at] = one;
    }
}

static void add_canonical_headers(buf *b, arena *a, const sign_request *q)
{
    http_header *list = arena_array(a, http_header, q->header_count + 1);
    size_t       count = 0;
    if (list == NULL) {
        b->failed = true;
        return;
    }
    for (size_t i = 0; i < q->header_count; i++)
        if (str_starts_nocase(q->headers[i].name, STR("x-ms-")))
            list[count++] = q->headers[i];
    sort(list, count, by_name);
    for (size_t i = 0; i < count; i++) {
        add_lower(b, list[i].name);
        (void)buf_add_char(b, ':');
        add_line(b, str_trim(list[i].value));
    }
}

static int hex_value(char c)
{
    c = str_lower_char(c);
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decoded; a '+' stays one, as we never mean a blank by it. */
static str decode(arena *a, str s)
{
    char  *out = arena_alloc(a, s.len + 1);
    size_t len = 0;
    if (out == NULL)
        return (str){0};
    for (size_t i = 0; i < s.len; i++) {
        int high = s.at[i] == '%' && i + 2 < s.len ? hex_value(s.at[i + 1]) : -1;
        int low = high >= 0 ? hex_value(s.at[i + 2]) : -1;
        if (low < 0) {
            out[len++] = s.at[i];
            continue;
        }
        out[len++] = (char)(high * 16 + low);
        i += 2;
    }
    return (str){out, len};
}

/* *ret is NULL without memory. */
static size_t parse_query(arena *a, str query, http_header **ret)
{
    str rest = query, field;
    *ret = NULL;
    size_t most = 1, count = 0;
    for (size_t i = 0; i < query.len; i++)
        most += query.at[i] == '&';
    http_header *list = arena_array(a, http_header, most);
    while (list != NULL && str_next_field(&rest, '&', &field)) {
        size_t      equals = str_find_char(field, '=');
        http_header one = {decode(a, str_slice(field, 0, equals)), decode(a, str_from(field, equals + 1))};
        if (one.name.at == NULL || one.value.at == NULL)
            return 0;
        if (field.len > 0)
            list[count++] = one;
    }
    assert(count <= most);
    *ret = list;
    return count;
}

static void add_canonical_resource(buf *b, arena *a, const sign_request *q)
{
    http_header *list = NULL;
    size_t       count = parse_query(a, q->query, &list);
    (void)buf_add_char(b, '/');
    (void)buf_add(b, q->account);
    (void)buf_add(b, q->path);
    b->failed = b->failed || list == NULL;
    sort(list, count, by_name_then_value);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && str_eq_nocase(list[i].name, list[i - 1].name)) {
            (void)buf_add_char(b, ',');
        } else {
            (void)buf_add_char(b, '\n');
            add_lower(b, list[i].name);
            (void)buf_add_char(b, ':');
        }
        (void)buf_add(b, list[i].value);
    }
}

str sign_blob_text(arena *a, const sign_request *q)
{
    buf b;
    begin(&b, a, 1024 + q->path.len + q->query.len);
    add_line(&b, q->method);
    add_line(&b, header(q, "Content-Encoding"));
    add_line(&b, header(q, "Content-Language"));
    if (q->body_bytes > 0) /* the length of an empty body is signed as nothing, not as 0 */
        (void)buf_add_u64(&b, q->body_bytes);
    add_line(&b, (str){0});
    add_line(&b, header(q, "Content-MD5"));
    add_line(&b, header(q, "Content-Type"));
    add_line(&b, (str){0}); /* Date: x-ms-date takes its place */
    add_line(&b, header(q, "If-Modified-Since"));
    add_line(&b, header(q, "If-Match"));
    add_line(&b, header(q, "If-None-Match"));
    add_line(&b, header(q, "If-Unmodified-Since"));
    add_line(&b, header(q, "Range"));
    add_canonical_headers(&b, a, q);
    add_canonical_resource(&b, a, q);
    return finish(&b);
}

/* ---- signatures ---- */

str sign_text(arena *a, str key, str text)
{
    sha256_digest d = hash_hmac_sha256(key, text);
    return base64_encode(a, (str){(const char *)d.at, sizeof d.at});
}

str sign_account_sas_text(arena *a, str account, const sign_account_sas *s)
{
    const str lines[] = {account,   s->permissions, s->services,  s->resource_types, s->start,
                         s->expiry, s->ip,          s->protocols, s->version};
    buf       b;
    begin(&b, a, 256);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add_line(&b, lines[i]);
    if (str_compare(s->version, STR("2020-12-06")) >= 0)
        add_line(&b, (str){0});
    return finish(&b);
}
