/* plan_rules.c -- when people have time, and when not: rules of state.json (§6.2, §6.3).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "domain/scheduler/call.h"
#include "domain/scheduler/plan_run.h"

enum { RULE_SCHEMA = 2, MINUTE_US = 60 * 1000 * 1000 };

/* ---- one rule ---- */

static str text_of(const json_val *rule, const char *member)
{
    return json_text(json_get(rule, member), (str){0});
}

bool rule_span(arena *a, const json_val *rule, const zone *z, int64_t *ret_from, int64_t *ret_to)
{
    when w;
    str  own = text_of(rule, "timezone");
    if (iso8601_parse(text_of(rule, "startUtc"), ret_from) && iso8601_parse(text_of(rule, "endUtc"), ret_to))
        return *ret_to > *ret_from;
    when_parts p = {.date = text_of(rule, "date"),
                    .start_time = text_of(rule, "startTime"),
                    .minutes = (int)json_int(json_get(rule, "durationMins"), 0)};
    when_derive(a, &p, own.len > 0 ? plan_zone(own, zone_name(z)) : z, &w);
    *ret_from = w.start_us;
    *ret_to = w.end_us;
    return w.status == TIME_RESOLVED;
}

json *rule_json(arena *a, str code, str person_id, bool available, const when *time, str desc)
{
    json       *v = json_object(a);
    const zone *z = plan_zone(time->zone, (str){0});
    civil_time  c;
    zone_local(z, time->start_us, &c);
    json_set_str(v, "code", code);
    json_set_int(v, "schemaVersion", RULE_SCHEMA);
    json_set_str(v, "personId", person_id);
    json_set_str(v, "kind", available ? STR("available") : STR("unavailable"));
    json_set_json(v, "time", when_json(a, time));
    json_set_str(v, "date", arena_strf(a, "%04d-%02d-%02d", c.year, c.month, c.day));
    if (!time->all_day) {
        json_set_str(v, "startTime", arena_strf(a, "%02d:%02d", c.hour, c.minute));
        json_set_int(v, "durationMins", (time->end_us - time->start_us) / MINUTE_US);
    }
    json_set_str(v, "timezone", time->zone);
    json_set_str(v, "desc", desc);
    json_set_str(v, "startUtc", iso8601_arena(a, time->start_us, 3));
    json_set_str(v, "endUtc", iso8601_arena(a, time->end_us, 3));
    return v;
}

str rule_next_code(arena *a, const json_val *const *rules, size_t count)
{
    uint64_t most = 0, n;
    for (size_t i = 0; i < count; i++) {
        str code = text_of(rules[i], "code");
        if (str_starts(code, STR("RULE-")) && str_to_u64(str_from(code, 5), &n) && n < UINT32_MAX && n > most)
            most = n;
    }
    return arena_strf(a, "RULE-%u", (unsigned)most + 1);
}

/* ---- warnings ---- */

res plan_warn(work *w, const when *time, const str *people, size_t count)
{
    if (time->status != TIME_RESOLVED || count == 0 || w->rule_count == 0)
        return RES_OK;
    TRY(plan_people(w));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < w->rule_count; k++) {
            int64_t from, to;
            if (!str_eq(text_of(w->rules[k], "personId"), people[i]) ||
                !str_eq(text_of(w->rules[k], "kind"), STR("unavailable")) ||
                !rule_span(w->a, w->rules[k], w->z, &from, &to) || from >= time->end_us ||
                to <= time->start_us)
                continue;
            plan_say(w, "Warning: %.*s is marked UNAVAILABLE during this appointment.",
                     STR_ARG(plan_name_of(w, people[i])));
            break;
        }
    return RES_OK;
}

/* ---- adding and deleting ---- */

static size_t rules_of(const work *w, str person_id)
{
    size_t n = 0;
    for (size_t i = 0; i < w->rule_count; i++)
        n += str_eq(text_of(w->rules[i], "personId"), person_id);
    return n;
}

