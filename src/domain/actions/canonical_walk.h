/* canonical_walk.h -- steps through canonical JSON. Private to the files that splice it.
 *
 * Canonical text is well-formed and has no blanks, so nothing here looks for its end: every step stops at a
 * quote, a comma or a bracket that is there.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CANONICAL_WALK_H
#define TRESTLE_DOMAIN_ACTIONS_CANONICAL_WALK_H

#include "core/str.h"

/* From the opening quote to the closing one. */
static inline const char *walk_string(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p;
}

/* Behind the container that begins at p, on a level of its own below `depth` others. *deepest is raised to
 * the deepest level inside. */
static inline const char *walk_container(const char *p, size_t depth, size_t *deepest)
{
    size_t level = depth;
    do {
        if (*p == '"') {
            p = walk_string(p);
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
static inline const char *walk_value(const char *p, size_t depth, size_t *deepest)
{
    if (*p == '"')
        return walk_string(p) + 1;
    if (*p == '{' || *p == '[')
        return walk_container(p, depth, deepest);
    while (*p != ',' && *p != '}')
        p++;
    return p;
}

#endif
