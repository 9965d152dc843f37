/* sched_people.h -- people, sessions and groups as tests of the scheduler need them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_PEOPLE_H
#define TRESTLE_TESTS_SCHED_PEOPLE_H

#include "domain/auth.h"
#include "domain/rig.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"

/* A full session of that address, written as a magic link would have; its id. */
str people_sign_in(task *t, const char *email);
/* A guest's, for that group. */
str people_guest(task *t, const char *email, str group);
/* The same with a profile: "ann@x.org" is called "ann". */
str people_named(task *t, const char *email);
/* A session blob whatever its text; its id. */
str people_raw_session(task *t, const char *text);

str people_user_key(const char *email); /* in scratch() */

/* With the header x-session-id; an empty session: without. */
got         people_get(task *t, str session, const char *target);
got         people_post(task *t, str session, const char *target, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same for rig_direct and rig_torture: a POST, or a GET when there is no body (NULL). */
rig_request people_request(str session, const char *target, const char *body);
got         people_put(task *t, str session, const char *target, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* A group made by the session through the API; its id. */
str  people_group(task *t, str session, const char *name);
/* The membership row as the transitions write it, by invite and join: */
void people_add(task *t, str group, const char *email);    /* active */
void people_invite(task *t, str group, const char *email); /* invited */
void people_drop(task *t, str group, const char *email);   /* removed */

entity people_row(task *t, place where, str partition, str row); /* fails the test when it is not there */

#endif
