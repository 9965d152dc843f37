/* ignite.c -- see ignite.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/ignite.h"

#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "storage/update.h"

enum { GRACE_S = 60 };

static const char *const status_names[] = {
    [IGNITE_OPEN] = "OPEN",
    [IGNITE_CLOSING] = "CLOSING",
    [IGNITE_CLOSED] = "CLOSED",
};

const char *ignite_status_name(ignite_status s)
{
    return status_names[s];
}

const char *ignite_token_kind(const ignite *i)
{
    return i->invites ? "invite-member" : "breakout";
}

/* ---- reading ---- */

static str text(const json_val *doc, const char *member)
{
    return json_text(json_get(doc, member), (str){0});
}

/* Nobody writes CLOSING any more; one that is found counts down from when closing was asked for. */
static ignite_status status_now(const ignite *i)
{
    int64_t asked_us;
    str     name = text(i->doc, "status");
    if (str_eq(name, str_of(status_names[IGNITE_OPEN])))
        return IGNITE_OPEN;
    if (!str_eq(name, str_of(status_names[IGNITE_CLOSING])) ||
        !iso8601_parse(i->close_requested_at, &asked_us))
        return IGNITE_CLOSED;
    return (clock_wall_us() - asked_us) / 1000000 < i->grace_s ? IGNITE_CLOSING : IGNITE_CLOSED;
}

static bool has_joined(const ignite *i, str person)
{
    for (size_t n = 0; n < i->joined_count; n++)
        if (str_eq(i->joined[n], person))
            return true;
    return false;
}

/* Beyond the limit nobody is written by us; what another has written there is not listed. */
static void read_joined(arena *a, ignite *i)
{
    const json_val *list = json_get(i->doc, "joinedPersonIds");
    if (json_typeof(list) != JSON_ARRAY)
        return;
    str *joined = arena_array(a, str, json_len(list));
    i->joined = joined;
    for (json_iter it = json_each(list); json_next(&it) && i->joined_count < IGNITE_JOINED_MAX;) {
        str person = json_text(it.value, (str){0});
        if (person.len > 0 && !has_joined(i, person))
            joined[i->joined_count++] = person;
    }
}

static ignite of_state(arena *a, const state *s)
{
    const json_val *doc = json_get(s->doc, "ignite");
    ignite          i = {.status = IGNITE_CLOSED};
    if (json_typeof(doc) != JSON_OBJECT || text(doc, "sessionId").len == 0)
        return i;
    i = (ignite){
        .doc = doc,
        .session = text(doc, "sessionId"),
        .invites = str_eq(text(doc, "tokenKind"), STR("invite-member")),
        .grace_s = json_int(json_get(doc, "graceSeconds"), GRACE_S),
        .created_by = text(doc, "createdByPersonId"),
        .close_requested_at = text(doc, "closeRequestedAt"),
    };
    i.status = status_now(&i);
    read_joined(a, &i);
    return i;
}

res ignite_read(task *t, str group, ignite *ret)
{
    state s;
    TRY(state_read(t, group, &s));
    *ret = of_state(t->arena, &s);
    return RES_OK;
}

bool ignite_is(const ignite *i, str session)
{
    return i->doc != NULL && str_eq(i->session, session);
}

bool ignite_takes_photos(const ignite *i)
{
    return i->status != IGNITE_CLOSED;
}

/* ---- building ---- */

json *ignite_new(arena *a, str created_by, bool invites, str *ret_session)
{
    char   id[UUID_TEXT + 1];
    ignite i = {.invites = invites};
    json  *v = json_object(a);
    *ret_session = arena_copy(a, id_uuid(id));
    json_set_str(v, "sessionId", *ret_session);
    json_set_str(v, "tokenKind", str_of(ignite_token_kind(&i)));
    json_set_str(v, "status", str_of(status_names[IGNITE_OPEN]));
    json_set_str(v, "createdAt", call_now(a));
    json_set_str(v, "createdByPersonId", created_by);
    json_set_int(v, "graceSeconds", GRACE_S);
    (void)json_set_array(v, "joinedPersonIds");
    (void)json_set_object(v, "photoUpdatedAtByPersonId");
    return v;
}

static json *copy_of(arena *a, const ignite *i)
{
    json *v = json_object(a);
    for (json_iter it = json_each(i->doc); json_next(&it);)
        json_set_val(v, arena_cstr(a, it.key), it.value);
    return v;
}

static json *state_with(task *t, const state *s, str group, const json *v)
{
    json *doc = state_copy(t->arena, s, group);
    json_set_json(doc, "ignite", v);
    return doc;
}

