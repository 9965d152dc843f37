/* test_crash.c -- kill -9 in the middle of 64 writers: what was acknowledged is there, and nothing is there
 * by half.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/id.h"
#include "live/crash.h"
#include "live/live.h"
#include "support/process.h"

enum { KILLS = 50, LIVES_MAX_MS = 120, FIRST_WORD_MS = 60 * 1000 };

typedef struct {
    int64_t said[CRASH_WRITERS]; /* acknowledged, over all lives */
    size_t  lines;
} witness;

/* ---- one life ---- */

static void take_words(witness *w, str text)
{
    str line;
    while (str_has(text, STR("\n")) && str_next_field(&text, '\n', &line)) { /* whole lines alone */
        str      writer = {0};
        uint64_t n = 0, count = 0;
        ck_assert(str_next_field(&line, ' ', &writer) && str_to_u64(writer, &n) && n < CRASH_WRITERS);
        ck_assert(str_to_u64(line, &count));
        ck_assert_int_gt((int64_t)count, w->said[n]);
        w->said[n] = (int64_t)count;
        w->lines++;
    }
}

static void live_and_die(witness *w, unsigned ms)
{
    process *p = process_start(
        &(process_spec){.args = (const char *const[]){getenv("TRESTLE_CRASH_WRITER"), live_dir(), NULL}});
    ck_assert_msg(process_says(p, "\n", FIRST_WORD_MS), "the writer says nothing");
    for (uint64_t until = process_now_ms() + ms; process_now_ms() < until;)
        process_pause();
    ck_assert_msg(process_alive(p), "it ended by itself: %.*s", STR_ARG(process_err(p)));
    process_end(p);
    take_words(w, process_out(p)); /* a file in memory: it outlives the kill */
}

/* ---- afterwards ---- */

static int64_t stored(task *t, size_t writer, const char *row)
{
    entity e;
    res    r = tables_get(t, (table){.name = STR(CRASH_TABLE)}, arena_strf(t->arena, "w%zu", writer),
                          str_of(row), &e);
    task_forget(t);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND);
    return r == RES_OK ? entity_int(&e, "count", -1) : 0;
}

static res look_at_all(task *t, void *ctx)
{
    witness *w = ctx;
    for (size_t n = 0; n < CRASH_WRITERS; n++) {
        int64_t single = stored(t, n, "single"), a = stored(t, n, "a"), b = stored(t, n, "b"),
                c = stored(t, n, "c"), most = single > a ? single : a;
        ck_assert_msg(a == b && b == c, "writer %zu: half a transaction: %lld %lld %lld", n, (long long)a,
                      (long long)b, (long long)c);
        ck_assert_msg(most >= w->said[n], "writer %zu: acknowledged %lld, stored %lld", n,
                      (long long)w->said[n], (long long)most);
        ck_assert_int_le(most, w->said[n] + 1);         /* at most one was under way */
        ck_assert(most == 0 || llabs(single - a) == 1); /* the one before it was acknowledged earlier */
        w->said[n] = most; /* it counts as seen from now on, and must not vanish any more */
    }
    return RES_OK;
}

START_TEST(what_was_acknowledged_survives_fifty_kills)
{
    witness  w = {.lines = 0};
    uint64_t seed;
    id_random(&seed, sizeof seed);
    seed |= 1;
    for (int n = 0; n < KILLS; n++) {
        live_and_die(&w, (unsigned)(live_random(&seed) >> 32) % LIVES_MAX_MS);
        live_run_on(&(store_options){.kind = STORE_EMBEDDED, .data_dir = live_dir()}, look_at_all, &w,
                    LIVE_DEADLINE_MS);
    }
    ck_assert_uint_gt(w.lines, KILLS * CRASH_WRITERS); /* else too little was going on */
}
END_TEST

/* ---- a full disk ---- */

enum { DISK_BYTES = 6 * MIB, BALLAST_BYTES = 2 * MIB, FILL_ROWS_MAX = 400, FILL_BYTES = 60000 };

static res fill_row(task *t, table in, int n)
{
    entity e = entity_new(t->arena, STR("p"), arena_strf(t->arena, "%05d", n));
    entity_set_binary(&e, "fill", live_noise(t->arena, FILL_BYTES, (uint64_t)n + 1));
    return tables_upsert_replace(t, in, &e);
}

static const char *ballast_file(void)
{
    return textf("%s/ballast", live_dir());
}

static void make_ballast(void)
{
    int fd = open(ballast_file(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_fallocate(fd, 0, BALLAST_BYTES), 0);
    (void)close(fd);
}

/* The first failure must say what is the matter; what was stored before stays readable; and as soon as there
 * is room again, the same open store writes. */
static res fill_the_disk(task *t, void *ctx)
{
    (void)ctx;
    table       in = live_table();
    entity_page page;
    res         r = RES_OK;
    int         rows = 0;
    make_ballast();
    while (rows < FILL_ROWS_MAX && (r = fill_row(t, in, rows)) == RES_OK)
        rows++;
    str why = arena_copy(t->arena, task_message(t));
    ck_assert_msg(r == RES_UNAVAILABLE, "a full disk is %s after %d rows: %.*s", res_name(r), rows,
                  STR_ARG(why));
    ck_assert_msg(str_has(why, STR("full")), "this does not say that the disk is full: %.*s", STR_ARG(why));
    task_forget(t);
    OK(tables_query(t, in, &(table_query){.select = (const char *const[]){"none", NULL}}, &page));
    ck_assert_uint_eq(page.len, (size_t)rows);

    ck_assert_int_eq(unlink(ballast_file()), 0);
    OK(fill_row(t, in, rows));
    OK(tables_query(t, in, &(table_query){.select = (const char *const[]){"none", NULL}}, &page));
    ck_assert_uint_eq(page.len, (size_t)rows + 1);
    return RES_OK;
}

/* In a view of the file system that only this process has, and that ends with it. */
static bool mount_small_disk(const char *where)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, textf("size=%d", DISK_BYTES)) == 0;
}

START_TEST(a_full_disk_is_told_and_outlived)
{
    ck_assert_msg(mount_small_disk(live_dir()),
                  "a full disk needs the right to mount one: root, or user namespaces");
    live_run_on(&(store_options){.kind = STORE_EMBEDDED, .data_dir = live_dir()}, fill_the_disk, NULL,
                LIVE_DEADLINE_MS);
    ck_assert_int_eq(umount2(live_dir(), MNT_DETACH), 0);
}
END_TEST

static Suite *suite_crash(void)
{
    Suite *s = suite_create("crash");
    TCase *c = live_case("crash");
    tcase_add_test(c, what_was_acknowledged_survives_fifty_kills);
    tcase_add_test(c, a_full_disk_is_told_and_outlived);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {{"crash", suite_crash}};
    return live_embedded_main(suites, 1, argc, argv);
}
