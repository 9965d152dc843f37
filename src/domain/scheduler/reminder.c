/* reminder.c -- the timer that sends what is due (§6.6).
 *
 * Each run looks at this minute and the one before, so that a run that came late, or failed, is made up for
 * by the next. An entry leaves its list when it has been dealt with; one that could not be is logged, stays,
 * and keeps no other from being sent.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/appointment_mail.h"
#include "domain/scheduler/direct.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/recipients.h"
#include "domain/scheduler/reminders.h"
#include "domain/scheduler/trail.h"

enum { MEMORY = 32 * MIB };
static const int64_t MINUTE_US = INT64_C(60000000);

typedef struct {
    const reminder_entry *e;
    int64_t               minute_us;
    bool                  sent;
} item;

/* ---- one reminder ---- */

/* The group and the appointment live, and the reminder is still scheduled. */
static res is_due(task *t, const reminder_entry *e, group_row *g, appointment *p, reminder *r, bool *ret)
{
    trail     all;
    reminder *list;
    *ret = false;
    res got = group_read(t, e->group, g);
    if (got == RES_OK && !g->deleted)
        got = appointment_read(t, e->group, e->appointment, false, p);
    else if (got == RES_OK)
        return RES_OK;
    if (got == RES_NOT_FOUND) {
        task_forget(t);
        return RES_OK;
    }
    if (got != RES_OK)
        return got;
    TRY(trail_read(t, e->group, e->appointment, &all));
    size_t count = trail_reminders(t->arena, &all, &list);
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].id, e->id) && reminder_is_scheduled(&list[i])) {
            *r = list[i];
            *ret = true;
        }
    return RES_OK;
}

static mail letter(arena *a, const group_row *g, const appointment *p, const reminder *r)
{
    appointment_mail m = {.p = p,
                          .z = direct_zone_of(p),
                          .subject = STR("Reminder"),
                          .lead = STR("This is a reminder of an appointment."),
                          .message = r->message,
                          .group = g->id,
                          .group_name = g->name};
    return appointment_mail_make(a, &m);
}

static res note_sent(task *t, const reminder_entry *e, const recipients *all, size_t sent)
{
    bool  repeated;
    json *payload = json_object(t->arena);
    json_set_str(payload, "reminderId", e->id);
    json_set_str(payload, "deliveryStatus", str_of(recipients_status(sent, all->eligible)));
    json_set_str(payload, "sentAt", call_now(t->arena));
    json_set_int(payload, "recipientCountSent", (int64_t)sent);
    json_set_int(payload, "recipientCountSelected", (int64_t)all->count);
    recipients_list_failed(all, json_set_array(payload, "failedRecipients"));
    log_event ev = {.type = "REMINDER_SENT",
                    .actor = "SYSTEM",
                    .payload = payload,
                    .request_id = arena_strf(t->arena, "reminder-send:%.*s", STR_ARG(e->id))};
    return events_append(t, e->group, e->appointment, &ev, 1, NULL, &repeated);
}

static res deal_with(task *t, void *ctx)
{
    item                 *it = ctx;
    const reminder_entry *e = it->e;
    group_row             g;
    appointment           p;
    reminder              r;
    bool                  due;
    TRY(is_due(t, e, &g, &p, &r, &due));
    if (due) {
        recipients all;
        size_t     sent;
        TRY(recipients_pick(t, e->group, NULL, 0, (str){0}, &all));
        mail m = letter(t->arena, &g, &p, &r);
        TRY(recipients_send(t, &all, &m, &sent));
        TRY(note_sent(t, e, &all, sent));
        it->sent = true;
    }
    return reminders_drop(t, it->minute_us, e->id);
}

/* ---- the timer ---- */

static res run_minute(task *t, int64_t minute_us, reply *out)
{
    reminder_entry *list;
    size_t          count, sent = 0, failed = 0;
    TRY(reminders_due(t, minute_us, &list, &count));
    for (size_t i = 0; i < count; i++) {
        item it = {.e = &list[i], .minute_us = minute_us};
        res  r = task_scope(t, MEMORY, deal_with, &it);
        TRY(task_stopped(t));
        sent += it.sent ? 1 : 0;
        if (r == RES_OK)
            continue;
        str why = task_message(t);
        failed++;
        log_error("reminder %.*s failed with %s: %.*s", STR_ARG(list[i].id), res_name(r), STR_ARG(why));
        task_forget(t);
    }
    if (count > 0)
        reply_log(out, "reminders: %zu of %zu sent, %zu failed", sent, count, failed);
    return RES_OK;
}

static res run_both(task *t, reply *out)
{
    int64_t now_us = reminders_minute(clock_wall_us());
    TRY(places_make(t));
    TRY(run_minute(t, now_us - MINUTE_US, out));
    return run_minute(t, now_us, out);
}

/* A failure is logged and no failure of the invocation: the next run goes on. */
res sched_reminder_tick(task *t, const request *in, reply *out)
{
    (void)in;
    res r = run_both(t, out);
    TRY(task_stopped(t));
    if (r == RES_OK)
        return RES_OK;
    str why = task_message(t);
    log_error("reminders failed with %s: %.*s", res_name(r), STR_ARG(why));
    task_forget(t);
    return RES_OK;
}
