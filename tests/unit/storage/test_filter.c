/* test_filter.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_filter(void)
{
    return suite_create("filter");
}
