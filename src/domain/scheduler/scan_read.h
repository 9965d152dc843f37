/* scan_read.h -- what a model read on a picture, as fields of appointments (specification §4.4).
 *
 * Its answer is foreign: what does not fit is left out, and nothing of it is believed but texts, dates and
 * times.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_SCAN_READ_H
#define TRESTLE_DOMAIN_SCHEDULER_SCAN_READ_H

#include "domain/scheduler/appointments.h"

enum { SCAN_ITEMS_MAX = 10, SCAN_MINUTES = 60 /* when nobody says how long */, SCAN_TITLE_MAX = 80 };

/* One appointment, a list of them, or {"appointments": […]}: up to SCAN_ITEMS_MAX of them. */
size_t scan_items(const json_val *answer, const json_val *ret[SCAN_ITEMS_MAX]);

typedef struct {
    str title, date, start, location, notes; /* empty: not seen, or not usable */
    int minutes;                             /* 0: likewise */
} scan_fields;
/* NULL; or why it is none: "no_meaningful_content", "missing_required_fields". */
const char *scan_read_item(arena *a, const json_val *item, scan_fields *ret);

/* Its own, or made of what else is there. */
str  scan_title(arena *a, const scan_fields *f);
/* What a change sets: the fields that were seen, and for a new appointment a title whatever was. */
void scan_change(arena *a, const scan_fields *f, const zone *z, bool is_new, appointment_change *ret);

#endif
