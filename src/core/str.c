/* str.c -- comparing, searching, cutting and checking of borrowed bytes.
 *
 * Nothing here allocates, and nothing passes a NULL pointer to libc even where the length is 0: that is
 * undefined behaviour, and the empty str may well hold a NULL.
 *
 * SPDX-License-Identifier: MIT */
#include "core/str.h"

#include <assert.h>
#include <string.h>

/* What is left of a text that ended with its separator: one more field, an empty one. An empty str cannot say
 * so by itself, for "" at the start means that there is no field at all; so it points here. */
static const char one_empty_field[1] = "";

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int compare_bytes(const char *a, const char *b, size_t len)
{
    assert(len == 0 || (a != NULL && b != NULL));
    return len == 0 ? 0 : memcmp(a, b, len);
}

static int compare_bytes_nocase(const char *a, const char *b, size_t len)
{
    assert(len == 0 || (a != NULL && b != NULL));
    for (size_t i = 0; i < len; i++) {
        unsigned char x = (unsigned char)str_lower_char(a[i]), y = (unsigned char)str_lower_char(b[i]);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_lengths(size_t a, size_t b)
{
    return a == b ? 0 : a < b ? -1 : 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Decimal digits only, not more than `max`; anything else is refused. */
static bool parse_digits(str s, uint64_t max, uint64_t *ret)
{
    uint64_t n = 0;
    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(s.at[i] - '0');
        if (n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *ret = n;
    return true;
}

/* How many bytes from `at` on are ASCII: eight at a time, which is nearly all there is to do in nearly all
 * texts. */
static size_t ascii_run(const unsigned char *at, size_t len)
{
    size_t i = 0;
    for (; len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (i < len && at[i] < 0x80)
        i++;
    return i;
}

/* Length of the well-formed multi-byte sequence at `at`, or 0. The range of the second byte is what keeps out
 * the overlong forms, the surrogates and what lies above U+10FFFF (Unicode, table 3-7). */
static size_t utf8_sequence(const unsigned char *at, size_t len)
{
    unsigned char lead = at[0], low = 0x80, high = 0xBF;
    size_t        need;

    if (lead >= 0xC2 && lead <= 0xDF)
        need = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
        need = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
        need = 4;
    else
        return 0;

    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;

    if (len < need || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return need;
}

str str_of(const char *terminated)
{
    return terminated != NULL ? (str){terminated, strlen(terminated)} : (str){NULL, 0};
}

bool str_eq(str a, str b)
{
    return a.len == b.len && compare_bytes(a.at, b.at, a.len) == 0;
}

bool str_eq_nocase(str a, str b)
{
    return a.len == b.len && compare_bytes_nocase(a.at, b.at, a.len) == 0;
}

int str_compare(str a, str b)
{
    int order = compare_bytes(a.at, b.at, min_size(a.len, b.len));
    return order != 0 ? order : compare_lengths(a.len, b.len);
}

int str_compare_nocase(str a, str b)
{
    int order = compare_bytes_nocase(a.at, b.at, min_size(a.len, b.len));
    return order != 0 ? order : compare_lengths(a.len, b.len);
}

bool str_starts(str s, str prefix)
{
    return s.len >= prefix.len && compare_bytes(s.at, prefix.at, prefix.len) == 0;
}

bool str_starts_nocase(str s, str prefix)
{
    return s.len >= prefix.len && compare_bytes_nocase(s.at, prefix.at, prefix.len) == 0;
}

bool str_ends(str s, str suffix)
{
    return s.len >= suffix.len && str_eq(str_from(s, s.len - suffix.len), suffix);
}

bool str_ends_nocase(str s, str suffix)
{
    return s.len >= suffix.len && str_eq_nocase(str_from(s, s.len - suffix.len), suffix);
}

bool str_has(str s, str needle)
{
    return needle.len == 0 || str_find(s, needle) < s.len;
}

size_t str_find_char(str s, char c)
{
    const char *hit = s.len > 0 ? memchr(s.at, c, s.len) : NULL;
    return hit != NULL ? (size_t)(hit - s.at) : s.len;
}

size_t str_find(str s, str needle)
{
    if (needle.len == 0)
        return 0;
    if (needle.len > s.len)
        return s.len;
    const char *hit = memmem(s.at, s.len, needle.at, needle.len);
    return hit != NULL ? (size_t)(hit - s.at) : s.len;
}

str str_slice(str s, size_t from, size_t to)
{
    from = min_size(from, s.len);
    to = min_size(to, s.len);
    if (to < from)
        to = from;
    return (str){s.at != NULL ? s.at + from : NULL, to - from};
}

str str_from(str s, size_t from)
{
    return str_slice(s, from, s.len);
}

str str_trim(str s)
{
    size_t from = 0, to = s.len;
    while (from < to && is_blank(s.at[from]))
        from++;
    while (to > from && is_blank(s.at[to - 1]))
        to--;
    return str_slice(s, from, to);
}

bool str_next_field(str *rest, char separator, str *ret)
{
    if (rest->len == 0) {
        bool one_left = rest->at == one_empty_field;
        if (one_left)
            *ret = *rest;
        *rest = (str){NULL, 0};
        return one_left;
    }

    size_t end = str_find_char(*rest, separator);
    *ret = str_slice(*rest, 0, end);
    if (end == rest->len)
        *rest = (str){NULL, 0};
    else if (end + 1 == rest->len)
        *rest = (str){one_empty_field, 0};
    else
        *rest = str_from(*rest, end + 1);
    return true;
}

bool str_to_u64(str s, uint64_t *ret)
{
    return parse_digits(s, UINT64_MAX, ret);
}

bool str_to_i64(str s, int64_t *ret)
{
    bool     negative = s.len > 0 && s.at[0] == '-';
    uint64_t n;

    if (!parse_digits(negative ? str_from(s, 1) : s, negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX, &n))
        return false;
    if (!negative)
        *ret = (int64_t)n;
    else
        *ret = n == 0 ? 0 : -(int64_t)(n - 1) - 1; /* the lowest number has no positive twin */
    return true;
}

bool str_is_utf8(str s)
{
    const unsigned char *at = (const unsigned char *)s.at;
    for (size_t i = 0; i < s.len;) {
        i += ascii_run(at + i, s.len - i);
        if (i == s.len)
            break;
        size_t len = utf8_sequence(at + i, s.len - i);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}
