/* trail.h -- what follows from an appointment's events: the open title proposal, the reminders (specification
 * §6.5).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_TRAIL_H
#define TRESTLE_DOMAIN_SCHEDULER_TRAIL_H

#include "domain/scheduler/events.h"

/* The newest TRAIL_MAX; what is older has no say any more. */
enum { TRAIL_MAX = 2000 };

typedef struct {
    const json_val **at; /* newest first */
    size_t           count;
} trail;

res             trail_read(task *t, str group, str appointment, trail *ret) MUST_USE;
/* The newest event of that clientRequestId (type NULL: whichever); NULL: none. */
const json_val *trail_find(const trail *e, str request_id, const char *type);

/* ---- the title proposal ---- */

typedef struct {
    str  id, from, to, created_at, by; /* by: an e-mail */
    str  request;                      /* that created it */
    bool paused;
} proposal;

bool  trail_proposal(const trail *e, proposal *ret); /* false: none is open */
json *proposal_json(arena *a, const proposal *p);

/* ---- reminders ---- */

enum { REMINDERS_MAX = 10 /* scheduled ones of an appointment */ };

typedef struct {
    str     id, due_at, message, created_at, by, request;
    int64_t offset_minutes;
    str     status; /* "scheduled", "canceled", "sent", "partial", "failed" */
} reminder;

/* Oldest first. */
size_t trail_reminders(arena *a, const trail *e, reminder **ret);
void   reminder_fill(json *v, const reminder *r); /* an empty object */
bool   reminder_is_scheduled(const reminder *r);

#endif
