/* snapshot.c -- GET actions/snapshot, POST actions/snapshot/refresh, and the timer that does the same
 * (specification §11).
 *
 * The document goes out as it was stored, or as gzip to those who say that they can read it. Only a refresh
 * reads the table.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/snapshot.h"

#include "core/clock.h"
#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/answer.h"

#define MAX_AGE     "public, max-age=300"
#define RETRY_AFTER "60"

enum { US_OF_MS = 1000 };

res snapshot_answer_none(task *t, const request *in, reply *out)
{
    json *body = json_object(t->arena);
    json_set_str(body, "error", STR("The actions snapshot is not available yet."));
    json_set_str(body, "hint",
                 STR("POST actions/snapshot/refresh builds it, as a timer does every six hours; "
                     "actions/list has the same records until then."));
    TRY(answer_json(in, out, 503, NULL, body));
    return reply_header(out, "Retry-After", STR(RETRY_AFTER));
}

static res send(const request *in, reply *out, const snapshot *s)
{
    if (answer_matches(request_header(in, "if-none-match"), snapshot_etag(s))) {
        TRY(reply_empty(out, 304));
    } else if (http_accepts(request_header(in, "accept-encoding"), STR("gzip"))) {
        TRY(reply_bytes(out, 200, "application/json; charset=utf-8", snapshot_packed(s)));
        TRY(reply_header(out, "Content-Encoding", STR("gzip")));
    } else {
        TRY(reply_bytes(out, 200, "application/json; charset=utf-8", snapshot_body(s)));
    }
    answer_headers(in, out, MAX_AGE);
    TRY(reply_header(out, "ETag", snapshot_etag(s)));
    return reply_add_header(out, "Vary", STR("Accept-Encoding"));
}

res actions_snapshot(task *t, const request *in, reply *out)
{
    const snapshot *s;
    if (answer_options(in, out, "GET,OPTIONS"))
        return RES_OK;
    res r = snapshot_hold(t, &s);
    if (r == RES_NOT_FOUND)
        return snapshot_answer_none(t, in, out);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, "Failed to load the actions snapshot.");
    return send(in, out, s);
}

static json *built_json(arena *a, const snapshot_built *b, uint64_t took_us)
{
    json *body = json_object(a);
    json_set_int(body, "count", (int64_t)b->count);
    json_set_int(body, "skipped", (int64_t)b->skipped);
    json_set_int(body, "bytes", (int64_t)b->bytes);
    json_set_str(body, "generatedAt", b->generated_at);
    json_set_int(body, "durationMs", (int64_t)(took_us / US_OF_MS));
    json_set_bool(body, "statsRefreshed", b->stats_refreshed);
    if (b->stats_refreshed)
        json_set_int(body, "statsTotal", b->stats_total);
    else
        json_set_null(body, "statsTotal");
    return body;
}

res actions_build_snapshot(task *t, const request *in, reply *out)
{
    snapshot_built built;
    uint64_t       began_us = clock_mono_us();
    if (answer_options(in, out, "POST,OPTIONS"))
        return RES_OK;
    res r = snapshot_build(t, &built);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, "Failed to rebuild the actions snapshot.");
    return answer_json(in, out, 200, NULL, built_json(t->arena, &built, clock_mono_us() - began_us));
}

/* §12: a timer's failure is told in the log and nowhere else. */
res actions_snapshot_warmup(task *t, const request *in, reply *out)
{
    snapshot_built built;
    (void)in, (void)out;
    res r = snapshot_build(t, &built);
    TRY(task_stopped(t));
    if (r != RES_OK) {
        str why = task_message(t);
        log_error("the snapshot could not be rebuilt: %s: %.*s", res_name(r), STR_ARG(why));
        task_forget(t);
        return RES_OK;
    }
    log_info("the snapshot was rebuilt: %zu records, %zu skipped, %zu bytes", built.count, built.skipped,
             built.bytes);
    return RES_OK;
}
