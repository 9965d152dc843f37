/* ignite_photo_http.c -- the faces at the table (§5: photo GET, POST).
 *
 * Everybody sends their own and sees those of all. What is stored, and what is sent, has the type of its
 * bytes, whatever was said of it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler.h"
#include "domain/scheduler/ignite.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"

enum { PERSON_ID_MAX = 128 };

static bool refuse(call *c, int status, const char *error, const char *message)
{
    c->result = call_refuse(c, status, error, NULL, "%s", message);
    return false;
}

/* ---- reading and storing ---- */

bool ignite_photo_read(call *c, str base64, str said_mime, image *ret)
{
    image_verdict v = image_from_base64(c->a, base64, ret);
    if (v == IMAGE_TOO_LARGE)
        return refuse(c, 413, "ignite_photo_too_large", "A photo may have at most 3 MiB");
    if (v != IMAGE_OK || (said_mime.len > 0 && image_type_of(said_mime) != ret->type))
        return refuse(c, 400, "invalid_photo", "The photo must be a JPEG, PNG or WebP image, as it says");
    return true;
}

static str photo_blob(arena *a, str group, str session, str person)
{
    return place_ignite_photo(a, group, session, person);
}

res ignite_photo_put(task *t, str group, str session, str person, const image *photo)
{
    blob_put how = {.content_type = str_of(image_mime(photo->type))};
    return blobs_put(t, sched_settings_get()->state, photo_blob(t->arena, group, session, person),
                     photo->bytes, &how, NULL);
}

/* ---- POST ---- */

typedef struct {
    str   group, session;
    image photo;
} sent;

static bool read_sent(call *c, sent *ret)
{
    str mime = call_text(c, "imageMime"), base64 = call_text(c, "imageBase64");
    *ret = (sent){.group = call_text(c, "groupId"), .session = call_text(c, "sessionId")};
    if (ret->group.len == 0)
        return refuse(c, 400, "groupId_required", "groupId is required");
    if (ret->session.len == 0)
        return refuse(c, 400, "sessionId_required", "sessionId is required");
    if (!str_starts_nocase(mime, STR("image/")))
        return refuse(c, 400, "invalid_image_mime", "imageMime must begin with image/");
    if (base64.len == 0)
        return refuse(c, 400, "invalid_scan_payload", "imageBase64 is required");
    return ignite_photo_read(c, base64, mime, &ret->photo);
}

static bool takes_photos(call *c, const sent *s)
{
    ignite i;
    if (!call_went(c, ignite_read(c->t, s->group, &i)))
        return false;
    return (ignite_is(&i, s->session) && ignite_takes_photos(&i)) ||
           refuse(c, 410, "ignite_closed", "Session closed");
}

/* The photo first, so that nobody is told of one that is not there yet. */
static res take(task *t, const request *in, reply *out)
{
    call           c;
    membership     m;
    sent           s;
    ignite_outcome outcome;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !read_sent(&c, &s) || !call_session(&c) ||
        !gate_pass(&c, s.group, ADMIT_ACTIVE, &m) || !takes_photos(&c, &s))
        return c.result;
    ignite_note n = {
        .session = s.session, .person = str_of(c.who.user_key), .photo = true, .now = call_now(c.a)};
    if (!call_went(&c, ignite_photo_put(t, s.group, s.session, n.person, &s.photo)) ||
        !ignite_went(&c, ignite_add(t, s.group, &n, &outcome)))
        return c.result;
    if (outcome != IGNITE_DONE)
        return call_refuse(&c, 410, "ignite_closed", NULL, "Session closed");
    json *body = call_ok(&c);
    json_set_str(body, "personId", n.person);
    json_set_str(body, "updatedAt", n.now);
    return call_answer(&c, 200, body);
}

/* ---- GET ---- */

static bool is_person_id(str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char ch = id.at[i];
        bool ok = (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                  ch == '-' || ch == '_';
        if (!ok)
            return false;
    }
    return id.len > 0 && id.len <= PERSON_ID_MAX;
}

typedef struct {
    str group, session, person;
} wanted;

static bool read_wanted(call *c, wanted *ret)
{
    *ret = (wanted){call_query(c, "groupId"), call_query(c, "sessionId"), call_query(c, "personId")};
    if (!call_is_uuid4(ret->group))
        return refuse(c, 400, "invalid_group_id", "groupId must be a UUID");
    if (ret->session.len == 0)
        return refuse(c, 400, "sessionId_required", "sessionId is required");
    if (ret->person.len == 0)
        return refuse(c, 400, "personId_required", "personId is required");
    return is_person_id(ret->person) ||
           refuse(c, 400, "invalid_person_id", "personId may have letters, digits, - and _ alone");
}

static bool read_photo(call *c, const wanted *w, image *ret)
{
    ignite   i;
    blob_got got;
    if (!call_went(c, ignite_read(c->t, w->group, &i)))
        return false;
    if (!ignite_is(&i, w->session))
        return refuse(c, 404, "ignite_not_found", "No such session");
    res  r = blobs_get(c->t, sched_settings_get()->state, photo_blob(c->a, w->group, w->session, w->person),
                       &(blob_get){.bytes_max = IMAGE_BYTES_MAX}, &got);
    bool none = r == RES_NOT_FOUND || r == RES_UNPROVISIONED || r == RES_TOO_LARGE;
    if (!none && !call_went(c, r))
        return false;
    task_forget(c->t);
    return (!none && image_from_bytes(got.body, ret) == IMAGE_OK) ||
           refuse(c, 404, "photo_not_found", "There is no photo of this person");
}

static res give(task *t, const request *in, reply *out)
{
    call       c;
    membership m;
    wanted     w;
    image      photo;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !read_wanted(&c, &w) || !call_session(&c) ||
        !gate_pass(&c, w.group, ADMIT_ACTIVE, &m) || !read_photo(&c, &w, &photo))
        return c.result;
    TRY(reply_bytes(out, 200, image_mime(photo.type), photo.bytes));
    TRY(reply_header(out, "Cache-Control", STR("private, max-age=300")));
    return reply_header(out, "X-Content-Type-Options", STR("nosniff"));
}

res sched_ignite_photo(task *t, const request *in, reply *out)
{
    return str_eq(request_method(in), STR("POST")) ? take(t, in, out) : give(t, in, out);
}
