/* thread_arena.h -- memory for work that a task gives to a thread.
 *
 * A thread must not use the task's arena, which others may use meanwhile (the children of par_each share
 * one). What it makes in an arena of its own needs no copy when that one is freed together with the task's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_THREAD_ARENA_H
#define TRESTLE_DOMAIN_ACTIONS_THREAD_ARENA_H

#include "core/arena.h"

/* Goes when `owner` goes; has no hook, so that allocations that fail give NULL. NULL: no memory. */
arena *thread_arena(arena *owner, size_t budget_bytes) MUST_USE;

#endif
