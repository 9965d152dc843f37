/* bulk_pace.c -- see bulk_pace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_pace.h"

#include "core/id.h"
#include "core/iso8601.h"

enum { FIRST_MS = 250, MOST_MS = 30 * 1000, ASKED_MOST_MS = 120 * 1000, DOUBLINGS_MAX = 7 };

void bulk_pace_success(bulk_pace *p)
{
    p->failing_us = 0;
    p->rounds = 0;
}

/* Up to a quarter more, so that several loaders do not come back at the same moment. */
static uint64_t with_jitter(uint64_t ms)
{
    uint16_t random;
    id_random(&random, sizeof random);
    return ms + ms * random / 4 / UINT16_MAX;
}

static uint64_t delay_ms(unsigned rounds, uint64_t asked_ms)
{
    uint64_t ms = (uint64_t)FIRST_MS << (rounds < DOUBLINGS_MAX ? rounds : DOUBLINGS_MAX);
    if (ms > MOST_MS)
        ms = MOST_MS;
    return with_jitter(asked_ms > 0 ? asked_ms : ms);
}

bool bulk_pace_failure(bulk_pace *p, uint64_t now_us, uint64_t sent_us, uint64_t retry_after_ms,
                       uint64_t limit_ms)
{
    if (p->failing_us == 0)
        p->failing_us = sent_us;
    bool     same_round = p->rounds > 0 && sent_us < p->set_us;
    uint64_t until_us = now_us + 1000 * delay_ms(same_round ? p->rounds - 1 : p->rounds, retry_after_ms);
    if (!same_round) {
        p->rounds++;
        p->set_us = now_us;
    }
    /* Within a round only what the server asks for makes the pause longer. */
    if (!same_round || (retry_after_ms > 0 && until_us > p->until_us))
        p->until_us = until_us;
    return now_us - p->failing_us <= 1000 * limit_ms;
}

uint64_t bulk_pace_wait_ms(const bulk_pace *p, uint64_t now_us)
{
    return p->rounds > 0 && p->until_us > now_us ? (p->until_us - now_us + 999) / 1000 : 0;
}

uint64_t bulk_pace_retry_after_ms(str value, int64_t wall_us)
{
    uint64_t ms = 0;
    int64_t  at_us;
    if (str_to_u64(value, &ms))
        ms = ms < ASKED_MOST_MS / 1000 ? ms * 1000 : ASKED_MOST_MS;
    else if (http_date_parse(value, &at_us) && at_us > wall_us)
        ms = (uint64_t)(at_us - wall_us) / 1000;
    return ms < ASKED_MOST_MS ? ms : ASKED_MOST_MS;
}
