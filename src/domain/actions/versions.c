/* versions.c -- GET and HEAD actions/versions, and the timer that puts the catalogue together
 * (specification §11).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/versions.h"

#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/answer.h"

#define MAX_AGE     "public, max-age=3600"
#define RETRY_AFTER "60"

static res answer_none(task *t, const request *in, reply *out)
{
    TRY(answer_error(t, in, out, 503, "The catalogue of versions is not available yet."));
    return reply_header(out, "Retry-After", STR(RETRY_AFTER));
}

/* Views into what may be somebody else's text: a date that no header may hold is left out. */
static str header_text(str value)
{
    return http_header_value_ok(value) ? value : STR("");
}

static res add_headers(task *t, const request *in, reply *out, const versions *v)
{
    answer_headers(in, out, MAX_AGE);
    TRY(reply_header(out, "X-Versions-Generated-At", header_text(v->generated_at)));
    TRY(reply_header(out, "X-Versions-Count", arena_strf(t->arena, "%lld", (long long)v->count)));
    TRY(reply_header(out, "X-Versions-Schema-Version", arena_strf(t->arena, "%lld", (long long)v->schema)));
    return reply_add_header(out, "Vary", STR("Accept-Encoding"));
}

static res send_meta(task *t, const request *in, reply *out, const versions *v)
{
    json *body = json_object(t->arena);
    json_set_int(body, "schemaVersion", v->schema);
    json_set_str(body, "generatedAt", v->generated_at);
    json_set_int(body, "count", v->count);
    json_set_str(body, "etag", v->etag);
    json_set_int(body, "rawBytes", (int64_t)v->raw.len);
    json_set_int(body, "gzipBytes", (int64_t)v->packed.len);
    TRY(reply_json(out, 200, body));
    return add_headers(t, in, out, v);
}

static res send(task *t, const request *in, reply *out, const versions *v)
{
    if (answer_matches(request_header(in, "if-none-match"), v->etag)) {
        TRY(reply_empty(out, 304));
    } else if (http_accepts(request_header(in, "accept-encoding"), STR("gzip"))) {
        TRY(reply_bytes(out, 200, "application/json; charset=utf-8", v->packed));
        TRY(reply_header(out, "Content-Encoding", STR("gzip")));
    } else {
        TRY(reply_bytes(out, 200, "application/json; charset=utf-8", v->raw));
    }
    TRY(add_headers(t, in, out, v));
    return reply_header(out, "ETag", v->etag);
}

res actions_versions(task *t, const request *in, reply *out)
{
    const versions *v;
    if (answer_options(in, out, "GET,HEAD,OPTIONS"))
        return RES_OK;
    res r = versions_hold(t, &v);
    if (r != RES_OK && task_stopped(t) != RES_OK)
        return r;
    if (r == RES_UNAVAILABLE || r == RES_NOT_FOUND)
        return answer_none(t, in, out);
    if (r != RES_OK)
        return answer_failed(t, in, out, r, "Failed to load the catalogue of versions.");
    if (str_eq(request_query(in, "meta"), STR("true")))
        return send_meta(t, in, out, v);
    return send(t, in, out, v);
}

/* §12: of all the timers the one whose failure fails the invocation. */
res actions_versions_warmup(task *t, const request *in, reply *out)
{
    versions_built built;
    (void)in, (void)out;
    res r = versions_build(t, &built);
    if (r != RES_OK)
        return task_fail(t, r, "the catalogue of versions could not be built");
    log_info("the catalogue of versions was built: %zu records, %zu skipped", built.count, built.skipped);
    return RES_OK;
}
