/* test_azure_sign.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_sign(void)
{
    return suite_create("azure_sign");
}
