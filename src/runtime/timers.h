/* timers.h -- standalone mode: starts timer functions by their schedules, as the Functions host would.
 *
 * A function never runs twice at once: a moment that comes while the last run goes on is skipped, and the
 * next run is told that it is past due. Times are UTC. Nothing is kept over a restart, so a moment missed
 * while down is not made up for.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_TIMERS_H
#define TRESTLE_RUNTIME_TIMERS_H

#include "runtime/dispatch.h"

typedef struct timers timers;

/* Reads the schedules; nothing runs yet. RES_CONFIG with *ret_error when one cannot be read or never comes.
 * `a` and `d` outlive the timers. */
res  timers_load(arena *a, const dispatcher *d, timers **ret, str *ret_error) MUST_USE;
void timers_start(timers *all);  /* accepts NULL, as all below */
void timers_stop(timers *all);   /* no new runs */
void timers_cancel(timers *all); /* runs under way are told to stop */

#endif
