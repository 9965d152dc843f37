/* e2e.c -- see e2e.h.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/e2e.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "support/runner.h"

enum { ARGS_MAX = 24, START_TRIES = 5, TEST_SECONDS = 100, FILE_MAX = 64 * KIB };

server      shared;
static char folders[] = "/tmp/trestle-e2e-XXXXXX"; /* all that tests write is below it */

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL || *value == '\0') {
        fprintf(stderr, "%s is not set: run these tests by ./dev test e2e, or meson test --suite e2e\n",
                name);
        exit(EXIT_FAILURE);
    }
    return value;
}

const char *e2e_app(void)
{
    return setting("TRESTLE_E2E_APP");
}

const char *e2e_trestle(void)
{
    return setting("TRESTLE_E2E_TRESTLE");
}

const char *e2e_source(void)
{
    return setting("TRESTLE_E2E_SOURCE");
}

bool e2e_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    return true;
#endif
#endif
    return false;
}

/* ---- starting ---- */

/* The socket stays bound until this process ends, but never listens: so the kernel gives the port to nobody
 * else meanwhile, and a listener with SO_REUSEADDR may still have it. */
int e2e_free_port(void)
{
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof at;
    int                on = 1;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    return ntohs(at.sin_port);
}

static process *start_program(const server_spec *spec, int port)
{
    const char *root = spec->root != NULL ? spec->root
                       : spec->real       ? e2e_source()
                                          : textf("%s/tests/e2e/app", e2e_source());
    const char *args[ARGS_MAX] = {spec->real ? e2e_trestle() : e2e_app(), "--root", root};
    const char *env[] = {textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", port), NULL};
    size_t      n = 3;
    if (spec->standalone) {
        args[n++] = "--port";
        args[n++] = "0";
        args[n++] = "--data";
        args[n++] = spec->data != NULL ? spec->data : textf("%s/data", root_empty());
    }
    for (size_t i = 0; spec->args != NULL && spec->args[i] != NULL && n < ARGS_MAX - 1; i++)
        args[n++] = spec->args[i];
    return process_start(&(process_spec){.args = args,
                                         .env = spec->standalone ? NULL : env,
                                         .more_env = spec->env,
                                         .out_file = spec->out_file});
}

/* The port that a standalone program chose, from its banner; 0: it has not said so yet. */
static int port_said(const process *p)
{
    str    out = process_out(p), mark = STR("standalone on http://127.0.0.1:");
    size_t at = str_find(out, mark);
    return at < out.len && str_has(str_from(out, at), STR("\n")) ? atoi(out.at + at + mark.len) : 0;
}

/* False: it ended before it listened. */
static bool wait_until_ready(server *s, bool standalone)
{
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (process_alive(s->proc)) {
        ck_assert_msg(process_now_ms() < until, "it does not listen; stderr: %.*s",
                      STR_ARG(process_err(s->proc)));
        if (standalone && s->port == 0)
            s->port = port_said(s->proc);
        client *c = s->port != 0 ? client_try(s->port) : NULL;
        if (c != NULL) {
            ck_assert(client_sendf(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", s->port));
            answer ready = client_answer(c);
            client_close(c);
            ck_assert_int_ge(ready.status, 200);
            return process_alive(s->proc);
        }
        process_pause();
    }
    return false;
}

server server_start(const server_spec *spec)
{
    for (int i = 0; i < START_TRIES; i++) {
        server s = {.port = spec->standalone ? 0 : e2e_free_port()};
        s.proc = start_program(spec, s.port);
        if (wait_until_ready(&s, spec->standalone))
            return s;
        /* Somebody else may still have been quicker. */
        ck_assert_msg(str_has(process_err(s.proc), STR("in use")), "it ended at once: %.*s",
                      STR_ARG(process_err(s.proc)));
    }
    ck_abort_msg("no free port in %d tries", START_TRIES);
}

int server_stop(server *s)
{
    int status = -1;
    process_signal(s->proc, SIGTERM);
    ck_assert_msg(process_wait(s->proc, E2E_LIMIT_MS, &status), "it does not end by SIGTERM");
    return status;
}

static void shared_start(void)
{
    shared = server_start(&(server_spec){0});
}

static void shared_stop(void)
{
    int status = -1;
    process_signal(shared.proc, SIGTERM);
    bool ended = process_wait(shared.proc, E2E_LIMIT_MS, &status);
    bool ok = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    str  err = process_err(shared.proc);
    ok = ok && !str_has(err, STR("Sanitizer")) && !str_has(err, STR("runtime error"));
    runner_note(ok, textf("the shared program ended with status %#x, and said: %.*s", (unsigned)status,
                          STR_ARG(err)));
    process_end(shared.proc);
}

TCase *e2e_add_shared(Suite *s, const char *name)
{
    TCase *tc = tcase_create(name);
    tcase_add_unchecked_fixture(tc, shared_start, shared_stop);
    tcase_add_checked_fixture(tc, NULL, process_end_all);
    tcase_set_timeout(tc, TEST_SECONDS);
    suite_add_tcase(s, tc);
    return tc;
}

TCase *e2e_add_alone(Suite *s, const char *name)
{
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, NULL, process_end_all);
    tcase_set_timeout(tc, TEST_SECONDS);
    suite_add_tcase(s, tc);
    return tc;
}

outcome e2e_run(const char *program, const char *const *args, const char *const *env, const char *dir)
{
    const char *all[ARGS_MAX] = {program};
    for (size_t i = 0; args != NULL && args[i] != NULL && i < ARGS_MAX - 2; i++)
        all[i + 1] = args[i];
    process *p = process_start(&(process_spec){.args = all, .env = env, .dir = dir});
    int      status;
    if (!process_wait(p, E2E_LIMIT_MS, &status))
        ck_abort_msg("it does not end by itself; it said: %.*s", STR_ARG(process_out(p)));
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return (outcome){code, process_out(p), process_err(p)};
}

/* ---- folders ---- */

const char *root_empty(void)
{
    char *name = arena_cstr(scratch(), str_of(textf("%s/root-XXXXXX", folders)));
    ck_assert_ptr_nonnull(mkdtemp(name));
    return name;
}

void root_write(const char *root, const char *path, const char *text)
{
    const char *slash = strchr(path, '/');
    if (slash != NULL) {
        const char *folder = textf("%s/%.*s", root, (int)(slash - path), path);
        ck_assert(mkdir(folder, 0700) == 0 || errno == EEXIST);
    }
    FILE *f = fopen(textf("%s/%s", root, path), "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), f), strlen(text));
    ck_assert_int_eq(fclose(f), 0);
}

void root_remove(const char *root, const char *folder)
{
    ck_assert_int_eq(unlink(textf("%s/%s/function.json", root, folder)), 0);
    ck_assert_int_eq(rmdir(textf("%s/%s", root, folder)), 0);
}

static void copy_file(const char *from, const char *root, const char *path)
{
    char  text[FILE_MAX];
    FILE *f = fopen(from, "r");
    ck_assert_msg(f != NULL, "cannot read %s", from);
    size_t len = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[len] = '\0';
    root_write(root, path, text);
}

const char *root_copy(void)
{
    const char *app = textf("%s/tests/e2e/app", e2e_source()), *root = root_empty();
    DIR        *d = opendir(app);
    ck_assert_ptr_nonnull(d);
    copy_file(textf("%s/host.json", app), root, "host.json");
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        const char *from = textf("%s/%s/function.json", app, e->d_name);
        if (access(from, R_OK) == 0)
            copy_file(from, root, textf("%s/function.json", e->d_name));
    }
    (void)closedir(d);
    return root;
}

const char *root_host_json(const char *prefix, const char *members)
{
    return textf("{\"version\":\"2.0\",\"customHandler\":{\"description\":{\"defaultExecutablePath\":"
                 "\"e2e_app\"}%s%s},\"extensions\":{\"http\":{\"routePrefix\":\"%s\"}}}",
                 *members != '\0' ? "," : "", members, prefix);
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what, (void)kind, (void)where;
    return remove(path);
}

int e2e_main(const char *name, Suite *(*make)(void))
{
    (void)e2e_app(), (void)e2e_trestle(), (void)e2e_source();
    if (mkdtemp(folders) == NULL) {
        perror(folders);
        return EXIT_FAILURE;
    }
    (void)setenv("CK_FORK", "yes", 1); /* each test in a process of its own: what it starts ends with it */
    int failed = runner_run(&(runner_suite){name, make});
    process_end_all();
    (void)nftw(folders, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
