/* member_http.c -- coming in, leaving, and who is there (§4.3: 13, 16, 18, 19, 23).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"

enum { READS_AT_ONCE = 16 };

static bool refuse_member(call *c, res r)
{
    if (r != RES_DENIED)
        return call_went(c, r);
    task_forget(c->t);
    c->result = call_refuse(c, 403, "not_allowed", NULL, "Not allowed");
    return false;
}

/* A group that is there and not deleted; 404. */
static bool live_group(call *c, str id, group_row *ret)
{
    if (!places_ready(c))
        return false;
    res r = call_is_uuid4(id) ? group_read(c->t, id, ret) : RES_NOT_FOUND;
    if (r == RES_OK && !ret->deleted)
        return true;
    if (r != RES_OK && r != RES_NOT_FOUND)
        return call_went(c, r);
    task_forget(c->t);
    c->result = call_refuse(c, 404, "group_not_found", NULL, "Group not found");
    return false;
}

static str need_group_id(call *c)
{
    str id = call_text(c, "groupId");
    if (id.len == 0)
        c->result = call_refuse(c, 400, "groupId_required", NULL, "groupId is required");
    return id;
}

/* ---- join, decline, claim ---- */

static bool in_scope(call *c, str id)
{
    if (auth_in_scope(&c->who, id))
        return true;
    c->result =
        call_refuse(c, 403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION", "This session is for another group");
    return false;
}

res sched_group_join(task *t, const request *in, reply *out)
{
    call       c;
    group_row  g;
    member     m;
    member_who who;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str id = need_group_id(&c);
    if (id.len == 0 || !call_session(&c) || !in_scope(&c, id) || !live_group(&c, id, &g))
        return c.result;
    member_who_of(c.a, &c.who, id, &who);
    join_rule rule = c.who.kind == SESSION_GRACE ? JOIN_OR_CREATE : JOIN_IF_INVITED;
    if (!refuse_member(&c, member_join(t, &who, rule, &m, NULL)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupId", id);
    json_set_str(body, "groupName", g.name);
    json_set_str(body, "updatedAt", g.updated_at);
    return call_answer(&c, 200, body);
}

res sched_group_decline(task *t, const request *in, reply *out)
{
    call   c;
    member m;
    if (!call_begin(&c, t, in, out, TRACE_SERVER, NULL))
        return c.result;
    str id = need_group_id(&c);
    if (id.len == 0 || !call_session(&c) || !in_scope(&c, id) || !places_ready(&c))
        return c.result;
    res r = call_is_uuid4(id) ? member_remove(t, id, str_of(c.who.user_key), &m) : RES_NOT_FOUND;
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return call_refuse(&c, 404, "not_found", NULL, "Membership not found");
    }
    if (!call_went(&c, r))
        return c.result;
    return call_answer(&c, 200, call_ok(&c));
}

/* The guest's session, beside the durable one of the header. */
static bool read_grace(call *c, str id, str grace_id, auth_user *ret)
{
    auth_refusal why;
    res          r = auth_session_by_id(c->t, grace_id, ret, &why);
    if (r == RES_UNAUTHENTICATED) {
        c->result = call_refuse(c, 401, "invalid_grace_session", NULL, "The guest's session is not valid");
        return false;
    }
    if (!call_went(c, r))
        return false;
    if (ret->kind != SESSION_GRACE)
        c->result = call_refuse(c, 403, "grace_session_kind_invalid", NULL, "This is no guest's session");
    else if (!str_eq(ret->scope_group, id))
        c->result = call_refuse(c, 403, "grace_session_scope_mismatch", NULL,
                                "The guest's session is for another group");
    else
        return true;
    return false;
}

/* What the guest was called at the table, for who has no name yet. A nicety: without it the claim holds. */
static str guest_name(call *c, const auth_user *guest)
{
    profile p;
    if (profile_read(c->t, auth_member_key(c->a, guest), &p) == RES_OK)
        return p.display_name;
    task_forget(c->t);
    return (str){0};
}

res sched_group_claim(task *t, const request *in, reply *out)
{
    call       c;
    group_row  g;
    member     m;
    auth_user  guest;
    member_who who;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str id = call_text(&c, "groupId"), grace_id = call_text(&c, "graceSessionId");
    if (!call_is_uuid4(id))
        return call_refuse(&c, 400, "invalid_group_id", NULL, "groupId must be a UUID");
    if (grace_id.len == 0)
        return call_refuse(&c, 400, "invalid_grace_session_id", NULL, "graceSessionId is required");
    if (!call_full_session(&c) || !read_grace(&c, id, grace_id, &guest) || !live_group(&c, id, &g))
        return c.result;
    member_who_of(c.a, &c.who, id, &who);
    who.display_name = guest_name(&c, &guest);
    if (!refuse_member(&c, member_join(t, &who, JOIN_CLAIM, &m, NULL)))
        return c.result;
    return call_answer(&c, 200, call_ok(&c));
}

/* ---- who is there ---- */

static void set_if(json *v, const char *name, str text)
{
    if (text.len > 0)
        json_set_str(v, name, text);
}

/* Who has no profile has no displayName here: the address is shown beside it. */
typedef struct {
    const member *at;
    str          *names;
} listing;

static res read_name(task *t, size_t i, void *ctx)
{
    listing *l = ctx;
    profile  p;
    res      r = profile_read(t, l->at[i].member_key, &p);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return RES_OK;
    }
    if (r == RES_OK)
        l->names[i] = p.display_name;
    return r;
}

static void add_member(json *list, const member *m, str name)
{
    json *v = json_push_object(list);
    json_set_str(v, "userKey", m->user_key);
    json_set_str(v, "email", m->email);
    set_if(v, "displayName", name);
    json_set_str(v, "status", str_of(member_status_name(m->status)));
    set_if(v, "invitedAt", m->invited_at);
    set_if(v, "joinedAt", m->joined_at);
    set_if(v, "removedAt", m->removed_at);
    json_set_str(v, "updatedAt", m->updated_at);
    if (m->last_seen.len > 0)
        json_set_str(v, "lastSeenAtUtc", m->last_seen);
    else
        json_set_null(v, "lastSeenAtUtc");
    json_set_str(v, "memberKind", m->guest ? STR("guest") : STR("full"));
    json_set_bool(v, "emailVerified", m->verified);
    json_set_str(v, "inviteEmailStatus", m->mail_status.len > 0 ? m->mail_status : STR("not_sent"));
    set_if(v, "inviteEmailLastAttemptAtUtc", m->mail_attempt_at);
    set_if(v, "inviteEmailFailedReason", m->mail_reason);
    set_if(v, "inviteEmailProviderMessage", m->mail_said);
}

res sched_group_members(task *t, const request *in, reply *out)
{
    call       c;
    membership me;
    listing    l = {0};
    member    *all;
    size_t     count;
    if (!call_begin(&c, t, in, out, TRACE_SERVER, NULL))
        return c.result;
    str id = call_query(&c, "groupId");
    if (id.len == 0)
        return call_refuse(&c, 400, "groupId_required", NULL, "groupId is required");
    if (!call_session(&c) || !gate_pass(&c, id, ADMIT_ACTIVE, &me) ||
        !call_went(&c, members_list(t, id, &all, &count)))
        return c.result;
    l = (listing){.at = all, .names = arena_array(c.a, str, count)};
    if (!call_went(&c, par_each(t, count, READS_AT_ONCE, read_name, &l)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupId", id);
    json *list = json_set_array(body, "members");
    for (size_t i = 0; i < count; i++)
        add_member(list, &all[i], l.names[i]);
    return call_answer(&c, 200, body);
}

static bool is_user_key(str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!((key.at[i] >= '0' && key.at[i] <= '9') || (key.at[i] >= 'a' && key.at[i] <= 'f')))
            return false;
    return key.len == SHA256_HEX;
}

res sched_member_profile(task *t, const request *in, reply *out)
{
    static const call_bad_json invalid = {"invalid_body", NULL};
    call                       c;
    membership                 me;
    member                     target;
    if (!call_begin(&c, t, in, out, TRACE_SERVER, &invalid))
        return c.result;
    str id = call_text(&c, "groupId"), key = call_text(&c, "userKey");
    str name = call_collapsed(&c, "displayName");
    if (!call_is_uuid4(id))
        return call_refuse(&c, 400, "invalid_group_id", NULL, "groupId must be a UUID");
    if (!is_user_key(key))
        return call_refuse(&c, 400, "invalid_user_key", NULL, "userKey must be 64 hexadecimal digits");
    if (!display_name_ok(name))
        return call_refuse(&c, 400, "invalid_display_name", NULL, "displayName must have 1 to %d characters",
                           DISPLAY_NAME_MAX);
    if (!call_session(&c) || !gate_pass(&c, id, ADMIT_ACTIVE, &me))
        return c.result;
    res r = member_read(t, id, key, &target);
    if (r == RES_NOT_FOUND ||
        (r == RES_OK && target.status != MEMBER_ACTIVE && target.status != MEMBER_INVITED)) {
        task_forget(t);
        return call_refuse(&c, 404, "member_not_found", NULL, "Member not found");
    }
    profile named = {.display_name = name, .email = target.email};
    if (!call_went(&c, r) || !call_went(&c, profile_write(t, target.member_key, &named, NULL)))
        return c.result;
    return call_answer(&c, 200, call_ok(&c));
}
