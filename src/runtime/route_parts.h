/* route_parts.h -- what a route template is made of, and a path that is cut into segments once for all
 * templates it is held against.
 *
 *     files/v{major:int}/{name}.{ext?}
 *     └─┬─┘ └────┬─────┘ └─────┬─────┘   three segments; the first is one literal part; the second a literal
 *       1        2             3         and a parameter; the third a parameter, a literal and a parameter
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ROUTE_PARTS_H
#define TRESTLE_RUNTIME_ROUTE_PARTS_H

#include "core/arena.h"
#include "core/res.h"
#include "runtime/http_header.h"
#include "runtime/route_constraint.h"
#include "runtime/route_template.h"

enum {
    ROUTE_TEXT_MAX = 1024, /* bytes of a template */
    ROUTE_SEGMENTS_MAX = 32,
    ROUTE_PARTS_MAX = 16, /* of one segment */
    ROUTE_PARAMS_MAX = 32,
    ROUTE_CONSTRAINTS_MAX = 8, /* of one parameter */
};

typedef struct {
    bool                    is_param;
    str                     text; /* of a literal; a parameter's name */
    bool                    optional, catch_all, has_default;
    str                     otherwise; /* the default */
    const route_constraint *constraints;
    size_t                  constraint_count;
} route_part;

typedef struct {
    const route_part *parts;
    size_t            count;
} route_segment;

struct route_template {
    str                  text;
    const route_segment *segments;
    size_t               count;
    size_t               least; /* segments that a path must have; those that may be left out follow */
    bool                 catch_all;
};

/* A segment that is one literal, or one parameter. */
static inline bool route_segment_is_literal(const route_segment *s)
{
    return s->count == 1 && !s->parts[0].is_param;
}

static inline bool route_segment_is_param(const route_segment *s)
{
    return s->count == 1 && s->parts[0].is_param;
}

typedef struct {
    str    segments[ROUTE_SEGMENTS_MAX + 1]; /* unescaped */
    size_t count;                            /* one above the maximum: that many, or more */
    str    whole;                            /* unescaped, for catch-alls */
} route_path;

/* RES_NOT_FOUND when no template can match: the path has no leading slash, a bad escape (%zz), an escaped
 * zero byte, or is not UTF-8. RES_MEMORY without a hook. Allocates only if the path holds an escape. */
res route_path_cut(arena *a, str path, route_path *ret) MUST_USE;

/* Does not allocate: the values look into the path and the template. */
bool route_template_match_cut(const route_template *r, const route_path *p, http_header ret[ROUTE_PARAMS_MAX],
                              size_t *ret_count);

/* Which of two templates means a path of both more narrowly, by the first segment where they differ in kind:
 * none there, a literal, literals and parameters, a constrained parameter, a parameter, a catch-all. Below 0:
 * a does; above: b; 0: neither. */
int route_template_compare(const route_template *a, const route_template *b);

#endif
