/* direct_message.c -- what people write about an appointment, and the title proposals in it (§6.5).
 *
 * A proposal lives in the events alone (trail.h). Each of these calls may come twice with one
 * clientRequestId: the second appends nothing. Applying writes the document before the events, so that a call
 * that was cut short is completed by its repetition.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/direct.h"
#include "domain/scheduler/trail.h"

static size_t characters(str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.at[i] & 0xC0U) != 0x80U ? 1 : 0;
    return n;
}

static bool title_ok(str title)
{
    return title.len > 0 && characters(title) <= TITLE_MAX;
}

/* ---- steps ---- */

static bool read_trail(direct *d, const appointment *p, trail *ret)
{
    return direct_alone(d, "messages", p->id) && direct_went(d, trail_read(d->c.t, d->group, p->id, ret));
}

static json *open_json(arena *a, const proposal *open)
{
    return open != NULL ? proposal_json(a, open) : NULL;
}

static res answer_events(direct *d, const json *events, const proposal *open)
{
    json *body = call_ok(&d->c), *p = open_json(d->c.a, open);
    json_set_json(body, "appendedEvents", events);
    if (p != NULL)
        json_set_json(body, "proposal", p);
    else
        json_set_null(body, "proposal");
    return direct_answer(d, body);
}

/* The proposal that the action names, open: 404, 400. */
static bool active_proposal(direct *d, const trail *e, proposal *ret)
{
    if (!trail_proposal(e, ret))
        d->c.result = call_refuse(&d->c, 404, "proposal_not_found", NULL, "There is no open proposal");
    else if (!str_eq(ret->id, direct_text(d, "proposalId")))
        d->c.result = call_refuse(&d->c, 400, "proposal_not_active", NULL, "Another proposal is open");
    else
        return true;
    return false;
}

static bool value_ok(direct *d)
{
    if (title_ok(direct_text(d, "value")))
        return true;
    d->c.result = call_refuse(&d->c, 400, "invalid_title", NULL, "A title has 1 to %d characters", TITLE_MAX);
    return false;
}

static log_event proposal_event(direct *d, const char *type, str id, str from, str to)
{
    json *payload = json_object(d->c.a);
    json_set_str(payload, "proposalId", id);
    json_set_str(payload, "field", STR("title"));
    json_set_str(payload, "from", from);
    json_set_str(payload, "to", to);
    log_event e = direct_event(d, type, payload);
    e.proposal_id = id;
    return e;
}

/* ---- a message ---- */

