/* sched_suites.h -- the suites of the scheduler, one a file; each runs over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_SUITES_H
#define TRESTLE_TESTS_SCHED_SUITES_H

#include <check.h>

#define SCHED_SUITES(X)    \
    X(sched_app)           \
    X(sched_ignite)        \
    X(sched_ignite_faults) \
    X(sched_ignite_join)   \
    X(sched_ignite_photo)  \
    X(sched_me)

#define DECLARE(name) Suite *suite_##name(void);
SCHED_SUITES(DECLARE)
#undef DECLARE

#endif
