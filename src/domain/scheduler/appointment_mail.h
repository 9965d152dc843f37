/* appointment_mail.h -- what a mail about an appointment says (specification §6.5, §6.6).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_MAIL_H
#define TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_MAIL_H

#include "domain/scheduler/appointments.h"
#include "domain/scheduler/mail.h"

typedef struct {
    const appointment *p;
    const zone        *z;
    str                subject; /* "Reminder" */
    str                lead;    /* the first sentence */
    str                message; /* of the sender's own; may be empty */
    str                group, group_name;
} appointment_mail;

mail appointment_mail_make(arena *a, const appointment_mail *m); /* without `to` */

/* "2026-03-05 10:30 (America/Los_Angeles)", "2026-03-05", or "not settled yet". */
str appointment_mail_time(arena *a, const when *w, const zone *z);

#endif
