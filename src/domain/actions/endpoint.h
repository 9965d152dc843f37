/* endpoint.h -- the header that tells which table an answer is from.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_ENDPOINT_H
#define TRESTLE_DOMAIN_ACTIONS_ENDPOINT_H

#include "domain/actions/settings.h"
#include "runtime/http.h"

/* X-Table-Endpoint: the table's URL, without query and keys; "embedded:/actions" where it has none. */
static inline void endpoint_header(task *t, reply *out)
{
    table in = settings_get()->records;
    str   url = store_tables_url(in.store);
    /* A URL that is no header's value goes without: the answer is whole without it. */
    (void)reply_header(out, "X-Table-Endpoint",
                       arena_strf(t->arena, "%.*s/%.*s", STR_ARG(url), STR_ARG(in.name)));
}

#endif
