/* entity_text.h -- well-formed UTF-8, character by character; and the UTF-16 that Azure counts and sorts by.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_ENTITY_TEXT_H
#define TRESTLE_STORAGE_ENTITY_TEXT_H

#include "core/str.h"

/* The character at *i, which moves behind it. The text is well-formed (str_is_utf8) and *i < s.len. */
static inline uint32_t utf8_take(str s, size_t *i)
{
    const unsigned char *at = (const unsigned char *)s.at + *i;
    size_t               len = at[0] < 0x80 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    uint32_t             c = len == 1 ? at[0] : at[0] & (0x7Fu >> len);
    for (size_t k = 1; k < len; k++)
        c = c << 6 | (at[k] & 0x3Fu);
    *i += len;
    return c;
}

/* Writes one character (no surrogate) to out and returns its length. */
static inline size_t utf8_put(uint32_t c, char out[4])
{
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = len - 1; k > 0; k--, c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3F));
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[len] | c);
    return len;
}

#endif
