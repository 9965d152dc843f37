/* scratch.h -- one arena for all that a test reads and formats: nothing to free, and no leak to report,
 * since it can be reached until the test's process ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCRATCH_H
#define TRESTLE_TESTS_SCRATCH_H

#include "core/arena.h"

arena *scratch(void); /* ends the test without memory; so its allocations never give NULL */

/* A terminated text. */
const char *textf(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
