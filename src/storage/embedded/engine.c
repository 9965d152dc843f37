/* engine.c -- see engine.h.
 *
 * A batch of writes is one transaction:
 *
 *     BEGIN IMMEDIATE
 *       SAVEPOINT job   the job's own statements   RELEASE job          (failed: ROLLBACK TO job first)
 *       … all jobs that waited when the writer was free …
 *       a piece of the chores; the last tick
 *     COMMIT            and only now may any of these tasks go on
 *
 * Some failures (a full disk) make SQLite roll back the whole transaction by itself. Then all jobs up to that
 * one have failed, and the rest of the batch gets a transaction of its own: there may be room for those.
 *
 * The log (WAL) is written back every CHECKPOINT_PAGES, as far as readers allow. When readers overlap for so
 * long that it never begins anew, the writer waits for them once, so that its length has a bound.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/metrics.h"
#include "runtime/worker.h"
#include "storage/embedded/conn.h"
#include "storage/embedded/file.h"
#include "storage/embedded/schema.h"

enum {
    READERS = 2,
    READ_BATCH_MAX = 32,
    QUEUE_MAX = 20000,
    CHECKPOINT_PAGES = 4000,
    CHECKPOINT_FORCED_PAGES = 16000,
    BATCH_CLASSES = 4,
};

static const char begin_read[] = "BEGIN", begin_write[] = "BEGIN IMMEDIATE", commit[] = "COMMIT",
                  savepoint[] = "SAVEPOINT job", release[] = "RELEASE job", undo[] = "ROLLBACK TO job",
                  save_tick[] = "UPDATE ticks SET last = ?1";

struct engine {
    int         lock_fd;
    engine_conn writer, readers[READERS];
    worker     *write_worker, *read_worker;
    metric     *commits[BATCH_CLASSES], *writes, *reads, *failed, *seconds, *wal;
};

typedef struct {
    engine_fn     *fn;
    void          *job;
    engine_outcome out;
} call;

/* ---- reads ---- */

static void run_fn(engine_conn *c, call *job)
{
    res r = job->fn(c, job->job, &job->out);
    if (job->out.result == RES_OK) /* a failed step tells more than what was made of it */
        job->out.result = r;
    conn_end_job(c);
}

static void run_reads(void *ctx, unsigned thread, void *const *jobs, size_t count)
{
    engine        *e = ctx;
    engine_conn   *c = &e->readers[thread];
    engine_outcome whole = {.result = RES_OK};
    bool           begun = conn_control(c, begin_read, &whole);
    for (size_t i = 0; i < count; i++) {
        call *job = jobs[i];
        if (begun)
            run_fn(c, job);
        else
            job->out = whole;
    }
    if (begun && !conn_control(c, commit, &whole)) /* nothing was written: what was read stands */
        conn_roll_back(c);
    metrics_add(e->reads, (int64_t)count);
}

/* ---- writes ---- */

/* In a savepoint of its own. A failure to undo leaves nothing to rely on: the transaction is given up. */
static void run_write(engine_conn *c, call *job)
{
    if (!conn_control(c, savepoint, &job->out))
        return;
    run_fn(c, job);
    if (!conn_in_transaction(c))
        return;
    engine_outcome ended = {.result = RES_OK};
    if ((job->out.result == RES_OK || conn_control(c, undo, &ended)) && conn_control(c, release, &ended))
        return;
    job->out = ended;
    conn_roll_back(c);
}

static bool run_chores(engine_conn *c, engine_outcome *whole)
{
    for (size_t i = 0; i < c->chore_count; i++) {
        if (!c->chore_waits[i])
            continue;
        engine_outcome out = {.result = RES_OK};
        if (!conn_control(c, savepoint, whole))
            return false;
        c->chore_waits[i] = c->chores[i](c, &out);
        conn_end_job(c);
        if (!conn_in_transaction(c)) {
            *whole = out;
            return false;
        }
        if ((out.result != RES_OK && !conn_control(c, undo, whole)) || !conn_control(c, release, whole))
            return false;
    }
    return true;
}

