/* direct_notify.c -- mails to members about an appointment: shown before, sent once, listed (§6.5).
 *
 * What was sent is an event, NOTIFICATION_SENT, whose payload is the answer; so a repeated clientRequestId of
 * the same sender gets the same answer, and nobody a second mail.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/appointment_mail.h"
#include "domain/scheduler/direct.h"
#include "domain/scheduler/recipients.h"
#include "domain/scheduler/trail.h"

enum { LISTED_USUAL = 10, PAGES_MAX = 25, POSITION_MAX = 999999 };

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

/* ---- who ---- */

static bool pick(direct *d, recipients *ret)
{
    const json_val *list = json_get(d->action, "recipientPersonIds");
    str            *persons = arena_array(d->c.a, str, json_len(list));
    size_t          n = 0;
    for (json_iter it = json_each(list); json_next(&it);)
        persons[n++] = str_trim(json_text(it.value, (str){0}));
    if (!call_went(&d->c, recipients_pick(d->c.t, d->group, persons, n, str_of(d->c.who.user_key), ret)))
        return false;
    if (ret->eligible > 0)
        return true;
    json *body = json_object(d->c.a);
    recipients_list_excluded(ret, json_set_array(body, "excludedRecipients"));
    json_set_bool(body, "excludedSelf", ret->excluded_self);
    d->c.result = call_refuse_with(&d->c, 400, "no_eligible_recipients", NULL,
                                   STR("Nobody of these can get a mail"), body);
    return false;
}

static mail letter(direct *d, const appointment *p)
{
    appointment_mail m = {.p = p,
                          .z = direct_zone_of(p),
                          .lead = STR("There is news about an appointment."),
                          .subject = STR("Update"),
                          .message = direct_text(d, "userMessage"),
                          .group = d->group,
                          .group_name = d->me.g.name};
    mail             out = appointment_mail_make(d->c.a, &m);
    if (d->c.who.kind == SESSION_FULL)
        out.reply_to = direct_email(d);
    return out;
}

/* ---- shown ---- */

res direct_preview_update(direct *d)
{
    appointment p;
    recipients  all;
    if (!direct_appointment(d, &p) || !pick(d, &all))
        return d->c.result;
    mail  m = letter(d, &p);
    json *body = call_ok(&d->c), *list = json_set_array(body, "recipients");
    for (size_t i = 0; i < all.count; i++) {
        if (all.at[i].excluded != NULL)
            continue;
        json *v = json_push_object(list);
        json_set_str(v, "personId", all.at[i].person);
        json_set_str(v, "name", all.at[i].name);
    }
    json_set_str(body, "subject", m.subject);
    json_set_str(body, "text", m.text);
    json_set_str(body, "html", m.html);
    recipients_list_excluded(&all, json_set_array(body, "excludedRecipients"));
    json_set_bool(body, "excludedSelf", all.excluded_self);
    return direct_answer(d, body);
}

/* ---- sent ---- */

static const json_val *sent_before(const direct *d, const trail *all)
{
    const json_val *e = trail_find(all, direct_text(d, "clientRequestId"), "NOTIFICATION_SENT");
    bool            mine = str_eq(text_of(json_get(e, "actor"), "email"), direct_email(d));
    return mine ? json_get(e, "payload") : NULL;
}

static void fill(json *v, const recipients *all, size_t sent, str subject, str now)
{
    json_set_str(v, "sentAt", now);
    json_set_str(v, "deliveryStatus", str_of(recipients_status(sent, all->eligible)));
    json_set_int(v, "recipientCountSent", (int64_t)sent);
    json_set_int(v, "recipientCountSelected", (int64_t)all->count);
    recipients_list_failed(all, json_set_array(v, "failedRecipients"));
    json_set_str(v, "subject", subject);
    recipients_list_excluded(all, json_set_array(v, "excludedRecipients"));
    json_set_bool(v, "excludedSelf", all->excluded_self);
}

static bool latest_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)d, (void)now;
    json_set_json(json_set_object(e->more, "notification"), "latest", ctx);
    e->change.set |= SET_MORE;
    return true;
}

static res answer_sent(direct *d, const json_val *payload)
{
    json *body = call_ok(&d->c);
    for (json_iter it = json_each(payload); json_next(&it);)
        json_set_val(body, arena_cstr(d->c.a, it.key), it.value);
    return direct_answer(d, body);
}

