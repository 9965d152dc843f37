/* accept.h -- what a caller can read.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_ACCEPT_H
#define TRESTLE_DOMAIN_ACTIONS_ACCEPT_H

#include "core/str.h"

/* Accept-Encoding: whether gzip may be sent. "gzip", "x-gzip" and "*" say so, unless with q=0; what names
 * gzip counts before "*". Absent or empty: no. */
bool accept_gzip(str accept_encoding);

#endif
