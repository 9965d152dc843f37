/* participants.h -- who takes part in an appointment (AppointmentParticipants, specification §2.9).
 *
 * The document's people are what counts; rows follow them. Who is missing after a write that failed is made
 * good by the next change of people.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_PARTICIPANTS_H
#define TRESTLE_DOMAIN_SCHEDULER_PARTICIPANTS_H

#include "domain/scheduler/appointments.h"

typedef struct {
    str             group, id;
    const json_val *people;  /* of the document, now */
    const json_val *dropped; /* of the document before; NULL: it is new, and the actor is its organizer */
    const actor    *by;
} participant_change;

/* Failures are logged: the appointment is as it is. */
void participants_follow(task *t, const participant_change *c);

#endif
