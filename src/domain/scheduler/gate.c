/* gate.c -- who is let in: session, scope, group, membership, in this order and nowhere else (§0).
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"

enum { SEEN_EVERY_S = 60 };

static bool refuse(call *c, int status, const char *error, const char *code, const char *message)
{
    c->result = call_refuse(c, status, error, code, "%s", message);
    return false;
}

static bool refuse_group(call *c)
{
    return refuse(c, 404, "group_not_found", NULL, "Group not found");
}

static bool find_group(call *c, str id, bool deleted_too, group_row *ret)
{
    if (!call_is_uuid4(id))
        return refuse_group(c);
    res r = group_read(c->t, id, ret);
    if (r == RES_NOT_FOUND || (r == RES_OK && ret->deleted && !deleted_too)) {
        task_forget(c->t);
        return refuse_group(c);
    }
    return call_went(c, r);
}

static bool find_member(call *c, str id, unsigned admitted, member *ret)
{
    res r = member_read(c->t, id, str_of(c->who.user_key), ret);
    if (r == RES_NOT_FOUND || (r == RES_OK && (admitted >> ret->status & 1) == 0)) {
        task_forget(c->t);
        return refuse(c, 403, "not_allowed", NULL, "Not allowed");
    }
    return call_went(c, r);
}

static void note_seen(call *c, const member *m)
{
    int64_t seen_us;
    if (iso8601_parse(m->last_seen, &seen_us) && clock_wall_us() - seen_us < SEEN_EVERY_S * INT64_C(1000000))
        return;
    member_note_seen(c->t, m);
}

static bool pass(call *c, str id, unsigned admitted, bool deleted_too, membership *ret)
{
    if (!auth_in_scope(&c->who, id))
        return refuse(c, 403, "forbidden", "AUTH_SESSION_SCOPE_VIOLATION",
                      "This session is for another group");
    if (!places_ready(c) || !find_group(c, id, deleted_too, &ret->g) ||
        !find_member(c, id, admitted, &ret->m))
        return false;
    note_seen(c, &ret->m);
    c->result = task_stopped(c->t);
    return c->result == RES_OK;
}

bool gate_pass(call *c, str group, unsigned admitted, membership *ret)
{
    return pass(c, group, admitted, false, ret);
}

bool gate_pass_deleted(call *c, str group, unsigned admitted, membership *ret)
{
    return pass(c, group, admitted, true, ret);
}
