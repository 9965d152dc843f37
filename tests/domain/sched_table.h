/* sched_table.h -- an evening at a table with a QR code, as tests of ignite need it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_TABLE_H
#define TRESTLE_TESTS_SCHED_TABLE_H

#include "domain/sched_people.h"

typedef struct {
    str ann;            /* the organiser's session */
    str group, session; /* open */
} evening;

evening evening_of(task *t, const char *token_kind); /* "breakout", "invite-member" */

/* Somebody scans; an empty session: a guest called as the part before the @. */
got evening_scan(task *t, const evening *e, str session, const char *email);
got evening_meta(task *t, const evening *e, str session);
got evening_send_photo(task *t, const evening *e, str session, const char *mime, str bytes);

str evening_jpeg(void); /* bytes that begin as one */
str evening_png(void);

/* The group's state.json, as it is stored; and in place of it. */
str  state_text(task *t, str group);
void state_put(task *t, str group, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Every row and blob with its version: what was written between two of these shows. */
str all_that_is_stored(task *t);

/* The answer tells nobody's session id. */
void ck_no_secret(const got *g, str session);

#endif
