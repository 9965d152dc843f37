/* test_store_choose.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_store_choose(void)
{
    return suite_create("store_choose");
}
