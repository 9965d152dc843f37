/* tables_query.c -- pages of rows: sought by the filter's key ranges, filtered in the reader's thread.
 *
 * A page ends after `top` rows, PAGE_BYTES, or SCAN_ROWS and SCAN_BYTES that were looked at, so that no query
 * keeps a reader (and the log from being written back) for long; then it may be empty and have a token. The
 * token is the key of the next row:
 *
 *     position   length partition-key  row-key
 *     a row      length partition-key  length row-key  ticks  4 bytes: length of  body
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "storage/embedded/tables_rows.h"

enum {
    PAGE_BYTES = 4 * MIB,
    OUT_BYTES_MAX = 12 * MIB, /* a page and the row that ends it */
    SCAN_ROWS = 10000,
    SCAN_BYTES = 32 * MIB,
    POSITION_BYTES_MAX = 64 * KIB,
    LENGTH_BYTES = 4,
};

/* Sorts after every key: a stored key has a byte below C0 after FF. */
#define AFTER_ALL_KEYS STR("\xff\xff")

typedef struct {
    str                table;
    const filter      *where;
    const char *const *select;
    unsigned           top;
    filter_range       partition, row;
    bool               exact;              /* one partition: partition.from */
    str                start_pk, start_rk; /* the first row that may be of interest */
    property          *props;              /* the thread's, while it runs */
    size_t             count;              /* rows in out */
    buf               *out, *next;
} query_job;

/* ---- in the thread ---- */

/* A key as it was given, appended with its length first. */
static void put_key(buf *out, str stored)
{
    row_put_text(out, stored);
    if (!out->failed && stored.len > 0)
        row_key_load(out->at + out->len - stored.len, stored.len);
}

static bool bind_range(sqlite3_stmt *s, int at, const filter_range *range, engine_outcome *out)
{
    if (range->exact)
        return tables_bind_key(s, at, range->from, out);
    if (range->has_to)
        return tables_bind_key(s, at, range->to, out);
    return sqlite3_bind_blob(s, at, AFTER_ALL_KEYS.at, (int)AFTER_ALL_KEYS.len, SQLITE_STATIC) == SQLITE_OK;
}

/* Both give pk, rk, ticks and body, in order, from the start on. */
static sqlite3_stmt *prepare_scan(engine_conn *c, const query_job *j, int64_t id, engine_outcome *out)
{
    sqlite3_stmt *s =
        j->exact ? engine_prepare(c,
                                  "SELECT pk, rk, ticks, body FROM entities WHERE table_id = ?1 AND pk = ?2"
                                  " AND rk >= ?3 AND rk <= ?4 ORDER BY rk",
                                  out)
                 : engine_prepare(c,
                                  "SELECT pk, rk, ticks, body FROM entities WHERE table_id = ?1"
                                  " AND (pk, rk) >= (?2, ?3) AND pk <= ?4 ORDER BY pk, rk",
                                  out);
    if (s == NULL)
        return NULL;
    (void)sqlite3_bind_int64(s, 1, id);
    if (!tables_bind_key(s, 2, j->start_pk, out) || !tables_bind_key(s, 3, j->start_rk, out) ||
        !bind_range(s, 4, j->exact ? &j->row : &j->partition, out))
        return NULL;
    return s;
}

/* The length is known when the properties that are wanted have been written. */
static bool put_sized_body(query_job *j, str body)
{
    (void)buf_add(j->out, (str){"\0\0\0", LENGTH_BYTES});
    size_t begin = j->out->len;
    if (!tables_put_body(j->out, body, j->select, j->props))
        return false;
    for (size_t i = 0; !j->out->failed && i < LENGTH_BYTES; i++)
        j->out->at[begin - LENGTH_BYTES + i] = (char)((j->out->len - begin) >> (8 * i));
    return true;
}

/* Appends the row, and takes it back when the filter does not want it. */
static res put_row(query_job *j, sqlite3_stmt *s, engine_outcome *out)
{
    size_t begin = j->out->len;
    str    body = tables_column(s, 3);
    size_t pk_len = (size_t)sqlite3_column_bytes(s, 0), rk_len = (size_t)sqlite3_column_bytes(s, 1);

    put_key(j->out, tables_column(s, 0));
    size_t pk_end = j->out->len;
    put_key(j->out, tables_column(s, 1));
    if (j->out->failed)
        return RES_OK;
    if (j->where != NULL) {
        entity e = {.partition = {j->out->at + pk_end - pk_len, pk_len},
                    .row = {j->out->at + j->out->len - rk_len, rk_len},
                    .timestamp = sqlite3_column_int64(s, 2),
                    .props = j->props};
        if (!row_decode(body, NULL, j->props, &e.count))
            return tables_damaged(out);
        if (!filter_matches(j->where, &e)) {
            j->out->len = begin;
            return RES_OK;
        }
    }
    row_put_number(j->out, (uint64_t)sqlite3_column_int64(s, 2));
    if (!put_sized_body(j, body))
        return tables_damaged(out);
    j->count++;
    return RES_OK;
}

