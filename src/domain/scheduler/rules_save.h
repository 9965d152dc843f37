/* rules_save.h -- spans of time in which somebody is available or not: merged, and put into state.json
 * (specification §6.2).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_RULES_SAVE_H
#define TRESTLE_DOMAIN_SCHEDULER_RULES_SAVE_H

#include "domain/scheduler/planner.h"

typedef struct {
    str     person, zone, prompt, original; /* the last two may be empty */
    bool    available;
    int64_t from_us, to_us;
} interval;

/* By person, status, prompt and time; those that touch or overlap become one. The new count. */
size_t intervals_merge(interval *list, size_t count);

/* What is stored of these people and overlaps with a new one is replaced. RES_TOO_LARGE: somebody would have
 * more than RULES_PER_PERSON_MAX; nothing was saved. RES_CONFLICT: others were faster each time. */
res intervals_save(task *t, str group, const interval *list, size_t count) MUST_USE;

#endif
