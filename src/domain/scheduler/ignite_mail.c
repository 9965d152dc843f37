/* ignite_mail.c -- the link that makes a guest more than a guest (§5: join, §1.3).
 *
 * Its base is WEB_BASE_URL alone: a header of somebody who is not signed in must not decide where a link with
 * a token leads to.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "domain/scheduler/ignite.h"
#include "domain/scheduler/link_limit.h"
#include "domain/scheduler/links.h"
#include "domain/scheduler/mail.h"
#include "domain/scheduler/settings.h"
#include "runtime/background.h"

enum { MAIL_MEMORY = MIB };

/* Of its own memory, since the request that asks is answered before it is sent. */
typedef struct {
    char group[UUID_TEXT + 1];
    char email[AUTH_EMAIL_MAX + 1];
} letter;

static str link_of(arena *a, const letter *l)
{
    const sched_settings *s = sched_settings_get();
    char                  attempt[UUID_TEXT + 1];
    int64_t               now_s = clock_wall_us() / 1000000;
    auth_token            token = {.email = str_of(l->email),
                                   .return_to = arena_strf(a, "/g/%s/app", l->group),
                                   .issued_s = now_s,
                                   .expires_s = now_s + AUTH_TOKEN_SECONDS};
    str                   text = auth_token_make(a, s->link_secret, &token), base = s->web_base_url;
    while (str_ends(base, STR("/")))
        base.len--;
    return arena_strf(a, "%.*s/#/auth/consume?token=%.*s&attemptId=%.*s&returnTo=%.*s", STR_ARG(base),
                      STR_ARG(links_escape(a, text)), STR_ARG(id_uuid(attempt)),
                      STR_ARG(links_escape(a, token.return_to)));
}

static res send_letter(task *t, void *ctx)
{
    letter l = *(letter *)ctx;
    free(ctx);
    str  link = link_of(t->arena, &l), shown = mail_escape_html(t->arena, link);
    mail m = {
        .to = str_of(l.email),
        .subject = STR("Sign in to stay in the group"),
        .text = arena_strf(t->arena,
                           "You joined a group as a guest. To stay, sign in with this link within 15 "
                           "minutes:\n\n%.*s\n\nIf that was not you, ignore this message.\n",
                           STR_ARG(link)),
        .html = arena_strf(t->arena,
                           "<p>You joined a group as a guest. To stay, sign in with this link within 15 "
                           "minutes:</p><p><a href=\"%.*s\">Sign in</a></p><p>If that was not you, ignore "
                           "this message.</p>",
                           STR_ARG(shown)),
    };
    (void)mail_send(t, &m, NULL); /* logs what went wrong */
    return RES_OK;
}

void ignite_mail_link(str email, str group)
{
    const sched_settings *s = sched_settings_get();
    if (s->link_secret.len == 0 || s->web_base_url.len == 0 || !mail_configured() ||
        email.len > AUTH_EMAIL_MAX || group.len > UUID_TEXT || link_limit_take(LIMIT_ADDRESS, email) > 0)
        return;
    letter *l = calloc(1, sizeof *l);
    if (l == NULL)
        return;
    memcpy(l->email, email.at, email.len);
    memcpy(l->group, group.at, group.len);
    if (background_start("mails a guest's link", MAIL_MEMORY, send_letter, l) == RES_OK)
        return;
    free(l);
    log_warn("a guest's link was not mailed: too much is under way");
}
