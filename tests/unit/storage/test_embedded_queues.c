/* test_embedded_queues.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_embedded_queues(void)
{
    return suite_create("embedded_queues");
}
