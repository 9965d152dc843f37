/* clock.h -- the wall clock and the monotonic clock, both settable by tests.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_CLOCK_H
#define TRESTLE_CORE_CLOCK_H

#include <stdint.h>

int64_t  clock_wall_us(void); /* microseconds since 1970, UTC */
uint64_t clock_mono_us(void); /* never goes back; for durations and deadlines */

/* Tests: both clocks stand still at these values until set again; clock_unset_for_test() lets them run. */
void clock_set_for_test(int64_t wall_us, uint64_t mono_us);
void clock_unset_for_test(void);

#endif
