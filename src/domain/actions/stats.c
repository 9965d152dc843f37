/* stats.c -- GET actions/stats: how many records there are, of which kinds; and the timer that counts anew.
 *
 * From the row of aggregates, unless it has none or ?refresh=true asks for a count: see census.h.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/answer.h"
#include "domain/actions/census.h"
#include "domain/actions/endpoint.h"

#define FAILED "Failed to compute stats."

static res read_stats(task *t, bool refresh, counts *ret)
{
    aggregate g = {0};
    if (!refresh)
        TRY(aggregate_read(t, &g));
    if (counts_read(g.stats, ret))
        return RES_OK;
    census *c = arena_one(t->arena, census);
    TRY(census_take(t, CENSUS_STATS, c));
    *ret = c->stats;
    return RES_OK;
}

static void set_number(task *t, reply *out, const char *name, int64_t n)
{
    (void)reply_header(out, name, arena_strf(t->arena, "%lld", (long long)n)); /* a number is never refused */
}

res actions_stats(task *t, const request *in, reply *out)
{
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    counts *c = arena_one(t->arena, counts);
    res     r = read_stats(t, str_eq_nocase(request_query(in, "refresh"), STR("true")), c);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, FAILED);
    set_number(t, out, "X-Actions-Count", c->total);
    set_number(t, out, "X-Verified-Count", c->verified);
    set_number(t, out, "X-Archived-Count", c->archived);
    set_number(t, out, "X-Ossf-Count", c->with_ossf);
    endpoint_header(t, out);
    return answer_json(in, out, 200, "public, max-age=300", counts_json(t->arena, c));
}

/* A failure is logged and no failure of the invocation (specification §12): the next run counts as well. */
res actions_stats_warmup(task *t, const request *in, reply *out)
{
    (void)in;
    census *c = arena_one(t->arena, census);
    res     r = census_take(t, CENSUS_STATS, c);
    TRY(task_stopped(t));
    if (r == RES_OK) {
        reply_log(out, "stats warm-up: %lld records counted", (long long)c->stats.total);
        return RES_OK;
    }
    str why = task_message(t);
    log_error("stats warm-up failed with %s: %.*s", res_name(r), STR_ARG(why));
    task_forget(t);
    return RES_OK;
}
