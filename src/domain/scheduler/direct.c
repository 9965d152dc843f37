/* direct.c -- see direct.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/direct.h"

#include "core/id.h"
#include "domain/scheduler/constraints.h"
#include "domain/scheduler/settings.h"
#include "runtime/key_lock.h"

enum { TRIES_MAX = 4 };

/* ---- what was sent ---- */

str direct_text(const direct *d, const char *name)
{
    return str_trim(json_text(json_get(d->action, name), (str){0}));
}

int64_t direct_number(const direct *d, const char *name, int64_t otherwise)
{
    return json_int(json_get(d->action, name), otherwise);
}

actor direct_actor(direct *d)
{
    return (actor){.user_key = str_of(d->c.who.user_key), .member_key = auth_member_key(d->c.a, &d->c.who)};
}

str direct_email(const direct *d)
{
    return d->c.who.email;
}

/* ---- answers ---- */

res direct_answer(direct *d, json *body)
{
    return call_answer(&d->c, 200, body);
}

static res with_snapshot(direct *d, json *body)
{
    json *snapshot = NULL;
    if (!direct_went(d, appointments_snapshot(d->c.t, d->group, &snapshot)))
        return d->c.result;
    json_set_json(body, "snapshot", snapshot);
    return direct_answer(d, body);
}

res direct_snapshot(direct *d)
{
    return with_snapshot(d, call_ok(&d->c));
}

res direct_reject(direct *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str message = arena_vstrf(d->c.a, fmt, args);
    va_end(args);
    json *body = json_object(d->c.a);
    json_set_bool(body, "ok", false);
    json_set_str(body, "message", message);
    return with_snapshot(d, body);
}

static void answer_conflict(direct *d)
{
    json *body = json_object(d->c.a);
    task_forget(d->c.t);
    json_set_bool(body, "ok", false);
    if (d->row->logs)
        json_set_str(body, "error", STR("state_changed"));
    json_set_str(body, "message", STR("State changed. Retry."));
    d->c.result = call_answer(&d->c, 409, body);
}

bool direct_went(direct *d, res r)
{
    if (r != RES_CONFLICT && r != RES_PRECONDITION)
        return call_went(&d->c, r);
    answer_conflict(d);
    return false;
}

static bool not_found(direct *d, str id)
{
    json *body = json_object(d->c.a);
    task_forget(d->c.t);
    json_set_str(body, "appointmentId", id);
    d->c.result =
        call_refuse_with(&d->c, 404, "appointment_not_found", NULL, STR("Appointment not found"), body);
    return false;
}

bool direct_appointment(direct *d, appointment *ret)
{
    str id = direct_text(d, "appointmentId");
    res r = appointment_read(d->c.t, d->group, id, false, ret);
    return r == RES_NOT_FOUND ? not_found(d, id) : direct_went(d, r);
}

bool direct_by_code(direct *d, appointment *ret)
{
    str code = direct_text(d, "code");
    res r = appointment_by_code(d->c.t, d->group, code, false, ret);
    if (r != RES_NOT_FOUND && r != RES_CONFLICT)
        return direct_went(d, r);
    task_forget(d->c.t);
    d->c.result =
        direct_reject(d, r == RES_NOT_FOUND ? "Not found: %.*s" : "Ambiguous code: %.*s", STR_ARG(code));
    return false;
}

const zone *direct_app_zone(void)
{
    const zone *z = zone_find(sched_settings_get()->zone);
    return z != NULL ? z : zone_find(STR("UTC"));
}

const zone *direct_zone_of(const appointment *p)
{
    const zone *z = zone_find(json_text(json_get(p->doc, "timezone"), (str){0}));
    return z != NULL ? z : direct_app_zone();
}

/* ---- changes ---- */

static res change_once(direct *d, direct_change_fn *fn, void *ctx, const appointment *before,
                       appointment *after)
{
    direct_edit e = {.more = json_object(d->c.a)};
    actor       by = direct_actor(d);
    e.change.more = e.more;
    if (!fn(d, before, ctx, &e))
        return RES_INVALID;
    e.change.if_match = before->etag;
    constraints_reconcile(d->c.a, before, direct_email(d), &e);
    res r = appointment_update(d->c.t, d->group, before->id, &e.change, &by, after);
    return r == RES_INVALID ? RES_UPSTREAM : r; /* RES_INVALID is ours: answered */
}

bool direct_change(direct *d, direct_find_fn *find, direct_change_fn *fn, void *ctx, appointment *ret_before,
                   appointment *ret)
{
    for (unsigned tries = 1;; tries++) {
        appointment before, after;
        if (!find(d, &before))
            return false;
        res r = change_once(d, fn, ctx, &before, &after);
        if (r == RES_INVALID)
            return false;
        if ((r == RES_CONFLICT || r == RES_PRECONDITION) && tries < TRIES_MAX) {
            task_forget(d->c.t);
            continue;
        }
        if (r == RES_NOT_FOUND)
            return not_found(d, before.id);
        if (r == RES_OK && ret_before != NULL)
            *ret_before = before;
        if (r == RES_OK && ret != NULL)
            *ret = after;
        return direct_went(d, r);
    }
}

/* ---- events ---- */

bool direct_alone(direct *d, const char *what, str id)
{
    key_lock *lock;
    str       key = arena_strf(d->c.a, "direct-%s/%.*s/%.*s", what, STR_ARG(d->group), STR_ARG(id));
    return direct_went(d, key_lock_take(d->c.t, key, &lock)); /* let go with the request's arena */
}

str direct_new_id(arena *a)
{
    char id[UUID_TEXT + 1];
    return arena_copy(a, id_uuid(id));
}

log_event direct_event(const direct *d, const char *type, json *payload)
{
    return (log_event){.type = type,
                       .actor = "HUMAN",
                       .email = direct_email(d),
                       .payload = payload,
                       .request_id = direct_text(d, "clientRequestId")};
}

log_event direct_said(const direct *d, str text)
{
    json *payload = json_object(d->c.a);
    json_set_str(payload, "message", text);
    return (log_event){.type = "SYSTEM_CONFIRMATION",
                       .actor = "SYSTEM",
                       .payload = payload,
                       .request_id = direct_text(d, "clientRequestId")};
}

size_t direct_reconciled(const direct *d, const appointment *before, const appointment *after,
                         log_event *list, size_t count)
{
    str from = constraints_status(before->doc), to = constraints_status(after->doc);
    if (str_eq(from, to))
        return count;
    json *payload = json_object(d->c.a);
    json_set_str(payload, "from", from);
    json_set_str(payload, "to", to);
    json_set_val(payload, "reasons", json_get(json_get(after->doc, "reconciliation"), "reasons"));
    list[count] = direct_event(d, "RECONCILIATION_CHANGED", payload);
    list[count++].actor = "SYSTEM";
    list[count++] = direct_said(d, arena_strf(d->c.a, "The appointment is %.*s now.", STR_ARG(to)));
    return count;
}

bool direct_append(direct *d, str id, log_event *list, size_t count, json **ret)
{
    bool  repeated = false;
    json *stored = NULL;
    if (!direct_went(d, events_append(d->c.t, d->group, id, list, count, &stored, &repeated)))
        return false;
    *ret = repeated || stored == NULL ? json_array(d->c.a) : stored;
    return true;
}
