/* appointment_mail.c -- see appointment_mail.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/appointment_mail.h"

#include "core/buf.h"
#include "domain/scheduler/recipients.h"
#include "domain/scheduler/settings.h"

enum { TEXT_MAX = 64 * KIB, HTML_MAX = 512 * KIB };

str appointment_mail_time(arena *a, const when *w, const zone *z)
{
    civil_time at;
    str        name = zone_name(z);
    if (w->start_us == 0)
        return STR("not settled yet");
    zone_local(z, w->start_us, &at);
    if (w->all_day)
        return arena_strf(a, "%04d-%02d-%02d", at.year, at.month, at.day);
    return arena_strf(a, "%04d-%02d-%02d %02d:%02d (%.*s)", at.year, at.month, at.day, at.hour, at.minute,
                      STR_ARG(name));
}

static str link_to(arena *a, str group)
{
    str base = sched_settings_get()->web_base_url;
    return base.len > 0 ? arena_strf(a, "%.*s/#/g/%.*s/app", STR_ARG(base), STR_ARG(group)) : (str){0};
}

/* One line of the mail, in both forms; an empty value: none. */
static void add_line(arena *a, buf *text, buf *html, const char *label, str value)
{
    if (value.len == 0)
        return;
    str safe = mail_escape_html(a, value);
    (void)buf_addf(text, "%s%.*s\n", label, STR_ARG(value)); /* in a task, it has room or does not return */
    (void)buf_addf(html, "<p>%s%.*s</p>\n", label, STR_ARG(safe)); /* likewise */
}

mail appointment_mail_make(arena *a, const appointment_mail *m)
{
    buf text, html;
    str title = recipients_one_line(a, m->p->title);
    str place = json_text(json_get(m->p->doc, "locationDisplay"), (str){0});
    str notes = json_text(json_get(m->p->doc, "notes"), (str){0});
    buf_init(&text, a, TEXT_MAX);
    buf_init(&html, a, HTML_MAX);
    add_line(a, &text, &html, "", m->lead);
    add_line(a, &text, &html, "", m->message);
    add_line(a, &text, &html, "What: ", title);
    add_line(a, &text, &html, "When: ", appointment_mail_time(a, &m->p->time, m->z));
    add_line(a, &text, &html, "Where: ", place);
    add_line(a, &text, &html, "Notes: ", notes);
    add_line(a, &text, &html, "Group: ", m->group_name);
    add_line(a, &text, &html, "", link_to(a, m->group));
    return (mail){.subject = arena_strf(a, "%.*s: %.*s", STR_ARG(m->subject), STR_ARG(title)),
                  .text = buf_str(&text),
                  .html = buf_str(&html)};
}
