/* trail.c -- see trail.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/trail.h"

enum { PAGE = 200 };

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

static bool is(const json_val *event, const char *type)
{
    return str_eq(text_of(event, "type"), str_of(type));
}

static const json_val *payload_of(const json_val *event)
{
    return json_get(event, "payload");
}

res trail_read(task *t, str group, str appointment, trail *ret)
{
    unsigned chunk = 0, index = 0;
    trail    all = {.at = (const json_val **)arena_zalloc_array(t->arena, TRAIL_MAX, sizeof *all.at)};
    do {
        events_page page;
        TRY(events_read(t, group, appointment, chunk, index, PAGE, &page));
        for (size_t i = 0; i < page.count && all.count < TRAIL_MAX; i++)
            all.at[all.count++] = page.at[i];
        chunk = page.next_chunk;
        index = page.next_index;
    } while (chunk != 0 && all.count < TRAIL_MAX);
    *ret = all;
    return RES_OK;
}

const json_val *trail_find(const trail *e, str request_id, const char *type)
{
    for (size_t i = 0; request_id.len > 0 && i < e->count; i++)
        if (str_eq(text_of(e->at[i], "clientRequestId"), request_id) && (type == NULL || is(e->at[i], type)))
            return e->at[i];
    return NULL;
}

/* ---- the title proposal ---- */

static str proposal_of(const json_val *event)
{
    str id = text_of(event, "proposalId");
    return id.len > 0 ? id : text_of(payload_of(event), "proposalId");
}

/* From the newest event backwards: the first that says whether it is paused, and what its value is, counts;
 * one that closes it ends the search, for there is one proposal at a time. */
bool trail_proposal(const trail *e, proposal *ret)
{
    str  to = {0};
    bool paused = false, paused_known = false;
    for (size_t i = 0; i < e->count; i++) {
        const json_val *v = e->at[i];
        if (is(v, "PROPOSAL_APPLIED") || is(v, "PROPOSAL_CANCELED"))
            return false;
        if (!paused_known && (is(v, "PROPOSAL_PAUSED") || is(v, "PROPOSAL_RESUMED"))) {
            paused = is(v, "PROPOSAL_PAUSED");
            paused_known = true;
        }
        if (to.len == 0 && is(v, "PROPOSAL_EDITED"))
            to = text_of(payload_of(v), "to");
        if (!is(v, "PROPOSAL_CREATED"))
            continue;
        *ret = (proposal){.id = proposal_of(v),
                          .from = text_of(payload_of(v), "from"),
                          .to = to.len > 0 ? to : text_of(payload_of(v), "to"),
                          .created_at = text_of(v, "tsUtc"),
                          .by = text_of(json_get(v, "actor"), "email"),
                          .request = text_of(v, "clientRequestId"),
                          .paused = paused};
        return true;
    }
    return false;
}

json *proposal_json(arena *a, const proposal *p)
{
    json *v = json_object(a);
    json_set_str(v, "proposalId", p->id);
    json_set_str(v, "field", STR("title"));
    json_set_str(v, "from", p->from);
    json_set_str(v, "to", p->to);
    json_set_str(v, "status", p->paused ? STR("paused") : STR("pending"));
    json_set_str(v, "createdAt", p->created_at);
    json_set_str(v, "createdBy", p->by);
    return v;
}

/* ---- reminders ---- */

static reminder *find_reminder(reminder *list, size_t count, str id)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].id, id))
            return &list[i];
    return NULL;
}

static void note_end(reminder *r, const json_val *event)
{
    if (r == NULL || !reminder_is_scheduled(r))
        return;
    if (is(event, "REMINDER_CANCELED"))
        r->status = STR("canceled");
    else if (is(event, "REMINDER_SENT"))
        r->status = text_of(payload_of(event), "deliveryStatus");
}

size_t trail_reminders(arena *a, const trail *e, reminder **ret)
{
    size_t    count = 0;
    reminder *list = arena_array(a, reminder, e->count);
    for (size_t i = e->count; i-- > 0;) {
        const json_val *v = e->at[i], *p = payload_of(v);
        str             id = text_of(p, "reminderId");
        if (is(v, "REMINDER_SCHEDULED") && id.len > 0)
            list[count++] = (reminder){.id = id,
                                       .due_at = text_of(p, "dueAtIso"),
                                       .message = text_of(p, "message"),
                                       .created_at = text_of(v, "tsUtc"),
                                       .by = text_of(json_get(v, "actor"), "email"),
                                       .request = text_of(v, "clientRequestId"),
                                       .offset_minutes = json_int(json_get(p, "offsetMinutes"), 0),
                                       .status = STR("scheduled")};
        else
            note_end(find_reminder(list, count, id), v);
    }
    *ret = list;
    return count;
}

bool reminder_is_scheduled(const reminder *r)
{
    return str_eq(r->status, STR("scheduled"));
}

void reminder_fill(json *v, const reminder *r)
{
    json_set_str(v, "reminderId", r->id);
    json_set_int(v, "offsetMinutes", r->offset_minutes);
    json_set_str(v, "dueAtIso", r->due_at);
    if (r->message.len > 0)
        json_set_str(v, "message", r->message);
    json_set_str(v, "status", r->status);
    json_set_str(v, "createdAt", r->created_at);
    json_set_str(v, "createdBy", r->by);
}
