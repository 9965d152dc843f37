/* breaker.h -- spares callers the wait for an endpoint that has been failing, and the endpoint their calls.
 *
 *     closed     all pass; BREAKER_FAILURES calls in a row that fail open it
 *     open       none pass, for 5 s; each time that it opens again without a success between, twice as long,
 *                up to 30 s
 *     half open  the first call after that passes, alone: its success closes, its failure opens again. When
 *                nothing is heard of it (its client may have left), another one passes after 10 s.
 *
 * A call counts once, however many tries it made. What counts as failure is the caller's to say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_BREAKER_H
#define TRESTLE_STORAGE_AZURE_BREAKER_H

#include "core/metrics.h"
#include "core/str.h"

enum { BREAKER_FAILURES = 5, BREAKER_OPEN_MS = 5000, BREAKER_OPEN_MAX_MS = 30000, BREAKER_PROBE_MS = 10000 };

typedef enum { BREAKER_CLOSED, BREAKER_HALF_OPEN, BREAKER_OPEN } breaker_state;

typedef struct {
    breaker_state state;
    unsigned      failures; /* in a row */
    uint64_t      open_ms;  /* of the next or current time that it is open */
    uint64_t      until_us; /* by clock_mono_us: when the next one may pass */
    metric       *gauge;    /* the state as a number; NULL until the first use */
} breaker;

#define BREAKER_INIT ((breaker){.open_ms = BREAKER_OPEN_MS})

bool breaker_may_pass(breaker *b, uint64_t now_us) MUST_USE;
void breaker_succeeded(breaker *b);
void breaker_failed(breaker *b, uint64_t now_us);

#endif
