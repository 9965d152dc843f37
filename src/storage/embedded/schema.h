/* schema.h -- the tables of the SQLite file, by the file that uses them: statements for sqlite3_exec.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_SCHEMA_H
#define TRESTLE_STORAGE_EMBEDDED_SCHEMA_H

#include "storage/backend.h"
#include "storage/embedded/engine.h"

extern const char tables_schema[]; /* tables.c */
extern const char blobs_schema[];  /* blobs.c */
extern const char queues_schema[]; /* queues.c */

extern const tables_ops embedded_tables; /* `self` of each is the engine */
extern const blobs_ops  embedded_blobs;
extern const queues_ops embedded_queues;

engine_chore tables_chore; /* tables.c: rows of tables that were dropped */
engine_chore blobs_chore;  /* blob_dead.c: bytes that no blob has any more */
engine_chore queues_chore; /* queues.c: messages of queues that were dropped or cleared */

/* Makes all tables in a new file, refuses a foreign or newer one (RES_CONFIG); sets user_version and
 * application_id. *ret_tick: the last one that was given out. */
res schema_apply(sqlite3 *db, int64_t *ret_tick, char *error, size_t error_size) MUST_USE;

#endif
