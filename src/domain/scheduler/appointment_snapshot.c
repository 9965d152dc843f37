/* appointment_snapshot.c -- appointments and rules as lists and the chat show them (specification §3.1).
 *
 * People are called what their profiles say; state.json names those alone that belong to no table.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/appointments.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/state.h"

static str text_of(const json_val *doc, const char *name)
{
    return json_text(json_get(doc, name), (str){0});
}

/* ---- one item ---- */

static void copy(json *v, const json_val *doc, const char *const *members)
{
    for (; *members != NULL; members++)
        json_set_val(v, *members, json_get(doc, *members));
}

/* Members that documents of other writers may lack. */
static void copy_or_null(json *v, const json_val *doc, const char *const *members)
{
    for (; *members != NULL; members++)
        if (json_get(doc, *members) != NULL)
            json_set_val(v, *members, json_get(doc, *members));
        else
            json_set_null(v, *members);
}

static void copy_texts(json *v, const json_val *doc, const char *const *members)
{
    for (; *members != NULL; members++)
        json_set_str(v, *members, text_of(doc, *members));
}

static void fill_item(arena *a, json *v, const appointment *p, const str *people_names)
{
    static const char *const flat[] = {"date", "startTime", "durationMins", "isAllDay", NULL};
    static const char *const texts[] = {"location",           "locationRaw",  "locationDisplay",
                                        "locationMapQuery",   "locationName", "locationAddress",
                                        "locationDirections", "notes",        NULL};
    static const char *const scan[] = {"scanStatus", "scanImageKey", "scanImageMime", "scanCapturedAt", NULL};
    size_t                   i = 0;
    json_set_str(v, "id", p->id);
    json_set_str(v, "code", p->code);
    json_set_str(v, "title", p->title);
    json_set_str(v, "desc", p->title);
    json_set_int(v, "schemaVersion", json_int(json_get(p->doc, "schemaVersion"), 1));
    json_set_str(v, "updatedAt", text_of(p->doc, "updatedAt"));
    json_set_json(v, "time", when_json(a, &p->time));
    copy(v, p->doc, flat);
    json *people = json_set_array(v, "people"), *shown = json_set_array(v, "peopleDisplay");
    for (json_iter it = json_each(json_get(p->doc, "people")); json_next(&it); i++) {
        str id = json_text(it.value, (str){0});
        json_push_str(people, id);
        json_push_str(shown, people_names != NULL && people_names[i].len > 0 ? people_names[i] : id);
    }
    copy_texts(v, p->doc, texts);
    copy_or_null(v, p->doc, scan);
}

json *appointment_item(arena *a, const appointment *p, const str *people_names)
{
    json *v = json_object(a);
    fill_item(a, v, p, people_names);
    return v;
}

/* ---- names ---- */

typedef struct {
    str person, member_key, email, name;
} named;

typedef struct {
    named *at; /* by person */
    size_t len;
} directory;

static int by_person(const void *left, const void *right)
{
    return str_compare(((const named *)left)->person, ((const named *)right)->person);
}

static named *look_up(const directory *d, str person)
{
    named key = {.person = person};
    return d->len > 0 ? bsearch(&key, d->at, d->len, sizeof *d->at, by_person) : NULL;
}

/* Everybody who is in any of the appointments, once. */
static directory everybody(arena *a, const appointment *list, size_t count)
{
    size_t n = 0, most = 0;
    for (size_t i = 0; i < count; i++)
        most += json_len(json_get(list[i].doc, "people"));
    directory d = {.at = arena_array(a, named, most)};
    for (size_t i = 0; i < count; i++)
        for (json_iter it = json_each(json_get(list[i].doc, "people")); json_next(&it);)
            d.at[n++] = (named){.person = json_text(it.value, (str){0})};
    if (n > 1)
        qsort(d.at, n, sizeof *d.at, by_person);
    for (size_t i = 0; i < n; i++)
        if (d.len == 0 || !str_eq(d.at[d.len - 1].person, d.at[i].person))
            d.at[d.len++] = d.at[i];
    return d;
}

