/* tables_rows.h -- what the files of the embedded tables share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_TABLES_ROWS_H
#define TRESTLE_STORAGE_EMBEDDED_TABLES_ROWS_H

#include "storage/embedded/engine.h"
#include "storage/embedded/row_codec.h"
#include "storage/tables.h"

/* ---- in a thread ---- */

/* The number of the table, by its name in any case; else RES_UNPROVISIONED in *out. */
bool tables_find(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out);
/* As a blob that sorts as Azure does. Without memory: false and *out. */
bool tables_bind_key(sqlite3_stmt *s, int at, str key, engine_outcome *out);
str  tables_column(sqlite3_stmt *s, int at); /* valid until the statement's next step */
res  tables_damaged(engine_outcome *out);
/* Appends the body, or those properties of it that are wanted. props: room for ENTITY_PROPS_MAX. */
bool tables_put_body(buf *out, str body, const char *const *select, property *props);

/* ---- on the loop ---- */

/* Properties of a body, borrowed from it; *ret has its keys already. */
res tables_take_body(task *t, edm_ticks ticks, str body, entity *ret) MUST_USE;
str tables_etag(arena *a, edm_ticks ticks);

/* tables_write.c and tables_query.c */
res tables_do_write(void *self, task *t, str in, const table_write *w) MUST_USE;
res tables_do_commit(void *self, task *t, str in, const table_write *writes, size_t count,
                     size_t *ret_failed) MUST_USE;
res tables_do_query(void *self, task *t, str in, const table_query *q, entity_page *ret) MUST_USE;

#endif
