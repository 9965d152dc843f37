/* bulk_exchange.c -- one request to the server, sent again as long as that makes sense.
 *
 *     429, 503                     the server is busy: a pause for all, as long as it asks for
 *     no answer, 408, 502, 504     it is away: pauses, for --retry-for seconds after the last success
 *     500                          a few times; then the caller reads it
 *     401, 403                     no key, or a wrong one: the end
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "app/bulk_run.h"
#include "core/clock.h"
#include "runtime/fetch.h"

enum {
    TIMEOUT_MS = 120 * 1000,
    BUSY_LIMIT_MS = 600 * 1000,
    NEVER_SEEN_LIMIT_MS = 5 * 1000, /* a server that has not answered once: rather a wrong URL */
    FAULTS_MAX = 4,
    HEADERS = 2,
};

typedef enum { ANSWERED, BUSY, AWAY, FAULT, REFUSED } verdict;

static verdict judge(const bulk_answer *a)
{
    switch (a->status) {
    case 429:
    case 503:
        return BUSY;
    case 408:
    case 502:
    case 504:
        return AWAY;
    case 500: /* a batch in which nothing succeeded has a result for each record all the same */
        return json_typeof(json_get(a->json, "results")) == JSON_ARRAY ? ANSWERED : FAULT;
    case 401:
    case 403:
        return REFUSED;
    default:
        return ANSWERED;
    }
}

static bool is_worth_a_retry(res r)
{
    return r == RES_UNREACHABLE || r == RES_UPSTREAM || r == RES_TIMEOUT || r == RES_UNAVAILABLE;
}

static res refused(bulk_run *run, int status)
{
    bulk_stop(run, RES_DENIED,
              run->o->key.len > 0 ? "the server refuses the key (%d)"
                                  : "the server wants a key (%d): set TRESTLE_IMPORT_KEY, or give --key",
              status);
    return RES_GONE;
}

/* ---- failures ---- */

static uint64_t patience_ms(const bulk_run *run, verdict v)
{
    uint64_t ms = 1000ull * run->o->retry_s;
    if (v == BUSY)
        return BUSY_LIMIT_MS;
    return run->answered || ms < NEVER_SEEN_LIMIT_MS ? ms : NEVER_SEEN_LIMIT_MS;
}

/* RES_OK: try again, after the pause. */
static res note_failure(bulk_run *run, verdict v, uint64_t sent_us, uint64_t retry_after_ms, str what)
{
    bool first = run->pace.rounds == 0;
    if (!bulk_pace_failure(&run->pace, clock_mono_us(), sent_us, retry_after_ms, patience_ms(run, v))) {
        bulk_stop(run, RES_UNREACHABLE, "%.*s; given up", STR_ARG(what));
        return RES_GONE;
    }
    if (first)
        bulk_progress_say(&run->progress, "%.*s; trying again", STR_ARG(what));
    return RES_OK;
}

/* ---- one try ---- */

static res try_once(task *t, const bulk_run *run, const bulk_request *in, bulk_answer *ret,
                    uint64_t *ret_retry_after_ms)
{
    http_header   headers[HEADERS] = {{STR("Content-Type"), STR("application/json")}};
    size_t        count = 1;
    fetch_answer  got;
    fetch_request f = {.method = in->method,
                       .url = in->url,
                       .headers = headers,
                       .body = in->body,
                       .answer_max = in->answer_max,
                       .timeout_ms = TIMEOUT_MS,
                       .repeatable = true};
    if (run->o->key.len > 0)
        headers[count++] = (http_header){STR("x-functions-key"), run->o->key};
    f.header_count = count;
    TRY(fetch(t, &f, &got));
    *ret = (bulk_answer){.status = got.status};
    if (json_parse(t->arena, got.body, &ret->json, NULL) != RES_OK)
        ret->json = NULL;
    *ret_retry_after_ms = bulk_pace_retry_after_ms(
        http_header_get(got.headers, got.header_count, STR("Retry-After")), clock_wall_us());
    return RES_OK;
}

static res wait_for_turn(task *t, const bulk_run *run)
{
    uint64_t ms;
    while ((ms = bulk_pace_wait_ms(&run->pace, clock_mono_us())) > 0)
        TRY(bulk_sleep(t, run, ms));
    return bulk_stopping(run) ? RES_GONE : RES_OK;
}

static res give_up(task *t, bulk_run *run, res r)
{
    bulk_stop(run, r, "%.*s", STR_ARG(task_message(t)));
    task_forget(t);
    return RES_GONE;
}

res bulk_exchange(task *t, bulk_run *run, const bulk_request *in, bulk_answer *ret)
{
    for (unsigned faults = 0;;) {
        TRY(wait_for_turn(t, run));
        uint64_t sent_us = clock_mono_us(), retry_after_ms = 0;
        res      r = try_once(t, run, in, ret, &retry_after_ms);
        if (r != RES_OK && !is_worth_a_retry(r))
            return give_up(t, run, r);
        verdict v = r == RES_OK ? judge(ret) : AWAY;
        run->answered = run->answered || r == RES_OK;
        if (v == REFUSED)
            return refused(run, ret->status);
        if (v == ANSWERED || (v == FAULT && ++faults == FAULTS_MAX)) {
            bulk_pace_success(&run->pace);
            return RES_OK;
        }
        str what = r == RES_OK ? arena_strf(t->arena, "the server answers %d", ret->status)
                               : arena_copy(t->arena, task_message(t));
        task_forget(t);
        TRY(note_failure(run, v, sent_us, retry_after_ms, what));
    }
}
