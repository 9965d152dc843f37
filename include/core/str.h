/* str.h -- a borrowed view of bytes: pointer and length, not terminated.
 *
 * A str owns nothing; it is valid as long as what it looks into. The empty str may have a NULL pointer.
 * "nocase" folds ASCII letters only, which is what HTTP, the Functions host and Azure mean by it here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_STR_H
#define TRESTLE_CORE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_USE                __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))

enum { KIB = 1024, MIB = 1024 * 1024 };

typedef struct {
    const char *at;
    size_t      len;
} str;

/* A str of a string literal; and both of a str's parts, for "%.*s". */
#define STR(literal) ((str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal)               \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    } /* where a constant initialiser is demanded */
#define STR_ARG(s) str_print_len(s), ((s).at != NULL ? (s).at : "")

static inline int str_print_len(str s)
{
    return s.len > INT32_MAX ? INT32_MAX : (int)s.len;
}

str  str_of(const char *terminated); /* NULL gives the empty str */
bool str_eq(str a, str b);
bool str_eq_nocase(str a, str b);
int  str_compare(str a, str b); /* by bytes, unsigned; a prefix sorts first */
int  str_compare_nocase(str a, str b);
bool str_starts(str s, str prefix);
bool str_starts_nocase(str s, str prefix);
bool str_ends(str s, str suffix);
bool str_ends_nocase(str s, str suffix);
bool str_has(str s, str needle);

/* Offset of the first such byte or text, or s.len if there is none. */
size_t str_find_char(str s, char c);
size_t str_find(str s, str needle);

/* Bytes [from, to); both are clamped to the length, and to >= from. */
str str_slice(str s, size_t from, size_t to);
str str_from(str s, size_t from);
str str_trim(str s); /* without blanks, tabs, CR and LF at either end */

/* Takes the next field off *rest: true and the field (may be empty), false when nothing is left.
 * "a,,b" gives "a", "", "b"; "" gives nothing; "a," gives "a", "". Start with *rest = the whole. */
bool str_next_field(str *rest, char separator, str *ret);

/* Whole text must be a decimal number in range, without blanks or a plus sign. */
bool str_to_u64(str s, uint64_t *ret) MUST_USE;
bool str_to_i64(str s, int64_t *ret) MUST_USE;

bool str_is_utf8(str s); /* well-formed, without surrogates and overlong forms */

static inline char str_lower_char(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

#endif
