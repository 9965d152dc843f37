/* test_azure_queues.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_queues(void)
{
    return suite_create("azure_queues");
}
