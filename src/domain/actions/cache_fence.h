/* cache_fence.h -- whether copies in Redis may be served at all: told over the table, which every instance
 * that reads or writes records can reach.
 *
 * Rows "fence-<instance>" in the partition of the aggregates. While there is one, nobody serves or fills
 * copies. An instance that serves copies has looked for such rows within the last second (in the background
 * while it is busy, so that no request waits for it). An instance that could not drop copies puts its row and
 * waits that second before it acknowledges the write: from then on no instance can serve what it failed to
 * drop. When Redis is back it drops what is left, and then takes its row away.
 *
 * A row that has not changed for longer than any copy lives belongs to an instance that is no more: whoever
 * has watched it for so long ignores it and removes it. No clocks are compared.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CACHE_FENCE_H
#define TRESTLE_DOMAIN_ACTIONS_CACHE_FENCE_H

#include "domain/actions/cache.h"
#include "storage/tables.h"

enum {
    FENCE_VALID_MS = 1000,
    FENCE_LOOK_MS = 350,          /* between two looks in the background */
    FENCE_BUSY_MS = 60 * 1000,    /* nobody asked for so long: the background stops looking */
    FENCE_COPY_LIFE_S = 600 + 60, /* no copy lives longer */
    FENCE_UNDROPPED_MAX = 4096,   /* beyond, the fence stays closed until all copies have expired */
};
#define FENCE_PREFIX "fence-"

/* May copies be served and filled now? Waits for a look at the table when the last one is too old. */
bool fence_is_open(task *t);

/* These could not be dropped. Returns when no instance can serve them any more; or when t is stopped, and
 * then the drop is made up for in the background all the same. */
void fence_close(task *t, const cache_key *keys, size_t count);

/* cache.c: one attempt to drop, for fence_close's second half. */
res cache_try_drop(task *t, const cache_key *keys, size_t count, unsigned timeout_ms) MUST_USE;

#endif
