/* fuzz_scan.c -- any bytes as what a model read on a picture.
 *
 * What becomes of it is a document of ours: whole JSON within the limits, whose time can be read again.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/scan_read.h"

#include <stdlib.h>

#include "domain/scheduler/appointment_doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_item(arena *a, const json_val *item)
{
    scan_fields        f;
    appointment_change c;
    const json_val    *doc;
    when               time;
    bool               known;
    doc_step           s = {.id = STR("1-x"), .code = STR("APPT-1"), .now = STR("2026-01-02T03:04:05.678Z")};
    if (scan_read_item(a, item, &f) != NULL)
        return;
    demand(scan_title(a, &f).len > 0);
    scan_change(a, &f, zone_find(STR("UTC")), true, &c);
    if ((c.set & SET_TIME) == 0)
        c.time = (when){.status = TIME_UNRESOLVED, .missing = MISSING_DATE};
    str text = appointment_doc_text(a, NULL, &c, &s);
    demand(json_parse(a, text, &doc, NULL) == RES_OK);
    demand(json_text(json_get(doc, "title"), (str){0}).len <= (size_t)TITLE_MAX * 4);
    demand(json_text(json_get(doc, "location"), (str){0}).len <= (size_t)LOCATION_MAX * 4);
    demand(json_text(json_get(doc, "notes"), (str){0}).len <= (size_t)NOTES_MAX * 4);
    appointment_doc_time(a, doc, &time);
    demand(time.status == c.time.status);
    (void)appointment_doc_moment(doc, &time, &known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const json_val *v, *items[SCAN_ITEMS_MAX];
    arena          *a = arena_new(64 * MIB);
    if (a == NULL)
        return 0;
    if (json_parse(a, (str){(const char *)data, size}, &v, NULL) == RES_OK) {
        size_t n = scan_items(v, items);
        demand(n <= SCAN_ITEMS_MAX);
        for (size_t i = 0; i < n; i++)
            check_item(a, items[i]);
    }
    arena_free(a);
    return 0;
}
