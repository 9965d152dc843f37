/* route_constraint.h -- what stands behind the colon of a route parameter: {id:int:min(1)}.
 *
 * The names and their meaning are ASP.NET Core's. Where .NET's own parsers are more generous than a route
 * needs (datetime, guid), the subset is said at the function.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ROUTE_CONSTRAINT_H
#define TRESTLE_RUNTIME_ROUTE_CONSTRAINT_H

#include <regex.h>

#include "core/arena.h"
#include "core/res.h"

typedef enum {
    CONSTRAINT_INT,
    CONSTRAINT_LONG,
    CONSTRAINT_BOOL,
    CONSTRAINT_DATETIME,
    CONSTRAINT_DECIMAL,
    CONSTRAINT_DOUBLE, /* float too: what does not fit becomes infinity, which .NET accepts */
    CONSTRAINT_GUID,
    CONSTRAINT_ALPHA,
    CONSTRAINT_LENGTH, /* low..high UTF-16 units: length, minlength, maxlength */
    CONSTRAINT_RANGE,  /* low..high: min, max, range */
    CONSTRAINT_REGEX,
    CONSTRAINT_REQUIRED,
    CONSTRAINT_FILE,
    CONSTRAINT_NONFILE,
} constraint_kind;

typedef struct {
    constraint_kind kind;
    int64_t         low, high;
    const regex_t  *regex;
} route_constraint;

/* `args` is what stands in parentheses; its pointer is NULL when there are none. RES_CONFIG with *ret_error:
 * "constraint 'itn' is unknown". */
res route_constraint_parse(arena *a, str name, str args, route_constraint *ret, str *ret_error) MUST_USE;

bool route_constraint_met(const route_constraint *c, str value);
bool route_constraints_met(const route_constraint *list, size_t count, str value);

/* True: no text can meet both lists. False when that is not plain to see. */
bool route_constraints_exclude(const route_constraint *a, size_t a_count, const route_constraint *b,
                               size_t b_count);

#endif
