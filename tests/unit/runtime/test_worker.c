/* test_worker.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_worker(void)
{
    return suite_create("worker");
}
