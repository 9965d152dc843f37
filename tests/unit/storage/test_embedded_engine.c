/* test_embedded_engine.c -- the file and its threads: what is committed together, refused, and survived.
 *
 * What becomes of it when the disk says no has a file of its own (engine_cases_faults.c).
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/engine.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "runtime/wait.h"
#include "unit/storage/engine_rig.h"
#include "unit/suites.h"

enum { MANY = 64 };

/* Jobs write numbers into table_names, which is there anyway. */
typedef struct {
    engine *e;
    int     n;
    res     answer; /* after its write */
    int64_t tick;
    int64_t count; /* of rows, when it reads */
} job;

static sem_t writer_held;

static res put_number(engine_conn *c, void *ctx, engine_outcome *out)
{
    job          *j = ctx;
    char          name[16];
    sqlite3_stmt *s = engine_prepare(c, "INSERT INTO table_names (fold, name) VALUES (?1, 'x')", out);
    ck_assert_ptr_nonnull(s);
    (void)snprintf(name, sizeof name, "t%d", j->n);
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_TRANSIENT);
    (void)engine_step(c, s, out);
    j->tick = engine_tick(c);
    return j->answer;
}

static res hold_writer(engine_conn *c, void *ctx, engine_outcome *out)
{
    while (sem_wait(&writer_held) != 0)
        continue;
    return put_number(c, ctx, out);
}

static res count_numbers(engine_conn *c, void *ctx, engine_outcome *out)
{
    job          *j = ctx;
    sqlite3_stmt *s = engine_prepare(c, "SELECT count(*) FROM table_names", out);
    ck_assert_ptr_nonnull(s);
    if (engine_step(c, s, out))
        j->count = sqlite3_column_int64(s, 0);
    return RES_OK;
}

static res write_task(task *t, void *ctx)
{
    job *j = ctx;
    return engine_write(t, j->e, put_number, j);
}

/* The first one keeps the writer busy until all others wait; so most of these are one batch. */
static res write_together(task *t, void *ctx)
{
    job *j = ctx;
    if (j->n == MANY - 1)
        (void)sem_post(&writer_held);
    return engine_write(t, j->e, j->n == 0 ? hold_writer : put_number, j);
}

static res read_task(task *t, void *ctx)
{
    job *j = ctx;
    return engine_read(t, j->e, count_numbers, j);
}

static int64_t count_rows(engine *e)
{
    job j = {.e = e, .count = -1};
    ck_assert_int_eq(engine_rig_run(read_task, &j).result, RES_OK);
    return j.count;
}

static int64_t commits(void)
{
    static const char *const classes[] = {"jobs=\"1\"", "jobs=\"2-7\"", "jobs=\"8-31\"", "jobs=\"32-\""};
    int64_t                  sum = 0;
    for (size_t i = 0; i < 4; i++)
        sum += metrics_value(metrics_counter("trestle_embedded_commits_total", classes[i], ""));
    return sum;
}

static void fill(job *jobs, engine *e)
{
    for (int i = 0; i < MANY; i++)
        jobs[i] = (job){.e = e, .n = i};
}

/* ---- commits ---- */

START_TEST(writes_that_wait_together_are_one_commit)
{
    static job                jobs[MANY];
    static engine_rig_outcome out[MANY];
    engine                   *e = engine_rig_open();
    ck_assert_int_eq(sem_init(&writer_held, 0, 0), 0);
    fill(jobs, e);
    int64_t before = commits();
    engine_rig_run_all(MANY, write_together, jobs, sizeof *jobs, out);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(out[i].result, RES_OK);
    ck_assert_int_le(commits() - before, 3); /* the one that held it, and the rest; the last may come late */
    ck_assert_int_eq(count_rows(e), MANY);
    engine_rig_close(e);
}
END_TEST

START_TEST(a_write_that_fails_is_undone_and_the_others_of_its_batch_are_not)
{
    static job                jobs[MANY];
    static engine_rig_outcome out[MANY];
    engine                   *e = engine_rig_open();
    ck_assert_int_eq(sem_init(&writer_held, 0, 0), 0);
    fill(jobs, e);
    for (int i = 3; i < MANY; i += 4)
        jobs[i].answer = RES_PRECONDITION; /* after its row was written */
    engine_rig_run_all(MANY, write_together, jobs, sizeof *jobs, out);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(out[i].result, i % 4 == 3 ? RES_PRECONDITION : RES_OK);
    ck_assert_int_eq(count_rows(e), MANY * 3 / 4);
    engine_rig_close(e);
}
END_TEST

