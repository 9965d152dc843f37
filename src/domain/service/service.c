/* service.c -- health, metrics, and the description of all that is served.
 *
 * Health does no I/O and waits for nothing: it says that this process answers, and stays true while storage
 * is down.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/service.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/metrics.h"
#include "runtime/asset.h"

enum { METRICS_MAX = 4 * MIB, TIME_DIGITS = 3 };

static const char *service_version = "unknown";

ASSET(openapi, openapi_json, "application/json; charset=utf-8");

void service_set_version(const char *version)
{
    service_version = version;
}

res service_health(task *t, const request *in, reply *out)
{
    (void)in;
    json *body = json_object(t->arena);
    json_set_bool(body, "ok", true);
    json_set_str(body, "time", iso8601_arena(t->arena, clock_wall_us(), TIME_DIGITS));
    json_set_str(body, "version", str_of(service_version));
    return reply_json(out, 200, body);
}

res service_metrics(task *t, const request *in, reply *out)
{
    (void)in;
    buf text;
    buf_init(&text, t->arena, METRICS_MAX);
    metrics_print(&text);
    if (text.failed)
        return task_fail(t, RES_TOO_LARGE, "metrics exceed %d bytes", METRICS_MAX);
    return reply_bytes(out, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&text));
}

/* Any origin may read it: viewers of such documents are pages in a browser. */
res service_openapi(task *t, const request *in, reply *out)
{
    TRY(reply_asset(t, in, out, &openapi, "public, max-age=300"));
    return reply_header(out, "Access-Control-Allow-Origin", STR("*"));
}
