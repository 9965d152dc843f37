/* e2e.h -- the built program, started as the Functions host or a person would, and called over sockets.
 *
 * The test app (app_handlers.c over app/) is the same program as bin/trestle with other functions. Each test
 * runs in a process of its own; what it starts ends with it. Tests that only ask and look share one program
 * (e2e_add_shared), which is also a test: it must end in order, with nothing to report, after all of them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_E2E_H
#define TRESTLE_E2E_H

#include <check.h>
#include <sys/wait.h>

#include "core/json.h"
#include "support/client.h"
#include "support/process.h"
#include "support/scratch.h"

enum { E2E_LIMIT_MS = 30 * 1000 }; /* for whatever should take milliseconds */

/* For main of each program: reads where things are from the environment, runs the suite, cleans up. */
int e2e_main(const char *name, Suite *(*make)(void));

const char *e2e_app(void);       /* the test app's path */
const char *e2e_trestle(void);   /* the real program's */
const char *e2e_source(void);    /* the project's folder */
bool        e2e_sanitized(void); /* built with AddressSanitizer, which reports faults in its own way */

/* ---- starting ---- */

typedef struct {
    process *proc;
    int      port;
} server;

typedef struct {
    const char        *root; /* NULL: tests/e2e/app; with `real`: the project itself */
    const char *const *env;  /* "NAME=value", NULL at the end */
    const char *const *args; /* beyond the program's path */
    const char        *data; /* standalone: the folder of the store; NULL: a fresh one */
    bool               real; /* bin/trestle instead of the test app */
    bool               standalone;
    const int         *out_file;
} server_spec;

/* Returns when it answers GET /. */
server server_start(const server_spec *spec);
/* SIGTERM, and what waitpid says. */
int    server_stop(server *s);
int    e2e_free_port(void);

/* The program that the tests of a case share. */
extern server shared;
TCase        *e2e_add_shared(Suite *s, const char *name);
TCase        *e2e_add_alone(Suite *s, const char *name); /* tests that start their own */

/* A command that ends by itself. */
typedef struct {
    int status; /* exit code; 128 + n after signal n */
    str out, err;
} outcome;
outcome e2e_run(const char *program, const char *const *args, const char *const *env, const char *dir);

/* ---- folders ---- */

/* A copy of tests/e2e/app that a test may change; gone after the run. */
const char *root_copy(void);
const char *root_empty(void);
void        root_write(const char *root, const char *path, const char *text);
void        root_remove(const char *root, const char *folder);
const char *root_host_json(const char *prefix, const char *custom_handler_members);

/* ---- calling ---- */

/* POST /FUNCTION as the host does it in JSON mode. */
typedef enum { BY_LENGTH, BY_CHUNKS, BY_SINGLE_BYTES } framing;
answer invoke(int port, const char *function, str envelope, framing how);
void   invoke_send(client *c, const char *function, str envelope, framing how);

const json_val *json_of(str text); /* fails the test if it is not JSON */
const json_val *answer_json(const answer *a);
/* The path of names through objects, "Outputs/res/statusCode"; NULL if it is not there. */
const json_val *json_path(const json_val *v, const char *path);
str             text_at(const json_val *v, const char *path); /* fails the test unless a string is there */
int64_t         int_at(const json_val *v, const char *path);
/* What a function told by its output `seen`: the one message, itself JSON. */
const json_val *seen_of(const answer *a);

#define ck_assert_str_is(got, want)                                                           \
    do {                                                                                      \
        str got_ = (got), want_ = str_of(want);                                               \
        ck_assert_msg(str_eq(got_, want_), #got " is '%.*s', expected '%.*s'", STR_ARG(got_), \
                      STR_ARG(want_));                                                        \
    } while (0)
#define ck_assert_holds(text, part)                                                         \
    do {                                                                                    \
        str text_ = (text), part_ = str_of(part);                                           \
        ck_assert_msg(str_has(text_, part_), #text " lacks '%.*s': '%.*s'", STR_ARG(part_), \
                      STR_ARG(str_slice(text_, 0, 2000)));                                  \
    } while (0)
#define ck_assert_status(a, wanted)                                                               \
    ck_assert_msg((a).status == (wanted), "status %d, expected %d: '%.*s'", (a).status, (wanted), \
                  STR_ARG(str_slice((a).body, 0, 400)))

#endif
