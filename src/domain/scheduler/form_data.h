/* form_data.h -- multipart/form-data (RFC 7578), read whole and strictly.
 *
 * Everything is a view into the body. What is unusual is refused rather than guessed at: text before the
 * first or behind the last boundary, two parts of one name, parts without a name, folded lines, transfer
 * encodings, more than FORM_PARTS_MAX parts.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_FORM_DATA_H
#define TRESTLE_DOMAIN_SCHEDULER_FORM_DATA_H

#include "core/str.h"

enum { FORM_PARTS_MAX = 8, FORM_LINES_MAX = 8, FORM_LINE_MAX = 1024, FORM_BOUNDARY_MAX = 70 };

typedef struct {
    str name;     /* as it stands between its quotes */
    str filename; /* a NULL pointer: none; it says nothing that could be relied on */
    str type;     /* Content-Type as it was said; may be empty */
    str body;
} form_part;

typedef struct {
    form_part at[FORM_PARTS_MAX];
    size_t    len;
} form_data;

/* content_type is the request's. False: it is none, or a broken one. */
bool             form_data_read(str content_type, str body, form_data *ret) MUST_USE;
const form_part *form_data_find(const form_data *f, str name); /* NULL: none */

#endif
