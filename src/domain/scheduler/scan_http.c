/* scan_http.c -- appointments from pictures (§4.4: 24 to 27).
 *
 * A picture is kept under the appointment that it became; when it became several, each has a copy. The first
 * copy is stored before the model is asked, so that nothing is paid for what cannot be kept, and removed
 * again when no appointment came of it.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/id.h"
#include "domain/scheduler.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/scan.h"
#include "domain/scheduler/settings.h"

enum { US_PER_MS = 1000 };

/* ---- what was sent ---- */

static bool refuse(call *c, int status, const char *error, const char *message)
{
    c->result = call_refuse(c, status, error, NULL, "%s", message);
    return false;
}

static bool check_group_id(call *c, str group)
{
    return call_is_uuid4(group) || refuse(c, 400, "invalid_group_id", "groupId must be a group's id");
}

static bool read_picture(call *c, image *ret)
{
    image_type said = image_type_of(call_text(c, "imageMime"));
    if (said == IMAGE_NONE)
        return refuse(c, 400, "invalid_scan_payload",
                      "imageMime must be image/jpeg, image/png or image/webp");
    switch (image_from_base64(c->a, call_text(c, "imageBase64"), ret)) {
    case IMAGE_OK:
        return ret->type == said ||
               refuse(c, 400, "invalid_scan_payload", "The picture is not of the type that imageMime says");
    case IMAGE_BLANK:
        return refuse(c, 400, "invalid_scan_payload", "imageBase64 is required");
    case IMAGE_MALFORMED:
        return refuse(c, 400, "invalid_image_base64", "imageBase64 must be base64, or a data URL of it");
    case IMAGE_TOO_LARGE:
        return refuse(c, 413, "image_too_large", "The picture must have at most 3 MiB");
    case IMAGE_FOREIGN:
    case IMAGE_LIES:
        break;
    }
    return refuse(c, 400, "invalid_scan_payload", "The picture must be JPEG, PNG or WebP");
}

static const zone *zone_of(const call *c)
{
    const zone *z = zone_find(call_text(c, "timezone"));
    if (z == NULL)
        z = zone_find(sched_settings_get()->zone);
    return z != NULL ? z : zone_find(STR("UTC"));
}

static actor actor_of(call *c)
{
    return (actor){str_of(c->who.user_key), auth_member_key(c->a, &c->who)};
}

/* ---- a scan ---- */

typedef struct {
    call       *c;
    str         group, now;
    const zone *z;
    image       picture;
    actor       by;
    str         first_id, first_key; /* the picture's first place */
    bool        first_used;
    size_t      extracted, created;
    json       *body, *ids, *errors;
    str         first_created;
    res         last_failure;
} scanning;

static str new_id(arena *a)
{
    char uuid[UUID_TEXT + 1];
    str  random = id_uuid(uuid);
    return arena_strf(a, "%lld-%.*s", (long long)(clock_wall_us() / US_PER_MS), STR_ARG(random));
}

static void note_error(scanning *s, size_t i, const char *reason)
{
    if (s->errors == NULL)
        s->errors = json_set_array(s->body, "errors");
    json *v = json_push_object(s->errors);
    json_set_int(v, "index", (int64_t)i);
    json_set_str(v, "reason", str_of(reason));
}

/* Picture first, so that a document never names one that is not there. */
static res persist(task *t, scanning *s, const scan_fields *f)
{
    appointment        p;
    appointment_change change;
    str                key = s->first_key, id = s->first_used ? new_id(t->arena) : s->first_id;
    if (s->first_used)
        TRY(scan_store_image(t, s->group, id, &s->picture, &key));
    s->first_used = true;
    scan_change(t->arena, f, s->z, true, &change);
    change.set |= SET_SCAN;
    change.scan_status = STR("parsed");
    change.scan_key = key;
    change.scan_mime = str_of(image_mime(s->picture.type));
    change.scan_captured_at = s->now;
    res r = appointment_create(t, s->group, id, &change, &s->by, &p);
    if (r != RES_OK)
        return r;
    s->first_created = s->created++ == 0 ? p.id : s->first_created;
    json_push_str(s->ids, p.id);
    return RES_OK;
}

