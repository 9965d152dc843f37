/* canon_scalar.c -- of the canonicaliser: strings, numbers and words; found canonical, or written anew.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "canon_number.h"
#include "canon_reader.h"
#include "canon_text.h"

enum {
    SIDE_BYTES = 1 * KIB,
    SIDE_GAP_BYTES = 2,         /* so that no two spans look as if a comma of the source stood between them */
    VERBATIM_DIGITS = 15,       /* see canon_number.c */
    VERBATIM_LEADING_ZEROS = 5, /* of 0.000001; the next smaller one is written 1e-7 */
};

const char *canon_fail(canon_reader *r, const char *at, const char *text)
{
    r->code = RES_INVALID;
    r->error = (canon_error){.offset = r->text_offset + (size_t)(at - r->text),
                             .text = at < r->end ? text : "unexpected end"};
    return NULL;
}

const char *canon_fail_memory(canon_reader *r)
{
    r->code = RES_MEMORY;
    r->error = (canon_error){.text = "out of memory"};
    return NULL;
}

const char *canon_move(canon_reader *r, const char *p)
{
    size_t len = (size_t)(r->end - p);
    char  *copy = arena_alloc(r->a, len + CANON_PAD_BYTES);
    if (copy == NULL)
        return canon_fail_memory(r);

    memcpy(copy, p, len);
    memset(copy + len, 0, CANON_PAD_BYTES);
    r->text_offset += (size_t)(p - r->text);
    r->text = copy;
    r->end = copy + len;
    r->limit = r->end + CANON_PAD_BYTES;
    r->changes++; /* a container that is open now stands in two places */
    return copy;
}

char *canon_side_room(canon_reader *r, size_t bytes)
{
    size_t need = SIDE_GAP_BYTES + bytes + CANON_PAD_BYTES;
    if (need > (size_t)(r->side_end - r->side)) {
        size_t size = need > SIDE_BYTES ? need : SIDE_BYTES;
        char  *room = arena_alloc(r->a, size);
        if (room == NULL)
            return NULL;
        r->side = room;
        r->side_end = room + size;
    }
    r->side += SIDE_GAP_BYTES;
    return r->side;
}

const char *canon_skip_blanks(canon_reader *r, const char *p)
{
    const char *from = p;
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    r->changes += p != from;
    return p;
}

/* Past the escape at p, raising *how to what it demands. */
static const char *read_escape(canon_reader *r, const char *p, canon_spelling *how)
{
    switch (p[1]) {
    case '"':
    case '\\':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        *how = *how == CANON_PLAIN ? CANON_ESCAPED : *how;
        return p + 2;
    case '/':
        *how = CANON_REWRITTEN;
        return p + 2;
    case 'u':
        *how = CANON_REWRITTEN;
        return canon_hex4(p + 2) >= 0 ? p + 6 : canon_fail(r, p, "bad \\u escape");
    default:
        return canon_fail(r, p, "bad escape");
    }
}

const char *canon_read_escaped(canon_reader *r, const char **start, const char *p, canon_spelling *how)
{
    for (;;) {
        if (p >= r->limit) {
            *start = canon_move(r, *start);
            *how = CANON_PLAIN;
            p = *start != NULL ? *start + 1 : NULL;
        } else if (*p == '"') {
            return p;
        } else if (*p == '\\') {
            p = read_escape(r, p, how);
        } else {
            return canon_fail(r, p, "control character in a string");
        }
        if (p == NULL)
            return NULL;
        p = canon_string_stop(p, r->limit);
    }
}

bool canon_rewrite_string(canon_reader *r, const char *start, const char *end, canon_value *ret)
{
    str   body = {start + 1, (size_t)(end - start - 1)};
    char *room = canon_side_room(r, body.len + 2);
    if (room == NULL)
        return canon_fail_memory(r) != NULL;

    room[0] = '"';
    size_t len = canon_string_write(body, room + 1);
    room[len + 1] = '"';
    r->side += len + 2;
    r->changes++;
    *ret = (canon_value){room, (uint32_t)len + 2};
    return true;
}

