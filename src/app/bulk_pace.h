/* bulk_pace.h -- when the next batch may go: at once, or after the pause that a busy or absent server needs.
 *
 * One pause is for all batches: a server that is throttled is not helped by N loaders that each wait for
 * themselves. Each failed round doubles it, a success ends it; what failed in answer to a request that was
 * sent before the pause began is of the same round.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_PACE_H
#define TRESTLE_APP_BULK_PACE_H

#include "core/str.h"

typedef struct {
    uint64_t until_us;   /* nobody sends before */
    uint64_t set_us;     /* when that was decided */
    uint64_t failing_us; /* since when nothing has succeeded; 0: all is well */
    unsigned rounds;
} bulk_pace;

void bulk_pace_success(bulk_pace *p);

/* Notes a failure at now_us of what was sent at sent_us. retry_after_ms: what the server asks for; 0: it does
 * not. False: it has been failing for longer than limit_ms. */
bool bulk_pace_failure(bulk_pace *p, uint64_t now_us, uint64_t sent_us, uint64_t retry_after_ms,
                       uint64_t limit_ms);

/* How long to wait before sending, in milliseconds; 0: not at all. */
uint64_t bulk_pace_wait_ms(const bulk_pace *p, uint64_t now_us);

/* The value of Retry-After, seconds or a date, in milliseconds, at most two minutes; 0: none that is
 * understood.
 */
uint64_t bulk_pace_retry_after_ms(str value, int64_t wall_us);

#endif
