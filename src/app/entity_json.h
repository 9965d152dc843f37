/* entity_json.h -- an entity as one line of JSON, in the manner of the table service, and back.
 *
 *     {"PartitionKey":"p","RowKey":"r","n":5,"big@odata.type":"Edm.Int64","big":"5"}
 *
 * Strings, Int32 and Boolean speak for themselves; every other type is named beside its value. Int64,
 * DateTime, Guid and Binary (base64) are texts; a Double is a number, or "NaN", "Infinity", "-Infinity".
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_ENTITY_JSON_H
#define TRESTLE_APP_ENTITY_JSON_H

#include "storage/entity.h"

str entity_to_json(arena *a, const entity *e);
/* RES_INVALID with *ret_why. ETag and timestamp stay unknown. The entity lives in a. */
res entity_from_json(arena *a, str line, entity *ret, str *ret_why) MUST_USE;

#endif
