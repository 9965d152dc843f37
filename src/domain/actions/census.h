/* census.h -- all records counted in one scan: what Stats and Status say when the cache row does not.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CENSUS_H
#define TRESTLE_DOMAIN_ACTIONS_CENSUS_H

#include "domain/actions/aggregate.h"

typedef struct {
    counts  stats;
    ages    status;
    int64_t taken_us; /* when it began */
} census;

typedef enum { CENSUS_STATS, CENSUS_STATUS } census_part;

/* One at a time in this process: who asks while one is under way waits, and those who waited together share
 * the next. So nobody gets numbers that are older than his question, and however many ask for fresh ones
 * there is one scan. That part of the result is written to the cache row; when this fails, it is logged only.
 * Rows that are no records are not counted. */
res census_take(task *t, census_part part, census *ret) MUST_USE;

#endif
