/* handlers.h -- every function of the app.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_HANDLERS_H
#define TRESTLE_APP_HANDLERS_H

#include "runtime/functions.h"

extern const handler handlers[];
extern const size_t  handler_count;

/* How failures look, by the first segment of the path. */
extern const error_shape error_shapes[];
extern const size_t      error_shape_count;

#endif
