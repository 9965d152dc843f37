/* plan_appts.c -- actions on appointments: made, moved, named, deleted, restored, and who comes (§6.3).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/clock.h"
#include "domain/scheduler/plan_run.h"

enum { MINUTE_US = 60 * 1000 * 1000, PEOPLE_AT_MOST = 100 };

/* ---- what is there ---- */

static bool same_code(str left, str right)
{
    return str_eq_nocase(left, right);
}

/* Texts of a document's list. */
static const str *texts_of(arena *a, const json_val *list, size_t *ret_count)
{
    str   *at = arena_array(a, str, json_len(list));
    size_t n = 0;
    for (json_iter it = json_each(list); json_next(&it);)
        at[n++] = json_text(it.value, (str){0});
    *ret_count = n;
    return at;
}

static res check_version(work *w, const appointment *p)
{
    for (size_t i = 0; i < w->run->expected_count; i++) {
        const plan_touched *x = &w->run->expected[i];
        if (w->dry && str_eq(x->id, p->id) && !str_eq(x->etag, p->etag))
            return task_fail(w->t, RES_CONFLICT, "appointment %.*s has changed", STR_ARG(p->code));
    }
    return RES_OK;
}

static res read_draft(work *w, str code, draft **ret)
{
    draft *d = arena_one(w->a, draft);
    res    r = appointment_by_code(w->t, w->run->group, code, true, &d->was);
    if (r == RES_NOT_FOUND || r == RES_CONFLICT) {
        task_forget(w->t);
        if (r == RES_CONFLICT)
            plan_fail(w, "Ambiguous code: %.*s", STR_ARG(code));
        else
            plan_not_found(w, code);
        return RES_OK;
    }
    TRY(r);
    TRY(check_version(w, &d->was));
    d->title = d->was.title;
    d->time = plan_time_of(&d->was);
    d->deleted = d->was.deleted;
    d->location = json_text(json_get(d->was.doc, "location"), (str){0});
    d->notes = json_text(json_get(d->was.doc, "notes"), (str){0});
    d->people = texts_of(w->a, json_get(d->was.doc, "people"), &d->people_count);
    w->drafts = plan_room(w->a, w->drafts, w->draft_count, &w->draft_room, sizeof *w->drafts);
    w->drafts[w->draft_count++] = d;
    *ret = d;
    return RES_OK;
}

res plan_open(work *w, str code, bool with_deleted, draft **ret)
{
    *ret = NULL;
    code = plan_code(w->a, code);
    for (size_t i = 0; i < w->draft_count && *ret == NULL; i++)
        if (same_code(w->drafts[i]->was.code, code))
            *ret = w->drafts[i];
    if (*ret == NULL)
        TRY(read_draft(w, code, ret));
    if (*ret != NULL && (*ret)->deleted && !with_deleted) {
        plan_not_found(w, code);
        *ret = NULL;
    }
    return RES_OK;
}

/* ---- writing ---- */

/* To the store, unless this is the dry run, and to the draft. */
static res change(work *w, draft *d, const appointment_change *c)
{
    appointment now;
    if (!w->dry)
        TRY(appointment_update(w->t, w->run->group, d->was.id, c, &w->run->by, &now));
    if (c->set & SET_TITLE)
        d->title = c->title;
    if (c->set & SET_TIME)
        d->time = c->time;
    if (c->set & SET_LOCATION)
        d->location = c->location;
    if (c->set & SET_NOTES)
        d->notes = c->notes;
    if (c->set & SET_PEOPLE) {
        d->people = c->people;
        d->people_count = c->people_count;
    }
    return RES_OK;
}

/* ---- times ---- */

typedef struct {
    str         date, start; /* "2026-03-03", "10:00"; empty: none */
    int         minutes;
    const zone *z;
} parts;

/* Of a time that is known: as clocks there show it; else what the document says beside it. */
static parts parts_of(work *w, const draft *d)
{
    const when *x = &d->time;
    parts       p = {.z = plan_zone(x->zone, w->run->zone),
                     .date = json_text(json_get(d->was.doc, "date"), (str){0})};
    civil_time  c;
    if (x->status == TIME_UNRESOLVED || x->start_us == 0)
        return p;
    zone_local(p.z, x->start_us, &c);
    p.date = arena_strf(w->a, "%04d-%02d-%02d", c.year, c.month, c.day);
    if (!x->all_day)
        p.start = arena_strf(w->a, "%02d:%02d", c.hour, c.minute);
    if (x->status == TIME_RESOLVED && !x->all_day)
        p.minutes = (int)((x->end_us - x->start_us) / MINUTE_US);
    return p;
}

static bool time_of(work *w, const parts *p, when *ret)
{
    int minutes = p->start.len > 0 ? p->minutes : 0;
    if (when_make(w->a, p->date, p->start, minutes, p->z, ret) == RES_OK)
        return true;
    plan_fail(w, "That is no date or time: %.*s %.*s", STR_ARG(p->date), STR_ARG(p->start));
    return false;
}

