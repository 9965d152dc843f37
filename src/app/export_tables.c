/* export_tables.c -- every table to a file of lines.
 *
 * A table is written to NAME.jsonl.part, a page of the store at a time; when a page is on disk, the place
 * behind it is noted, so that a later run cuts the file there and goes on with the next page. When the table
 * is whole its file gets its name, by which the next run knows that there is nothing to do.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "app/entity_json.h"
#include "storage/tables.h"

enum { TABLES_AT_ONCE = 1000, TABLE_MEMORY = 32 * MIB, PAGE_MEMORY = 512 * MIB, TOKEN_MAX = 64 * KIB };

typedef struct {
    copy_run  *run;
    table      from;
    copy_place at;
    buf        token; /* of the next page; the pages themselves are gone by then */
    copy_file *file;
} exporting;

static res copy_page(task *t, void *ctx)
{
    exporting  *x = ctx;
    table_query q = {.token = buf_str(&x->token)};
    entity_page page;
    TRY(tables_query(t, x->from, &q, &page));
    for (size_t i = 0; i < page.len; i++)
        TRY(copy_file_write_line(t, x->file, entity_to_json(t->arena, &page.at[i])));
    TRY(copy_file_sync(t, x->file));

    x->run->progress.rows += page.len;
    x->run->progress.bytes += x->file->offset - x->at.offset;
    x->at.offset = x->file->offset;
    buf_clear(&x->token);
    if (!buf_add(&x->token, page.token) && page.token.len > 0)
        return task_fail(t, RES_TOO_LARGE, "its continuation token is too long");
    x->at.token = buf_str(&x->token);
    return RES_OK;
}

static res copy_table(task *t, void *ctx)
{
    exporting  *x = ctx;
    const char *path = copy_path(t, "%s/tables/%.*s.jsonl", x->run->o->dir, STR_ARG(x->from.name));
    const char *part = copy_path(t, "%s.part", path);
    if (copy_exists(path))
        return RES_OK;
    copy_state_take(x->run, STR("tables"), x->from.name, &x->at);
    buf_init(&x->token, t->arena, TOKEN_MAX);
    buf_add(&x->token, x->at.token);
    TRY(copy_file_create(t, part, x->at.offset, &x->file));
    do {
        TRY(task_scope(t, PAGE_MEMORY, copy_page, x));
        TRY(copy_state_save(t, x->run, &x->at));
        copy_progress_show(&x->run->progress);
    } while (x->token.len > 0);
    TRY(copy_file_close(t, x->file));
    return copy_rename(t, part, path);
}

static res copy_tables(task *t, copy_run *run, const str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        exporting x = {.run = run, .from = {STORE_MAIN, names[i]}};
        res       r = task_scope(t, TABLE_MEMORY, copy_table, &x);
        if (r != RES_OK)
            return task_fail(t, r, "table '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}

res export_tables(task *t, copy_run *run)
{
    str   *names, token = {0};
    size_t count;
    TRY(copy_make_dir(t, copy_path(t, "%s/tables", run->o->dir)));
    do {
        TRY(tables_list(t, STORE_MAIN, (str){0}, TABLES_AT_ONCE, token, &names, &count, &token));
        TRY(copy_tables(t, run, names, count));
    } while (token.len > 0);
    return RES_OK;
}
