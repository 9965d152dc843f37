/* tables_cases.h -- the part of test_embedded_tables.c that has a file of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_TABLES_CASES_H
#define TRESTLE_TESTS_TABLES_CASES_H

#include <check.h>

TCase *tables_cases_faults(void); /* damaged rows, failing allocations, cancelled waits */

#endif