static time_acceptance acceptance_of(const json_val *action)
{
    str said = action_text(action, "durationAcceptance");
    if (str_eq(said, STR("auto")))
        return DURATION_AUTO;
    if (str_eq(said, STR("user_confirmed")))
        return DURATION_CONFIRMED;
    return str_eq(said, STR("user_edited")) ? DURATION_EDITED : DURATION_UNSEEN;
}

/* The timed members of an action; timeResolved, which its schema has checked, says more than the others. */
static bool timed(work *w, const json_val *action, const zone *otherwise, when *ret)
{
    str             wanted = action_text(action, "timezone");
    parts           p = {.date = action_text(action, "date"),
                         .start = action_text(action, "startTime"),
                         .minutes = (int)json_int(json_get(action, "durationMins"), 0),
                         .z = wanted.len > 0 ? plan_zone(wanted, (str){0}) : otherwise};
    const json_val *span = json_get(action, "timeResolved");
    if (!time_of(w, &p, ret))
        return false;
    int64_t from, to;
    if (iso8601_parse(action_text(span, "startUtc"), &from) &&
        iso8601_parse(action_text(span, "endUtc"), &to)) {
        ret->status = TIME_RESOLVED;
        ret->missing = 0;
        ret->start_us = from;
        ret->end_us = to;
        ret->all_day = when_is_whole_days(p.z, from, to);
    }
    if (acceptance_of(action) != DURATION_UNSEEN && ret->status == TIME_RESOLVED) {
        ret->suggested = true;
        ret->acceptance = acceptance_of(action);
    }
    return true;
}

static res move_to(work *w, draft *d, const when *time)
{
    TRY(change(w, d, &(appointment_change){.set = SET_TIME, .time = *time}));
    plan_say(w, "Rescheduled %.*s — %.*s to %.*s", STR_ARG(d->was.code), STR_ARG(d->title),
             STR_ARG(plan_time_text(w->a, time)));
    return plan_warn(w, time, d->people, d->people_count);
}

static res set_time(work *w, draft *d, const json_val *action, const char *type)
{
    when  time;
    parts p = parts_of(w, d);
    if (strcmp(type, "reschedule_appointment") == 0)
        return timed(w, action, p.z, &time) ? move_to(w, d, &time) : RES_OK;
    if (strcmp(type, "set_appointment_date") == 0)
        p.date = action_text(action, "date");
    else if (strcmp(type, "set_appointment_start_time") == 0)
        p.start = action_text(action, "startTime");
    else
        p.minutes = (int)json_int(json_get(action, "durationMins"), 0);
    if (p.date.len == 0) {
        plan_fail(w, "%.*s has no date yet.", STR_ARG(d->was.code));
        return RES_OK;
    }
    if (p.start.len == 0 && p.minutes > 0 && strcmp(type, "set_appointment_duration") == 0) {
        plan_fail(w, "%.*s is all day: a length needs a start time.", STR_ARG(d->was.code));
        return RES_OK;
    }
    return time_of(w, &p, &time) ? move_to(w, d, &time) : RES_OK;
}

/* ---- people ---- */

static bool is_among(const str *list, size_t count, str who)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(list[i], who))
            return true;
    return false;
}

/* An id, else the id of who is called so, else the text. */
static str person_ref(const work *w, str said)
{
    const person *p = person_named(w->people, w->people_count, said);
    return p != NULL ? p->id : said;
}

/* Those of `said` that are not in *list yet are put behind it. */
static void join_people(work *w, const json_val *said, str *list, size_t *count)
{
    for (json_iter it = json_each(said); json_next(&it) && *count < PEOPLE_AT_MOST;) {
        str who = person_ref(w, str_trim(json_text(it.value, (str){0})));
        if (!is_among(list, *count, who))
            list[(*count)++] = who;
    }
}

static void drop_people(work *w, const json_val *said, str *list, size_t *count)
{
    for (json_iter it = json_each(said); json_next(&it);) {
        str    who = person_ref(w, str_trim(json_text(it.value, (str){0})));
        size_t kept = 0;
        for (size_t i = 0; i < *count; i++)
            if (!str_eq_nocase(list[i], who))
                list[kept++] = list[i];
        *count = kept;
    }
}

static str names_of(work *w, const str *people, size_t count)
{
    str all = {0};
    for (size_t i = 0; i < count; i++)
        all = arena_strf(w->a, "%.*s%s%.*s", STR_ARG(all), i > 0 ? ", " : "",
                         STR_ARG(plan_name_of(w, people[i])));
    return all.len > 0 ? all : STR("nobody");
}

