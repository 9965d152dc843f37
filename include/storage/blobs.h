/* blobs.h -- named bytes in containers.
 *
 * Results as in tables.h: RES_NOT_FOUND (no such blob), RES_UNPROVISIONED (no such container), RES_CONFLICT
 * (create-only, and it is there; or a blob of another type), RES_PRECONDITION (its ETag is another one by
 * now). Containers are made on first use. Container names: 3 to 63 of a-z, 0-9 and single inner dashes; blob
 * names: 1 to 1024 characters.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_BLOBS_H
#define TRESTLE_STORAGE_BLOBS_H

#include "runtime/http_header.h"
#include "storage/store.h"

typedef struct {
    store_id store;
    str      name;
} container;

enum {
    BLOBS_METADATA_MAX = 64, /* entries; names of a-z, 0-9 and _, beginning with a letter; values are ASCII */
    BLOBS_SINGLE_MAX = 32 * 1024 * 1024,
    BLOBS_BLOCK = 8 * 1024 * 1024,
    BLOBS_APPEND_MAX = 4 * 1024 * 1024, /* of one append */
};

typedef struct {
    str                name; /* from blobs_list alone */
    str                etag; /* with its quotes, as If-Match wants it */
    str                content_type;
    uint64_t           bytes; /* of the whole blob, also when a range was read */
    int64_t            modified_us;
    bool               append;   /* an append blob */
    const http_header *metadata; /* names in lower case; not from blobs_list */
    size_t             metadata_count;
} blob_info;

res blobs_create_container(task *t, container in) MUST_USE; /* also when it is there already */
res blobs_delete_container(task *t, container in) MUST_USE; /* RES_NOT_FOUND */
res blobs_list_containers(task *t, store_id store, str prefix, unsigned most, str token, str **ret_names,
                          size_t *ret_count, str *ret_token) MUST_USE;

typedef struct {
    str                content_type; /* empty: application/octet-stream */
    const http_header *metadata;
    size_t             metadata_count;
    bool               create_only; /* RES_CONFLICT when it is there */
    str if_match; /* RES_PRECONDITION unless it has this ETag; "*": whatever, but it is there */
} blob_put;

/* Whole, however large: above BLOBS_SINGLE_MAX in blocks, four at a time. *ret (may be NULL): the new state.
 */
res blobs_put(task *t, container in, str name, str bytes, const blob_put *how, blob_info *ret) MUST_USE;

/* In pieces, for what does not fit into memory: next gives a piece (an empty one: the end), which must stay
 * valid until the next call. The blob appears, whole, when all have been stored. */
typedef res blobs_next_fn(task *t, void *ctx, str *ret_piece);
res blobs_put_stream(task *t, container in, str name, blobs_next_fn *next, void *ctx, const blob_put *how,
                     blob_info *ret) MUST_USE;

typedef struct {
    str      if_none_match; /* answers RES_OK with not_modified set when the blob still has this ETag */
    str      if_match;
    bool     ranged; /* then `count` bytes from `from`; fewer at the end; RES_INVALID beyond the end */
    uint64_t from, count;
    size_t   bytes_max; /* RES_TOO_LARGE beyond; 0: 32 MiB; a stream has no limit */
} blob_get;

typedef struct {
    blob_info info;
    bool      not_modified;
    str       body; /* blobs_get */
} blob_got;

res         blobs_get(task *t, container in, str name, const blob_get *how, blob_got *ret) MUST_USE;
res         blobs_head(task *t, container in, str name, blob_info *ret) MUST_USE;
/* Piece by piece in bounded memory; fn gets them in order, each valid during the call. */
typedef res blobs_piece_fn(task *t, str piece, void *ctx);
res blobs_get_stream(task *t, container in, str name, const blob_get *how, blobs_piece_fn *fn, void *ctx,
                     blob_got *ret) MUST_USE;

res blobs_remove(task *t, container in, str name, str if_match) MUST_USE; /* empty: whatever it is */

/* By name, in the order of their UTF-8 bytes. With a delimiter, names that share the part up to it appear
 * once, as `prefixes`. most: 1 to 5000. */
typedef struct {
    blob_info *at;
    size_t     len;
    str       *prefixes;
    size_t     prefix_count;
    str        token; /* empty: the end */
} blob_page;
res blobs_list(task *t, container in, str prefix, char delimiter, unsigned most, str token,
               blob_page *ret) MUST_USE;

/* Append blobs: lines added at the end. Makes the blob when it is missing. `at` is the length that the caller
 * believes it to have: RES_PRECONDITION when it is another; UINT64_MAX: wherever the end is. An append whose
 * reply was lost is looked up and not done twice when `at` was given. *ret_bytes (may be NULL): its length
 * afterwards. RES_TOO_LARGE above BLOBS_APPEND_MAX. */
res blobs_append(task *t, container in, str name, str bytes, uint64_t at, uint64_t *ret_bytes) MUST_USE;

#endif
