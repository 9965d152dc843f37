/* conn.h -- one thread's connection, as the engine sees it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_CONN_H
#define TRESTLE_STORAGE_EMBEDDED_CONN_H

#include "storage/embedded/engine.h"

enum {
    KEPT_MAX = 256, /* prepared statements of a connection; a power of two */
    CHORES_MAX = 4,
};

typedef struct {
    const char   *sql; /* NULL: a free place */
    sqlite3_stmt *s;
    bool          used; /* by the job that runs now */
} kept;

struct engine_conn {
    sqlite3      *db;
    kept          kept[KEPT_MAX];
    kept         *used[KEPT_MAX];
    size_t        kept_count, used_count;
    /* The writer's own: */
    int64_t       last_tick, stored_tick;
    int           wal_pages, checkpoint_at;
    engine_chore *chores[CHORES_MAX];
    bool          chore_waits[CHORES_MAX];
    size_t        chore_count;
};

/* BEGIN, COMMIT and their like: nothing bound, no rows. False: failed, and *out says why. */
bool conn_control(engine_conn *c, const char *sql, engine_outcome *out);
bool conn_in_transaction(const engine_conn *c);
void conn_roll_back(engine_conn *c); /* if there is anything to roll back */
void conn_end_job(engine_conn *c);   /* resets the statements that it used */
void conn_close(engine_conn *c);

#endif
