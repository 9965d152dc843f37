/* error_reply.h -- how a failure looks to a caller.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_ERROR_REPLY_H
#define TRESTLE_RUNTIME_ERROR_REPLY_H

#include "runtime/functions.h"

/* {"ok":false,"error":"not_found","message":"…","traceId":"…"}. Messages of 4xx name what the caller did
 * wrong; of 5xx only the code's own text goes out, for the rest is in the log under the trace id. Never NULL:
 * a constant when memory is out. */
str error_body(arena *a, const char *name, str message, str trace);
str error_body_of(arena *a, res code, str message, str trace);

/* The row for a path (still escaped), behind the prefix; NULL: the common shape. */
const error_shape *error_shape_of(const error_shape *rows, size_t count, str prefix, str path);

const char *error_name_of_status(int status); /* 413 -> "too_large" */

#endif
