/* session_text.h -- what a session's blob says, whoever wrote it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_AUTH_SESSION_TEXT_H
#define TRESTLE_DOMAIN_AUTH_SESSION_TEXT_H

#include "domain/auth.h"

enum { SESSION_ID_MAX = 128 };

bool session_id_ok(str id); /* [A-Za-z0-9._-], 1 to SESSION_ID_MAX */

/* False: it is none. *ret_expires_us is when it ends, which may have been long ago. */
bool session_decode(arena *a, str id, str text, auth_user *ret, int64_t *ret_expires_us);

#endif
