/* zone_file.h -- a zoneinfo file (TZif, RFC 9636, versions 1 to 4) as a table of changes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ZONE_FILE_H
#define TRESTLE_CORE_ZONE_FILE_H

#include "zone_rule.h"

typedef struct {
    int64_t at_s; /* from this second on … */
    int32_t offset_s;
} zone_change;

typedef struct {
    int32_t      first_offset_s; /* before the first change */
    zone_change *changes;        /* ascending; malloc'ed, the reader's caller frees it */
    size_t       count;
    bool         has_rule; /* what holds from the last change on; without changes: always */
    zone_rule    rule;
} zone_table;

enum { ZONE_FILE_MAX = 64 * KIB }; /* the largest that exists has less than 4 KiB */

/* False: it is no such file, not a whole one, or one that counts leap seconds. */
bool zone_file_read(str bytes, zone_table *ret) MUST_USE;

#endif
