/* thread_arena.c -- see thread_arena.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/thread_arena.h"

static void free_arena(void *slot)
{
    arena_free(*(arena **)slot);
}

arena *thread_arena(arena *owner, size_t budget_bytes)
{
    arena **slot = arena_one(owner, arena *);
    if (slot == NULL || !arena_defer(owner, free_arena, (void *)slot))
        return NULL;
    *slot = arena_new(budget_bytes);
    return *slot;
}
