/* direct_constraints.c -- each member's own wishes (constraints.h), added, changed and taken back (§6.5).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/constraints.h"

typedef enum { ADDS, EDITS, REMOVES } wish;

typedef struct {
    wish  what;
    str   id, email;
    json *made; /* the constraint as it is stored; NULL when it is removed */
} step;

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

static bool own_email(direct *d)
{
    str email = auth_email(d->c.a, direct_text(d, "memberEmail"));
    if (str_eq(email, direct_email(d)))
        return true;
    d->c.result = call_refuse(&d->c, 403, "forbidden_constraint_member", NULL,
                              "Only your own constraints can be changed");
    return false;
}

/* Every operator but `required` compares with something. */
static bool value_ok(direct *d)
{
    if (str_eq(direct_text(d, "operator"), STR("required")) || direct_text(d, "value").len > 0)
        return true;
    d->c.result = call_refuse(&d->c, 400, "invalid_constraint_value", NULL, "value is required");
    return false;
}

/* ---- the document's list ---- */

static void fill(direct *d, json *v, str id, str created_at)
{
    json_set_str(v, "constraintId", id);
    json_set_str(v, "field", direct_text(d, "field"));
    json_set_str(v, "operator", direct_text(d, "operator"));
    json_set_str(v, "value", direct_text(d, "value"));
    json_set_str(v, "createdAt", created_at);
    json_set_str(v, "updatedAt", call_now(d->c.a));
}

static bool refuse_missing(direct *d)
{
    d->c.result = call_refuse(&d->c, 404, "constraint_not_found", NULL, "Constraint not found");
    return false;
}

/* The caller's list after the step. */
static bool write_own(direct *d, const json_val *own, step *s, json *list)
{
    bool found = s->what == ADDS;
    for (json_iter it = json_each(own); json_next(&it);) {
        bool it_is = str_eq(text_of(it.value, "constraintId"), s->id);
        found |= it_is;
        if (!it_is)
            json_push_val(list, it.value);
        else if (s->what == EDITS)
            fill(d, s->made = json_push_object(list), s->id, text_of(it.value, "createdAt"));
    }
    if (s->what == ADDS)
        fill(d, s->made = json_push_object(list), s->id, call_now(d->c.a));
    return found || refuse_missing(d);
}

static bool list_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    step           *s = ctx;
    const json_val *by_member = json_get(json_get(now->doc, "constraints"), "byMember"), *own = NULL;
    json           *constraints = json_set_object(e->more, "constraints");
    json           *members = json_set_object(constraints, "byMember");
    for (json_iter it = json_each(by_member); json_next(&it);)
        if (str_eq(it.key, s->email))
            own = it.value;
        else
            json_set_val(members, arena_cstr(d->c.a, it.key), it.value);
    if (s->what == ADDS && json_len(own) >= CONSTRAINTS_MAX) {
        d->c.result = call_refuse(&d->c, 400, "constraint_limit_exceeded", NULL,
                                  "At most %d constraints of a member", CONSTRAINTS_MAX);
        return false;
    }
    if (!write_own(d, own, s, json_set_array(members, arena_cstr(d->c.a, s->email))))
        return false;
    e->change.set |= SET_MORE;
    return direct_went(d, json_parse(d->c.a, json_print(d->c.a, constraints), &e->constraints, NULL));
}

/* ---- the actions ---- */

static log_event event_of(direct *d, const step *s, const char *type)
{
    json *payload = json_object(d->c.a);
    json_set_str(payload, "constraintId", s->id);
    json_set_str(payload, "memberEmail", s->email);
    if (s->made != NULL)
        json_set_json(payload, "constraint", s->made);
    return direct_event(d, type, payload);
}

static res answer(direct *d, const appointment *after, const json *events)
{
    json *body = call_ok(&d->c);
    json_set_val(body, "constraints", json_get(after->doc, "constraints"));
    json_set_val(body, "reconciliation", json_get(after->doc, "reconciliation"));
    json_set_json(body, "appendedEvents", events);
    return direct_answer(d, body);
}

static res run(direct *d, step *s)
{
    appointment before, after;
    log_event   list[4];
    size_t      count = 0;
    json       *events;
    s->email = direct_email(d);
    if (!direct_change(d, direct_appointment, list_change, s, &before, &after))
        return d->c.result;
    if (s->what != ADDS)
        list[count++] = event_of(d, s, "CONSTRAINT_REMOVED");
    if (s->what != REMOVES)
        list[count++] = event_of(d, s, "CONSTRAINT_ADDED");
    count = direct_reconciled(d, &before, &after, list, count);
    return direct_append(d, after.id, list, count, &events) ? answer(d, &after, events) : d->c.result;
}

res direct_add_constraint(direct *d)
{
    step s = {.what = ADDS, .id = direct_new_id(d->c.a)};
    return own_email(d) && value_ok(d) ? run(d, &s) : d->c.result;
}

res direct_edit_constraint(direct *d)
{
    step s = {.what = EDITS, .id = direct_text(d, "constraintId")};
    return own_email(d) && value_ok(d) ? run(d, &s) : d->c.result;
}

res direct_remove_constraint(direct *d)
{
    step s = {.what = REMOVES, .id = direct_text(d, "constraintId")};
    return own_email(d) ? run(d, &s) : d->c.result;
}
