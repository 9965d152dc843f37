/* engine_rig.h -- an embedded store in a directory of its own, and tasks that use it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ENGINE_RIG_H
#define TRESTLE_TESTS_ENGINE_RIG_H

#include <check.h>

#include "runtime/loop.h"
#include "storage/embedded/engine.h"

enum { ENGINE_RIG_MESSAGE = 400 };

typedef struct {
    res  result;
    char message[ENGINE_RIG_MESSAGE];
} engine_rig_outcome;

/* A new, empty directory, which engine_rig_end removes with what the store put there. */
void        engine_rig_begin(void);
const char *engine_rig_dir(void);
void        engine_rig_end(void);
/* A text that lasts for some calls. */
const char *engine_rig_textf(const char *fmt, ...) PRINTF_LIKE(1, 2);
const char *engine_rig_file(const char *name); /* its path in that directory */

engine            *engine_rig_open(void); /* with a loop; ends the test when it cannot be opened */
void               engine_rig_close(engine *e);
engine_rig_outcome engine_rig_try_open(const char *where); /* closes it again */

/* One task each, all at once, until all have ended; ctx of the i-th is ctxs + i * ctx_bytes. */
void engine_rig_run_all(size_t n, task_fn *fn, void *ctxs, size_t ctx_bytes, engine_rig_outcome *ret);
engine_rig_outcome engine_rig_run(task_fn *fn, void *ctx);

TCase *engine_cases_faults(void); /* full disks, damaged files, long logs */

#endif
