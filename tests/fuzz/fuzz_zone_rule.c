/* fuzz_zone_rule.c -- any bytes as a POSIX rule, behind eight bytes of time.
 *
 * Offsets stay below 26 hours, the next change is later, and between two changes the offset is one.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/zone_rule.h"

enum { OFFSET_MAX_S = 26 * 3600, LOOKED_AT = 20 };

static const int64_t FIRST_S = -INT64_C(62135596800), LAST_S = INT64_C(253402300799);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_from(const zone_rule *r, int64_t at_s)
{
    int64_t next_s;
    for (int i = 0; i < LOOKED_AT; i++, at_s = next_s) {
        int32_t offset_s = zone_rule_offset_s(r, at_s);
        demand(offset_s >= -OFFSET_MAX_S && offset_s <= OFFSET_MAX_S);
        demand(offset_s == r->standard_s || (r->changes && offset_s == r->summer_s));
        if (!zone_rule_next(r, at_s, &next_s))
            return;
        demand(next_s > at_s);
        demand(zone_rule_offset_s(r, next_s - 1) == offset_s);
        demand(zone_rule_offset_s(r, at_s + (next_s - at_s) / 2) == offset_s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t   at_s;
    zone_rule r;
    if (size < sizeof at_s)
        return 0;
    memcpy(&at_s, data, sizeof at_s);
    at_s = at_s < FIRST_S ? FIRST_S : at_s > LAST_S ? LAST_S : at_s;
    if (zone_rule_parse((str){(const char *)data + sizeof at_s, size - sizeof at_s}, &r))
        check_from(&r, at_s);
    return 0;
}
