/* route_index.h -- which templates may match a path: a few words of bits instead of a hundred comparisons.
 *
 * Templates are numbered in order of precedence, and each number is a bit. For each of the first segments of
 * a path there is a set of templates that bear it there: those with that literal, and those with a parameter.
 * The sets of all segments, and the set of templates for paths of that length, are intersected; what is left
 * is held against the path one by one, lowest bit first. So precedence costs nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ROUTE_INDEX_H
#define TRESTLE_RUNTIME_ROUTE_INDEX_H

#include "runtime/route_parts.h"

enum { ROUTE_INDEX_MAX = 1024, ROUTE_INDEX_WORDS = ROUTE_INDEX_MAX / 64 };

typedef struct route_index route_index;

/* Of templates[0 … count-1]; NULL in it: never matches. NULL when out of memory. */
route_index *route_index_make(arena *a, route_template *const *templates, size_t count) MUST_USE;

/* Fills the candidates, and returns how many words of them count. */
size_t route_index_find(const route_index *x, const route_path *p, uint64_t ret[ROUTE_INDEX_WORDS]);

#endif
