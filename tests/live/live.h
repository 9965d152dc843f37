/* live.h -- what the tests against real stores share: one back end a program, one task a test.
 *
 * A test's body is a task over STORE_MAIN, which was opened for it alone: the embedded one in a folder of its
 * own, the other in the program's Azurite, where names that are new each time keep tests apart. Memory that
 * outlives the task is scratch()'s.
 *
 *     LIVE_TEST(an_entity_is_inserted_once)
 *     {
 *         table in = live_table();
 *         entity e = entity_new(t->arena, STR("p"), STR("r"));
 *         OK(tables_insert(t, in, &e));
 *         EXPECT(RES_CONFLICT, tables_insert(t, in, &e));
 *     }
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_LIVE_H
#define TRESTLE_TESTS_LIVE_H

#include <check.h>

#include "runtime/loop.h"
#include "storage/backend.h"
#include "support/azurite.h"
#include "support/runner.h"
#include "support/scratch.h"

enum { LIVE_DEADLINE_MS = 110 * 1000, LIVE_TEST_SECONDS = 120, LIVE_MEMORY = 1024 * MIB };

/* `i` is the row of a test that check runs once for each row of a table (tcase_add_loop_test). */
#define LIVE_TEST(name)                                \
    static void name##_body(task *t, int i);           \
    static res  name##_task(task *t, void *ctx)        \
    {                                                  \
        name##_body(t, *(const int *)ctx);             \
        return RES_OK;                                 \
    }                                                  \
    START_TEST(name)                                   \
    {                                                  \
        int row = _i;                                  \
        live_run(name##_task, &row, LIVE_DEADLINE_MS); \
    }                                                  \
    END_TEST                                           \
    static void name##_body(task *t, __attribute__((unused)) int i)

/* The call's result is that one; else the test fails, with the task's message. */
#define EXPECT(want, call) live_expect(t, (want), (call), #call, __FILE__, __LINE__)
#define OK(call)           EXPECT(RES_OK, call)
void live_expect(task *t, res want, res got, const char *call, const char *file, int line);

/* ---- the program ---- */

typedef enum { LIVE_AZURE, LIVE_EMBEDDED } live_kind;

/* "azure" or "embedded", then names of suites. The exit code; 77 (skipped) when there is no Azurite. */
int       live_main(const runner_suite *suites, size_t count, int argc, char **argv);
/* For programs that are about one of them alone. */
int       live_azure_main(const azurite_spec *spec, const runner_suite *suites, size_t count, int argc,
                          char **argv);
int       live_embedded_main(const runner_suite *suites, size_t count, int argc, char **argv);
live_kind live_is(void);
azurite  *live_azurite(void); /* NULL: embedded */

/* ---- one test ---- */

/* Opens loop and store, runs fn in a task, closes both. Fails the test unless fn returns RES_OK. */
void                 live_run(task_fn *fn, void *ctx, uint64_t deadline_ms);
/* The same over a store of the test's own: connection strings, or a folder. */
void                 live_run_on(const store_options *on, task_fn *fn, void *ctx, uint64_t deadline_ms);
const store_options *live_options(void); /* of the program's store; embedded: in live_dir */
const store_options *live_options_of(const azurite *a);
const char          *live_dir(void); /* a folder of this test alone, removed after it */

TCase *live_case(const char *name); /* with fixtures and time limit */

/* ---- names and values ---- */

const char *live_name(const char *prefix); /* never given before; letters and digits alone */
table       live_table(void);
container   live_container(void);
queue       live_queue(void);

str      live_repeat(arena *a, str piece, size_t times);
str      live_noise(arena *a, size_t bytes, uint64_t seed); /* bytes that do not compress */
uint64_t live_random(uint64_t *state);                      /* reproducible from its seed */

/* Every property of *want is in *got with the same type and value, and no other. NaN equals NaN. */
void live_same(const entity *want, const entity *got);

#define ck_str_eq(a, b)                                                                              \
    do {                                                                                             \
        str ck_a = (a), ck_b = (b);                                                                  \
        ck_assert_msg(str_eq(ck_a, ck_b), "%s is '%.*s', not '%.*s'", #a, live_shown(ck_a), ck_a.at, \
                      live_shown(ck_b), ck_b.at);                                                    \
    } while (0)
int live_shown(str s); /* as many bytes as a message has room for */

#endif
