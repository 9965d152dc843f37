/* sched_suites.h -- the suites of the scheduler, one a file; each runs over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_SUITES_H
#define TRESTLE_TESTS_SCHED_SUITES_H

#include <check.h>

#define SCHED_SUITES(X)   \
    X(sched_ai)           \
    X(sched_appointments) \
    X(sched_auth)         \
    X(sched_chat)         \
    X(sched_events)       \
    X(sched_gate)         \
    X(sched_groups)       \
    X(sched_login)        \
    X(sched_mail)         \
    X(sched_me)           \
    X(sched_members)      \
    X(sched_planner)      \
    X(sched_rules)        \
    X(sched_scan)         \
    X(sched_usage)        \
    X(sched_user)

#define DECLARE(name) Suite *suite_##name(void);
SCHED_SUITES(DECLARE)
#undef DECLARE

#endif
