/* tables.h -- entities in tables: Azure's semantics, whatever is below.
 *
 * Results, the same on every back end:
 *     RES_NOT_FOUND      no such entity               RES_CONFLICT      insert: it exists already
 *     RES_UNPROVISIONED  no such table                RES_PRECONDITION  its ETag is another one by now
 *     RES_INVALID, RES_TOO_LARGE  refused before anything is sent, with the limit in the message
 *     RES_CONFIG         credentials are refused, or no storage is set up
 *     RES_UNREACHABLE, RES_THROTTLED, RES_TIMEOUT, RES_UNAVAILABLE  after retries, within the deadline
 *     RES_UPSTREAM       it answered with a failure or nonsense; or the reply of a conditional write was lost
 *                        and what became of it cannot be told (see `operation` below)
 *
 * Tables are made on first use (provision.h). Names: a letter, then letters and digits, 3 to 63; case counts
 * for nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_TABLES_H
#define TRESTLE_STORAGE_TABLES_H

#include "storage/filter.h"
#include "storage/store.h"

typedef struct {
    store_id store;
    str      name;
} table;

#define ETAG_ANY STR("*")

/* ---- tables ---- */

res tables_create(task *t, table in) MUST_USE; /* also when it is there already */
res tables_delete(task *t, table in) MUST_USE; /* RES_NOT_FOUND */
/* Names that begin so, in order, up to `most` (1 to 1000); *ret_token: see tables_query. */
res tables_list(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                size_t *ret_count, str *ret_token) MUST_USE;

/* ---- one entity ---- */

res tables_get(task *t, table in, str partition, str row, entity *ret) MUST_USE;
/* Only these properties (the keys are always there); select ends with NULL. */
res tables_get_some(task *t, table in, str partition, str row, const char *const *select,
                    entity *ret) MUST_USE;

typedef enum {
    WRITE_INSERT,         /* RES_CONFLICT when it exists */
    WRITE_REPLACE,        /* needs an ETag or ETAG_ANY; RES_NOT_FOUND, RES_PRECONDITION */
    WRITE_MERGE,          /* likewise; properties that it does not name stay */
    WRITE_UPSERT_REPLACE, /* whatever was there */
    WRITE_UPSERT_MERGE,
    WRITE_DELETE, /* needs an ETag or ETAG_ANY; of the entity only the keys count */
} write_kind;

typedef struct {
    write_kind  kind;
    entity     *e; /* its ETag and nothing else is changed, on success: the new one; empty after a delete */
    str         etag; /* the condition; may look into *e */
    /* The name of a String property in *e whose value is of this one operation alone (a fresh UUID). With it,
     * a write whose reply was lost is looked up and told apart from another writer's (spec 8.4). */
    const char *operation;
} table_write;

res tables_write(task *t, table in, const table_write *w) MUST_USE;

/* The same, for reading along. */
res tables_insert(task *t, table in, entity *e) MUST_USE;
res tables_replace(task *t, table in, entity *e, str etag) MUST_USE;
res tables_merge(task *t, table in, entity *e, str etag) MUST_USE;
res tables_upsert_replace(task *t, table in, entity *e) MUST_USE;
res tables_upsert_merge(task *t, table in, entity *e) MUST_USE;
res tables_remove(task *t, table in, str partition, str row, str etag) MUST_USE;

/* ---- several, all or nothing ---- */

enum { TABLES_BATCH_MAX = 100, TABLES_BATCH_BYTES_MAX = 4 * 1024 * 1024 };

/* One partition, each row once, 1 to TABLES_BATCH_MAX writes, TABLES_BATCH_BYTES_MAX by entity_bytes and on
 * the wire: else RES_INVALID or RES_TOO_LARGE. On failure nothing is applied and *ret_failed (may be NULL) is
 * the index of the write that failed, or `count` when it was none of them. */
res tables_commit(task *t, table in, const table_write *writes, size_t count, size_t *ret_failed) MUST_USE;

/* ---- many ---- */

enum { TABLES_PAGE_MAX = 1000 };

typedef struct {
    const filter      *where;  /* NULL: all */
    const char *const *select; /* NULL: all properties; else names, NULL at the end */
    unsigned           top;    /* of a page, 1 to TABLES_PAGE_MAX; 0: TABLES_PAGE_MAX */
    str                token;  /* of the page before; empty: from the start */
} table_query;

typedef struct {
    entity *at; /* by PartitionKey, then RowKey, ordinal */
    size_t  len;
    str     token; /* empty: that was the last page. A page may be empty and still have a token */
} entity_page;

/* RES_INVALID for a token that is none. Tokens are text fit for a URL, and mean nothing to anybody else. */
res tables_query(task *t, table in, const table_query *q, entity_page *ret) MUST_USE;

/* Every row, one after another, in bounded memory however many there are: what fn allocates from t->arena is
 * freed after each page, and so is *e. A result other than RES_OK stops and is passed on. */
typedef res tables_each_fn(task *t, const entity *e, void *ctx);
res         tables_each(task *t, table in, const table_query *q, tables_each_fn *fn, void *ctx) MUST_USE;

#endif
