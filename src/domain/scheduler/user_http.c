/* user_http.c -- a person's own things: profile, photo, preferences (§4.2: 6 to 11).
 *
 * A guest's address is not verified. So what a guest reads and writes is the guest's own profile, and never
 * what lies under the address.
 *
 * SPDX-License-Identifier: MIT */
#include "core/id.h"
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/form_data.h"
#include "domain/scheduler/image.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"

enum { META_MAX = 4 * KIB, PREFS_MAX = 256 * KIB, MUTED_MAX = 500, SAVES_MAX = 4 };

static bool is_get(const request *in)
{
    return str_eq(request_method(in), STR("GET"));
}

static container photos(void)
{
    return sched_settings_get()->state;
}

/* Beside the photo: when it was stored. */
static str meta_of(arena *a, str photo)
{
    str stem = str_slice(photo, 0, photo.len - STR(".jpg").len);
    return arena_strf(a, "%.*s.json", STR_ARG(stem));
}

/* ---- the profile ---- */

static res photo_time(task *t, str photo, str *ret)
{
    blob_got        got;
    const json_val *doc;
    *ret = (str){0};
    if (!str_ends(photo, STR(".jpg")))
        return RES_OK;
    res r = blobs_get(t, photos(), meta_of(t->arena, photo), &(blob_get){.bytes_max = META_MAX}, &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED || r == RES_TOO_LARGE) {
        task_forget(t);
        return RES_OK;
    }
    if (r == RES_OK && json_parse(t->arena, got.body, &doc, NULL) == RES_OK)
        *ret = json_text(json_get(doc, "updatedAtUtc"), (str){0});
    return r;
}

static res answer_profile(call *c)
{
    profile p = {0};
    str     at = {0};
    res     r = profile_read(c->t, auth_member_key(c->a, &c->who), &p);
    if (r == RES_NOT_FOUND) {
        task_forget(c->t);
        r = RES_OK;
    }
    if (r == RES_OK && p.photo_key.len > 0)
        r = photo_time(c->t, p.photo_key, &at);
    if (!call_went(c, r))
        return c->result;
    json *body = call_ok(c);
    json_set_str(body, "email", c->who.email);
    json_set_str(body, "displayName", p.display_name);
    json_set_bool(body, "hasPhoto", p.photo_key.len > 0);
    if (at.len > 0)
        json_set_str(body, "photoUpdatedAt", at);
    return call_answer(c, 200, body);
}

static res put_profile(call *c)
{
    str name = call_collapsed(c, "displayName");
    if (!display_name_ok(name)) {
        json *body = json_object(c->a);
        json_set_str(body, "field", STR("displayName"));
        return call_refuse_with(c, 400, "VALIDATION_ERROR", NULL,
                                STR("displayName must have 1 to 40 characters"), body);
    }
    if (!call_session(c) || !places_ready(c))
        return c->result;
    profile changes = {.display_name = name, .email = c->who.email};
    if (!call_went(c, profile_write(c->t, auth_member_key(c->a, &c->who), &changes, NULL)))
        return c->result;
    return answer_profile(c);
}

res sched_user_profile(task *t, const request *in, reply *out)
{
    static const call_bad_json bad = {"VALIDATION_ERROR", NULL};
    call                       c;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, &bad))
        return c.result;
    if (!is_get(in))
        return put_profile(&c);
    return call_session(&c) && places_ready(&c) ? answer_profile(&c) : c.result;
}

/* ---- the photo ---- */

/* Of the types that a profile's photo may have. */
static image_type photo_type(str mime)
{
    image_type type = image_type_of(mime);
    return type == IMAGE_JPEG || type == IMAGE_PNG ? type : IMAGE_NONE;
}

static bool refuse_photo(call *c, int status, const char *error, const char *message)
{
    c->result = call_refuse(c, status, error, NULL, "%s", message);
    return false;
}

/* The part named "file": what it says it is, it must be. */
static bool read_photo(call *c, image *ret)
{
    form_data form;
    if (!form_data_read(request_header(c->in, "Content-Type"), request_body(c->in), &form))
        return refuse_photo(c, 400, "invalid_multipart", "The body must be multipart/form-data");
    const form_part *file = form_data_find(&form, STR("file"));
    if (file == NULL || file->body.len == 0)
        return refuse_photo(c, 400, "missing_file", "A part named 'file' is required");
    if (photo_type(file->type) == IMAGE_NONE)
        return refuse_photo(c, 400, "invalid_image_mime", "The photo must be JPEG or PNG");
    image_verdict v = image_from_bytes(file->body, ret);
    if (v == IMAGE_TOO_LARGE)
        return refuse_photo(c, 413, "image_too_large", "The photo must have at most 3 MiB");
    if (v != IMAGE_OK || ret->type != photo_type(file->type))
        return refuse_photo(c, 400, "invalid_image_mime",
                            "The photo is not of the type that it is said to be");
    return true;
}

