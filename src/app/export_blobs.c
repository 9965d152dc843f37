/* export_blobs.c -- every blob to a file, and a line about it to CONTAINER.jsonl.
 *
 *     {"name":"a/b.txt","file":"a%2Fb.txt","content_type":"text/plain","bytes":5,"append":true,
 *      "metadata":{"k":"v"}}
 *
 * A page of the container's list is fetched eight blobs at a time. The lines follow when all of them are on
 * disk; then the place behind the page is noted. A blob that goes while we look is left out.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "core/json.h"
#include "storage/blobs.h"

enum {
    CONTAINERS_AT_ONCE = 1000,
    BLOBS_A_PAGE = 100,
    BLOBS_AT_ONCE = 8,
    CONTAINER_MEMORY = 8 * MIB,
    PAGE_MEMORY = 256 * MIB,
    TOKEN_MAX = 64 * KIB,
};

typedef struct {
    bool there;
    str  line;
} fetched;

typedef struct {
    copy_run  *run;
    container  from;
    copy_place at;
    buf        token;
    copy_file *lines;
    blob_page  page;
    fetched   *got; /* of the page */
} exporting;

typedef struct {
    copy_run  *run;
    copy_file *file;
} receiving;

static res take_piece(task *t, str piece, void *ctx)
{
    receiving *x = ctx;
    x->run->progress.bytes += piece.len;
    copy_progress_show(&x->run->progress);
    return copy_file_write(t, x->file, piece);
}

static str line_of(arena *a, str name, str file, const blob_info *info)
{
    json *line = json_object(a);
    json_set_str(line, "name", name);
    json_set_str(line, "file", file);
    json_set_str(line, "content_type", info->content_type);
    json_set_int(line, "bytes", (int64_t)info->bytes);
    if (info->append)
        json_set_bool(line, "append", true);
    json *metadata = info->metadata_count > 0 ? json_set_object(line, "metadata") : NULL;
    for (size_t i = 0; i < info->metadata_count; i++)
        json_set_str_at(metadata, info->metadata[i].name, info->metadata[i].value);
    return json_print(a, line);
}

static res fetch_blob(task *t, size_t i, void *ctx)
{
    exporting *x = ctx;
    str        name = x->page.at[i].name, file = copy_safe_name(t->arena, name);
    receiving  to = {.run = x->run};
    blob_get   how = {0};
    blob_got   got;
    TRY(copy_file_create(
        t, copy_path(t, "%s/blobs/%.*s/%.*s", x->run->o->dir, STR_ARG(x->from.name), STR_ARG(file)), 0,
        &to.file));
    res r = blobs_get_stream(t, x->from, name, &how, take_piece, &to, &got);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return copy_file_close(t, to.file);
    }
    if (r != RES_OK)
        return task_fail(t, r, "blob '%.*s'", STR_ARG(name));
    TRY(copy_file_sync(t, to.file));
    TRY(copy_file_close(t, to.file));
    x->got[i] = (fetched){.there = true, .line = line_of(t->arena, name, file, &got.info)};
    x->run->progress.blobs++;
    return RES_OK;
}

static res copy_page(task *t, void *ctx)
{
    exporting *x = ctx;
    TRY(blobs_list(t, x->from, (str){0}, '\0', BLOBS_A_PAGE, buf_str(&x->token), &x->page));
    x->got = arena_array(t->arena, fetched, x->page.len);
    TRY(par_each(t, x->page.len, BLOBS_AT_ONCE, fetch_blob, x));
    for (size_t i = 0; i < x->page.len; i++)
        if (x->got[i].there)
            TRY(copy_file_write_line(t, x->lines, x->got[i].line));
    TRY(copy_file_sync(t, x->lines));

    x->at.offset = x->lines->offset;
    buf_clear(&x->token);
    if (!buf_add(&x->token, x->page.token) && x->page.token.len > 0)
        return task_fail(t, RES_TOO_LARGE, "its continuation token is too long");
    x->at.token = buf_str(&x->token);
    return RES_OK;
}

static res copy_container(task *t, void *ctx)
{
    exporting  *x = ctx;
    const char *folder = copy_path(t, "%s/blobs/%.*s", x->run->o->dir, STR_ARG(x->from.name));
    const char *path = copy_path(t, "%s.jsonl", folder), *part = copy_path(t, "%s.part", path);
    if (copy_exists(path))
        return RES_OK;
    copy_state_take(x->run, STR("blobs"), x->from.name, &x->at);
    buf_init(&x->token, t->arena, TOKEN_MAX);
    buf_add(&x->token, x->at.token);
    TRY(copy_make_dir(t, folder));
    TRY(copy_file_create(t, part, x->at.offset, &x->lines));
    do {
        TRY(task_scope(t, PAGE_MEMORY, copy_page, x));
        TRY(copy_state_save(t, x->run, &x->at));
        copy_progress_show(&x->run->progress);
    } while (x->token.len > 0);
    TRY(copy_file_close(t, x->lines));
    return copy_rename(t, part, path);
}

static res copy_containers(task *t, copy_run *run, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exporting x = {.run = run, .from = {STORE_MAIN, names[i]}};
        res       r = task_scope(t, CONTAINER_MEMORY, copy_container, &x);
        if (r != RES_OK)
            return task_fail(t, r, "container '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}

res export_blobs(task *t, copy_run *run)
{
    str   *names, token = {0};
    size_t count;
    TRY(copy_make_dir(t, copy_path(t, "%s/blobs", run->o->dir)));
    do {
        TRY(blobs_list_containers(t, STORE_MAIN, (str){0}, CONTAINERS_AT_ONCE, token, &names, &count,
                                  &token));
        TRY(copy_containers(t, run, names, count));
    } while (token.len > 0);
    return RES_OK;
}
