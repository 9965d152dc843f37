/* seen.h -- the texts of sessions that were seen a moment ago.
 *
 * Only what was valid is kept, and each use looks at its expiry again: a session that has been removed from
 * the store is believed for SEEN_FOR_S at the most.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_AUTH_SEEN_H
#define TRESTLE_DOMAIN_AUTH_SEEN_H

#include "core/arena.h"

enum { SEEN_MAX = 8192, SEEN_FOR_S = 60 };

bool seen_find(arena *a, str id, str *ret_text); /* a copy in a */
void seen_keep(str id, str text); /* does not renew one that is there: it is believed from then on */
void seen_forget(void);

#endif
