/* appointment_doc.h -- an appointment's document: made, changed, and read (specification §3.1).
 *
 * Members that this program does not know stay as they were.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_DOC_H
#define TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_DOC_H

#include "domain/scheduler/appointments.h"

typedef enum { LIFE_STAYS, LIFE_ENDS, LIFE_RETURNS } appointment_life;

typedef struct {
    str              id, code;
    str              now;      /* updatedAt afterwards */
    str              user_key; /* of who deletes */
    appointment_life life;
} doc_step;

/* The next document's text; before: NULL for a new one, which gets every member. */
str appointment_doc_text(arena *a, const json_val *before, const appointment_change *change,
                         const doc_step *step);

/* The TimeSpec, or what the flat members say (§3.1). A partial one has its start, if it is known. */
void appointment_doc_time(arena *a, const json_val *doc, when *ret);

/* What the index orders by (§2.4): the start, else the date, else the creation. *ret_known: a time of day is
 * known. */
int64_t appointment_doc_moment(const json_val *doc, const when *time, bool *ret_known);

/* "2026-01-02T03:04:05.678Z": now, but later than each of these, so that versions are ordered. */
str appointment_later(arena *a, str first, str second);

#endif
