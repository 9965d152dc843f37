/* copy.h -- a row of the table as text, for the shared cache, and back (specification §13).
 *
 *     {"etag":"W/\"…\"","hash":"…","synced":"…","timestamp":"2026-01-02T03:04:05.1234567Z","owner":"…",
 *      "name":"…","payload":{…}}
 *
 * The payload is last and stands there as it is stored, so that it is neither read nor printed on the way.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_COPY_H
#define TRESTLE_DOMAIN_ACTIONS_COPY_H

#include "storage/entity.h"

enum { COPY_BYTES_MAX = 256 * KIB }; /* of a payload; larger ones are not worth their way to the cache */

/* Empty: too large, or the payload cannot be had. */
str copy_make(arena *a, const entity *e);

/* The row with the columns of row.h, its payload as one String, however long. False: it is no such text.
 * Views into `text`. */
bool copy_read(arena *a, str partition, str row, str text, entity *ret) MUST_USE;

#endif