/* A rule of the other kind that overlaps with the new one contradicts it: the newer word counts. */
static void drop_opposites(work *w, str person_id, bool available, const when *time)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->rule_count; i++) {
        const json_val *rule = w->rules[i];
        int64_t         from, to;
        bool opposite = str_eq(text_of(rule, "kind"), available ? STR("unavailable") : STR("available"));
        if (opposite && str_eq(text_of(rule, "personId"), person_id) &&
            rule_span(w->a, rule, w->z, &from, &to) && from < time->end_us && to > time->start_us) {
            plan_say(w, "Removed %.*s, which said the opposite", STR_ARG(text_of(rule, "code")));
            continue;
        }
        w->rules[kept++] = rule;
    }
    w->rule_count = kept;
}

static bool is_there_already(work *w, str person_id, str kind, const when *time)
{
    for (size_t i = 0; i < w->rule_count; i++) {
        int64_t from, to;
        if (str_eq(text_of(w->rules[i], "personId"), person_id) &&
            str_eq(text_of(w->rules[i], "kind"), kind) && rule_span(w->a, w->rules[i], w->z, &from, &to) &&
            from == time->start_us && to == time->end_us) {
            plan_say(w, "Already there: %.*s", STR_ARG(text_of(w->rules[i], "code")));
            return true;
        }
    }
    return false;
}

static bool rule_time(work *w, const json_val *action, when *ret)
{
    str         own = action_text(action, "timezone"), start = action_text(action, "startTime");
    const zone *z = own.len > 0 ? plan_zone(own, zone_name(w->z)) : w->z;
    int         minutes = start.len > 0 ? (int)json_int(json_get(action, "durationMins"), 0) : 0;
    if (when_make(w->a, action_text(action, "date"), start, minutes, z, ret) == RES_OK &&
        ret->status == TIME_RESOLVED)
        return true;
    plan_fail(w, "A rule needs a date, and how long it holds.");
    return false;
}

static res add_rule(work *w, const json_val *action)
{
    when          time;
    str           who = action_text(action, "personId"), kind = action_text(action, "kind");
    const person *p = person_named(w->people, w->people_count, who);
    if (p == NULL || !p->active) {
        plan_fail(w, "Not found: %.*s", STR_ARG(who));
        return RES_OK;
    }
    bool available = str_eq(kind, STR("available"));
    if (!rule_time(w, action, &time) || is_there_already(w, p->id, kind, &time))
        return RES_OK;
    drop_opposites(w, p->id, available, &time);
    if (rules_of(w, p->id) >= RULES_PER_PERSON_MAX) {
        plan_fail(w, "%.*s has %d rules already, which is the limit.", STR_ARG(p->name),
                  RULES_PER_PERSON_MAX);
        return RES_OK;
    }
    str code = rule_next_code(w->a, w->rules, w->rule_count);
    w->rules = plan_room(w->a, w->rules, w->rule_count, &w->rule_room, sizeof(json_val *));
    w->rules[w->rule_count++] =
        json_frozen(w->a, rule_json(w->a, code, p->id, available, &time, action_text(action, "desc")));
    w->rules_changed = true;
    plan_say(w, "Added %.*s — %.*s is %s on %.*s", STR_ARG(code), STR_ARG(p->name),
             available ? "available" : "unavailable", STR_ARG(plan_time_text(w->a, &time)));
    return RES_OK;
}

static void delete_rule(work *w, const json_val *action)
{
    str    code = plan_code(w->a, action_text(action, "code"));
    size_t kept = 0;
    for (size_t i = 0; i < w->rule_count; i++)
        if (!str_eq_nocase(text_of(w->rules[i], "code"), code))
            w->rules[kept++] = w->rules[i];
    if (kept == w->rule_count) {
        plan_not_found(w, code);
        return;
    }
    w->rule_count = kept;
    w->rules_changed = true;
    plan_say(w, "Deleted %.*s", STR_ARG(code));
}

res plan_do_rule(work *w, const json_val *action, const char *type)
{
    TRY(plan_people(w));
    if (strcmp(type, "add_rule") == 0)
        return add_rule(w, action);
    delete_rule(w, action);
    return RES_OK;
}
