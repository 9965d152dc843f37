/* runner.h -- runs suites of check and says how it went, one line each: `NAME: N passed, M failed`.
 *
 * A suite without a single test is a failure: it would be a green light that nobody wired.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_RUNNER_H
#define TRESTLE_TESTS_RUNNER_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;
    Suite *(*make)(void);
} runner_suite;

/* All suites, or those that the command line names. Returns the exit code. */
int runner_main(const runner_suite *suites, size_t count, int argc, char **argv);

/* One suite; returns how many of its tests failed. */
int runner_run(const runner_suite *s);

/* For unchecked fixtures, where check has no place for a failure: counts as a test of the running suite. */
void runner_note(bool ok, const char *what);

#endif
