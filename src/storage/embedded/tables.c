/* tables.c -- tables in the SQLite file: their names, and reading one entity.
 *
 * A table is a number: its rows stand in `entities` under it, in the order of their keys. A dropped table
 * loses its name at once and its rows in pieces (tables_chore); the number is never given out again, so a
 * table made anew under that name is empty from the start.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "storage/embedded/schema.h"
#include "storage/embedded/tables_rows.h"

enum {
    NAME_MAX_BYTES = 63,
    ROW_BYTES_MAX = 4 * MIB, /* 1 MiB by Azure's formula is less than that in UTF-8 */
    NAMES_BYTES_MAX = MIB,
    CHORE_ROWS = 128,
};

const char tables_schema[] =
    "CREATE TABLE table_names (id INTEGER PRIMARY KEY AUTOINCREMENT, fold TEXT NOT NULL UNIQUE,"
    " name TEXT NOT NULL) STRICT;"
    "CREATE TABLE dropped_tables (id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE entities (table_id INTEGER NOT NULL, pk BLOB NOT NULL, rk BLOB NOT NULL,"
    " ticks INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (table_id, pk, rk)) STRICT, WITHOUT ROWID;";

/* ---- shared ---- */

static bool bind_fold(sqlite3_stmt *s, int at, str name)
{
    char   fold[NAME_MAX_BYTES];
    size_t len = name.len < sizeof fold ? name.len : sizeof fold;
    for (size_t i = 0; i < len; i++)
        fold[i] = str_lower_char(name.at[i]);
    return sqlite3_bind_text(s, at, fold, (int)len, SQLITE_TRANSIENT) == SQLITE_OK;
}

bool tables_find(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT id FROM table_names WHERE fold = ?1", out);
    if (s == NULL)
        return false;
    if (bind_fold(s, 1, name) && engine_step(c, s, out)) {
        *ret_id = sqlite3_column_int64(s, 0);
        return true;
    }
    if (out->result == RES_OK)
        (void)engine_failed(out, RES_UNPROVISIONED, "there is no table '%.*s'", STR_ARG(name));
    return false;
}

bool tables_bind_key(sqlite3_stmt *s, int at, str key, engine_outcome *out)
{
    if (row_key_is_plain(key)) {
        (void)sqlite3_bind_blob64(s, at, key.len > 0 ? key.at : "", key.len, SQLITE_STATIC);
        return true;
    }
    char *stored = malloc(key.len);
    if (stored == NULL) {
        (void)engine_failed(out, RES_UNAVAILABLE, "out of memory");
        return false;
    }
    row_key_store(key, stored);
    (void)sqlite3_bind_blob64(s, at, stored, key.len, free);
    return true;
}

str tables_column(sqlite3_stmt *s, int at)
{
    const void *bytes = sqlite3_column_blob(s, at);
    return (str){bytes, (size_t)sqlite3_column_bytes(s, at)};
}

res tables_damaged(engine_outcome *out)
{
    return engine_failed(out, RES_UPSTREAM, "embedded store: a row of it is damaged");
}

bool tables_put_body(buf *out, str body, const char *const *select, property *props)
{
    size_t count;
    if (select == NULL) {
        (void)buf_add(out, body); /* the caller looks at out->failed */
        return true;
    }
    if (!row_decode(body, select, props, &count))
        return false;
    row_encode(props, count, out);
    return true;
}

str tables_etag(arena *a, edm_ticks ticks)
{
    char text[ROW_ETAG_BYTES];
    return arena_copy(a, row_etag(ticks, text));
}

res tables_take_body(task *t, edm_ticks ticks, str body, entity *ret)
{
    size_t count;
    if (!row_count(body, &count))
        return task_fail(t, RES_UPSTREAM, "embedded store: a row of it is damaged");
    ret->props = count > 0 ? arena_alloc(t->arena, count * sizeof *ret->props) : NULL;
    ret->cap = count;
    if (!row_decode(body, NULL, ret->props, &ret->count))
        return task_fail(t, RES_UPSTREAM, "embedded store: a row of it is damaged");
    ret->a = t->arena;
    ret->timestamp = ticks;
    ret->etag = tables_etag(t->arena, ticks);
    return RES_OK;
}

/* ---- tables ---- */

static res create_job(engine_conn *c, void *job, engine_outcome *out)
{
    const str    *name = job;
    sqlite3_stmt *s =
        engine_prepare(c, "INSERT INTO table_names (fold, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING", out);
    if (s == NULL || !bind_fold(s, 1, *name))
        return RES_INTERNAL;
    (void)sqlite3_bind_text64(s, 2, name->at, name->len, SQLITE_STATIC, SQLITE_UTF8);
    (void)engine_step(c, s, out);
    return sqlite3_changes64(engine_db(c)) == 0 ? RES_CONFLICT : RES_OK;
}

static res create(void *self, task *t, str name)
{
    return engine_write(t, self, create_job, &name);
}

static bool run_with_id(engine_conn *c, const char *sql, int64_t id, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return false;
    (void)sqlite3_bind_int64(s, 1, id);
    (void)engine_step(c, s, out);
    return out->result == RES_OK;
}

static res drop_job(engine_conn *c, void *job, engine_outcome *out)
{
    int64_t id;
    if (!tables_find(c, *(const str *)job, &id, out)) {
        if (out->result == RES_UNPROVISIONED)
            out->result = RES_NOT_FOUND;
        return out->result;
    }
    if (run_with_id(c, "DELETE FROM table_names WHERE id = ?1", id, out))
        (void)run_with_id(c, "INSERT INTO dropped_tables VALUES (?1)", id, out);
    engine_wake_chores(c);
    return out->result;
}

static res drop(void *self, task *t, str name)
{
    return engine_write(t, self, drop_job, &name);
}

