/* auth_http.c -- signing in by a link that is mailed (§1.3).
 *
 * Nothing here tells whether an address is known: every plausible one is answered, limited and mailed alike.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "domain/scheduler.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/link_limit.h"
#include "domain/scheduler/links.h"
#include "domain/scheduler/mail.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"

enum { ATTEMPT_MAX = 120 /* bytes */, MISSING_MAX = 3, WELCOME_MS = 5000 };

/* ---- asking for a link ---- */

static res config_missing(call *c, const char *const *names, size_t count)
{
    json *body = json_object(c->a), *list = json_set_array(body, "missing");
    for (size_t i = 0; i < count; i++)
        json_push_str(list, str_of(names[i]));
    return call_refuse_with(c, 500, "config_missing", "CONFIG_MISSING", STR("A setting is missing."), body);
}

/* Named in the order of the alphabet. */
static bool configured(call *c)
{
    const sched_settings *s = sched_settings_get();
    const char           *missing[MISSING_MAX];
    size_t                n = 0;
    if (s->mail_sink.len == 0 && s->mail_connection.len == 0)
        missing[n++] = "AZURE_COMMUNICATION_CONNECTION_STRING";
    if (s->mail_sink.len == 0 && s->mail_sender.len == 0)
        missing[n++] = "EMAIL_SENDER_ADDRESS";
    if (s->link_secret.len == 0)
        missing[n++] = "MAGIC_LINK_SECRET";
    if (n > 0)
        c->result = config_missing(c, missing, n);
    return n == 0;
}

/* The hop that our front end wrote: the last one, without its port. Who comes without is one and the same. */
static str client_of(const request *in)
{
    size_t             count;
    const http_header *all = request_headers(in, &count);
    str                hops = {0}, hop = {0};
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(all[i].name, STR("X-Forwarded-For")))
            hops = all[i].value;
    while (str_next_field(&hops, ',', &hop))
        ;
    hop = str_trim(hop);
    size_t colon = str_find_char(hop, ':');
    bool   one_colon = str_find_char(str_from(hop, colon + 1), ':') == str_from(hop, colon + 1).len;
    if (str_starts(hop, STR("[")))
        hop = str_slice(hop, 1, str_find_char(hop, ']'));
    else if (one_colon)
        hop = str_slice(hop, 0, colon);
    return hop.len > 0 ? hop : STR("unknown");
}

static bool within(call *c, link_limit kind, str who)
{
    unsigned wait_s = link_limit_take(kind, who);
    if (wait_s == 0)
        return true;
    c->result = call_refuse(c, 429, "rate_limited", "RATE_LIMITED",
                            "Too many links were asked for. Please try again later.");
    if (c->result == RES_OK)
        c->result = reply_header(c->out, "Retry-After", arena_strf(c->a, "%u", wait_s));
    return false;
}

/* A path of the page itself; "//" and "/\" would lead a browser elsewhere. */
static str return_to(const call *c)
{
    str  path = call_text(c, "returnTo");
    bool ok = str_starts(path, STR("/")) && !str_starts(path, STR("//")) && !str_starts(path, STR("/\\")) &&
              !str_has(path, STR("://")) && path.len <= AUTH_RETURN_TO_MAX;
    return ok ? path : STR("/");
}

static str attempt(const call *c)
{
    char fresh[UUID_TEXT + 1];
    str  id = call_text(c, "attemptId");
    return id.len > 0 && id.len <= ATTEMPT_MAX ? id : arena_copy(c->a, id_uuid(fresh));
}

static str make_link(const call *c, str base, str email)
{
    int64_t    now_s = clock_wall_us() / 1000000;
    str        to = return_to(c);
    auth_token token = {
        .email = email, .return_to = to, .issued_s = now_s, .expires_s = now_s + AUTH_TOKEN_SECONDS};
    str text = auth_token_make(c->a, sched_settings_get()->link_secret, &token);
    return arena_strf(c->a, "%.*s/#/auth/consume?token=%.*s&attemptId=%.*s&returnTo=%.*s", STR_ARG(base),
                      STR_ARG(links_escape(c->a, text)), STR_ARG(links_escape(c->a, attempt(c))),
                      STR_ARG(links_escape(c->a, to)));
}

