/* fuzz_route_template.c -- any bytes as two templates and a path, a line each.
 *
 * Whatever matches must have values that are UTF-8, and not more than there are parameters. When one path
 * matches both templates, the two must be said to overlap: that check stands between the app and routes that
 * hide each other.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "runtime/route_parts.h"
#include "runtime/route_template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static str next_line(str *rest)
{
    str line;
    return str_next_field(rest, '\n', &line) ? line : STR("");
}

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static bool matches(arena *a, const route_template *r, str path)
{
    http_header *params;
    size_t       n;
    if (!route_template_match(a, r, path, &params, &n))
        return false;
    demand(n <= ROUTE_PARAMS_MAX);
    for (size_t i = 0; i < n; i++) {
        demand(params[i].name.len > 0 && str_is_utf8(params[i].value));
        demand(str_find_char(params[i].value, '\0') == params[i].value.len);
    }
    return true;
}

static route_template *parse(arena *a, str text)
{
    route_template *r = NULL;
    str             why = STR("");
    if (route_template_parse(a, text, &r, &why) == RES_OK)
        return r;
    demand(why.len > 0);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(16 * MIB);
    if (a == NULL)
        return 0;
    str             rest = {(const char *)data, size};
    route_template *one = parse(a, next_line(&rest)), *other = parse(a, next_line(&rest));
    str             path = next_line(&rest);

    bool one_matches = one != NULL && matches(a, one, path),
         other_matches = other != NULL && matches(a, other, path);
    if (one_matches && other_matches)
        demand(route_template_overlap(one, other) && route_template_overlap(other, one));
    if (one != NULL && other != NULL)
        demand(route_template_overlap(one, other) == route_template_overlap(other, one) &&
               route_template_compare(one, other) == -route_template_compare(other, one));
    arena_free(a);
    return 0;
}
