/* upsert.h -- one record into the table: read, compare, write if it differs (specification §7).
 *
 * Writers of one key in this process go one after another (key_lock.h). Others are met by their ETags: up to
 * four writes, with 100, 200 and 400 ms between them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_UPSERT_H
#define TRESTLE_DOMAIN_ACTIONS_UPSERT_H

#include "domain/actions/row.h"

typedef enum { UPSERT_CREATED, UPSERT_UPDATED, UPSERT_UNCHANGED } upsert_kind;

typedef struct {
    upsert_kind kind;
    str         synced;       /* LastSyncedUtc as stored now */
    size_t      needed_bytes; /* RES_TOO_LARGE: what the row would take */
} upsert_result;

/* RES_CONFLICT: somebody else was faster, four times; RES_TOO_LARGE; or what storage said. On success the
 * cached copy is dropped already and the aggregates are told. */
res upsert_record(task *t, const record *r, upsert_result *ret) MUST_USE;
/* The same for who holds the key's lock already (batches do). */
res upsert_locked(task *t, const record *r, upsert_result *ret) MUST_USE;

/* What must follow every successful write, before it is acknowledged: drops the cached copies (cache.h) and
 * tells the aggregates (aggregate.h). before: the row that was replaced, NULL for a new one. */
typedef struct {
    const record *now;
    const entity *before;
    str           synced;
} upsert_written;
void upsert_follow(task *t, const upsert_written *writes, size_t count);

#endif
