/* store_copy.h -- `trestle store export DIR` and `trestle store import DIR`: all of a store to files, and
 * back.
 *
 *     DIR/export.json              when it is whole: the format's number and what was counted
 *     DIR/tables/NAME.jsonl        an entity a line, in the JSON of the table service (entity_json.h)
 *     DIR/blobs/CONTAINER.jsonl    a blob a line: name, file, type, metadata
 *     DIR/blobs/CONTAINER/FILE     its bytes
 *     DIR/queues/NAME.jsonl        a message a line
 *     …/NAME.jsonl.part, DIR/state.json   while it is not whole: where to go on
 *
 * So what began in an embedded store moves to Azure, and the other way round. Both commands go on where they
 * were stopped when they are run again. ETags, timestamps and leases are the store's own and are not copied.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_STORE_COPY_H
#define TRESTLE_APP_STORE_COPY_H

#include "storage/store.h"

enum {
    STORE_COPY_TABLES = 1,
    STORE_COPY_BLOBS = 2,
    STORE_COPY_QUEUES = 4,
    STORE_COPY_ALL = STORE_COPY_TABLES | STORE_COPY_BLOBS | STORE_COPY_QUEUES,
};

typedef struct {
    const char *dir;
    bool        import; /* else export */
    unsigned    parts;
} store_copy_options;

/* The exit code; what went wrong is one line on stderr. */
int store_copy_run(const store_options *store, const store_copy_options *o);

#endif
