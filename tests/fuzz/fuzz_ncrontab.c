/* fuzz_ncrontab.c -- any bytes as a schedule, behind eight bytes of time.
 *
 * The next moment must be later, must match every field, and no second before it may match; of those the
 * first thousand are looked at.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/iso8601.h"
#include "runtime/cron.h"

enum { LOOKED_AT = 1000 };

static const int64_t YEAR_1_US = -INT64_C(62135596800000000), YEAR_9999_US = INT64_C(253402300799000000);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static bool matches(const cron *c, int64_t us)
{
    civil_time t;
    civil_from_us(us, &t);
    return (c->seconds >> t.second & 1) != 0 && (c->minutes >> t.minute & 1) != 0 &&
           (c->hours >> t.hour & 1) != 0 && (c->days >> t.day & 1) != 0 && (c->months >> t.month & 1) != 0 &&
           (c->weekdays >> t.weekday & 1) != 0;
}

static void check_next(const cron *c, int64_t after_us)
{
    int64_t next_us;
    if (!cron_next(c, after_us, &next_us))
        return;
    demand(next_us > after_us);
    if (c->every_us > 0) {
        demand(next_us - after_us == c->every_us);
        return;
    }
    demand(matches(c, next_us) && next_us % 1000000 == 0);
    if (after_us < YEAR_1_US || after_us > YEAR_9999_US)
        return;
    int64_t second = (after_us - YEAR_1_US) / 1000000 * 1000000 + YEAR_1_US + 1000000;
    for (int i = 0; i < LOOKED_AT && second < next_us; i++, second += 1000000)
        demand(!matches(c, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t after_us;
    if (size < sizeof after_us)
        return 0;
    memcpy(&after_us, data, sizeof after_us);
    str text = {(const char *)data + sizeof after_us, size - sizeof after_us};

    arena *a = arena_new(1 * MIB);
    if (a == NULL)
        return 0;
    cron c;
    str  why = STR("");
    if (cron_parse(a, text, &c, &why) == RES_OK) {
        check_next(&c, after_us);
        check_next(&c, after_us % (4000000000LL * 1000000)); /* somewhere around our days */
    } else {
        demand(why.len > 0);
    }
    arena_free(a);
    return 0;
}
