/* breaker.c -- see breaker.h. There is no timer: the state changes when somebody asks.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/breaker.h"

static void become(breaker *b, breaker_state state)
{
    b->state = state;
    if (b->gauge != NULL)
        metrics_set(b->gauge, (int64_t)state);
}

bool breaker_may_pass(breaker *b, uint64_t now_us)
{
    if (b->state == BREAKER_CLOSED)
        return true;
    if (now_us < b->until_us)
        return false;
    become(b, BREAKER_HALF_OPEN);
    b->until_us = now_us + (uint64_t)BREAKER_PROBE_MS * 1000;
    return true;
}

void breaker_succeeded(breaker *b)
{
    b->failures = 0;
    b->open_ms = BREAKER_OPEN_MS;
    if (b->state != BREAKER_CLOSED)
        become(b, BREAKER_CLOSED);
}

void breaker_failed(breaker *b, uint64_t now_us)
{
    b->failures++;
    /* A call that began before it opened says nothing new. */
    if (b->state == BREAKER_OPEN || (b->state == BREAKER_CLOSED && b->failures < BREAKER_FAILURES))
        return;
    if (b->state == BREAKER_HALF_OPEN)
        b->open_ms = b->open_ms * 2 < BREAKER_OPEN_MAX_MS ? b->open_ms * 2 : BREAKER_OPEN_MAX_MS;
    become(b, BREAKER_OPEN);
    b->until_us = now_us + b->open_ms * 1000;
}
