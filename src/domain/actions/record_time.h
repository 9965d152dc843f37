/* record_time.h -- points in time within a record, spelled in UTC (specification §5.2).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_RECORD_TIME_H
#define TRESTLE_DOMAIN_ACTIONS_RECORD_TIME_H

#include "core/str.h"

enum { RECORD_TIME_HEAD = 19 };

/* head, then '.' and the fraction unless that is empty, then 'Z'. Never longer than what it was read from. */
typedef struct {
    char head[RECORD_TIME_HEAD]; /* "2026-01-01T01:30:00" */
    str  fraction;               /* a view into the text, without zeros at its end */
} record_time;

/* True: the text is a point in time, and is spelled otherwise in UTC. False: it stays as it is. */
bool record_time_rewrite(str text, record_time *ret) MUST_USE;

#endif