static mail_result mail_link(const call *c, str email, str link)
{
    str  shown = mail_escape_html(c->a, link);
    mail m = {
        .to = email,
        .subject = STR("Your link to sign in"),
        .text = arena_strf(c->a,
                           "Open this link to sign in. It works for %d minutes.\n\n%.*s\n\n"
                           "If you did not ask for it, ignore this message.\n",
                           AUTH_TOKEN_SECONDS / 60, STR_ARG(link)),
        .html = arena_strf(c->a,
                           "<p>Open this link to sign in. It works for %d minutes.</p>"
                           "<p><a href=\"%.*s\">Sign in</a></p>"
                           "<p>If you did not ask for it, ignore this message.</p>",
                           AUTH_TOKEN_SECONDS / 60, STR_ARG(shown)),
    };
    return mail_send(c->t, &m, NULL);
}

res sched_request_link(task *t, const request *in, reply *out)
{
    static const char *const base_url[] = {"WEB_BASE_URL"};
    call                     c;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !configured(&c) ||
        !within(&c, LIMIT_CLIENT, client_of(in)))
        return c.result;
    str email = auth_email(c.a, call_text(&c, "email"));
    if (!auth_email_plausible(email))
        return call_answer(&c, 200, call_ok(&c));
    str base = links_base(c.a, in);
    if (base.len == 0)
        return config_missing(&c, base_url, 1);
    if (!within(&c, LIMIT_ADDRESS, email))
        return c.result;
    mail_result sent = mail_link(&c, email, make_link(&c, base, email));
    c.result = task_stopped(t);
    if (c.result != RES_OK)
        return c.result;
    if (sent != MAIL_SENT)
        return call_refuse(&c, 502, "email_send_failed", "EMAIL_SEND_FAILED",
                           "The mail could not be sent. Please try again later.");
    return call_answer(&c, 200, call_ok(&c));
}

/* ---- using it ---- */

typedef struct {
    str  key, email;
    bool done;
} welcome;

static res write_welcome(task *t, const welcome *w)
{
    bool created = false;
    TRY(places_make(t));
    TRY(profile_ensure(t, w->key, w->email, (str){0}, &created));
    if (created)
        count_daily(t, COUNT_NEW_USERS, 1);
    return RES_OK;
}

/* The first runs against the clock, which is the second: whoever is there first stops the other. */
static res race(task *t, size_t i, void *ctx)
{
    welcome *w = ctx;
    res      r = i == 0 ? write_welcome(t, w) : task_sleep(t, WELCOME_MS);
    if (i == 0 && r == RES_OK)
        w->done = true;
    return r != RES_OK ? r : task_fail(t, RES_TIMEOUT, "the tables were slow");
}

/* A profile, and one more user, at the first sign-in. Nobody is kept out because a table is away. */
static void greet(call *c)
{
    welcome w = {.key = auth_member_key_of(c->a, str_of(c->who.user_key)), .email = c->who.email};
    res     r = par_each(c->t, 2, 2, race, &w);
    if (!w.done && task_stopped(c->t) == RES_OK) {
        str why = task_message(c->t);
        log_error("a sign-in has no profile: %s (%.*s) [traceId %.*s]", res_name(r), STR_ARG(why),
                  STR_ARG(c->trace));
    }
    task_forget(c->t);
}

res sched_consume_link(task *t, const request *in, reply *out)
{
    static const char *const secret_name[] = {"MAGIC_LINK_SECRET"};
    call                     c;
    auth_token               token;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL))
        return c.result;
    str secret = sched_settings_get()->link_secret;
    if (secret.len == 0)
        return call_config_missing(&c, secret_name, 1);
    res r = auth_token_read(c.a, secret, call_text(&c, "token"), clock_wall_us() / 1000000, &token);
    if (r != RES_OK)
        return call_refuse_with(&c, 400, r == RES_TIMEOUT ? "expired_token" : "invalid_token", NULL, (str){0},
                                NULL);
    c.who = (auth_user){.email = auth_email(c.a, token.email), .kind = SESSION_FULL};
    if (!places_have_container(&c) || !call_went(&c, auth_session_create(t, &c.who)))
        return c.result;
    greet(&c);
    c.result = task_stopped(t);
    if (c.result != RES_OK)
        return c.result;
    json *body = call_ok(&c);
    json_set_str(body, "sessionId", c.who.id);
    json_set_str(body, "email", c.who.email);
    json_set_str(body, "expiresAt", c.who.expires_at);
    return call_answer(&c, 200, body);
}