static bool rewrite_number(canon_reader *r, const char *start, const char *end, canon_value *ret)
{
    char *room = canon_side_room(r, CANON_NUMBER_SIZE);
    if (room == NULL)
        return canon_fail_memory(r) != NULL;

    str text = canon_number_rewrite((str){start, (size_t)(end - start)}, room);
    r->side += text.len;
    r->changes++;
    *ret = (canon_value){text.at, (uint32_t)text.len};
    return true;
}

static inline const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Whether a number without an exponent, whose digits are [whole, point) and (point, end), is canonical. */
static inline bool is_canonical(const char *whole, const char *point, const char *end)
{
    if (end - whole > VERBATIM_DIGITS + 1 || end[-1] == '0')
        return false;
    if (*whole != '0')
        return true;
    const char *p = point + 1;
    while (*p == '0')
        p++;
    return p - point - 1 <= VERBATIM_LEADING_ZEROS;
}

static const char *skip_exponent(canon_reader *r, const char *p)
{
    p += p[1] == '+' || p[1] == '-' ? 2 : 1;
    const char *end = skip_digits(p);
    return end > p ? end : canon_fail(r, p, "bad number");
}

/* The end of the number at `start`. */
static inline const char *skip_number(canon_reader *r, const char *start, bool *canonical)
{
    const char *whole = start + (*start == '-'), *p = skip_digits(whole);

    if (p == whole)
        return canon_fail(r, p, p == start ? "unexpected character" : "bad number");
    if (*whole == '0' && p - whole > 1)
        return canon_fail(r, whole, "bad number");
    *canonical = p - whole <= VERBATIM_DIGITS && !(*whole == '0' && whole > start);
    if (*p == '.') {
        const char *point = p;
        p = skip_digits(point + 1);
        if (p == point + 1)
            return canon_fail(r, p, "bad number");
        *canonical = is_canonical(whole, point, p);
    }
    if (*p != 'e' && *p != 'E')
        return p;
    *canonical = false;
    return skip_exponent(r, p);
}

static const char *read_number(canon_reader *r, const char *start, canon_value *ret)
{
    bool        canonical = false; /* unset only where skip_number fails */
    const char *end = skip_number(r, start, &canonical);
    if (end != NULL && end >= r->limit) {
        start = canon_move(r, start);
        end = start != NULL ? skip_number(r, start, &canonical) : NULL;
    }
    if (end == NULL)
        return NULL;
    *ret = (canon_value){start, (uint32_t)(end - start)};
    return canonical || rewrite_number(r, start, end, ret) ? end : NULL;
}

static const char *read_string_value(canon_reader *r, const char *start, canon_value *ret)
{
    canon_spelling how;
    const char    *end = canon_read_string(r, &start, &how);
    if (end == NULL)
        return NULL;
    *ret = (canon_value){start, (uint32_t)(end + 1 - start)};
    return how != CANON_REWRITTEN || canon_rewrite_string(r, start, end, ret) ? end + 1 : NULL;
}

static const char *read_word(canon_reader *r, const char *p, str word, canon_value *ret)
{
    if (memcmp(p, word.at, word.len) != 0)
        return canon_fail(r, p, "unexpected character");
    *ret = (canon_value){p, (uint32_t)word.len};
    return p + word.len;
}

const char *canon_read_scalar(canon_reader *r, const char *p, canon_value *ret)
{
    switch (*p) {
    case '"':
        return read_string_value(r, p, ret);
    case 't':
        return read_word(r, p, STR("true"), ret);
    case 'f':
        return read_word(r, p, STR("false"), ret);
    case 'n':
        return read_word(r, p, STR("null"), ret);
    default:
        return read_number(r, p, ret);
    }
}
