/* test_embedded_engine.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_embedded_engine(void)
{
    return suite_create("embedded_engine");
}
