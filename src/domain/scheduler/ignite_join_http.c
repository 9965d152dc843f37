/* ignite_join_http.c -- somebody has scanned the QR code (§5: join).
 *
 * Who has signed in joins as themselves. Everybody else says a name and an address, which nobody has
 * verified: they become a guest for an evening, with a session for this group alone, and get a link by which
 * the address can be verified. An address that belongs to a member is not theirs to say: that member must
 * sign in. Nothing is written before everything has been looked at.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/ignite.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"

typedef struct {
    call       c;
    str        group, session, name, base64;
    bool       signed_in; /* by a session of their own, or as a guest of this group */
    bool       verified;  /* and the address is theirs */
    ignite     now;
    member_who who;
    bool       has_photo;
    image      photo;
} joining;

static bool refuse(joining *j, int status, const char *error, const char *message)
{
    j->c.result = call_refuse(&j->c, status, error, NULL, "%s", message);
    return false;
}

/* ---- who ---- */

static bool read_input(joining *j)
{
    j->group = call_text(&j->c, "groupId");
    j->session = call_text(&j->c, "sessionId");
    j->name = str_trim(ignite_cut(call_collapsed(&j->c, "name"), DISPLAY_NAME_MAX));
    j->base64 = call_text(&j->c, "photoBase64");
    if (j->session.len == 0)
        return refuse(j, 400, "sessionId_required", "sessionId is required");
    return call_is_uuid4(j->group) || refuse(j, 400, "invalid_group_id", "groupId must be a UUID");
}

/* A session that is not valid, or for another table, is as good as none. */
static bool try_session(joining *j)
{
    auth_refusal why;
    if (!places_have_container(&j->c))
        return false;
    res r = auth_session(j->c.t, j->c.in, &j->c.who, &why);
    if (r != RES_UNAUTHENTICATED && !call_went(&j->c, r))
        return false;
    j->signed_in = r == RES_OK && auth_in_scope(&j->c.who, j->group);
    j->verified = j->signed_in && j->c.who.kind != SESSION_GRACE;
    return true;
}

/* ---- the table ---- */

static bool live_group(joining *j)
{
    group_row g;
    if (!places_ready(&j->c))
        return false;
    res r = group_read(j->c.t, j->group, &g);
    if (r == RES_OK && !g.deleted)
        return true;
    if (r != RES_OK && r != RES_NOT_FOUND)
        return call_went(&j->c, r);
    task_forget(j->c.t);
    return refuse(j, 404, "group_not_found", "Group not found");
}

static bool refuse_closed(joining *j)
{
    json *body = json_object(j->c.a);
    json_set_str(body, "tokenKind", str_of(ignite_token_kind(&j->now)));
    j->c.result = call_refuse_with(&j->c, 403, "IGNITE_CLOSED", "IGNITE_CLOSED",
                                   STR("This QR code is no longer open"), body);
    return false;
}

static bool open_table(joining *j)
{
    if (!live_group(j) || !call_went(&j->c, ignite_read(j->c.t, j->group, &j->now)))
        return false;
    return (ignite_is(&j->now, j->session) && j->now.status == IGNITE_OPEN) || refuse_closed(j);
}

/* Not a failure: the client shows its page for signing in. */
static bool ask_to_sign_in(joining *j, const char *reason)
{
    json *body = json_object(j->c.a);
    json_set_bool(body, "ok", false);
    json_set_bool(body, "requiresAuth", true);
    json_set_str(body, "reason", str_of(reason));
    json_set_str(body, "tokenKind", str_of(ignite_token_kind(&j->now)));
    j->c.result = call_answer(&j->c, 200, body);
    return false;
}

static bool know_who(joining *j)
{
    if (j->now.invites && !j->verified)
        return ask_to_sign_in(j, "INVITE_REQUIRES_AUTH");
    if (!j->signed_in) {
        j->c.who = (auth_user){.email = auth_email(j->c.a, call_text(&j->c, "email")),
                               .kind = SESSION_GRACE,
                               .scope_group = j->group,
                               .scope_breakout = j->group,
                               .scope_ignite = j->session};
        if (j->name.len == 0)
            return refuse(j, 400, "name_required", "name is required");
        if (!auth_email_plausible(j->c.who.email))
            return refuse(j, 400, "invalid_email", "email must be an address");
        auth_user_key(j->c.who.email, j->c.who.user_key);
    }
    return true;
}

