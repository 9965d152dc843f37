/* places.h -- the scheduler's tables and blobs: their names, and that they are there (specification §2, §3).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_PLACES_H
#define TRESTLE_DOMAIN_SCHEDULER_PLACES_H

#include "domain/scheduler/call.h"
#include "storage/tables.h"

/* The eleven of §2; in the main store. */
typedef enum {
    PLACE_GROUPS,
    PLACE_USER_GROUPS,
    PLACE_GROUP_MEMBERS,
    PLACE_APPOINTMENTS_INDEX,
    PLACE_DAILY_METRICS,
    PLACE_USER_DAILY_USAGE,
    PLACE_USER_DAILY_USAGE_BY_MODEL,
    PLACE_DAILY_USAGE_BY_MODEL,
    PLACE_APPOINTMENT_PARTICIPANTS,
    PLACE_USER_PROFILES,
    PLACE_GROUP_INVITE_TOKENS,
    PLACE_COUNT
} place;

table place_table(place p);

/* All of them made, once a process: who comes while it is under way waits for its outcome, a failure is not
 * remembered. False: answered. health never calls it. */
bool places_ready(call *c);
/* The same for who has no call (the timer, the background attempt at start). */
res  places_make(task *t) MUST_USE;

/* A store is set up, and STATE_CONTAINER: else 500 CONFIG_MISSING with all that is missing. Asks nobody. */
bool places_have_container(call *c);

/* Blob names. */
str place_state_blob(arena *a, str group);
str place_appointment_blob(arena *a, str group, str id);
str place_event_chunk(arena *a, str group, str id, unsigned chunk);
str place_scan_blob(arena *a, str group, str id, str extension);
str place_ignite_photo(arena *a, str group, str ignite, str person);
str place_profile_photo(arena *a, str user_key);
str place_preferences(arena *a, str user_key);
str place_reminders(arena *a, int64_t minute_us);

/* Bytes that a key may not hold become '_'; nothing becomes `otherwise`. */
str place_key_text(arena *a, str text, const char *otherwise);

#endif
