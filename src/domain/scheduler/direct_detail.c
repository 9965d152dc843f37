/* direct_detail.c -- everything about one appointment, with a page of its events (§6.5).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/direct.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/trail.h"

enum { EVENTS_USUAL = 20, EVENTS_FIRST = 50 };

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

/* ---- events ---- */

void direct_set_cursor(json *body, const events_page *page)
{
    if (page->next_chunk == 0) {
        json_set_null(body, "nextCursor");
        return;
    }
    json *cursor = json_set_object(body, "nextCursor");
    json_set_int(cursor, "chunkId", page->next_chunk);
    json_set_int(cursor, "index", page->next_index);
}

/* What people have said to each other, and what the app said to them; all else is change. */
static bool is_discussion(str type)
{
    return str_eq(type, STR("USER_MESSAGE")) || str_eq(type, STR("SYSTEM_CONFIRMATION")) ||
           str_starts(type, STR("PROPOSAL_")) || str_starts(type, STR("SUGGESTION_"));
}

static void add_events(json *body, const events_page *page)
{
    json *list = json_set_array(body, "eventsPage"), *views = json_set_object(body, "projections");
    json *said = json_set_array(views, "discussionEvents"), *changed = json_set_array(views, "changeEvents");
    for (size_t i = 0; i < page->count; i++) {
        json_push_val(list, page->at[i]);
        json_push_val(is_discussion(text_of(page->at[i], "type")) ? said : changed, page->at[i]);
    }
    direct_set_cursor(body, page);
}

/* A cursor that is none is the newest end: an older client's is no reason to show nothing. */
static res read_page(direct *d, const appointment *p, events_page *ret)
{
    const json_val *cursor = json_get(d->action, "cursor");
    int64_t         chunk = json_int(json_get(cursor, "chunkId"), 0);
    int64_t         index = json_int(json_get(cursor, "index"), 0);
    int64_t         limit = direct_number(d, "limit", EVENTS_USUAL);
    bool            first = chunk < 1 || chunk > 999999 || index < 0 || index > 999999;
    if (first)
        chunk = index = 0;
    if (first && limit < EVENTS_FIRST)
        limit = EVENTS_FIRST;
    return events_read(d->c.t, d->group, p->id, (unsigned)chunk, (unsigned)index, (unsigned)limit, ret);
}

/* ---- people ---- */

typedef struct {
    const member *at;
    size_t        count;
    str          *names;
} crowd;

static res read_crowd(task *t, str group, crowd *ret)
{
    member *all;
    size_t  count;
    TRY(members_list(t, group, &all, &count));
    str *keys = arena_array(t->arena, str, count), *emails = arena_array(t->arena, str, count);
    *ret = (crowd){.at = all, .count = count, .names = arena_array(t->arena, str, count)};
    for (size_t i = 0; i < count; i++) {
        keys[i] = all[i].member_key;
        emails[i] = all[i].email;
    }
    return profile_names(t, keys, emails, count, ret->names);
}

static size_t find_person(const crowd *all, str person)
{
    size_t i = 0;
    while (i < all->count && !str_eq(all->at[i].user_key, person))
        i++;
    return i;
}

static size_t find_member(const crowd *all, str member_key)
{
    size_t i = 0;
    while (i < all->count && !str_eq(all->at[i].member_key, member_key))
        i++;
    return i;
}

/* A person's name, else the id: a free-text name, or somebody who has left. */
static str *people_names(arena *a, const appointment *p, const crowd *all)
{
    const json_val *people = json_get(p->doc, "people");
    str            *names = arena_array(a, str, json_len(people) + 1);
    size_t          n = 0;
    for (json_iter it = json_each(people); json_next(&it); n++) {
        str    id = json_text(it.value, (str){0});
        size_t i = find_person(all, id);
        names[n] = i < all->count ? all->names[i] : id;
    }
    return names;
}

/* A guest's member key holds a session id: people are named by their user keys alone, and who has left the
 * group is not shown. */
static res add_participants(direct *d, const appointment *p, const crowd *all, json *body)
{
    participant *list;
    size_t       count;
    TRY(participants_read(d->c.t, d->group, p->id, &list, &count));
    json *out = json_set_array(body, "participants");
    for (size_t i = 0; i < count; i++) {
        size_t who = find_member(all, list[i].member_key), by = find_member(all, list[i].assigned_by);
        if (who == all->count)
            continue;
        json *v = json_push_object(out);
        json_set_str(v, "personId", all->at[who].user_key);
        json_set_str(v, "name", all->names[who]);
        json_set_str(v, "status", list[i].status);
        json_set_str(v, "role", list[i].role);
        if (list[i].assigned_at.len > 0)
            json_set_str(v, "assignedAt", list[i].assigned_at);
        if (by < all->count)
            json_set_str(v, "assignedBy", all->at[by].user_key);
    }
    return RES_OK;
}

/* ---- all of it ---- */

static void add_trail(arena *a, json *body, const trail *e)
{
    proposal  open;
    reminder *reminders;
    size_t    count = trail_reminders(a, e, &reminders);
    if (trail_proposal(e, &open))
        json_set_json(body, "pendingProposal", proposal_json(a, &open));
    else
        json_set_null(body, "pendingProposal");
    json *list = json_set_array(body, "reminders");
    for (size_t i = 0; i < count; i++)
        reminder_fill(json_push_object(list), &reminders[i]);
}

static void add_document(json *body, const appointment *p)
{
    const json_val *constraints = json_get(p->doc, "constraints");
    const json_val *suggestions = json_get(p->doc, "suggestions");
    const json_val *latest = json_get(json_get(p->doc, "notification"), "latest");
    if (json_typeof(latest) == JSON_OBJECT)
        json_set_val(body, "lastNotification", latest);
    if (json_typeof(constraints) == JSON_OBJECT)
        json_set_val(body, "constraints", constraints);
    else
        (void)json_set_object(json_set_object(body, "constraints"), "byMember"); /* empty */
    if (json_typeof(suggestions) == JSON_OBJECT)
        json_set_val(body, "suggestions", suggestions);
    else
        (void)json_set_object(json_set_object(body, "suggestions"), "byField"); /* empty */
}

static res gather(direct *d, const appointment *p, json *body)
{
    events_page page;
    trail       all;
    crowd       people;
    arena      *a = d->c.a;
    TRY(read_page(d, p, &page));
    TRY(trail_read(d->c.t, d->group, p->id, &all));
    TRY(read_crowd(d->c.t, d->group, &people));
    json *item = appointment_item(a, p, people_names(a, p, &people));
    json_set_val(item, "reconciliation", json_get(p->doc, "reconciliation"));
    json_set_json(body, "appointment", item);
    add_events(body, &page);
    add_trail(a, body, &all);
    add_document(body, p);
    return add_participants(d, p, &people, body);
}

res direct_detail(direct *d)
{
    appointment p;
    if (!direct_appointment(d, &p))
        return d->c.result;
    json *body = call_ok(&d->c);
    res   r = gather(d, &p, body);
    if (r == RES_OK)
        return direct_answer(d, body);
    if (call_went(&d->c, r) || task_stopped(d->c.t) != RES_OK || r == RES_MEMORY)
        return d->c.result;
    return call_refuse(&d->c, 500, "appointment_detail_failed", NULL,
                       "The appointment could not be read. Please try again.");
}
