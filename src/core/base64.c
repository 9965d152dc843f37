/* base64.c -- base64 and base64url by table, three bytes to four characters at a time.
 *
 * A decoding table gives for each character its six bits with the high bit set, and 0 for foreigners. So the
 * loop over whole groups tests nothing: it keeps the AND of all it looked up, and one test at the end tells
 * whether the high bit survived.
 *
 * SPDX-License-Identifier: MIT */
#include "core/base64.h"

#define KNOWN 0x80u

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static const char standard_chars[64 + 1] = LETTERS_AND_DIGITS "+/";
static const char url_chars[64 + 1] = LETTERS_AND_DIGITS "-_";

/* clang-format off */
#define K(c, value) [c] = (KNOWN | (value))
#define LETTERS_AND_DIGITS_ROWS                                                                         \
    K('A', 0),  K('B', 1),  K('C', 2),  K('D', 3),  K('E', 4),  K('F', 5),  K('G', 6),  K('H', 7),      \
    K('I', 8),  K('J', 9),  K('K', 10), K('L', 11), K('M', 12), K('N', 13), K('O', 14), K('P', 15),     \
    K('Q', 16), K('R', 17), K('S', 18), K('T', 19), K('U', 20), K('V', 21), K('W', 22), K('X', 23),     \
    K('Y', 24), K('Z', 25), K('a', 26), K('b', 27), K('c', 28), K('d', 29), K('e', 30), K('f', 31),     \
    K('g', 32), K('h', 33), K('i', 34), K('j', 35), K('k', 36), K('l', 37), K('m', 38), K('n', 39),     \
    K('o', 40), K('p', 41), K('q', 42), K('r', 43), K('s', 44), K('t', 45), K('u', 46), K('v', 47),     \
    K('w', 48), K('x', 49), K('y', 50), K('z', 51), K('0', 52), K('1', 53), K('2', 54), K('3', 55),     \
    K('4', 56), K('5', 57), K('6', 58), K('7', 59), K('8', 60), K('9', 61)
/* clang-format on */

static const uint8_t standard_values[256] = {LETTERS_AND_DIGITS_ROWS, K('+', 62), K('/', 63)};
static const uint8_t url_values[256] = {LETTERS_AND_DIGITS_ROWS, K('-', 62), K('_', 63)};

/* Returns how many characters were written. */
static size_t encode_to(str data, char *out, const char *chars, bool pad)
{
    const uint8_t *in = (const uint8_t *)data.at;
    size_t         left = data.len;
    char          *to = out;
    for (; left >= 3; left -= 3, in += 3, to += 4) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        to[0] = chars[v >> 18];
        to[1] = chars[v >> 12 & 63];
        to[2] = chars[v >> 6 & 63];
        to[3] = chars[v & 63];
    }
    if (left > 0) {
        uint32_t v = (uint32_t)in[0] << 16 | (left == 2 ? (uint32_t)in[1] << 8 : 0);
        *to++ = chars[v >> 18];
        *to++ = chars[v >> 12 & 63];
        if (left == 2)
            *to++ = chars[v >> 6 & 63];
        for (size_t i = left; pad && i < 3; i++)
            *to++ = '=';
    }
    return (size_t)(to - out);
}

/* The length cannot overflow: 4/3 of the largest object is still below SIZE_MAX. One byte more is asked for
 * because the encoding of nothing is still a place. */
static str encode(arena *a, str data, const char *chars, bool pad)
{
    char *out = arena_alloc(a, base64_len(data.len) + 1);
    if (out == NULL)
        return (str){NULL, 0};
    return (str){out, encode_to(data, out, chars, pad)};
}

/* Text without its padding. The padding, if there is any, must fill the last group up to four characters. */
static bool strip_padding(str text, bool required, str *ret)
{
    size_t len = text.len;
    while (len > 0 && text.len - len < 2 && text.at[len - 1] == '=')
        len--;
    if ((required || len < text.len) && text.len % 4 != 0)
        return false;
    if (len % 4 == 1) /* six bits make no byte */
        return false;
    *ret = (str){text.at, len};
    return true;
}

/* The last two or three characters. The bits that reach into no byte must be zero, or several texts would
 * mean the same bytes (RFC 4648 §3.5). */
static bool decode_rest(const uint8_t *in, size_t len, const uint8_t *values, uint8_t *out)
{
    uint32_t b0 = values[in[0]], b1 = values[in[1]], b2 = len == 3 ? values[in[2]] : KNOWN;
    uint32_t v = (b0 & 63) << 18 | (b1 & 63) << 12 | (b2 & 63) << 6;

    out[0] = (uint8_t)(v >> 16);
    if (len == 3)
        out[1] = (uint8_t)(v >> 8);
    return (b0 & b1 & b2 & KNOWN) != 0 && (v & (len == 3 ? 0xffu : 0xffffu)) == 0;
}

static bool decode(arena *a, str text, const uint8_t *values, bool pad_required, str *ret)
{
    str bare;
    if (!strip_padding(text, pad_required, &bare))
        return false;
    uint8_t *out = arena_alloc(a, bare.len / 4 * 3 + 3);
    if (out == NULL)
        return false;

    const uint8_t *in = (const uint8_t *)bare.at;
    uint8_t       *to = out;
    uint32_t       known = KNOWN;
    size_t         left = bare.len;
    for (; left >= 4; left -= 4, in += 4, to += 3) {
        uint32_t b0 = values[in[0]], b1 = values[in[1]], b2 = values[in[2]], b3 = values[in[3]];
        uint32_t v = (b0 & 63) << 18 | (b1 & 63) << 12 | (b2 & 63) << 6 | (b3 & 63);
        known &= b0 & b1 & b2 & b3;
        to[0] = (uint8_t)(v >> 16);
        to[1] = (uint8_t)(v >> 8);
        to[2] = (uint8_t)v;
    }
    if (known == 0 || (left > 0 && !decode_rest(in, left, values, to)))
        return false;
    to += left > 0 ? left - 1 : 0;
    *ret = (str){(const char *)out, (size_t)(to - out)};
    return true;
}

void base64_encode_to(str data, char *out)
{
    (void)encode_to(data, out, standard_chars, true); /* base64_len told the caller already */
}

str base64_encode(arena *a, str data)
{
    return encode(a, data, standard_chars, true);
}

str base64url_encode(arena *a, str data)
{
    return encode(a, data, url_chars, false);
}

bool base64_decode(arena *a, str text, str *ret)
{
    return decode(a, text, standard_values, true, ret);
}

bool base64url_decode(arena *a, str text, str *ret)
{
    return decode(a, text, url_values, false, ret);
}
