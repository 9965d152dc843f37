/* multipart.h -- the body of a batch: several HTTP messages in one, as MIME (spec 5). Private to azure/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_MULTIPART_H
#define TRESTLE_STORAGE_AZURE_MULTIPART_H

#include "core/res.h"

/* One answer inside the answer. */
typedef struct {
    int status;
    str etag; /* empty: none */
    str body;
} multipart_part;

enum { MULTIPART_BOUNDARY_MAX = 200 };

/* The boundary that a Content-Type names, without its quotes; empty when it names none that can be used. */
str multipart_boundary(str content_type);

/* The HTTP answers in a body, in their order, wherever they are nested; at most `most`. Views into the body.
 * RES_UPSTREAM: not multipart, not one answer in it, one whose status is no number, or more than that. */
res multipart_read(str content_type, str body, multipart_part *parts, size_t most,
                   size_t *ret_count) MUST_USE;

/* Takes the index of the operation that failed off the front of a message, "1:The specified entity already
 * exists."; 0 when it names none (spec 5.3). */
size_t multipart_take_index(str *message);

#endif
