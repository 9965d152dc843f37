/* update_internal.h -- what only the tests see of update.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_UPDATE_INTERNAL_H
#define TRESTLE_STORAGE_UPDATE_INTERNAL_H

#include "storage/update.h"

void update_set_wait_for_test(uint64_t max_ms); /* between tries; tests that use them all up */

#endif
