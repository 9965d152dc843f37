/* counts.h -- what is counted over all records: how many of which type, verified, archived, scored
 * (specification §11 Stats), and how old they are (Status).
 *
 * The same structure holds a full count, the numbers of the cache row, and a difference between two writes
 * (then its members may be negative).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_COUNTS_H
#define TRESTLE_DOMAIN_ACTIONS_COUNTS_H

#include "domain/actions/facts.h"

/* Callers invent types: longer names, and types beyond these, are counted together as COUNTS_OTHER, so that
 * the numbers always fit into one property of the cache row. */
enum { COUNTS_TYPES_MAX = 64, COUNTS_TYPE_BYTES = 64 };
#define COUNTS_OTHER   "Other"
#define COUNTS_UNKNOWN "Unknown" /* the type of a record that has none */

typedef struct {
    char    name[COUNTS_TYPE_BYTES];
    size_t  len;
    int64_t n;
} counts_type;

typedef struct {
    int64_t     total, verified, archived, with_ossf;
    counts_type types[COUNTS_TYPES_MAX + 1]; /* by first appearance; the last place is COUNTS_OTHER's */
    size_t      type_count;
} counts;

/* times: 1 for a record that is there, -1 for one that is not any more. */
void counts_add(counts *c, const facts *f, int64_t times);
/* Sum and difference; nothing goes below zero with floor. */
void counts_merge(counts *onto, const counts *c, int64_t times, bool floor);
bool counts_are_zero(const counts *c);

/* {"total","byType":{…},"verified","archived","withOssf"}; types of which there are none are left out. */
json *counts_json(arena *a, const counts *c);
/* The reverse; false: it is no such object. */
bool  counts_read(const json_val *stats, counts *ret) MUST_USE;

/* ---- ages ---- */

typedef struct {
    int64_t total, within_1_day, within_7_days, within_30_days, older, no_timestamp;
    int64_t newest_us, oldest_us; /* of those that have a timestamp */
} ages;

void  ages_add(ages *g, str synced, int64_t now_us);
/* {"totalCount","newestSyncedUtc",…,"interpretation"} */
json *ages_json(arena *a, const ages *g, int64_t now_us);

#endif
