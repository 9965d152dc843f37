/* test_azure_call.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_call(void)
{
    return suite_create("azure_call");
}
