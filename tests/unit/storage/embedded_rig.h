/* embedded_rig.h -- what the tests of the embedded blobs and queues share: a store in a directory of its own,
 * and a task in a loop around each test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_EMBEDDED_RIG_H
#define TRESTLE_TESTS_EMBEDDED_RIG_H

#include <check.h>

#include "runtime/loop.h"
#include "storage/backend.h"
#include "storage/embedded/engine.h"

/* A test whose body is a task: STORE_TEST(a_sentence) { … uses t and e … } */
#define STORE_TEST(name)                         \
    static void name##_body(task *t, engine *e); \
    START_TEST(name)                             \
    {                                            \
        embedded_rig_case = _i;                  \
        embedded_rig_run(name##_body);           \
    }                                            \
    END_TEST                                     \
    static void name##_body(task *t, engine *e)

extern int embedded_rig_case; /* of a loop test */

void embedded_rig_before(void); /* a new, empty directory */
void embedded_rig_after(void);  /* removes it */

typedef void embedded_rig_fn(task *t, engine *e);
void         embedded_rig_run(embedded_rig_fn *fn); /* must end well */

/* The same with a result, for tests that make it fail; *ret_pending (may be NULL): the failing allocation or
 * wait that was set is still to come. Nothing fails while the store is opened and closed. */
typedef res rig_res_fn(task *t, engine *e);
res         embedded_rig_try(rig_res_fn *fn, long fail_alloc, long cancel_wait, bool *ret_pending);

/* A number out of the file, e.g. of rows. `sql` is a literal. */
int64_t embedded_rig_number(task *t, engine *e, const char *sql);

/* Writes until what was dropped or replaced is gone for good. */
void embedded_rig_settle(task *t, engine *e);

#endif
