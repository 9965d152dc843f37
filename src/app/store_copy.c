/* store_copy.c -- see store_copy.h: one task that copies part after part, and the loop that it needs.
 *
 * SPDX-License-Identifier: MIT */
#include "app/store_copy.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/copy_file.h"
#include "app/copy_parts.h"
#include "core/json.h"
#include "core/log.h"
#include "runtime/fetch.h"
#include "runtime/loop.h"

enum { COPY_MEMORY = 256 * MIB, COPY_FORMAT = 1, FOLDERS_OPEN = 16 };

static const struct {
    unsigned      part;
    const char   *name;
    copy_part_fn *out, *in;
} parts[] = {
    {STORE_COPY_TABLES, "tables", export_tables, import_tables},
    {STORE_COPY_BLOBS, "blobs", export_blobs, import_blobs},
    {STORE_COPY_QUEUES, "queues", export_queues, import_queues},
};

typedef struct {
    const store_copy_options *o;
    arena                    *a;
    copy_run                  run;
    int                       code;
} command;

static res copy_parts(task *t, copy_run *run)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((run->o->parts & parts[i].part) == 0)
            continue;
        res r = (run->o->import ? parts[i].in : parts[i].out)(t, run);
        if (r != RES_OK)
            return task_fail(t, r, "%s", parts[i].name);
    }
    return RES_OK;
}

/* ---- export ---- */

static res is_empty(task *t, const char *dir)
{
    str   *names;
    size_t count;
    TRY(copy_list(t, dir, "", &names, &count));
    if (count > 2) /* . and .. */
        return task_fail(t, RES_CONFIG, "'%s' is not empty, and holds no export that could be gone on with",
                         dir);
    return RES_OK;
}

static res begin_export(task *t, copy_run *run)
{
    const char *dir = run->o->dir;
    str         other;
    TRY(copy_make_dir(t, dir));
    if (copy_exists(copy_path(t, "%s/export.json", dir)))
        return task_fail(t, RES_CONFIG, "'%s' holds a whole export already: give another folder", dir);
    run->state_path = copy_path(t, "%s/state.json", dir);
    res r = copy_state_load(t, run, &other);
    if (r == RES_NOT_FOUND) {
        TRY(is_empty(t, dir));
        return copy_state_save(t, run, &(copy_place){0});
    }
    if (r == RES_CONFIG && task_message(t).len == 0)
        return task_fail(t, r, "'%s' holds an unfinished export of another store (%.*s)", dir,
                         STR_ARG(other));
    return r;
}

static res end_export(task *t, const copy_run *run)
{
    copy_file *f;
    json      *v = json_object(t->arena);
    json_set_int(v, "format", COPY_FORMAT);
    json_set_str(v, "store", run->store);
    TRY(copy_file_create(t, copy_path(t, "%s/export.json", run->o->dir), 0, &f));
    TRY(copy_file_write_line(t, f, json_print(t->arena, v)));
    TRY(copy_file_sync(t, f));
    TRY(copy_file_close(t, f));
    (void)unlink(run->state_path); /* left behind, it would be ignored: export.json is there */
    return RES_OK;
}

/* ---- import ---- */

static uint64_t all_bytes; /* nftw has no way to carry it */

static int add_size(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)path, (void)where;
    if (kind == FTW_F)
        all_bytes += (uint64_t)what->st_size;
    return 0;
}

static res check_format(task *t, const char *dir)
{
    copy_file      *f;
    const json_val *v;
    bool            end;
    buf             line;
    const char     *path = copy_path(t, "%s/export.json", dir);
    if (!copy_exists(path))
        return task_fail(t, RES_CONFIG, "'%s' holds no whole export: export.json is missing", dir);
    buf_init(&line, t->arena, 64 * KIB);
    TRY(copy_file_open(t, path, 0, &f));
    TRY(copy_file_read_line(t, f, &line, &end));
    if (json_parse(t->arena, buf_str(&line), &v, NULL) != RES_OK ||
        json_int(json_get(v, "format"), 0) != COPY_FORMAT)
        return task_fail(t, RES_CONFIG, "'%s' is not of format %d, the one that this version reads", path,
                         COPY_FORMAT);
    return copy_file_close(t, f);
}

static res begin_import(task *t, copy_run *run)
{
    str other;
    TRY(check_format(t, run->o->dir));
    run->state_path = copy_path(t, "%s/import.json", run->o->dir);
    res r = copy_state_load(t, run, &other);
    if (r == RES_NOT_FOUND || (r == RES_CONFIG && task_message(t).len == 0))
        r = RES_OK;                                            /* none, or of another store: from the start */
    (void)nftw(run->o->dir, add_size, FOLDERS_OPEN, FTW_PHYS); /* only for the bar */
    run->progress.total_bytes = all_bytes;
    return r;
}

/* ---- the command ---- */

static res copy_all(task *t, void *ctx)
{
    command  *c = ctx;
    copy_run *run = &c->run;
    copy_progress_begin(&run->progress, run->o->import ? "import" : "export", 0);
    TRY(run->o->import ? begin_import(t, run) : begin_export(t, run));
    if (run->resume.part.len > 0)
        (void)fprintf(stderr, "%s: going on with %.*s '%.*s'\n", run->progress.verb,
                      STR_ARG(run->resume.part), STR_ARG(run->resume.name));
    TRY(copy_parts(t, run));
    if (!run->o->import)
        return end_export(t, run);
    (void)unlink(run->state_path); /* left behind, the next import would begin at its end */
    return RES_OK;
}

static void copy_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    command *c = ctx;
    store_close();
    fetch_shutdown();
    if (result == RES_OK) {
        copy_progress_end(&c->run.progress);
        c->code = EXIT_SUCCESS;
        return;
    }
    log_drain(100);
    (void)fprintf(stderr, "%strestle: %s: %.*s\n", c->run.progress.terminal ? "\n" : "", c->run.progress.verb,
                  STR_ARG(message.len > 0 ? message : str_of(res_get(result)->text)));
}

static int fail(str why)
{
    (void)fprintf(stderr, "trestle: %.*s\n", STR_ARG(why));
    return EXIT_FAILURE;
}

static int run_command(command *c, const store_options *store)
{
    str error = STR("no event loop: out of memory or file descriptors");
    if (loop_open() != RES_OK)
        return fail(error);
    if (store_open(c->a, store, &error) != RES_OK)
        return fail(error);
    c->run.store = store_describe(c->a);
    task_spec spec = {.name = "store", .memory_bytes = COPY_MEMORY};
    if (task_start(&spec, copy_all, copy_ended, c, NULL) != RES_OK)
        return fail(STR("out of memory"));
    loop_run();
    loop_close();
    return c->code;
}

int store_copy_run(const store_options *store, const store_copy_options *o)
{
    command c = {.o = o, .a = arena_new(COPY_MEMORY), .run = {.o = o}, .code = EXIT_FAILURE};
    if (c.a == NULL)
        return fail(STR("out of memory"));
    (void)signal(SIGPIPE, SIG_IGN); /* a peer that left is an error of write, not the end of us */
    if (getenv("TRESTLE_LOG_LEVEL") == NULL)
        log_set_level(LOG_ERROR); /* its files hold up the loop, of which a server would be warned */
    int code = run_command(&c, store);
    log_drain(1000);
    arena_free(c.a);
    return code;
}
