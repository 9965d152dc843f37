/* fuzz_zone_file.c -- any bytes as a zoneinfo file.
 *
 * What is read has ascending changes, and offsets below 26 hours and a second.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/zone_file.h"

enum { OFFSET_MAX_S = 26 * 3600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static bool is_offset(int32_t offset_s)
{
    return offset_s >= -OFFSET_MAX_S && offset_s <= OFFSET_MAX_S;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    zone_table t;
    if (!zone_file_read((str){(const char *)data, size}, &t))
        return 0;
    demand(is_offset(t.first_offset_s) && (t.count == 0 || t.changes != NULL));
    for (size_t i = 0; i < t.count; i++)
        demand(is_offset(t.changes[i].offset_s) && (i == 0 || t.changes[i - 1].at_s < t.changes[i].at_s));
    if (t.has_rule)
        demand(is_offset(
            zone_rule_offset_s(&t.rule, t.count > 0 ? t.changes[t.count - 1].at_s % (1LL << 40) : 0)));
    free(t.changes);
    return 0;
}
