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

str  base64_encode(arena *a, str data);
str  base64url_encode(arena *a, str data);
bool base64_decode(arena *a, str text, str *ret) MUST_USE;
bool base64url_decode(arena *a, str text, str *ret) MUST_USE;

#endif
