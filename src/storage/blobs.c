/* blobs.c -- the checks and conveniences over either back end: see blobs.h.
 *
 * Blobs above BLOBS_SINGLE_MAX, and streams above one block, travel as blocks which become a blob all at
 * once, in the end: who reads meanwhile sees the old one. Containers are made when a call finds them missing.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/blobs.h"

#include "core/buf.h"
#include "core/id.h"
#include "entity_text.h"
#include "facade.h"
#include "storage/entity.h"

enum {
    NAME_UNITS_MAX = 1024,
    METADATA_BYTES_MAX = 8 * KIB, /* Azure's, of all names and values */
    BLOCKS_MAX = 50000,
    BLOCKS_AT_ONCE = 4,
    BLOCK_MEMORY = 4 * MIB, /* of sending one: its bytes are the caller's */
    GET_MAX = 32 * MIB,
    LIST_MOST = 5000,
};

/* A call on its way to the back end; the fields behind `name` are those that its kind needs. */
typedef struct {
    const blobs_ops *ops;
    void            *self;
    str              in, name;
    str              bytes, upload, if_match, position, prefix;
    uint32_t         block, blocks;
    const blob_put  *put;
    const blob_get  *get;
    blobs_piece_fn  *fn;
    void            *fn_ctx;
    uint64_t         at;
    unsigned         most;
    char             delimiter;
    blob_info       *ret_info;
    blob_got        *ret_got;
    blob_page       *ret_page;
    uint64_t        *ret_bytes;
} call;

/* ---- checks ---- */

static res find_ops(task *t, store_id store, call *ret)
{
    const backend *b = store_backend(store);
    if (b == NULL || b->blobs == NULL)
        return facade_no_storage(t);
    ret->ops = b->blobs;
    ret->self = b->blobs_self;
    return RES_OK;
}

static res begin(task *t, container in, call *ret)
{
    *ret = (call){.in = in.name};
    TRY(find_ops(t, in.store, ret));
    return facade_check_name(t, "container", in.name);
}

/* Lists come as XML, which has no way to write control characters, U+FFFE and U+FFFF. */
static bool is_listable(str text)
{
    if (!str_is_utf8(text))
        return false;
    for (size_t i = 0; i < text.len;) {
        uint32_t c = utf8_take(text, &i);
        if (c < 0x20 || c == 0x7F || c == 0xFFFE || c == 0xFFFF)
            return false;
    }
    return true;
}

static res begin_blob(task *t, container in, str name, call *ret)
{
    TRY(begin(t, in, ret));
    if (name.len == 0 || !is_listable(name))
        return task_fail(t, RES_INVALID, "a blob's name is UTF-8 without control characters, and not empty");
    if (entity_utf16_units(name) > NAME_UNITS_MAX)
        return task_fail(t, RES_INVALID, "a blob's name has %zu characters, at most %d are allowed",
                         entity_utf16_units(name), NAME_UNITS_MAX);
    ret->name = name;
    return RES_OK;
}

static bool is_metadata_name(str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = c >= 'a' && c <= 'z', other = c == '_' || (c >= '0' && c <= '9');
        if (!letter && !(other && i > 0))
            return false;
    }
    return name.len > 0;
}

/* What a header keeps as it is: blanks at its ends would be lost on the way. */
static bool is_metadata_value(str value)
{
    return value.len == 0 || (http_header_value_ok(value) && str_trim(value).len == value.len);
}

static res check_metadata(task *t, const http_header *list, size_t count)
{
    size_t bytes = 0;
    if (count > BLOBS_METADATA_MAX)
        return task_fail(t, RES_TOO_LARGE, "%zu entries of metadata, at most %d are allowed", count,
                         BLOBS_METADATA_MAX);
    for (size_t i = 0; i < count; i++) {
        str name = str_slice(list[i].name, 0, FACADE_SHOWN_MAX);
        if (!is_metadata_name(list[i].name))
            return task_fail(t, RES_INVALID, "metadata '%.*s': a name is a letter, then a-z, 0-9 and _",
                             STR_ARG(name));
        if (!is_metadata_value(list[i].value))
            return task_fail(t, RES_INVALID, "metadata '%.*s': a value is ASCII, without blanks at its ends",
                             STR_ARG(name));
        for (size_t k = 0; k < i; k++)
            if (str_eq(list[k].name, list[i].name))
                return task_fail(t, RES_INVALID, "metadata '%.*s' is there twice", STR_ARG(name));
        bytes += list[i].name.len + list[i].value.len;
    }
    if (bytes > METADATA_BYTES_MAX)
        return task_fail(t, RES_TOO_LARGE, "%zu bytes of metadata, at most %d are allowed", bytes,
                         METADATA_BYTES_MAX);
    return RES_OK;
}

static res check_put(task *t, const blob_put *how)
{
    TRY(facade_check_header(t, "the content type", how->content_type));
    TRY(facade_check_header(t, "the ETag", how->if_match));
    if (how->create_only && how->if_match.len > 0)
        return task_fail(t, RES_INVALID, "a blob that is to be new cannot have an ETag");
    return check_metadata(t, how->metadata, how->metadata_count);
}

