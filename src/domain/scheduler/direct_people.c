/* direct_people.c -- the roster: people whom state.json names, and members of the tables (§6.5).
 *
 * A person of the roster is a name that appointments may carry. A member's membership is in the tables, so
 * taking a member off the roster removes the membership, and back again; a member's address is the identity
 * and does not change here. Both need a full session: a guest may not put a member out.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/direct.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/state.h"

enum { PEOPLE_MAX = 200, ACTIVE_MAX = 10 };

typedef enum { CREATES, UPDATES, DELETES, REACTIVATES } wish;

typedef struct {
    direct     *d;
    wish        what;
    str         id, name, email;
    const char *why; /* it may not be; NULL: it may */
} step;

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

static str id_of(const json_val *person)
{
    str id = text_of(person, "personId");
    return id.len > 0 ? id : text_of(person, "id");
}

/* What an older writer has not said is active. */
static bool is_active(const json_val *person)
{
    str status = text_of(person, "status");
    return status.len == 0 || str_eq(status, STR("active"));
}

static res refuse_with(direct *d, const char *why)
{
    json *body = json_object(d->c.a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", str_of(why));
    return call_answer(&d->c, 400, body);
}

/* ---- state.json ---- */

static const json_val *find(const json_val *people, str id)
{
    for (json_iter it = json_each(people); json_next(&it);)
        if (str_eq(id_of(it.value), id))
            return it.value;
    return NULL;
}

static const char *why_not(const step *s, const json_val *people)
{
    size_t          active = 0;
    const json_val *self = find(people, s->id);
    for (json_iter it = json_each(people); json_next(&it);) {
        if (!is_active(it.value))
            continue;
        active++;
        if (s->what != UPDATES || it.value == self)
            continue;
        if (str_eq_nocase(text_of(it.value, "name"), s->name))
            return "name is another person's";
        if (s->email.len > 0 && str_eq_nocase(text_of(it.value, "email"), s->email))
            return "email is another person's";
    }
    if (s->what != CREATES && self == NULL)
        return "person not found";
    if (s->what == CREATES && json_len(people) >= PEOPLE_MAX)
        return "there are too many people";
    bool adds = s->what == CREATES || (s->what == REACTIVATES && !is_active(self));
    return adds && active >= ACTIVE_MAX ? "at most 10 people can be active" : NULL;
}

static void fill_changed(const step *s, json *v, const json_val *was, str now)
{
    arena *a = s->d->c.a;
    for (json_iter it = json_each(was); json_next(&it);)
        json_set_val(v, arena_cstr(a, it.key), it.value);
    if (s->what == UPDATES) {
        json_set_str(v, "name", s->name);
        json_set_str(v, "email", s->email);
    } else {
        json_set_str(v, "status", s->what == DELETES ? STR("removed") : STR("active"));
    }
    json_set_str(v, "updatedAt", now);
}

static void fill_new(const step *s, json *v, str now)
{
    json_set_str(v, "personId", s->id);
    json_set_str(v, "name", (str){0});
    json_set_str(v, "email", (str){0});
    json_set_str(v, "status", STR("active"));
    json_set_str(v, "createdAt", now);
    json_set_str(v, "updatedAt", now);
}

static res change_people(task *t, const state *now, void *ctx, json **ret_doc)
{
    step           *s = ctx;
    const json_val *people = json_get(now->doc, "people");
    str             at = call_now(t->arena);
    s->why = why_not(s, people);
    if (s->why != NULL)
        return RES_INVALID;
    json *doc = state_copy(t->arena, now, s->d->group), *list = json_set_array(doc, "people");
    for (json_iter it = json_each(people); json_next(&it);)
        if (str_eq(id_of(it.value), s->id))
            fill_changed(s, json_push_object(list), it.value, at);
        else
            json_push_val(list, it.value);
    if (s->what == CREATES)
        fill_new(s, json_push_object(list), at);
    *ret_doc = doc;
    return RES_OK;
}

static res answer(direct *d, str person)
{
    json *snapshot = NULL, *body = call_ok(&d->c);
    if (!direct_went(d, appointments_snapshot(d->c.t, d->group, &snapshot)))
        return d->c.result;
    json_set_str(body, "personId", person);
    json_set_json(body, "snapshot", snapshot);
    return direct_answer(d, body);
}

static res change_roster(direct *d, step *s)
{
    state after;
    res   r = state_change(d->c.t, d->group, change_people, s, &after);
    if (r == RES_INVALID && s->why != NULL) {
        task_forget(d->c.t);
        return refuse_with(d, s->why);
    }
    return direct_went(d, r) ? answer(d, s->id) : d->c.result;
}

/* ---- members ---- */

typedef struct {
    str  now;
    bool changed;
} back;

/* Active again; who was not removed stays as is. */
static res reactivate_row(task *t, entity *e, bool is_new, void *ctx)
{
    back *b = ctx;
    (void)t;
    b->changed = false;
    if (is_new || !str_eq(entity_str(e, "status", (str){0}), STR("removed")))
        return UPDATE_NOTHING;
    entity_set_str(e, "status", STR("active"));
    entity_set_str(e, "joinedAt", b->now);
    entity_set_str(e, "updatedAt", b->now);
    entity_drop(e, "removedAt");
    b->changed = true;
    return RES_OK;
}

static res reactivate(task *t, str group, str user_key)
{
    back b = {.now = call_now(t->arena)};
    TRY(update_entity(t, place_table(PLACE_GROUP_MEMBERS), group, user_key, reactivate_row, &b, NULL));
    if (b.changed)
        group_count(t, group, 1, 0, 0);
    return update_entity(t, place_table(PLACE_USER_GROUPS), user_key, group, reactivate_row, &b, NULL);
}

static bool may_put_out(direct *d)
{
    if (d->c.who.kind != SESSION_GRACE)
        return true;
    d->c.result = call_refuse(&d->c, 403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION",
                              "A guest's session cannot do this");
    return false;
}

static res rename_member(direct *d, const member *m, const step *s)
{
    profile named = {.display_name = s->name, .email = m->email};
    if (s->email.len > 0 && !str_eq(s->email, m->email))
        return refuse_with(d, "a member's email cannot be changed");
    if (!display_name_ok(s->name))
        return refuse_with(d, "name must have at most 40 characters");
    if (!call_went(&d->c, profile_write(d->c.t, m->member_key, &named, NULL)))
        return d->c.result;
    return answer(d, s->id);
}

static res change_member(direct *d, const member *m, const step *s)
{
    member after;
    res    r = RES_OK;
    if (s->what == UPDATES)
        return rename_member(d, m, s);
    if (!may_put_out(d))
        return d->c.result;
    if (s->what == DELETES && m->status != MEMBER_REMOVED)
        r = member_remove(d->c.t, d->group, m->user_key, &after);
    else if (s->what == REACTIVATES)
        r = reactivate(d->c.t, d->group, m->user_key);
    return direct_went(d, r) ? answer(d, s->id) : d->c.result;
}

/* ---- the actions ---- */

static res run(direct *d, step *s)
{
    member m;
    if (s->email.len > 0 && !auth_email_plausible(s->email))
        return refuse_with(d, "email must be an address");
    res r = member_read(d->c.t, d->group, s->id, &m);
    if (r == RES_OK)
        return change_member(d, &m, s);
    if (r != RES_NOT_FOUND && r != RES_INVALID) /* RES_INVALID: no key, so nobody's */
        return call_went(&d->c, r) ? RES_OK : d->c.result;
    task_forget(d->c.t);
    return change_roster(d, s);
}

res direct_create_person(direct *d)
{
    str  id = direct_new_id(d->c.a);
    step s = {.d = d, .what = CREATES, .id = arena_strf(d->c.a, "P-%.*s", STR_ARG(id))};
    return change_roster(d, &s);
}

res direct_update_person(direct *d)
{
    step s = {.d = d,
              .what = UPDATES,
              .id = direct_text(d, "personId"),
              .name = direct_text(d, "name"),
              .email = auth_email(d->c.a, direct_text(d, "email"))};
    return run(d, &s);
}

res direct_delete_person(direct *d)
{
    step s = {.d = d, .what = DELETES, .id = direct_text(d, "personId")};
    return run(d, &s);
}

res direct_reactivate_person(direct *d)
{
    step s = {.d = d, .what = REACTIVATES, .id = direct_text(d, "personId")};
    return run(d, &s);
}