START_TEST(a_failed_step_is_the_result_whatever_the_job_says)
{
    engine *e = engine_rig_open();
    job     twice[2] = {{.e = e, .n = 1}, {.e = e, .n = 1}};
    ck_assert_int_eq(engine_rig_run(write_task, &twice[0]).result, RES_OK);
    engine_rig_outcome second = engine_rig_run(write_task, &twice[1]);
    ck_assert_int_eq(second.result, RES_CONFLICT);
    ck_assert_ptr_nonnull(strstr(second.message, "exists already"));
    ck_assert_int_eq(count_rows(e), 1);
    engine_rig_close(e);
}
END_TEST

static res write_by_reading(task *t, void *ctx)
{
    job *j = ctx;
    return engine_read(t, j->e, put_number, j);
}

START_TEST(a_read_cannot_write)
{
    engine *e = engine_rig_open();
    job     j = {.e = e};
    ck_assert_int_eq(engine_rig_run(write_by_reading, &j).result, RES_UNAVAILABLE);
    ck_assert_int_eq(count_rows(e), 0);
    engine_rig_close(e);
}
END_TEST

START_TEST(what_was_acknowledged_is_there_after_reopening)
{
    engine *e = engine_rig_open();
    for (int i = 0; i < 10; i++) {
        job j = {.e = e, .n = i};
        ck_assert_int_eq(engine_rig_run(write_task, &j).result, RES_OK);
        ck_assert_int_eq(count_rows(e), i + 1); /* and is seen by the next read */
    }
    engine_rig_close(e);
    e = engine_rig_open();
    ck_assert_int_eq(count_rows(e), 10);
    engine_rig_close(e);
}
END_TEST

START_TEST(ticks_grow_also_when_the_clock_goes_back_over_a_restart)
{
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        clock_set_for_test(2000000000000000 - i * 1000000000000, 5);
        engine *e = engine_rig_open();
        for (int k = 0; k < 3; k++) {
            job j = {.e = e, .n = i * 3 + k};
            ck_assert_int_eq(engine_rig_run(write_task, &j).result, RES_OK);
            ck_assert_int_gt(j.tick, last);
            last = j.tick;
        }
        engine_rig_close(e);
    }
    ck_assert_int_eq(last, 20000000000000000 + 8);
    clock_unset_for_test();
}
END_TEST

/* ---- what is refused at the door ---- */

