/* route_template.h -- one route template in ASP.NET Core's language: parsing and matching (spec 6.2).
 *
 *     orders/{id:int}/{note?}    {page=1}    files/{*rest}    {**rest}    {file}.{ext?}
 * {code:regex(^[a-z]{{2}}$)}
 *
 * Literals match ignoring case; a trailing slash in the path is ignored; a parameter matches one non-empty
 * segment, a catch-all the rest, even empty. Constraints: int, bool, datetime, decimal, double, float, guid,
 * long, alpha, length(n) length(a,b), minlength, maxlength, min, max, range, regex(…), required; several may
 * follow each other. Matching takes time linear in the path (regex: POSIX extended, bounded in length) and
 * does not recurse over input.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ROUTE_TEMPLATE_H
#define TRESTLE_RUNTIME_ROUTE_TEMPLATE_H

#include "core/arena.h"
#include "runtime/functions.h"
#include "runtime/http_header.h"

/* RES_CONFIG with *ret_error: "route 'a/{b': parameter is not closed". */
res route_template_parse(arena *a, str text, route_template **ret, str *ret_error) MUST_USE;

/* Path as sent, with its leading slash, escaped. On a match the parameters, unescaped (a %2F in a segment
 * stays inside it); optional ones not supplied are absent, defaults are filled in. */
bool route_template_match(arena *a, const route_template *r, str path, http_header **ret_params,
                          size_t *ret_count);

/* Can some path match both? Errs on the side of yes. For the route-ambiguity test and the start-up check. */
bool route_template_overlap(const route_template *a, const route_template *b);

#endif
