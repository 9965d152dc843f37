/* upsert.h -- one record into the table: read, compare, write if it differs (specification §7).
 *
 * Writers of one key in this process go one after another (key_lock.h). Others are met by their ETags: up to
 * four writes, with 100, 200 and 400 ms between them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_UPSERT_H
#define TRESTLE_DOMAIN_ACTIONS_UPSERT_H

#include "domain/actions/facts.h"
#include "domain/actions/row.h"
#include "runtime/key_lock.h"

enum { UPSERT_TRIES_MAX = 4 };

typedef enum { UPSERT_CREATED, UPSERT_UPDATED, UPSERT_UNCHANGED } upsert_kind;

typedef struct {
    upsert_kind kind;
    str         synced;       /* LastSyncedUtc as stored now */
    size_t      needed_bytes; /* RES_TOO_LARGE: what the row would take; 0: the store refused it */
} upsert_result;

/* RES_CONFLICT: somebody else was faster, four times; RES_TOO_LARGE; or what storage said. On success the
 * cached copy is dropped already and the aggregates are told. */
res upsert_record(task *t, const record *r, upsert_result *ret) MUST_USE;
/* The same for who holds the key's lock already (batches do). */
res upsert_locked(task *t, const record *r, upsert_result *ret) MUST_USE;

res upsert_lock(task *t, const record *r, key_lock **ret) MUST_USE;

/* ---- the steps, for batches ---- */

/* What is stored under a record's key, as far as an upsert cares. */
typedef struct {
    bool  there, same; /* same: with the record's hash */
    str   etag, synced;
    facts was; /* unless it is the same */
} upsert_stored;

/* One read. A payload that is about to be replaced is kept as history first, when the settings want it. */
res upsert_look(task *t, const record *r, upsert_stored *ret) MUST_USE;

/* The write that turns *seen into the record, for tables_write or tables_commit; *e becomes its row.
 * RES_TOO_LARGE as row_make. */
res upsert_prepare(task *t, const record *r, const upsert_stored *seen, str synced, entity *e,
                   table_write *ret, size_t *ret_bytes) MUST_USE;

/* Somebody else was faster; and: whether it was carried out is not known. */
bool upsert_was_raced(res r);
bool upsert_is_doubtful(res r);
/* Nobody has written between the two looks. */
bool upsert_same_row(const upsert_stored *a, const upsert_stored *b);
/* What is stored is what we wrote then. */
bool upsert_is_ours(const upsert_stored *now, str synced);
/* Before the try that follows `tries` lost ones. */
res  upsert_pause(task *t, unsigned tries) MUST_USE;

/* What must follow every successful write, before it is acknowledged: drops the cached copies (cache.h) and
 * tells the aggregates (aggregate.h). before: what was replaced, NULL for a new one. */
typedef struct {
    const record *now;
    const facts  *before;
    str           synced;
} upsert_written;
void upsert_follow(task *t, const upsert_written *writes, size_t count);

#endif