static res check_get(task *t, const blob_get *how)
{
    TRY(facade_check_header(t, "the ETag", how->if_match));
    TRY(facade_check_header(t, "the ETag", how->if_none_match));
    if (how->ranged && (how->count == 0 || how->from > UINT64_MAX - how->count))
        return task_fail(t, RES_INVALID, "a range has at least one byte, and an end");
    return RES_OK;
}

/* ---- calls of the back end, as made_when_missing wants them ---- */

static res call_put(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->put(c->self, t, c->in, c->name, c->bytes, c->put, c->ret_info);
}

static res call_put_block(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->put_block(c->self, t, c->in, c->name, c->upload, c->block, c->bytes);
}

static res call_put_blocks(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->put_blocks(c->self, t, c->in, c->name, c->upload, c->blocks, c->put, c->ret_info);
}

static res call_get(task *t, void *ctx)
{
    call *c = ctx;
    if (c->fn == NULL)
        return c->ops->get(c->self, t, c->in, c->name, c->get, c->ret_got);
    return c->ops->get_stream(c->self, t, c->in, c->name, c->get, c->fn, c->fn_ctx, c->ret_got);
}

static res call_head(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->head(c->self, t, c->in, c->name, c->ret_info);
}

static res call_remove(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->remove(c->self, t, c->in, c->name, c->if_match);
}

static res call_list(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->list_blobs(c->self, t, c->in, c->prefix, c->delimiter, c->most, c->position, c->ret_page);
}

static res call_append(task *t, void *ctx)
{
    call *c = ctx;
    return c->ops->append(c->self, t, c->in, c->name, c->bytes, c->at, c->ret_bytes);
}

static res made(task *t, call *c, made_op *op)
{
    return made_when_missing(t, c->in, c->ops->create, c->self, op, c);
}

/* ---- containers ---- */

res blobs_create_container(task *t, container in)
{
    call c;
    TRY(begin(t, in, &c));
    return facade_created(t, c.ops->create(c.self, t, c.in));
}

res blobs_delete_container(task *t, container in)
{
    call c;
    TRY(begin(t, in, &c));
    res r = c.ops->drop(c.self, t, c.in);
    return r == RES_UNPROVISIONED ? RES_NOT_FOUND : r; /* here it is the container that was looked for */
}

res blobs_list_containers(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                          size_t *ret_count, str *ret_token)
{
    call c = {0};
    TRY(find_ops(t, store, &c));
    return facade_list(t, c.ops->list, c.self, prefix, most, token, ret_names, ret_count, ret_token);
}

/* ---- putting ---- */

/* A fresh name for this upload, in the task's arena. */
static str new_upload(task *t)
{
    return id_uuid(arena_alloc(t->arena, UUID_TEXT + 1));
}

static res put_part(task *t, size_t i, void *ctx)
{
    call c = *(const call *)ctx;
    c.block = (uint32_t)i;
    c.bytes = str_slice(c.bytes, i * BLOBS_BLOCK, (i + 1) * BLOBS_BLOCK);
    return made(t, &c, call_put_block);
}

static res put_in_blocks(task *t, call *c)
{
    size_t blocks = (c->bytes.len + BLOBS_BLOCK - 1) / BLOBS_BLOCK;
    if (blocks > BLOCKS_MAX)
        return task_fail(t, RES_TOO_LARGE, "a blob of %zu bytes", c->bytes.len);
    c->upload = new_upload(t);
    c->blocks = (uint32_t)blocks;
    TRY(par_each(t, blocks, BLOCKS_AT_ONCE, put_part, c));
    return made(t, c, call_put_blocks);
}

static res begin_put(task *t, container in, str name, const blob_put *how, blob_info *ret, call *c)
{
    static const blob_put plain = {.content_type = STR_INIT("")};

    TRY(begin_blob(t, in, name, c));
    c->put = how != NULL ? how : &plain;
    c->ret_info = ret != NULL ? ret : arena_one(t->arena, blob_info);
    return check_put(t, c->put);
}

res blobs_put(task *t, container in, str name, str bytes, const blob_put *how, blob_info *ret)
{
    call c;
    TRY(begin_put(t, in, name, how, ret, &c));
    c.bytes = bytes;
    return bytes.len > BLOBS_SINGLE_MAX ? put_in_blocks(t, &c) : made(t, &c, call_put);
}

static void free_buf(void *arg)
{
    buf_free(arg);
}

static res put_block_made(task *t, void *ctx)
{
    return made(t, ctx, call_put_block);
}

/* Sends what was collected as the next block, in memory of its own. */
static res flush_block(task *t, call *c, buf *collected)
{
    if (c->blocks == BLOCKS_MAX)
        return task_fail(t, RES_TOO_LARGE, "a blob of more than %d blocks", BLOCKS_MAX);
    c->block = c->blocks++;
    c->bytes = buf_str(collected);
    TRY(task_scope(t, BLOCK_MEMORY, put_block_made, c));
    buf_clear(collected);
    return RES_OK;
}