static bool is_user_key(str person)
{
    for (size_t i = 0; i < person.len; i++)
        if (!((person.at[i] >= '0' && person.at[i] <= '9') || (person.at[i] >= 'a' && person.at[i] <= 'f')))
            return false;
    return person.len == SHA256_HEX;
}

/* Members by their rows; who has left the group is still called by a profile. */
static res find_keys(task *t, str group, directory *d)
{
    member *members;
    size_t  count;
    TRY(members_list(t, group, &members, &count));
    for (size_t i = 0; i < count; i++) {
        named *n = look_up(d, members[i].user_key);
        if (n == NULL)
            continue;
        n->member_key = members[i].member_key;
        n->email = members[i].email;
    }
    for (size_t i = 0; i < d->len; i++)
        if (d->at[i].member_key.len == 0 && is_user_key(d->at[i].person))
            d->at[i].member_key = auth_member_key_of(t->arena, d->at[i].person);
    return RES_OK;
}

/* A key that stands in for a name is none: a guest's is even secret. */
static res find_names(task *t, directory *d)
{
    arena  *a = t->arena;
    str    *keys = arena_array(a, str, d->len), *emails = arena_array(a, str, d->len);
    str    *names = arena_array(a, str, d->len);
    named **of = arena_array(a, named *, d->len);
    size_t  n = 0;
    for (size_t i = 0; i < d->len; i++)
        if (d->at[i].member_key.len > 0)
            keys[n] = d->at[i].member_key, emails[n] = d->at[i].email, of[n++] = &d->at[i];
    TRY(profile_names(t, keys, emails, n, names));
    for (size_t i = 0; i < n; i++)
        if (!str_eq(names[i], keys[i]))
            of[i]->name = names[i];
    return RES_OK;
}

static void name_free_people(const state *s, directory *d)
{
    for (json_iter it = json_each(json_get(s->doc, "people")); json_next(&it);) {
        str    id = text_of(it.value, "personId");
        named *n = look_up(d, id.len > 0 ? id : text_of(it.value, "id"));
        if (n != NULL && n->member_key.len == 0)
            n->name = text_of(it.value, "name");
    }
}

/* ---- all of it ---- */

static void add_items(arena *a, json *v, const appointment *list, size_t count, const directory *d)
{
    json *items = json_set_array(v, "appointments");
    for (size_t i = 0; i < count; i++) {
        const json_val *people = json_get(list[i].doc, "people");
        str            *names = arena_array(a, str, json_len(people));
        size_t          n = 0;
        for (json_iter it = json_each(people); json_next(&it); n++) {
            const named *who = look_up(d, json_text(it.value, (str){0}));
            names[n] = who != NULL ? who->name : (str){0};
        }
        fill_item(a, json_push_object(items), &list[i], names);
    }
}

static void add_rules(json *v, const state *s)
{
    static const char *const shown[] = {"code",     "schemaVersion",  "personId", "kind",   "time",
                                        "date",     "startTime",      "timezone", "desc",   "durationMins",
                                        "promptId", "originalPrompt", "startUtc", "endUtc", NULL};
    json                    *rules = json_set_array(v, "rules");
    for (json_iter it = json_each(json_get(s->doc, "rules")); json_next(&it);)
        if (json_typeof(it.value) == JSON_OBJECT)
            copy(json_push_object(rules), it.value, shown);
}

res appointments_snapshot(task *t, str group, json **ret)
{
    appointment *list;
    size_t       count;
    bool         truncated;
    state        s;
    TRY(appointments_list(t, group, &list, &count, &truncated));
    TRY(state_read(t, group, &s));
    directory d = everybody(t->arena, list, count);
    if (d.len > 0) {
        TRY(find_keys(t, group, &d));
        TRY(find_names(t, &d));
        name_free_people(&s, &d);
    }
    json *v = json_object(t->arena);
    add_items(t->arena, v, list, count, &d);
    add_rules(v, &s);
    json_set_int(v, "historyCount", (int64_t)json_len(json_get(s.doc, "history")));
    if (truncated)
        json_set_bool(v, "truncated", true);
    *ret = v;
    return RES_OK;
}
