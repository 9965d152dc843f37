/* invite_http.c -- asking somebody in: by a link in a plain mail, or by an invitation whose fate is told
 * (§4.3: 14, 15).
 *
 * The invited row is what lets a person in; the mail only tells them. So the row is written first, and the
 * invitation counts whatever becomes of the mail. The token in the link decides nothing (§2.11).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base64.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "domain/scheduler.h"
#include "domain/scheduler/mail.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"

enum { MESSAGE_MAX = 500 /* characters */, TOKEN_BYTES = 24, TOKEN_DAYS = 14, BASE_MAX = 200 };

/* ---- what is asked ---- */

typedef struct {
    str        group;
    member_who who; /* the invitee */
    str        recipient_name, message;
    membership me;
    member     there; /* the invitee's row */
    str        link;
} invitation;

static size_t characters(str utf8)
{
    size_t n = 0;
    for (size_t i = 0; i < utf8.len; i++)
        n += (utf8.at[i] & 0xc0) != 0x80;
    return n;
}

static bool refuse(call *c, int status, const char *error, const char *message)
{
    c->result = call_refuse(c, status, error, NULL, "%s", message);
    return false;
}

static bool read_invitee(call *c, const char *name, invitation *x)
{
    *x = (invitation){.group = call_text(c, "groupId")};
    x->who.email = auth_email(c->a, call_text(c, name));
    x->who.group = x->group;
    if (x->group.len == 0)
        return refuse(c, 400, "groupId_required", "groupId is required");
    if (!auth_email_plausible(x->who.email))
        return refuse(c, 400, "invalid_email", "This is no e-mail address");
    auth_user_key(x->who.email, x->who.user_key);
    return true;
}

static bool read_message(call *c, invitation *x)
{
    x->recipient_name = call_collapsed(c, "recipientName");
    x->message = call_text(c, "personalMessage");
    if (display_name_ok(x->recipient_name))
        x->who.display_name = x->recipient_name;
    return characters(x->message) <= MESSAGE_MAX ||
           refuse(c, 400, "invalid_personal_message", "personalMessage must have at most 500 characters");
}

/* ---- the link ---- */

/* http(s)://host…, of characters that mean nothing to HTML or a mail's text. */
static bool is_base(str url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.at[i] <= ' ' || url.at[i] >= 0x7f || strchr("\"'<>\\^`{|}?#", url.at[i]) != NULL)
            return false;
    return url.len <= BASE_MAX && (str_starts(url, STR("https://")) || str_starts(url, STR("http://")));
}

/* Where the web client is: the setting, else where the caller has it from (§1.3). Empty: nobody knows. */
static str web_base(call *c)
{
    str base = sched_settings_get()->web_base_url;
    if (base.len == 0)
        base = str_trim(request_header(c->in, "origin"));
    str forwarded = str_trim(request_header(c->in, "x-forwarded-host"));
    if (!is_base(base) && forwarded.len > 0)
        base = arena_strf(c->a, "https://%.*s", STR_ARG(forwarded));
    while (base.len > 0 && base.at[base.len - 1] == '/')
        base.len--;
    return is_base(base) ? base : (str){0};
}

typedef struct {
    str email, by, now, expires;
} token_facts;

static res keep_token(task *t, entity *e, bool is_new, void *ctx)
{
    const token_facts *f = ctx;
    char               random[TOKEN_BYTES];
    if (entity_str(e, "token", (str){0}).len == 0) {
        id_random(random, sizeof random);
        entity_set_str(e, "token", base64url_encode(t->arena, (str){random, sizeof random}));
    }
    if (is_new) {
        entity_set_str(e, "groupId", e->partition);
        entity_set_str(e, "createdAt", f->now);
        entity_set_str(e, "createdByEmail", f->by);
    }
    entity_set_str(e, "recipientEmail", f->email);
    entity_set_str(e, "expiresAt", f->expires);
    entity_set_str(e, "updatedAt", f->now);
    return RES_OK;
}

