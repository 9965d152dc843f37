/* arena.c -- bump allocation in a chain of blocks.
 *
 * Layout of the first block, one malloc of FIRST_BLOCK_BYTES, and of any further one:
 *
 *     | struct arena | red zone | allocation | red zone | allocation | red zone | free … |
 *     | struct block | red zone | allocation | red zone | …                              |
 *
 * Red zones exist only under AddressSanitizer and valgrind; with free memory they are poisoned, and of an
 * allocation just the bytes asked for are not. Blocks double from SECOND_BLOCK_BYTES to BLOCK_BYTES_MAX. An
 * allocation that would take more than half of the next block gets a block of its own, and the current one
 * goes on being filled.
 *
 * What must stay true: `cur` and `end` delimit the free bytes of the current block, `cur` is 16-byte aligned,
 * and `used` is never above `budget`. Nothing has been changed when the hook is called, for it may not come
 * back.
 *
 * SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

#if defined(ARENA_ASAN)
#include <sanitizer/asan_interface.h>
#elif defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#define ARENA_VALGRIND 1
#include <valgrind/memcheck.h>
#endif
#endif

enum {
    ALIGN = 16,
    RED_ZONE_BYTES = 16,
    FIRST_BLOCK_BYTES = 1 * KIB,
    SECOND_BLOCK_BYTES = 2 * KIB,
    BLOCK_BYTES_MAX = 64 * KIB,
    FORMAT_GUESS_BYTES = 256, /* most formatted texts are shorter, and then are formatted once */
};

/* Far above any memory there is, and far enough below SIZE_MAX that adding a header and zones cannot
 * overflow. */
#define ALLOC_BYTES_MAX (SIZE_MAX / 4)

typedef struct block block;
struct block {
    _Alignas(ALIGN) block *next;
    size_t total_bytes;
};

typedef struct cleanup cleanup;
struct cleanup {
    cleanup *next;
    void (*fn)(void *arg);
    void *arg;
};

struct arena {
    _Alignas(ALIGN) char *cur; /* the next allocation */
    char    *end;              /* of the current block */
    char    *newest;
    size_t   used_bytes;
    size_t   budget_bytes;
    size_t   red_zone_bytes; /* 0 unless somebody watches */
    size_t   next_block_bytes;
    block   *blocks; /* all but the first, newest first */
    cleanup *cleanups;
    void (*exhausted)(void *ctx);
    void *exhausted_ctx;
};

/* How many allocations until one fails; 0 is off. */
static _Thread_local long fail_countdown;

/* ---- poisoning: what nobody may touch yet, and what one caller may ---- */

static size_t red_zone_wanted(void)
{
#if defined(ARENA_ASAN)
    return RED_ZONE_BYTES;
#elif defined(ARENA_VALGRIND)
    return RUNNING_ON_VALGRIND ? RED_ZONE_BYTES : 0;
#else
    return 0;
#endif
}

static inline void poison(const arena *a, void *at, size_t bytes)
{
    if (a->red_zone_bytes == 0)
        return;
#if defined(ARENA_ASAN)
    ASAN_POISON_MEMORY_REGION(at, bytes);
#elif defined(ARENA_VALGRIND)
    (void)VALGRIND_MAKE_MEM_NOACCESS(at, bytes);
#else
    (void)at;
    (void)bytes;
#endif
}

static inline void unpoison(const arena *a, void *at, size_t bytes)
{
    if (a->red_zone_bytes == 0)
        return;
#if defined(ARENA_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#elif defined(ARENA_VALGRIND)
    (void)VALGRIND_MAKE_MEM_UNDEFINED(at, bytes);
#else
    (void)at;
    (void)bytes;
#endif
}

/* ---- sizes ---- */

/* An empty allocation takes a place too: its pointer is nobody else's. */
static inline size_t rounded(size_t bytes)
{
    return bytes == 0 ? ALIGN : (bytes + (ALIGN - 1)) & ~(size_t)(ALIGN - 1);
}

static inline size_t room(const arena *a)
{
    return (size_t)(a->end - a->cur);
}

static inline size_t budget_left(const arena *a)
{
    return a->budget_bytes - a->used_bytes;
}

