/* test_update.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_update(void)
{
    return suite_create("update");
}
