/* token_rig.h -- what the tests of tokens share: a scripted server that vouches for us, and somebody who asks
 * for a token.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_TOKEN_RIG_H
#define TRESTLE_TESTS_TOKEN_RIG_H

#include "unit/storage/azure_rig.h"

#define SOON "retry-after-ms: 1\r\n"

extern wire *vouching; /* who gives tokens, between vouch and stop_vouching */

const char *json_answer(const char *body);
const char *token_answer(const char *token, long lives_s);

/* Starts it, as App Service of this process; its answers as in wire.h. */
void vouch(const wire_answer *rows, size_t count);
void vouch_one(const char *bytes);
void stop_vouching(void); /* and unsets all settings of identities */

typedef struct {
    token_cache *c;
    const char  *got; /* "" when it failed */
    const char  *message;
    res          result;
} ask;

token_cache *new_cache(void);           /* either kind of identity will do */
ask          ask_token(token_cache *c); /* in a loop of its own */

TCase *token_cases_identity(void);

#endif
