/* blobs_read.c -- blobs read whole, in part, in pieces, or only their properties (spec 6).
 *
 * The properties of a blob are headers of the answer. Of a range, the length of the whole blob is the number
 * behind the slash of Content-Range.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/blobs_wire.h"

enum {
    GET_MAX = 32 * MIB,
    FAILURE_MAX = 64 * KIB, /* a failure's text must fit also when hardly a byte of the blob is wanted */
    MIN_BYTES_PER_MS = 256, /* of a slow line: 2 Mbit/s */
    TRY_MS = 10 * 1000,
    CONDITIONS_MAX = 3,
};

str blobs_path(arena *a, str in, str name)
{
    str escaped = azure_escape(a, name, "/");
    return arena_strf(a, "/%.*s/%.*s", STR_ARG(in), STR_ARG(escaped));
}

uint64_t blobs_try_ms(uint64_t bytes)
{
    return TRY_MS + bytes / MIN_BYTES_PER_MS;
}

/* ---- properties ---- */

static str lower_copy(arena *a, str s)
{
    char *out = arena_alloc(a, s.len + 1);
    for (size_t i = 0; i < s.len; i++)
        out[i] = str_lower_char(s.at[i]);
    return (str){out, s.len};
}

/* Azurite gives names of metadata in the spelling in which they were sent. */
static void read_metadata(arena *a, const azure_answer *got, blob_info *info)
{
    static const str prefix = STR_INIT("x-ms-meta-");
    http_header     *list = arena_array(a, http_header, got->http.header_count + 1);
    size_t           count = 0;
    for (size_t i = 0; i < got->http.header_count; i++) {
        const http_header *h = &got->http.headers[i];
        if (str_starts_nocase(h->name, prefix))
            list[count++] = (http_header){lower_copy(a, str_from(h->name, prefix.len)), h->value};
    }
    info->metadata = list;
    info->metadata_count = count;
}

/* "bytes 0-1/5" -> 5; without it the body is the blob. */
static bool read_length(const azure_answer *got, uint64_t *ret)
{
    str range = services_header(got, "Content-Range");
    if (range.len > 0)
        return str_to_u64(str_from(range, str_find_char(range, '/') + 1), ret);
    return str_to_u64(services_header(got, "Content-Length"), ret);
}

static res read_info(task *t, const azure_request *in, const azure_answer *got, blob_info *ret)
{
    blob_info info = {
        .etag = services_header(got, "ETag"),
        .content_type = services_header(got, "Content-Type"),
        .modified_us = services_date_us(services_header(got, "Last-Modified")),
        .append = str_eq(services_header(got, "x-ms-blob-type"), STR("AppendBlob")),
    };
    if (got->http.status != 304) {
        if (!read_length(got, &info.bytes))
            return services_nonsense(t, in, "there is no length in it");
        if (info.etag.len == 0) /* as a condition, none would mean any */
            return services_nonsense(t, in, "there is no ETag in it");
        read_metadata(t->arena, got, &info);
    }
    *ret = info;
    return RES_OK;
}

res blobs_wire_head(void *self, task *t, str in, str name, blob_info *ret)
{
    azure_request q = {
        .operation = "blobs_head", .method = STR("HEAD"), .path = blobs_path(t->arena, in, name)};
    azure_answer got;
    TRY(services_call(t, self, &q, &got));
    return read_info(t, &q, &got, ret);
}

/* ---- bytes ---- */

static size_t add_conditions(arena *a, const blob_get *how, http_header list[CONDITIONS_MAX])
{
    size_t count = 0;
    if (how->if_match.len > 0)
        list[count++] = (http_header){STR("If-Match"), how->if_match};
    if (how->if_none_match.len > 0)
        list[count++] = (http_header){STR("If-None-Match"), how->if_none_match};
    if (how->ranged)
        list[count++] =
            (http_header){STR("x-ms-range"), arena_strf(a, "bytes=%llu-%llu", (unsigned long long)how->from,
                                                        (unsigned long long)(how->from + how->count - 1))};
    return count;
}

/* What the head of the answer says; the body is the caller's. */
static res read_got(task *t, const azure_request *q, const azure_answer *answer, const blob_get *how,
                    blob_got *ret)
{
    blob_got got = {.not_modified = answer->http.status == 304};
    TRY(azure_result(t, q, answer));
    TRY(read_info(t, q, answer, &got.info));
    if (got.not_modified && got.info.etag.len == 0)
        got.info.etag = how->if_none_match;
    /* Azure answers 416; Azurite has an empty success for the range that begins right at the end. */
    if (how->ranged && !got.not_modified && how->from >= got.info.bytes)
        return task_fail(t, RES_INVALID, "%s: the range begins beyond the end", q->operation);
    if (how->ranged && answer->http.status == 200)
        return services_nonsense(t, q, "it is the whole blob instead of a range");
    *ret = got;
    return RES_OK;
}

res blobs_wire_get(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret)
{
    http_header   headers[CONDITIONS_MAX];
    size_t        most = how->bytes_max > 0 ? how->bytes_max : GET_MAX;
    azure_request q = {.operation = "blobs_get",
                       .method = STR("GET"),
                       .path = blobs_path(t->arena, in, name),
                       .headers = headers,
                       .header_count = add_conditions(t->arena, how, headers),
                       .answer_max = most > FAILURE_MAX ? most : FAILURE_MAX,
                       .try_ms = blobs_try_ms(most)};
    azure_answer  answer;
    blob_got      got = {0};
    TRY(azure_call(t, self, &q, &answer));
    TRY(read_got(t, &q, &answer, how, &got));
    if (!got.not_modified)
        got.body = answer.http.body;
    if (got.body.len > most)
        return task_fail(t, RES_TOO_LARGE, "blobs_get: %zu bytes, at most %zu are wanted", got.body.len,
                         most);
    *ret = got;
    return RES_OK;
}

static res pass_on(task *t, fetch_stream *s, blobs_piece_fn *fn, void *ctx)
{
    for (;;) {
        str piece;
        TRY(fetch_read(t, s, &piece));
        if (piece.len == 0)
            return RES_OK;
        TRY(fn(t, piece, ctx));
    }
}

res blobs_wire_get_stream(void *self, task *t, str in, str name, const blob_get *how, blobs_piece_fn *fn,
                          void *ctx, blob_got *ret)
{
    http_header   headers[CONDITIONS_MAX];
    azure_request q = {.operation = "blobs_get_stream",
                       .method = STR("GET"),
                       .path = blobs_path(t->arena, in, name),
                       .headers = headers,
                       .header_count = add_conditions(t->arena, how, headers)};
    azure_answer  answer;
    blob_got      got;
    fetch_stream *stream = NULL;
    TRY(azure_call_stream(t, self, &q, &answer, &stream));
    res r = read_got(t, &q, &answer, how, &got);
    if (r == RES_OK && stream != NULL)
        r = pass_on(t, stream, fn, ctx);
    fetch_close(stream);
    TRY(r);
    *ret = got;
    return RES_OK;
}
