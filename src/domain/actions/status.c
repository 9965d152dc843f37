/* status.c -- GET actions/status: how long ago the records changed.
 *
 * From the row of aggregates, unless it has none or ?refresh=true asks for a count: see census.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions.h"
#include "domain/actions/answer.h"
#include "domain/actions/census.h"

#define FAILED "Failed to compute status."

static res read_status(task *t, bool refresh, str *ret)
{
    aggregate g = {0};
    if (!refresh)
        TRY(aggregate_read(t, &g));
    if (json_typeof(g.status) == JSON_OBJECT) {
        *ret = json_print_val(t->arena, g.status);
        return RES_OK;
    }
    census *c = arena_one(t->arena, census);
    TRY(census_take(t, CENSUS_STATUS, c));
    *ret = json_print(t->arena, ages_json(t->arena, &c->status, c->taken_us));
    return RES_OK;
}

res actions_status(task *t, const request *in, reply *out)
{
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    str body;
    res r = read_status(t, str_eq_nocase(request_query(in, "refresh"), STR("true")), &body);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, FAILED);
    TRY(reply_bytes(out, 200, "application/json; charset=utf-8", body));
    answer_headers(in, out, "public, max-age=300");
    return RES_OK;
}