/* The profile names the photo when it is there, and not before. */
static res store_photo(call *c, const image *photo, str now)
{
    str   name = place_profile_photo(c->a, str_of(c->who.user_key));
    json *meta = json_object(c->a);
    json_set_str(meta, "updatedAtUtc", now);
    blob_put how = {.content_type = str_of(image_mime(photo->type))};
    TRY(blobs_put(c->t, photos(), name, photo->bytes, &how, NULL));
    how.content_type = STR("application/json");
    TRY(blobs_put(c->t, photos(), meta_of(c->a, name), json_print(c->a, meta), &how, NULL));
    profile changes = {.photo_key = name, .email = c->who.email};
    return profile_write(c->t, auth_member_key(c->a, &c->who), &changes, NULL);
}

static res put_photo(call *c)
{
    image photo;
    if (!call_full_session(c) || !read_photo(c, &photo) || !places_ready(c))
        return c->result;
    str now = call_now(c->a);
    if (!call_went(c, store_photo(c, &photo, now)))
        return c->result;
    json *body = call_ok(c);
    json_set_str(body, "updatedAtUtc", now);
    return call_answer(c, 200, body);
}

/* Served as what its bytes are; a browser must not think otherwise. */
static res answer_photo(call *c, str bytes)
{
    TRY(reply_bytes(c->out, 200, image_mime(image_sniff(bytes)), bytes));
    TRY(reply_header(c->out, "Cache-Control", STR("private, max-age=31536000")));
    return reply_header(c->out, "X-Content-Type-Options", STR("nosniff"));
}

static res get_photo(call *c)
{
    blob_got got;
    res      r = RES_NOT_FOUND;
    if (!call_session(c))
        return c->result;
    if (c->who.kind != SESSION_GRACE)
        r = blobs_get(c->t, photos(), place_profile_photo(c->a, str_of(c->who.user_key)), &(blob_get){0},
                      &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(c->t);
        return call_refuse(c, 404, "profile_photo_not_found", NULL, "There is no photo");
    }
    return call_went(c, r) ? answer_photo(c, got.body) : c->result;
}

res sched_user_photo(task *t, const request *in, reply *out)
{
    call c;
    call_begin_bytes(&c, t, in, out, TRACE_CLIENT);
    return is_get(in) ? get_photo(&c) : put_photo(&c);
}

/* ---- preferences ---- */

typedef struct {
    bool   updates_set, muted_set; /* in a request: which of the two it is about */
    bool   updates;                /* emailUpdatesEnabled */
    str   *muted;
    size_t muted_len;
} prefs;

typedef struct {
    prefs p;
    str   etag; /* empty: there is no such blob */
} stored_prefs;

static bool has_id(const prefs *p, str id)
{
    for (size_t i = 0; i < p->muted_len; i++)
        if (str_eq(p->muted[i], id))
            return true;
    return false;
}

/* UUIDs in lower case, each once. */
static bool read_muted(arena *a, const json_val *list, prefs *ret)
{
    if (json_typeof(list) != JSON_ARRAY || json_len(list) > MUTED_MAX)
        return false;
    ret->muted = arena_array(a, str, json_len(list));
    ret->muted_len = 0;
    for (json_iter it = json_each(list); json_next(&it);) {
        str id = auth_email(a, json_text(it.value, (str){0})); /* trimmed, lower case */
        if (!id_is_uuid(id))
            return false;
        if (!has_id(ret, id))
            ret->muted[ret->muted_len++] = id;
    }
    return true;
}

static bool read_members(arena *a, const json_val *doc, prefs *ret)
{
    const json_val *updates = json_get(doc, "emailUpdatesEnabled"), *muted = json_get(doc, "mutedGroupIds");
    ret->updates_set = updates != NULL;
    ret->muted_set = muted != NULL;
    ret->updates = json_truth(updates, true);
    return (updates == NULL || json_typeof(updates) == JSON_BOOL) &&
           (muted == NULL || read_muted(a, muted, ret));
}