static void put_position(query_job *j, sqlite3_stmt *s)
{
    str rk = tables_column(s, 1);
    put_key(j->next, tables_column(s, 0));
    if (buf_add(j->next, rk) && rk.len > 0)
        row_key_load(j->next->at + j->next->len - rk.len, rk.len);
}

static res scan(engine_conn *c, query_job *j, sqlite3_stmt *s, engine_outcome *out)
{
    size_t rows = 0, bytes = 0;
    while (engine_step(c, s, out)) {
        if (j->count == j->top || j->out->len >= PAGE_BYTES || rows == SCAN_ROWS || bytes >= SCAN_BYTES) {
            put_position(j, s);
            break;
        }
        rows++;
        bytes += (size_t)sqlite3_column_bytes(s, 3);
        TRY(put_row(j, s, out));
        if (j->out->failed)
            break;
    }
    return j->out->failed || j->next->failed ? engine_failed(out, RES_UNAVAILABLE, "out of memory") : RES_OK;
}

static res query_rows(engine_conn *c, void *job, engine_outcome *out)
{
    query_job *j = job;
    int64_t    id;
    if (!tables_find(c, j->table, &id, out))
        return out->result;
    sqlite3_stmt *s = prepare_scan(c, j, id, out);
    if (s == NULL)
        return RES_INTERNAL;
    if (j->where != NULL || j->select != NULL) {
        j->props = malloc(ENTITY_PROPS_MAX * sizeof *j->props);
        if (j->props == NULL)
            return engine_failed(out, RES_UNAVAILABLE, "out of memory");
    }
    res r = scan(c, j, s, out);
    free(j->props);
    j->props = NULL;
    return r;
}

/* ---- on the loop ---- */

static res bad_token(task *t)
{
    return task_fail(t, RES_INVALID, "this is no token of a page of this table");
}

/* Where to begin: what the filter says of the keys, or the token, whichever is later. False: there is nothing
 * to find, since the token lies behind the one partition of interest. */
static bool choose_start(query_job *j, bool has_position, str pk, str rk)
{
    j->exact = j->partition.exact;
    j->start_pk = j->partition.from;
    j->start_rk = j->exact ? j->row.from : (str){0};
    if (!has_position)
        return true;
    int order = entity_compare_text(pk, j->start_pk);
    if (order > 0 && j->exact)
        return false;
    if (order > 0 || (order == 0 && entity_compare_text(rk, j->start_rk) > 0)) {
        j->start_pk = pk;
        j->start_rk = rk;
    }
    return true;
}

static bool take_size(str *rest, str *ret_body)
{
    size_t len = 0;
    if (rest->len < LENGTH_BYTES)
        return false;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        len |= (size_t)(unsigned char)rest->at[i] << (8 * i);
    if (len > rest->len - LENGTH_BYTES)
        return false;
    *ret_body = str_slice(*rest, LENGTH_BYTES, LENGTH_BYTES + len);
    *rest = str_from(*rest, LENGTH_BYTES + len);
    return true;
}

static res take_row(task *t, str *rest, entity *ret)
{
    str      body;
    uint64_t ticks;
    *ret = (entity){0};
    if (!row_take_text(rest, &ret->partition) || !row_take_text(rest, &ret->row) ||
        !row_take_number(rest, &ticks) || !take_size(rest, &body))
        return RES_INTERNAL;
    return tables_take_body(t, (edm_ticks)ticks, body, ret);
}

res tables_do_query(void *self, task *t, str in, const table_query *q, entity_page *ret)
{
    query_job j = {.table = in, .where = q->where, .select = q->select, .top = q->top};
    str       pk = {0}, rk = q->token;
    if (j.top == 0 || j.top > TABLES_PAGE_MAX)
        j.top = TABLES_PAGE_MAX;
    if (q->token.len > 0 && !row_take_text(&rk, &pk))
        return bad_token(t);
    filter_key_ranges(q->where, &j.partition, &j.row);
    if (!choose_start(&j, q->token.len > 0, pk, rk)) {
        *ret = (entity_page){0};
        return RES_OK;
    }
    j.out = engine_buf(t, OUT_BYTES_MAX);
    j.next = engine_buf(t, POSITION_BYTES_MAX);
    TRY(engine_read(t, self, query_rows, &j));

    entity_page page = {.at = arena_array(t->arena, entity, j.count), .len = j.count};
    str         rest = buf_str(j.out);
    for (size_t i = 0; i < page.len; i++)
        TRY(take_row(t, &rest, &page.at[i]));
    page.token = buf_str(j.next);
    *ret = page;
    return RES_OK;
}