res plan_do_people_on(work *w, const json_val *action, const char *type)
{
    draft *d;
    TRY(plan_people(w));
    TRY(plan_open(w, action_text(action, "code"), false, &d));
    if (d == NULL)
        return RES_OK;
    size_t before = d->people_count < PEOPLE_AT_MOST ? d->people_count : PEOPLE_AT_MOST, count = before;
    str   *list = arena_array(w->a, str, PEOPLE_AT_MOST + 1);
    if (before > 0)
        memcpy(list, d->people, before * sizeof *list);
    bool adds = strcmp(type, "add_people_to_appointment") == 0,
         removes = strcmp(type, "remove_people_from_appointment") == 0;
    if (removes)
        drop_people(w, json_get(action, "people"), list, &count);
    else {
        count = adds ? count : 0;
        join_people(w, json_get(action, "people"), list, &count);
    }
    TRY(change(w, d, &(appointment_change){.set = SET_PEOPLE, .people = list, .people_count = count}));
    plan_say(w, "People on %.*s — %.*s: %.*s", STR_ARG(d->was.code), STR_ARG(d->title),
             STR_ARG(names_of(w, list, count)));
    return removes ? RES_OK : plan_warn(w, &d->time, list, count);
}

/* ---- new ones ---- */

static res create(work *w, const appointment_change *first, str *ret_code)
{
    appointment made;
    *ret_code = STR("an appointment");
    if (w->dry)
        return RES_OK;
    TRY(appointment_create(w->t, w->run->group, (str){0}, first, &w->run->by, &made));
    *ret_code = made.code;
    return RES_OK;
}

static res add(work *w, const json_val *action)
{
    str                code;
    appointment_change c = {.set = SET_TITLE | SET_TIME, .title = action_text(action, "desc")};
    str                place = plan_clean_location(w->a, action_text(action, "location"));
    if (!timed(w, action, w->z, &c.time))
        return RES_OK;
    if (place.len > 0) {
        c.set |= SET_LOCATION;
        c.location = place;
    }
    if (json_len(json_get(action, "people")) > 0) {
        TRY(plan_people(w));
        str *list = arena_array(w->a, str, PEOPLE_AT_MOST + 1);
        join_people(w, json_get(action, "people"), list, &c.people_count);
        c.people = list;
        c.set |= SET_PEOPLE;
    }
    TRY(create(w, &c, &code));
    plan_say(w, "Added %.*s — %.*s on %.*s", STR_ARG(code), STR_ARG(c.title),
             STR_ARG(plan_time_text(w->a, &c.time)));
    return plan_warn(w, &c.time, c.people, c.people_count);
}

/* Its date is today's, and that is all that is known of its time. */
static res add_blank(work *w)
{
    str                code;
    appointment_change c = {.set = SET_TIME, .time = {.status = TIME_UNRESOLVED, .missing = MISSING_DATE}};
    c.time.zone = zone_name(w->z);
    TRY(create(w, &c, &code));
    plan_say(w, "Added %.*s", STR_ARG(code));
    return RES_OK;
}

/* ---- others ---- */

static res set_text(work *w, draft *d, const json_val *action, const char *type)
{
    appointment_change c = {0};
    const char        *what;
    str                value;
    if (strcmp(type, "set_appointment_location") == 0) {
        str said = action_text(action, "locationRaw");
        value = plan_clean_location(w->a, said.len > 0 ? said : action_text(action, "location"));
        c = (appointment_change){.set = SET_LOCATION, .location = value};
        what = "Location";
    } else if (strcmp(type, "set_appointment_notes") == 0) {
        value = action_text(action, "notes");
        c = (appointment_change){.set = SET_NOTES, .notes = value};
        what = "Notes";
    } else {
        value = action_text(action, "desc");
        c = (appointment_change){.set = SET_TITLE, .title = value};
        what = "Title";
    }
    TRY(change(w, d, &c));
    plan_say(w, "%s of %.*s%s%.*s", what, STR_ARG(d->was.code), value.len > 0 ? ": " : " cleared",
             STR_ARG(value));
    return RES_OK;
}

static res live_or_die(work *w, draft *d, bool live)
{
    bool was;
    if (d->deleted == !live) {
        plan_say(w, "Already %s: %.*s", live ? "active" : "deleted", STR_ARG(d->was.code));
        return RES_OK;
    }
    if (!w->dry)
        TRY(live ? appointment_restore(w->t, w->run->group, d->was.id, &w->run->by, &was)
                 : appointment_delete(w->t, w->run->group, d->was.id, &w->run->by, &was));
    d->deleted = !live;
    plan_say(w, "%s %.*s — %.*s", live ? "Restored" : "Deleted", STR_ARG(d->was.code), STR_ARG(d->title));
    return RES_OK;
}

res plan_do_appointment(work *w, const json_val *action, const char *type)
{
    draft *d;
    bool   restores = strcmp(type, "restore_appointment") == 0;
    if (strcmp(type, "create_blank_appointment") == 0)
        return add_blank(w);
    if (strcmp(type, "add_appointment") == 0)
        return add(w, action);
    TRY(plan_open(w, action_text(action, "code"), restores, &d));
    if (d == NULL)
        return RES_OK;
    if (restores || strcmp(type, "delete_appointment") == 0)
        return live_or_die(w, d, restores);
    if (strcmp(type, "reschedule_appointment") == 0 || strcmp(type, "set_appointment_date") == 0 ||
        strcmp(type, "set_appointment_start_time") == 0 || strcmp(type, "set_appointment_duration") == 0)
        return set_time(w, d, action, type);
    return set_text(w, d, action, type);
}
