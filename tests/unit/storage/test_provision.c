/* test_provision.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_provision(void)
{
    return suite_create("provision");
}
