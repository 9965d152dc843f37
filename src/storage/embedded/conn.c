/* conn.c -- a connection's prepared statements, and what failures of SQLite mean.
 *
 * Statements are kept for the life of the connection, found by the address of their text. Those that a job
 * has used are reset when it ends: one that is not keeps its snapshot, and what was bound to it.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/conn.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/clock.h"
#include "storage/embedded/file.h"

enum { TICKS_PER_US = 10 };

static const char rollback[] = "ROLLBACK";

/* ---- outcomes ---- */

res engine_failed(engine_outcome *out, res code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(out->why, sizeof out->why, fmt, args);
    va_end(args);
    out->result = code;
    return code;
}

static bool sqlite_failed(engine_conn *c, int code, engine_outcome *out)
{
    res r = file_result(code);
    (void)engine_failed(out, r, "embedded store: %s",
                        r == RES_INTERNAL ? sqlite3_errmsg(c->db) : file_words(code));
    return false;
}

/* ---- statements ---- */

/* By address, with linear probing. NULL: all places are taken. */
static kept *find_kept(engine_conn *c, const char *sql)
{
    size_t at = ((uintptr_t)sql * 0x9e3779b97f4a7c15u) >> 40 & (KEPT_MAX - 1);
    while (c->kept[at].sql != NULL && c->kept[at].sql != sql)
        at = (at + 1) & (KEPT_MAX - 1);
    return &c->kept[at];
}

static kept *prepare(engine_conn *c, const char *sql, engine_outcome *out)
{
    kept *k = find_kept(c, sql);
    if (k->sql != NULL)
        return k;
    if (c->kept_count == KEPT_MAX - 1) {
        (void)engine_failed(out, RES_INTERNAL, "embedded store: too many different statements");
        return NULL;
    }
    int code = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &k->s, NULL);
    if (code != SQLITE_OK) {
        (void)sqlite_failed(c, code, out);
        return NULL;
    }
    k->sql = sql;
    c->kept_count++;
    return k;
}

sqlite3_stmt *engine_prepare(engine_conn *c, const char *sql, engine_outcome *out)
{
    kept *k = prepare(c, sql, out);
    if (k == NULL)
        return NULL;
    if (k->used) {
        (void)sqlite3_reset(k->s);
        (void)sqlite3_clear_bindings(k->s);
    } else {
        k->used = true;
        c->used[c->used_count++] = k;
    }
    return k->s;
}

bool engine_step(engine_conn *c, sqlite3_stmt *s, engine_outcome *out)
{
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return sqlite_failed(c, code, out);
}

void conn_end_job(engine_conn *c)
{
    for (size_t i = 0; i < c->used_count; i++) {
        c->used[i]->used = false;
        (void)sqlite3_reset(c->used[i]->s);
        (void)sqlite3_clear_bindings(c->used[i]->s);
    }
    c->used_count = 0;
}

bool conn_control(engine_conn *c, const char *sql, engine_outcome *out)
{
    kept *k = prepare(c, sql, out);
    if (k == NULL)
        return false;
    int code = sqlite3_step(k->s);
    (void)sqlite3_reset(k->s);
    return code == SQLITE_DONE || sqlite_failed(c, code, out);
}

bool conn_in_transaction(const engine_conn *c)
{
    return sqlite3_get_autocommit(c->db) == 0;
}

void conn_roll_back(engine_conn *c)
{
    engine_outcome ignored; /* it is void either way, and the failure that led here is the one to tell */
    if (conn_in_transaction(c))
        (void)conn_control(c, rollback, &ignored);
}

sqlite3 *engine_db(engine_conn *c)
{
    return c->db;
}

int64_t engine_tick(engine_conn *c)
{
    int64_t now = clock_wall_us() * TICKS_PER_US;
    c->last_tick = now > c->last_tick ? now : c->last_tick + 1;
    return c->last_tick;
}

void engine_wake_chores(engine_conn *c)
{
    for (size_t i = 0; i < c->chore_count; i++)
        c->chore_waits[i] = true;
}

void conn_close(engine_conn *c)
{
    for (size_t i = 0; i < KEPT_MAX; i++)
        (void)sqlite3_finalize(c->kept[i].s);
    (void)sqlite3_close(c->db);
}
