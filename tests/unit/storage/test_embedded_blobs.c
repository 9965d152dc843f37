/* test_embedded_blobs.c -- not written yet.
 *
 * SPDX-License-Identifier: MIT */
#include "unit/suites.h"

Suite *suite_embedded_blobs(void)
{
    return suite_create("embedded_blobs");
}
