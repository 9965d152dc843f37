/* test_clock.c -- the clocks run, unless a test has stopped them.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <check.h>
#include <pthread.h>
#include <time.h>

#include "unit/suites.h"

static void let_them_run(void)
{
    clock_unset_for_test();
}

static int64_t system_us(clockid_t which)
{
    struct timespec now;
    ck_assert_int_eq(clock_gettime(which, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

START_TEST(the_clocks_are_those_of_the_system)
{
    int64_t wall_before = system_us(CLOCK_REALTIME), wall = clock_wall_us(),
            wall_after = system_us(CLOCK_REALTIME);
    ck_assert_int_le(wall_before, wall);
    ck_assert_int_le(wall, wall_after);

    int64_t mono_before = system_us(CLOCK_MONOTONIC), mono = (int64_t)clock_mono_us();
    ck_assert_int_le(mono_before, mono);
    ck_assert_int_le(mono, system_us(CLOCK_MONOTONIC));
}
END_TEST

START_TEST(the_monotonic_clock_moves_on_and_never_back)
{
    uint64_t first = clock_mono_us(), last = first;
    while (last == first) { /* ends within a microsecond or the test's time limit */
        uint64_t now = clock_mono_us();
        ck_assert_uint_ge(now, last);
        last = now;
    }
}
END_TEST

START_TEST(a_stopped_clock_stands_still_until_set_again)
{
    clock_set_for_test(-5, 7);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(clock_wall_us(), -5);
        ck_assert_uint_eq(clock_mono_us(), 7);
    }
    clock_set_for_test(INT64_MAX, UINT64_MAX);
    ck_assert_int_eq(clock_wall_us(), INT64_MAX);
    ck_assert_uint_eq(clock_mono_us(), UINT64_MAX);

    clock_unset_for_test();
    ck_assert_int_ge(clock_wall_us(), system_us(CLOCK_REALTIME) - 60000000);
    ck_assert_uint_ne(clock_mono_us(), UINT64_MAX);
}
END_TEST

static void *read_clocks(void *arg)
{
    int64_t *ret = arg;
    ret[0] = clock_wall_us();
    ret[1] = (int64_t)clock_mono_us();
    return NULL;
}

START_TEST(another_thread_sees_the_stopped_clock)
{
    pthread_t thread;
    int64_t   got[2] = {0};
    clock_set_for_test(11, 22);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_clocks, got), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(got[0], 11);
    ck_assert_int_eq(got[1], 22);
}
END_TEST

Suite *suite_clock(void)
{
    Suite *s = suite_create("clock");
    TCase *t = tcase_create("clock");
    tcase_add_checked_fixture(t, NULL, let_them_run);
    tcase_add_test(t, the_clocks_are_those_of_the_system);
    tcase_add_test(t, the_monotonic_clock_moves_on_and_never_back);
    tcase_add_test(t, a_stopped_clock_stands_still_until_set_again);
    tcase_add_test(t, another_thread_sees_the_stopped_clock);
    suite_add_tcase(s, t);
    return s;
}
