/* gunzip.h -- gzip (RFC 1952) unpacked in pieces, for what does not fit into memory. See gzip.h for what
 * does.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_GUNZIP_H
#define TRESTLE_CORE_GUNZIP_H

#include "core/res.h"

typedef struct gunzip gunzip;

gunzip *gunzip_new(void) MUST_USE; /* NULL: no memory */
void    gunzip_free(gunzip *g);    /* accepts NULL */

bool gunzip_knows(str head); /* do these first bytes (two are enough) look like gzip? */

/* Unpacks from the front of *in, which is shortened by what was read, into out. No bytes out and nothing left
 * in *in: it needs more. RES_INVALID: damaged, or something else behind its end; members one after another
 * are joined, and zeros that pad the end are skipped, as gunzip does. RES_MEMORY. */
res gunzip_more(gunzip *g, str *in, char *out, size_t out_bytes, size_t *ret_len) MUST_USE;

/* The input may end here: a member is complete, and no other has begun. */
bool gunzip_may_end(const gunzip *g);

#endif
