/* cache.c -- see cache.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/cache.h"

/* No URL is set up yet, and without one there are no copies: every look misses and nobody may fill. */

cache_found cache_get(task *t, str partition, str row, str *ret_text, cache_lease *ret_lease)
{
    (void)t, (void)partition, (void)row, (void)ret_text;
    ret_lease->lease[0] = '\0';
    return CACHE_MISS;
}

void cache_fill(task *t, str partition, str row, const cache_lease *lease, str text)
{
    (void)t, (void)partition, (void)row, (void)lease, (void)text;
}

void cache_fill_absent(task *t, str partition, str row, const cache_lease *lease)
{
    (void)t, (void)partition, (void)row, (void)lease;
}

void cache_drop(task *t, const cache_key *keys, size_t count)
{
    (void)t, (void)keys, (void)count;
}

bool cache_document_get(task *t, str key, str *ret_text)
{
    (void)t, (void)key, (void)ret_text;
    return false;
}

void cache_document_put(task *t, str key, str text, unsigned ttl_s)
{
    (void)t, (void)key, (void)text, (void)ttl_s;
}
