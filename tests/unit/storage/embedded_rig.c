/* embedded_rig.c -- see embedded_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/storage/embedded_rig.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "runtime/wait.h"
#include "storage/embedded/schema.h"

enum { RIG_MEMORY = 64 * MIB };

int embedded_rig_case;

static char dir[64];

typedef struct {
    rig_res_fn      *fn;
    embedded_rig_fn *body;
    engine          *e;
    long             fail_alloc, cancel_wait;
    bool             pending;
    res              result;
    char             message[512];
} visit;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void embedded_rig_before(void)
{
    log_set_level(LOG_ERROR); /* slow disks are not the subject of any test here */
    (void)snprintf(dir, sizeof dir, "/tmp/trestle-embedded-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

void embedded_rig_after(void)
{
    ck_assert_int_eq(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static res enter(task *t, void *ctx)
{
    visit *v = ctx;
    if (v->body != NULL) {
        v->body(t, v->e);
        return RES_OK;
    }
    arena_fail_at(v->fail_alloc);
    wait_cancel_at(v->cancel_wait, v->cancel_wait > 0 ? RES_GONE : RES_OK);
    return v->fn(t, v->e);
}

static void leave(task *t, void *ctx, res result, str message)
{
    (void)t;
    visit *v = ctx;
    v->pending = arena_fail_pending() || wait_cancel_pending();
    arena_fail_at(0);
    wait_cancel_at(0, RES_OK);
    v->result = result;
    (void)snprintf(v->message, sizeof v->message, "%.*s", STR_ARG(message));
}

static void run(visit *v)
{
    char error[512] = "";
    v->result = RES_COUNT;
    ck_assert_int_eq(loop_open(), RES_OK);
    res r = engine_open(dir, &v->e, error, sizeof error);
    ck_assert_msg(r == RES_OK, "%s", error);
    engine_add_chore(v->e, blobs_chore);
    engine_add_chore(v->e, queues_chore);
    task_spec spec = {.name = "test", .memory_bytes = RIG_MEMORY};
    ck_assert_int_eq(task_start(&spec, enter, leave, v, NULL), RES_OK);
    loop_run();
    engine_close(v->e);
    loop_close();
}

void embedded_rig_run(embedded_rig_fn *fn)
{
    visit v = {.body = fn};
    run(&v);
    ck_assert_msg(v.result == RES_OK, "%s: %s", res_name(v.result), v.message);
}

res embedded_rig_try(rig_res_fn *fn, long fail_alloc, long cancel_wait, bool *ret_pending)
{
    visit v = {.fn = fn, .fail_alloc = fail_alloc, .cancel_wait = cancel_wait};
    run(&v);
    if (ret_pending != NULL)
        *ret_pending = v.pending;
    return v.result;
}

typedef struct {
    const char *sql;
    int64_t     number;
} number_job;

static res read_number(engine_conn *c, void *ctx, engine_outcome *out)
{
    number_job   *job = ctx;
    sqlite3_stmt *s = engine_prepare(c, job->sql, out);
    if (s != NULL && engine_step(c, s, out))
        job->number = sqlite3_column_int64(s, 0);
    return out->result;
}

int64_t embedded_rig_number(task *t, engine *e, const char *sql)
{
    number_job job = {.sql = sql, .number = -1};
    ck_assert_int_eq(engine_read(t, e, read_number, &job), RES_OK);
    return job.number;
}

void embedded_rig_settle(task *t, engine *e)
{
    static const char dead[] = "SELECT (SELECT COUNT(*) FROM blob_dead) + (SELECT COUNT(*) FROM"
                               " containers_dead) + (SELECT COUNT(*) FROM queues_dead)";
    for (int i = 0; embedded_rig_number(t, e, dead) > 0; i++) {
        ck_assert_int_lt(i, 1000);
        res r = embedded_queues.create(e, t, STR("settle"));
        ck_assert(r == RES_OK || r == RES_CONFLICT);
        task_forget(t);
    }
}
