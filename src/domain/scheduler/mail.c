/* mail.c -- see mail.h: which way a message goes, and what is told of it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/mail.h"

#include <assert.h>

#include "core/buf.h"
#include "core/log.h"
#include "domain/auth.h"
#include "domain/scheduler/mail_ways.h"
#include "domain/scheduler/settings.h"

enum { SAID_MAX = 200 /* characters */ };

/* By result. */
static const struct {
    const char *name, *label;
} reasons[] = {
    [MAIL_SENT] = {"sent", "Sent"},
    [MAIL_INVALID_ADDRESS] = {"invalid_address", "The address does not work"},
    [MAIL_SUPPRESSED] = {"suppressed", "The address has refused mail before"},
    [MAIL_PROVIDER_REJECTED] = {"provider_rejected", "The mail service refused the message"},
    [MAIL_RATE_LIMITED] = {"rate_limited", "Too many messages at the moment"},
    [MAIL_CONFIG_MISSING] = {"config_missing", "Mail is not set up"},
    [MAIL_TRANSIENT] = {"transient", "The mail service could not be reached"},
    [MAIL_UNKNOWN] = {"unknown", "The mail service failed"},
};

const char *mail_reason(mail_result r)
{
    assert(r <= MAIL_UNKNOWN);
    return reasons[r].name;
}

const char *mail_reason_label(mail_result r)
{
    assert(r <= MAIL_UNKNOWN);
    return reasons[r].label;
}

bool mail_configured(void)
{
    const sched_settings *s = sched_settings_get();
    return s->mail_sink.len > 0 || (s->mail_connection.len > 0 && s->mail_sender.len > 0);
}

/* ---- the provider's word ---- */

static size_t find_nocase(str text, str needle)
{
    for (size_t i = 0; i + needle.len <= text.len; i++)
        if (str_starts_nocase(str_from(text, i), needle))
            return i;
    return text.len;
}

/* Without the address, on one line, and no longer than the column in which it is kept. */
static str for_keeping(arena *a, str said, str address)
{
    buf    b;
    size_t characters = 0;
    buf_init(&b, a, said.len * 3 + 16);
    for (;;) {
        size_t at = find_nocase(said, address);
        (void)buf_add(&b, str_slice(said, 0, at));
        if (at == said.len)
            break;
        (void)buf_add(&b, STR("***"));
        said = str_from(said, at + address.len);
    }
    for (size_t i = 0; i < b.len; i++) {
        characters += ((unsigned char)b.at[i] & 0xc0) != 0x80;
        if (characters > SAID_MAX)
            return (str){b.at, i};
        if ((unsigned char)b.at[i] < ' ')
            b.at[i] = ' ';
    }
    return buf_str(&b);
}

/* ---- sending ---- */

static mail_result send_one_way(task *t, const mail *m, str *ret_said)
{
    str to = auth_email(t->arena, m->to);
    if (!auth_email_plausible(to))
        return MAIL_INVALID_ADDRESS;
    if (!mail_configured())
        return MAIL_CONFIG_MISSING;
    return sched_settings_get()->mail_sink.len > 0 ? mail_to_sink(t, m, ret_said)
                                                   : mail_by_acs(t, m, ret_said);
}

mail_result mail_send(task *t, const mail *m, str *ret_said)
{
    str  said = {0}, to = str_trim(m->to);
    mail full = *m;
    if (full.reply_to.len == 0)
        full.reply_to = sched_settings_get()->mail_reply_to;
    mail_result r = send_one_way(t, &full, &said);
    said = to.len > 0 ? for_keeping(t->arena, said, to) : (str){0};
    if (r != MAIL_SENT) {
        str host = str_from(to, str_find_char(to, '@') + 1);
        log_warn("a mail to '%.*s' was not sent, %s: %.*s", STR_ARG(host), mail_reason(r), STR_ARG(said));
    }
    if (ret_said != NULL)
        *ret_said = said;
    return r;
}

str mail_escape_html(arena *a, str text)
{
    static const struct {
        char        c;
        const char *as;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    buf b;
    buf_init(&b, a, text.len * 6 + 1);
    for (size_t i = 0; i < text.len; i++) {
        str as = str_slice(text, i, i + 1);
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (escapes[k].c == text.at[i])
                as = str_of(escapes[k].as);
        (void)buf_add(&b, as);
    }
    return buf_str(&b);
}
