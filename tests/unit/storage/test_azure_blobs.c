/* test_azure_blobs.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_blobs(void)
{
    return suite_create("azure_blobs");
}
