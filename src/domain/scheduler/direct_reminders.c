/* direct_reminders.c -- reminders of an appointment, set and canceled (§6.5).
 *
 * A new one is put into its minute's list before the event that makes it hold: what a crash leaves between
 * the two is in the list alone, and is not sent.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "domain/scheduler/direct.h"
#include "domain/scheduler/reminders.h"
#include "domain/scheduler/trail.h"

static const int64_t MINUTE_US = INT64_C(60000000);

static res answer(direct *d, const reminder *r, const json *events)
{
    json *body = call_ok(&d->c);
    reminder_fill(json_set_object(body, "reminder"), r);
    json_set_json(body, "appendedEvents", events);
    return direct_answer(d, body);
}

static const reminder *find_by_request(const reminder *list, size_t count, str asked)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].request, asked))
            return &list[i];
    return NULL;
}

static bool refuse(direct *d, int status, const char *error, const char *message)
{
    d->c.result = call_refuse(&d->c, status, error, NULL, "%s", message);
    return false;
}

static bool may_be(direct *d, const appointment *p, const reminder *list, size_t count, int64_t due_us)
{
    int scheduled = 0;
    for (size_t i = 0; i < count; i++)
        scheduled += reminder_is_scheduled(&list[i]) ? 1 : 0;
    if (p->time.status != TIME_RESOLVED)
        return refuse(d, 400, "appointment_time_unresolved", "The appointment's time is not known yet");
    if (due_us <= clock_wall_us())
        return refuse(d, 400, "reminder_due_in_past", "The reminder would be in the past");
    return scheduled < REMINDERS_MAX ||
           refuse(d, 400, "reminder_limit_reached", "At most 10 reminders of an appointment");
}

static json *scheduled_payload(arena *a, const reminder *r)
{
    json *v = json_object(a);
    json_set_str(v, "reminderId", r->id);
    json_set_int(v, "offsetMinutes", r->offset_minutes);
    json_set_str(v, "dueAtIso", r->due_at);
    if (r->message.len > 0)
        json_set_str(v, "message", r->message);
    return v;
}

res direct_create_reminder(direct *d)
{
    appointment p;
    trail       all;
    reminder   *list;
    json       *events;
    str         asked = direct_text(d, "clientRequestId");
    int64_t     offset = direct_number(d, "offsetMinutes", 0);
    if (!direct_appointment(d, &p) || !direct_alone(d, "reminders", p.id) ||
        !direct_went(d, trail_read(d->c.t, d->group, p.id, &all)))
        return d->c.result;
    size_t          count = trail_reminders(d->c.a, &all, &list);
    const reminder *before = find_by_request(list, count, asked);
    if (before != NULL)
        return answer(d, before, json_array(d->c.a));
    int64_t due_us = p.time.start_us - offset * MINUTE_US;
    if (!may_be(d, &p, list, count, due_us))
        return d->c.result;
    reminder       r = {.id = direct_new_id(d->c.a),
                        .due_at = iso8601_arena(d->c.a, due_us, 3),
                        .message = direct_text(d, "message"),
                        .created_at = call_now(d->c.a),
                        .by = direct_email(d),
                        .offset_minutes = offset,
                        .status = STR("scheduled")};
    reminder_entry entry = {.id = r.id, .group = d->group, .appointment = p.id, .due_at = r.due_at};
    log_event      e = direct_event(d, "REMINDER_SCHEDULED", scheduled_payload(d->c.a, &r));
    if (!direct_went(d, reminders_put(d->c.t, reminders_minute(due_us), &entry)) ||
        !direct_append(d, p.id, &e, 1, &events))
        return d->c.result;
    return answer(d, &r, events);
}

res direct_cancel_reminder(direct *d)
{
    appointment p;
    trail       all;
    reminder   *list, *r = NULL;
    int64_t     due_us;
    json       *events = json_array(d->c.a), *payload = json_object(d->c.a);
    str         id = direct_text(d, "reminderId");
    if (!direct_appointment(d, &p) || !direct_alone(d, "reminders", p.id) ||
        !direct_went(d, trail_read(d->c.t, d->group, p.id, &all)))
        return d->c.result;
    size_t count = trail_reminders(d->c.a, &all, &list);
    for (size_t i = 0; i < count; i++)
        r = str_eq(list[i].id, id) ? &list[i] : r;
    if (r == NULL)
        return call_refuse(&d->c, 404, "reminder_not_found", NULL, "Reminder not found");
    if (!reminder_is_scheduled(r))
        return answer(d, r, events);
    json_set_str(payload, "reminderId", id);
    log_event e = direct_event(d, "REMINDER_CANCELED", payload);
    if (!direct_append(d, p.id, &e, 1, &events))
        return d->c.result;
    /* The event has ended it; what stays in the list is not sent and goes with its minute. */
    if (iso8601_parse(r->due_at, &due_us) &&
        !direct_went(d, reminders_drop(d->c.t, reminders_minute(due_us), id)))
        return d->c.result;
    r->status = STR("canceled");
    return answer(d, r, events);
}
