/* problem.h -- why a record was not stored, in the words of an answer (specification §4, §8, §10).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_PROBLEM_H
#define TRESTLE_DOMAIN_ACTIONS_PROBLEM_H

#include "domain/actions/answer.h"
#include "domain/actions/record.h"

/* Of record_read. */
upsert_error problem_of_record(arena *a, const record_problem *why);
/* Of an upsert; the details are what the task's peer said. needed_bytes: of upsert_result. */
upsert_error problem_of_upsert(task *t, res code, size_t needed_bytes);

#endif