static res collect(task *t, call *c, str piece, buf *collected)
{
    while (piece.len > 0) {
        if (collected->len == BLOBS_BLOCK)
            TRY(flush_block(t, c, collected));
        str part = str_slice(piece, 0, BLOBS_BLOCK - collected->len);
        if (!buf_add(collected, part))
            return task_fail(t, RES_MEMORY, "no memory for a block");
        piece = str_from(piece, part.len);
    }
    return RES_OK;
}

res blobs_put_stream(task *t, container in, str name, blobs_next_fn *next, void *ctx, const blob_put *how,
                     blob_info *ret)
{
    call c;
    TRY(begin_put(t, in, name, how, ret, &c));
    c.upload = new_upload(t);
    buf *collected = arena_one(t->arena, buf);
    buf_init(collected, NULL, BLOBS_BLOCK);
    arena_defer(t->arena, free_buf, collected);

    for (;;) {
        str piece = STR("");
        TRY(next(t, ctx, &piece));
        if (piece.len == 0)
            break;
        TRY(collect(t, &c, piece, collected));
    }
    if (c.blocks == 0) {
        c.bytes = buf_str(collected);
        return made(t, &c, call_put);
    }
    TRY(flush_block(t, &c, collected));
    return made(t, &c, call_put_blocks);
}

/* ---- getting ---- */

static res get(task *t, container in, str name, const blob_get *how, blobs_piece_fn *fn, void *ctx,
               blob_got *ret)
{
    call     c;
    blob_get asked = how != NULL ? *how : (blob_get){0};

    TRY(begin_blob(t, in, name, &c));
    TRY(check_get(t, &asked));
    asked.bytes_max = asked.bytes_max == 0 ? GET_MAX : asked.bytes_max;
    c.get = &asked;
    c.fn = fn;
    c.fn_ctx = ctx;
    c.ret_got = ret;
    TRY(made(t, &c, call_get));
    if (asked.ranged && !ret->not_modified && asked.from >= ret->info.bytes) /* Azurite: one byte too far */
        return task_fail(t, RES_INVALID, "the range begins at the end of the blob, or behind it");
    return RES_OK;
}

res blobs_get(task *t, container in, str name, const blob_get *how, blob_got *ret)
{
    return get(t, in, name, how, NULL, NULL, ret);
}

res blobs_get_stream(task *t, container in, str name, const blob_get *how, blobs_piece_fn *fn, void *ctx,
                     blob_got *ret)
{
    return get(t, in, name, how, fn, ctx, ret);
}

res blobs_head(task *t, container in, str name, blob_info *ret)
{
    call c;
    TRY(begin_blob(t, in, name, &c));
    c.ret_info = ret;
    return made(t, &c, call_head);
}

/* ---- the rest ---- */

res blobs_remove(task *t, container in, str name, str if_match)
{
    call c;
    TRY(begin_blob(t, in, name, &c));
    TRY(facade_check_header(t, "the ETag", if_match));
    c.if_match = if_match;
    return made(t, &c, call_remove);
}

res blobs_list(task *t, container in, str prefix, char delimiter, unsigned most, str token, blob_page *ret)
{
    call      c;
    blob_page page = {0};

    TRY(begin(t, in, &c));
    TRY(facade_check_most(t, most, LIST_MOST));
    if (!is_listable(prefix) || entity_utf16_units(prefix) > NAME_UNITS_MAX)
        return task_fail(t, RES_INVALID, "no blob's name begins with this prefix");
    if (delimiter != '\0' && (delimiter <= ' ' || delimiter > '~'))
        return task_fail(t, RES_INVALID, "a delimiter is one visible ASCII character");
    TRY(token_decode(t, TOKEN_BLOBS, token, &c.position));
    c.prefix = prefix;
    c.delimiter = delimiter;
    c.most = most;
    c.ret_page = &page;
    TRY(made(t, &c, call_list));
    page.token = token_encode(t->arena, TOKEN_BLOBS, page.token);
    *ret = page;
    return RES_OK;
}

res blobs_append(task *t, container in, str name, str bytes, uint64_t at, uint64_t *ret_bytes)
{
    call     c;
    uint64_t length = 0;

    TRY(begin_blob(t, in, name, &c));
    if (bytes.len == 0)
        return task_fail(t, RES_INVALID, "nothing to append");
    if (bytes.len > BLOBS_APPEND_MAX)
        return task_fail(t, RES_TOO_LARGE, "%zu bytes to append, at most %d are allowed", bytes.len,
                         BLOBS_APPEND_MAX);
    c.bytes = bytes;
    c.at = at;
    c.ret_bytes = &length;
    TRY(made(t, &c, call_append));
    if (ret_bytes != NULL)
        *ret_bytes = length;
    return RES_OK;
}