/* The mails are out: a document that others keep changing is left to the next notification. */
static res note_sent(direct *d, const appointment *p, json *payload)
{
    json           *events;
    const json_val *v;
    log_event       e = direct_event(d, "NOTIFICATION_SENT", payload);
    if (!direct_append(d, p->id, &e, 1, &events))
        return d->c.result;
    if (!direct_change(d, direct_appointment, latest_change, payload, NULL, NULL)) {
        task_forget(d->c.t);
        d->c.result = task_stopped(d->c.t);
        if (d->c.result != RES_OK)
            return d->c.result;
    }
    if (!call_went(&d->c, json_parse(d->c.a, json_print(d->c.a, payload), &v, NULL)))
        return d->c.result;
    return answer_sent(d, v);
}

static res refuse_failed(direct *d, const recipients *all)
{
    json *body = json_object(d->c.a);
    recipients_list_failed(all, json_set_array(body, "failedRecipients"));
    return call_refuse_with(&d->c, 502, "notification_send_failed", NULL, STR("No mail could be sent"), body);
}

res direct_send_update(direct *d)
{
    appointment p;
    recipients  all;
    trail       events;
    size_t      sent;
    if (!direct_appointment(d, &p) || !direct_alone(d, "mail", p.id) ||
        !direct_went(d, trail_read(d->c.t, d->group, p.id, &events)))
        return d->c.result;
    const json_val *before = sent_before(d, &events);
    if (before != NULL)
        return answer_sent(d, before);
    if (!pick(d, &all))
        return d->c.result;
    mail m = letter(d, &p);
    if (!call_went(&d->c, recipients_send(d->c.t, &all, &m, &sent)))
        return d->c.result;
    if (sent == 0)
        return refuse_failed(d, &all);
    json *payload = json_object(d->c.a);
    fill(payload, &all, sent, m.subject, call_now(d->c.a));
    return note_sent(d, &p, payload);
}

/* ---- listed ---- */

static void add_notification(json *list, const json_val *event)
{
    json *v = json_push_object(list);
    json_set_val(v, "id", json_get(event, "id"));
    json_set_val(v, "tsUtc", json_get(event, "tsUtc"));
    json_set_val(v, "sender", json_get(json_get(event, "actor"), "email"));
    for (json_iter it = json_each(json_get(event, "payload")); json_next(&it);)
        if (str_eq(it.key, STR("sentAt")) || str_eq(it.key, STR("deliveryStatus")) ||
            str_eq(it.key, STR("subject")))
            json_set_str_at(v, it.key, json_text(it.value, (str){0}));
    json_set_val(v, "recipientCountSent", json_get(json_get(event, "payload"), "recipientCountSent"));
    json_set_val(v, "recipientCountSelected", json_get(json_get(event, "payload"), "recipientCountSelected"));
}

/* No page is larger than what is wanted still, so that its end is the cursor. */
static bool list_pages(direct *d, const appointment *p, json *body)
{
    const json_val *cursor = json_get(d->action, "cursor");
    json           *list = json_set_array(body, "notifications");
    int64_t         limit = direct_number(d, "limit", LISTED_USUAL), found = 0;
    int64_t         chunk = json_int(json_get(cursor, "chunkId"), 0);
    int64_t         index = json_int(json_get(cursor, "index"), 0);
    events_page     page = {0};
    if (chunk < 1 || chunk > POSITION_MAX || index < 0 || index > POSITION_MAX)
        chunk = index = 0;
    for (int n = 0; n < PAGES_MAX && found < limit; n++) {
        if (!direct_went(d, events_read(d->c.t, d->group, p->id, (unsigned)chunk, (unsigned)index,
                                        (unsigned)(limit - found), &page)))
            return false;
        for (size_t i = 0; i < page.count; i++)
            if (str_eq(text_of(page.at[i], "type"), STR("NOTIFICATION_SENT"))) {
                add_notification(list, page.at[i]);
                found++;
            }
        chunk = page.next_chunk;
        index = page.next_index;
        if (chunk == 0)
            break;
    }
    direct_set_cursor(body, &page);
    return true;
}

res direct_list_notifications(direct *d)
{
    appointment p;
    json       *body = call_ok(&d->c);
    return direct_appointment(d, &p) && list_pages(d, &p, body) ? direct_answer(d, body) : d->c.result;
}
