/* recipients.h -- who of a group gets a mail about an appointment (specification §6.5, §6.6).
 *
 * Not: who asks for it, who is not active, has no address, wants no mails, or has muted the group.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_RECIPIENTS_H
#define TRESTLE_DOMAIN_SCHEDULER_RECIPIENTS_H

#include "core/json.h"
#include "domain/scheduler/mail.h"

typedef struct {
    str         person, email, name;
    const char *excluded; /* "inactive", "no_email", "opted_out", "muted_group"; NULL: gets it */
    mail_result result;   /* after recipients_send */
} recipient;

typedef struct {
    recipient *at;
    size_t     count, eligible;
    bool       excluded_self;
} recipients;

/* Of these persons (count 0: all active members) without `self` (may be empty). */
res recipients_pick(task *t, str group, const str *persons, size_t count, str self, recipients *ret) MUST_USE;

/* To each eligible one, a few at a time; *ret_sent of them got it. The mail's `to` is filled in. */
res         recipients_send(task *t, recipients *all, const mail *m, size_t *ret_sent) MUST_USE;
const char *recipients_status(size_t sent, size_t eligible); /* "sent", "partial", "failed" */

void recipients_list_excluded(const recipients *all, json *array); /* {personId,name?,reason} */
void recipients_list_failed(const recipients *all, json *array);

/* A text without breaks and control characters, for a subject. */
str recipients_one_line(arena *a, str text);

#endif
