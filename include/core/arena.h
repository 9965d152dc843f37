/* arena.h -- memory that is freed all at once, with a budget and deferred cleanups.
 *
 * Every request owns one arena; whatever is allocated from it lives exactly as long as the request. There is
 * no free. Unused memory is poisoned for AddressSanitizer and valgrind, so an overflow inside an arena is
 * found.
 *
 * Running out. Every allocation counts against the budget. When it is spent, or the system has no more, the
 * arena calls its `exhausted` hook, which in a task does not return: the runtime leaves the task's stack and
 * answers 503. So arena_alloc never returns NULL in a task. Without a hook (outside tasks) it returns NULL,
 * and the caller checks.
 *
 * Foreign resources (an easy handle, a file) are registered with arena_defer before they are acquired,
 * because a task's stack may be left at any allocation and nothing on it would run.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_ARENA_H
#define TRESTLE_CORE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "core/str.h"

typedef struct arena arena;

/* NULL when the system has no memory. The first block is small (1 KiB): many parked requests fit. */
arena *arena_new(size_t budget_bytes) MUST_USE;
void   arena_free(arena *a);  /* runs the cleanups, newest first; accepts NULL */
void   arena_reset(arena *a); /* as free + new, keeping the first block; for pools */

/* `exhausted` must not return if callers rely on arena_alloc never giving NULL. */
void arena_on_exhausted(arena *a, void (*exhausted)(void *ctx), void *ctx);

void *arena_alloc(arena *a, size_t bytes) MUST_USE; /* 16-byte aligned, not cleared */
void *arena_zalloc(arena *a, size_t bytes) MUST_USE;
/* Grows the newest allocation in place where it can, else copies. old_bytes is what was asked for at first.
 */
void *arena_regrow(arena *a, void *old, size_t old_bytes, size_t new_bytes) MUST_USE;

/* Cleared objects: point *p = arena_one(a, point); place *all = arena_array(a, place, n). An n that overflows
 * is exhaustion. */
#define arena_one(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc_array((a), (n), sizeof(type)))
void *arena_zalloc_array(arena *a, size_t n, size_t each_bytes) MUST_USE;

str   arena_copy(arena *a, str s) MUST_USE;
char *arena_cstr(arena *a, str s) MUST_USE;                                  /* a terminated copy */
str   arena_strf(arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE; /* also terminated */
str   arena_vstrf(arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0) MUST_USE;

/* Runs fn(arg) when the arena is freed or reset. False (never in a task): exhausted, not registered. */
bool arena_defer(arena *a, void (*fn)(void *arg), void *arg);

size_t arena_used_bytes(const arena *a);
/* For an arena whose owner learns later how much it may take; never below what is used already. */
void   arena_set_budget(arena *a, size_t bytes);

/* For torture tests: the nth allocation from now on (1 = the next), in any arena of this thread, is
 * exhaustion. 0 turns it off. arena_fail_pending tells whether it is still to come: false after a run means
 * that the nth allocation was reached. */
void arena_fail_at(long nth);
bool arena_fail_pending(void);

#endif
