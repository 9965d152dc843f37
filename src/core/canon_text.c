/* canon_text.c -- of the canonicaliser: is a text UTF-8, and how is a string with escapes written.
 *
 * SPDX-License-Identifier: MIT */
#include "canon_text.h"

#include <string.h>

#include "canon_scan.h"

enum { BLOCK_BYTES = 64, ESCAPE_BYTES = 6 /* \uXXXX */ };

/* ---- UTF-8 ---- */

/* Whether a sequence may begin so: the ranges of the second byte keep out overlong forms, surrogates and what
 * lies above U+10FFFF (Unicode, table 3-7). */
static bool may_begin(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return lead >= 0xC2 && lead < 0xF4;
    }
}

/* Length of the sequence at p, which has `left` bytes, or 0. */
static size_t sequence_bytes(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    size_t need = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (need > left || !may_begin(p[0], p[1]))
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

static size_t utf8_by_bytes(str text)
{
    size_t i = 0;
    while (i < text.len) {
        if (text.len - i >= sizeof(uint64_t) && (canon_load(text.at + i) & CANON_NOT_ASCII) == 0) {
            i += sizeof(uint64_t);
            continue;
        }
        size_t bytes = sequence_bytes((const unsigned char *)text.at + i, text.len - i);
        if (bytes == 0)
            return i;
        i += bytes;
    }
    return text.len;
}

#if CANON_SSE2

/* One bit for each byte of a block, the first byte's lowest. */
typedef struct {
    uint64_t high;         /* 80..FF */
    uint64_t continuation; /* 80..BF */
    uint64_t from_e0, from_f0;
    uint64_t suspect; /* E0, ED, F0, F4: the next byte's range is narrower; C0, C1, F5..FF: never right */
} classes;

static inline uint64_t bits(__m128i v, unsigned part)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(v) << (16 * part);
}

static inline __m128i at_least(__m128i v, unsigned char low)
{
    return _mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8((char)low)), v);
}

static inline __m128i equal(__m128i v, unsigned char c)
{
    return _mm_cmpeq_epi8(v, _mm_set1_epi8((char)c));
}

static classes classify(const char *block)
{
    classes c = {0};
    for (unsigned part = 0; part < 4; part++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(block + 16 * part));
        __m128i even = _mm_and_si128(v, _mm_set1_epi8((char)0xFE));
        c.high |= bits(v, part);
        c.continuation |= bits(_mm_cmplt_epi8(v, _mm_set1_epi8((char)0xC0)), part);
        c.from_e0 |= bits(at_least(v, 0xE0), part);
        c.from_f0 |= bits(at_least(v, 0xF0), part);
        c.suspect |= bits(
            _mm_or_si128(_mm_or_si128(equal(v, 0xE0), equal(v, 0xED)),
                         _mm_or_si128(_mm_or_si128(equal(v, 0xF0), at_least(v, 0xF4)), equal(even, 0xC0))),
            part);
    }
    return c;
}

/* *carry: the bytes of this block that the block before has promised to be continuations. */
static bool block_is_utf8(const char *block, uint64_t *carry)
{
    classes  c = classify(block);
    uint64_t lead = c.high & ~c.continuation;
    uint64_t due = *carry | lead << 1 | c.from_e0 << 2 | c.from_f0 << 3;

    *carry = lead >> 63 | c.from_e0 >> 62 | c.from_f0 >> 61;
    if (due != c.continuation)
        return false;
    for (uint64_t left = c.suspect; left != 0; left &= left - 1) {
        const unsigned char *p = (const unsigned char *)block + __builtin_ctzll(left);
        if (!may_begin(p[0], p[1]))
            return false;
    }
    return true;
}

static inline bool block_is_ascii(const char *block)
{
    const __m128i *p = (const __m128i *)block;
    __m128i        low = _mm_or_si128(_mm_loadu_si128(p), _mm_loadu_si128(p + 1));
    __m128i        high = _mm_or_si128(_mm_loadu_si128(p + 2), _mm_loadu_si128(p + 3));
    return _mm_movemask_epi8(_mm_or_si128(low, high)) == 0;
}

