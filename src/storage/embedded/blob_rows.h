/* blob_rows.h -- the rows that a blob is made of, for the files that read, write and list blobs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_EMBEDDED_BLOB_ROWS_H
#define TRESTLE_STORAGE_EMBEDDED_BLOB_ROWS_H

#include "storage/backend.h"
#include "storage/embedded/engine.h"

enum {
    BLOB_PART_BYTES = 256 * KIB,      /* no stored part is longer, and no piece of a stream */
    BLOB_ABOUT_BYTES_MAX = 256 * KIB, /* content type and metadata of one blob */
};

typedef struct {
    bool     there;
    int64_t  generation; /* of its parts: another one after each put */
    int64_t  tick;       /* of the last write: its ETag and its time */
    uint64_t bytes;
    bool     append;
} blob_row;

/* ---- in a thread ---- */

/* RES_UNPROVISIONED: there is none of that name. */
res  blob_rows_container(engine_conn *c, str name, int64_t *ret_id, engine_outcome *out) MUST_USE;
/* RES_OK with there == false: no such blob. about (may be NULL) gets the content type, a NUL, and the packed
 * metadata. */
res  blob_rows_find(engine_conn *c, int64_t in, str name, blob_row *ret, buf *about,
                    engine_outcome *out) MUST_USE;
res  blob_rows_missing(engine_outcome *out, str name); /* RES_NOT_FOUND, with words */
bool blob_rows_etag_is(const blob_row *row, str etag);
/* RES_CONFLICT or RES_PRECONDITION unless the blob, as *old says it is, may be replaced so. */
res  blob_rows_may_put(const blob_row *old, str name, const blob_put *how, engine_outcome *out) MUST_USE;

typedef struct {
    str in, name;
    str content_type, metadata; /* packed */
} blob_about;
/* Writes the row; its parts are the caller's. */
res blob_rows_set(engine_conn *c, int64_t in, const blob_about *about, const blob_row *row,
                  engine_outcome *out) MUST_USE;
/* Stores bytes in parts of a generation, from `start` on. */
res blob_rows_add_parts(engine_conn *c, int64_t generation, uint64_t start, str bytes,
                        engine_outcome *out) MUST_USE;
/* One piece, which no part refers to yet. */
res blob_rows_add_data(engine_conn *c, str bytes, int64_t *ret_id, engine_outcome *out) MUST_USE;
/* One statement with one number as its parameter, and no rows. */
res blob_rows_run(engine_conn *c, const char *sql, int64_t id, engine_outcome *out) MUST_USE;

/* ---- on the loop ---- */

str        blob_rows_etag(arena *a, int64_t tick); /* "0x8DE…", with its quotes */
/* What a put says of the blob; nothing of it is borrowed from *how. */
blob_about blob_rows_about(arena *a, str in, str name, const blob_put *how);
blob_info  blob_rows_info(arena *a, const blob_row *row, str content_type, str metadata);
blob_info  blob_rows_found(arena *a, const blob_row *row, str about); /* about as blob_rows_find left it */

/* ---- the operations ---- */

res blob_write_put(void *self, task *t, str in, str name, str bytes, const blob_put *how,
                   blob_info *ret) MUST_USE;
res blob_write_append(void *self, task *t, str in, str name, str bytes, uint64_t at,
                      uint64_t *ret_bytes) MUST_USE;
res blob_write_remove(void *self, task *t, str in, str name, str if_match) MUST_USE;
res blob_stage_block(void *self, task *t, str in, str name, str upload, uint32_t number, str bytes) MUST_USE;
res blob_stage_commit(void *self, task *t, str in, str name, str upload, uint32_t count, const blob_put *how,
                      blob_info *ret) MUST_USE;
res blob_read_get(void *self, task *t, str in, str name, const blob_get *how, blob_got *ret) MUST_USE;
res blob_read_stream(void *self, task *t, str in, str name, const blob_get *how, blobs_piece_fn *fn,
                     void *ctx, blob_got *ret) MUST_USE;
res blob_read_head(void *self, task *t, str in, str name, blob_info *ret) MUST_USE;
res blob_list_page(void *self, task *t, str in, str prefix, char delimiter, unsigned most, str position,
                   blob_page *ret) MUST_USE;

#endif