/* ---- blocks ---- */

static void use_space(arena *a, char *from, char *end)
{
    poison(a, from, (size_t)(end - from));
    a->cur = from + a->red_zone_bytes;
    a->end = end;
    a->newest = NULL;
}

static void use_first_block(arena *a)
{
    use_space(a, (char *)(a + 1), (char *)a + FIRST_BLOCK_BYTES);
    a->next_block_bytes = SECOND_BLOCK_BYTES;
}

static block *add_block(arena *a, size_t total_bytes)
{
    block *b = malloc(total_bytes);
    if (b == NULL)
        return NULL;
    *b = (block){.next = a->blocks, .total_bytes = total_bytes};
    a->blocks = b;
    if (a->next_block_bytes < BLOCK_BYTES_MAX)
        a->next_block_bytes *= 2;
    return b;
}

static void free_blocks(arena *a)
{
    while (a->blocks != NULL) {
        block *b = a->blocks;
        a->blocks = b->next;
        unpoison(a, b + 1, b->total_bytes - sizeof *b);
        free(b);
    }
}

/* ---- allocation ---- */

static inline void *bump(arena *a, size_t bytes, size_t need)
{
    char *at = a->cur;
    a->cur += need + a->red_zone_bytes;
    a->newest = at;
    a->used_bytes += need;
    unpoison(a, at, bytes);
    return at;
}

/* Whether this allocation is the one that the test wants to see fail. */
static bool fails_on_purpose(void)
{
    return fail_countdown > 0 && --fail_countdown == 0;
}

static void *exhaust(arena *a)
{
    if (a->exhausted != NULL)
        a->exhausted(a->exhausted_ctx);
    return NULL;
}

static void *alloc_alone(arena *a, size_t bytes, size_t need)
{
    block *b = add_block(a, sizeof *b + need + 2 * a->red_zone_bytes);
    if (b == NULL)
        return exhaust(a);
    char *at = (char *)(b + 1) + a->red_zone_bytes;
    poison(a, b + 1, b->total_bytes - sizeof *b);
    unpoison(a, at, bytes);
    a->used_bytes += need;
    return at;
}

/* Everything but the plain bump: a torture test, the end of the budget, the end of a block. */
static __attribute__((noinline)) void *alloc_slowly(arena *a, size_t bytes)
{
    if (fails_on_purpose() || bytes > ALLOC_BYTES_MAX)
        return exhaust(a);
    size_t need = rounded(bytes);
    if (need > budget_left(a))
        return exhaust(a);
    if (need + a->red_zone_bytes <= room(a))
        return bump(a, bytes, need);

    size_t total = a->next_block_bytes;
    if (need > total / 2)
        return alloc_alone(a, bytes, need);

    block *b = add_block(a, total);
    if (b == NULL)
        return exhaust(a);
    use_space(a, (char *)(b + 1), (char *)b + total);
    return bump(a, bytes, need);
}

/* Whether an allocation can grow where it stands: within its rounding, or as the newest into the free bytes.
 */
static bool grows_in_place(const arena *a, const char *old, size_t old_need, size_t new_need)
{
    if (old_need == new_need)
        return true;
    return old == a->newest && new_need - old_need <= room(a);
}

static void run_cleanups(arena *a)
{
    /* The hook leaves a task's stack, and there is none to be left any more: a cleanup that allocates gets
     * NULL. */
    void (*hook)(void *) = a->exhausted;
    a->exhausted = NULL;
    while (a->cleanups != NULL) {
        cleanup c = *a->cleanups;
        a->cleanups = c.next;
        c.fn(c.arg);
    }
    a->exhausted = hook;
}

arena *arena_new(size_t budget_bytes)
{
    arena *a = malloc(FIRST_BLOCK_BYTES);
    if (a == NULL)
        return NULL;
    *a = (arena){.budget_bytes = budget_bytes, .red_zone_bytes = red_zone_wanted()};
    use_first_block(a);
    return a;
}

void arena_free(arena *a)
{
    if (a == NULL)
        return;
    run_cleanups(a);
    free_blocks(a);
    unpoison(a, a + 1, FIRST_BLOCK_BYTES - sizeof *a);
    free(a);
}