/* ---- changes ---- */

typedef struct {
    str                group, created_by, session;
    bool               invites;
    const ignite_note *note;
    ignite_outcome     outcome;
} change;

static res start(task *t, const state *now, void *ctx, json **ret_doc)
{
    change *x = ctx;
    json   *v = ignite_new(t->arena, x->created_by, x->invites, &x->session);
    *ret_doc = state_with(t, now, x->group, v);
    return RES_OK;
}

res ignite_start(task *t, str group, str created_by, bool invites, str *ret_session)
{
    change x = {.group = group, .created_by = created_by, .invites = invites};
    TRY(state_change(t, group, start, &x, NULL));
    *ret_session = x.session;
    return RES_OK;
}

static res close_it(task *t, const state *now, void *ctx, json **ret_doc)
{
    change *x = ctx;
    ignite  i = of_state(t->arena, now);
    x->outcome = ignite_is(&i, x->session) ? IGNITE_DONE : IGNITE_OVER;
    if (x->outcome != IGNITE_DONE || str_eq(text(i.doc, "status"), str_of(status_names[IGNITE_CLOSED])))
        return UPDATE_NOTHING;
    json *v = copy_of(t->arena, &i);
    json_set_str(v, "status", str_of(status_names[IGNITE_CLOSED]));
    if (i.close_requested_at.len == 0)
        json_set_str(v, "closeRequestedAt", call_now(t->arena));
    *ret_doc = state_with(t, now, x->group, v);
    return RES_OK;
}

res ignite_close(task *t, str group, str session, ignite_outcome *ret)
{
    change x = {.group = group, .session = session};
    TRY(state_change(t, group, close_it, &x, NULL));
    *ret = x.outcome;
    return RES_OK;
}

static void set_joined(json *v, const ignite *i, str person)
{
    json *list = json_set_array(v, "joinedPersonIds");
    for (size_t n = 0; n < i->joined_count; n++)
        json_push_str(list, i->joined[n]);
    json_push_str(list, person);
}

void ignite_photo_times(const ignite *i, json *times)
{
    const json_val *stored = json_get(i->doc, "photoUpdatedAtByPersonId");
    if (json_typeof(stored) != JSON_OBJECT)
        return;
    for (json_iter it = json_each(stored); json_next(&it);)
        if (json_typeof(it.value) == JSON_STRING)
            json_set_str_at(times, it.key, json_text(it.value, (str){0}));
}

static void set_photo(json *v, const ignite *i, str person, str now)
{
    json *times = json_set_object(v, "photoUpdatedAtByPersonId");
    ignite_photo_times(i, times);
    json_set_str_at(times, person, now);
}

static res add(task *t, const state *now, void *ctx, json **ret_doc)
{
    change            *x = ctx;
    const ignite_note *n = x->note;
    ignite             i = of_state(t->arena, now);
    bool               taken = n->joins ? i.status == IGNITE_OPEN : ignite_takes_photos(&i), adds = n->joins;
    x->outcome = ignite_is(&i, n->session) && taken ? IGNITE_DONE : IGNITE_OVER;
    if (adds && has_joined(&i, n->person))
        adds = false;
    else if (adds && x->outcome == IGNITE_DONE && i.joined_count == IGNITE_JOINED_MAX)
        x->outcome = IGNITE_FULL;
    if (x->outcome != IGNITE_DONE || (!adds && !n->photo))
        return UPDATE_NOTHING;
    json *v = copy_of(t->arena, &i);
    if (adds)
        set_joined(v, &i, n->person);
    if (n->photo)
        set_photo(v, &i, n->person, n->now);
    *ret_doc = state_with(t, now, x->group, v);
    return RES_OK;
}

res ignite_add(task *t, str group, const ignite_note *n, ignite_outcome *ret)
{
    change x = {.group = group, .note = n};
    TRY(state_change(t, group, add, &x, NULL));
    *ret = x.outcome;
    return RES_OK;
}

/* ---- what the handlers share ---- */

bool ignite_went(call *c, res r)
{
    if (r != RES_CONFLICT || task_stopped(c->t) != RES_OK)
        return call_went(c, r);
    task_forget(c->t);
    c->result = call_refuse(c, 409, "state_changed", NULL,
                            "Others changed the group at the same time. Please try again.");
    return false;
}

str ignite_cut(str text, size_t characters)
{
    size_t end = 0, seen = 0;
    for (; end < text.len; end++) {
        seen += (text.at[end] & 0xc0) != 0x80;
        if (seen > characters)
            break;
    }
    return str_slice(text, 0, end);
}
