/* canonical.h -- canonical JSON and its SHA-256 for a task: small texts at once, large ones in a thread.
 *
 * A megabyte takes milliseconds, in which the loop would serve nobody else. So texts above
 * CANONICAL_INLINE_MAX are worked on outside of the loop; the caller sees no difference but that the call
 * waits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_CANONICAL_H
#define TRESTLE_RUNTIME_CANONICAL_H

#include "core/canon.h"
#include "core/hash.h"
#include "runtime/task.h"

enum { CANONICAL_INLINE_MAX = 256 * KIB };

typedef struct {
    str           text; /* lives as long as the task's arena */
    sha256_digest hash; /* of the text */
} canonical_json;

/* RES_INVALID as canon_json, with *err (may be NULL) filled; RES_MEMORY; or the reason why the task was
 * stopped. */
res canonical_make(task *t, str json, canonical_json *ret, canon_error *err) MUST_USE;

#endif