/* False: the task was stopped. */
static bool take_item(scanning *s, size_t i, const json_val *item)
{
    task       *t = s->c->t;
    scan_fields f;
    const char *reason = scan_read_item(t->arena, item, &f);
    if (reason != NULL) {
        note_error(s, i, reason);
        return true;
    }
    res r = persist(t, s, &f);
    if (r == RES_OK)
        return true;
    if (task_stopped(t) != RES_OK || r == RES_MEMORY)
        return call_went(s->c, r);
    task_forget(t);
    s->last_failure = r;
    note_error(s, i, "persist_failed");
    return true;
}

static res answer_scan(scanning *s)
{
    call       *c = s->c;
    const char *none = s->extracted == 0 ? "no_appointments_found" : "no_valid_appointments_found";
    json_set_int(s->body, "extractedCount", (int64_t)s->extracted);
    if (s->created == 0) {
        scan_drop_image(c->t, s->first_key);
        if (s->errors == NULL)
            s->errors = json_set_array(s->body, "errors");
        return call_refuse_with(c, 422, none, NULL, STR("No appointment was found in this picture"), s->body);
    }
    json_set_str(s->body, "appointmentId", s->first_created);
    json_set_bool(s->body, "ok", true);
    return call_answer(c, 200, s->body);
}

static bool store_first(scanning *s)
{
    call *c = s->c;
    s->first_id = new_id(c->a);
    res r = scan_store_image(c->t, s->group, s->first_id, &s->picture, &s->first_key);
    if (r == RES_OK)
        return true;
    if (task_stopped(c->t) != RES_OK || r == RES_MEMORY)
        return call_went(c, r);
    task_forget(c->t);
    return refuse(c, 500, "scan_putBinary_failed", "The picture could not be stored");
}

/* The message of a failed question names no picture, no key and no prompt (ai.h). */
static bool ask(scanning *s, const json_val **ret)
{
    call *c = s->c;
    res   r = scan_ask(c->t, s->by.user_key, s->z, &s->picture, ret);
    if (r == RES_OK)
        return true;
    if (task_stopped(c->t) != RES_OK || r == RES_MEMORY)
        return call_went(c, r);
    str why = arena_copy(c->a, task_message(c->t));
    task_forget(c->t);
    scan_drop_image(c->t, s->first_key);
    c->result = call_refuse_with(c, 502, "scan_parse_failed", NULL, why, NULL);
    return false;
}

static res scan(call *c, str group, const image *picture)
{
    const json_val *answer, *items[SCAN_ITEMS_MAX];
    scanning        s = {.c = c, .group = group, .z = zone_of(c), .picture = *picture, .by = actor_of(c)};
    s.now = call_now(c->a);
    s.body = json_object(c->a);
    s.ids = json_set_array(s.body, "appointmentIds");
    if (!store_first(&s) || !ask(&s, &answer))
        return c->result;
    s.extracted = scan_items(answer, items);
    for (size_t i = 0; i < s.extracted; i++)
        if (!take_item(&s, i, items[i]))
            return c->result;
    if (s.created == 0 && s.last_failure != RES_OK) {
        scan_drop_image(c->t, s.first_key);
        (void)call_went(c, s.last_failure); /* it is a failure: this answers */
        return c->result;
    }
    return answer_scan(&s);
}

static void name_trace(call *c)
{
    if (call_text(c, "traceId").len == 0 && call_query(c, "traceId").len == 0)
        c->trace = arena_strf(c->a, "scan-%.*s", STR_ARG(c->trace));
}

res sched_scan(task *t, const request *in, reply *out)
{
    static const call_bad_json bad = {"invalid_json", NULL};
    call                       c;
    membership                 m;
    image                      picture;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, &bad))
        return c.result;
    name_trace(&c);
    str group = call_text(&c, "groupId");
    if (!check_group_id(&c, group) || !read_picture(&c, &picture) || !call_session(&c) ||
        !gate_pass(&c, group, ADMIT_ACTIVE, &m))
        return c.result;
    return scan(&c, group, &picture);
}

/* ---- one appointment ---- */

static res not_found(call *c)
{
    task_forget(c->t);
    return call_refuse(c, 404, "not_found", NULL, "Not found");
}

static bool open_appointment(call *c, str group, str id, appointment *ret)
{
    membership m;
    if (!call_session(c) || !gate_pass(c, group, ADMIT_ACTIVE, &m))
        return false;
    res r = appointment_read(c->t, group, id, false, ret);
    if (r != RES_NOT_FOUND)
        return call_went(c, r);
    c->result = not_found(c);
    return false;
}

