/* test_fiber.c -- stacks: they switch, keep their registers, are guarded, and go back to the pool.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/fiber.h"
#include "unit/suites.h"

typedef struct {
    int    steps;
    double sum;
} counter;

static void three_steps(void *arg)
{
    counter *c = arg;
    double   x = 0.5; /* lives across the switches, in a register or on the fiber's stack */
    for (int i = 0; i < 3; i++) {
        c->steps++;
        x *= 2;
        fiber_park();
    }
    c->sum = x;
}

START_TEST(a_fiber_goes_on_where_it_parked)
{
    counter c = {0};
    fiber   f;
    ck_assert(fiber_init(&f, three_steps, &c));
    for (int i = 1; i <= 3; i++) {
        fiber_enter(&f);
        ck_assert_int_eq(c.steps, i);
        ck_assert(!f.left);
    }
    fiber_enter(&f);
    ck_assert(f.left);
    ck_assert_double_eq(c.sum, 4.0);
    fiber_release(&f);
    fiber_pool_free();
}
END_TEST

START_TEST(many_fibers_keep_their_own_stacks)
{
    enum { MANY = 200 };
    counter c[MANY] = {{0}};
    fiber   f[MANY];
    for (int i = 0; i < MANY; i++)
        ck_assert(fiber_init(&f[i], three_steps, &c[i]));
    for (int round = 0; round < 4; round++)
        for (int i = MANY - 1; i >= 0; i--)
            fiber_enter(&f[i]);
    for (int i = 0; i < MANY; i++) {
        ck_assert(f[i].left);
        ck_assert_int_eq(c[i].steps, 3);
        fiber_release(&f[i]);
    }
    fiber_pool_free();
}
END_TEST

static void leave_at_once(void *arg)
{
    char frame[512];
    int *after = arg;
    memset(frame, 1, sizeof frame);
    if (frame[100] == 1)
        fiber_leave();
    *after = 1;
}

START_TEST(a_fiber_that_leaves_never_comes_back_and_its_stack_serves_again)
{
    int after = 0;
    for (int i = 0; i < 300; i++) {
        fiber f;
        ck_assert(fiber_init(&f, leave_at_once, &after));
        fiber_enter(&f);
        ck_assert(f.left);
        fiber_release(&f);
    }
    ck_assert_int_eq(after, 0);
    fiber_pool_free();
}
END_TEST

/* Takes a page of stack at each level; the guard page stops it. */
static __attribute__((noinline)) int dig(volatile char *above, int depth)
{
    volatile char page[4000];
    page[0] = (char)depth;
    if (depth == 0 || above == NULL)
        return page[0];
    return dig(page, depth - 1) + page[0];
}

static void dig_too_deep(void *arg)
{
    volatile char here = 0;
    *(int *)arg = dig(&here, (int)(fiber_stack_bytes() / 4000) + 50);
}

START_TEST(running_out_of_stack_is_a_fault_and_not_silent_damage)
{
    int   result = 0;
    fiber f;
    ck_assert(fiber_init(&f, dig_too_deep, &result));
    fiber_enter(&f);
}
END_TEST

Suite *suite_fiber(void)
{
    Suite *s = suite_create("fiber");
    TCase *c = tcase_create("switch");
    tcase_add_test(c, a_fiber_goes_on_where_it_parked);
    tcase_add_test(c, many_fibers_keep_their_own_stacks);
    tcase_add_test(c, a_fiber_that_leaves_never_comes_back_and_its_stack_serves_again);
    suite_add_tcase(s, c);

    /* Needs a process of its own to die in, and no checker that would turn the fault into an exit. */
    const char *fork_mode = getenv("CK_FORK");
    if (fork_mode == NULL || strcmp(fork_mode, "no") != 0) {
        TCase *death = tcase_create("guard");
#if defined(__SANITIZE_ADDRESS__)
        tcase_add_exit_test(death, running_out_of_stack_is_a_fault_and_not_silent_damage, 1);
#else
        tcase_add_test_raise_signal(death, running_out_of_stack_is_a_fault_and_not_silent_damage, SIGSEGV);
#endif
        suite_add_tcase(s, death);
    }
    return s;
}
