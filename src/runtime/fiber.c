/* fiber.c -- stacks, the switch between them, and what the memory checkers must be told.
 *
 *     low address  [guard page: no access][ stack, grows down ............ ][fiber_stack]  high address
 *
 * The descriptor of a stack lies at its upper end, so a parked fiber costs one page and no allocation beside
 * it.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/fiber.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

#if WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(low, high) 0u
#define VALGRIND_STACK_DEREGISTER(id)      ((void)(id))
#endif

#if !defined(TRESTLE_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define TRESTLE_FIBER_UCONTEXT
#endif
#ifdef TRESTLE_FIBER_UCONTEXT
#include <ucontext.h>
#endif

enum {
    STACK_BYTES = (WITH_ASAN ? 256 : 64) * 1024,
    POOL_MAX = 128, /* stacks kept for the next requests; the rest goes back to the system */
};

struct fiber_stack {
    fiber_stack *next; /* in the pool */
    char        *map;  /* guard page and stack */
    char        *low;  /* lowest byte of the stack */
    size_t       bytes;
    unsigned     valgrind_id;
#ifdef TRESTLE_FIBER_UCONTEXT
    ucontext_t context;
#endif
};

/* The thread of the loop is the only one that runs fibers; these are its own. */
static struct {
    fiber       *current;
    void        *loop_sp;
    const void  *loop_low; /* bounds of the loop's own stack, for AddressSanitizer */
    size_t       loop_bytes;
    fiber_stack *pool;
    size_t       pool_len;
    size_t       page;
#ifdef TRESTLE_FIBER_UCONTEXT
    ucontext_t loop_context;
#endif
} fibers;

/* ---- telling AddressSanitizer ---- */

static void asan_before_switch(void **save_fake, const void *low, size_t bytes)
{
#if WITH_ASAN
    __sanitizer_start_switch_fiber(save_fake, low, bytes);
#else
    (void)save_fake, (void)low, (void)bytes;
#endif
}

static void asan_after_switch(void *fake, const void **ret_low, size_t *ret_bytes)
{
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(fake, ret_low, ret_bytes);
#else
    (void)fake, (void)ret_low, (void)ret_bytes;
#endif
}

/* ---- stacks ---- */

static fiber_stack *map_stack(void)
{
    if (fibers.page == 0)
        fibers.page = (size_t)sysconf(_SC_PAGESIZE);

    size_t bytes = fibers.page + STACK_BYTES;
    char  *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (mprotect(map, fibers.page, PROT_NONE) != 0) {
        (void)munmap(map, bytes); /* nothing better to do about a failure here */
        return NULL;
    }

    size_t       room = (sizeof(fiber_stack) + 63) & ~(size_t)63;
    fiber_stack *s = (fiber_stack *)(void *)(map + bytes - room);
    s->map = map;
    s->low = map + fibers.page;
    s->bytes = STACK_BYTES - room;
    s->valgrind_id = VALGRIND_STACK_REGISTER(s->low, s->low + s->bytes);
    return s;
}

static void unmap_stack(fiber_stack *s)
{
    VALGRIND_STACK_DEREGISTER(s->valgrind_id);
    (void)munmap(s->map, fibers.page + STACK_BYTES); /* cannot fail for a mapping of ours */
}

static fiber_stack *take_stack(void)
{
    fiber_stack *s = fibers.pool;
    if (s == NULL)
        return map_stack();
    fibers.pool = s->next;
    fibers.pool_len--;
    return s;
}

static void give_stack(fiber_stack *s)
{
#if WITH_ASAN
    __asan_unpoison_memory_region(s->low, s->bytes); /* frames of an abandoned stack left their marks */
#endif
    if (fibers.pool_len >= POOL_MAX) {
        unmap_stack(s);
        return;
    }
    s->next = fibers.pool;
    fibers.pool = s;
    fibers.pool_len++;
}

void fiber_pool_free(void)
{
    while (fibers.pool != NULL) {
        fiber_stack *s = fibers.pool;
        fibers.pool = s->next;
        unmap_stack(s);
    }
    fibers.pool_len = 0;
}

