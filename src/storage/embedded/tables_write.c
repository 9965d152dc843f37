/* tables_write.c -- writes of entities, one or several, in the writer's thread.
 *
 * A condition is a tick, since ETags are made of nothing else. Whether it holds is decided by the statement
 * that writes; only when that found nothing to change does a second look tell a row that is gone from one
 * that is newer. The merge alone reads first.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "storage/embedded/tables_rows.h"

#define ANY_TICK INT64_MIN

enum { BODY_BYTES_MAX = 4 * MIB, MERGED_PROPS_MAX = 2 * ENTITY_PROPS_MAX };

typedef struct {
    str                table;
    const table_write *writes;
    size_t             count;
    edm_ticks         *ticks; /* of each: first the condition, after its success the new one */
    size_t             failed;
} write_job;

typedef struct {
    engine_conn       *c;
    int64_t            table;
    const table_write *w;
    edm_ticks          condition, now;
    engine_outcome    *out;
} one;

static res no_memory(engine_outcome *out)
{
    return engine_failed(out, RES_UNAVAILABLE, "out of memory");
}

/* A statement whose first three parameters are the place of the row. */
static sqlite3_stmt *prepare_at(const one *o, const char *sql)
{
    sqlite3_stmt *s = engine_prepare(o->c, sql, o->out);
    if (s == NULL)
        return NULL;
    (void)sqlite3_bind_int64(s, 1, o->table);
    if (!tables_bind_key(s, 2, o->w->e->partition, o->out) || !tables_bind_key(s, 3, o->w->e->row, o->out))
        return NULL;
    return s;
}

static sqlite3_stmt *find_row(const one *o)
{
    return prepare_at(o, "SELECT ticks, body FROM entities WHERE table_id = ?1 AND pk = ?2 AND rk = ?3");
}

/* Nothing was changed: because there is nothing, or because it is not what the caller knows? */
static res why_nothing(const one *o)
{
    sqlite3_stmt *s = find_row(o);
    if (s == NULL)
        return RES_INTERNAL;
    return engine_step(o->c, s, o->out) ? RES_PRECONDITION : RES_NOT_FOUND;
}

/* Runs a statement that changes the row or leaves it. */
static res change(const one *o, sqlite3_stmt *s, res otherwise)
{
    (void)engine_step(o->c, s, o->out);
    if (o->out->result != RES_OK)
        return o->out->result;
    return sqlite3_changes64(engine_db(o->c)) > 0 ? RES_OK : otherwise;
}

static res put_body(const one *o, const char *sql, const property *props, size_t count, res otherwise)
{
    buf           body;
    res           r = RES_INTERNAL;
    sqlite3_stmt *s = prepare_at(o, sql);
    buf_init(&body, NULL, BODY_BYTES_MAX);
    row_encode(props, count, &body);
    if (body.failed) {
        r = no_memory(o->out);
    } else if (s != NULL) {
        (void)sqlite3_bind_int64(s, 4, o->now);
        (void)sqlite3_bind_blob64(s, 5, body.at, body.len, SQLITE_STATIC);
        if (o->condition != ANY_TICK)
            (void)sqlite3_bind_int64(s, 6, o->condition);
        r = change(o, s, otherwise);
        (void)sqlite3_reset(s); /* the body goes now */
    }
    buf_free(&body);
    return r;
}

static const char insert_sql[] = "INSERT INTO entities VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
static const char upsert_sql[] = "INSERT INTO entities VALUES (?1, ?2, ?3, ?4, ?5)"
                                 " ON CONFLICT DO UPDATE SET ticks = ?4, body = ?5";
static const char update_sql[] =
    "UPDATE entities SET ticks = ?4, body = ?5"
    " WHERE table_id = ?1 AND pk = ?2 AND rk = ?3 AND (?6 IS NULL OR ticks = ?6)";
static const char delete_sql[] = "DELETE FROM entities WHERE table_id = ?1 AND pk = ?2 AND rk = ?3"
                                 " AND (?4 IS NULL OR ticks = ?4)";

static res remove_row(const one *o)
{
    sqlite3_stmt *s = prepare_at(o, delete_sql);
    if (s == NULL)
        return RES_INTERNAL;
    if (o->condition != ANY_TICK)
        (void)sqlite3_bind_int64(s, 4, o->condition);
    res r = change(o, s, RES_COUNT);
    return r == RES_COUNT ? why_nothing(o) : r;
}

/* ---- merge ---- */

static property *find_property(property *props, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(props[i].name, name))
            return &props[i];
    return NULL;
}

static size_t merge_into(property *props, size_t count, const entity *changes)
{
    size_t stored = count;
    for (size_t i = 0; i < changes->count; i++) {
        property *p = find_property(props, stored, changes->props[i].name);
        if (p == NULL)
            p = &props[count++];
        *p = changes->props[i];
    }
    return count;
}