/* Deletes the rows before the one that follows CHORE_ROWS others; there is none: all of them, and the table.
 */
static void drop_some_rows(engine_conn *c, int64_t id, engine_outcome *out)
{
    sqlite3_stmt *next = engine_prepare(
        c, "SELECT pk, rk FROM entities WHERE table_id = ?1 ORDER BY pk, rk LIMIT 1 OFFSET ?2", out);
    if (next == NULL)
        return;
    (void)sqlite3_bind_int64(next, 1, id);
    (void)sqlite3_bind_int(next, 2, CHORE_ROWS);
    if (engine_step(c, next, out)) {
        sqlite3_stmt *s =
            engine_prepare(c, "DELETE FROM entities WHERE table_id = ?1 AND (pk, rk) < (?2, ?3)", out);
        if (s == NULL)
            return;
        (void)sqlite3_bind_int64(s, 1, id);
        (void)sqlite3_bind_value(s, 2, sqlite3_column_value(next, 0));
        (void)sqlite3_bind_value(s, 3, sqlite3_column_value(next, 1));
        (void)engine_step(c, s, out);
    } else if (out->result == RES_OK && run_with_id(c, "DELETE FROM entities WHERE table_id = ?1", id, out)) {
        (void)run_with_id(c, "DELETE FROM dropped_tables WHERE id = ?1", id, out);
    }
}

bool tables_chore(engine_conn *c, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, "SELECT id FROM dropped_tables LIMIT 1", out);
    if (s == NULL || !engine_step(c, s, out))
        return false;
    drop_some_rows(c, sqlite3_column_int64(s, 0), out);
    return true;
}

/* ---- their names ---- */

typedef struct {
    str      prefix, position;
    unsigned most;
    size_t   count;
    buf     *out; /* names; then, when there are more, the folded form of the next */
} list_job;

static res list_names(engine_conn *c, void *job, engine_outcome *out)
{
    list_job     *j = job;
    sqlite3_stmt *s = engine_prepare(c,
                                     "SELECT name, fold FROM table_names WHERE fold >= ?1 AND fold >= ?2"
                                     " AND substr(fold, 1, length(?1)) = ?1 ORDER BY fold",
                                     out);
    if (s == NULL || !bind_fold(s, 1, j->prefix) || !bind_fold(s, 2, j->position))
        return RES_INTERNAL;
    while (engine_step(c, s, out)) {
        if (j->count == j->most) {
            row_put_text(j->out, tables_column(s, 1));
            break;
        }
        row_put_text(j->out, tables_column(s, 0));
        j->count++;
    }
    return j->out->failed ? engine_failed(out, RES_UNAVAILABLE, "out of memory") : RES_OK;
}

static res list(void *self, task *t, str prefix, unsigned most, str position, name_page *ret)
{
    list_job j = {.prefix = prefix, .position = position, .most = most};
    j.out = engine_buf(t, NAMES_BYTES_MAX);
    TRY(engine_read(t, self, list_names, &j));
    name_page page = {.names = arena_array(t->arena, str, j.count), .count = j.count};
    str       rest = buf_str(j.out);
    for (size_t i = 0; i < j.count; i++)
        if (!row_take_text(&rest, &page.names[i]))
            return RES_INTERNAL;
    if (rest.len > 0 && !row_take_text(&rest, &page.next))
        return RES_INTERNAL;
    *ret = page;
    return RES_OK;
}

/* ---- one entity ---- */

typedef struct {
    str                table, partition, row;
    const char *const *select;
    edm_ticks          ticks;
    buf               *out;
} get_job;

static res put_row(get_job *j, str body, engine_outcome *out)
{
    property *props = j->select != NULL ? malloc(ENTITY_PROPS_MAX * sizeof *props) : NULL;
    bool      room = j->select == NULL || props != NULL;
    bool      whole = room && tables_put_body(j->out, body, j->select, props);
    free(props);
    if (!room || (whole && j->out->failed))
        return engine_failed(out, RES_UNAVAILABLE, "out of memory");
    return whole ? RES_OK : tables_damaged(out);
}

/* The table is looked at by itself only when there is no row. */
static res get_row(engine_conn *c, void *job, engine_outcome *out)
{
    get_job      *j = job;
    int64_t       id;
    sqlite3_stmt *s = engine_prepare(
        c,
        "SELECT ticks, body FROM entities WHERE table_id = (SELECT id FROM table_names WHERE fold = ?1)"
        " AND pk = ?2 AND rk = ?3",
        out);
    if (s == NULL || !bind_fold(s, 1, j->table) || !tables_bind_key(s, 2, j->partition, out) ||
        !tables_bind_key(s, 3, j->row, out))
        return RES_INTERNAL;
    if (engine_step(c, s, out)) {
        j->ticks = sqlite3_column_int64(s, 0);
        return put_row(j, tables_column(s, 1), out);
    }
    return out->result == RES_OK && tables_find(c, j->table, &id, out) ? RES_NOT_FOUND : out->result;
}

static res get(void *self, task *t, str in, str partition, str row, const char *const *select, entity *ret)
{
    get_job j = {.table = in, .partition = partition, .row = row, .select = select};
    j.out = engine_buf(t, ROW_BYTES_MAX);
    TRY(engine_read(t, self, get_row, &j));
    entity e = entity_new(t->arena, arena_copy(t->arena, partition), arena_copy(t->arena, row));
    TRY(tables_take_body(t, j.ticks, buf_str(j.out), &e));
    *ret = e;
    return RES_OK;
}

const tables_ops embedded_tables = {
    .create = create,
    .drop = drop,
    .list = list,
    .get = get,
    .write = tables_do_write,
    .commit = tables_do_commit,
    .query = tables_do_query,
};
