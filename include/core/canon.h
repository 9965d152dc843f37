/* canon.h -- canonical JSON with JavaScript's semantics: the text that JSON.stringify would give after
 * sorting all keys.
 *
 * What comes out is hashed and stored, and must equal, byte for byte, what Node programs get (actions
 * specification, section 5):
 *
 *   keys      array indices (0..4294967294, no leading zero) first, by number; then others by UTF-16 unit
 *   numbers   as ECMAScript prints doubles: 1e21 -> 1e+21, 1.50 -> 1.5, -0 -> 0; what overflows -> null
 *   strings   escapes only for " \ and U+0000-001F; lone surrogates as \udxxx; all else raw UTF-8
 *   members   the last of duplicates wins; a member named __proto__ is dropped, at any depth
 *
 * The input must be one strict JSON text in UTF-8 (no BOM). Lone surrogates in escapes are accepted, as
 * JavaScript does, which is why this file has a reader of its own; it is also faster, because it never builds
 * a document.
 *
 * It does not recurse, and keeps time linear in the input but for the sorting of each object's keys.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_CANON_H
#define TRESTLE_CORE_CANON_H

#include "core/arena.h"
#include "core/res.h"

enum { CANON_DEPTH_MAX = 512 };

typedef struct {
    size_t      offset; /* of the byte that is wrong */
    const char *text;   /* what is wrong; static, fit for a 400's message */
} canon_error;

/* RES_INVALID with *err (may be NULL) filled: not JSON, not UTF-8, or deeper than CANON_DEPTH_MAX.
 * RES_TOO_LARGE above 256 MiB; RES_MEMORY only where arena_alloc may return NULL. *ret lives in the arena. */
res canon_json(arena *a, str text, str *ret, canon_error *err) MUST_USE;

enum { CANON_NUMBER_SIZE = 32 };
/* A double as ECMAScript's Number::toString prints it; NaN and infinities as "null" (JSON.stringify). */
str canon_number(double d, char out[CANON_NUMBER_SIZE]);

#endif
