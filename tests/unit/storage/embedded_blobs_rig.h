/* embedded_blobs_rig.h -- what the test files of the embedded blobs share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_EMBEDDED_BLOBS_RIG_H
#define TRESTLE_TESTS_EMBEDDED_BLOBS_RIG_H

#include "storage/embedded/blob_rows.h"
#include "storage/embedded/schema.h"
#include "unit/storage/embedded_rig.h"

#define B embedded_blobs

extern const str files; /* the container of most tests */

void      blobs_rig_make(task *t, engine *e);
/* Put as a block blob without conditions; must succeed. */
blob_info blobs_rig_put(task *t, engine *e, const char *name, str bytes);
res       blobs_rig_put_if(task *t, engine *e, const char *name, blob_put how, blob_info *ret);
/* Its body; must be there. */
str       blobs_rig_get(task *t, engine *e, const char *name);
/* Bytes that differ from place to place: no part can be taken for another. */
str       blobs_rig_bytes(task *t, size_t len, unsigned seed);
/* No bytes without an owner, no part without a blob: true after every operation, in the end. */
void      blobs_rig_no_leftovers(task *t, engine *e);

TCase *embedded_blobs_cases_blocks(void);
TCase *embedded_blobs_cases_list(void);
TCase *embedded_blobs_cases_many(void);
TCase *embedded_blobs_cases_stream(void);

#endif
