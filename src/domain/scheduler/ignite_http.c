/* ignite_http.c -- what organisers do with an ignite session, and what everybody at the table sees of it
 * (§5: start, close, meta, spinoff).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler.h"
#include "domain/scheduler/ignite.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/profiles.h"

/* ---- start, close ---- */

static bool open_group(call *c, str id, membership *ret)
{
    if (id.len == 0) {
        c->result = call_refuse(c, 400, "groupId_required", NULL, "groupId is required");
        return false;
    }
    return call_full_session(c) && gate_pass(c, id, ADMIT_ACTIVE, ret);
}

res sched_ignite_start(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    str        session;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    bool invites = str_eq(call_text(&c, "tokenKind"), STR("invite-member"));
    if (!open_group(&c, call_text(&c, "groupId"), &m) ||
        !ignite_went(&c, ignite_start(t, m.g.id, str_of(c.who.user_key), invites, &session)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "sessionId", session);
    json_set_str(body, "status", str_of(ignite_status_name(IGNITE_OPEN)));
    return call_answer(&c, 200, body);
}

res sched_ignite_close(task *t, const request *in, reply *out)
{
    call           c;
    membership     m;
    ignite_outcome outcome;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str session = call_text(&c, "sessionId");
    if (!open_group(&c, call_text(&c, "groupId"), &m) ||
        !ignite_went(&c, ignite_close(t, m.g.id, session, &outcome)))
        return c.result;
    if (outcome != IGNITE_DONE)
        return call_refuse(&c, 410, "ignite_closed", NULL, "Session closed");
    json *body = call_ok(&c);
    json_set_str(body, "status", str_of(ignite_status_name(IGNITE_CLOSED)));
    return call_answer(&c, 200, body);
}

/* ---- meta ---- */

/* The people of a session: those who joined, and the organiser, each once. */
typedef struct {
    const str *ids;
    size_t     count;
    str       *names; /* as ids */
} table_of_people;

static table_of_people people_of(arena *a, const ignite *i)
{
    str   *ids = arena_array(a, str, i->joined_count + 1);
    size_t n = 0;
    bool   organiser_joined = i->created_by.len == 0;
    for (; n < i->joined_count; n++) {
        ids[n] = i->joined[n];
        organiser_joined |= str_eq(ids[n], i->created_by);
    }
    if (!organiser_joined)
        ids[n++] = i->created_by;
    return (table_of_people){.ids = ids, .count = n, .names = arena_array(a, str, n)};
}

static const member *find_member(const member *all, size_t count, str user_key)
{
    for (size_t n = 0; n < count; n++)
        if (str_eq(all[n].user_key, user_key))
            return &all[n];
    return NULL;
}

/* Who is no member (any more) is called by their id. A member's key may hold a guest's session: where nothing
 * else is known, the id stands for it. */
static res name_people(task *t, str group, table_of_people *p)
{
    member *all;
    size_t  count, known = 0;
    TRY(members_list(t, group, &all, &count));
    str    *keys = arena_array(t->arena, str, p->count), *emails = arena_array(t->arena, str, p->count);
    str    *names = arena_array(t->arena, str, p->count);
    size_t *at = arena_array(t->arena, size_t, p->count);
    for (size_t n = 0; n < p->count; n++) {
        const member *m = find_member(all, count, p->ids[n]);
        p->names[n] = p->ids[n];
        if (m == NULL || m->email.len == 0)
            continue;
        keys[known] = m->member_key;
        emails[known] = m->email;
        at[known++] = n;
    }
    TRY(profile_names(t, keys, emails, known, names));
    for (size_t n = 0; n < known; n++)
        p->names[at[n]] = names[n];
    return RES_OK;
}

static void describe(arena *a, json *body, const ignite *i, const table_of_people *p)
{
    json_set_str(body, "status", str_of(ignite_status_name(i->status)));
    json_set_int(body, "graceSeconds", i->grace_s);
    if (i->close_requested_at.len > 0)
        json_set_str(body, "closeRequestedAt", i->close_requested_at);
    json_set_int(body, "joinedCount", (int64_t)p->count);
    json *joined = json_set_array(body, "joinedPersonIds");
    for (size_t n = 0; n < i->joined_count; n++)
        json_push_str(joined, i->joined[n]);
    ignite_photo_times(i, json_set_object(body, "photoUpdatedAtByPersonId"));
    json_set_str(body, "createdByPersonId", i->created_by);
    json *people = json_set_object(body, "peopleByPersonId");
    for (size_t n = 0; n < p->count; n++)
        json_set_str(json_set_object(people, arena_cstr(a, p->ids[n])), "name", p->names[n]);
}

/* From the body; from the query of a GET, and where the body has none. */
static str said(const call *c, const char *name)
{
    str text = call_text(c, name);
    return text.len > 0 ? text : call_query(c, name);
}

res sched_ignite_meta(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    ignite     i;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str id = said(&c, "groupId"), session = said(&c, "sessionId");
    if (!call_is_uuid4(id))
        return call_refuse(&c, 400, "invalid_group_id", NULL, "groupId must be a UUID");
    if (session.len == 0)
        return call_refuse(&c, 400, "sessionId_required", NULL, "sessionId is required");
    if (!call_session(&c) || !gate_pass(&c, id, ADMIT_ACTIVE, &m) || !call_went(&c, ignite_read(t, id, &i)))
        return c.result;
    if (!ignite_is(&i, session))
        return call_refuse(&c, 404, "ignite_not_found", NULL, "No such session");
    table_of_people people = people_of(c.a, &i);
    if (!call_went(&c, name_people(t, id, &people)))
        return c.result;
    json *body = call_ok(&c);
    describe(c.a, body, &i, &people);
    json_set_str(body, "serverTime", call_now(c.a));
    return call_answer(&c, 200, body);
}

/* ---- spinoff ---- */

res sched_ignite_spinoff(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    group_row  g;
    str        session;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str source = call_text(&c, "sourceGroupId");
    str name = str_trim(ignite_cut(call_collapsed(&c, "groupName"), GROUP_NAME_MAX));
    if (!call_is_uuid4(source))
        return call_refuse(&c, 400, "invalid_group_id", NULL, "sourceGroupId must be a UUID");
    if (!call_full_session(&c) || !gate_pass(&c, source, ADMIT_ACTIVE, &m))
        return c.result;
    json *open = ignite_new(c.a, str_of(c.who.user_key), false, &session);
    name = name.len > 0 ? name : STR("Breakout");
    if (!call_went(&c, group_found(t, &c.who, name, open, &g)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "newGroupId", g.id);
    json_set_str(body, "groupName", g.name);
    json_set_str(body, "linkPath", arena_strf(c.a, "/#/g/%.*s/ignite", STR_ARG(g.id)));
    return call_answer(&c, 200, body);
}