static str text_of(const json_val *doc, const char *name)
{
    return json_text(json_get(doc, name), (str){0});
}

/* A document names pictures of its own group alone, whoever wrote it. */
static bool is_of_group(arena *a, str key, str group)
{
    str state = place_state_blob(a, group);
    return str_starts(key, str_slice(state, 0, state.len - STR("state.json").len)) &&
           !str_has(key, STR("/../"));
}

static res answer_image(call *c, const appointment *p)
{
    blob_got   got;
    str        key = text_of(p->doc, "scanImageKey");
    image_type said = image_type_of(text_of(p->doc, "scanImageMime"));
    if (key.len == 0 || !is_of_group(c->a, key, p->group))
        return not_found(c);
    res r = blobs_get(c->t, sched_settings_get()->documents, key, &(blob_get){.bytes_max = IMAGE_BYTES_MAX},
                      &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED)
        return not_found(c);
    if (!call_went(c, r))
        return c->result;
    TRY(reply_header(c->out, "Cache-Control", STR("private, max-age=300")));
    TRY(reply_header(c->out, "X-Content-Type-Options", STR("nosniff")));
    return reply_bytes(c->out, 200, image_mime(said != IMAGE_NONE ? said : image_sniff(got.body)), got.body);
}

res sched_scan_image(task *t, const request *in, reply *out)
{
    call        c;
    appointment p;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str group = call_query(&c, "groupId"), id = call_query(&c, "appointmentId");
    if (!check_group_id(&c, group))
        return c.result;
    if (id.len == 0)
        return call_refuse(&c, 400, "appointment_required", NULL, "appointmentId is required");
    return open_appointment(&c, group, id, &p) ? answer_image(&c, &p) : c.result;
}

/* ---- delete ---- */

res sched_scan_delete(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    bool       was;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str group = call_text(&c, "groupId"), id = call_text(&c, "appointmentId");
    if (!check_group_id(&c, group))
        return c.result;
    if (id.len == 0)
        return call_refuse(&c, 400, "appointment_required", NULL, "appointmentId is required");
    if (!call_session(&c) || !gate_pass(&c, group, ADMIT_ACTIVE, &m))
        return c.result;
    actor by = actor_of(&c);
    res   r = appointment_delete(t, group, id, &by, &was);
    if (r == RES_NOT_FOUND)
        return not_found(&c);
    return call_went(&c, r) ? call_answer(&c, 200, call_ok(&c)) : c.result;
}

/* ---- rescan ---- */

static res begin_rescan(call *c, const appointment *before, const image *picture)
{
    appointment        p;
    actor              by = actor_of(c);
    appointment_change change = {.set = SET_SCAN,
                                 .scan_status = STR("pending"),
                                 .scan_mime = str_of(image_mime(picture->type)),
                                 .scan_captured_at = call_now(c->a)};
    TRY(scan_store_image(c->t, before->group, before->id, picture, &change.scan_key));
    TRY(appointment_update(c->t, before->group, before->id, &change, &by, &p));
    res r = scan_read_later(&p, &by, zone_of(c));
    if (r == RES_OK)
        return r;
    change = (appointment_change){.set = SET_SCAN, .scan_status = STR("failed")};
    TRY(appointment_update(c->t, before->group, before->id, &change, &by, &p));
    return task_fail(c->t, r, "the scan cannot be read now");
}

res sched_scan_rescan(task *t, const request *in, reply *out)
{
    call        c;
    image       picture;
    appointment p;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str group = call_text(&c, "groupId"), id = call_text(&c, "appointmentId");
    if (!check_group_id(&c, group))
        return c.result;
    if (id.len == 0)
        return call_refuse(&c, 400, "invalid_scan_payload", NULL, "appointmentId is required");
    if (!read_picture(&c, &picture) || !open_appointment(&c, group, id, &p))
        return c.result;
    res r = begin_rescan(&c, &p, &picture);
    if (r == RES_NOT_FOUND) /* deleted meanwhile */
        return not_found(&c);
    return call_went(&c, r) ? call_answer(&c, 200, call_ok(&c)) : c.result;
}
