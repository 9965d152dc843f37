/* cache.h -- copies of single records in Redis, shared by all instances (specification §13).
 *
 * A copy is never older than the last acknowledged write: who misses takes a lease before reading the table,
 * and may fill only while that lease stands; a writer drops copy and lease before it answers. Every failure
 * of Redis, and every answer later than 50 ms, is a miss. Without a URL in the settings all of this does
 * nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CACHE_H
#define TRESTLE_DOMAIN_ACTIONS_CACHE_H

#include "runtime/task.h"

typedef enum { CACHE_MISS, CACHE_HIT, CACHE_ABSENT /* known not to exist */ } cache_found;

enum { CACHE_LEASE_BYTES = 33 };
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
void cache_drop(task *t, const cache_key *keys, size_t count);

/* Small documents with a time to live (search results); same rules, no lease. */
bool cache_document_get(task *t, str key, str *ret_text);
void cache_document_put(task *t, str key, str text, unsigned ttl_s);

#endif
