/* test_buf.c -- growing, limits and sticking failure, on the heap and in an arena alike.
 *
 * SPDX-License-Identifier: MIT */
#include "core/buf.h"

#include <check.h>
#include <string.h>

#include "unit/suites.h"

enum { ON_HEAP, IN_ARENA, MODES };

/* Each test runs in both modes: _i says in which. */
static arena *mode_arena(int mode)
{
    if (mode == ON_HEAP)
        return NULL;
    arena *a = arena_new(SIZE_MAX);
    ck_assert_ptr_nonnull(a);
    return a;
}

static void end(buf *b)
{
    arena *a = b->a;
    buf_free(b);
    arena_free(a);
}

START_TEST(a_fresh_buf_is_empty_and_holds_no_memory)
{
    buf b;
    buf_init(&b, mode_arena(_i), 100);
    ck_assert_uint_eq(buf_str(&b).len, 0);
    ck_assert_ptr_null(b.at);
    ck_assert(buf_add(&b, (str){NULL, 0}));
    ck_assert(!b.failed);
    end(&b);
}
END_TEST

START_TEST(everything_added_is_there_in_order)
{
    buf b;
    buf_init(&b, mode_arena(_i), MIB);
    ck_assert(buf_add(&b, STR("one")) && buf_add_char(&b, ' ') && buf_addf(&b, "%s-%d", "two", 3));
    ck_assert(buf_add_char(&b, '\0') && buf_add_u64(&b, 0) && buf_add_char(&b, ',') &&
              buf_add_u64(&b, UINT64_MAX));
    ck_assert(str_eq(buf_str(&b), STR("one two-3\0"
                                      "0,18446744073709551615")));
    end(&b);
}
END_TEST

START_TEST(a_million_bytes_survive_the_growing)
{
    buf b;
    buf_init(&b, mode_arena(_i), 2 * MIB);
    for (int i = 0; i < MIB; i++) {
        (void)buf_add_char(&b, (char)(i % 251)); /* a failure sticks, and is seen in the length */
        if (_i == IN_ARENA && i % 50000 == 0)
            ck_assert_ptr_nonnull(arena_alloc(b.a, 8)); /* so that it must move */
    }
    ck_assert_uint_eq(b.len, MIB);
    for (int i = 0; i < MIB; i++)
        if (b.at[i] != (char)(i % 251))
            ck_abort_msg("byte %d was lost", i);
    end(&b);
}
END_TEST

START_TEST(capacity_at_least_doubles_until_the_maximum)
{
    buf    b;
    size_t growths = 0, cap = 0;
    buf_init(&b, mode_arena(_i), 100000);
    while (buf_add_char(&b, 'x')) {
        if (b.cap != cap) {
            ck_assert(b.cap >= 2 * cap || b.cap == 100000);
            cap = b.cap;
            growths++;
        }
    }
    ck_assert_uint_eq(b.cap, 100000);
    ck_assert_uint_eq(b.len, 100000);
    ck_assert_uint_le(growths, 12);
    end(&b);
}
END_TEST

START_TEST(the_maximum_is_reached_but_never_passed)
{
    buf b;
    buf_init(&b, mode_arena(_i), 10);
    ck_assert(buf_add(&b, STR("0123456789")));
    ck_assert(!buf_add_char(&b, 'x'));
    ck_assert(b.failed);
    ck_assert(str_eq(buf_str(&b), STR("0123456789")));
    end(&b);

    buf_init(&b, mode_arena(_i), 0);
    ck_assert_ptr_nonnull(buf_reserve(&b, 0));
    ck_assert(buf_addf(&b, "%s", ""));
    ck_assert(!buf_add_char(&b, 'x'));
    end(&b);
}
END_TEST

START_TEST(a_failure_sticks_until_cleared)
{
    buf b;
    buf_init(&b, mode_arena(_i), 4);
    ck_assert(buf_add(&b, STR("ab")));
    ck_assert(!buf_add(&b, STR("cde")));
    ck_assert(!buf_add(&b, STR("c")));
    ck_assert(!buf_add(&b, STR("")));
    ck_assert(!buf_addf(&b, "%d", 1));
    ck_assert(!buf_add_u64(&b, 1));
    ck_assert_ptr_null(buf_reserve(&b, 0));
    ck_assert(str_eq(buf_str(&b), STR("ab")));

    char *at = b.at;
    buf_clear(&b);
    ck_assert(!b.failed && b.len == 0);
    ck_assert(buf_add(&b, STR("wxyz")));
    ck_assert_ptr_eq(b.at, at);
    end(&b);
}
END_TEST

/* The terminator that formatting writes needs a place of its own, at the end of the memory too. */
START_TEST(a_formatted_text_may_fill_the_buf_exactly)
{
    arena *a = mode_arena(_i);
    for (int len = 1; len < 300; len++) {
        buf b;
        buf_init(&b, a, (size_t)len + 3);
        ck_assert(buf_add(&b, STR("abc")));
        ck_assert(buf_addf(&b, "%0*d", len, 5));
        ck_assert_uint_eq(b.len, (size_t)len + 3);
        ck_assert_int_eq(b.at[b.len - 1], '5');
        ck_assert(!buf_addf(&b, "%c", 'x'));
        ck_assert_uint_eq(b.len, (size_t)len + 3);
        buf_free(&b);

        buf_init(&b, a, (size_t)len - 1);
        ck_assert(!buf_addf(&b, "%0*d", len, 5));
        ck_assert_uint_eq(b.len, 0);
        buf_free(&b);
    }
    arena_free(a);
}
END_TEST

