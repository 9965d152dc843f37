/* mail.h -- one message out: by Azure Communication Services, or into a folder (EMAIL_SINK_DIR), where each
 * message is one JSON file (specification §1.3).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_MAIL_H
#define TRESTLE_DOMAIN_SCHEDULER_MAIL_H

#include "runtime/task.h"

typedef struct {
    str to, subject, text, html;
    str reply_to; /* empty: EMAIL_REPLY_TO_ADDRESS, else none */
} mail;

typedef enum {
    MAIL_SENT,
    MAIL_INVALID_ADDRESS,
    MAIL_SUPPRESSED,
    MAIL_PROVIDER_REJECTED,
    MAIL_RATE_LIMITED,
    MAIL_CONFIG_MISSING,
    MAIL_TRANSIENT,
    MAIL_UNKNOWN
} mail_result;

bool        mail_configured(void);
/* Never fails the call: says what became of it; *ret_said (may be NULL) is the provider's word on a failure,
 * at most 200 characters, without the address. A task that was stopped gets MAIL_TRANSIENT: look at
 * task_stopped. Takes 20 s at the most. */
mail_result mail_send(task *t, const mail *m, str *ret_said);
const char *mail_reason(mail_result r);       /* "invalid_address" */
const char *mail_reason_label(mail_result r); /* for people */

str mail_escape_html(arena *a, str text);

#endif
