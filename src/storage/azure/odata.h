/* odata.h -- entities as JSON in the forms that the table service writes and reads (spec 4.3). Private to
 * azure/.
 *
 * Written: one line, keys first, each Int64, Double, DateTime, Guid and Binary followed by its annotation.
 * Read: minimalmetadata, where the annotation may stand anywhere in the object. Names, texts and ETags of
 * what is read look into the parsed document, which is the arena's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_ODATA_H
#define TRESTLE_STORAGE_AZURE_ODATA_H

#include "core/buf.h"
#include "core/json.h"
#include "storage/entity.h"

enum { ODATA_MEMBERS_MAX = 1024, ODATA_ROWS_MAX = 4096 }; /* of one entity; of one page */

/* At the end of *out, which says itself when it is full. The entity has passed entity_check. */
void   odata_write(buf *out, const entity *e);
/* That it takes at least so many bytes, and not many more without escapes and long numbers: for telling what
 * cannot fit, and for reserving once, since a buffer that grows leaves its earlier steps in the arena. */
size_t odata_least_bytes(const entity *e);
/* A JSON string with its quotes; s is UTF-8. */
void   odata_write_text(buf *out, str s);

/* RES_UPSTREAM when it is nothing that a table service says, with *ret_why (static). A key that is not there
 * is the empty str with a NULL pointer. */
res odata_read(arena *a, str text, entity *ret, const char **ret_why) MUST_USE;
/* {"value":[…]}; every row must have its keys. */
res odata_read_page(arena *a, str text, entity **ret, size_t *ret_count, const char **ret_why) MUST_USE;

/* The same for nometadata, whose types are known to the reader alone; what the schema does not name has the
 * type of its JSON. */
typedef struct {
    const char *name;
    edm_type    type;
} odata_column;
res odata_read_with_schema(arena *a, str text, const odata_column *schema, size_t columns, entity *ret,
                           const char **ret_why) MUST_USE;

#endif