/* Each property has passed its checks; together they may be too many. */
static res check_merged(const one *o, property *props, size_t count)
{
    entity e = {.partition = o->w->e->partition, .row = o->w->e->row, .props = props, .count = count};
    if (count > ENTITY_PROPS_MAX)
        return engine_failed(o->out, RES_TOO_LARGE, "entity: %zu properties after the merge, at most %d",
                             count, ENTITY_PROPS_MAX);
    if (entity_bytes(&e) > ENTITY_BYTES_MAX)
        return engine_failed(o->out, RES_TOO_LARGE, "entity: %zu bytes after the merge, at most %d",
                             entity_bytes(&e), ENTITY_BYTES_MAX);
    return RES_OK;
}

static res merge_with(const one *o, str body, property *props)
{
    size_t count;
    if (!row_decode(body, NULL, props, &count))
        return tables_damaged(o->out);
    count = merge_into(props, count, o->w->e);
    TRY(check_merged(o, props, count));
    one unconditional = *o;
    unconditional.condition = ANY_TICK; /* it was looked at already */
    return put_body(&unconditional, update_sql, props, count, RES_INTERNAL);
}

static res merge_row(const one *o)
{
    sqlite3_stmt *s = find_row(o);
    if (s == NULL)
        return RES_INTERNAL;
    if (!engine_step(o->c, s, o->out)) {
        if (o->out->result != RES_OK || o->w->kind == WRITE_MERGE)
            return RES_NOT_FOUND;
        return put_body(o, insert_sql, o->w->e->props, o->w->e->count, RES_INTERNAL);
    }
    if (o->condition != ANY_TICK && sqlite3_column_int64(s, 0) != o->condition)
        return RES_PRECONDITION;
    property *props = malloc(MERGED_PROPS_MAX * sizeof *props);
    if (props == NULL)
        return no_memory(o->out);
    res r = merge_with(o, tables_column(s, 1), props);
    free(props);
    return r;
}

/* ---- jobs ---- */

static res write_row(const one *o)
{
    const entity *e = o->w->e;
    res           r;
    switch (o->w->kind) {
    case WRITE_INSERT:
        return put_body(o, insert_sql, e->props, e->count, RES_CONFLICT);
    case WRITE_UPSERT_REPLACE:
        return put_body(o, upsert_sql, e->props, e->count, RES_INTERNAL);
    case WRITE_REPLACE:
        r = put_body(o, update_sql, e->props, e->count, RES_COUNT);
        return r == RES_COUNT ? why_nothing(o) : r;
    case WRITE_MERGE:
    case WRITE_UPSERT_MERGE:
        return merge_row(o);
    case WRITE_DELETE:
        return remove_row(o);
    }
    return RES_INTERNAL;
}

static res write_rows(engine_conn *c, void *job, engine_outcome *out)
{
    write_job *j = job;
    int64_t    id;
    j->failed = j->count;
    if (!tables_find(c, j->table, &id, out))
        return out->result;
    for (size_t i = 0; i < j->count; i++) {
        one o = {.c = c,
                 .table = id,
                 .w = &j->writes[i],
                 .condition = j->ticks[i],
                 .now = engine_tick(c),
                 .out = out};
        res r = write_row(&o);
        if (r != RES_OK || out->result != RES_OK) {
            j->failed = i;
            return r;
        }
        j->ticks[i] = o.now;
    }
    return RES_OK;
}

static bool is_conditional(write_kind kind)
{
    return kind == WRITE_REPLACE || kind == WRITE_MERGE || kind == WRITE_DELETE;
}

static res read_condition(task *t, const table_write *w, edm_ticks *ret)
{
    *ret = ANY_TICK;
    if (!is_conditional(w->kind) || str_eq(w->etag, ETAG_ANY))
        return RES_OK;
    if (row_etag_parse(w->etag, ret))
        return RES_OK;
    return task_fail(t, RES_INVALID, "'%.*s' is no ETag of an entity", STR_ARG(w->etag));
}

static void tell_etags(task *t, const write_job *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const table_write *w = &j->writes[i];
        w->e->etag = w->kind == WRITE_DELETE ? STR("") : tables_etag(t->arena, j->ticks[i]);
    }
}

res tables_do_commit(void *self, task *t, str in, const table_write *writes, size_t count, size_t *ret_failed)
{
    write_job j = {.table = in, .writes = writes, .count = count, .failed = count};
    j.ticks = arena_array(t->arena, edm_ticks, count);
    for (size_t i = 0; i < count; i++) {
        res r = read_condition(t, &writes[i], &j.ticks[i]);
        if (r != RES_OK) {
            *ret_failed = i;
            return r;
        }
    }
    res r = engine_write(t, self, write_rows, &j);
    if (r == RES_OK)
        tell_etags(t, &j);
    else
        *ret_failed = j.failed;
    return r;
}

res tables_do_write(void *self, task *t, str in, const table_write *w)
{
    edm_ticks ticks;
    TRY(read_condition(t, w, &ticks));
    write_job j = {.table = in, .writes = w, .count = 1, .ticks = &ticks};
    TRY(engine_write(t, self, write_rows, &j));
    tell_etags(t, &j);
    return RES_OK;
}
