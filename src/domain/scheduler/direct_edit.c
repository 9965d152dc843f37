/* direct_edit.c -- appointments made, listed, changed, deleted and restored (§6.5).
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "domain/scheduler/direct.h"

/* ---- new, and all of them ---- */

static const zone *zone_said(const direct *d, const zone *otherwise)
{
    const zone *z = zone_find(direct_text(d, "timezone"));
    return z != NULL ? z : otherwise;
}

static bool zone_ok(direct *d)
{
    str said = direct_text(d, "timezone");
    if (said.len == 0 || zone_find(said) != NULL)
        return true;
    json *body = json_object(d->c.a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", STR("timezone must be the IANA name of a zone"));
    d->c.result = call_answer(&d->c, 400, body);
    return false;
}

static str today(arena *a, const zone *z)
{
    civil_time now;
    zone_local(z, clock_wall_us(), &now);
    return arena_strf(a, "%04d-%02d-%02d", now.year, now.month, now.day);
}

/* Its time is not known; its document puts it on today. */
res direct_create_blank(direct *d)
{
    appointment        p;
    actor              by = direct_actor(d);
    const zone        *z = zone_said(d, direct_app_zone());
    appointment_change first = {.set = SET_TITLE | SET_TIME, .title = STR("New appointment")};
    if (!zone_ok(d))
        return d->c.result;
    first.time = (when){.status = TIME_UNRESOLVED, .missing = MISSING_DATE, .zone = zone_name(z)};
    if (!direct_went(d, appointment_create(d->c.t, d->group, (str){0}, &first, &by, &p)))
        return d->c.result;
    return direct_snapshot(d);
}

res direct_list(direct *d)
{
    return direct_snapshot(d);
}

/* ---- fields ---- */

static res change_by_code(direct *d, direct_change_fn *fn)
{
    return direct_change(d, direct_by_code, fn, NULL, NULL, NULL) ? direct_snapshot(d) : d->c.result;
}

/* Date, time of day and length as the document has them; without a date: today. */
static str doc_date(const direct *d, const appointment *now)
{
    str date = json_text(json_get(now->doc, "date"), (str){0});
    return when_is_date(date) ? date : today(d->c.a, direct_zone_of(now));
}

static str doc_start(const appointment *now)
{
    str start = json_text(json_get(now->doc, "startTime"), (str){0});
    return when_is_time(start) ? start : (str){0};
}

static int doc_minutes(const appointment *now)
{
    int64_t n = json_int(json_get(now->doc, "durationMins"), 0);
    return n >= 1 && n <= TIME_DURATION_MAX ? (int)n : 0;
}

/* No start is the whole day, which has no length of its own. */
static bool set_time(direct *d, str date, str start, int minutes, const zone *z, direct_edit *e)
{
    res r = when_make(d->c.a, date, start, start.len > 0 ? minutes : 0, z, &e->change.time);
    e->change.set |= SET_TIME;
    if (r == RES_INVALID) {
        task_forget(d->c.t);
        d->c.result = direct_reject(d, "Not a time there: %.*s %.*s", STR_ARG(date), STR_ARG(start));
        return false;
    }
    return direct_went(d, r);
}

static bool date_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)ctx;
    return set_time(d, direct_text(d, "date"), doc_start(now), doc_minutes(now), direct_zone_of(now), e);
}

static bool start_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)ctx;
    str start = direct_text(d, "startTime");
    return set_time(d, doc_date(d, now), start, doc_minutes(now), direct_zone_of(now), e);
}

static bool duration_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)ctx;
    int minutes = (int)direct_number(d, "durationMins", 0); /* within the row's limits */
    return set_time(d, doc_date(d, now), doc_start(now), minutes, direct_zone_of(now), e);
}

static bool reschedule_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)ctx;
    int minutes = (int)direct_number(d, "durationMins", 0); /* within the row's limits */
    return set_time(d, direct_text(d, "date"), direct_text(d, "startTime"), minutes,
                    zone_said(d, direct_zone_of(now)), e);
}

static bool location_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)now, (void)ctx;
    str place = direct_text(d, "location");
    e->change.set |= SET_LOCATION;
    e->change.location = place.len > 0 ? place : direct_text(d, "locationRaw");
    return true;
}

static bool notes_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)now, (void)ctx;
    e->change.set |= SET_NOTES;
    e->change.notes = direct_text(d, "notes");
    return true;
}

static bool title_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)now, (void)ctx;
    e->change.set |= SET_TITLE;
    e->change.title = direct_text(d, "desc");
    return true;
}

res direct_set_date(direct *d)
{
    return change_by_code(d, date_change);
}

res direct_set_start_time(direct *d)
{
    return change_by_code(d, start_change);
}

res direct_set_duration(direct *d)
{
    return change_by_code(d, duration_change);
}

res direct_reschedule(direct *d)
{
    return zone_ok(d) ? change_by_code(d, reschedule_change) : d->c.result;
}

res direct_set_location(direct *d)
{
    return change_by_code(d, location_change);
}

res direct_set_notes(direct *d)
{
    return change_by_code(d, notes_change);
}

res direct_set_desc(direct *d)
{
    return change_by_code(d, title_change);
}

/* ---- deleted and restored ---- */

static res with_note(direct *d, const char *note, str id)
{
    json *snapshot = NULL, *body = call_ok(&d->c);
    if (!direct_went(d, appointments_snapshot(d->c.t, d->group, &snapshot)))
        return d->c.result;
    json_set_str(body, "message", arena_strf(d->c.a, "%s: %.*s", note, STR_ARG(id)));
    json_set_json(body, "snapshot", snapshot);
    return direct_answer(d, body);
}

res direct_delete(direct *d)
{
    appointment p;
    bool        was = false;
    actor       by = direct_actor(d);
    str         id = direct_text(d, "appointmentId"), code = direct_text(d, "code");
    if (id.len == 0 && code.len == 0) {
        json *body = json_object(d->c.a);
        json_set_bool(body, "ok", false);
        json_set_str(body, "message", STR("appointmentId or code is required"));
        return call_answer(&d->c, 400, body);
    }
    if (id.len == 0) {
        if (!direct_by_code(d, &p))
            return d->c.result;
        id = p.id;
    }
    res r = appointment_delete(d->c.t, d->group, id, &by, &was);
    if (r == RES_NOT_FOUND) {
        task_forget(d->c.t);
        return direct_reject(d, "Not found: %.*s", STR_ARG(id));
    }
    if (!direct_went(d, r))
        return d->c.result;
    return was ? with_note(d, "Already deleted", id) : direct_snapshot(d);
}

res direct_restore(direct *d)
{
    bool  was = false;
    actor by = direct_actor(d);
    str   id = direct_text(d, "appointmentId");
    res   r = appointment_restore(d->c.t, d->group, id, &by, &was);
    if (r == RES_NOT_FOUND) {
        task_forget(d->c.t);
        return direct_reject(d, "Not found: %.*s", STR_ARG(id));
    }
    if (!direct_went(d, r))
        return d->c.result;
    return was ? with_note(d, "Already active", id) : direct_snapshot(d);
}
