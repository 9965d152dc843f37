/* test_azure_tables.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_tables(void)
{
    return suite_create("azure_tables");
}
