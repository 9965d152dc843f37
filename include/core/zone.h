/* zone.h -- time zones by their IANA names, from the system's zoneinfo files.
 *
 * Files are read on first use and kept; nothing here looks at TZ or changes the process's zone, so it may be
 * called from any thread. The rule behind a file's last transition is followed for later times.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ZONE_H
#define TRESTLE_CORE_ZONE_H

#include "core/iso8601.h"
#include "core/res.h"

typedef struct zone zone;

/* NULL: no such zone. "UTC" is always there, the others come with the system's tzdata. Names are as IANA
 * writes them, in upper and lower case: those with "..", a leading slash or odd characters are none. */
const zone *zone_find(str name);
str         zone_name(const zone *z);

int32_t zone_offset_s(const zone *z, int64_t us); /* east of UTC is positive */
void    zone_local(const zone *z, int64_t us, civil_time *ret);

/* The moment at which clocks there show this. Of a local time that occurs twice, the first; one that a change
 * skips is taken as that much later (02:30 becomes 03:30). RES_INVALID: no such date or time of day, or one
 * that is outside of the years 1 to 9999 in UTC. */
res zone_to_us(const zone *z, const civil_time *local, int64_t *ret_us) MUST_USE;

/* TRESTLE_ZONEINFO, else /usr/share/zoneinfo. */
void zone_set_folder_for_test(const char *path);

#endif
