/* canonical_walk.h -- steps through canonical JSON. Private to the files that splice it.
 *
 * Canonical text is well-formed and has no blanks, so every step stops at a quote, a comma or a bracket that
 * is there, and nothing is checked. Most bytes stand in strings, which memchr crosses quickest.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CANONICAL_WALK_H
#define TRESTLE_DOMAIN_ACTIONS_CANONICAL_WALK_H

#include <string.h>

#include "core/str.h"

/* Whether the quote at p, in the string that began behind `from`, is escaped: an odd row of backslashes
 * stands before it. */
static inline bool walk_is_escaped(const char *from, const char *p)
{
    const char *back = p;
    while (back > from && back[-1] == '\\')
        back--;
    return (p - back) % 2 != 0;
}

/* From the opening quote to the closing one; `end` is that of the text. */
static inline const char *walk_string(const char *p, const char *end)
{
    const char *from = p + 1;
    do
        p = memchr(p + 1, '"', (size_t)(end - p - 1));
    while (p[-1] == '\\' && walk_is_escaped(from, p));
    return p;
}

/* Behind the container that begins at p, on a level of its own below `depth` others. *deepest is raised to
 * the deepest level inside. */
static inline const char *walk_container(const char *p, const char *end, size_t depth, size_t *deepest)
{
    size_t level = depth;
    do {
        if (*p == '"') {
            p = walk_string(p, end);
        } else if (*p == '{' || *p == '[') {
            if (++level > *deepest)
                *deepest = level;
        } else if (*p == '}' || *p == ']') {
            level--;
        }
        p++;
    } while (level > depth);
    return p;
}

/* Behind the value of a member. */
static inline const char *walk_value(const char *p, const char *end, size_t depth, size_t *deepest)
{
    if (*p == '"')
        return walk_string(p, end) + 1;
    if (*p == '{' || *p == '[')
        return walk_container(p, end, depth, deepest);
    while (*p != ',' && *p != '}')
        p++;
    return p;
}

#endif
