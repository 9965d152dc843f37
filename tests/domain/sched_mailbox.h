/* sched_mailbox.h -- the mails of a test: a folder that EMAIL_SINK_DIR names.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_MAILBOX_H
#define TRESTLE_TESTS_SCHED_MAILBOX_H

#include "core/json.h"

/* Before the first call that reads settings: mail goes into a folder of this test's, links are signed and
 * lead to https://family.example. */
void mailbox_open(void);

#define MAILBOX_SECRET "a secret that signs links"

size_t          mailbox_count(void);
const char     *mailbox_path(size_t i); /* 0 is the oldest */
const json_val *mailbox_mail(size_t i);
/* What a link in the mail's text has as the value of that parameter, as it stands there. */
str             mailbox_link_value(size_t i, const char *parameter);

#endif
