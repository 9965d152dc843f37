/* fuzz_when.c -- any bytes as times in words and as TimeSpec, behind eight bytes of time.
 *
 * What comes out is always of one of the three kinds, reads back as it was written, and says the same the
 * second time.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/when.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_when(arena *a, const when *w)
{
    const json_val *v;
    when            back;
    demand(w->status == TIME_RESOLVED ? w->end_us > w->start_us && w->missing == 0 : w->end_us == 0);
    demand(w->status != TIME_PARTIAL || w->missing != 0);
    str text = json_print(a, when_json(a, w));
    demand(json_parse(a, text, &v, NULL) == RES_OK && when_read(a, v, &back) == RES_OK);
    demand(str_eq(text, json_print(a, when_json(a, &back))) && back.status == w->status);
}

static void check_words(arena *a, str words, const zone *z, int64_t now_us)
{
    when w, again;
    int  hour, minute;
    when_parse(a, words, z, now_us, &w);
    check_when(a, &w);
    when_parse(a, words, z, now_us, &again);
    demand(again.status == w.status && again.start_us == w.start_us && again.end_us == w.end_us);
    if (when_is_clock_only(words, &hour, &minute))
        demand(hour >= 0 && hour < 24 && minute >= 0 && minute < 60);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"UTC", "America/Los_Angeles", "Pacific/Apia", "Australia/Lord_Howe"};
    int64_t                  now_us;
    const json_val          *v;
    when                     w;
    if (size < sizeof now_us)
        return 0;
    arena *a = arena_new(64 * MIB);
    if (a == NULL)
        return 0;
    memcpy(&now_us, data, sizeof now_us);
    str         text = {(const char *)data + sizeof now_us, size - sizeof now_us};
    const zone *z = zone_find(str_of(names[data[0] % 4]));
    check_words(a, text, z != NULL ? z : zone_find(STR("UTC")), now_us);
    if (json_parse(a, text, &v, NULL) == RES_OK && when_read(a, v, &w) == RES_OK)
        check_when(a, &w);
    arena_free(a);
    return 0;
}
