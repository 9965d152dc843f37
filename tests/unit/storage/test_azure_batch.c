/* test_azure_batch.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_batch(void)
{
    return suite_create("azure_batch");
}
