/* bulk_import.c -- see bulk_import.h: the tasks of an import, and the loop that they need.
 *
 * One task reads, `concurrency` others take batches out of the window, send them and settle their records. A
 * signal makes them take no more; what is under way ends, and the state is saved.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_import.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/bulk_run.h"
#include "app/copy_file.h"
#include "core/clock.h"
#include "core/log.h"
#include "runtime/fetch.h"
#include "runtime/loop.h"

enum { MEMORY = 64 * MIB, PRINT_MEMORY = 2 * MIB, MOMENT_MS = 100, EXIT_USAGE = 2, SIGNAL_EXIT = 128 };

typedef struct {
    const bulk_options *o;
    arena              *a;
    bulk_run            run;
    bulk_place          from;
} command;

volatile sig_atomic_t bulk_signal;

/* ---- what the parts share ---- */

bool bulk_stopping(const bulk_run *run)
{
    return run->stop != RES_OK || bulk_signal != 0;
}

void bulk_stop(bulk_run *run, res why, const char *fmt, ...)
{
    va_list args;
    if (run->stop != RES_OK)
        return;
    run->stop = why;
    va_start(args, fmt);
    (void)vsnprintf(run->why, sizeof run->why, fmt, args);
    va_end(args);
    gate_open(&run->room);
    gate_open(&run->work);
}

res bulk_sleep(task *t, const bulk_run *run, uint64_t ms)
{
    while (ms > 0 && !bulk_stopping(run)) {
        uint64_t step = ms < MOMENT_MS ? ms : MOMENT_MS;
        TRY(task_sleep(t, step));
        ms -= step;
    }
    return bulk_stopping(run) ? RES_GONE : RES_OK;
}

void bulk_settled(bulk_run *run, uint64_t number, bulk_kind kind)
{
    run->progress.counts[kind]++;
    bulk_ledger_settle(run->ledger, number);
    run->progress.done_bytes = run->ledger->reached.done_bytes;
}

/* ---- batches ---- */

static bulk_record *leave(bulk_batch *b, size_t i)
{
    bulk_record *r = b->records[i];
    b->records[i] = NULL;
    b->run->away--;
    b->run->away_bytes -= r->len;
    return r;
}

void bulk_batch_done(bulk_batch *b, size_t i, bulk_kind kind)
{
    bulk_record *r = leave(b, i);
    bulk_settled(b->run, r->number, kind);
    bulk_window_gone(b->run->window, r);
}

void bulk_batch_again(bulk_batch *b, size_t i)
{
    bulk_record *r = leave(b, i);
    r->tries++;
    bulk_window_again(b->run->window, r);
}

res bulk_batch_failed(task *t, bulk_batch *b, size_t i, const json *error)
{
    const bulk_record *r = b->records[i];
    bulk_victim        v = {.input = b->run->o->files[r->input],
                            .number = r->number,
                            .line = r->line,
                            .text = bulk_record_text(r),
                            .is_json = true};
    TRY(bulk_failed_add(t, b->run, &v, error));
    bulk_batch_done(b, i, BULK_FAILED);
    return RES_OK;
}

/* Full batches while there is more to read; what there is, when nothing more comes. */
static bool may_send(const bulk_run *run)
{
    return (run->read_all || run->hurry || run->reader_waits ||
            bulk_window_count(run->window) >= BULK_WINDOW_RECORDS / 2) &&
           (run->away == 0 || run->away_bytes < BULK_AWAY_MAX);
}

static bool is_done(const bulk_run *run)
{
    return bulk_stopping(run) || (run->read_all && run->away == 0 && bulk_window_count(run->window) == 0);
}

/* False: there will be none any more. */
static res next_batch(task *t, bulk_batch *b, bool *ret_some)
{
    bulk_run *run = b->run;
    for (b->len = 0; !is_done(run);) {
        if (may_send(run))
            b->len = bulk_window_take(run->window, b->records, run->o->batch, BULK_BODY_MAX);
        if (b->len > 0)
            break;
        TRY(gate_wait(t, &run->work));
    }
    for (size_t i = 0; i < b->len; i++)
        run->away_bytes += b->records[i]->len;
    run->away += b->len;
    *ret_some = b->len > 0;
    return RES_OK;
}

/* Records that got no answer are not settled: the next run sends them. */
static void drop_rest(bulk_batch *b)
{
    for (size_t i = 0; i < b->len; i++)
        if (b->records[i] != NULL)
            bulk_window_gone(b->run->window, leave(b, i));
}

