/* test_embedded_tables.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_embedded_tables(void)
{
    return suite_create("embedded_tables");
}
