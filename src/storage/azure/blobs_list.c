/* blobs_list.c -- a page of the blobs of a container (spec 6).
 *
 *     <EnumerationResults …><Blobs>
 *       <Blob><Name>a</Name><Properties><Etag>0x1</Etag><Content-Length>5</Content-Length>…</Properties></Blob>
 *       <BlobPrefix><Name>dir/</Name></BlobPrefix>
 *     </Blobs><NextMarker>…</NextMarker></EnumerationResults>
 *
 * ETags have no quotes here. A name with characters that XML has no way to write is percent-encoded, and says
 * so by the attribute Encoded.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/blobs_wire.h"

enum { QUERY_MAX = 64 * KIB, LIST_MS = 35 * 1000 };

typedef struct {
    blob_page page;
    size_t    cap, prefix_cap;
    blob_info now;
    str       prefix;
    bool      encoded; /* the name that is being read */
} reading;

static int hex_value(char c)
{
    c = str_lower_char(c);
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static str percent_decode(arena *a, str s)
{
    char  *out = arena_alloc(a, s.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < s.len; i++) {
        int high = s.at[i] == '%' && i + 2 < s.len ? hex_value(s.at[i + 1]) : -1;
        int low = high >= 0 ? hex_value(s.at[i + 2]) : -1;
        out[len++] = low >= 0 ? (char)(high * 16 + low) : s.at[i];
        i += low >= 0 ? 2 : 0;
    }
    return (str){out, len};
}

static str quoted(arena *a, str etag)
{
    if (etag.len == 0 || str_starts(etag, STR("\"")))
        return etag;
    return arena_strf(a, "\"%.*s\"", STR_ARG(etag));
}

static void read_property(arena *a, blob_info *b, str name, str text)
{
    if (str_eq_nocase(name, STR("Etag")))
        b->etag = quoted(a, text);
    else if (str_eq(name, STR("Content-Type")))
        b->content_type = text;
    else if (str_eq(name, STR("Last-Modified")))
        b->modified_us = services_date_us(text);
    else if (str_eq(name, STR("BlobType")))
        b->append = str_eq(text, STR("AppendBlob"));
    else if (str_eq(name, STR("Content-Length")) && !str_to_u64(text, &b->bytes))
        b->bytes = 0;
}

static void on_open(reading *r, const xml *x)
{
    if (str_eq(x->name, STR("Blob")))
        r->now = (blob_info){0};
    else if (str_eq(x->name, STR("BlobPrefix")))
        r->prefix = (str){0};
    else if (str_eq(x->name, STR("Name")))
        r->encoded = str_eq(xml_attribute(x, "Encoded"), STR("true"));
}

/* False: there is a blob or prefix without a name. */
static bool on_close(arena *a, reading *r, const xml *x)
{
    blob_page *page = &r->page;
    str        text = r->encoded && str_eq(x->name, STR("Name")) ? percent_decode(a, x->text) : x->text;
    if (xml_is_in(x, "Properties")) {
        read_property(a, &r->now, x->name, text);
    } else if (xml_is_in(x, "Blob") && str_eq(x->name, STR("Name"))) {
        r->now.name = text;
    } else if (xml_is_in(x, "BlobPrefix") && str_eq(x->name, STR("Name"))) {
        r->prefix = text;
    } else if (xml_is_in(x, "Blobs") && str_eq(x->name, STR("Blob"))) {
        page->at = services_grow(a, page->at, page->len, &r->cap, sizeof *page->at);
        page->at[page->len++] = r->now;
        return r->now.name.len > 0;
    } else if (xml_is_in(x, "Blobs") && str_eq(x->name, STR("BlobPrefix"))) {
        page->prefixes = services_grow(a, page->prefixes, page->prefix_count, &r->prefix_cap, sizeof(str));
        page->prefixes[page->prefix_count++] = r->prefix;
        return r->prefix.len > 0;
    } else if (x->depth == 1 && str_eq(x->name, STR("NextMarker"))) {
        page->token = text;
    }
    return true;
}

static res read_page(task *t, const azure_request *q, str body, blob_page *ret)
{
    reading   r = {0};
    xml       x;
    xml_event event;
    xml_init(&x, body);
    while ((event = xml_next(&x, t->arena)) == XML_OPEN || event == XML_CLOSE) {
        if (event == XML_OPEN)
            on_open(&r, &x);
        else if (!on_close(t->arena, &r, &x))
            return services_nonsense(t, q, "there is a blob without a name");
    }
    if (event == XML_BAD)
        return services_nonsense(t, q, x.why);
    if (!xml_root_is(&x, "EnumerationResults"))
        return services_nonsense(t, q, "it is no list of blobs");
    *ret = r.page;
    return RES_OK;
}

res blobs_wire_list(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                    blob_page *ret)
{
    buf query;
    buf_init(&query, t->arena, QUERY_MAX);
    buf_add(&query, STR("restype=container&comp=list"));
    if (delimiter != '\0') {
        buf_add(&query, STR("&delimiter="));
        buf_add(&query, azure_escape(t->arena, (str){&delimiter, 1}, ""));
    }
    services_add_page(&query, t->arena, prefix, most, position);
    azure_request q = {.operation = "blobs_list",
                       .method = STR("GET"),
                       .path = arena_strf(t->arena, "/%.*s", STR_ARG(in)),
                       .query = buf_str(&query),
                       .answer_max = SERVICES_LIST_MAX,
                       .try_ms = LIST_MS};
    azure_answer  got;
    if (query.failed)
        return task_fail(t, RES_INVALID, "blobs_list: the position is too long");
    TRY(services_call(t, self, &q, &got));
    return read_page(t, &q, got.http.body, ret);
}
