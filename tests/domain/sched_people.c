/* sched_people.c -- see sched_people.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_people.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "domain/scheduler/profiles.h"
#include "storage/blobs.h"

str people_sign_in(task *t, const char *email)
{
    auth_user s = {.email = auth_email(scratch(), str_of(email)), .kind = SESSION_FULL};
    OK(auth_session_create(t, &s));
    return s.id;
}

str people_guest(task *t, const char *email, str group)
{
    auth_user s = {.email = auth_email(scratch(), str_of(email)),
                   .kind = SESSION_GRACE,
                   .scope_group = group,
                   .scope_breakout = group};
    OK(auth_session_create(t, &s));
    return s.id;
}

str people_user_key(const char *email)
{
    char *key = arena_alloc(scratch(), SHA256_HEX + 1);
    auth_user_key(auth_email(scratch(), str_of(email)), key);
    return str_of(key);
}

str people_named(task *t, const char *email)
{
    profile p = {.display_name = str_slice(str_of(email), 0, strcspn(email, "@")), .email = str_of(email)};
    OK(places_make(t));
    OK(profile_write(t, auth_member_key_of(t->arena, people_user_key(email)), &p, NULL));
    return people_sign_in(t, email);
}

str people_raw_session(task *t, const char *text)
{
    char        id[UUID_TEXT + 1];
    const char *state = getenv("STATE_CONTAINER");
    str         given = arena_copy(t->arena, id_uuid(id));
    str         name = arena_strf(t->arena, "familyscheduler/sessions/%.*s.json", STR_ARG(given));
    OK(blobs_put(t, (container){STORE_MAIN, str_of(state)}, name, str_of(text), &(blob_put){0}, NULL));
    return given;
}

/* ---- calls ---- */

static got call_as(task *t, str session, const char *method, const char *target, str body)
{
    http_header headers[2] = {{STR("Content-Type"), STR("application/json")}, {STR("x-session-id"), session}};
    return rig_call(t, method, target, body, headers, session.len > 0 ? 2 : 1);
}

got people_get(task *t, str session, const char *target)
{
    return call_as(t, session, "GET", target, (str){0});
}

got people_post(task *t, str session, const char *target, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str body = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    return call_as(t, session, "POST", target, body);
}

got people_put(task *t, str session, const char *target, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str body = arena_vstrf(t->arena, fmt, args);
    va_end(args);
    return call_as(t, session, "PUT", target, body);
}

rig_request people_request(str session, const char *target, const char *body)
{
    http_header *headers = arena_array(scratch(), http_header, 1);
    headers[0] = (http_header){STR("x-session-id"), session};
    return (rig_request){.method = body == NULL ? "GET" : "POST",
                         .target = target,
                         .body = str_of(body),
                         .headers = headers,
                         .header_count = 1};
}

/* ---- groups ---- */

str people_group(task *t, str session, const char *name)
{
    got g = people_post(t, session, "/api/group/create", "{\"groupName\":\"%s\"}", name);
    ck_status(g, 200);
    return rig_text(&g, "groupId");
}

static member_who who_of(str group, const char *email)
{
    member_who who = {.group = group, .email = auth_email(scratch(), str_of(email))};
    auth_user_key(who.email, who.user_key);
    return who;
}

void people_add(task *t, str group, const char *email)
{
    member     m;
    member_who who = who_of(group, email);
    OK(places_make(t));
    OK(member_join(t, &who, JOIN_OR_CREATE, &m, NULL));
}

void people_invite(task *t, str group, const char *email)
{
    member        m;
    member_status was;
    member_who    who = who_of(group, email);
    OK(places_make(t));
    OK(member_invite(t, &who, true, &m, &was));
}

void people_drop(task *t, str group, const char *email)
{
    member m;
    OK(member_remove(t, group, people_user_key(email), &m));
}

entity people_row(task *t, place where, str partition, str row)
{
    entity e;
    OK(tables_get(t, place_table(where), partition, row, &e));
    return e;
}