START_TEST(reserved_room_can_be_written_by_hand)
{
    buf b;
    buf_init(&b, mode_arena(_i), 5000);
    ck_assert(buf_add(&b, STR("head")));
    char *to = buf_reserve(&b, 4996);
    ck_assert_ptr_eq(to, b.at + 4);
    memset(to, 'z', 4996);
    b.len += 4996;
    ck_assert(str_starts(buf_str(&b), STR("headz")));
    ck_assert_ptr_nonnull(buf_reserve(&b, 0));
    ck_assert_ptr_null(buf_reserve(&b, 1));
    end(&b);
}
END_TEST

START_TEST(a_size_that_wraps_is_refused)
{
    buf b;
    buf_init(&b, mode_arena(_i), SIZE_MAX);
    ck_assert(buf_add(&b, STR("abc")));
    ck_assert_ptr_null(buf_reserve(&b, SIZE_MAX));
    buf_clear(&b);
    ck_assert(buf_add(&b, STR("abc")));
    ck_assert_ptr_null(buf_reserve(&b, SIZE_MAX - 2));
    ck_assert(str_eq(buf_str(&b), STR("abc")));
    end(&b);
}
END_TEST

START_TEST(dropping_the_front_keeps_the_rest)
{
    buf b;
    buf_init(&b, mode_arena(_i), 100);
    buf_drop_front(&b, 3); /* nothing there yet */
    ck_assert(buf_add(&b, STR("hello world")));
    buf_drop_front(&b, 0);
    buf_drop_front(&b, 6);
    ck_assert(str_eq(buf_str(&b), STR("world")));
    ck_assert(buf_add_char(&b, '!'));
    ck_assert(str_eq(buf_str(&b), STR("world!")));
    buf_drop_front(&b, 6);
    ck_assert_uint_eq(b.len, 0);
    ck_assert(buf_add(&b, STR("x")));
    buf_drop_front(&b, SIZE_MAX);
    ck_assert_uint_eq(b.len, 0);
    end(&b);
}
END_TEST

START_TEST(a_freed_buf_is_usable_again)
{
    buf b;
    buf_init(&b, mode_arena(_i), 8);
    ck_assert(!buf_add(&b, STR("too long for it")));
    buf_free(&b);
    ck_assert(!b.failed && b.len == 0 && b.at == NULL && b.max == 8);
    ck_assert(buf_add(&b, STR("fits")));
    ck_assert(str_eq(buf_str(&b), STR("fits")));
    end(&b);
}
END_TEST

static bool fill(buf *b)
{
    for (int i = 0; i < 40; i++) {
        (void)buf_add(b, STR("some bytes, ")); /* a failure sticks, and is looked at once, below */
        (void)buf_addf(b, "%0200d", i);
    }
    return !b->failed;
}

START_TEST(a_buf_survives_every_failing_allocation)
{
    long nth = 1;
    for (;; nth++) {
        arena *a = arena_new(MIB);
        buf    b;
        buf_init(&b, a, 100000);
        arena_fail_at(nth);
        bool done = fill(&b);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert(done == pending);
        ck_assert_uint_le(b.len, b.cap);
        if (done)
            ck_assert_uint_eq(b.len, 40 * (12 + 200));
        arena_free(a);
        if (done)
            break;
    }
    ck_assert_int_ge(nth, 5);
}
END_TEST

START_TEST(a_spent_budget_fails_the_buf_and_keeps_what_it_held)
{
    arena *a = arena_new(1000);
    buf    b;
    buf_init(&b, a, MIB);
    while (buf_add(&b, STR("0123456789")))
        ck_assert_uint_lt(b.len, 1000);
    ck_assert(b.failed);
    ck_assert_uint_gt(b.len, 0);
    ck_assert_uint_eq(b.len % 10, 0);
    ck_assert(str_ends(buf_str(&b), STR("0123456789")));
    arena_free(a);
}
END_TEST

Suite *suite_buf(void)
{
    Suite *s = suite_create("buf");
    TCase *t = tcase_create("buf");
    tcase_add_loop_test(t, a_fresh_buf_is_empty_and_holds_no_memory, 0, MODES);
    tcase_add_loop_test(t, everything_added_is_there_in_order, 0, MODES);
    tcase_add_loop_test(t, a_million_bytes_survive_the_growing, 0, MODES);
    tcase_add_loop_test(t, capacity_at_least_doubles_until_the_maximum, 0, MODES);
    tcase_add_loop_test(t, the_maximum_is_reached_but_never_passed, 0, MODES);
    tcase_add_loop_test(t, a_failure_sticks_until_cleared, 0, MODES);
    tcase_add_loop_test(t, a_formatted_text_may_fill_the_buf_exactly, 0, MODES);
    tcase_add_loop_test(t, reserved_room_can_be_written_by_hand, 0, MODES);
    tcase_add_loop_test(t, a_size_that_wraps_is_refused, 0, MODES);
    tcase_add_loop_test(t, dropping_the_front_keeps_the_rest, 0, MODES);
    tcase_add_loop_test(t, a_freed_buf_is_usable_again, 0, MODES);
    tcase_add_test(t, a_buf_survives_every_failing_allocation);
    tcase_add_test(t, a_spent_budget_fails_the_buf_and_keeps_what_it_held);
    suite_add_tcase(s, t);
    return s;
}
