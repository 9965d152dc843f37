/* group_http.c -- a group's own life: made, looked at, renamed, deleted, restored (§4.3: 12, 17, 20 to 22).
 *
 * SPDX-License-Identifier: MIT */
#include "core/id.h"
#include "domain/scheduler.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/state.h"

/* ---- create ---- */

static str read_group_name(call *c)
{
    str name = call_collapsed(c, "groupName");
    if (group_name_ok(name))
        return name;
    c->result =
        call_refuse(c, 400, "bad_request", NULL, "groupName must have 1 to %d characters", GROUP_NAME_MAX);
    return (str){0};
}

/* Whoever makes a group has a name; a creatorName of the body becomes it where there is none yet. */
static bool has_a_name(call *c)
{
    profile p = {0};
    str     key = auth_member_key(c->a, &c->who), offered = call_collapsed(c, "creatorName");
    res     r = profile_read(c->t, key, &p);
    if (r == RES_NOT_FOUND)
        task_forget(c->t);
    else if (!call_went(c, r))
        return false;
    if (p.display_name.len > 0)
        return true;
    if (!display_name_ok(offered)) {
        c->result = call_refuse(c, 400, "PROFILE_INCOMPLETE", NULL, "Display name required");
        return false;
    }
    profile named = {.display_name = offered, .email = c->who.email};
    return call_went(c, profile_write(c->t, key, &named, NULL));
}

/* The membership comes last, for it is what makes the group visible: a crash before it leaves a group that
 * nobody sees. */
res group_found(task *t, const auth_user *by, str name, const json *ignite, group_row *ret)
{
    char       uuid[UUID_TEXT + 1];
    member     first;
    member_who who;
    str        id = arena_copy(t->arena, id_uuid(uuid));
    TRY(state_create(t, id, name, ignite));
    TRY(group_insert(t, id, name, str_of(by->user_key), call_now(t->arena), ret));
    member_who_of(t->arena, by, id, &who);
    TRY(member_join(t, &who, JOIN_OR_CREATE, &first, NULL));
    count_daily(t, COUNT_NEW_GROUPS, 1);
    return RES_OK;
}

res sched_group_create(task *t, const request *in, reply *out)
{
    call      c;
    group_row g;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str name = read_group_name(&c);
    if (name.len == 0 || !call_full_session(&c) || !places_ready(&c) || !has_a_name(&c) ||
        !call_went(&c, group_found(t, &c.who, name, NULL, &g)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupId", g.id);
    json_set_str(body, "groupName", g.name);
    json_set_str(body, "creatorPersonId", str_of(c.who.user_key));
    json_set_str(body, "linkPath", arena_strf(c.a, "/#/g/%.*s", STR_ARG(g.id)));
    return call_answer(&c, 200, body);
}

/* ---- meta ---- */

res sched_group_meta(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    if (!call_begin(&c, t, in, out, TRACE_SERVER, NULL))
        return c.result;
    str id = call_query(&c, "groupId");
    if (id.len == 0)
        return call_refuse(&c, 400, "groupId_required", NULL, "groupId is required");
    if (!call_session(&c) || !gate_pass(&c, id, ADMIT_ACTIVE, &m))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupId", m.g.id);
    json_set_str(body, "groupName", m.g.name);
    json_set_str(body, "updatedAt", m.g.updated_at);
    return call_answer(&c, 200, body);
}

/* ---- changes ---- */

typedef struct {
    str  name, user_key, now;
    bool was; /* it was so already */
} change;

/* The session of an organiser, and a group of which they are an active member. */
static bool open_group(call *c, bool deleted_too, membership *ret)
{
    str id = call_text(c, "groupId");
    if (id.len == 0) {
        c->result = call_refuse(c, 400, "groupId_required", NULL, "groupId is required");
        return false;
    }
    return call_full_session(c) && (deleted_too ? gate_pass_deleted : gate_pass)(c, id, ADMIT_ACTIVE, ret);
}

static res set_name(task *t, entity *e, bool is_new, void *ctx)
{
    const change *x = ctx;
    (void)t, (void)is_new;
    entity_set_str(e, "groupName", x->name);
    entity_set_str(e, "updatedAt", x->now);
    return RES_OK;
}

res sched_group_rename(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    change x = {.name = read_group_name(&c), .now = call_now(c.a)};
    if (x.name.len == 0 || !open_group(&c, false, &m) ||
        !call_went(&c, group_change_from(t, &m.g, set_name, &x, &m.g)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupName", m.g.name);
    return call_answer(&c, 200, body);
}

static res set_deleted(task *t, entity *e, bool is_new, void *ctx)
{
    change *x = ctx;
    (void)is_new;
    x->was = entity_bool(e, "isDeleted", false);
    if (x->was)
        return UPDATE_NOTHING;
    entity_set_bool(e, "isDeleted", true);
    entity_set_str(e, "deletedAt", x->now);
    entity_set_str(e, "deletedByUserKey", x->user_key);
    entity_set_str(e, "purgeAfterAt", purge_after(t->arena, x->now));
    entity_set_str(e, "updatedAt", x->now);
    return RES_OK;
}

res sched_group_delete(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !open_group(&c, true, &m))
        return c.result;
    change x = {.user_key = str_of(c.who.user_key), .now = call_now(c.a)};
    if (!call_went(&c, group_change_from(t, &m.g, set_deleted, &x, &m.g)))
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "groupId", m.g.id);
    json_set_str(body, "deletedAt", m.g.deleted_at);
    return call_answer(&c, 200, body);
}

static res set_restored(task *t, entity *e, bool is_new, void *ctx)
{
    change *x = ctx;
    (void)t, (void)is_new;
    if (group_is_purging(e))
        return RES_NOT_FOUND;
    x->was = !entity_bool(e, "isDeleted", false);
    if (x->was)
        return UPDATE_NOTHING;
    entity_set_bool(e, "isDeleted", false);
    entity_drop(e, "deletedAt");
    entity_drop(e, "deletedByUserKey");
    entity_drop(e, "purgeAfterAt");
    entity_set_str(e, "updatedAt", x->now);
    return RES_OK;
}

/* No such group is an answer here, not a 404 (§4.3: 22). False: answered. */
static bool find_out(call *c, str id, bool *ret_known)
{
    group_row g;
    if (!places_ready(c))
        return false;
    res r = call_is_uuid4(id) ? group_read(c->t, id, &g) : RES_NOT_FOUND;
    *ret_known = r == RES_OK && !group_is_purging(&g.row);
    if (r != RES_NOT_FOUND)
        return call_went(c, r);
    task_forget(c->t);
    return true;
}

static res answer_unknown(call *c)
{
    json *body = json_object(c->a);
    task_forget(c->t);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", STR("Group not found"));
    return call_answer(c, 200, body);
}

res sched_group_restore(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str id = call_text(&c, "groupId");
    if (id.len == 0)
        return call_refuse(&c, 400, "groupId_required", NULL, "groupId is required");
    bool known;
    if (!call_full_session(&c) || !find_out(&c, id, &known))
        return c.result;
    if (!known)
        return answer_unknown(&c);
    if (!gate_pass_deleted(&c, id, ADMIT_ACTIVE, &m))
        return c.result;
    change x = {.now = call_now(c.a)};
    res    r = group_change_from(t, &m.g, set_restored, &x, &m.g);
    if (r == RES_NOT_FOUND)
        return answer_unknown(&c);
    if (!call_went(&c, r))
        return c.result;
    json *body = call_ok(&c);
    if (x.was)
        json_set_str(body, "message", STR("Already active"));
    return call_answer(&c, 200, body);
}
