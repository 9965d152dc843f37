/* base64.h -- base64 (RFC 4648 §4, padded) and base64url (§5, unpadded), to and from text.
 *
 * Decoding is strict: no blanks, no foreign alphabet, right padding (base64url: none or right), zero trailing
 * bits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_BASE64_H
#define TRESTLE_CORE_BASE64_H

#include "core/arena.h"
#include "core/str.h"

/* Of so many bytes, padded. */
static inline size_t base64_len(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

str  base64_encode(arena *a, str data);
void base64_encode_to(str data, char *out); /* base64_len(data.len) characters, not terminated */
str  base64url_encode(arena *a, str data);
bool base64_decode(arena *a, str text, str *ret) MUST_USE;
bool base64url_decode(arena *a, str text, str *ret) MUST_USE;

#endif
