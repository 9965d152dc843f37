/* long_value.h -- texts and bytes above 64 KiB in one entity: gzip, cut into Binary properties.
 *
 *     name        Int32   how many parts, 0 for the empty value
 *     name_bytes  Int64   length before gzip
 *     name_0, name_1, …   Binary, at most 65,536 bytes each
 *
 * What is written replaces an earlier value of that name, also a longer one, when the entity is replaced; a
 * merge leaves old parts behind, which reading ignores.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_LONG_VALUE_H
#define TRESTLE_STORAGE_LONG_VALUE_H

#include "storage/entity.h"

enum { LONG_VALUE_PARTS_MAX = 15 }; /* 960 KiB packed: with the rest it must stay below 1 MiB */

/* RES_TOO_LARGE when it does not fit even packed. The name is copied. */
res long_value_set(entity *e, const char *name, str value) MUST_USE;
/* RES_NOT_FOUND: there is none; RES_UPSTREAM: parts are missing or damaged; RES_TOO_LARGE above max_bytes.
 * *ret lives in a. */
res long_value_get(arena *a, const entity *e, const char *name, size_t max_bytes, str *ret) MUST_USE;

#endif
