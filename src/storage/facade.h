/* facade.h -- what tables.c, blobs.c and queues.c share: the refusals that need no back end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_FACADE_H
#define TRESTLE_STORAGE_FACADE_H

#include "backend.h"

enum { FACADE_SHOWN_MAX = 80 }; /* bytes of a refused name in a message */

/* Here, so that linters see what it returns. */
static inline res facade_no_storage(task *t)
{
    (void)task_fail(t, RES_CONFIG,
                    "no storage is set up: set AZURE_STORAGE_CONNECTION_STRING or start with --storage "
                    "embedded");
    return RES_CONFIG;
}

/* Containers and queues: 3 to 63 of a-z, 0-9 and single inner dashes. `what` begins the message. */
res facade_check_name(task *t, const char *what, str name) MUST_USE;
/* A text for a header: an ETag, a content type. Empty passes. */
res facade_check_header(task *t, const char *what, str value) MUST_USE;
res facade_check_most(task *t, unsigned most, unsigned max) MUST_USE; /* 1 to max */

/* A page of names: prefix, number and token are checked, position and token translated. */
res facade_list(task *t, backend_list_fn *list, void *self, str prefix, unsigned most, str token,
                str **ret_names, size_t *ret_count, str *ret_token) MUST_USE;
/* `created` is what a create answered: that it was there already is as good. */
res facade_created(task *t, res created) MUST_USE;

/* token.c: a back end's position as text for a URL, and back. The empty position is the empty token.
 * RES_INVALID: it is no token of that kind, or of an earlier version. */
typedef enum { TOKEN_NAMES = 'n', TOKEN_ROWS = 'r', TOKEN_BLOBS = 'b' } token_kind;
str token_encode(arena *a, token_kind kind, str position);
res token_decode(task *t, token_kind kind, str token, str *ret_position) MUST_USE;

#endif