static res send_batches(task *t, bulk_run *run)
{
    bulk_batch b = {.run = run, .records = arena_array(t->arena, bulk_record *, BULK_BATCH_MAX)};
    for (bool some = true;;) {
        TRY(next_batch(t, &b, &some));
        if (!some)
            break;
        res r = run->o->dry_run ? bulk_diff(t, &b) : bulk_send(t, &b);
        drop_rest(&b);
        if (r != RES_OK && !bulk_stopping(run))
            return r;
        gate_open(&run->room);
        gate_open(&run->work);
        bulk_state_save(t, run, false);
        bulk_progress_show(&run->progress);
    }
    gate_open(&run->room);
    gate_open(&run->work);
    return RES_OK;
}

/* An input that cannot be read to its end: what came before is sent all the same. */
static res read_records(task *t, command *c)
{
    bulk_run *run = &c->run;
    res       r = bulk_read_all(t, run, &c->from);
    if (r != RES_OK && !bulk_stopping(run))
        bulk_progress_say(&run->progress, "%.*s", STR_ARG(task_message(t)));
    run->unreadable = r != RES_OK && !bulk_stopping(run);
    task_forget(t);
    run->read_all = true;
    gate_open(&run->work);
    return RES_OK;
}

static res work(task *t, size_t i, void *ctx)
{
    command *c = ctx;
    return i == 0 ? read_records(t, c) : send_batches(t, &c->run);
}

/* ---- the beginning ---- */

/* Only files can be gone on with, and only their sizes are known. */
static bool are_files(const bulk_options *o)
{
    struct stat what;
    for (size_t i = 0; i < o->file_count; i++)
        if (strcmp(o->files[i], "-") == 0 ||
            (stat(o->files[i], &what) == 0 && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode)))
            return false;
    return true;
}

typedef struct {
    const char       *path;
    bulk_fingerprint *ret;
} printing;

static res take_print(task *t, void *ctx)
{
    const printing *p = ctx;
    return bulk_input_fingerprint(t, p->path, p->ret);
}

/* Beside a single input, else in the current folder. */
static const char *beside(task *t, const bulk_options *o, const char *what)
{
    bool single = o->file_count == 1 && strcmp(o->files[0], "-") != 0 &&
                  strncmp(o->files[0], "/dev/", strlen("/dev/")) != 0;
    return copy_path(t, "%s.%s", single ? o->files[0] : "import", what);
}

static res check_failed_path(task *t, const bulk_run *run)
{
    struct stat in, out;
    for (size_t i = 0; stat(run->failed.path, &out) == 0 && i < run->o->file_count; i++)
        if (S_ISREG(out.st_mode) && stat(run->o->files[i], &in) == 0 && in.st_dev == out.st_dev &&
            in.st_ino == out.st_ino)
            return task_fail(t, RES_INVALID, "'%s' is an input: give another name by --failed",
                             run->failed.path);
    return RES_OK;
}

static res look_at_inputs(task *t, command *c)
{
    const bulk_options *o = c->o;
    bulk_run           *run = &c->run;
    bulk_fingerprint   *prints = arena_array(t->arena, bulk_fingerprint, o->file_count);
    uint64_t            total = 0;
    run->prints = prints;
    run->failed.path = o->failed != NULL ? o->failed : beside(t, o, "failed.ndjson");
    TRY(check_failed_path(t, run));
    if (are_files(o)) {
        run->state_path = beside(t, o, "import-state.json");
        for (size_t i = 0; i < o->file_count; i++) {
            TRY(task_scope(t, PRINT_MEMORY, take_print, &(printing){o->files[i], &prints[i]}));
            total += prints[i].size;
        }
    }
    bulk_progress_begin(&run->progress, total, o->dry_run);
    if (run->state_path == NULL && !o->dry_run)
        bulk_progress_say(&run->progress, "an input that is no file cannot be gone on with: after a stop it "
                                          "begins anew");
    return RES_OK;
}

