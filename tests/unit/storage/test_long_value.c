/* test_long_value.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_long_value(void)
{
    return suite_create("long_value");
}
