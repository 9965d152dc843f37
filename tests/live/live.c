/* live.c -- see live.h.
 *
 * SPDX-License-Identifier: MIT */
#include "live/live.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/fetch.h"
#include "runtime/redis.h"

enum { SKIPPED = 77, SUITES_MAX = 64, SHOWN_MAX = 200 };

static live_kind    kind;
static azurite     *emulator;
static azurite_spec emulator_spec;
static char         dir[64]; /* empty: this test has none yet */

live_kind live_is(void)
{
    return kind;
}

azurite *live_azurite(void)
{
    return emulator;
}

/* ---- the program ---- */

/* Once a program, before its first test, and in its own process: the kernel ends Azurite with it. */
static void before_all(void)
{
    if (kind == LIVE_EMBEDDED || emulator != NULL)
        return;
    emulator = azurite_start(&emulator_spec);
    if (emulator != NULL)
        return;
    fprintf(stderr, "skipped: these tests need Azurite\n");
    (void)fflush(NULL);
    _exit(SKIPPED);
}

int live_main(const runner_suite *suites, size_t count, int argc, char **argv)
{
    const char  *back_end = argc > 1 ? argv[1] : "";
    runner_suite named[SUITES_MAX];
    kind = *back_end == 'a' ? LIVE_AZURE : LIVE_EMBEDDED;
    if ((strcmp(back_end, "azure") != 0 && strcmp(back_end, "embedded") != 0) || count > SUITES_MAX) {
        fprintf(stderr, "usage: %s azure|embedded [SUITE...]\n", argv[0]);
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < count; i++)
        named[i] = (runner_suite){.name = textf("%s_%s", back_end, suites[i].name), .make = suites[i].make};
    for (int i = 2; i < argc; i++)
        argv[i] = (char *)(uintptr_t)textf("%s_%s", back_end, argv[i]);
    int result = runner_main(named, count, argc - 1, argv + 1);
    azurite_stop(emulator);
    return result;
}

int live_azure_main(const azurite_spec *spec, const runner_suite *suites, size_t count, int argc, char **argv)
{
    kind = LIVE_AZURE;
    emulator_spec = *spec;
    int result = runner_main(suites, count, argc, argv);
    azurite_stop(emulator);
    return result;
}

int live_embedded_main(const runner_suite *suites, size_t count, int argc, char **argv)
{
    kind = LIVE_EMBEDDED;
    return runner_main(suites, count, argc, argv);
}

/* ---- one test ---- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

const char *live_dir(void)
{
    if (*dir == '\0') {
        (void)snprintf(dir, sizeof dir, "/tmp/trestle-live-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
    }
    return dir;
}

static void after_each(void)
{
    if (*dir != '\0')
        (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *dir = '\0';
}

TCase *live_case(const char *name)
{
    TCase *c = tcase_create(name);
    tcase_add_unchecked_fixture(c, before_all, NULL);
    tcase_add_checked_fixture(c, NULL, after_each);
    tcase_set_timeout(c, LIVE_TEST_SECONDS);
    return c;
}

const store_options *live_options_of(const azurite *a)
{
    store_options *o = arena_one(scratch(), store_options);
    str            connection = str_of(azurite_connection(a));
    *o =
        (store_options){.kind = STORE_AZURE, .tables = connection, .blobs = connection, .queues = connection};
    return o;
}

const store_options *live_options(void)
{
    if (kind == LIVE_AZURE)
        return live_options_of(emulator);
    store_options *o = arena_one(scratch(), store_options);
    *o = (store_options){.kind = STORE_EMBEDDED, .data_dir = live_dir()};
    return o;
}

typedef struct {
    task_fn *fn;
    void    *ctx;
    res      result;
} one_run;

static res run_fn(task *t, void *ctx)
{
    one_run *run = ctx;
    return run->fn(t, run->ctx);
}

static void on_end(task *t, void *ctx, res result, str message)
{
    (void)t;
    one_run *run = ctx;
    run->result = result;
    if (result != RES_OK)
        fprintf(stderr, "the task ended with %s: %.*s\n", res_name(result), STR_ARG(message));
}

void live_run_on(const store_options *on, task_fn *fn, void *ctx, uint64_t deadline_ms)
{
    log_set_level(LOG_ERROR); /* slow steps under sanitizers are not the subject */
    arena *a = arena_new(LIVE_MEMORY);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(loop_open(), RES_OK);
    str why = {0};
    res opened = store_open(a, on, &why);
    ck_assert_msg(opened == RES_OK, "the store does not open: %s: %.*s", res_name(opened), STR_ARG(why));

    one_run   run = {.fn = fn, .ctx = ctx, .result = RES_COUNT};
    task_spec spec = {.name = "live test", .deadline_ms = deadline_ms, .memory_bytes = LIVE_MEMORY};
    ck_assert_int_eq(task_start(&spec, run_fn, on_end, &run, NULL), RES_OK);
    loop_run();
    ck_assert_uint_eq(task_count(), 0);
    store_close();
    fetch_shutdown();
    redis_shutdown();
    loop_close();
    arena_free(a);
    ck_assert_msg(run.result == RES_OK, "the task ended with %s", res_name(run.result));
}

