/* profiles.h -- what people are called (UserProfiles, specification §2.10).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_PROFILES_H
#define TRESTLE_DOMAIN_SCHEDULER_PROFILES_H

#include "runtime/task.h"

enum { DISPLAY_NAME_MAX = 40 /* characters */ };

typedef struct {
    str display_name, photo_key, email, timezone, locale, created_at, updated_at;
} profile;

res  profile_read(task *t, str member_key, profile *ret) MUST_USE; /* RES_NOT_FOUND */
/* Members that are set (not empty) replace what is stored; createdAt stays. Makes the row when it is missing:
 * *ret_created (may be NULL) tells. */
res  profile_write(task *t, str member_key, const profile *changes, bool *ret_created) MUST_USE;
/* Makes it if it is missing; of a row that is there nothing is overwritten but an empty display name. */
res  profile_ensure(task *t, str member_key, str email, str display_name, bool *ret_created) MUST_USE;
bool display_name_ok(str name);

/* Names of many people at once, reads in parallel: displayName, else the local part of the address, else the
 * key. ret[i] is that of keys[i]. */
res profile_names(task *t, const str *member_keys, const str *emails, size_t count, str *ret) MUST_USE;

#endif