/* What is missing, or cannot be read, counts as never set. */
static res load_prefs(task *t, str user_key, stored_prefs *ret)
{
    blob_got        got;
    const json_val *doc;
    *ret = (stored_prefs){.p.updates = true};
    res r = blobs_get(t, sched_settings_get()->state, place_preferences(t->arena, user_key),
                      &(blob_get){.bytes_max = PREFS_MAX}, &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(t);
        return RES_OK;
    }
    if (r == RES_TOO_LARGE) {
        task_forget(t);
        ret->etag = STR("*");
        return RES_OK;
    }
    TRY(r);
    ret->etag = got.info.etag;
    if (json_parse(t->arena, got.body, &doc, NULL) != RES_OK || !read_members(t->arena, doc, &ret->p))
        ret->p = (prefs){.updates = true};
    return RES_OK;
}

static void set_members(json *v, const prefs *p)
{
    json_set_bool(v, "emailUpdatesEnabled", p->updates);
    json *list = json_set_array(v, "mutedGroupIds");
    for (size_t i = 0; i < p->muted_len; i++)
        json_push_str(list, p->muted[i]);
}

static res save_prefs(task *t, str user_key, const stored_prefs *s)
{
    json *v = json_object(t->arena);
    set_members(v, &s->p);
    json_set_str(v, "updatedAt", call_now(t->arena));
    blob_put how = {
        .content_type = STR("application/json"), .create_only = s->etag.len == 0, .if_match = s->etag};
    return blobs_put(t, sched_settings_get()->state, place_preferences(t->arena, user_key),
                     json_print(t->arena, v), &how, NULL);
}

/* What the request does not name stays as it is, also when somebody else changes it meanwhile. */
static res change_prefs(task *t, str user_key, const prefs *wanted, prefs *ret)
{
    for (int n = 1;; n++) {
        stored_prefs s;
        TRY(load_prefs(t, user_key, &s));
        if (wanted->updates_set)
            s.p.updates = wanted->updates;
        if (wanted->muted_set) {
            s.p.muted = wanted->muted;
            s.p.muted_len = wanted->muted_len;
        }
        res r = save_prefs(t, user_key, &s);
        if (r == RES_OK)
            *ret = s.p;
        if ((r != RES_PRECONDITION && r != RES_CONFLICT && r != RES_NOT_FOUND) || n == SAVES_MAX)
            return r;
        task_forget(t);
    }
}

static res prefs_failed(call *c, res r, const char *error)
{
    str why = task_message(c->t);
    res stopped = task_stopped(c->t);
    if (stopped != RES_OK || r == RES_MEMORY)
        return stopped != RES_OK ? stopped : r;
    log_error("%s: %s (%.*s) [traceId %.*s]", error, res_name(r), STR_ARG(why), STR_ARG(c->trace));
    return call_refuse(c, 500, error, NULL, "Something went wrong here. Please try again.");
}

static res answer_prefs(call *c, const prefs *p)
{
    json *body = call_ok(c);
    set_members(body, p);
    return call_answer(c, 200, body);
}

static res get_prefs(call *c)
{
    stored_prefs s = {.p.updates = true};
    if (!call_session(c))
        return c->result;
    if (c->who.kind != SESSION_GRACE) {
        res r = load_prefs(c->t, str_of(c->who.user_key), &s);
        if (r != RES_OK)
            return prefs_failed(c, r, "user_preferences_get_failed");
    }
    return answer_prefs(c, &s.p);
}

static res post_prefs(call *c)
{
    prefs wanted = {0}, now;
    if (!read_members(c->a, c->body, &wanted) || (!wanted.updates_set && !wanted.muted_set))
        return call_refuse(c, 400, "invalid_request", NULL,
                           "emailUpdatesEnabled (true or false) or mutedGroupIds (up to %d ids) is required",
                           MUTED_MAX);
    if (!call_full_session(c))
        return c->result;
    res r = change_prefs(c->t, str_of(c->who.user_key), &wanted, &now);
    return r == RES_OK ? answer_prefs(c, &now) : prefs_failed(c, r, "user_preferences_set_failed");
}

res sched_user_preferences(task *t, const request *in, reply *out)
{
    static const call_bad_json bad = {"invalid_json", NULL};
    call                       c;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, &bad))
        return c.result;
    return is_get(in) ? get_prefs(&c) : post_prefs(&c);
}
