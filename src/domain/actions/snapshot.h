/* snapshot.h -- the document of all records in short form, as a blob and in memory (specification §11).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_H
#define TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_H

#include "core/json.h"
#include "runtime/task.h"

/* One item of the document, for searching. Views into the held document. */
typedef struct {
    str  json; /* the item as it stands in the document */
    str  owner, name;
    str  haystack; /* lower case: "owner name type description [verified] [archived]" */
    str  type;
    bool verified, archived;
} snapshot_item;

typedef struct snapshot snapshot; /* counted: kept alive while somebody reads it */

/* The copy in memory, after a HEAD has told that it is the newest (a failing HEAD: after a full read).
 * RES_NOT_FOUND: there is none yet; never scans the table. The copy lives as long as t's arena. */
res                  snapshot_hold(task *t, const snapshot **ret) MUST_USE;
str                  snapshot_body(const snapshot *s);
str                  snapshot_etag(const snapshot *s); /* the blob's, with its quotes */
const snapshot_item *snapshot_items(const snapshot *s, size_t *ret_count);

void snapshot_forget_for_test(void);

#endif
