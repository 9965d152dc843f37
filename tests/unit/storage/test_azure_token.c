/* test_azure_token.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_token(void)
{
    return suite_create("azure_token");
}
