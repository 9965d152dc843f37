/* cache.h -- copies of single records in Redis, shared by all instances (specification §13).
 *
 * A copy is never older than the last acknowledged write: who misses takes a lease before reading the table,
 * and may fill only while that lease stands; a writer drops copy and lease before it answers. Every failure
 * of Redis, and every answer later than 50 ms, is a miss. Without a URL in the settings all of this does
 * nothing.
 *
 * A writer that cannot drop (Redis is down, slow, or cut off from this instance alone) closes a fence that
 * all instances know of, waits until they do, and only then answers: cache_fence.h. That costs one second,
 * once an outage. So the promise holds whatever becomes of Redis and of the way to it; also over its restart
 * from an old dump and over a failover, for copies and leases carry the run_id of the server that took them.
 *
 * What it rests on: every instance uses the same Redis and the same table, through this module; writers that
 * go to the table directly are seen after 600 s at the latest (absent records: 60 s). Redis is one primary
 * without reads from replicas; a failover that leaves the old primary answering some instances is seen after
 * the same times. No cluster: a script touches several keys.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CACHE_H
#define TRESTLE_DOMAIN_ACTIONS_CACHE_H

#include "runtime/task.h"

typedef enum { CACHE_MISS, CACHE_HIT, CACHE_ABSENT /* known not to exist */ } cache_found;

enum { CACHE_LEASE_BYTES = 33, CACHE_TEXT_MAX = 1 * MIB /* a longer one is not kept */ };
typedef struct {
    char lease[CACHE_LEASE_BYTES]; /* empty: must not fill */
} cache_lease;

/* On CACHE_MISS *ret_lease is for the fill. *ret_text lives in t's arena. Never fails: it misses. */
cache_found cache_get(task *t, str partition, str row, str *ret_text, cache_lease *ret_lease);
void        cache_fill(task *t, str partition, str row, const cache_lease *lease, str text);
void        cache_fill_absent(task *t, str partition, str row, const cache_lease *lease);

typedef struct {
    str partition, row;
} cache_key;
/* After the write to the table, before it is acknowledged. Also before a write is acknowledged that found the
 * record as it should be: who wrote it may have been stopped before its own drop. A stopped task is not
 * waited with; it must not acknowledge anything. */
void cache_drop(task *t, const cache_key *keys, size_t count);

/* Small documents with a time to live (search results); same rules, no lease. */
bool cache_document_get(task *t, str key, str *ret_text);
void cache_document_put(task *t, str key, str text, unsigned ttl_s);

/* Tests on busy machines: how long a look may take instead of 50 ms. 0: back to that. */
void cache_set_limit_for_test(unsigned ms);

#endif
