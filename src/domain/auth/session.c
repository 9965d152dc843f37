/* session.c -- sessions: one small JSON blob each, named by the secret itself (specification §1.2).
 *
 *     {STATE_CONTAINER}/{SESSION_BLOB_PREFIX}/{id}.json    {v:1, email, kind, createdAt, expiresAt, scope…}
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "domain/auth.h"
#include "domain/auth/seen.h"
#include "storage/blobs.h"

enum {
    ID_MAX = 128,
    BLOB_MAX = 16 * KIB,
    FULL_S = 604800,
    PROVISIONAL_S = 1800,
    GRACE_S = 1800,
    GRACE_LEAST_S = 60,
    TTL_MOST_S = 10 * 365 * 86400, /* a setting with a digit too many makes no date beyond the calendar */
    VERSION = 1
};

static const auth_refusal missing = {401, "unauthorized", NULL, "Missing session"},
                          invalid = {401, "unauthorized", NULL, "Invalid session"};

/* By session_kind. */
static const struct {
    const char  *name, *ttl_setting;
    int64_t      ttl_s, least_s;
    auth_refusal expired;
} kinds[] = {
    [SESSION_FULL] =
        {"full", "SESSION_TTL_SECONDS", FULL_S, 1, {401, "unauthorized", NULL, "Invalid session"}},
    [SESSION_PROVISIONAL] = {"provisional",
                             "PROVISIONAL_SESSION_TTL_SECONDS",
                             PROVISIONAL_S,
                             1,
                             {401, "unauthorized", "AUTH_PROVISIONAL_EXPIRED", "Session expired"}},
    [SESSION_GRACE] = {"igniteGrace",
                       "IGNITE_GRACE_TTL_SECONDS",
                       GRACE_S,
                       GRACE_LEAST_S,
                       {401, "unauthorized", "AUTH_IGNITE_GRACE_EXPIRED", "Session expired"}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- where they are ---- */

static str setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return str_of(value != NULL && *value != '\0' ? value : otherwise);
}

static container place(void)
{
    return (container){.store = STORE_MAIN, .name = setting("STATE_CONTAINER", NULL)};
}

static str blob_of(arena *a, str id)
{
    str prefix = setting("SESSION_BLOB_PREFIX", "familyscheduler/sessions");
    return arena_strf(a, "%.*s/%.*s.json", STR_ARG(prefix), STR_ARG(id));
}

static bool is_id(str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.at[i];
        bool ok = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                  c == '_' || c == '-';
        if (!ok)
            return false;
    }
    return id.len > 0 && id.len <= ID_MAX;
}

/* ---- reading ---- */

static session_kind kind_of(str name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (str_eq(name, str_of(kinds[i].name)))
            return (session_kind)i;
    return SESSION_FULL;
}

static str text_of(arena *a, const json_val *doc, const char *member)
{
    return arena_copy(a, json_text(json_get(doc, member), (str){0}));
}

/* From the blob's text; *ret_expires_us is for whoever keeps it. */
static bool decode(arena *a, str id, str text, auth_user *ret, int64_t *ret_expires_us)
{
    const json_val *doc;
    if (json_parse(a, text, &doc, NULL) != RES_OK || json_typeof(doc) != JSON_OBJECT ||
        json_int(json_get(doc, "v"), 0) != VERSION)
        return false;
    *ret = (auth_user){
        .id = arena_copy(a, id),
        .email = auth_email(a, json_text(json_get(doc, "email"), (str){0})),
        .sub = text_of(a, doc, "sub"),
        .kind = kind_of(json_text(json_get(doc, "kind"), (str){0})),
        .created_at = text_of(a, doc, "createdAt"),
        .expires_at = text_of(a, doc, "expiresAt"),
        .scope_group = text_of(a, doc, "scopeGroupId"),
        .scope_ignite = text_of(a, doc, "scopeIgniteSessionId"),
        .scope_breakout = text_of(a, doc, "scopeBreakoutGroupId"),
    };
    if (!auth_email_plausible(ret->email) || !iso8601_parse(ret->expires_at, ret_expires_us))
        return false;
    auth_user_key(ret->email, ret->user_key);
    return true;
}

