/* bulk_input.h -- the bytes of one input of `trestle import`: a file or standard input, plain or gzip.
 *
 * Reading and unpacking happen in a thread, so that batches go on meanwhile. Which of the two it is, is told
 * by its first bytes. An input ends with the arena of the moment it was opened in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_INPUT_H
#define TRESTLE_APP_BULK_INPUT_H

#include "core/hash.h"
#include "runtime/task.h"

typedef struct bulk_input bulk_input;

/* "-": standard input. Failures are RES_UNAVAILABLE, with the path and the system's reason. */
res bulk_input_open(task *t, const char *path, bulk_input **ret) MUST_USE;

/* The next unpacked bytes, valid until the next call. *ret_end: there are none any more. An empty piece that
 * is not the end: nothing has come for a moment. */
res bulk_input_read(task *t, bulk_input *in, str *ret, bool *ret_end) MUST_USE;
res bulk_input_skip(task *t, bulk_input *in,
                    uint64_t bytes) MUST_USE; /* of the unpacked ones; at the start */

uint64_t bulk_input_taken(const bulk_input *in); /* bytes as they lie on disk */

/* What tells whether an input is the one that it was: its size, and a hash of how it begins. */
typedef struct {
    uint64_t size;
    char     head[SHA256_HEX + 1];
} bulk_fingerprint;
res bulk_input_fingerprint(task *t, const char *path, bulk_fingerprint *ret) MUST_USE;

#endif
