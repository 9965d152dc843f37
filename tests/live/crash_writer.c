/* crash_writer.c -- DIR: 64 tasks that write to the embedded store in DIR until the program is killed.
 *
 * See crash.h for what they write and say. A line is written with one write(2), after the acknowledgement: so
 * what the reader of the pipe has seen was acknowledged before the kill.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/crash.h"
#include "runtime/loop.h"
#include "storage/tables.h"

enum { MEMORY = 64 * MIB, WRITE_MEMORY = MIB };

typedef struct {
    size_t  writer;
    int64_t count;
} one_write;

static void say(size_t writer, int64_t count)
{
    char line[64];
    int  len = snprintf(line, sizeof line, "%zu %lld\n", writer, (long long)count);
    if (write(STDOUT_FILENO, line, (size_t)len) != len)
        _exit(EXIT_FAILURE);
}

static res write_one(task *t, void *ctx)
{
    static const table in = {.name = STR_INIT(CRASH_TABLE)};
    const one_write   *w = ctx;
    bool               single = w->count % 2 == 1;
    str                partition = arena_strf(t->arena, "w%zu", w->writer);
    entity             rows[CRASH_ROWS];
    table_write        writes[CRASH_ROWS];
    for (int i = 0; i < CRASH_ROWS; i++) {
        rows[i] = entity_new(t->arena, partition, str_of(crash_rows[i]));
        entity_set_int64(&rows[i], "count", w->count);
        writes[i] = (table_write){.kind = WRITE_UPSERT_REPLACE, .e = &rows[i]};
    }
    return single ? tables_write(t, in, &writes[0]) : tables_commit(t, in, &writes[1], CRASH_ROWS - 1, NULL);
}

/* The largest count of an earlier life. */
static res last_count(task *t, size_t writer, int64_t *ret)
{
    static const table in = {.name = STR_INIT(CRASH_TABLE)};
    *ret = 0;
    for (int i = 0; i < CRASH_ROWS; i++) {
        entity e;
        res    r = tables_get(t, in, arena_strf(t->arena, "w%zu", writer), str_of(crash_rows[i]), &e);
        if (r == RES_NOT_FOUND)
            continue;
        TRY(r);
        int64_t count = entity_int(&e, "count", 0);
        *ret = count > *ret ? count : *ret;
    }
    return RES_OK;
}

static res keep_writing(task *t, size_t i, void *ctx)
{
    (void)ctx;
    one_write w = {.writer = i};
    TRY(last_count(t, i, &w.count));
    for (;;) {
        w.count++;
        TRY(task_scope(t, WRITE_MEMORY, write_one, &w));
        say(i, w.count);
    }
}

static res write_all(task *t, void *ctx)
{
    (void)ctx;
    return par_each(t, CRASH_WRITERS, CRASH_WRITERS, keep_writing, NULL);
}

static void on_end(task *t, void *ctx, res result, str message)
{
    (void)t, (void)ctx;
    fprintf(stderr, "crash_writer: %s: %.*s\n", res_name(result), STR_ARG(message));
}

int main(int argc, char **argv)
{
    arena *a = arena_new(MEMORY);
    str    error = {0};
    if (argc != 2 || a == NULL || loop_open() != RES_OK)
        return EXIT_FAILURE;
    store_options o = {.kind = STORE_EMBEDDED, .data_dir = argv[1]};
    if (store_open(a, &o, &error) != RES_OK) {
        fprintf(stderr, "crash_writer: %.*s\n", STR_ARG(error));
        return EXIT_FAILURE;
    }
    task_spec spec = {.name = "writers", .memory_bytes = MEMORY};
    if (task_start(&spec, write_all, on_end, NULL, NULL) != RES_OK)
        return EXIT_FAILURE;
    loop_run();
    return EXIT_FAILURE; /* only a failure ends the writers */
}
