/* constraints.c -- see constraints.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/constraints.h"

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

/* ---- does it hold? ---- */

static bool has_nocase(str text, str needle)
{
    for (size_t i = 0; i + needle.len <= text.len; i++)
        if (str_eq_nocase(str_slice(text, i, i + needle.len), needle))
            return true;
    return false;
}

/* A time as people write it: what was said, and "2026-03-05 10:30" of the appointment's zone. */
static str time_text(arena *a, const when *w)
{
    civil_time  at;
    const zone *z = zone_find(w->zone);
    if (w->start_us == 0 || z == NULL)
        return w->original;
    zone_local(z, w->start_us, &at);
    return arena_strf(a, "%04d-%02d-%02d %02d:%02d", at.year, at.month, at.day, at.hour, at.minute);
}

static str field_text(arena *a, const constraints_view *v, str field)
{
    if (str_eq(field, STR("title")))
        return v->title;
    if (str_eq(field, STR("location")))
        return v->location;
    if (str_eq(field, STR("time")))
        return time_text(a, v->time);
    return arena_strf(a, "%.*s\n%.*s\n%.*s", STR_ARG(v->title), STR_ARG(v->location), STR_ARG(v->notes));
}

bool constraints_hold(arena *a, const constraints_view *v, const json_val *constraint)
{
    str field = text_of(constraint, "field"), how = text_of(constraint, "operator");
    str value = str_trim(text_of(constraint, "value"));
    str text = str_trim(field_text(a, v, field));
    if (str_eq(how, STR("required")))
        return str_eq(field, STR("time")) ? v->time->status == TIME_RESOLVED : text.len > 0;
    if (str_eq(how, STR("equals")))
        return str_eq_nocase(text, value);
    if (str_eq(how, STR("contains")))
        return has_nocase(text, value);
    if (str_eq(how, STR("not_contains")))
        return !has_nocase(text, value);
    return true; /* of a later version: not ours to judge */
}

/* ---- the appointment's state ---- */

str constraints_status(const json_val *doc)
{
    str said = text_of(json_get(doc, "reconciliation"), "status");
    return said.len > 0 ? said : STR("unreconciled");
}

static void view_of(const appointment *now, const appointment_change *c, constraints_view *ret)
{
    str place = text_of(now->doc, "locationDisplay");
    place = place.len > 0 ? place : text_of(now->doc, "location");
    ret->title = (c->set & SET_TITLE) != 0 ? c->title : now->title;
    ret->location = (c->set & SET_LOCATION) != 0 ? c->location : place;
    ret->notes = (c->set & SET_NOTES) != 0 ? c->notes : text_of(now->doc, "notes");
    ret->time = (c->set & SET_TIME) != 0 ? &c->time : &now->time;
}

static size_t find_reasons(arena *a, const constraints_view *v, const json_val *constraints, json *reasons)
{
    size_t n = 0;
    if (v->time->status != TIME_RESOLVED) {
        json_push_str(reasons, STR("time_unresolved"));
        n++;
    }
    for (json_iter m = json_each(json_get(constraints, "byMember")); json_next(&m);)
        for (json_iter it = json_each(m.value); json_next(&it);) {
            str id = text_of(it.value, "constraintId");
            if (constraints_hold(a, v, it.value))
                continue;
            json_push_str(reasons, arena_strf(a, "constraint_violated:%.*s", STR_ARG(id)));
            n++;
        }
    return n;
}

void constraints_reconcile(arena *a, const appointment *now, str email, direct_edit *e)
{
    constraints_view v;
    view_of(now, &e->change, &v);
    const json_val *constraints = e->constraints != NULL ? e->constraints : json_get(now->doc, "constraints");
    const json_val *was = json_get(now->doc, "reconciliation");
    json           *reasons = json_array(a);
    str  status = find_reasons(a, &v, constraints, reasons) == 0 ? STR("reconciled") : STR("unreconciled");
    bool same = was != NULL && str_eq(status, text_of(was, "status")) &&
                str_eq(json_print(a, reasons), json_print_val(a, json_get(was, "reasons")));
    if (same)
        return;
    json *state = json_set_object(e->more, "reconciliation");
    json_set_str(state, "status", status);
    json_set_json(state, "reasons", reasons);
    json_set_str(state, "updatedAtUtc", call_now(a));
    json_set_str(state, "updatedBy", email);
    e->change.set |= SET_MORE;
}
