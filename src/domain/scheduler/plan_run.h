/* plan_run.h -- one run of a plan, as planner.c and the kinds of actions share it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_PLAN_RUN_H
#define TRESTLE_DOMAIN_SCHEDULER_PLAN_RUN_H

#include "domain/scheduler/planner.h"

/* An appointment as the actions so far have left it. */
typedef struct {
    appointment was; /* as read */
    str         title, location, notes;
    when        time;
    const str  *people;
    size_t      people_count;
    bool        deleted;
} draft;

typedef struct {
    task           *t;
    arena          *a;
    const plan_run *run;
    bool            dry, failed;
    const zone     *z;

    str   *lines;
    size_t line_count, line_room;

    draft **drafts;
    size_t  draft_count, draft_room;

    person *people;
    size_t  people_count, people_room;
    bool    people_known, people_changed;

    const json_val **rules;
    size_t           rule_count, rule_room;
    bool             rules_changed, history_cleared;

    str identity, unknown;
} work;

typedef res action_fn(work *w, const json_val *action, const char *type);

action_fn plan_do_appointment, plan_do_people_on, plan_do_person, plan_do_rule, plan_show;

void plan_say(work *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
void plan_not_found(work *w, str code);                          /* fails, and notes the code */
void plan_fail(work *w, const char *fmt, ...) PRINTF_LIKE(2, 3); /* the same of what was not done */

/* NULL with RES_OK: there is none, which has been said. */
res plan_open(work *w, str code, bool with_deleted, draft **ret) MUST_USE;
/* Everybody of the group, read once. */
res plan_people(work *w) MUST_USE;
str plan_name_of(work *w, str id);
/* A line for each of the appointment's people who said they have no time. */
res plan_warn(work *w, const when *time, const str *people, size_t count) MUST_USE;

/* Room for one more in a list that grows. */
void *plan_room(arena *a, void *list, size_t count, size_t *room, size_t each);

str action_text(const json_val *action, const char *member);

#endif
