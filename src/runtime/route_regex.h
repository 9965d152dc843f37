/* route_regex.h -- .NET regular expressions of route constraints, as far as POSIX extended ones can say the
 * same.
 *
 * Matching ignores case and is not anchored, as in ASP.NET. Translated: \d \w \s and their opposites, \t \n
 * \r \f \v, \A \z \Z, (?:…), lazy quantifiers (which find the same texts), escapes inside brackets. Refused,
 * with one clear line: look-around, named groups and inline options, back references, \b, \p, \x, \u, class
 * subtraction, and what would grow too large. Differences that remain: letters are ASCII, `.` and negated
 * brackets match one byte, not one UTF-16 unit, and `$` does not match before a last line feed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ROUTE_REGEX_H
#define TRESTLE_RUNTIME_ROUTE_REGEX_H

#include <regex.h>

#include "core/arena.h"
#include "core/res.h"

enum { ROUTE_REGEX_MAX = 256, ROUTE_REGEX_SUBJECT_MAX = 256 }; /* bytes */

/* The compiled expression lives as long as the arena. RES_CONFIG with *ret_error: "regex: '\b' is not
 * supported". */
res route_regex_compile(arena *a, str pattern, const regex_t **ret, str *ret_error) MUST_USE;

/* A subject longer than ROUTE_REGEX_SUBJECT_MAX does not match. */
bool route_regex_matches(const regex_t *re, str subject);

#endif
