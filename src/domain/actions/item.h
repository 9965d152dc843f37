/* item.h -- a record as readers get it: the payload, openssf_score and _metadata (specification §11).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_ITEM_H
#define TRESTLE_DOMAIN_ACTIONS_ITEM_H

#include "core/buf.h"
#include "storage/entity.h"

typedef enum {
    ITEM_LISTED,
    ITEM_SINGLE /* with timestamp; prefix of the name cut; .000Z shortened */
} item_form;

/* Appends the JSON of one item. RES_UPSTREAM: the row's payload is no object, or has neither owner nor name
 * even with those of the columns. Works in `a`, leaves nothing else. */
res item_add(arena *a, buf *out, const entity *e, item_form form) MUST_USE;

#endif
