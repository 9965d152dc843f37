/* canon_text.h -- of the canonicaliser: texts and strings. Private to canon*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_TEXT_H
#define TRESTLE_SRC_CORE_CANON_TEXT_H

#include "core/arena.h"
#include "core/str.h"

/* Offset of the first byte that is not part of well-formed UTF-8, or text.len. */
size_t canon_text_utf8(str text);

/* What lies between the quotes of a string that has been found well-formed, written as JSON.stringify would.
 * It never grows. Returns the length. */
size_t canon_string_write(str body, char *out);

/* The same decoded, and every UTF-16 code unit by itself encoded as UTF-8 (the form known as CESU-8), of
 * which the order of bytes is JavaScript's order of strings. At most 3/2 of the body. Returns the length. */
size_t canon_string_order(str body, char *out);

/* Four hexadecimal digits, or -1. */
int canon_hex4(const char *p);

#endif
