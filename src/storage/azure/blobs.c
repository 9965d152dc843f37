/* blobs.c -- containers, and blobs written whole or in blocks (spec 6) over azure_call.
 *
 * Reading, appending and listing have files of their own beside this one (blobs_read.c, blobs_append.c,
 * blobs_list.c).
 *
 * A conditional put that was sent again after its reply was lost may be refused because of itself: then
 * nobody can tell, and the caller is told so (spec 8.4). `If-Match: *` is never sent, for Azurite makes a
 * missing blob of it: the blob's ETag is looked up and sent instead.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"
#include "storage/azure/blobs_wire.h"

enum {
    ANY_TRIES_MAX = 8, /* of a put over whatever is there, while others write it too */
    PUT_HEADERS_MAX = BLOBS_METADATA_MAX + 4,
    UPLOAD_CHARS = 8,  /* of an upload's UUID that its block ids begin with */
    BLOCK_ID_MAX = 24, /* base64 of UPLOAD_CHARS and 8 digits */
};

static const str default_type = STR_INIT("application/octet-stream");

/* ---- containers ---- */

static azure_request of_container(arena *a, const char *operation, str method, str name)
{
    return (azure_request){.operation = operation,
                           .method = method,
                           .path = arena_strf(a, "/%.*s", STR_ARG(name)),
                           .query = STR("restype=container")};
}

static res create(void *self, task *t, str name)
{
    azure_request q = of_container(t->arena, "blobs_create_container", STR("PUT"), name);
    azure_answer  got;
    return services_call(t, self, &q, &got);
}

static res drop(void *self, task *t, str name)
{
    azure_request q = of_container(t->arena, "blobs_delete_container", STR("DELETE"), name);
    return services_drop(t, self, &q);
}

static res list(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    return services_list(t, self, "blobs_list_containers", "Container", prefix, most, position, ret);
}

/* ---- putting ---- */

/* A request that writes a blob, and the place for its headers. */
typedef struct {
    azure_request q;
    http_header   headers[PUT_HEADERS_MAX];
    str           if_match;
} writing;

static void add_header(writing *w, str name, str value)
{
    w->headers[w->q.header_count++] = (http_header){name, value};
}

static str type_of(const blob_put *how)
{
    return how->content_type.len > 0 ? how->content_type : default_type;
}

/* In the arena: its headers take more than a kilobyte. */
static writing *begin_write(arena *a, const char *operation, str in, str name, const blob_put *how)
{
    writing *w = arena_one(a, writing);
    w->q = (azure_request){
        .operation = operation, .method = STR("PUT"), .path = blobs_path(a, in, name), .headers = w->headers};
    w->if_match = how->if_match;
    for (size_t i = 0; i < how->metadata_count && i < BLOBS_METADATA_MAX; i++)
        add_header(w, arena_strf(a, "x-ms-meta-%.*s", STR_ARG(how->metadata[i].name)),
                   how->metadata[i].value);
    return w;
}

/* Sends it with the one condition that it may have. */
static res send_write(task *t, azure_endpoint *e, const writing *w, const blob_put *how, azure_answer *ret)
{
    writing *sent = arena_one(t->arena, writing);
    *sent = *w;
    sent->q.headers = sent->headers;
    if (how->create_only)
        add_header(sent, STR("If-None-Match"), STR("*"));
    else if (w->if_match.len > 0)
        add_header(sent, STR("If-Match"), w->if_match);
    return services_call(t, e, &sent->q, ret);
}

/* What a refusal means to who asked for this condition. */
static res settle(task *t, const writing *w, const blob_put *how, res r, bool doubtful)
{
    bool conditional = how->create_only || how->if_match.len > 0;
    if (!conditional || (r != RES_CONFLICT && r != RES_PRECONDITION && r != RES_NOT_FOUND))
        return r;
    if (doubtful) {
        task_forget(t);
        return services_cannot_be_told(t, &w->q);
    }
    if (how->create_only && r == RES_PRECONDITION)
        return RES_CONFLICT;
    return !how->create_only && r == RES_NOT_FOUND ? RES_PRECONDITION : r;
}

/* If-Match: *, as an ETag that is there. Who else writes it meanwhile costs another round. */
static res write_over_any(task *t, azure_endpoint *e, str in, str name, writing *w, const blob_put *how,
                          azure_answer *ret)
{
    res r = RES_PRECONDITION;
    for (unsigned i = 0; i < ANY_TRIES_MAX && r == RES_PRECONDITION; i++) {
        blob_info there;
        task_forget(t);
        r = blobs_wire_head(e, t, in, name, &there);
        if (r == RES_NOT_FOUND)
            return task_fail(t, RES_PRECONDITION, "%s: there is no such blob", w->q.operation);
        TRY(r);
        w->if_match = there.etag;
        r = send_write(t, e, w, how, ret);
        if (r == RES_NOT_FOUND) /* removed meanwhile: the next look says so, or finds a new one */
            r = RES_PRECONDITION;
    }
    return r;
}

static const http_header *copy_metadata(arena *a, const blob_put *how)
{
    http_header *copy = arena_array(a, http_header, how->metadata_count + 1);
    for (size_t i = 0; i < how->metadata_count; i++)
        copy[i] = (http_header){arena_copy(a, how->metadata[i].name), arena_copy(a, how->metadata[i].value)};
    return copy;
}

