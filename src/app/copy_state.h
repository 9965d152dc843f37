/* copy_state.h -- how far a copy has come, in a file of the folder, so that the next run goes on there.
 *
 * The file is replaced as a whole; it may be older than what was done, never newer: what it says is done is
 * on disk, or in the store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_COPY_STATE_H
#define TRESTLE_APP_COPY_STATE_H

#include "app/copy_progress.h"
#include "app/store_copy.h"

/* A place in a copy. */
typedef struct {
    str      part;   /* "tables", "blobs", "queues" */
    str      name;   /* of the table, container or queue */
    str      token;  /* export: of the store's next page */
    uint64_t offset; /* in its file of lines */
} copy_place;

typedef struct {
    const store_copy_options *o;
    const char               *state_path;
    str                       store;  /* store_describe: a state of another store is not gone on with */
    copy_place                resume; /* empty part: from the start */
    copy_progress             progress;
} copy_run;

/* RES_NOT_FOUND: there is none. RES_CONFIG: it is of another store; *ret_store is that one's name. */
res copy_state_load(task *t, copy_run *run, str *ret_store) MUST_USE;
res copy_state_save(task *t, const copy_run *run, const copy_place *at) MUST_USE;

/* Takes the place to resume if it is in this one: *ret is then that place, else its beginning. */
void copy_state_take(copy_run *run, str part, str name, copy_place *ret);
/* Is this one before the place to resume, in the order of import: tables, blobs, queues, each by name? */
bool copy_state_is_behind(const copy_run *run, str part, str name);

#endif
