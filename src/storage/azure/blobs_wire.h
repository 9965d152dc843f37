/* blobs_wire.h -- what the files of the blob service share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_BLOBS_WIRE_H
#define TRESTLE_STORAGE_AZURE_BLOBS_WIRE_H

#include "storage/azure/azure_ops.h"
#include "storage/azure/services.h"

/* "/container/dir/b%20c": slashes stay, every other byte that is not plain is encoded. */
str      blobs_path(arena *a, str in, str name);
/* Time for one try that carries so many bytes: 10 s and what a slow line takes. */
uint64_t blobs_try_ms(uint64_t bytes);

/* blobs_read.c */
res blobs_wire_get(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret);
res blobs_wire_get_stream(void *self, task *t, str in, str name, const blob_get *how, blobs_piece_fn *fn,
                          void *ctx, blob_got *ret);
res blobs_wire_head(void *self, task *t, str in, str name, blob_info *ret);

/* blobs_append.c */
res blobs_wire_append(void *self, task *t, str in, str name, str bytes, uint64_t at, uint64_t *ret_bytes);

/* blobs_list.c */
res blobs_wire_list(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                    blob_page *ret);

#endif
