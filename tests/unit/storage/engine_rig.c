/* engine_rig.c -- see engine_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/engine_rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MEMORY = 64 * MIB, TEXTS = 8, TEXT_BYTES = 200 };

static char dir[64];

typedef struct {
    task_fn            *fn;
    void               *ctx;
    engine_rig_outcome *out;
    size_t             *ended;
} one_run;

const char *engine_rig_dir(void)
{
    return dir;
}

void engine_rig_begin(void)
{
    (void)snprintf(dir, sizeof dir, "/tmp/trestle-rig-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

const char *engine_rig_textf(const char *fmt, ...)
{
    static char     texts[TEXTS][TEXT_BYTES];
    static unsigned next;
    char           *text = texts[next++ % TEXTS];
    va_list         args;
    va_start(args, fmt);
    (void)vsnprintf(text, TEXT_BYTES, fmt, args);
    va_end(args);
    return text;
}

const char *engine_rig_file(const char *name)
{
    return engine_rig_textf("%s/%s", dir, name);
}

void engine_rig_end(void)
{
    static const char *const files[] = {"trestle.db", "trestle.db-wal", "trestle.db-shm", "trestle.lock"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(engine_rig_file(files[i])); /* not all are there */
    ck_assert_int_eq(rmdir(dir), 0);
}

engine *engine_rig_open(void)
{
    char    error[ENGINE_RIG_MESSAGE] = "";
    engine *e = NULL;
    ck_assert_int_eq(loop_open(), RES_OK);
    res r = engine_open(dir, &e, error, sizeof error);
    ck_assert_msg(r == RES_OK, "%s", error);
    return e;
}

void engine_rig_close(engine *e)
{
    engine_close(e);
    loop_close();
}

engine_rig_outcome engine_rig_try_open(const char *where)
{
    engine_rig_outcome out = {.result = RES_COUNT};
    engine            *e = NULL;
    out.result = engine_open(where, &e, out.message, sizeof out.message);
    engine_close(e);
    return out;
}

static res run_one(task *t, void *ctx)
{
    one_run *r = ctx;
    return r->fn(t, r->ctx);
}

static void one_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    one_run *r = ctx;
    r->out->result = result;
    (void)snprintf(r->out->message, sizeof r->out->message, "%.*s", STR_ARG(message));
    (*r->ended)++;
}

void engine_rig_run_all(size_t n, task_fn *fn, void *ctxs, size_t ctx_bytes, engine_rig_outcome *ret)
{
    size_t    ended = 0;
    one_run  *runs = calloc(n, sizeof *runs);
    task_spec spec = {.name = "test", .memory_bytes = MEMORY};
    ck_assert_ptr_nonnull(runs);
    for (size_t i = 0; i < n; i++) {
        runs[i] = (one_run){.fn = fn, .ctx = (char *)ctxs + i * ctx_bytes, .out = &ret[i], .ended = &ended};
        ck_assert_int_eq(task_start(&spec, run_one, one_ended, &runs[i], NULL), RES_OK);
    }
    loop_run();
    free(runs);
    ck_assert_uint_eq(ended, n);
}

engine_rig_outcome engine_rig_run(task_fn *fn, void *ctx)
{
    engine_rig_outcome out;
    engine_rig_run_all(1, fn, ctx, 0, &out);
    return out;
}
