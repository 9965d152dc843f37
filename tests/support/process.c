/* process.c -- see process.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/process.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/scratch.h"

enum { PROCESSES_MAX = 64, VARIABLES_MAX = 64, PAUSE_MS = 2 };

struct process {
    pid_t pid, owner;
    int   out, err; /* files in memory */
    int   status;
    bool  ended; /* and was reaped */
};

static process all[PROCESSES_MAX];
static size_t  all_len;

uint64_t process_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void process_pause(void)
{
    struct timespec moment = {.tv_nsec = PAUSE_MS * 1000000};
    (void)nanosleep(&moment, NULL);
}

/* ---- starting ---- */

static void put_variable(const char **env, size_t *len, const char *text)
{
    size_t name = strcspn(text, "=") + 1;
    for (size_t i = 0; i < *len; i++) {
        if (strncmp(env[i], text, name) == 0) {
            env[i] = text;
            return;
        }
    }
    ck_assert_uint_lt(*len, VARIABLES_MAX - 1);
    env[(*len)++] = text;
}

static void make_environment(const process_spec *spec, const char *env[VARIABLES_MAX])
{
    static const char *const kept[] = {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
                                       "LD_LIBRARY_PATH"};
    size_t                   len = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (getenv(kept[i]) != NULL)
            put_variable(env, &len, textf("%s=%s", kept[i], getenv(kept[i])));
    for (size_t i = 0; spec->env != NULL && spec->env[i] != NULL; i++)
        put_variable(env, &len, spec->env[i]);
    for (size_t i = 0; spec->more_env != NULL && spec->more_env[i] != NULL; i++)
        put_variable(env, &len, spec->more_env[i]);
    env[len] = NULL;
}

/* After fork: nothing here allocates. */
static _Noreturn void become(const process_spec *spec, const char *const *env, int out, int err, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* a debugger that a test starts is no parent of it */
    if (getppid() != parent)
        _exit(127);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(127);
    if (spec->dir != NULL && chdir(spec->dir) != 0)
        _exit(127);
    /* execve takes pointers to char that it does not change. */
    (void)execve(spec->args[0], (char *const *)(uintptr_t)spec->args, (char *const *)(uintptr_t)env);
    _exit(127);
}

process *process_start(const process_spec *spec)
{
    ck_assert_uint_lt(all_len, PROCESSES_MAX);
    process *p = &all[all_len++];
    *p = (process){.owner = getpid()};
    p->out = memfd_create("stdout", MFD_CLOEXEC);
    p->err = memfd_create("stderr", MFD_CLOEXEC);
    ck_assert(p->out >= 0 && p->err >= 0);

    const char *env[VARIABLES_MAX];
    make_environment(spec, env);
    int   out = spec->out_file != NULL ? *spec->out_file : p->out;
    int   err = spec->out_file != NULL ? *spec->out_file : p->err;
    pid_t parent = getpid();
    p->pid = fork();
    ck_assert_int_ge(p->pid, 0);
    if (p->pid == 0)
        become(spec, env, out, err, parent);
    return p;
}

pid_t process_pid(const process *p)
{
    return p->pid;
}

/* ---- watching ---- */

void process_signal(const process *p, int signum)
{
    if (!p->ended)
        ck_assert_int_eq(kill(p->pid, signum), 0);
}

bool process_alive(process *p)
{
    if (p->owner != getpid())
        return kill(p->pid, 0) == 0;
    if (!p->ended)
        p->ended = waitpid(p->pid, &p->status, WNOHANG) == p->pid;
    return !p->ended;
}

bool process_wait(process *p, unsigned limit_ms, int *ret_status)
{
    uint64_t until = process_now_ms() + limit_ms;
    while (process_alive(p)) {
        if (process_now_ms() >= until)
            return false;
        process_pause();
    }
    *ret_status = p->status;
    return true;
}

static str read_all(int fd)
{
    size_t len = 0, cap = 4 * KIB;
    char  *text = arena_alloc(scratch(), cap);
    for (;;) { /* pread: the file's offset is where the program writes next */
        ssize_t n = pread(fd, text + len, cap - len, (off_t)len);
        ck_assert_int_ge(n, 0);
        if (n == 0)
            return (str){text, len};
        len += (size_t)n;
        if (len == cap) {
            text = arena_regrow(scratch(), text, cap, 2 * cap);
            cap *= 2;
        }
    }
}

str process_out(const process *p)
{
    return read_all(p->out);
}

str process_err(const process *p)
{
    return read_all(p->err);
}

static off_t written(const process *p)
{
    struct stat out, err;
    ck_assert(fstat(p->out, &out) == 0 && fstat(p->err, &err) == 0);
    return out.st_size + err.st_size;
}

bool process_says(const process *p, const char *text, unsigned limit_ms)
{
    uint64_t until = process_now_ms() + limit_ms;
    for (off_t seen = -1;;) {
        if (written(p) != seen) {
            seen = written(p);
            if (str_has(process_out(p), str_of(text)) || str_has(process_err(p), str_of(text)))
                return true;
        }
        if (process_now_ms() >= until)
            return false;
        process_pause();
    }
}

/* ---- ending ---- */

void process_end(process *p)
{
    if (p->ended || p->owner != getpid())
        return;
    (void)kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
        continue;
    p->ended = true;
}

void process_end_all(void)
{
    for (size_t i = 0; i < all_len; i++)
        process_end(&all[i]);
}