void arena_reset(arena *a)
{
    run_cleanups(a);
    free_blocks(a);
    use_first_block(a);
    a->used_bytes = 0;
}

void arena_on_exhausted(arena *a, void (*exhausted)(void *ctx), void *ctx)
{
    a->exhausted = exhausted;
    a->exhausted_ctx = ctx;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (__builtin_expect(bytes <= room(a) && fail_countdown == 0, 1)) {
        size_t need = rounded(bytes);
        if (__builtin_expect(need + a->red_zone_bytes <= room(a) && need <= budget_left(a), 1))
            return bump(a, bytes, need);
    }
    return alloc_slowly(a, bytes);
}

void *arena_zalloc(arena *a, size_t bytes)
{
    void *at = arena_alloc(a, bytes);
    return at != NULL ? memset(at, 0, bytes) : NULL;
}

void *arena_zalloc_array(arena *a, size_t n, size_t each_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        bytes = SIZE_MAX;
    return arena_zalloc(a, bytes);
}

void *arena_regrow(arena *a, void *old, size_t old_bytes, size_t new_bytes)
{
    if (old == NULL)
        return arena_alloc(a, new_bytes);
    if (new_bytes <= old_bytes)
        return old;

    /* Too much for the rounding as well: the allocation below refuses it. */
    if (new_bytes <= ALLOC_BYTES_MAX) {
        size_t old_need = rounded(old_bytes), new_need = rounded(new_bytes);
        if (grows_in_place(a, old, old_need, new_need)) {
            if (fails_on_purpose() || new_need - old_need > budget_left(a))
                return exhaust(a);
            if (new_need != old_need)
                a->cur += new_need - old_need;
            a->used_bytes += new_need - old_need;
            unpoison(a, (char *)old + old_bytes, new_bytes - old_bytes);
            return old;
        }
    }

    void *at = arena_alloc(a, new_bytes);
    return at != NULL ? memcpy(at, old, old_bytes) : NULL;
}

str arena_copy(arena *a, str s)
{
    if (s.len == 0)
        return STR("");
    char *at = arena_alloc(a, s.len);
    if (at == NULL)
        return (str){NULL, 0};
    memcpy(at, s.at, s.len);
    return (str){at, s.len};
}

char *arena_cstr(arena *a, str s)
{
    char *at = arena_alloc(a, s.len < SIZE_MAX ? s.len + 1 : SIZE_MAX);
    if (at == NULL)
        return NULL;
    if (s.len > 0)
        memcpy(at, s.at, s.len);
    at[s.len] = '\0';
    return at;
}

str arena_strf(arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str s = arena_vstrf(a, fmt, args);
    va_end(args);
    return s;
}

str arena_vstrf(arena *a, const char *fmt, va_list args)
{
    char    guess[FORMAT_GUESS_BYTES];
    va_list again;

    va_copy(again, args);
    int   len = vsnprintf(guess, sizeof guess, fmt, args);
    char *at = len >= 0 ? arena_alloc(a, (size_t)len + 1) : NULL;
    if (at != NULL && (size_t)len < sizeof guess)
        memcpy(at, guess, (size_t)len + 1);
    else if (at != NULL)
        vsnprintf(at, (size_t)len + 1, fmt, again);
    va_end(again);
    return at != NULL ? (str){at, (size_t)len} : (str){NULL, 0};
}

bool arena_defer(arena *a, void (*fn)(void *arg), void *arg)
{
    cleanup *c = arena_alloc(a, sizeof *c);
    if (c == NULL)
        return false;
    *c = (cleanup){.next = a->cleanups, .fn = fn, .arg = arg};
    a->cleanups = c;
    return true;
}

size_t arena_used_bytes(const arena *a)
{
    return a->used_bytes;
}

void arena_set_budget(arena *a, size_t bytes)
{
    a->budget_bytes = bytes > a->used_bytes ? bytes : a->used_bytes;
}

void arena_fail_at(long nth)
{
    fail_countdown = nth > 0 ? nth : 0;
}

bool arena_fail_pending(void)
{
    return fail_countdown > 0;
}
