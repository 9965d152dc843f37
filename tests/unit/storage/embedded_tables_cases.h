/* embedded_tables_cases.h -- the part of test_embedded_tables.c that has a file of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_EMBEDDED_TABLES_CASES_H
#define TRESTLE_TESTS_EMBEDDED_TABLES_CASES_H

#include <check.h>

TCase *embedded_tables_cases_faults(void); /* damaged rows, failing allocations, cancelled waits */

#endif
