/* import_tables.c -- every file of lines to its table.
 *
 * Lines are taken in waves that fit into memory. Within a wave, neighbours of one partition are written
 * together, as a transaction, and sixteen of those at once. Entities that are there already are replaced, so
 * a wave that is done twice after a stop does no harm.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "app/entity_json.h"
#include "storage/tables.h"

enum {
    WAVE_ROWS = 1600,
    WAVE_BYTES = 8 * MIB,  /* of lines; one line may be longer */
    BATCH_BYTES = 1 * MIB, /* by entity_bytes, unless one is larger: what travels is up to three times that */
    BATCHES_AT_ONCE = 16,
    TABLE_MEMORY = 32 * MIB,
    WAVE_MEMORY = 512 * MIB,
};

typedef struct {
    size_t from, count; /* of the wave's writes */
    size_t bytes;
} batch;

typedef struct {
    copy_run    *run;
    table        to;
    copy_place   at;
    copy_file   *file;
    bool         end;
    table_write *writes;
    batch       *batches;
    size_t       write_count, batch_count;
} importing;

static bool fits(const importing *x, const batch *b, const entity *e, size_t bytes)
{
    return b != NULL && b->count < TABLES_BATCH_MAX && b->bytes + bytes <= BATCH_BYTES &&
           str_eq(x->writes[b->from].e->partition, e->partition);
}

static void add_write(importing *x, entity *e)
{
    size_t bytes = entity_bytes(e);
    batch *last = x->batch_count > 0 ? &x->batches[x->batch_count - 1] : NULL;
    if (!fits(x, last, e, bytes)) {
        last = &x->batches[x->batch_count++];
        *last = (batch){.from = x->write_count};
    }
    last->count++;
    last->bytes += bytes;
    x->writes[x->write_count++] = (table_write){.kind = WRITE_UPSERT_REPLACE, .e = e};
}

static res read_wave(task *t, importing *x)
{
    uint64_t begin = x->file->offset;
    buf      line;
    buf_init(&line, t->arena, COPY_LINE_MAX);
    x->writes = arena_array(t->arena, table_write, WAVE_ROWS);
    x->batches = arena_array(t->arena, batch, WAVE_ROWS);
    x->write_count = x->batch_count = 0;
    while (x->write_count < WAVE_ROWS && x->file->offset - begin < WAVE_BYTES) {
        uint64_t here = x->file->offset;
        entity  *e = arena_one(t->arena, entity);
        str      why;
        TRY(copy_file_read_line(t, x->file, &line, &x->end));
        if (x->end)
            break;
        if (entity_from_json(t->arena, arena_copy(t->arena, buf_str(&line)), e, &why) != RES_OK)
            return task_fail(t, RES_INVALID, "the line at byte %llu: %.*s", (unsigned long long)here,
                             STR_ARG(why));
        add_write(x, e);
    }
    return RES_OK;
}

static res write_batch(task *t, size_t i, void *ctx)
{
    importing         *x = ctx;
    const batch       *b = &x->batches[i];
    const table_write *first = &x->writes[b->from];
    res r = b->count == 1 ? tables_write(t, x->to, first) : tables_commit(t, x->to, first, b->count, NULL);
    if (r != RES_OK)
        return task_fail(t, r, "from PartitionKey '%.*s' RowKey '%.*s' on", STR_ARG(first->e->partition),
                         STR_ARG(first->e->row));
    x->run->progress.rows += b->count;
    copy_progress_show(&x->run->progress);
    return RES_OK;
}

static res copy_wave(task *t, void *ctx)
{
    importing *x = ctx;
    TRY(read_wave(t, x));
    TRY(par_each(t, x->batch_count, BATCHES_AT_ONCE, write_batch, x));
    x->run->progress.bytes += x->file->offset - x->at.offset;
    x->run->progress.done_bytes += x->file->offset - x->at.offset;
    x->at.offset = x->file->offset;
    return RES_OK;
}

static res copy_table(task *t, void *ctx)
{
    importing  *x = ctx;
    const char *path = copy_path(t, "%s/tables/%.*s.jsonl", x->run->o->dir, STR_ARG(x->to.name));
    TRY(tables_create(t, x->to));
    TRY(copy_file_open(t, path, x->at.offset, &x->file));
    while (!x->end) {
        TRY(task_scope(t, WAVE_MEMORY, copy_wave, x));
        TRY(copy_state_save(t, x->run, &x->at));
    }
    return copy_file_close(t, x->file);
}

res import_tables(task *t, copy_run *run)
{
    str   *names;
    size_t count;
    TRY(copy_list(t, copy_path(t, "%s/tables", run->o->dir), ".jsonl", &names, &count));
    for (size_t i = 0; i < count; i++) {
        importing x = {.run = run, .to = {STORE_MAIN, names[i]}};
        if (copy_state_is_behind(run, STR("tables"), names[i]))
            continue;
        copy_state_take(run, STR("tables"), names[i], &x.at);
        res r = task_scope(t, TABLE_MEMORY, copy_table, &x);
        if (r != RES_OK)
            return task_fail(t, r, "table '%.*s'", STR_ARG(names[i]));
    }
    return RES_OK;
}
