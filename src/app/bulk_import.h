/* bulk_import.h -- `trestle import FILE… --to URL`: loads records into the Actions catalogue of a running
 * app.
 *
 *     inputs -> pieces -> records -> window -> batches -> POST …/api/ActionsUpsert/batch
 *     bulk_input  json_cut  bulk_read  bulk_window  bulk_send
 *
 * Memory is bounded, whatever the size of the inputs. A record counts as settled when the server has told
 * what became of it, or when it has been written to the file of failed ones with the reason. The state file
 * says up to where all records are settled; a next run goes on there. What was sent beyond is sent again,
 * which does no harm: an upsert of the same record changes nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_IMPORT_H
#define TRESTLE_APP_BULK_IMPORT_H

#include "core/str.h"

enum {
    BULK_BATCH_MAX = 100, /* as the server has it */
    BULK_CONCURRENCY_MAX = 32,
    BULK_CONCURRENCY = 4,
    BULK_RETRY_S = 60,
};

typedef struct {
    const char **files; /* "-": standard input */
    size_t       file_count;
    const char  *to;     /* the app's base URL; with or without /api at its end */
    str          key;    /* empty: none */
    const char  *failed; /* NULL: beside the input */
    unsigned     concurrency, batch;
    unsigned     retry_s; /* for so long a server that is not there is tried again */
    bool         restart, dry_run;
} bulk_options;

/* The exit code: 0 all records are in; 1 some failed, or it was given up; 130 and 143 after SIGINT and
 * SIGTERM.
 */
int bulk_import_run(const bulk_options *o);

#endif
