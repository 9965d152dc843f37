/* canon_scan.h -- the innermost loops of the canonicaliser: many bytes at a time, with or without SSE2.
 *
 * All of them look past what they are asked about, by at most CANON_PAD_BYTES. So whatever they read, or copy
 * to, must have that many more bytes behind it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_SRC_CORE_CANON_SCAN_H
#define TRESTLE_SRC_CORE_CANON_SCAN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(CANON_NO_SSE2)
#include <emmintrin.h>
#define CANON_SSE2 1
#else
#define CANON_SSE2 0
#endif

enum { CANON_PAD_BYTES = 64 };

#define CANON_NOT_ASCII UINT64_C(0x8080808080808080)

static inline uint64_t canon_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

#if CANON_SSE2

static inline __m128i canon_stops(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    return _mm_or_si128(_mm_or_si128(quote, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))), control);
}

/* The first quote, backslash or control character from p on; or something at `limit` or behind it. Most
 * strings have less than 32 bytes, and so cost no mispredicted branch. */
static inline const char *canon_string_stop(const char *p, const char *limit)
{
    for (; p < limit; p += 2 * sizeof(__m128i)) {
        unsigned low = (unsigned)_mm_movemask_epi8(canon_stops(p));
        unsigned high = (unsigned)_mm_movemask_epi8(canon_stops(p + sizeof(__m128i)));
        unsigned mask = low | high << 16;
        if (mask != 0)
            return p + __builtin_ctz(mask);
    }
    return p;
}

#else

/* High bit of each byte that is zero; bits above the lowest such byte may be wrong, none below it is. */
static inline uint64_t canon_zero_bytes(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word & CANON_NOT_ASCII;
}

static inline const char *canon_string_stop(const char *p, const char *limit)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (; p < limit; p += sizeof(uint64_t)) {
        uint64_t word = le64toh(canon_load(p));
        uint64_t stop = canon_zero_bytes(word ^ (ones * '"')) | canon_zero_bytes(word ^ (ones * '\\')) |
                        canon_zero_bytes(word & (ones * 0xE0));
        if (stop != 0)
            return p + __builtin_ctzll(stop) / 8;
    }
    return p;
}

#endif

/* Copies `len` bytes, and more behind them, but less than CANON_PAD_BYTES; returns the end of the `len`. Most
 * pieces are short, and for those a call of memcpy, or a loop, costs more than the copying. */
static inline char *canon_copy(char *to, const char *from, size_t len)
{
    if (len > CANON_PAD_BYTES)
        memcpy(to, from, len);
    else
        memcpy(to, from, CANON_PAD_BYTES);
    return to + len;
}

#endif