static res write_blob(task *t, azure_endpoint *e, str in, str name, writing *w, const blob_put *how,
                      blob_info *ret)
{
    azure_answer got = {0};
    res          r;
    if (str_eq(how->if_match, STR("*"))) {
        r = write_over_any(t, e, in, name, w, how, &got);
    } else {
        r = send_write(t, e, w, how, &got);
        r = settle(t, w, how, r, got.doubtful);
    }
    TRY(r);
    if (services_header(&got, "ETag").len == 0)
        return services_nonsense(t, &w->q, "there is no ETag in it");
    *ret = (blob_info){.etag = services_header(&got, "ETag"),
                       .content_type = arena_copy(t->arena, type_of(how)),
                       .modified_us = services_date_us(services_header(&got, "Last-Modified")),
                       .metadata = copy_metadata(t->arena, how),
                       .metadata_count = how->metadata_count};
    return RES_OK;
}

static res put(void *self, task *t, str in, str name, str bytes, const blob_put *how, blob_info *ret)
{
    blob_info info = {0};
    writing  *w = begin_write(t->arena, "blobs_put", in, name, how);
    add_header(w, STR("x-ms-blob-type"), STR("BlockBlob"));
    add_header(w, STR("Content-Type"), type_of(how));
    w->q.body = bytes;
    w->q.try_ms = blobs_try_ms(bytes.len);
    TRY(write_blob(t, self, in, name, w, how, &info));
    info.bytes = bytes.len;
    *ret = info;
    return RES_OK;
}

/* ---- blocks ---- */

/* All ids of a blob must be of one length; those of two uploads differ. */
static str block_id(arena *a, str upload, uint32_t number)
{
    str first = str_slice(upload, 0, UPLOAD_CHARS);
    return base64_encode(a, arena_strf(a, "%-8.*s%08u", STR_ARG(first), (unsigned)number));
}

static res put_block(void *self, task *t, str in, str name, str upload, uint32_t number, str bytes)
{
    http_header   type = {STR("Content-Type"), default_type};
    str           id = azure_escape(t->arena, block_id(t->arena, upload, number), "");
    azure_request q = {.operation = "blobs_put_block",
                       .method = STR("PUT"),
                       .path = blobs_path(t->arena, in, name),
                       .query = arena_strf(t->arena, "comp=block&blockid=%.*s", STR_ARG(id)),
                       .headers = &type,
                       .header_count = 1,
                       .body = bytes,
                       .try_ms = blobs_try_ms(bytes.len)};
    azure_answer  got;
    return services_call(t, self, &q, &got);
}

static str block_list(arena *a, str upload, uint32_t count)
{
    enum { AROUND = 64, PER_BLOCK = BLOCK_ID_MAX + sizeof "<Latest></Latest>" };
    buf out;
    buf_init(&out, a, AROUND + (size_t)count * PER_BLOCK);
    buf_add(&out, STR("<BlockList>"));
    for (uint32_t i = 0; i < count; i++) {
        str id = block_id(a, upload, i);
        buf_add(&out, STR("<Latest>"));
        buf_add(&out, id);
        buf_add(&out, STR("</Latest>"));
    }
    buf_add(&out, STR("</BlockList>"));
    return buf_str(&out);
}

/* The answer to a commit does not say how long the blob is. When somebody else has replaced it by now, or
 * nobody answers, the length stays 0: the commit itself has succeeded. */
static res learn_length(task *t, azure_endpoint *e, str in, str name, blob_info *info)
{
    blob_info stored = {0};
    res       r = blobs_wire_head(e, t, in, name, &stored);
    if (r == RES_OK && str_eq(stored.etag, info->etag))
        info->bytes = stored.bytes;
    if (task_stopped(t) != RES_OK)
        return r != RES_OK ? r : task_stopped(t);
    task_forget(t);
    return RES_OK;
}

static res put_blocks(void *self, task *t, str in, str name, str upload, uint32_t count, const blob_put *how,
                      blob_info *ret)
{
    blob_info info = {0};
    writing  *w = begin_write(t->arena, "blobs_put_blocks", in, name, how);
    add_header(w, STR("x-ms-blob-content-type"), type_of(how));
    add_header(w, STR("Content-Type"), STR("application/xml"));
    w->q.query = STR("comp=blocklist");
    w->q.body = block_list(t->arena, upload, count);
    w->q.try_ms = blobs_try_ms(w->q.body.len);
    TRY(write_blob(t, self, in, name, w, how, &info));
    TRY(learn_length(t, self, in, name, &info));
    *ret = info;
    return RES_OK;
}

/* ---- the rest ---- */

static res remove_blob(void *self, task *t, str in, str name, str if_match)
{
    http_header   headers[2] = {{STR("x-ms-delete-snapshots"), STR("include")}, {STR("If-Match"), if_match}};
    azure_request q = {.operation = "blobs_remove",
                       .method = STR("DELETE"),
                       .path = blobs_path(t->arena, in, name),
                       .headers = headers,
                       .header_count = if_match.len > 0 ? 2 : 1};
    return services_delete(t, self, &q);
}

const blobs_ops azure_blobs = {
    .create = create,
    .drop = drop,
    .list = list,
    .put = put,
    .put_block = put_block,
    .put_blocks = put_blocks,
    .get = blobs_wire_get,
    .get_stream = blobs_wire_get_stream,
    .head = blobs_wire_head,
    .remove = remove_blob,
    .list_blobs = blobs_wire_list,
    .append = blobs_wire_append,
};
