/* row.h -- a record as a row of the table, and back (specification §2, §9).
 *
 *     PayloadJson   String: the canonical text; or, above 32,000 UTF-16 units, Binary: gzip, with
 *                   PayloadJson1 … PayloadJson14, PayloadEncoding = "gzip" and PayloadSize (Int64)
 *     PayloadHash   String, 64 hexadecimal digits      LastSyncedUtc  String, "2026-01-02T03:04:05.678Z"
 *     Owner, Name   String, trimmed, in their own case
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_ROW_H
#define TRESTLE_DOMAIN_ACTIONS_ROW_H

#include "core/json.h"
#include "domain/actions/record.h"
#include "storage/tables.h"

enum { ROW_RAW_UNITS_MAX = 32000, ROW_PIECES_MAX = 15, ROW_PAYLOAD_MAX = 16 * 1024 * 1024 };

/* The row of aggregates in the same table; every scan leaves it out. */
#define ROW_STATS_PARTITION "statsCache"
#define ROW_STATS_ROW       "aggregate"

/* RES_TOO_LARGE: more than 15 pieces, or an entity above 1,000,000 bytes; *ret_bytes (may be NULL) is then
 * what it would take. Packing a large one takes a while: in a thread. */
res row_make(task *t, const record *r, str synced, entity *ret, size_t *ret_bytes) MUST_USE;

/* gzip, as payloads are packed: large ones in a thread, and nothing but the outcome is left in t's arena. */
res row_pack(task *t, str text, str *ret) MUST_USE;

/* The canonical text. RES_UPSTREAM: there is none, or its pieces are damaged. */
res row_payload(arena *a, const entity *e, str *ret) MUST_USE;
/* The payload as a document, for reading in it: unpaired surrogates, which JavaScript allows and our reader
 * does not, read as U+FFFD. RES_UPSTREAM: it is no JSON. */
res row_parse(arena *a, str payload, const json_val **ret) MUST_USE;
str row_hash(const entity *e);   /* empty: none */
str row_synced(const entity *e); /* as stored */

/* Now, as LastSyncedUtc has it. */
str row_now(arena *a);

/* Every record (of one owner's partition, or of all when it is empty), in bounded memory: see tables_each. */
typedef res row_fn(task *t, const entity *e, void *ctx);
res         row_each(task *t, str partition, row_fn *fn, void *ctx) MUST_USE;

#endif
