/* sched_suites.h -- the suites of the scheduler, one a file; each runs over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_SUITES_H
#define TRESTLE_TESTS_SCHED_SUITES_H

#include <check.h>

#define SCHED_SUITES(X)         \
    X(sched_ai)                 \
    X(sched_app)                \
    X(sched_appointment_faults) \
    X(sched_appointments)       \
    X(sched_auth)               \
    X(sched_chat)               \
    X(sched_direct)             \
    X(sched_direct_more)        \
    X(sched_events)             \
    X(sched_gate)               \
    X(sched_groups)             \
    X(sched_ignite)             \
    X(sched_ignite_faults)      \
    X(sched_ignite_join)        \
    X(sched_ignite_photo)       \
    X(sched_invite)             \
    X(sched_login)              \
    X(sched_mail)               \
    X(sched_me)                 \
    X(sched_members)            \
    X(sched_planner)            \
    X(sched_purge)              \
    X(sched_rules)              \
    X(sched_scan)               \
    X(sched_start)              \
    X(sched_usage)              \
    X(sched_user)

#define DECLARE(name) Suite *suite_##name(void);
SCHED_SUITES(DECLARE)
#undef DECLARE

#endif
