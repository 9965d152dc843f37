/* mail_ways.h -- the ways by which mail.c sends a message.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_MAIL_WAYS_H
#define TRESTLE_DOMAIN_SCHEDULER_MAIL_WAYS_H

#include "domain/scheduler/mail.h"

/* *ret_said is in the words of the provider, uncut; it may hold the address. */
mail_result mail_by_acs(task *t, const mail *m, str *ret_said);  /* mail_acs.c */
mail_result mail_to_sink(task *t, const mail *m, str *ret_said); /* mail_sink.c */

#endif
