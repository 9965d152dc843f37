/* rig.h -- the app's own functions over a real store, called over a real socket, or directly with failures
 * planted inside.
 *
 * A test's body is a task (live.h) beside which the functions of the project's folders are served on a port
 * of the kernel's choice. Tables and containers of all modules have names that are new for each test, so that
 * tests that share an Azurite do not meet.
 *
 *     RIG_TEST(a_record_without_a_name_is_refused)
 *     {
 *         got g = rig_post(t, "/api/ActionsUpsert", STR("{\"owner\":\"o\"}"));
 *         ck_assert_int_eq(g.status, 400);
 *         ck_str_eq(rig_text(&g, "errorCode"), STR("VALIDATION_FAILED"));
 *     }
 *
 * Settings are read once a process, and each test is a process: setenv before the first call is enough.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_RIG_H
#define TRESTLE_TESTS_RIG_H

#include "core/json.h"
#include "live/live.h"
#include "runtime/http_header.h"
#include "support/wire.h"

typedef void rig_fn(task *t, int i);

/* `i` is the row of a test that check runs once for each row of a table (tcase_add_loop_test). */
#define RIG_TEST(name)                  \
    static rig_fn name##_body;          \
    START_TEST(name)                    \
    {                                   \
        rig_run(NULL, name##_body, _i); \
    }                                   \
    END_TEST                            \
    static void name##_body(task *t, __attribute__((unused)) int i)

/* The test's own store instead of the program's (NULL): see rig_wire_store. */
void rig_run(const store_options *on, rig_fn *body, int i);

/* A store whose service is the scripted server: what it answers is up to the test. */
const store_options *rig_wire_store(wire *w);

int rig_port(void); /* of the functions */

/* ---- over the socket ---- */

typedef struct {
    int                status;
    str                body;
    const http_header *headers;
    size_t             header_count;
    const json_val    *json; /* of the body; NULL: it is not JSON */
} got;

got rig_get(task *t, const char *target);
got rig_post(task *t, const char *target, str body);
got rig_call(task *t, const char *method, const char *target, str body, const http_header *headers,
             size_t header_count);

str             rig_header(const got *g, const char *name); /* NULL pointer: none */
const json_val *rig_at(const got  *g,
                       const char *path); /* "details/statusCode", "items/0/owner"; may be NULL */
str             rig_text(const got *g, const char *path); /* fails the test unless a string is there */
int64_t         rig_int(const got *g, const char *path);  /* … a whole number */
bool            rig_bool(const got *g, const char *path); /* … true or false */

#define ck_status(g, wanted)                                                                      \
    ck_assert_msg((g).status == (wanted), "status %d, expected %d: '%.*s'", (g).status, (wanted), \
                  live_shown((g).body), (g).body.at)

/* ---- directly, with failures inside ---- */

typedef struct {
    const char        *method, *target;
    str                body;
    const http_header *headers;
    size_t             header_count;
} rig_request;

/* Runs the handler in a task of its own, without a socket; streams are collected. A handler that fails gives
 * its code's status. */
got rig_direct(task *t, const rig_request *in);

/* Again and again, each time with the next allocation failing (then with the next wait cancelled), until the
 * request passes untouched. `between` (may be NULL) puts things back before each try. Every try must answer
 * one of: `status`, or 503 (499 for the cancelled), or what `tolerated` lists (0 ends it; may be NULL). */
typedef void rig_between_fn(task *t);
void rig_torture(task *t, const rig_request *in, int status, const int *tolerated, rig_between_fn *between);

/* What the log has said during the test (all levels from info): for tests of lines. Call rig_log_capture
 * first. */
void rig_log_capture(void);
str  rig_log(void); /* in scratch() */

#endif
