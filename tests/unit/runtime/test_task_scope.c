/* test_task_scope.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_task_scope(void)
{
    return suite_create("task_scope");
}
