/* direct_time.c -- what "next tuesday at 5" means, told and not saved (§6.5).
 *
 * A model is asked first, when one is configured and wanted. Whatever is wrong with its answer, the grammar
 * of when.h answers instead: this call does not fail for the model's sake.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/log.h"
#include "domain/scheduler/ai.h"
#include "domain/scheduler/direct.h"
#include "domain/scheduler/settings.h"

enum { CHOICE_MINUTES = 60, DAY_SECONDS = 24 * 3600 };

static const int64_t US = 1000000;

static const char system_text[] =
    "You read a time in words and answer with one JSON object and nothing else: {\"time\": {\"intent\": "
    "{\"status\": \"resolved\"|\"partial\"|\"unresolved\", \"originalText\": text, \"missing\": [of "
    "\"date\", "
    "\"startTime\", \"endTime\", \"duration\", \"timezone\"], \"assumptions\": [texts], "
    "\"evidenceSnippets\": "
    "[texts]}, \"resolved\": {\"startUtc\", \"endUtc\" (ISO 8601, UTC, with Z), \"timezone\", "
    "\"durationSource\": \"explicit\"|\"suggested\"}}}. \"resolved\" stands there only with the status "
    "resolved. Never invent a date that was not said.";

typedef struct {
    str         words;
    const zone *z;
    int64_t     now_us;
    bool        attempted, by_model;
} question;

/* ---- asking the model ---- */

static str user_text(arena *a, const question *q)
{
    json *v = json_object(a);
    json_set_str(v, "whenText", q->words);
    json_set_str(v, "nowIso", iso8601_arena(a, q->now_us, 3));
    json_set_str(v, "timezone", zone_name(q->z));
    return json_print(a, v);
}

/* Its answer is believed when it is a whole TimeSpec; what was said is the caller's word, not the model's. */
static bool ask_model(direct *d, question *q, when *ret)
{
    const sched_settings *s = sched_settings_get();
    ai_answer             answer;
    when                  said;
    ai_question           ask = {.model = s->time_model,
                                 .user_key = str_of(d->c.who.user_key),
                                 .system = str_of(system_text),
                                 .user = user_text(d->c.a, q)};
    if (!s->time_by_ai || !s->ai_configured)
        return false;
    res r = ai_ask(d->c.t, &ask, &answer);
    q->attempted = r != RES_CONFIG && r != RES_THROTTLED;
    if (r == RES_OK) {
        const json_val *v = json_get(answer.content, "time");
        d->op = answer.op_id;
        r = when_read(d->c.a, v != NULL ? v : answer.content, &said);
    }
    if (r != RES_OK) {
        log_warn("a time was not read by the model: %s [traceId %.*s]", res_name(r), STR_ARG(d->c.trace));
        task_forget(d->c.t);
        return false;
    }
    said.original = q->words;
    *ret = said;
    return true;
}

/* ---- a clock time without a date ---- */

static bool at_day(const zone *z, civil_time day, int hour, int minute, int64_t *ret)
{
    day.hour = hour;
    day.minute = minute;
    day.second = day.microsecond = 0;
    return zone_to_us(z, &day, ret) == RES_OK;
}

static void add_choice(direct *d, json *list, const char *id, const question *q, int64_t start_us)
{
    civil_time local;
    str        zone_is = zone_name(q->z);
    json      *v = json_push_object(list);
    zone_local(q->z, start_us, &local);
    json_set_str(v, "id", str_of(id));
    json_set_str(v, "date", arena_strf(d->c.a, "%04d-%02d-%02d", local.year, local.month, local.day));
    json_set_str(v, "startTime", arena_strf(d->c.a, "%02d:%02d", local.hour, local.minute));
    json_set_str(v, "startUtc", iso8601_arena(d->c.a, start_us, 3));
    json_set_str(v, "endUtc", iso8601_arena(d->c.a, start_us + CHOICE_MINUTES * 60 * US, 3));
    json_set_int(v, "durationMins", CHOICE_MINUTES);
    json_set_str(v, "timezone", zone_is);
    if (str_eq(str_of(id), STR("today")))
        json_set_bool(v, "isPast", start_us <= q->now_us);
}

/* The day after: of its noon, which every day has. */
static civil_time day_after(const zone *z, civil_time day)
{
    int64_t noon;
    if (at_day(z, day, 12, 0, &noon))
        zone_local(z, noon + DAY_SECONDS * US, &day);
    return day;
}

static bool day_of(const appointment *p, const zone *z, civil_time *ret)
{
    int64_t us;
    str     date = json_text(json_get(p->doc, "date"), (str){0});
    if (p->time.start_us != 0) {
        zone_local(z, p->time.start_us, ret);
        return true;
    }
    char midnight[] = "0000-00-00T00:00:00Z";
    if (!when_is_date(date))
        return false;
    for (size_t i = 0; i < date.len; i++)
        midnight[i] = date.at[i];
    if (!iso8601_parse(str_of(midnight), &us))
        return false;
    civil_from_us(us, ret);
    return true;
}

static void add_choices(direct *d, json *body, const question *q, const appointment *p)
{
    int        hour, minute;
    int64_t    us;
    civil_time day;
    if (!when_is_clock_only(q->words, &hour, &minute))
        return;
    json *list = json_set_array(body, "timeChoices");
    zone_local(q->z, q->now_us, &day);
    if (at_day(q->z, day, hour, minute, &us))
        add_choice(d, list, "today", q, us);
    if (at_day(q->z, day_after(q->z, day), hour, minute, &us))
        add_choice(d, list, "tomorrow", q, us);
    if (p != NULL && day_of(p, q->z, &day) && at_day(q->z, day, hour, minute, &us))
        add_choice(d, list, "appointment", q, us);
}

/* ---- the action ---- */

static bool choose_zone(direct *d, const appointment *p, const zone **ret)
{
    str said = direct_text(d, "timezone");
    *ret = said.len > 0 ? zone_find(said) : p != NULL ? direct_zone_of(p) : direct_app_zone();
    if (*ret != NULL)
        return true;
    json *body = json_object(d->c.a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", STR("timezone must be the IANA name of a zone"));
    d->c.result = call_answer(&d->c, 400, body);
    return false;
}

res direct_resolve_time(direct *d)
{
    appointment        p = {0};
    when               w;
    const appointment *about = direct_text(d, "appointmentId").len > 0 ? &p : NULL;
    question           q = {.words = direct_text(d, "whenText"), .now_us = clock_wall_us()};
    if ((about != NULL && !direct_appointment(d, &p)) || !choose_zone(d, about, &q.z))
        return d->c.result;
    q.by_model = ask_model(d, &q, &w);
    d->c.result = task_stopped(d->c.t);
    if (d->c.result != RES_OK)
        return d->c.result;
    if (!q.by_model)
        when_parse(d->c.a, q.words, q.z, q.now_us, &w);
    json *body = call_ok(&d->c);
    json_set_json(body, "time", when_json(d->c.a, &w));
    json_set_str(body, "timezone", zone_name(q.z));
    if (about != NULL)
        json_set_str(body, "appointmentId", p.id);
    json_set_bool(body, "usedFallback", q.by_model);
    json_set_bool(body, "fallbackAttempted", q.attempted);
    json_set_str(body, "nowIso", iso8601_arena(d->c.a, q.now_us, 3));
    add_choices(d, body, &q, about);
    return direct_answer(d, body);
}
