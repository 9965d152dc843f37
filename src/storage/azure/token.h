/* token.h -- the token of an identity, kept until shortly before it expires.
 *
 * From TOKEN_EARLY_S before its end on, one caller at a time tries to renew it, with one short try, while the
 * others (and that one, if it fails) go on with the old one. Without a usable token one caller fetches it
 * patiently, and all that need it meanwhile wait for that one attempt and share its outcome; if its task is
 * stopped, the next takes over. Attempts begin at least TOKEN_SPACING_S after the last that failed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_TOKEN_H
#define TRESTLE_STORAGE_AZURE_TOKEN_H

#include "runtime/gate.h"
#include "storage/azure/identity.h"

enum { TOKEN_EARLY_S = 120, TOKEN_LATE_S = 1, TOKEN_SPACING_S = 3, TOKEN_WHY_BYTES = 256 };

typedef struct {
    identity id;
    char    *text; /* on the heap; NULL: none */
    int64_t  expires_us;
    unsigned version; /* counts tokens */
    bool     busy;    /* somebody is fetching one */
    unsigned attempts;
    gate     over;   /* of that attempt */
    res      failed; /* of the latest attempt; RES_OK: it did not fail */
    int64_t  failed_us;
    char     why[TOKEN_WHY_BYTES];
} token_cache;

/* Frees the token with `a`. False: no memory. */
bool token_init(token_cache *c, arena *a, const identity *id) MUST_USE;
/* "Bearer …" in t's arena, and which one it is, for token_refused. */
res  token_get(task *t, token_cache *c, str *ret_authorization, unsigned *ret_version) MUST_USE;
void token_refused(token_cache *c, unsigned version); /* forgets it, unless there is a newer one already */

#endif