void live_run(task_fn *fn, void *ctx, uint64_t deadline_ms)
{
    live_run_on(live_options(), fn, ctx, deadline_ms);
}

void live_expect(task *t, res want, res got, const char *call, const char *file, int line)
{
    str message = task_message(t);
    if (got != want)
        ck_abort_msg("%s:%d: %.120s is %s (%.*s), not %s", file, line, call,
                     got == RES_COUNT ? "none" : res_name(got), live_shown(message), message.at,
                     res_name(want));
    task_forget(t);
}

/* ---- names and values ---- */

const char *live_name(const char *prefix)
{
    static unsigned given;
    return textf("%s%dn%u", prefix, (int)getpid(), ++given);
}

table live_table(void)
{
    return (table){.store = STORE_MAIN, .name = str_of(live_name("T"))};
}

container live_container(void)
{
    return (container){.store = STORE_MAIN, .name = str_of(live_name("c"))};
}

queue live_queue(void)
{
    return (queue){.store = STORE_MAIN, .name = str_of(live_name("q"))};
}

str live_repeat(arena *a, str piece, size_t times)
{
    char *all = arena_alloc(a, piece.len * times + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(all + i * piece.len, piece.at, piece.len);
    return (str){all, piece.len * times};
}

/* xorshift64*: the seed must not be 0. */
uint64_t live_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

str live_noise(arena *a, size_t bytes, uint64_t seed)
{
    char *all = arena_alloc(a, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        all[i] = (char)(live_random(&seed) >> 56);
    return (str){all, bytes};
}

int live_shown(str s)
{
    return s.len < SHOWN_MAX ? (int)s.len : SHOWN_MAX;
}

static bool same_value(const property *a, const property *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case EDM_STRING:
    case EDM_GUID:
    case EDM_BINARY:
        return str_eq(a->text, b->text);
    case EDM_INT32:
    case EDM_INT64:
        return a->integer == b->integer;
    case EDM_DOUBLE:
        return a->real == b->real || (isnan(a->real) && isnan(b->real));
    case EDM_BOOL:
        return a->truth == b->truth;
    case EDM_DATETIME:
        return a->ticks == b->ticks;
    case EDM_COUNT:
        break;
    }
    return false;
}

void live_same(const entity *want, const entity *got)
{
    ck_str_eq(got->partition, want->partition);
    ck_str_eq(got->row, want->row);
    for (size_t i = 0; i < want->count; i++) {
        const property *w = &want->props[i], *g = entity_find(got, w->name);
        ck_assert_msg(g != NULL, "'%.*s' is missing", STR_ARG(w->name));
        ck_assert_msg(same_value(w, g), "'%.*s' differs; it was %s, now it is %s", STR_ARG(w->name),
                      edm_name(w->type), edm_name(g->type));
    }
    ck_assert_uint_eq(got->count, want->count);
}
