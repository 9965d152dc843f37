/* cursor.h -- where a list goes on: base64 of {"continuation":"…"}, which means nothing to anybody else.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_CURSOR_H
#define TRESTLE_DOMAIN_ACTIONS_CURSOR_H

#include "core/arena.h"

str  cursor_make(arena *a, str token); /* of a page of the table; empty for the last one */
bool cursor_read(arena *a, str cursor, str *ret_token) MUST_USE; /* false: it is none; base64url is one too */

#endif
