/* engine_cases_faults.c -- the embedded engine when the disk says no, bytes are damaged, or much is written.
 *
 * A limit on the size of files stands for the full disk: to SQLite both are a write that fails.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/storage/engine_rig.h"

enum { MANY = 64, FAT = 30, PAGE = 4096, WAL_MAX_BYTES = 48 * MIB };

typedef struct {
    engine *e;
    int     n;
    size_t  bytes;
    int64_t count; /* of rows, when it reads */
} job;

static sem_t writer_held;

static res put_row(engine_conn *c, void *ctx, engine_outcome *out)
{
    job          *j = ctx;
    sqlite3_stmt *s =
        engine_prepare(c, "INSERT INTO entities VALUES (1, CAST(?1 AS BLOB), X'', 0, zeroblob(?2))", out);
    ck_assert_ptr_nonnull(s);
    (void)sqlite3_bind_int(s, 1, j->n);
    (void)sqlite3_bind_int64(s, 2, (int64_t)j->bytes);
    (void)engine_step(c, s, out);
    return RES_OK;
}

static res put_row_later(engine_conn *c, void *ctx, engine_outcome *out)
{
    while (sem_wait(&writer_held) != 0)
        continue;
    return put_row(c, ctx, out);
}

static res write_task(task *t, void *ctx)
{
    job *j = ctx;
    return engine_write(t, j->e, put_row, j);
}

/* The first one keeps the writer busy until all others wait; so most of these are one batch. */
static res write_together(task *t, void *ctx)
{
    job *j = ctx;
    if (j->n == MANY - 1)
        (void)sem_post(&writer_held);
    return engine_write(t, j->e, j->n == 0 ? put_row_later : put_row, j);
}

static res read_count(engine_conn *c, void *ctx, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT count(*) FROM entities", out);
    if (s != NULL && engine_step(c, s, out))
        ((job *)ctx)->count = sqlite3_column_int64(s, 0);
    return RES_OK;
}

static res read_task(task *t, void *ctx)
{
    job *j = ctx;
    return engine_read(t, j->e, read_count, j);
}

static int64_t count_rows(engine *e)
{
    job j = {.e = e, .count = -1};
    ck_assert_int_eq(engine_rig_run(read_task, &j).result, RES_OK);
    return j.count;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(when_the_disk_says_no_writes_fail_clearly_and_later_ones_succeed)
{
    engine *e = engine_rig_open();
    job     small = {.e = e, .n = 1}, fat = {.e = e, .n = 2, .bytes = 8 * MIB};
    limit_files(MIB);
    engine_rig_outcome got = engine_rig_run(write_task, &fat);
    ck_assert_int_eq(got.result, RES_UNAVAILABLE);
    ck_assert_msg(strstr(got.message, "disk") != NULL, "%s", got.message);
    ck_assert_int_eq(count_rows(e), 0); /* reads go on */
    ck_assert_int_eq(engine_rig_run(write_task, &small).result, RES_OK);
    limit_files(RLIM_INFINITY);
    ck_assert_int_eq(engine_rig_run(write_task, &fat).result, RES_OK);
    engine_rig_close(e);
    e = engine_rig_open();
    ck_assert_int_eq(count_rows(e), 2);
    engine_rig_close(e);
}
END_TEST

static int64_t write_all_together(engine *e, size_t bytes, size_t fat_bytes, engine_rig_outcome *out)
{
    static job jobs[MANY];
    int64_t    acknowledged = 0;
    ck_assert_int_eq(sem_init(&writer_held, 0, 0), 0);
    for (int i = 0; i < MANY; i++)
        jobs[i] = (job){.e = e, .n = i, .bytes = i == FAT ? fat_bytes : bytes};
    limit_files(MIB);
    engine_rig_run_all(MANY, write_together, jobs, sizeof *jobs, out);
    limit_files(RLIM_INFINITY);
    for (int i = 0; i < MANY; i++) {
        ck_assert(out[i].result == RES_OK || out[i].result == RES_UNAVAILABLE);
        acknowledged += out[i].result == RES_OK;
    }
    return acknowledged;
}

START_TEST(when_the_common_commit_fails_none_of_its_writes_is_acknowledged)
{
    static engine_rig_outcome out[MANY];
    engine                   *e = engine_rig_open();
    int64_t acknowledged = write_all_together(e, 20 * KIB, 20 * KIB, out); /* they fit into the cache */
    ck_assert_int_lt(acknowledged, MANY); /* how many came before the batch that fails is up to the threads */
    ck_assert_int_eq(count_rows(e), acknowledged);
    engine_rig_close(e);
}
END_TEST

/* The large one makes SQLite write early and, failing, undo the whole transaction. */
START_TEST(a_transaction_that_is_lost_midway_fails_those_before_and_not_those_after)
{
    static engine_rig_outcome out[MANY];
    engine                   *e = engine_rig_open();
    int64_t                   acknowledged = write_all_together(e, 100, 8 * MIB, out);
    ck_assert_int_eq(out[FAT].result, RES_UNAVAILABLE);
    ck_assert_int_eq(out[FAT + 1].result, RES_OK);
    ck_assert_int_eq(count_rows(e), acknowledged);
    engine_rig_close(e);
}
END_TEST

START_TEST(a_damaged_file_gives_a_clear_failure_and_no_more)
{
    struct stat st;
    char        rubbish[PAGE];
    engine     *e = engine_rig_open();
    job         fat = {.e = e, .bytes = MIB};
    ck_assert_int_eq(engine_rig_run(write_task, &fat).result, RES_OK);
    engine_rig_close(e);

    memset(rubbish, 0x5a, sizeof rubbish);
    ck_assert_int_eq(stat(engine_rig_file("trestle.db"), &st), 0);
    int fd = open(engine_rig_file("trestle.db"), O_WRONLY | O_CLOEXEC);
    for (off_t at = PAGE; at < st.st_size; at += PAGE) /* the first page says what the file is */
        ck_assert_int_eq(pwrite(fd, rubbish, sizeof rubbish, at), sizeof rubbish);
    (void)close(fd);

    ck_assert_int_eq(loop_open(), RES_OK);
    engine_rig_outcome got = engine_rig_try_open(engine_rig_dir());
    ck_assert_int_eq(got.result, RES_UNAVAILABLE);
    ck_assert_msg(strstr(got.message, "damaged") != NULL, "%s", got.message);
    loop_close();
}
END_TEST

START_TEST(the_log_has_a_bound_however_much_is_written)
{
    engine *e = engine_rig_open();
    off_t   largest = 0;
    for (int i = 0; i < 30; i++) {
        struct stat st;
        job         fat = {.e = e, .n = i, .bytes = 4 * MIB};
        ck_assert_int_eq(engine_rig_run(write_task, &fat).result, RES_OK);
        ck_assert_int_eq(stat(engine_rig_file("trestle.db-wal"), &st), 0);
        largest = st.st_size > largest ? st.st_size : largest;
    }
    ck_assert_int_le(largest, WAL_MAX_BYTES);
    engine_rig_close(e);
}
END_TEST

TCase *engine_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, engine_rig_begin, engine_rig_end);
    tcase_add_test(c, when_the_disk_says_no_writes_fail_clearly_and_later_ones_succeed);
    tcase_add_test(c, when_the_common_commit_fails_none_of_its_writes_is_acknowledged);
    tcase_add_test(c, a_transaction_that_is_lost_midway_fails_those_before_and_not_those_after);
    tcase_add_test(c, a_damaged_file_gives_a_clear_failure_and_no_more);
    tcase_add_test(c, the_log_has_a_bound_however_much_is_written);
    return c;
}
