/* service_http.c -- what AI use has come to today (§4.1: 2).
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"

enum { WARN_PERCENT = 70, THOUSAND = 1000, SUMMARY_MAX = 1024 };

#define RECENT_US (30 * INT64_C(60000000)) /* how long an error is a warning */

typedef enum { USAGE_UNKNOWN, USAGE_OK, USAGE_WARNING, USAGE_LIMIT_REACHED } usage_state;

/* By state. */
static const char *const states[] = {
    [USAGE_UNKNOWN] = "unknown",
    [USAGE_OK] = "ok",
    [USAGE_WARNING] = "warning",
    [USAGE_LIMIT_REACHED] = "limit_reached",
};

/* 999 as it is, 1500 as "1.5k". */
static str short_number(arena *a, int64_t n)
{
    if (n < THOUSAND)
        return arena_strf(a, "%lld", (long long)n);
    return arena_strf(a, "%.1fk", (double)n / THOUSAND);
}

static usage_state judge(int64_t calls, int64_t tokens, bool recent_error)
{
    const sched_settings *s = sched_settings_get();
    if (calls >= s->requests_daily || tokens >= s->tokens_daily)
        return USAGE_LIMIT_REACHED;
    bool near = calls * 100 >= (int64_t)s->requests_daily * WARN_PERCENT ||
                tokens * 100 >= (int64_t)s->tokens_daily * WARN_PERCENT;
    return near || recent_error ? USAGE_WARNING : USAGE_OK;
}

static usage_state sum_up(arena *a, const usage_counts *n, str *ret_summary)
{
    const sched_settings *s = sched_settings_get();
    int64_t               at_us, tokens = n->tokens_in + n->tokens_out;
    str                   error = usage_last_error(&at_us);
    bool                  recent = error.len > 0 && clock_wall_us() - at_us < RECENT_US;
    buf                   b;
    buf_init(&b, a, SUMMARY_MAX);
    (void)buf_addf(&b, "%.*s/%.*s req, %.*s/%.*s tokens", STR_ARG(short_number(a, n->calls)),
                   STR_ARG(short_number(a, s->requests_daily)), STR_ARG(short_number(a, tokens)),
                   STR_ARG(short_number(a, s->tokens_daily)));
    if (recent)
        (void)buf_addf(&b, ", last error: %.*s", STR_ARG(error));
    *ret_summary = buf_str(&b);
    return judge(n->calls, tokens, recent);
}

/* A day without a row is one without a call. */
static res read_today(task *t, usage_counts *ret)
{
    *ret = (usage_counts){0};
    TRY(places_make(t));
    res r = usage_today(t, ret);
    if (r == RES_NOT_FOUND)
        task_forget(t);
    return r == RES_NOT_FOUND ? RES_OK : r;
}

res sched_usage(task *t, const request *in, reply *out)
{
    usage_counts n;
    str          summary = STR("usage tracking unavailable");
    usage_state  state = USAGE_UNKNOWN;
    json        *body = json_object(t->arena);
    res          r = store_is_set_up(STORE_MAIN) ? read_today(t, &n) : RES_CONFIG;
    (void)in;
    if (task_stopped(t) != RES_OK)
        return task_stopped(t);
    if (r == RES_OK)
        state = sum_up(t->arena, &n, &summary);
    else {
        str why = task_message(t);
        log_warn("today's usage is not known: %s (%.*s)", res_name(r), STR_ARG(why));
        task_forget(t);
    }
    json_set_str(body, "usageState", str_of(states[state]));
    json_set_str(body, "usageSummary", summary);
    json_set_str(body, "updatedAt", call_now(t->arena));
    return reply_json(out, 200, body);
}
