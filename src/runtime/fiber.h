/* fiber.h -- a stack of its own for a piece of code, and the switch between it and the loop's stack.
 *
 * One thread: the loop enters a fiber, the fiber parks, and the loop is back where it was. A fiber never
 * enters another. The stacks come from a pool, each above a guard page, so that an overflow is a fault and
 * not damage elsewhere.
 *
 * The switch is ten instructions of assembly on x86-64 and aarch64 (fiber_ARCH.S) and ucontext elsewhere, or
 * with -Dfiber=ucontext. AddressSanitizer and valgrind are told of every stack and every switch; that is all
 * in fiber.c.
 *
 * aarch64 is compiled in the test suite when a cross compiler is there; it has not been run on hardware.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_RUNTIME_FIBER_H
#define TRESTLE_RUNTIME_FIBER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fiber_stack fiber_stack;

typedef struct fiber {
    fiber_stack *stack;
    void        *sp; /* of the parked fiber; tests/support/fiber_gdb.py reads it */
    void (*fn)(void *arg);
    void *arg;
    void *fake_stack; /* AddressSanitizer's */
    bool  left;       /* fn has returned, or fiber_leave was called */
} fiber;

/* False when there is no memory for a stack. fn starts to run at the first fiber_enter. */
bool           fiber_init(fiber *f, void (*fn)(void *arg), void *arg);
void           fiber_enter(fiber *f); /* from the loop's stack; returns when the fiber parks or leaves */
void           fiber_park(void);      /* from the fiber */
/* From the fiber: its stack is given up as it is, nothing on it runs any more. */
_Noreturn void fiber_leave(void);
void           fiber_release(fiber *f); /* from the loop's stack: the stack goes back to the pool */

size_t fiber_stack_bytes(void);
void   fiber_pool_free(void); /* unmaps the stacks in the pool */

#endif