static bool make_link(call *c, invitation *x, str base)
{
    entity      row;
    token_facts f = {.email = x->who.email, .by = c->who.email, .now = call_now(c->a)};
    f.expires = iso8601_arena(c->a, clock_wall_us() + TOKEN_DAYS * INT64_C(86400000000), 3);
    if (!call_went(c, update_entity(c->t, place_table(PLACE_GROUP_INVITE_TOKENS), x->group,
                                    str_of(x->who.user_key), keep_token, &f, &row)))
        return false;
    str token = entity_str(&row, "token", (str){0});
    x->link = arena_strf(c->a, "%.*s/#/join?groupId=%.*s&token=%.*s", STR_ARG(base), STR_ARG(x->group),
                         STR_ARG(token));
    return true;
}

/* ---- the mail ---- */

/* By the name of their profile, else by what stands before the '@'. */
static bool inviter_name(call *c, str *ret)
{
    str key = auth_member_key(c->a, &c->who);
    return call_went(c, profile_names(c->t, &key, &c->who.email, 1, ret));
}

static str html_of(arena *a, const invitation *x, str by, str group)
{
    str link = mail_escape_html(a, x->link), message = mail_escape_html(a, x->message);
    str said = message.len == 0 ? (str){0} : arena_strf(a, "<blockquote>%.*s</blockquote>", STR_ARG(message));
    by = mail_escape_html(a, by);
    group = mail_escape_html(a, group);
    return arena_strf(a,
                      "<p>%.*s invites you to the group <strong>%.*s</strong>.</p>%.*s"
                      "<p><a href=\"%.*s\">Join the group</a></p>"
                      "<p>Sign in with the address that this mail was sent to.</p>",
                      STR_ARG(by), STR_ARG(group), STR_ARG(said), STR_ARG(link));
}

static bool send_invitation(call *c, const invitation *x, mail_result *ret, str *ret_said)
{
    str by, group = x->me.g.name;
    if (!inviter_name(c, &by))
        return false;
    const char *gap = x->message.len > 0 ? "\n\n" : "";
    mail        m = {.to = x->who.email,
                     .reply_to = c->who.email,
                     .subject = arena_strf(c->a, "%.*s invites you to %.*s", STR_ARG(by), STR_ARG(group)),
                     .html = html_of(c->a, x, by, group)};
    m.text = arena_strf(c->a,
                        "%.*s invites you to the group \"%.*s\".%s%.*s\n\nJoin the group: %.*s\n"
                        "Sign in with the address that this mail was sent to.\n",
                        STR_ARG(by), STR_ARG(group), gap, STR_ARG(x->message), STR_ARG(x->link));
    *ret_said = (str){0};
    *ret = mail_send(c->t, &m, ret_said);
    c->result = task_stopped(c->t);
    return c->result == RES_OK;
}

static void note_mail(call *c, const invitation *x, mail_result r, str said)
{
    bool sent = r == MAIL_SENT;
    member_note_mail(c->t, x->group, str_of(x->who.user_key), sent ? "sent" : "failed",
                     sent ? NULL : mail_reason(r), said);
}

/* ---- join-link ---- */

static res answer_not_sent(call *c, const char *reason)
{
    json *body = call_ok(c);
    json_set_bool(body, "emailSent", false);
    json_set_str(body, "reason", str_of(reason));
    return call_answer(c, 200, body);
}

res sched_join_link(task *t, const request *in, reply *out)
{
    call          c;
    invitation    x;
    member_status was;
    mail_result   r;
    str           said;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !read_invitee(&c, "email", &x) ||
        !call_full_session(&c) || !gate_pass(&c, x.group, ADMIT_ACTIVE, &x.me) ||
        !call_went(&c, member_invite(t, &x.who, false, &x.there, &was)))
        return c.result;
    if (was == MEMBER_ACTIVE)
        return call_refuse(&c, 409, "already_member", NULL, "Already a member of this group");
    if (!mail_configured())
        return answer_not_sent(&c, "email_not_configured");
    str base = web_base(&c);
    if (base.len == 0)
        return answer_not_sent(&c, "origin_unresolved");
    x.link = arena_strf(c.a, "%.*s/#/join?groupId=%.*s", STR_ARG(base), STR_ARG(x.group));
    if (!send_invitation(&c, &x, &r, &said))
        return c.result;
    note_mail(&c, &x, r, said);
    if (r != MAIL_SENT)
        return call_refuse(&c, 500, "join_failed", NULL, "The invitation could not be mailed");
    json *body = call_ok(&c);
    json_set_bool(body, "emailSent", true);
    json_set_str(body, "provider", STR("acs"));
    return call_answer(&c, 200, body);
}

