/* scratch.c -- see scratch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include <check.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 1024 * MIB };

static arena *all;

static void no_memory(void *ctx)
{
    (void)ctx;
    ck_abort_msg("the test has used more than %d MiB", SCRATCH_MAX / MIB);
}

arena *scratch(void)
{
    if (all == NULL) {
        all = arena_new(SCRATCH_MAX);
        if (all == NULL)
            abort();
        arena_on_exhausted(all, no_memory, NULL);
    }
    return all;
}

const char *textf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str text = arena_vstrf(scratch(), fmt, args);
    va_end(args);
    return text.at;
}
