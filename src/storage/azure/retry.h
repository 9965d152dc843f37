/* retry.h -- what is worth another try, and how long to wait before it (spec §8). Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_RETRY_H
#define TRESTLE_STORAGE_AZURE_RETRY_H

#include "runtime/fetch.h"

enum {
    RETRY_TRIES = 4,
    RETRY_BASE_MS = 200,
    RETRY_CAP_MS = 5000,
    RETRY_AFTER_MAX_MS = 60 * 1000, /* who is told to wait longer gives up at once */
    RETRY_SLOW_MS = 5000,           /* while a table or its like is being deleted: up to a minute in all */
    RETRY_SLOW_TRIES = 12,
};

bool retry_status(int status); /* 408, 429 and 5xx but 501 and 505 */
bool retry_failure(res r);     /* of fetch: nobody answered, too late, or half an answer */
bool retry_slowly(str code);   /* a name that is still being deleted */

/* Full jitter: anything from 0 to RETRY_BASE_MS doubled with each try, at most RETRY_CAP_MS. `tries` were
 * made already (1 or more); `random` is any number. */
uint64_t retry_delay_ms(unsigned tries, uint32_t random);

/* What the answer asks for: retry-after-ms, x-ms-retry-after-ms, Retry-After in seconds or as a date. */
bool retry_after_ms(const fetch_answer *got, int64_t now_us, uint64_t *ret);

#endif
