/* entity_check.h -- the checks of single names and values, which filters need too.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_ENTITY_CHECK_H
#define TRESTLE_STORAGE_ENTITY_CHECK_H

#include "storage/entity.h"

/* A C# identifier of at most ENTITY_NAME_MAX characters; the reserved names pass. */
res entity_check_name(arena *a, str name, str *ret_why) MUST_USE;
res entity_check_value(arena *a, const property *p, str *ret_why) MUST_USE; /* its name has been checked */

#endif