/* Each block needs one byte behind it, so the last one, whole or not, is padded. */
size_t canon_text_utf8(str text)
{
    char     last[BLOCK_BYTES + 1] = {0};
    uint64_t carry = 0;
    size_t   i = 0;

    for (; text.len - i > BLOCK_BYTES; i += BLOCK_BYTES) {
        if (carry == 0 && block_is_ascii(text.at + i))
            continue;
        if (!block_is_utf8(text.at + i, &carry))
            return utf8_by_bytes(text);
    }
    if (text.len > 0)
        memcpy(last, text.at + i, text.len - i);
    return block_is_utf8(last, &carry) && carry == 0 ? text.len : utf8_by_bytes(text);
}

#else

size_t canon_text_utf8(str text)
{
    return utf8_by_bytes(text);
}

#endif

/* ---- escapes ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int canon_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The code unit that the escape at p (a backslash) stands for, and the escape's length. */
static unsigned escaped_unit(const char *p, size_t *ret_bytes)
{
    *ret_bytes = 2;
    switch (p[1]) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u':
        *ret_bytes = ESCAPE_BYTES;
        return (unsigned)canon_hex4(p + 2);
    default: /* a quote, a backslash or a slash stand for themselves */
        return (unsigned char)p[1];
    }
}

static char *put_escape(char *out, char letter)
{
    *out++ = '\\';
    *out++ = letter;
    return out;
}

static char *put_unit_escape(char *out, unsigned unit)
{
    static const char digits[] = "0123456789abcdef";

    out = put_escape(out, 'u');
    for (int shift = 12; shift >= 0; shift -= 4)
        *out++ = digits[unit >> shift & 0xF];
    return out;
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

static bool is_surrogate(unsigned unit)
{
    return unit >= 0xD800 && unit <= 0xDFFF;
}

/* One code unit that is no part of a pair, as JSON.stringify writes it (ECMA-262, QuoteJSONString). */
static char *put_quoted(char *out, unsigned unit)
{
    switch (unit) {
    case '"':
    case '\\':
        return put_escape(out, (char)unit);
    case '\b':
        return put_escape(out, 'b');
    case '\f':
        return put_escape(out, 'f');
    case '\n':
        return put_escape(out, 'n');
    case '\r':
        return put_escape(out, 'r');
    case '\t':
        return put_escape(out, 't');
    default:
        return unit < 0x20 || is_surrogate(unit) ? put_unit_escape(out, unit) : put_utf8(out, unit);
    }
}

/* The low half of a pair whose high half is `unit`, if the escape at p is one; else 0. */
static unsigned low_half(unsigned unit, const char *p, const char *end)
{
    if (unit < 0xD800 || unit > 0xDBFF || end - p < ESCAPE_BYTES || p[0] != '\\' || p[1] != 'u')
        return 0;
    unsigned low = (unsigned)canon_hex4(p + 2);
    return low >= 0xDC00 && low <= 0xDFFF ? low : 0;
}

size_t canon_string_write(str body, char *out)
{
    const char *p = body.at, *end = body.at + body.len;
    char       *begin = out;

    while (p < end) {
        if (*p != '\\') {
            *out++ = *p++;
            continue;
        }
        size_t   bytes;
        unsigned unit = escaped_unit(p, &bytes);
        p += bytes;
        unsigned low = low_half(unit, p, end);
        if (low != 0) {
            p += ESCAPE_BYTES;
            out = put_utf8(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        } else {
            out = put_quoted(out, unit);
        }
    }
    return (size_t)(out - begin);
}

static unsigned code_of_four_bytes(const unsigned char *p)
{
    return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

size_t canon_string_order(str body, char *out)
{
    const char *p = body.at, *end = body.at + body.len;
    char       *begin = out;

    while (p < end) {
        if (*p == '\\') {
            size_t bytes;
            out = put_utf8(out, escaped_unit(p, &bytes));
            p += bytes;
        } else if ((unsigned char)*p >= 0xF0) {
            unsigned above = code_of_four_bytes((const unsigned char *)p) - 0x10000;
            out = put_utf8(out, 0xD800 + (above >> 10));
            out = put_utf8(out, 0xDC00 + (above & 0x3FF));
            p += 4;
        } else {
            *out++ = *p++;
        }
    }
    return (size_t)(out - begin);
}
