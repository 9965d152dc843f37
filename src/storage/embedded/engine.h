/* engine.h -- the SQLite file: one writer thread that commits together what comes together, and readers.
 *
 * Work is a function over a connection, run in a thread; the task that gave it waits. All writes that wait
 * when the writer is free form one transaction, each in a savepoint of its own: one that fails is undone and
 * reported, the others go on; after the common COMMIT (WAL, synchronous=FULL) all are acknowledged. If that
 * COMMIT fails, all of them have failed. Reads run on connections of their own, in a transaction that began
 * after they were asked for: what was acknowledged before is seen.
 *
 * The file: application_id "TRST", user_version is the schema's. Locked by flock on DIR/trestle.lock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_ENGINE_H
#define TRESTLE_STORAGE_EMBEDDED_ENGINE_H

#include <sqlite3.h>

#include "core/buf.h"
#include "runtime/task.h"

typedef struct engine      engine;
typedef struct engine_conn engine_conn; /* one thread's connection */

enum { ENGINE_SCHEMA = 1, ENGINE_WHY_BYTES = 200 };

/* What the thread found out, besides the job's own fields. */
typedef struct {
    res  result;
    char why[ENGINE_WHY_BYTES]; /* context for people; may be empty */
} engine_outcome;

/* In a thread: nothing is allocated from an arena, and no other job's data is touched; what the job points to
 * may be read, since its task waits. Any result but RES_OK undoes what a write did. A failure in out->result
 * (a step failed) goes before what the function returns; one that was dealt with must be set back to RES_OK.
 */
typedef res engine_fn(engine_conn *c, void *job, engine_outcome *out);

res  engine_open(const char *dir, engine **ret, char *error, size_t error_size) MUST_USE;
void engine_close(engine *e); /* accepts NULL */

/* Waits; the job's result, with its `why` as the task's message. A cancelled task's write may still have been
 * done. */
res engine_read(task *t, engine *e, engine_fn *fn, void *job) MUST_USE;
res engine_write(task *t, engine *e, engine_fn *fn, void *job) MUST_USE;

/* ---- for engine_fn ---- */

/* A prepared statement of this connection, kept between jobs; reset and with cleared bindings. `sql` must be
 * a literal: it is known by its address. NULL: it could not be prepared, and *out says so. */
sqlite3_stmt *engine_prepare(engine_conn *c, const char *sql, engine_outcome *out);
/* SQLITE_ROW: true; SQLITE_DONE: false; else false with out->result set (disk full, corrupt, …). A constraint
 * that does not hold is RES_CONFLICT. Statements need no reset: that is done after each job. */
bool          engine_step(engine_conn *c, sqlite3_stmt *s, engine_outcome *out);
res           engine_failed(engine_outcome *out, res code, const char *fmt, ...) PRINTF_LIKE(3, 4);

sqlite3 *engine_db(engine_conn *c); /* for sqlite3_changes64 and the like */

/* Strictly growing ticks of 100 ns (edm_ticks) for ETags and Timestamps; writer thread only. */
int64_t engine_tick(engine_conn *c);

/* Work left over, such as the rows of a dropped table: a piece of it is done in the transaction of each batch
 * of writes until the chore says that nothing is left (false). All chores run after the start, and again when
 * a write job calls engine_wake_chores. A piece is a millisecond or so. A failure undoes the piece alone. */
typedef bool engine_chore(engine_conn *c, engine_outcome *out);
void         engine_add_chore(engine *e, engine_chore *fn); /* before the first write; at most 4 */
void         engine_wake_chores(engine_conn *c);

/* A heap buffer that ends with t's arena: for what a thread finds. */
buf *engine_buf(task *t, size_t max_bytes);

#endif
