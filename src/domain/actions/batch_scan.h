/* batch_scan.h -- where the elements of a JSON array stand in its text.
 *
 * Finds boundaries, and reads nothing in between: whether an element is JSON is for who reads it to say. So
 * its numbers and strings reach the record's reader as the caller wrote them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_BATCH_SCAN_H
#define TRESTLE_DOMAIN_ACTIONS_BATCH_SCAN_H

#include "core/str.h"

/* One value: its text, and how deep its brackets nest. */
typedef struct {
    str    text;
    size_t depth;
} batch_element;

/* Takes the value at the front of *rest, behind blanks. False: there is none, or it does not end. */
bool batch_scan_value(str *rest, batch_element *ret);

typedef enum {
    BATCH_SCAN_OK,
    BATCH_SCAN_BROKEN /* no JSON */,
    BATCH_SCAN_OTHER /* JSON, but no array */
} batch_scan_end;

/* [ … ] in the body, or in the member "records" of an object: the first `most` elements, and how many there
 * are in all. What stands in other members of the object is `skipped`, and must be looked at too. */
typedef bool   batch_skipped_fn(str value, size_t depth, void *ctx);
batch_scan_end batch_scan(str body, batch_element *elements, size_t most, size_t *ret_count,
                          batch_skipped_fn *skipped, void *ctx);

#endif
