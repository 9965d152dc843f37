/* plan_people.c -- who is in a group: members, by the tables, and the free roster of state.json (§6.3).
 *
 * Names in the roster are names: nobody is let in by them, and a member is not changed here.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/log.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/plan_run.h"
#include "domain/scheduler/profiles.h"

enum { FREE_ACTIVE_MAX = 10, CELL_LEAST = 7, CELL_MOST = 15 };

/* ---- reading ---- */

static res read_members(task *t, str group, person **ret, size_t *ret_count)
{
    member *list;
    size_t  count, n = 0;
    TRY(members_list(t, group, &list, &count));
    str *keys = arena_array(t->arena, str, count + 1), *emails = arena_array(t->arena, str, count + 1),
        *names = arena_array(t->arena, str, count + 1);
    for (size_t i = 0; i < count; i++) {
        keys[i] = list[i].member_key;
        emails[i] = list[i].email;
    }
    TRY(profile_names(t, keys, emails, count, names));
    *ret = arena_array(t->arena, person, count + 1);
    for (size_t i = 0; i < count; i++)
        if (list[i].status == MEMBER_ACTIVE)
            (*ret)[n++] = (person){.id = list[i].user_key, .name = names[i], .member = true, .active = true};
    *ret_count = n;
    return RES_OK;
}

static str row_text(const json_val *row, const char *member_name)
{
    return str_trim(json_text(json_get(row, member_name), (str){0}));
}

static str row_id(const json_val *row)
{
    str id = row_text(row, "personId");
    return id.len > 0 ? id : row_text(row, "id");
}

static person *with_id(person *list, size_t count, str id)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].id, id))
            return &list[i];
    return NULL;
}

/* A row with a member's id, or an address, is an older program's copy of the tables: it is kept, unseen. */
static person of_row(const json_val *row)
{
    return (person){.id = row_id(row),
                    .name = row_text(row, "name"),
                    .zone = row_text(row, "timezone"),
                    .active = row_id(row).len > 0 && row_text(row, "name").len > 0 &&
                              row_text(row, "email").len == 0 &&
                              !str_eq(row_text(row, "status"), STR("inactive")) &&
                              !str_eq(row_text(row, "status"), STR("removed")),
                    .row = row};
}

res people_of(task *t, str group, const state *s, person **ret, size_t *ret_count)
{
    person         *members;
    size_t          count, room;
    const json_val *rows = json_get(s->doc, "people");
    TRY(read_members(t, group, &members, &count));
    room = count + json_len(rows);
    person *all = arena_array(t->arena, person, room + 1);
    if (count > 0)
        memcpy(all, members, count * sizeof *all);
    for (json_iter it = json_each(rows); json_next(&it);) {
        person *known = with_id(all, count, row_id(it.value));
        if (known != NULL && known->row == NULL)
            known->row = it.value;
        else
            all[count++] = of_row(it.value);
    }
    *ret = all;
    *ret_count = count;
    return RES_OK;
}

const person *person_named(const person *list, size_t count, str id_or_name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].id.len > 0 && str_eq_nocase(list[i].id, id_or_name))
            return &list[i];
    for (size_t i = 0; i < count; i++)
        if (list[i].active && str_eq_nocase(list[i].name, id_or_name))
            return &list[i];
    return NULL;
}

res plan_people(work *w)
{
    if (w->people_known)
        return RES_OK;
    TRY(people_of(w->t, w->run->group, &w->run->now, &w->people, &w->people_count));
    w->people_room = w->people_count;
    w->people_known = true;
    return RES_OK;
}

str plan_name_of(work *w, str id)
{
    const person *p = person_named(w->people, w->people_count, id);
    return p != NULL && p->name.len > 0 ? p->name : id;
}

/* ---- changing the roster ---- */

static str next_id(work *w)
{
    uint64_t most = 0, n;
    for (size_t i = 0; i < w->people_count; i++)
        if (str_starts(w->people[i].id, STR("P-")) && str_to_u64(str_from(w->people[i].id, 2), &n) &&
            n < UINT32_MAX && n > most)
            most = n;
    return arena_strf(w->a, "P-%d", (int)most + 1);
}

static bool cell_is_fit(str cell)
{
    if (cell.len == 0)
        return true;
    if (cell.at[0] != '+' || cell.len < 1 + CELL_LEAST || cell.len > 1 + CELL_MOST || cell.at[1] == '0')
        return false;
    for (size_t i = 1; i < cell.len; i++)
        if (cell.at[i] < '0' || cell.at[i] > '9')
            return false;
    return true;
}

static bool name_is_free(work *w, str name, const person *but)
{
    for (size_t i = 0; i < w->people_count; i++)
        if (&w->people[i] != but && w->people[i].active && str_eq_nocase(w->people[i].name, name)) {
            plan_fail(w, "There is already somebody called %.*s.", STR_ARG(name));
            return false;
        }
    return true;
}

