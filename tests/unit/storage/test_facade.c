/* test_facade.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_facade(void)
{
    return suite_create("facade");
}
