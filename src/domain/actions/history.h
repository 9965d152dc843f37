/* history.h -- payloads that were replaced or purged, kept as blobs (specification §14).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_HISTORY_H
#define TRESTLE_DOMAIN_ACTIONS_HISTORY_H

#include "storage/tables.h"

typedef enum { HISTORY_UPDATE, HISTORY_PURGE } history_reason;

/* Puts the row's payload under its fixed name; RES_OK too when it was there already, or when history is off
 * and the reason is an update. */
res history_keep(task *t, const entity *old, history_reason why) MUST_USE;

/* Removes blobs older than the setting says. *ret_removed may be NULL. */
res history_expire(task *t, size_t *ret_removed) MUST_USE;

#endif
