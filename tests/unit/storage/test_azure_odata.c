/* test_azure_odata.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_odata(void)
{
    return suite_create("azure_odata");
}
