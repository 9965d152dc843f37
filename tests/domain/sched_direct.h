/* sched_direct.h -- actions of POST /api/direct, as tests ask for them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_DIRECT_H
#define TRESTLE_TESTS_SCHED_DIRECT_H

#include "domain/sched_appointments.h"
#include "domain/scheduler/settings.h"

/* By the desk's session, on its group; the action is JSON. */
got direct_ask(task *t, const desk *d, const char *action);
got direct_askf(task *t, const desk *d, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
