/* planner.h -- actions on a group's appointments, people and rules: what a model may propose, checked against
 * the schema, tried out in words, and carried out (specification §6.3).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_PLANNER_H
#define TRESTLE_DOMAIN_SCHEDULER_PLANNER_H

#include "domain/scheduler/appointments.h"
#include "domain/scheduler/state.h"

typedef enum { PLAN_REPLY, PLAN_PROPOSAL, PLAN_QUESTION } plan_kind;

/* Limits of the schema, in characters and pieces. */
enum {
    PLAN_MESSAGE_MAX = 4000,
    PLAN_ACTIONS_MAX = 50,
    PLAN_OPTIONS_MAX = 5,
    PLAN_PEOPLE_MAX = 20,
    PLAN_RULE_ITEMS_MAX = 50,
    PERSON_NAME_MAX = 60
};

typedef struct {
    const json_val *json; /* the action, valid by its schema */
    int             type; /* plan_schema.c's row */
} plan_action;

typedef struct {
    plan_kind       kind;
    str             message;
    plan_action    *actions;
    size_t          action_count;
    const json_val *options; /* up to five of {label, value, style?}; NULL: none */
    bool            allow_free_text;
    double          confidence; /* 0 to 1; below 0: not said */
} plan;

/* RES_INVALID with *ret_why: an unknown member, a bad date, too many options, … Nothing of it is used then.
 */
res         plan_read(arena *a, const json_val *answer, plan *ret, str *ret_why) MUST_USE;
/* One action alone, as /api/direct gets it. */
res         plan_read_action(arena *a, const json_val *action, plan_action *ret, str *ret_why) MUST_USE;
bool        plan_is_mutating(const plan_action *p);
bool        plan_is_for_rules(const plan_action *p); /* of rule mode alone: add_rule_v2_draft, …_confirm */
const char *plan_type(const plan_action *p);         /* "set_appointment_date" */

/* What the actions would do, or did: a line each. */
typedef struct {
    str   *lines;
    size_t line_count;
    bool   all_applied;
    bool   state_changed; /* of state.json: rules, free roster */
} plan_effects;

typedef struct {
    str   group, zone;
    actor by;
    state now;     /* state.json as read */
    bool  dry_run; /* nothing is written */
} plan_run;

/* In order, each on what the ones before have made of it. RES_CONFLICT: somebody else has changed something.
 */
res plan_execute(task *t, const plan_run *run, const plan_action *actions, size_t count,
                 plan_effects *ret) MUST_USE;

#endif
