/* plan_show.c -- actions that change nothing: lists and single things, in lines (§6.3).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "domain/scheduler/plan_run.h"

enum { LISTED_MAX = 50 };

static str text_of(const json_val *v, const char *member)
{
    return json_text(json_get(v, member), (str){0});
}

static res list_appointments(work *w)
{
    appointment *list;
    size_t       count;
    bool         truncated;
    TRY(appointments_list(w->t, w->run->group, &list, &count, &truncated));
    if (count == 0)
        plan_say(w, "No appointments found.");
    for (size_t i = 0; i < count && i < LISTED_MAX; i++) {
        when time = plan_time_of(&list[i]);
        plan_say(w, "%.*s — %.*s, %.*s", STR_ARG(list[i].code), STR_ARG(list[i].title),
                 STR_ARG(plan_time_text(w->a, &time)));
    }
    if (count > LISTED_MAX)
        plan_say(w, "… and %zu more", count - LISTED_MAX);
    return RES_OK;
}

static res show_appointment(work *w, const json_val *action)
{
    draft *d;
    TRY(plan_people(w));
    TRY(plan_open(w, action_text(action, "code"), false, &d));
    if (d == NULL)
        return RES_OK;
    plan_say(w, "%.*s — %.*s, %.*s", STR_ARG(d->was.code), STR_ARG(d->title),
             STR_ARG(plan_time_text(w->a, &d->time)));
    if (d->location.len > 0)
        plan_say(w, "Where: %.*s", STR_ARG(d->location));
    for (size_t i = 0; i < d->people_count && i < LISTED_MAX; i++)
        plan_say(w, "With: %.*s", STR_ARG(plan_name_of(w, d->people[i])));
    if (d->notes.len > 0)
        plan_say(w, "Notes: %.*s", STR_ARG(d->notes));
    return RES_OK;
}

static void show_people(work *w, str only)
{
    size_t n = 0;
    for (size_t i = 0; i < w->people_count && n < LISTED_MAX; i++) {
        const person *p = &w->people[i];
        if (!p->active || (only.len > 0 && person_named(p, 1, only) == NULL))
            continue;
        n++;
        plan_say(w, "%.*s%s", STR_ARG(p->name), p->member ? "" : " (without an account)");
    }
    if (n == 0 && only.len > 0)
        plan_fail(w, "Not found: %.*s", STR_ARG(only));
}

static void show_rules(work *w, str person_id, str code)
{
    size_t n = 0;
    for (size_t i = 0; i < w->rule_count && n < LISTED_MAX; i++) {
        const json_val *rule = w->rules[i];
        int64_t         from, to;
        if ((person_id.len > 0 && !str_eq(text_of(rule, "personId"), person_id)) ||
            (code.len > 0 && !str_eq_nocase(text_of(rule, "code"), code)) ||
            !rule_span(w->a, rule, w->z, &from, &to))
            continue;
        when span = {.status = TIME_RESOLVED, .start_us = from, .end_us = to, .zone = zone_name(w->z)};
        span.all_day = when_is_whole_days(w->z, from, to);
        n++;
        plan_say(w, "%.*s — %.*s is %.*s on %.*s", STR_ARG(text_of(rule, "code")),
                 STR_ARG(plan_name_of(w, text_of(rule, "personId"))), STR_ARG(text_of(rule, "kind")),
                 STR_ARG(plan_time_text(w->a, &span)));
    }
    if (n == 0 && code.len > 0)
        plan_fail(w, "Not found: %.*s", STR_ARG(code));
    else if (n == 0)
        plan_say(w, "No rules found.");
}

res plan_show(work *w, const json_val *action, const char *type)
{
    str person_id = action_text(action, "personId");
    if (strcmp(type, "list_appointments") == 0)
        return list_appointments(w);
    if (strcmp(type, "show_appointment") == 0)
        return show_appointment(w, action);
    TRY(plan_people(w));
    if (strcmp(type, "list_people") == 0 || strcmp(type, "show_person") == 0)
        show_people(w, person_id);
    else if (strcmp(type, "list_rules") == 0)
        show_rules(w, person_id, (str){0});
    else if (strcmp(type, "show_rule") == 0)
        show_rules(w, (str){0}, plan_code(w->a, action_text(action, "code")));
    else
        plan_say(w, "Ask for appointments, people or rules, or say what is to be planned.");
    return RES_OK;
}
