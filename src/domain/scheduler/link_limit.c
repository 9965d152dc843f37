/* link_limit.c -- see link_limit.h.
 *
 * Of each key one time is kept: that at which all it has taken is paid back. Each use puts it off by one
 * interval, and what would put it off beyond the window is refused. Keys are found by a digest with a secret
 * of this process, so nobody can choose one that takes another's place.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/link_limit.h"

#include <string.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/id.h"

enum { SETS = 2048, WAYS = 4, SECRET_BYTES = 32 };

#define SECOND UINT64_C(1000000)

typedef struct {
    sha256_digest key;
    uint64_t      paid_us; /* by the monotonic clock; 0: free */
} place;

static place places[SETS][WAYS];
static char  secret[SECRET_BYTES];
static bool  has_secret;

static sha256_digest key_of(link_limit kind, str who)
{
    if (!has_secret)
        id_random(secret, sizeof secret);
    has_secret = true;
    sha256_digest inner = hash_sha256(who);
    inner.at[0] ^= (uint8_t)kind;
    return hash_hmac_sha256((str){secret, sizeof secret}, (str){(const char *)inner.at, sizeof inner.at});
}

/* Its own place, else the one whose debt is paid first. */
static place *place_of(const sha256_digest *key)
{
    uint32_t n;
    memcpy(&n, key->at, sizeof n);
    place *set = places[n % SETS], *best = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].paid_us != 0 && memcmp(&set[i].key, key, sizeof *key) == 0)
            return &set[i];
        if (set[i].paid_us < best->paid_us)
            best = &set[i];
    }
    *best = (place){.key = *key};
    return best;
}

unsigned link_limit_take(link_limit kind, str who)
{
    sha256_digest key = key_of(kind, who);
    place        *p = place_of(&key);
    uint64_t      now = clock_mono_us(), window = LIMIT_WINDOW_S * SECOND;
    uint64_t      interval = window / (kind == LIMIT_ADDRESS ? LIMIT_PER_ADDRESS : LIMIT_PER_CLIENT);
    uint64_t      paid = (p->paid_us > now ? p->paid_us : now) + interval;
    if (paid > now + window)
        return (unsigned)((paid - now - window + SECOND - 1) / SECOND);
    p->paid_us = paid;
    return 0;
}

void link_limit_forget_for_test(void)
{
    memset(places, 0, sizeof places);
}
