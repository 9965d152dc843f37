/* sched_appointments.h -- groups with appointments, made by the data functions alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_APPOINTMENTS_H
#define TRESTLE_TESTS_SCHED_APPOINTMENTS_H

#include "domain/sched_people.h"
#include "domain/scheduler/appointments.h"

typedef struct {
    str   group, session;
    actor by;
} desk;

/* ann@example.org with a group of her own. */
desk desk_open(task *t);

/* With that title, on 2026-03-05 at that time of day in UTC, for an hour; an empty time: unresolved. */
appointment desk_add(task *t, const desk *d, const char *title, const char *start);
when        desk_when(task *t, const char *date, const char *start, int minutes);

/* Blobs and rows behind the functions' back. */
void        desk_put_document(task *t, str group, str id, str text);
str         desk_document(task *t, str group, str id);
void        desk_put_row(task *t, entity *row);
/* All rows of the group's partition. */
entity_page desk_rows(task *t, str group);

#endif
