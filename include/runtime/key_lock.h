/* key_lock.h -- one task at a time for each key; the others wait in the order in which they came.
 *
 * A lock ends with key_lock_release, or with the arena of the task that took it, whichever is first: a task
 * that is left in the middle keeps nobody waiting. Not re-entrant.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_KEY_LOCK_H
#define TRESTLE_RUNTIME_KEY_LOCK_H

#include "runtime/task.h"

typedef struct key_lock key_lock;

/* The key is copied. RES_OK, or the reason why the task was stopped while it waited. */
res  key_lock_take(task *t, str key, key_lock **ret) MUST_USE;
void key_lock_release(key_lock *l); /* twice is as good as once */

/* For who wants to look before taking a lock that may not be needed: what was read between two calls that
 * give the same number, other than KEY_LOCK_HELD, was not changed by a holder in between. */
#define KEY_LOCK_HELD UINT64_MAX
uint64_t key_lock_turn(str key);

size_t key_lock_count(void); /* keys that are held now; for tests */

#endif