START_TEST(a_second_open_of_a_directory_is_refused_and_names_the_owner)
{
    const char        *dir = engine_rig_dir();
    engine            *e = engine_rig_open();
    engine_rig_outcome second = engine_rig_try_open(dir);
    ck_assert_int_eq(second.result, RES_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(second.message, dir));
    ck_assert_ptr_nonnull(strstr(second.message, engine_rig_textf("(pid %ld)", (long)getpid())));
    engine_rig_close(e);
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(engine_rig_try_open(dir).result, RES_OK);
    loop_close();
}
END_TEST

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(engine_rig_file("trestle.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static const struct {
    const char *sql; /* NULL: no SQLite file at all */
    const char *words;
} foreigners[] = {
    {NULL, "not a store of Trestle"},
    {"CREATE TABLE theirs (n)", "another program"},
    {"PRAGMA application_id=7", "another program"},
    {"PRAGMA user_version=1", "another program"},
    {"PRAGMA application_id=1414681428; PRAGMA user_version=2", "newer Trestle (schema 2, this one knows 1)"},
};

START_TEST(a_foreign_or_newer_file_is_refused_and_left_as_it_is)
{
    const char *dir = engine_rig_dir();
    const char *sql = foreigners[_i].sql;
    struct stat before, after;
    if (sql == NULL)
        write_text(engine_rig_file("trestle.db"),
                   "Dear diary, this is far from being a database. Not at all!\n");
    else
        run_sql(sql);
    ck_assert_int_eq(stat(engine_rig_file("trestle.db"), &before), 0);
    ck_assert_int_eq(loop_open(), RES_OK);
    engine_rig_outcome got = engine_rig_try_open(dir);
    ck_assert_int_eq(got.result, RES_CONFIG);
    ck_assert_msg(strstr(got.message, foreigners[_i].words) != NULL, "%s", got.message);
    ck_assert_int_eq(stat(engine_rig_file("trestle.db"), &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    loop_close();
}
END_TEST

START_TEST(a_directory_is_made_with_those_above_it)
{
    const char *dir = engine_rig_dir();
    const char *deep = engine_rig_textf("%s/a/b", dir);
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(engine_rig_try_open(deep).result, RES_OK);
    loop_close();
    (void)unlink(engine_rig_textf("%s/trestle.db", deep));
    (void)unlink(engine_rig_textf("%s/trestle.lock", deep));
    ck_assert_int_eq(rmdir(deep), 0);
    ck_assert_int_eq(rmdir(engine_rig_textf("%s/a", dir)), 0);
}
END_TEST

START_TEST(a_file_where_the_directory_should_be_is_named)
{
    const char *path = engine_rig_file("trestle.lock");
    write_text(path, "");
    ck_assert_int_eq(loop_open(), RES_OK);
    engine_rig_outcome got = engine_rig_try_open(path);
    ck_assert_int_eq(got.result, RES_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(got.message, path));
    loop_close();
}
END_TEST

/* ---- chores ---- */

static int pieces;

static bool three_pieces(engine_conn *c, engine_outcome *out)
{
    (void)c;
    (void)out;
    return ++pieces < 3;
}

START_TEST(a_chore_is_done_in_pieces_until_nothing_is_left)
{
    engine *e = engine_rig_open();
    pieces = 0;
    engine_add_chore(e, three_pieces);
    for (int i = 0; i < 6; i++) {
        job j = {.e = e, .n = i};
        ck_assert_int_eq(engine_rig_run(write_task, &j).result, RES_OK);
        ck_assert_int_eq(pieces, i < 3 ? i + 1 : 3);
    }
    engine_rig_close(e);
}
END_TEST

/* ---- tasks that stop ---- */

START_TEST(a_cancelled_write_returns_the_reason_and_is_whole_or_not_at_all)
{
    engine *e = engine_rig_open();
    for (int i = 0; i < 20; i++) {
        job j = {.e = e, .n = i};
        wait_cancel_at(1, RES_GONE);
        ck_assert_int_eq(engine_rig_run(write_task, &j).result, RES_GONE);
        ck_assert(!wait_cancel_pending());
    }
    int64_t rows = count_rows(e);
    ck_assert_int_ge(rows, 0);
    ck_assert_int_le(rows, 20);
    job after = {.e = e, .n = 100};
    ck_assert_int_eq(engine_rig_run(write_task, &after).result, RES_OK);
    ck_assert_int_eq(count_rows(e), rows + 1);
    engine_rig_close(e);
}
END_TEST

static res take_bufs(task *t, void *ctx)
{
    (void)ctx;
    for (int i = 0; i < 3; i++)
        (void)buf_add(engine_buf(t, KIB), STR("heap"));
    return RES_OK;
}

START_TEST(a_heap_buffer_ends_with_the_task_at_every_failing_allocation)
{
    engine *e = engine_rig_open();
    for (long nth = 1;; nth++) {
        arena_fail_at(nth);
        res r = engine_rig_run(take_bufs, NULL).result;
        arena_fail_at(0);
        if (r == RES_OK)
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert_int_lt(nth, 50);
    }
    engine_rig_close(e);
}
END_TEST

Suite *suite_embedded_engine(void)
{
    Suite *s = suite_create("embedded_engine");
    TCase *c = tcase_create("engine");
    tcase_add_checked_fixture(c, engine_rig_begin, engine_rig_end);
    tcase_add_test(c, writes_that_wait_together_are_one_commit);
    tcase_add_test(c, a_write_that_fails_is_undone_and_the_others_of_its_batch_are_not);
    tcase_add_test(c, a_failed_step_is_the_result_whatever_the_job_says);
    tcase_add_test(c, a_read_cannot_write);
    tcase_add_test(c, what_was_acknowledged_is_there_after_reopening);
    tcase_add_test(c, ticks_grow_also_when_the_clock_goes_back_over_a_restart);
    tcase_add_test(c, a_second_open_of_a_directory_is_refused_and_names_the_owner);
    tcase_add_loop_test(c, a_foreign_or_newer_file_is_refused_and_left_as_it_is, 0,
                        sizeof foreigners / sizeof *foreigners);
    tcase_add_test(c, a_directory_is_made_with_those_above_it);
    tcase_add_test(c, a_file_where_the_directory_should_be_is_named);
    tcase_add_test(c, a_chore_is_done_in_pieces_until_nothing_is_left);
    tcase_add_test(c, a_cancelled_write_returns_the_reason_and_is_whole_or_not_at_all);
    tcase_add_test(c, a_heap_buffer_ends_with_the_task_at_every_failing_allocation);
    suite_add_tcase(s, c);
    suite_add_tcase(s, engine_cases_faults());
    return s;
}
