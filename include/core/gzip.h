/* gzip.h -- whole buffers in and out of gzip (RFC 1952), with a limit on what may come out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_GZIP_H
#define TRESTLE_CORE_GZIP_H

#include "core/arena.h"
#include "core/res.h"

enum { GZIP_FAST = 1, GZIP_DEFAULT = 6, GZIP_BEST = 9 };

/* The same input gives the same bytes (no time, no name in the header). */
res gzip_pack(arena *a, str data, int level, str *ret) MUST_USE;

/* RES_INVALID: not gzip, damaged, or bytes behind its end; RES_TOO_LARGE: more than max_bytes would come out.
 * Several members one after another are joined, as gunzip does. */
res gzip_unpack(arena *a, str packed, size_t max_bytes, str *ret) MUST_USE;

#endif
