/* projection.h -- a record in short form: an item of the snapshot (specification §11).
 *
 *     {"owner","name","actionType":{"actionType","nodeVersion"},"repoInfo":{"updated_at","archived"},
 *      "dependents":{"dependents"},"releaseInfo":[first],"description","verified","ossf","ossfScore",
 *      "vulnerabilityStatus":{"critical","high"}}
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_PROJECTION_H
#define TRESTLE_DOMAIN_ACTIONS_PROJECTION_H

#include "core/buf.h"
#include "core/json.h"

enum { PROJECTION_DESCRIPTION_UNITS = 200 };

/* A record as its row has it: what the payload lacks of owner and name is in the columns. */
typedef struct {
    const json_val *payload;
    str             owner, name; /* the columns */
} projection_source;

/* Appends the item. False: it has no owner or no name; nothing is added. *ret_updated_us:
 * repoInfo.updated_at; INT64_MIN: undated. */
bool projection_add(buf *out, const projection_source *from, int64_t *ret_updated_us);

/* Trimmed; empty when there is none in either place. */
str projection_owner(const projection_source *from);
str projection_name(const projection_source *from);

/* true, 1, "true" or "1", in any case. */
bool projection_verified(const json_val *payload);
/* The tag of the first entry of releaseInfo or tagInfo: a text, or its .tag_name or .tag; else empty. */
str  projection_first_tag(const json_val *list);
str  projection_tag(const json_val *entry);
/* actionType.actionType, or actionType itself when it is a text. */
str  projection_type(const json_val *payload);

#endif
