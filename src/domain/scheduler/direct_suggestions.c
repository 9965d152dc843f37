/* direct_suggestions.c -- members suggest a title, a time or a place; others react; somebody applies one
 * (§6.5).
 *
 * They stand in the document: suggestions {byField: {title: [{suggestionId, field, value, status, conflicted,
 * proposerEmail, createdAt, expiresAt, reactions: {"ann@x.org": "up"}}]}}. One that has expired is still
 * listed, but no longer active. Of each field the newest KEPT_MAX stay.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "domain/scheduler/direct.h"

enum { ACTIVE_MAX = 3, KEPT_MAX = 60, DAYS_MAX = 3 };

typedef enum { CREATES, DISMISSES, REACTS, APPLIES } wish;

typedef struct {
    wish            what;
    str             id, email, field, value;
    const json_val *found; /* the one that is meant, as it was */
    str             previous;
} step;

static const char *const fields[] = {"title", "time", "location"};
enum { FIELDS = sizeof fields / sizeof *fields };

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

static bool is_active(const json_val *s)
{
    int64_t until;
    return str_eq(text_of(s, "status"), STR("active")) &&
           (!iso8601_parse(text_of(s, "expiresAt"), &until) || until > clock_wall_us());
}

static const json_val *list_of(const appointment *now, const char *field)
{
    return json_get(json_get(json_get(now->doc, "suggestions"), "byField"), field);
}

static const json_val *find(const appointment *now, str id)
{
    for (int f = 0; f < FIELDS; f++)
        for (json_iter it = json_each(list_of(now, fields[f])); json_next(&it);)
            if (str_eq(text_of(it.value, "suggestionId"), id))
                return it.value;
    return NULL;
}

/* ---- may it be? ---- */

static bool refuse(direct *d, int status, const char *error, const char *message)
{
    d->c.result = call_refuse(&d->c, status, error, NULL, "%s", message);
    return false;
}

static bool room_for_one(direct *d, const appointment *now, const step *s)
{
    int n = 0;
    for (json_iter it = json_each(list_of(now, arena_cstr(d->c.a, s->field))); json_next(&it);)
        n += is_active(it.value) && str_eq(text_of(it.value, "proposerEmail"), s->email) &&
                     !str_eq(text_of(it.value, "suggestionId"), s->id)
                 ? 1
                 : 0;
    return n < ACTIVE_MAX ||
           refuse(d, 400, "suggestion_limit_exceeded", "At most 3 active suggestions of a member and field");
}

static bool look_up(direct *d, const appointment *now, step *s)
{
    s->found = find(now, s->id);
    if (s->found == NULL || !is_active(s->found))
        return refuse(d, 404, "suggestion_not_found", "Suggestion not found");
    s->field = text_of(s->found, "field");
    s->value = text_of(s->found, "value");
    return s->what != DISMISSES || str_eq(text_of(s->found, "proposerEmail"), s->email) ||
           refuse(d, 403, "not_suggestion_proposer", "Only who made a suggestion can dismiss it");
}

/* ---- the lists as they will be ---- */

static str status_after(const json_val *v, const step *s)
{
    bool it_is = s->what != CREATES && str_eq(text_of(v, "suggestionId"), s->id);
    if (it_is && s->what == DISMISSES)
        return STR("dismissed");
    if (it_is && s->what == APPLIES)
        return STR("applied");
    return str_eq(text_of(v, "status"), STR("active")) && !is_active(v) ? STR("expired")
                                                                        : text_of(v, "status");
}

static void copy_one(direct *d, json *v, const json_val *from, const step *s)
{
    for (json_iter it = json_each(from); json_next(&it);)
        json_set_val(v, arena_cstr(d->c.a, it.key), it.value);
    json_set_str(v, "status", status_after(from, s));
    if (s->what != REACTS || !str_eq(text_of(from, "suggestionId"), s->id))
        return;
    json *reactions = json_set_object(v, "reactions");
    for (json_iter it = json_each(json_get(from, "reactions")); json_next(&it);)
        json_set_str_at(reactions, it.key, json_text(it.value, (str){0}));
    json_set_str_at(reactions, s->email, direct_text(d, "reaction"));
}

static void add_new(direct *d, json *v, const step *s)
{
    int64_t until = clock_wall_us() + (int64_t)DAYS_MAX * 24 * 3600 * 1000000;
    json_set_str(v, "suggestionId", s->id);
    json_set_str(v, "field", s->field);
    json_set_str(v, "value", s->value);
    json_set_str(v, "status", STR("active"));
    json_set_str(v, "proposerEmail", s->email);
    json_set_str(v, "createdAt", call_now(d->c.a));
    json_set_str(v, "expiresAt", iso8601_arena(d->c.a, until, 3));
    (void)json_set_object(v, "reactions"); /* none yet */
}

static bool stays_active(const json_val *v, const step *s)
{
    return str_eq(status_after(v, s), STR("active"));
}

/* Two active ones of a field that want different things. */
static bool is_conflicted(const json_val *list, const step *s, bool adds)
{
    str  first = adds ? s->value : (str){0};
    bool any = adds;
    for (json_iter it = json_each(list); json_next(&it);) {
        if (!stays_active(it.value, s))
            continue;
        if (any && !str_eq_nocase(first, text_of(it.value, "value")))
            return true;
        first = text_of(it.value, "value");
        any = true;
    }
    return false;
}

