/* clock.c -- the system's clocks, unless a test has stopped them.
 *
 * The values of a test are atomic, because threads of the pool and of the log read the time as well.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { US_PER_SECOND = 1000000, NS_PER_US = 1000 };

static atomic_bool      stopped;
static _Atomic int64_t  stopped_wall_us;
static _Atomic uint64_t stopped_mono_us;

static int64_t read_us(clockid_t which)
{
    struct timespec now;
    int             failed = clock_gettime(which, &now);
    assert(failed == 0); /* both clocks exist on every Linux */
    (void)failed;
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / NS_PER_US;
}

int64_t clock_wall_us(void)
{
    if (atomic_load_explicit(&stopped, memory_order_acquire))
        return atomic_load_explicit(&stopped_wall_us, memory_order_relaxed);
    return read_us(CLOCK_REALTIME);
}

uint64_t clock_mono_us(void)
{
    if (atomic_load_explicit(&stopped, memory_order_acquire))
        return atomic_load_explicit(&stopped_mono_us, memory_order_relaxed);
    return (uint64_t)read_us(CLOCK_MONOTONIC);
}

void clock_set_for_test(int64_t wall_us, uint64_t mono_us)
{
    atomic_store_explicit(&stopped_wall_us, wall_us, memory_order_relaxed);
    atomic_store_explicit(&stopped_mono_us, mono_us, memory_order_relaxed);
    atomic_store_explicit(&stopped, true, memory_order_release);
}

void clock_unset_for_test(void)
{
    atomic_store_explicit(&stopped, false, memory_order_release);
}
