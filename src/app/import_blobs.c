/* import_blobs.c -- every file to its blob, by the lines of CONTAINER.jsonl.
 *
 * Small ones travel eight at a time, a large one alone and in pieces. A blob that is there already is
 * replaced. An append blob is made anew, as such; the interface gives those no content type and no metadata.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "core/json.h"
#include "storage/blobs.h"

enum {
    WAVE_BLOBS = 64,
    WAVE_BYTES = 8 * MIB, /* of blobs; one may be larger */
    BLOBS_AT_ONCE = 8,
    PIECE_MAX = 4 * MIB,
    CONTAINER_MEMORY = 32 * MIB,
    WAVE_MEMORY = 512 * MIB,
};

typedef struct {
    str      name, file;
    uint64_t bytes;
    bool     append;
    blob_put how;
} item;

typedef struct {
    copy_run  *run;
    container  to;
    copy_place at;
    copy_file *lines;
    bool       end;
    item      *items;
    size_t     count;
} importing;

typedef struct {
    copy_run  *run;
    copy_file *file;
    char      *piece;
    size_t     piece_max;
} sending;

/* ---- lines ---- */

static res read_item(task *t, str line, item *ret)
{
    const json_val *v, *metadata;
    if (json_parse(t->arena, line, &v, NULL) != RES_OK)
        return task_fail(t, RES_INVALID, "it is not JSON");
    metadata = json_get(v, "metadata");
    int64_t bytes = json_int(json_get(v, "bytes"), 0);
    *ret = (item){.name = json_text(json_get(v, "name"), (str){0}),
                  .file = json_text(json_get(v, "file"), (str){0}),
                  .bytes = bytes > 0 ? (uint64_t)bytes : 0,
                  .append = json_truth(json_get(v, "append"), false)};
    if (ret->name.len == 0 || ret->file.len == 0 || str_find_char(ret->file, '/') < ret->file.len ||
        ret->file.at[0] == '.')
        return task_fail(t, RES_INVALID, "name or file is missing or wrong");
    http_header *list = arena_array(t->arena, http_header, json_len(metadata));
    size_t       n = 0;
    for (json_iter it = json_each(metadata); json_next(&it);)
        list[n++] = (http_header){it.key, json_text(it.value, (str){0})};
    ret->how = (blob_put){.content_type = json_text(json_get(v, "content_type"), (str){0}),
                          .metadata = list,
                          .metadata_count = n};
    return RES_OK;
}

static res read_wave(task *t, importing *x)
{
    uint64_t bytes = 0;
    buf      line;
    buf_init(&line, t->arena, COPY_LINE_MAX);
    x->items = arena_array(t->arena, item, WAVE_BLOBS);
    x->count = 0;
    while (x->count < WAVE_BLOBS && bytes < WAVE_BYTES) {
        uint64_t here = x->lines->offset;
        item    *one = &x->items[x->count];
        TRY(copy_file_read_line(t, x->lines, &line, &x->end));
        if (x->end)
            break;
        res r = read_item(t, arena_copy(t->arena, buf_str(&line)), one);
        if (r != RES_OK)
            return task_fail(t, r, "the line at byte %llu", (unsigned long long)here);
        bytes += one->bytes;
        x->count++;
    }
    return RES_OK;
}

/* ---- bytes ---- */

static res next_piece(task *t, void *ctx, str *ret)
{
    sending *x = ctx;
    size_t   len;
    TRY(copy_file_read(t, x->file, x->piece, x->piece_max, &len));
    x->run->progress.bytes += len;
    x->run->progress.done_bytes += len;
    copy_progress_show(&x->run->progress);
    *ret = (str){x->piece, len};
    return RES_OK;
}

static res drop(task *t, container in, str name)
{
    res r = blobs_remove(t, in, name, (str){0});
    if (r != RES_NOT_FOUND && r != RES_UNPROVISIONED)
        return r;
    task_forget(t);
    return RES_OK;
}

static res append_all(task *t, const importing *x, str name, sending *from)
{
    uint64_t at = 0;
    str      piece;
    TRY(drop(t, x->to, name));
    TRY(next_piece(t, from, &piece));
    do {
        TRY(blobs_append(t, x->to, name, piece, at, &at));
        TRY(next_piece(t, from, &piece));
    } while (piece.len > 0);
    return RES_OK;
}

/* What is there may be of the other type: then it goes first. */
static res put_all(task *t, const importing *x, const item *one, sending *from)
{
    res r = blobs_put_stream(t, x->to, one->name, next_piece, from, &one->how, NULL);
    if (r != RES_CONFLICT)
        return r;
    task_forget(t);
    TRY(drop(t, x->to, one->name));
    rewind(from->file->f);
    return blobs_put_stream(t, x->to, one->name, next_piece, from, &one->how, NULL);
}

static res send_blob(task *t, size_t i, void *ctx)
{
    importing  *x = ctx;
    const item *one = &x->items[i];
    sending from = {.run = x->run, .piece_max = one->bytes < PIECE_MAX ? (size_t)one->bytes + 1 : PIECE_MAX};
    from.piece = arena_alloc(t->arena, from.piece_max);
    TRY(copy_file_open(
        t, copy_path(t, "%s/blobs/%.*s/%.*s", x->run->o->dir, STR_ARG(x->to.name), STR_ARG(one->file)), 0,
        &from.file));
    res r = one->append ? append_all(t, x, one->name, &from) : put_all(t, x, one, &from);
    if (r != RES_OK)
        return task_fail(t, r, "blob '%.*s'", STR_ARG(one->name));
    x->run->progress.blobs++;
    return copy_file_close(t, from.file);
}

/* ---- one container ---- */

static res copy_wave(task *t, void *ctx)
{
    importing *x = ctx;
    TRY(read_wave(t, x));
    TRY(par_each(t, x->count, BLOBS_AT_ONCE, send_blob, x));
    x->run->progress.done_bytes += x->lines->offset - x->at.offset;
    x->at.offset = x->lines->offset;
    return RES_OK;
}

static res copy_container(task *t, void *ctx)
{
    importing *x = ctx;
    TRY(blobs_create_container(t, x->to));
    TRY(copy_file_open(t, copy_path(t, "%s/blobs/%.*s.jsonl", x->run->o->dir, STR_ARG(x->to.name)),
                       x->at.offset, &x->lines));
    while (!x->end) {
        TRY(task_scope(t, WAVE_MEMORY, copy_wave, x));
        TRY(copy_state_save(t, x->run, &x->at));
    }
    return copy_file_close(t, x->lines);
}

res import_blobs(task *t, copy_run *run)
{
    str   *names;
    size_t count;
    TRY(copy_list(t, copy_path(t, "%s/blobs", run->o->dir), ".jsonl", &names, &count));
    for (size_t i = 0; i < count; i++) {
        importing x = {.run = run, .to = {STORE_MAIN, names[i]}};
        if (copy_state_is_behind(run, STR("blobs"), names[i]))
            continue;
        copy_state_take(run, STR("blobs"), names[i], &x.at);
        res r = task_scope(t, CONTAINER_MEMORY, copy_container, &x);
        if (r != RES_OK)
            return task_fail(t, r, "container '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}
