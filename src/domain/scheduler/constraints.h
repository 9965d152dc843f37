/* constraints.h -- what members want of an appointment, and whether it is so (specification §6.5).
 *
 * They stand in the document: constraints {byMember: {"ann@x.org": [{constraintId, field, operator, value,
 * createdAt, updatedAt}]}}. An appointment is reconciled when its time is known and none of them is violated.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_CONSTRAINTS_H
#define TRESTLE_DOMAIN_SCHEDULER_CONSTRAINTS_H

#include "domain/scheduler/direct.h"

enum { CONSTRAINTS_MAX = 50 /* of a member, of an appointment */ };

/* What the constraints are about. */
typedef struct {
    str         title, location, notes;
    const when *time;
} constraints_view;

bool constraints_hold(arena *a, const constraints_view *v, const json_val *constraint);

/* Puts the appointment's reconciliation as it will be after the change into e->more, unless it stays. */
void constraints_reconcile(arena *a, const appointment *now, str email, direct_edit *e);
str  constraints_status(const json_val *doc); /* "unreconciled" when nothing is said */

#endif
