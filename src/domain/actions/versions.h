/* versions.h -- the catalogue of versions: a row of each record (version_row.h), sorted by owner and name,
 * stored as gzip (specification §11 Versions).
 *
 *     {"schemaVersion":1,"generatedAt":"…","count":n,"skipped":n,"fields":[…],"flags":{…},"actions":[[…],…]}
 *
 * Its ETag is the SHA-256 of the text without the member generatedAt: the same data have the same ETag,
 * however often they are put together.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_VERSIONS_H
#define TRESTLE_DOMAIN_ACTIONS_VERSIONS_H

#include "core/hash.h"
#include "runtime/task.h"

enum { VERSIONS_SCHEMA = 1, VERSIONS_ETAG_BYTES = SHA256_HEX + 2 };

typedef struct {
    size_t count, skipped;
} versions_built;

/* From the table into the blob. */
res versions_build(task *t, versions_built *ret) MUST_USE;

typedef struct {
    str     raw, packed; /* the text, and as it is stored */
    str     etag;        /* with its quotes */
    str     generated_at;
    int64_t count, schema;
} versions;

/* The newest version, as held_take has it. When there is none it is built, by one task at a time.
 * RES_UNAVAILABLE: that failed just now, or within the last VERSIONS_PAUSE_S. It lives as long as t's arena.
 */
enum { VERSIONS_PAUSE_S = 60 };
res versions_hold(task *t, const versions **ret) MUST_USE;

/* In a thread: what `raw` says of itself. RES_UPSTREAM: it is no such document; RES_MEMORY. Views into raw;
 * etag_room has VERSIONS_ETAG_BYTES. */
res versions_read(str raw, char *etag_room, versions *ret) MUST_USE;

void versions_forget_for_test(void);

#endif
