/* test_entity.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_entity(void)
{
    return suite_create("entity");
}
