/* snapshot.h -- the document of all records in short form: made in one pass over the table, stored as a blob,
 * held in memory with what a search needs (specification §11 Snapshot and Refresh, §13 Search).
 *
 *     {"version":1,"generatedAt":"…","count":n,"items":[…]}      items as in projection.h, newest first
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_H
#define TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_H

#include "runtime/http.h"

/* ---- making it ---- */

typedef struct {
    size_t  count, skipped, bytes;
    str     generated_at;
    bool    stats_refreshed; /* the counts of the same pass were stored too */
    int64_t stats_total;
} snapshot_built;

/* One after another in this process, so that an older pass never replaces a younger one's result. A failure
 * to store the counts is no failure. */
res snapshot_build(task *t, snapshot_built *ret) MUST_USE;

/* ---- the copy in memory ---- */

/* One item of the document, for searching. */
typedef struct {
    str    json;        /* the item as it stands in the document */
    str    haystack;    /* lower case: "owner name type description [verified] [archived]" */
    size_t title_bytes; /* of the haystack: "owner name" */
    str    type;        /* lower case */
    bool   verified, archived;
} snapshot_item;

typedef struct snapshot snapshot;

/* The newest version, as held_take has it. RES_NOT_FOUND: there is none yet; never scans the table. It lives
 * as long as t's arena. */
res                  snapshot_hold(task *t, const snapshot **ret) MUST_USE;
str                  snapshot_body(const snapshot *s);   /* the blob, verbatim */
str                  snapshot_packed(const snapshot *s); /* the same as gzip */
str                  snapshot_etag(const snapshot *s);   /* the blob's, with its quotes */
/* NULL: the blob is no such document (it may be somebody else's). */
const snapshot_item *snapshot_items(const snapshot *s, size_t *ret_count);
/* The haystacks of all items in their order, one behind another, with a line end after each. */
str                  snapshot_haystacks(const snapshot *s);

/* {"error","hint"}, 503, Retry-After: what readers get as long as there is none. */
res snapshot_answer_none(task *t, const request *in, reply *out);

void snapshot_forget_for_test(void);

#endif