static res find_start(task *t, command *c)
{
    bulk_run   *run = &c->run;
    const char *why = NULL;
    res         r = c->o->dry_run ? RES_NOT_FOUND : bulk_state_load(t, run, &c->from, &why);
    if (r != RES_OK && r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    if (why != NULL)
        bulk_progress_say(&run->progress, "'%s' %s: from the start", run->state_path, why);
    if (r == RES_OK && c->from.records > 0)
        bulk_progress_say(&run->progress, "going on behind record %llu, where it was stopped",
                          (unsigned long long)c->from.records);
    run->progress.done_bytes = run->progress.began_bytes = c->from.done_bytes;
    run->ledger = bulk_ledger_new(&c->from);
    run->window = bulk_window_new();
    if (run->ledger == NULL || run->window == NULL)
        return task_fail(t, RES_MEMORY, "no memory for the records under way");
    return bulk_failed_begin(t, run, c->from.records);
}

/* ---- the end ---- */

/* How it ended, and where to go on. Returns the exit code. */
static int tell_end(const command *c)
{
    const bulk_run *run = &c->run;
    uint64_t        failed = run->progress.counts[BULK_FAILED];
    bool            resumes = run->ledger != NULL && run->state_path != NULL && !c->o->dry_run;
    const char     *next = resumes ? "; the same command goes on from here" : "";
    if (bulk_signal != 0)
        (void)fprintf(stderr, "import: stopped by a signal%s\n", next);
    else if (run->stop != RES_OK)
        (void)fprintf(stderr, "trestle: import: %s%s\n", run->why, next);
    if (failed > 0 && !c->o->dry_run)
        (void)fprintf(stderr,
                      "import: failed records: %llu, in '%s' with their reasons; that file can be imported "
                      "like any other\n",
                      (unsigned long long)failed, run->failed.path);
    if (bulk_signal != 0)
        return SIGNAL_EXIT + bulk_signal;
    if (run->ledger == NULL && run->stop == RES_INVALID)
        return EXIT_USAGE;
    return run->stop == RES_OK && failed == 0 && !run->unreadable ? EXIT_SUCCESS : EXIT_FAILURE;
}

static res close_failed(task *t, bulk_run *run)
{
    FILE *f = run->failed.f;
    run->failed.f = NULL;
    if (f == NULL || fclose(f) == 0)
        return RES_OK;
    return task_fail(t, RES_UNAVAILABLE, "cannot write '%s': %s", run->failed.path, strerror(errno));
}

static res import_all(task *t, void *ctx)
{
    command  *c = ctx;
    bulk_run *run = &c->run;
    TRY(look_at_inputs(t, c));
    TRY(find_start(t, c));
    TRY(par_each(t, c->o->concurrency + 1, c->o->concurrency + 1, work, c));
    bool whole = !bulk_stopping(run) && !run->unreadable;
    if (!whole)
        bulk_state_save(t, run, true);
    TRY(close_failed(t, run));
    if (whole)
        bulk_state_remove(run);
    return RES_OK;
}

static void import_ended(task *t, void *ctx, res result, str message)
{
    (void)t;
    command *c = ctx;
    fetch_shutdown();
    bulk_stop(&c->run, result, "%.*s", STR_ARG(message.len > 0 ? message : str_of(res_get(result)->text)));
}

/* ---- the command ---- */

static void on_signal(int signum)
{
    bulk_signal = signum;
}

/* The second one of a kind finds the system's own answer: it ends us at once. */
static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL); /* these fail only for signals that cannot be caught */
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a peer that left is an error of write, not the end of us */
}

static str base_url(arena *a, const char *to)
{
    str url = str_of(to);
    while (str_ends(url, STR("/")))
        url = str_slice(url, 0, url.len - 1);
    return str_ends(url, STR("/api")) ? arena_copy(a, url) : arena_strf(a, "%.*s/api", STR_ARG(url));
}

static int fail(const char *why)
{
    (void)fprintf(stderr, "trestle: %s\n", why);
    return EXIT_FAILURE;
}

static int run_command(command *c)
{
    task_spec spec = {.name = "import", .arena = c->a}; /* paths in it are needed to the end */
    if (loop_open() != RES_OK)
        return fail("no event loop: out of memory or file descriptors");
    watch_signals();
    c->run.base = base_url(c->a, c->o->to);
    c->run.o = c->o;
    if (task_start(&spec, import_all, import_ended, c, NULL) != RES_OK)
        return fail("out of memory");
    loop_run();
    loop_close();
    if (c->run.ledger != NULL) /* it had begun */
        bulk_progress_end(&c->run.progress);
    int code = tell_end(c);
    bulk_window_free(c->run.window);
    bulk_ledger_free(c->run.ledger);
    return code;
}

int bulk_import_run(const bulk_options *o)
{
    command c = {.o = o, .a = arena_new(MEMORY)};
    if (c.a == NULL)
        return fail("out of memory");
    log_add_secret(o->key);
    if (getenv("TRESTLE_LOG_LEVEL") == NULL)
        log_set_level(LOG_ERROR); /* a loop that is held up concerns a server, not a command */
    int code = run_command(&c);
    log_drain(1000);
    arena_free(c.a);
    return code;
}