static res load(task *t, str id, str *ret_text)
{
    blob_got got;
    if (place().name.len == 0)
        return task_fail(t, RES_CONFIG, "STATE_CONTAINER is not set");
    if (seen_find(t->arena, id, ret_text))
        return RES_OK;
    res r = blobs_get(t, place(), blob_of(t->arena, id), &(blob_get){.bytes_max = BLOB_MAX}, &got);
    if (r != RES_OK)
        return r;
    *ret_text = got.body;
    return RES_OK;
}

res auth_session_by_id(task *t, str id, auth_user *ret, auth_refusal *why)
{
    str       text;
    auth_user s;
    int64_t   expires_us;
    *why = invalid;
    id = str_trim(id);
    if (id.len == 0)
        *why = missing;
    if (!is_id(id))
        return RES_UNAUTHENTICATED;
    res r = load(t, id, &text);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED || r == RES_TOO_LARGE) {
        task_forget(t);
        return RES_UNAUTHENTICATED;
    }
    if (r != RES_OK)
        return task_fail(t, r, "session '%.*s…'", STR_ARG(auth_short_id(id)));
    if (!decode(t->arena, id, text, &s, &expires_us))
        return RES_UNAUTHENTICATED;
    if (expires_us <= clock_wall_us()) {
        *why = kinds[s.kind].expired;
        return RES_UNAUTHENTICATED;
    }
    seen_keep(id, text);
    *ret = s;
    return RES_OK;
}

res auth_session(task *t, const request *in, auth_user *ret, auth_refusal *why)
{
    return auth_session_by_id(t, request_header(in, "x-session-id"), ret, why);
}

/* ---- making ---- */

static int64_t ttl_s(session_kind kind)
{
    str     text = setting(kinds[kind].ttl_setting, "");
    int64_t n;
    if (!str_to_i64(text, &n) || n <= 0)
        return kinds[kind].ttl_s;
    if (n > TTL_MOST_S)
        return TTL_MOST_S;
    return n < kinds[kind].least_s ? kinds[kind].least_s : n;
}

static void set_if(json *v, const char *member, str text)
{
    if (text.len > 0)
        json_set_str(v, member, text);
}

res auth_session_create(task *t, auth_user *s)
{
    char    id[UUID_TEXT + 1];
    json   *v = json_object(t->arena);
    int64_t now_us = clock_wall_us();
    if (place().name.len == 0)
        return task_fail(t, RES_CONFIG, "STATE_CONTAINER is not set");
    s->id = arena_copy(t->arena, id_uuid(id));
    s->created_at = iso8601_arena(t->arena, now_us, 3);
    s->expires_at = iso8601_arena(t->arena, now_us + ttl_s(s->kind) * 1000000, 3);
    auth_user_key(s->email, s->user_key);
    json_set_int(v, "v", VERSION);
    json_set_str(v, "email", s->email);
    json_set_str(v, "kind", str_of(kinds[s->kind].name));
    json_set_str(v, "createdAt", s->created_at);
    json_set_str(v, "expiresAt", s->expires_at);
    set_if(v, "sub", s->sub);
    set_if(v, "scopeGroupId", s->scope_group);
    set_if(v, "scopeIgniteSessionId", s->scope_ignite);
    set_if(v, "scopeBreakoutGroupId", s->scope_breakout);
    blob_put how = {.content_type = STR("application/json"), .create_only = true};
    return blobs_put(t, place(), blob_of(t->arena, s->id), json_print(t->arena, v), &how, NULL);
}

/* ---- what it may ---- */

bool auth_in_scope(const auth_user *s, str group)
{
    return s->kind != SESSION_GRACE ||
           (group.len > 0 && (str_eq(s->scope_group, group) || str_eq(s->scope_breakout, group)));
}

/* A subject that could not stand in a key is not used as one. */
static bool fits_key(str sub)
{
    for (size_t i = 0; i < sub.len; i++)
        if ((unsigned char)sub.at[i] < ' ' || (unsigned char)sub.at[i] >= 0x7f ||
            memchr("/\\#?", sub.at[i], 4) != NULL)
            return false;
    return sub.len > 0 && sub.len <= ID_MAX;
}

str auth_member_key(arena *a, const auth_user *s)
{
    if (s->kind == SESSION_GRACE)
        return arena_strf(a, "guest:%.*s", STR_ARG(s->id));
    return auth_member_key_of(a, fits_key(s->sub) ? s->sub : str_of(s->user_key));
}

void auth_forget_for_test(void)
{
    seen_forget();
}
