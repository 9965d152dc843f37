/* snapshot_index.h -- what a search needs of a snapshot, made once for each version of it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_INDEX_H
#define TRESTLE_DOMAIN_ACTIONS_SNAPSHOT_INDEX_H

#include "core/buf.h"
#include "domain/actions/snapshot.h"

/* On the heap; the items' views look into the document and into `haystacks`. */
typedef struct {
    snapshot_item *items;
    size_t         count, cap;
    buf            haystacks;
} snapshot_index;

/* In a thread. RES_UPSTREAM: it is no such document; RES_MEMORY. Items that are no objects are left out. */
res  snapshot_index_make(str document, snapshot_index *ret) MUST_USE;
void snapshot_index_free(snapshot_index *x);

#endif