static bool is_word_byte(char c)
{
    char low = str_lower_char(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* What follows the first of these phrases on its line: the title that is asked for; empty: none is. */
static str title_asked(str text)
{
    static const char *const phrases[] = {"update title to ", "change title to ", "rename to "};
    for (size_t i = 0; i < text.len; i++)
        for (size_t p = 0; p < sizeof phrases / sizeof *phrases; p++) {
            str phrase = str_of(phrases[p]), rest = str_from(text, i);
            if (!str_starts_nocase(rest, phrase) || (i > 0 && is_word_byte(text.at[i - 1])))
                continue;
            rest = str_from(rest, phrase.len);
            str title = str_trim(str_slice(rest, 0, str_find_char(rest, '\n')));
            return title_ok(title) ? title : (str){0};
        }
    return (str){0};
}

static res refuse_second(direct *d, const proposal *open)
{
    json *body = json_object(d->c.a);
    json_set_json(body, "pendingProposal", proposal_json(d->c.a, open));
    return call_refuse_with(&d->c, 400, "title_proposal_pending", NULL,
                            STR("A title proposal is open already"), body);
}

res direct_append_message(direct *d)
{
    appointment p;
    trail       all;
    proposal    open;
    log_event   list[2];
    size_t      count = 1;
    json       *events, *payload = json_object(d->c.a);
    str         text = direct_text(d, "text"), asked = direct_text(d, "clientRequestId");
    str         title = title_asked(text);
    if (!direct_appointment(d, &p) || !read_trail(d, &p, &all))
        return d->c.result;
    bool is_open = trail_proposal(&all, &open);
    if (trail_find(&all, asked, NULL) != NULL)
        return answer_events(d, json_array(d->c.a), is_open && str_eq(open.request, asked) ? &open : NULL);
    if (title.len > 0 && is_open)
        return refuse_second(d, &open);
    json_set_str(payload, "text", text);
    list[0] = direct_event(d, "USER_MESSAGE", payload);
    list[0].source = text;
    if (title.len > 0) {
        open = (proposal){.id = direct_new_id(d->c.a),
                          .from = p.title,
                          .to = title,
                          .created_at = call_now(d->c.a),
                          .by = direct_email(d)};
        list[count++] = proposal_event(d, "PROPOSAL_CREATED", open.id, open.from, open.to);
    }
    if (!direct_append(d, p.id, list, count, &events))
        return d->c.result;
    return answer_events(d, events, title.len > 0 ? &open : NULL);
}

/* ---- a proposal, applied ---- */

static bool title_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    (void)now, (void)ctx;
    e->change.set |= SET_TITLE;
    e->change.title = direct_text(d, "value");
    return true;
}

static json *field_changed(arena *a, str from, str to)
{
    json *payload = json_object(a);
    json_set_str(payload, "field", STR("title"));
    json_set_str(payload, "from", from);
    json_set_str(payload, "to", to);
    return payload;
}

static res answer_applied(direct *d, const json *events, const appointment *p)
{
    json *snapshot = NULL, *body = call_ok(&d->c);
    if (!direct_went(d, appointments_snapshot(d->c.t, d->group, &snapshot)))
        return d->c.result;
    json_set_str(body, "appointmentId", p->id);
    json_set_str(body, "title", p->title);
    json_set_json(body, "appendedEvents", events);
    json_set_null(body, "proposal");
    json_set_json(body, "snapshot", snapshot);
    return direct_answer(d, body);
}

res direct_apply_proposal(direct *d)
{
    appointment p, before, after;
    trail       all;
    proposal    open;
    log_event   list[5];
    json       *events;
    str         value = direct_text(d, "value"), asked = direct_text(d, "clientRequestId");
    if (!value_ok(d) || !direct_appointment(d, &p) || !read_trail(d, &p, &all))
        return d->c.result;
    if (trail_find(&all, asked, "PROPOSAL_APPLIED") != NULL)
        return answer_applied(d, json_array(d->c.a), &p);
    if (!active_proposal(d, &all, &open) ||
        !direct_change(d, direct_appointment, title_change, NULL, &before, &after))
        return d->c.result;
    list[0] = proposal_event(d, "PROPOSAL_APPLIED", open.id, open.from, value);
    list[1] = direct_event(d, "FIELD_CHANGED", field_changed(d->c.a, before.title, value));
    list[2] = direct_said(d, arena_strf(d->c.a, "Title is \"%.*s\" now.", STR_ARG(value)));
    size_t count = direct_reconciled(d, &before, &after, list, 3);
    if (!direct_append(d, p.id, list, count, &events))
        return d->c.result;
    return answer_applied(d, events, &after);
}

/* ---- edited, paused, resumed, dismissed ---- */

res direct_edit_proposal(direct *d)
{
    appointment p;
    trail       all;
    proposal    open;
    json       *events;
    str         value = direct_text(d, "value");
    if (!value_ok(d) || !direct_appointment(d, &p) || !read_trail(d, &p, &all) ||
        !active_proposal(d, &all, &open))
        return d->c.result;
    if (trail_find(&all, direct_text(d, "clientRequestId"), "PROPOSAL_EDITED") != NULL)
        return answer_events(d, json_array(d->c.a), &open);
    log_event e = proposal_event(d, "PROPOSAL_EDITED", open.id, open.to, value);
    if (!direct_append(d, p.id, &e, 1, &events))
        return d->c.result;
    open.to = value;
    return answer_events(d, events, &open);
}

/* Pausing what is paused, and resuming what is not, appends nothing. */
static res set_paused(direct *d, bool paused)
{
    appointment p;
    trail       all;
    proposal    open;
    json       *events = json_array(d->c.a);
    if (!direct_appointment(d, &p) || !read_trail(d, &p, &all) || !active_proposal(d, &all, &open))
        return d->c.result;
    if (open.paused != paused) {
        const char *type = paused ? "PROPOSAL_PAUSED" : "PROPOSAL_RESUMED";
        log_event   e = proposal_event(d, type, open.id, open.from, open.to);
        if (!direct_append(d, p.id, &e, 1, &events))
            return d->c.result;
        open.paused = paused;
    }
    return answer_events(d, events, &open);
}

res direct_pause_proposal(direct *d)
{
    return set_paused(d, true);
}

res direct_resume_proposal(direct *d)
{
    return set_paused(d, false);
}

res direct_dismiss_proposal(direct *d)
{
    appointment p;
    trail       all;
    proposal    open;
    json       *events;
    str         asked = direct_text(d, "clientRequestId");
    if (!direct_appointment(d, &p) || !read_trail(d, &p, &all))
        return d->c.result;
    if (trail_find(&all, asked, "PROPOSAL_CANCELED") != NULL)
        return answer_events(d, json_array(d->c.a), NULL);
    if (!active_proposal(d, &all, &open))
        return d->c.result;
    log_event e = proposal_event(d, "PROPOSAL_CANCELED", open.id, open.from, open.to);
    if (!direct_append(d, p.id, &e, 1, &events))
        return d->c.result;
    return answer_events(d, events, NULL);
}