static bool store_tick(engine_conn *c, engine_outcome *whole)
{
    if (c->last_tick == c->stored_tick)
        return true;
    sqlite3_stmt *s = engine_prepare(c, save_tick, whole);
    if (s != NULL) {
        (void)sqlite3_bind_int64(s, 1, c->last_tick);
        (void)engine_step(c, s, whole);
    }
    conn_end_job(c);
    return whole->result == RES_OK;
}

static void fail_all(void *const *jobs, size_t count, const engine_outcome *why)
{
    for (size_t i = 0; i < count; i++) {
        call *job = jobs[i];
        if (job->out.result == RES_OK)
            job->out = *why;
    }
}

/* One transaction; returns how many of the jobs it has settled, at least one. */
static size_t run_transaction(engine *e, void *const *jobs, size_t count)
{
    engine_conn   *c = &e->writer;
    engine_outcome whole = {.result = RES_OK};
    size_t         done = 0;

    if (!conn_control(c, begin_write, &whole)) {
        fail_all(jobs, count, &whole);
        return count;
    }
    while (done < count && conn_in_transaction(c))
        run_write(c, jobs[done++]);
    if (!conn_in_transaction(c)) {
        call *last = jobs[done - 1];
        fail_all(jobs, done, &last->out);
        metrics_add(e->failed, 1);
        return done;
    }
    if (run_chores(c, &whole) && store_tick(c, &whole) && conn_control(c, commit, &whole)) {
        c->stored_tick = c->last_tick;
        return done;
    }
    conn_roll_back(c);
    fail_all(jobs, done, &whole);
    metrics_add(e->failed, 1);
    return done;
}

static int on_commit(void *ctx, sqlite3 *db, const char *name, int wal_pages)
{
    (void)db;
    (void)name;
    engine_conn *c = ctx;
    if (wal_pages < c->wal_pages)
        c->checkpoint_at = CHECKPOINT_PAGES; /* the log has begun anew */
    c->wal_pages = wal_pages;
    return SQLITE_OK;
}

/* A checkpoint that fails or cannot finish is tried again CHECKPOINT_PAGES later: nothing is lost by it. */
static void checkpoint(engine *e)
{
    engine_conn *c = &e->writer;
    metrics_set(e->wal, c->wal_pages);
    if (c->wal_pages < c->checkpoint_at)
        return;
    int mode = c->wal_pages < CHECKPOINT_FORCED_PAGES ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
    c->checkpoint_at = c->wal_pages + CHECKPOINT_PAGES;
    int code = sqlite3_wal_checkpoint_v2(c->db, NULL, mode, NULL, NULL);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        log_warn("embedded store: the log could not be written back: %s", file_words(code));
}

static size_t batch_class(size_t count)
{
    return count < 2 ? 0 : count < 8 ? 1 : count < 32 ? 2 : 3;
}

static void run_writes(void *ctx, unsigned thread, void *const *jobs, size_t count)
{
    (void)thread;
    engine  *e = ctx;
    uint64_t begun_us = clock_mono_us();
    for (size_t done = 0; done < count;)
        done += run_transaction(e, jobs + done, count - done);
    metrics_observe_us(e->seconds, clock_mono_us() - begun_us);
    metrics_add(e->commits[batch_class(count)], 1);
    metrics_add(e->writes, (int64_t)count);
    checkpoint(e);
}

void engine_add_chore(engine *e, engine_chore *fn)
{
    engine_conn *c = &e->writer;
    if (c->chore_count == CHORES_MAX)
        abort(); /* the list is in open.c, and as long as it is */
    c->chores[c->chore_count] = fn;
    c->chore_waits[c->chore_count++] = true;
}

/* ---- tasks ---- */

static res run_in(task *t, worker *w, engine_fn *fn, void *job)
{
    call c;
    c.fn = fn;
    c.job = job;
    c.out.result = RES_OK;
    c.out.why[0] = '\0';
    TRY(worker_do(t, w, &c));
    if (c.out.result != RES_OK && c.out.why[0] != '\0')
        return task_fail(t, c.out.result, "%s", c.out.why);
    return c.out.result;
}

res engine_read(task *t, engine *e, engine_fn *fn, void *job)
{
    return run_in(t, e->read_worker, fn, job);
}

