/* contract.h -- one contract, two back ends: the same tests run against Azurite and against the file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_CONTRACT_H
#define TRESTLE_TESTS_CONTRACT_H

#include <check.h>

Suite *suite_tables(void);
Suite *suite_values(void);
Suite *suite_query(void);
Suite *suite_filter(void);
Suite *suite_batch(void);
Suite *suite_blobs(void);
Suite *suite_blob_lists(void);
Suite *suite_queues(void);
Suite *suite_races(void);
Suite *suite_history(void);

#endif
