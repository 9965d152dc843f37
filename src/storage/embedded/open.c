/* open.c -- the embedded back end: one engine, and the three interfaces over it.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/schema.h"

enum { ERROR_BYTES = 1200 }; /* a path may stand in it */

static void close_engine(void *self)
{
    engine_close(self);
}

res embedded_open(arena *a, const char *dir, backend *ret, str *ret_error)
{
    char    error[ERROR_BYTES] = "";
    engine *e = NULL;
    res     r = engine_open(dir, &e, error, sizeof error);
    if (r != RES_OK) {
        *ret_error = arena_copy(a, str_of(error));
        return r;
    }
    engine_add_chore(e, tables_chore);
    engine_add_chore(e, blobs_chore);
    engine_add_chore(e, queues_chore);
    *ret = (backend){.tables = &embedded_tables,
                     .blobs = &embedded_blobs,
                     .queues = &embedded_queues,
                     .tables_self = e,
                     .blobs_self = e,
                     .queues_self = e,
                     .close = close_engine,
                     .close_self = e,
                     .describe = arena_strf(a, "embedded in %s", dir)};
    return RES_OK;
}