static void write_field(direct *d, json *out, const json_val *list, const char *field, const step *s)
{
    bool   adds = s->what == CREATES && str_eq(s->field, str_of(field));
    bool   conflicted = is_conflicted(list, s, adds);
    size_t len = json_len(list), room = KEPT_MAX - (adds ? 1 : 0), i = 0;
    for (json_iter it = json_each(list); json_next(&it); i++) {
        bool surplus = len - i > room && !stays_active(it.value, s);
        bool again = adds && str_eq(text_of(it.value, "suggestionId"), s->id); /* of a try that was torn */
        if (surplus || again)
            continue;
        json *v = json_push_object(out);
        copy_one(d, v, it.value, s);
        json_set_bool(v, "conflicted", conflicted && stays_active(it.value, s));
    }
    if (!adds)
        return;
    json *v = json_push_object(out);
    add_new(d, v, s);
    json_set_bool(v, "conflicted", conflicted);
}

/* ---- applied: the field itself ---- */

static bool apply_time(direct *d, const appointment *now, const step *s, direct_edit *e)
{
    when_parse(d->c.a, s->value, direct_zone_of(now), clock_wall_us(), &e->change.time);
    if (e->change.time.status == TIME_UNRESOLVED)
        return refuse(d, 400, "suggestion_time_unresolved", "The suggested time cannot be read");
    e->change.set |= SET_TIME;
    return true;
}

static bool apply_field(direct *d, const appointment *now, step *s, direct_edit *e)
{
    str place = text_of(now->doc, "locationDisplay");
    if (str_eq(s->field, STR("time"))) {
        s->previous = now->time.original;
        return apply_time(d, now, s, e);
    }
    bool title = str_eq(s->field, STR("title"));
    s->previous = title ? now->title : place;
    e->change.set |= title ? SET_TITLE : SET_LOCATION;
    if (title)
        e->change.title = s->value;
    else
        e->change.location = s->value;
    return true;
}

static bool list_change(direct *d, const appointment *now, void *ctx, direct_edit *e)
{
    step *s = ctx;
    if (s->what == CREATES ? !room_for_one(d, now, s) : !look_up(d, now, s))
        return false;
    if (s->what == APPLIES && !apply_field(d, now, s, e))
        return false;
    json *by_field = json_set_object(json_set_object(e->more, "suggestions"), "byField");
    for (int f = 0; f < FIELDS; f++)
        write_field(d, json_set_array(by_field, fields[f]), list_of(now, fields[f]), fields[f], s);
    e->change.set |= SET_MORE;
    return true;
}

/* ---- the actions ---- */

static log_event event_of(direct *d, const step *s, const char *type)
{
    json *payload = json_object(d->c.a);
    json_set_str(payload, "suggestionId", s->id);
    json_set_str(payload, "field", s->field);
    json_set_str(payload, "value", s->value);
    if (s->what == REACTS)
        json_set_str(payload, "reaction", direct_text(d, "reaction"));
    return direct_event(d, type, payload);
}

static log_event changed_event(direct *d, const step *s)
{
    json *payload = json_object(d->c.a);
    json_set_str(payload, "field", s->field);
    json_set_str(payload, "from", s->previous);
    json_set_str(payload, "to", s->value);
    return direct_event(d, "FIELD_CHANGED", payload);
}

static res answer(direct *d, const appointment *after, const step *s, const json *events)
{
    json *body = call_ok(&d->c);
    json_set_str(body, "suggestionId", s->id);
    json_set_val(body, "suggestions", json_get(after->doc, "suggestions"));
    json_set_json(body, "appendedEvents", events);
    return direct_answer(d, body);
}

static res run(direct *d, step *s, const char *type)
{
    appointment before, after;
    log_event   list[5];
    size_t      count = 0;
    json       *events;
    s->email = direct_email(d);
    if (!direct_change(d, direct_appointment, list_change, s, &before, &after))
        return d->c.result;
    list[count++] = event_of(d, s, type);
    if (s->what == APPLIES) {
        list[count++] = changed_event(d, s);
        list[count++] =
            direct_said(d, arena_strf(d->c.a, "The suggested %.*s was taken.", STR_ARG(s->field)));
    }
    count = direct_reconciled(d, &before, &after, list, count);
    return direct_append(d, after.id, list, count, &events) ? answer(d, &after, s, events) : d->c.result;
}

res direct_create_suggestion(direct *d)
{
    step s = {.what = CREATES,
              .id = direct_new_id(d->c.a),
              .field = direct_text(d, "field"),
              .value = direct_text(d, "value")};
    if (str_eq(s.field, STR("title")) && entity_utf16_units(s.value) > TITLE_MAX)
        return call_refuse(&d->c, 400, "invalid_title", NULL, "A title has at most %d characters", TITLE_MAX);
    return run(d, &s, "SUGGESTION_CREATED");
}

res direct_dismiss_suggestion(direct *d)
{
    step s = {.what = DISMISSES, .id = direct_text(d, "suggestionId")};
    return run(d, &s, "SUGGESTION_DISMISSED");
}

res direct_react_suggestion(direct *d)
{
    step s = {.what = REACTS, .id = direct_text(d, "suggestionId")};
    return run(d, &s, "SUGGESTION_REACTED");
}

res direct_apply_suggestion(direct *d)
{
    step s = {.what = APPLIES, .id = direct_text(d, "suggestionId")};
    return run(d, &s, "SUGGESTION_APPLIED");
}