/* ---- invite-email ---- */

static json *begin_answer(call *c, const char *status, bool sent, str mail_status)
{
    json *body = call_ok(c);
    json_set_str(body, "membershipStatus", str_of(status));
    json_set_bool(body, "emailSent", sent);
    json_set_str(body, "inviteEmailStatus", mail_status);
    return body;
}

static res answer_invitation(call *c, const invitation *x, json *body)
{
    json *v = json_set_object(body, "received");
    json_set_str(v, "groupId", x->group);
    json_set_str(v, "recipientEmail", x->who.email);
    json_set_bool(v, "recipientNamePresent", x->recipient_name.len > 0);
    json_set_int(v, "personalMessageLen", (int64_t)characters(x->message));
    return call_answer(c, 200, body);
}

static res answer_member(call *c, const invitation *x)
{
    str   status = x->there.mail_status.len > 0 ? x->there.mail_status : STR("not_sent");
    json *body = begin_answer(c, "active", false, status);
    json_set_str(body, "reason", STR("already_member"));
    return answer_invitation(c, x, body);
}

static res answer_invited(call *c, const invitation *x, mail_result r)
{
    bool  sent = r == MAIL_SENT;
    json *body = begin_answer(c, "invited", sent, sent ? STR("sent") : STR("failed"));
    if (!sent) {
        json_set_str(body, "inviteEmailFailedReason", str_of(mail_reason(r)));
        json_set_str(body, "inviteEmailFailedReasonLabel", str_of(mail_reason_label(r)));
    }
    json_set_str(body, "inviteUrl", x->link);
    return answer_invitation(c, x, body);
}

/* Before anything is written: is there anybody to invite? False: answered. */
static bool is_to_invite(call *c, invitation *x)
{
    res r = member_read(c->t, x->group, str_of(x->who.user_key), &x->there);
    if (r == RES_NOT_FOUND) {
        task_forget(c->t);
        return true;
    }
    if (!call_went(c, r))
        return false;
    if (x->there.status == MEMBER_ACTIVE)
        c->result = answer_member(c, x);
    return x->there.status != MEMBER_ACTIVE;
}

static bool need_base(call *c, str *ret)
{
    *ret = web_base(c);
    if (ret->len > 0)
        return true;
    json *body = json_object(c->a);
    json_push_str(json_set_array(body, "missing"), STR("WEB_BASE_URL"));
    c->result =
        call_refuse_with(c, 500, "config_missing", "CONFIG_MISSING", STR("A setting is missing."), body);
    return false;
}

res sched_invite_email(task *t, const request *in, reply *out)
{
    static const call_bad_json bad = {"bad_json", NULL};
    call                       c;
    invitation                 x;
    member_status              was;
    mail_result                r;
    str                        base, said;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, &bad) || !read_invitee(&c, "recipientEmail", &x) ||
        !read_message(&c, &x) || !call_full_session(&c) || !gate_pass(&c, x.group, ADMIT_ACTIVE, &x.me) ||
        !is_to_invite(&c, &x) || !need_base(&c, &base) ||
        !call_went(&c, member_invite(t, &x.who, true, &x.there, &was)))
        return c.result;
    if (was == MEMBER_ACTIVE) /* since we looked */
        return answer_member(&c, &x);
    if (!make_link(&c, &x, base) || !send_invitation(&c, &x, &r, &said))
        return c.result;
    note_mail(&c, &x, r, said);
    return answer_invited(&c, &x, r);
}