/* Those who were removed stay out, and nobody without a verified address acts as a member who has one. */
static bool may_join(joining *j)
{
    member m;
    res    r = member_read(j->c.t, j->group, str_of(j->c.who.user_key), &m);
    if (r == RES_NOT_FOUND) {
        task_forget(j->c.t);
        return true;
    }
    if (!call_went(&j->c, r))
        return false;
    if (m.status == MEMBER_REMOVED)
        return refuse(j, 403, "not_allowed", "Not allowed");
    return j->verified || m.guest || ask_to_sign_in(j, "EMAIL_REQUIRES_AUTH");
}

static bool read_photo(joining *j)
{
    j->has_photo = j->base64.len > 0;
    return !j->has_photo || ignite_photo_read(&j->c, j->base64, (str){0}, &j->photo);
}

/* ---- joining ---- */

static bool join_session(joining *j)
{
    ignite_outcome outcome;
    ignite_note    n = {.session = j->session,
                        .person = str_of(j->c.who.user_key),
                        .joins = true,
                        .photo = j->has_photo,
                        .now = call_now(j->c.a)};
    if (j->has_photo &&
        !call_went(&j->c, ignite_photo_put(j->c.t, j->group, j->session, n.person, &j->photo)))
        return false;
    if (!ignite_went(&j->c, ignite_add(j->c.t, j->group, &n, &outcome)))
        return false;
    if (outcome == IGNITE_FULL)
        return refuse(j, 409, "ignite_full", "Too many have joined by this QR code");
    return outcome == IGNITE_DONE || refuse_closed(j);
}

/* A new session for each scan of somebody who shows none. */
static bool ensure_session(joining *j)
{
    if (j->signed_in)
        return true;
    res r = auth_session_create(j->c.t, &j->c.who);
    if (r == RES_OK || task_stopped(j->c.t) != RES_OK || r == RES_MEMORY)
        return call_went(&j->c, r);
    str why = task_message(j->c.t);
    log_error("a guest's session for group %.*s: %s (%.*s)", STR_ARG(j->group), res_name(r), STR_ARG(why));
    return refuse(j, 500, "ignite_grace_session_create_failed", "Joining did not work. Please try again.");
}

static bool join_group(joining *j)
{
    member m;
    member_who_of(j->c.a, &j->c.who, j->group, &j->who);
    j->who.display_name = j->name;
    res r = member_join(j->c.t, &j->who, JOIN_OR_CREATE, &m, NULL);
    if (r == RES_DENIED) { /* removed this very moment */
        task_forget(j->c.t);
        return refuse(j, 403, "not_allowed", "Not allowed");
    }
    return call_went(&j->c, r) &&
           call_went(&j->c, profile_ensure(j->c.t, j->who.member_key, j->who.email, j->name, NULL));
}

res sched_ignite_join(task *t, const request *in, reply *out)
{
    joining j = {0};
    if (!call_begin(&j.c, t, in, out, TRACE_CLIENT, NULL) || !read_input(&j) || !try_session(&j) ||
        !open_table(&j) || !know_who(&j) || !may_join(&j) || !read_photo(&j) || !join_session(&j) ||
        !ensure_session(&j) || !join_group(&j))
        return j.c.result;
    json *body = call_ok(&j.c);
    json_set_str(body, "breakoutGroupId", j.group);
    json_set_str(body, "tokenKind", str_of(ignite_token_kind(&j.now)));
    if (!j.signed_in) {
        ignite_mail_link(j.c.who.email, j.group);
        json_set_str(body, "sessionId", j.c.who.id);
        json_set_str(body, "graceExpiresAtUtc", j.c.who.expires_at);
        json_set_bool(body, "requiresVerification", true);
    }
    return call_answer(&j.c, 200, body);
}