res engine_write(task *t, engine *e, engine_fn *fn, void *job)
{
    return run_in(t, e->write_worker, fn, job);
}

static void drop_buf(void *arg)
{
    buf_free(arg);
}

buf *engine_buf(task *t, size_t max_bytes)
{
    buf *b = arena_one(t->arena, buf);
    buf_init(b, NULL, max_bytes);
    (void)arena_defer(t->arena, drop_buf, b); /* in a task it never fails */
    return b;
}

/* ---- open and close ---- */

static void name_metrics(engine *e)
{
    static const char *const classes[BATCH_CLASSES] = {"jobs=\"1\"", "jobs=\"2-7\"", "jobs=\"8-31\"",
                                                       "jobs=\"32-\""};
    for (size_t i = 0; i < BATCH_CLASSES; i++)
        e->commits[i] = metrics_counter("trestle_embedded_commits_total", classes[i],
                                        "Transactions of the embedded store by how many writes they had");
    e->writes = metrics_counter("trestle_embedded_writes_total", "", "Writes to the embedded store");
    e->reads = metrics_counter("trestle_embedded_reads_total", "", "Reads from the embedded store");
    e->failed =
        metrics_counter("trestle_embedded_failed_commits_total", "", "Transactions that came to nothing");
    e->seconds = metrics_histogram("trestle_embedded_commit_seconds", "", "Time of a transaction, on disk");
    e->wal = metrics_gauge("trestle_embedded_wal_pages", "", "Pages of 4 KiB that wait in the log");
}

static res open_connections(engine *e, const char *dir, char *error, size_t error_size)
{
    engine_conn *w = &e->writer;
    res          r = file_connect(dir, FILE_WRITER, &w->db, error, error_size);
    if (r == RES_OK)
        r = schema_apply(w->db, &w->last_tick, error, error_size);
    for (size_t i = 0; r == RES_OK && i < READERS; i++)
        r = file_connect(dir, FILE_READER, &e->readers[i].db, error, error_size);
    if (r != RES_OK)
        return r;
    w->stored_tick = w->last_tick;
    w->checkpoint_at = CHECKPOINT_PAGES;
    (void)sqlite3_wal_hook(w->db, on_commit, w);
    return RES_OK;
}

static bool open_workers(engine *e)
{
    worker_options write = {.name = "store-write",
                            .threads = 1,
                            .batch_max = WORKER_BATCH_MAX,
                            .queue_max = QUEUE_MAX,
                            .run = run_writes,
                            .ctx = e};
    worker_options read = {.name = "store-read",
                           .threads = READERS,
                           .batch_max = READ_BATCH_MAX,
                           .queue_max = QUEUE_MAX,
                           .run = run_reads,
                           .ctx = e};
    e->write_worker = worker_new(&write);
    e->read_worker = e->write_worker != NULL ? worker_new(&read) : NULL;
    return e->read_worker != NULL;
}

res engine_open(const char *dir, engine **ret, char *error, size_t error_size)
{
    engine *e = calloc(1, sizeof *e);
    if (e == NULL) {
        (void)snprintf(error, error_size, "data directory '%s': out of memory", dir);
        return RES_UNAVAILABLE;
    }
    e->lock_fd = -1;
    name_metrics(e);
    res r = file_lock(dir, &e->lock_fd, error, error_size);
    if (r == RES_OK)
        r = open_connections(e, dir, error, error_size);
    if (r == RES_OK && !open_workers(e)) {
        (void)snprintf(error, error_size, "data directory '%s': no threads for it", dir);
        r = RES_UNAVAILABLE;
    }
    if (r != RES_OK) {
        engine_close(e);
        return r;
    }
    *ret = e;
    return RES_OK;
}

void engine_close(engine *e)
{
    if (e == NULL)
        return;
    worker_free(e->read_worker);
    worker_free(e->write_worker);
    for (size_t i = 0; i < READERS; i++)
        conn_close(&e->readers[i]);
    conn_close(&e->writer); /* the last one: it writes the log back and removes it */
    file_unlock(e->lock_fd);
    free(e);
}
