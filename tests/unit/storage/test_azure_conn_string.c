/* test_azure_conn_string.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_azure_conn_string(void)
{
    return suite_create("azure_conn_string");
}