size_t fiber_stack_bytes(void)
{
    return STACK_BYTES;
}

/* ---- the switch ---- */

static void first_frame(void *arg)
{
    fiber *f = arg;
    asan_after_switch(f->fake_stack, &fibers.loop_low, &fibers.loop_bytes);
    f->fn(f->arg);
    fiber_leave();
}

#ifdef TRESTLE_FIBER_UCONTEXT

/* makecontext passes ints only: the fiber that begins is the current one. */
static void context_begin(void)
{
    first_frame(fibers.current);
}

static void prepare(fiber *f)
{
    ucontext_t *c = &f->stack->context;
    (void)getcontext(c); /* fails on no platform we know */
    c->uc_stack.ss_sp = f->stack->low;
    c->uc_stack.ss_size = f->stack->bytes;
    c->uc_link = NULL;
    makecontext(c, context_begin, 0);
}

static void switch_to_fiber(fiber *f)
{
    (void)swapcontext(&fibers.loop_context, &f->stack->context);
}

static void switch_to_loop(fiber *f)
{
    (void)swapcontext(&f->stack->context, &fibers.loop_context);
}

#else

void trestle_fiber_switch(void **save_sp, void *load_sp);
void trestle_fiber_begin(void);

/* What trestle_fiber_switch will pop: the order of fiber_ARCH.S. The stack pointer must be 16-aligned where
 * the begin routine makes its call, as the ABI demands. */
static void prepare(fiber *f)
{
    uintptr_t top = ((uintptr_t)f->stack->low + f->stack->bytes) & ~(uintptr_t)15;
    uintptr_t *slot = (uintptr_t *)top;
#if defined(__x86_64__)
    slot -= 9; /* r15 r14 r13 r12 rbx rbp, return address; then 16 bytes below the top, aligned */
    memset(slot, 0, 9 * sizeof *slot);
    slot[2] = (uintptr_t)f;           /* r13 */
    slot[3] = (uintptr_t)first_frame; /* r12 */
    slot[6] = (uintptr_t)trestle_fiber_begin;
#else
    slot -= 20; /* 160 bytes: x19 … x30, d8 … d15 */
    memset(slot, 0, 20 * sizeof *slot);
    slot[0] = (uintptr_t)first_frame;          /* x19 */
    slot[1] = (uintptr_t)f;                    /* x20 */
    slot[11] = (uintptr_t)trestle_fiber_begin; /* x30 */
#endif
    f->sp = slot;
}

static void switch_to_fiber(fiber *f)
{
    trestle_fiber_switch(&fibers.loop_sp, f->sp);
}

static void switch_to_loop(fiber *f)
{
    trestle_fiber_switch(&f->sp, fibers.loop_sp);
}

#endif

/* ---- the interface ---- */

bool fiber_init(fiber *f, void (*fn)(void *arg), void *arg)
{
    fiber_stack *s = take_stack();
    if (s == NULL)
        return false;
    *f = (fiber){.stack = s, .fn = fn, .arg = arg};
    prepare(f);
    return true;
}

void fiber_enter(fiber *f)
{
    assert(fibers.current == NULL && !f->left);
    fibers.current = f;
    void *fake = NULL;
    asan_before_switch(&fake, f->stack->low, f->stack->bytes);
    switch_to_fiber(f);
    asan_after_switch(fake, NULL, NULL);
    fibers.current = NULL;
}

void fiber_park(void)
{
    fiber *f = fibers.current;
    asan_before_switch(&f->fake_stack, fibers.loop_low, fibers.loop_bytes);
    switch_to_loop(f);
    asan_after_switch(f->fake_stack, &fibers.loop_low, &fibers.loop_bytes);
}

_Noreturn void fiber_leave(void)
{
    fiber *f = fibers.current;
    f->left = true;
    asan_before_switch(NULL, fibers.loop_low, fibers.loop_bytes); /* NULL: the fake stack is given up too */
    switch_to_loop(f);
    assert(!"a fiber that was left is never entered again");
    __builtin_unreachable();
}

void fiber_release(fiber *f)
{
    if (f->stack != NULL)
        give_stack(f->stack);
    f->stack = NULL;
}
