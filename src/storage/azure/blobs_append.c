/* blobs_append.c -- lines added to the end of an append blob, each once (spec 6).
 *
 * Where the caller says how long the blob is, that position is a condition of the append: an append that is
 * sent again after its reply was lost is refused with 412. Whether it was ours that moved the end, the bytes
 * at that position tell, for nothing can change them afterwards. Without a position an append is sent once
 * and never again.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/blobs_wire.h"

static const http_header octets = {STR_INIT("Content-Type"), STR_INIT("application/octet-stream")};

/* Another who makes it at the same time is as good. */
static res make_append_blob(task *t, azure_endpoint *e, str in, str name)
{
    static const http_header headers[] = {{STR_INIT("x-ms-blob-type"), STR_INIT("AppendBlob")},
                                          {STR_INIT("If-None-Match"), STR_INIT("*")}};
    azure_request            q = {.operation = "blobs_make_append",
                                  .method = STR("PUT"),
                                  .path = blobs_path(t->arena, in, name),
                                  .headers = headers,
                                  .header_count = 2};
    azure_answer             got;
    res                      r = services_call(t, e, &q, &got);
    if (r != RES_CONFLICT && r != RES_PRECONDITION)
        return r;
    task_forget(t);
    return RES_OK;
}

static res append_block(task *t, azure_endpoint *e, str in, str name, str bytes, uint64_t at,
                        azure_answer *ret)
{
    bool          anywhere = at == UINT64_MAX;
    http_header   headers[2] = {octets};
    azure_request q = {.operation = "blobs_append",
                       .method = STR("PUT"),
                       .path = blobs_path(t->arena, in, name),
                       .query = STR("comp=appendblock"),
                       .headers = headers,
                       .header_count = anywhere ? 1 : 2,
                       .body = bytes,
                       .try_ms = blobs_try_ms(bytes.len),
                       .once = anywhere};
    if (!anywhere)
        headers[1] = (http_header){STR("x-ms-blob-condition-appendpos"),
                                   arena_strf(t->arena, "%llu", (unsigned long long)at)};
    return services_call(t, e, &q, ret);
}

/* The end is elsewhere. Our own earlier try has moved it if our bytes stand where they should. */
static res was_ours(task *t, azure_endpoint *e, str in, str name, str bytes, uint64_t at)
{
    blob_get how = {.ranged = true, .from = at, .count = bytes.len, .bytes_max = bytes.len};
    blob_got got;
    res      r = blobs_wire_get(e, t, in, name, &how, &got);
    if (r == RES_OK && str_eq(got.body, bytes)) {
        task_forget(t);
        return RES_OK;
    }
    if (r != RES_OK && r != RES_INVALID && r != RES_NOT_FOUND)
        return r;
    return task_fail(t, RES_PRECONDITION, "blobs_append: the blob ends elsewhere");
}

/* Where the block begins, when the service does not say. */
static res read_end(task *t, const azure_answer *got, size_t len, uint64_t at, uint64_t *ret_bytes)
{
    uint64_t offset = at;
    if (!str_to_u64(services_header(got, "x-ms-blob-append-offset"), &offset) && at == UINT64_MAX)
        return task_fail(t, RES_UPSTREAM, "blobs_append: the answer does not say where the end is");
    *ret_bytes = offset + len;
    return RES_OK;
}

res blobs_wire_append(void *self, task *t, str in, str name, str bytes, uint64_t at, uint64_t *ret_bytes)
{
    azure_answer got = {0};
    res          r = append_block(t, self, in, name, bytes, at, &got);
    if (r == RES_NOT_FOUND) {
        if (at != 0 && at != UINT64_MAX)
            return task_fail(t, RES_PRECONDITION, "blobs_append: there is no such blob");
        task_forget(t);
        TRY(make_append_blob(t, self, in, name));
        got = (azure_answer){0};
        r = append_block(t, self, in, name, bytes, at, &got);
    }
    if (r == RES_PRECONDITION && got.doubtful) {
        TRY(was_ours(t, self, in, name, bytes, at));
        *ret_bytes = at + bytes.len;
        return RES_OK;
    }
    TRY(r);
    return read_end(t, &got, bytes.len, at, ret_bytes);
}