static bool may_one_more(work *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->people_count; i++)
        n += w->people[i].active && !w->people[i].member;
    if (n >= FREE_ACTIVE_MAX)
        plan_fail(w, "At most %d people without an account can be listed.", FREE_ACTIVE_MAX);
    return n < FREE_ACTIVE_MAX;
}

static bool fit_for_roster(work *w, const json_val *action)
{
    bool fit = cell_is_fit(action_text(action, "cell"));
    if (!fit)
        plan_fail(w, "A phone number begins with + and the country's code.");
    return fit;
}

/* The row with the action's members in place of its own. */
static const json_val *row_with(work *w, const json_val *row, const json_val *action, const char *status)
{
    static const char *const members[] = {"name", "cell", "timezone", "notes"};
    json                    *v = json_object(w->a);
    for (json_iter it = json_each(row); json_next(&it);)
        json_set_val(v, arena_cstr(w->a, it.key), it.value);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_typeof(json_get(action, members[i])) == JSON_STRING)
            json_set_str(v, members[i], action_text(action, members[i]));
    if (status != NULL)
        json_set_str(v, "status", str_of(status));
    return json_frozen(w->a, v);
}

static void add_person(work *w, const json_val *action)
{
    str name = action_text(action, "name");
    if (!name_is_free(w, name, NULL) || !may_one_more(w) || !fit_for_roster(w, action))
        return;
    json *v = json_object(w->a);
    str   id = next_id(w);
    json_set_str(v, "personId", id);
    json_set_str(v, "createdAt", call_now(w->a));
    w->people = plan_room(w->a, w->people, w->people_count, &w->people_room, sizeof *w->people);
    w->people[w->people_count++] = of_row(row_with(w, json_frozen(w->a, v), action, "active"));
    w->people_changed = true;
    plan_say(w, "Added %.*s (%.*s)", STR_ARG(name), STR_ARG(id));
}

/* Somebody of the free roster; NULL: said why not. */
static person *free_person(work *w, const json_val *action)
{
    str           id = action_text(action, "personId");
    const person *found = person_named(w->people, w->people_count, id);
    if (found == NULL || (found->row == NULL && !found->member))
        plan_fail(w, "Not found: %.*s", STR_ARG(id));
    else if (found->member)
        plan_fail(w, "%.*s has an account, which only they can change.", STR_ARG(found->name));
    else
        return with_id(w->people, w->people_count, found->id);
    return NULL;
}

static void change_person(work *w, person *p, const json_val *action, const char *type)
{
    str  name = action_text(action, "name");
    bool ends = strcmp(type, "deactivate_person") == 0, returns = strcmp(type, "reactivate_person") == 0;
    if ((ends && !p->active) || (returns && p->active)) {
        plan_say(w, "Already %s: %.*s", ends ? "inactive" : "active", STR_ARG(p->name));
        return;
    }
    if ((name.len > 0 && !name_is_free(w, name, p)) || !fit_for_roster(w, action) ||
        (returns && (!name_is_free(w, p->name, p) || !may_one_more(w))))
        return;
    *p = of_row(row_with(w, p->row, action, ends ? "inactive" : returns ? "active" : NULL));
    w->people_changed = true;
    plan_say(w, "%s %.*s", ends ? "Deactivated" : returns ? "Reactivated" : "Updated", STR_ARG(p->name));
}

static void identify(work *w, const json_val *action)
{
    str           name = action_text(action, "name");
    const person *p = person_named(w->people, w->people_count, name);
    if (p == NULL || !p->active) {
        plan_fail(w, "Not found: %.*s", STR_ARG(name));
        return;
    }
    w->identity = p->id;
    plan_say(w, "Speaking as %.*s", STR_ARG(p->name));
}

/* What state.json is about; membership and appointments are not in it. */
static void reset(work *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->people_count; i++)
        if (w->people[i].member)
            w->people[kept++] = w->people[i];
    w->people_count = kept;
    w->rule_count = 0;
    w->people_changed = w->rules_changed = w->history_cleared = true;
    plan_say(w, "Cleared the rules, the history, and the people without an account");
}

res plan_do_person(work *w, const json_val *action, const char *type)
{
    TRY(plan_people(w));
    if (strcmp(type, "add_person") == 0)
        add_person(w, action);
    else if (strcmp(type, "set_identity") == 0)
        identify(w, action);
    else if (strcmp(type, "reset_state") == 0)
        reset(w);
    else {
        person *p = free_person(w, action);
        if (p != NULL)
            change_person(w, p, action, type);
    }
    return RES_OK;
}
