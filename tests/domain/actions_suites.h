/* actions_suites.h -- the suites of the catalogue, one a file; each runs over both kinds of store.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ACTIONS_SUITES_H
#define TRESTLE_TESTS_ACTIONS_SUITES_H

#include <check.h>

#define ACTIONS_SUITES(X)  \
    X(actions_cache)       \
    X(actions_get)         \
    X(actions_list)        \
    X(actions_purge)       \
    X(actions_read_faults) \
    X(actions_readme)      \
    X(actions_search)      \
    X(actions_snapshot)    \
    X(actions_stats)       \
    X(actions_versions)    \
    X(batch)               \
    X(batch_faults)        \
    X(common)              \
    X(upsert)              \
    X(upsert_faults)

#define DECLARE(name) Suite *suite_##name(void);
ACTIONS_SUITES(DECLARE)
#undef DECLARE

#endif
