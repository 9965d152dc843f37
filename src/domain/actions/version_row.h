/* version_row.h -- a record as a row of the catalogue of versions (specification §11 Versions).
 *
 *     [owner, name, latestVersion, latestSha, publishedAt, actionType, flags, ossfScore, dependents,
 *      floatingTags, description]
 *
 * Rows are positional; fields are only ever added at the end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_VERSION_ROW_H
#define TRESTLE_DOMAIN_ACTIONS_VERSION_ROW_H

#include "domain/actions/projection.h"

enum { VERSION_VERIFIED = 1, VERSION_ARCHIVED = 2, VERSION_OSSF = 4, VERSION_DISABLED = 8 };

/* What comes before the rows, in the same order. */
#define VERSION_FIELDS                                                                              \
    "[\"owner\",\"name\",\"latestVersion\",\"latestSha\",\"publishedAt\",\"actionType\",\"flags\"," \
    "\"ossfScore\",\"dependents\",\"floatingTags\",\"description\"]"
#define VERSION_FLAGS "{\"verified\":1,\"archived\":2,\"ossf\":4,\"disabled\":8}"

/* Appends the row. False: no owner or no name; nothing is added. */
bool version_row_add(buf *out, const projection_source *from);

/* The name as rows have it: without "<owner>_" in any case. */
str version_row_name(const projection_source *from);

#endif
