/* test_arena.c -- allocation, budget, exhaustion, cleanups, and that the sanitizer sees what is not handed
 * out.
 *
 * SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include <check.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#endif
#if defined(UNDER_ASAN)
#include <sanitizer/asan_interface.h>
#endif

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { PLENTY = 4 * MIB };

static const size_t sizes[] = {0,    1,    8,    15,    16,    17,    100,   512,    900, 1000,
                               1008, 1024, 2048, 32750, 32768, 65472, 65536, 100000, MIB};

START_TEST(every_allocation_is_aligned_and_nobody_elses)
{
    enum { MANY = 40 };
    arena         *a = arena_new(SIZE_MAX);
    unsigned char *all[MANY];
    size_t         bytes = sizes[_i];

    ck_assert_ptr_nonnull(a);
    for (int i = 0; i < MANY; i++) {
        all[i] = arena_alloc(a, bytes);
        ck_assert_ptr_nonnull(all[i]);
        ck_assert_uint_eq((uintptr_t)all[i] % 16, 0);
        memset(all[i], i + 1, bytes);
        for (int j = 0; j < i; j++)
            ck_assert_ptr_ne(all[i], all[j]);
    }
    for (int i = 0; i < MANY; i++)
        for (size_t k = 0; k < bytes; k++)
            if (all[i][k] != i + 1)
                ck_abort_msg("allocation %d was overwritten at %zu", i, k);
    arena_free(a);
}
END_TEST

START_TEST(zalloc_clears_memory_that_was_used_before_a_reset)
{
    arena *a = arena_new(PLENTY);
    memset(arena_alloc(a, 700), 0xAA, 700);
    arena_reset(a);
    unsigned char *at = arena_zalloc(a, 700);
    for (int i = 0; i < 700; i++)
        ck_assert_uint_eq(at[i], 0);
    uint64_t *many = arena_array(a, uint64_t, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_eq(many[i], 0);
    arena_free(a);
}
END_TEST

START_TEST(used_counts_whole_steps_of_16_bytes)
{
    arena *a = arena_new(PLENTY);
    ck_assert_uint_eq(arena_used_bytes(a), 0);
    ck_assert_ptr_nonnull(arena_alloc(a, 1));
    ck_assert_uint_eq(arena_used_bytes(a), 16);
    ck_assert_ptr_nonnull(arena_alloc(a, 0));
    ck_assert_uint_eq(arena_used_bytes(a), 32);
    ck_assert_ptr_nonnull(arena_alloc(a, 17));
    ck_assert_uint_eq(arena_used_bytes(a), 64);
    ck_assert_ptr_nonnull(arena_alloc(a, 100000));
    ck_assert_uint_eq(arena_used_bytes(a), 64 + 100000);
    arena_free(a);
}
END_TEST

START_TEST(the_budget_is_spent_to_the_last_byte_and_not_further)
{
    arena *a = arena_new(160);
    for (int i = 0; i < 10; i++)
        ck_assert_ptr_nonnull(arena_alloc(a, 16));
    ck_assert_ptr_null(arena_alloc(a, 1));
    ck_assert_ptr_null(arena_alloc(a, 0));
    ck_assert_uint_eq(arena_used_bytes(a), 160);
    arena_reset(a);
    ck_assert_ptr_null(arena_alloc(a, 161));
    ck_assert_ptr_nonnull(arena_alloc(a, 160));
    ck_assert_ptr_null(arena_alloc(a, 1));
    arena_free(a);

    a = arena_new(0);
    ck_assert_ptr_null(arena_alloc(a, 1));
    arena_free(a);
}
END_TEST

static const size_t absurd[] = {SIZE_MAX,       SIZE_MAX - 1, SIZE_MAX - 15,   SIZE_MAX - 16,
                                SIZE_MAX - 100, SIZE_MAX / 2, SIZE_MAX / 4 + 1};

START_TEST(an_absurd_size_is_exhaustion)
{
    arena *a = arena_new(SIZE_MAX);
    char  *p = arena_alloc(a, 8);
    ck_assert_ptr_null(arena_alloc(a, absurd[_i]));
    ck_assert_ptr_null(arena_zalloc(a, absurd[_i]));
    ck_assert_ptr_null(arena_regrow(a, p, 8, absurd[_i]));
    ck_assert_ptr_null(arena_zalloc_array(a, absurd[_i], 16));
    ck_assert_ptr_null(arena_zalloc_array(a, 16, absurd[_i]));
    ck_assert_uint_eq(arena_used_bytes(a), 16);
    ck_assert_ptr_nonnull(arena_alloc(a, 8));
    arena_free(a);
}
END_TEST

START_TEST(an_array_whose_size_wraps_is_exhaustion)
{
    arena *a = arena_new(SIZE_MAX);
    ck_assert_ptr_null(arena_zalloc_array(a, SIZE_MAX / 8 + 2, 8)); /* wraps to 8 */
    ck_assert_ptr_nonnull(arena_zalloc_array(a, 0, 8));
    arena_free(a);
}
END_TEST

static void count_up(void *ctx)
{
    ++*(int *)ctx;
}

START_TEST(every_function_gives_nothing_once_exhausted)
{
    int    called = 0, cleaned = 0;
    arena *a = arena_new(64);
    char  *old = arena_alloc(a, 64);
    arena_on_exhausted(a, count_up, &called);

    ck_assert_ptr_null(arena_alloc(a, 1));
    ck_assert_ptr_null(arena_zalloc(a, 1));
    ck_assert_ptr_null(arena_array(a, int, 1));
    ck_assert_ptr_null(arena_regrow(a, old, 64, 65));
    ck_assert_ptr_null(arena_regrow(a, NULL, 0, 1));
    ck_assert_ptr_null(arena_copy(a, STR("x")).at);
    ck_assert_uint_eq(arena_copy(a, STR("x")).len, 0);
    ck_assert_ptr_null(arena_cstr(a, STR("x")));
    ck_assert_ptr_null(arena_strf(a, "%d", 1).at);
    ck_assert_uint_eq(arena_strf(a, "%0500d", 1).len, 0);
    ck_assert(!arena_defer(a, count_up, &cleaned));
    ck_assert_int_eq(called, 11);
    ck_assert_uint_eq(arena_used_bytes(a), 64);
    ck_assert_ptr_nonnull(arena_copy(a, STR("")).at); /* takes no memory */

    arena_free(a);
    ck_assert_int_eq(cleaned, 0);
}
END_TEST

static jmp_buf leave;

static void jump_out(void *ctx)
{
    (void)ctx;
    longjmp(leave, 1);
}

/* What the runtime does: the hook never comes back, and the arena is freed afterwards. */
START_TEST(a_hook_that_never_returns_leaves_a_sound_arena)
{
    arena *volatile a = arena_new(10 * KIB);
    volatile int rounds = 0;
    static int   cleaned = 0;
    arena_on_exhausted(a, jump_out, NULL);
    ck_assert(arena_defer(a, count_up, &cleaned));

    if (setjmp(leave) == 0)
        for (;;) {
            memset(arena_alloc(a, 100), 1, 100);
            rounds++;
        }
    ck_assert_int_eq(rounds, (10 * KIB - 32) / 112);
    arena_free(a);
    ck_assert_int_eq(cleaned, 1);
}
END_TEST

START_TEST(the_newest_allocation_grows_where_it_is)
{
    arena *a = arena_new(PLENTY);
    char  *one = arena_alloc(a, 10), *two = arena_alloc(a, 10);
    memcpy(two, "0123456789", 10);

    char *grown = arena_regrow(a, two, 10, 200);
    ck_assert_ptr_eq(grown, two);
    memset(grown + 10, 'x', 190);
    ck_assert_uint_eq(arena_used_bytes(a), 16 + 208);
    char *next = arena_alloc(a, 16);
    ck_assert(next >= grown + 208);

    char *moved = arena_regrow(a, one, 10, 200);
    ck_assert_ptr_ne(moved, one);
    ck_assert_mem_eq(grown, "0123456789x", 11);
    arena_free(a);
}
END_TEST

START_TEST(regrow_keeps_the_bytes_across_every_kind_of_block)
{
    arena *a = arena_new(16 * MIB);
    size_t len = 1;
    char  *at = arena_regrow(a, NULL, 0, len);
    at[0] = 0;
    for (; len < MIB; len = len * 3 / 2 + 1) {
        at = arena_regrow(a, at, len, len * 3 / 2 + 1);
        ck_assert_ptr_nonnull(at);
        for (size_t i = len; i < len * 3 / 2 + 1; i++)
            at[i] = (char)(i % 101);
        if (len % 2 == 0)
            ck_assert_ptr_nonnull(arena_alloc(a, 24)); /* now it is no longer the newest */
    }
    for (size_t i = 0; i < len; i++)
        if (at[i] != (char)(i % 101))
            ck_abort_msg("byte %zu was lost", i);
    ck_assert_ptr_eq(arena_regrow(a, at, len, len), at);
    ck_assert_ptr_eq(arena_regrow(a, at, len, 1), at);
    arena_free(a);
}
END_TEST

START_TEST(growing_in_place_is_charged_to_the_budget)
{
    arena *a = arena_new(128);
    char  *at = arena_alloc(a, 10);
    ck_assert_ptr_eq(arena_regrow(a, at, 10, 16), at); /* the rounding was paid for */
    ck_assert_uint_eq(arena_used_bytes(a), 16);
    ck_assert_ptr_null(arena_regrow(a, at, 16, 129));
    ck_assert_ptr_eq(arena_regrow(a, at, 16, 128), at);
    ck_assert_uint_eq(arena_used_bytes(a), 128);
    arena_free(a);
}
END_TEST

START_TEST(texts_are_copied_and_terminated)
{
    arena *a = arena_new(PLENTY);
    char   text[] = "abc";
    str    copy = arena_copy(a, (str){text, 3});
    char  *cstr = arena_cstr(a, (str){text, 2});
    memset(text, '?', 3);
    ck_assert(str_eq(copy, STR("abc")));
    ck_assert_str_eq(cstr, "ab");
    ck_assert_str_eq(arena_cstr(a, (str){NULL, 0}), "");
    ck_assert_uint_eq(arena_copy(a, (str){NULL, 0}).len, 0);
    ck_assert_ptr_nonnull(arena_copy(a, (str){NULL, 0}).at);
    arena_free(a);
}
END_TEST

/* Around the size up to which a text is formatted only once. */
START_TEST(a_formatted_text_of_any_length_is_whole_and_terminated)
{
    arena *a = arena_new(PLENTY);
    str    s = arena_strf(a, "%s%0*d", "", _i, 7);
    ck_assert_uint_eq(s.len, (size_t)(_i > 0 ? _i : 1));
    ck_assert_int_eq(s.at[s.len], '\0');
    ck_assert_int_eq(s.at[s.len - 1], '7');
    for (size_t i = 0; i + 1 < s.len; i++)
        ck_assert_int_eq(s.at[i], '0');
    arena_free(a);
}
END_TEST

START_TEST(an_empty_formatted_text_is_no_failure)
{
    arena *a = arena_new(PLENTY);
    str    s = arena_strf(a, "%s", "");
    ck_assert_uint_eq(s.len, 0);
    ck_assert_ptr_nonnull(s.at);
    ck_assert_int_eq(s.at[0], '\0');
    arena_free(a);
}
END_TEST

static char   trace[16];
static size_t trace_len;

static void note(void *arg)
{
    trace[trace_len++] = *(char *)arg;
}

START_TEST(cleanups_run_once_and_newest_first)
{
    arena *a = arena_new(PLENTY);
    trace_len = 0;
    ck_assert(arena_defer(a, note, "a"));
    ck_assert(arena_defer(a, note, "b"));
    ck_assert_ptr_nonnull(arena_alloc(a, 100000)); /* the nodes outlive a change of blocks */
    ck_assert(arena_defer(a, note, "c"));
    arena_reset(a);
    ck_assert_uint_eq(trace_len, 3);
    ck_assert_mem_eq(trace, "cba", 3);
    arena_reset(a);
    ck_assert_uint_eq(trace_len, 3);
    ck_assert(arena_defer(a, note, "d"));
    arena_free(a);
    ck_assert_uint_eq(trace_len, 4);
    ck_assert_int_eq(trace[3], 'd');
    arena_free(NULL);
}
END_TEST

typedef struct {
    arena *a;
    int    runs, hook_calls;
    void  *beyond_budget;
} busy;

static void busy_cleanup(void *arg)
{
    busy *b = arg;
    if (++b->runs < 3)
        ck_assert(arena_defer(b->a, busy_cleanup, b));
    b->beyond_budget = arena_alloc(b->a, PLENTY + 1);
}

/* The hook would leave a stack that does not exist any more when cleanups run. */
START_TEST(a_cleanup_may_use_the_arena_and_never_meets_the_hook)
{
    arena *a = arena_new(PLENTY);
    busy   b = {.a = a};
    arena_on_exhausted(a, count_up, &b.hook_calls);
    ck_assert(arena_defer(a, busy_cleanup, &b));
    arena_reset(a);
    ck_assert_int_eq(b.runs, 3);
    ck_assert_int_eq(b.hook_calls, 0);
    ck_assert_ptr_null(b.beyond_budget);

    ck_assert_ptr_null(arena_alloc(a, PLENTY + 1)); /* budget and hook are still there */
    ck_assert_int_eq(b.hook_calls, 1);
    arena_free(a);
}
END_TEST

START_TEST(a_reset_arena_starts_again_in_its_first_block)
{
    arena *a = arena_new(PLENTY);
    void  *first = arena_alloc(a, 100);
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_nonnull(arena_alloc(a, 5000));
    arena_reset(a);
    ck_assert_uint_eq(arena_used_bytes(a), 0);
    ck_assert_ptr_eq(arena_alloc(a, 100), first);
    arena_free(a);
}
END_TEST

START_TEST(the_nth_allocation_fails_and_only_that_one)
{
    int    called = 0;
    arena *a = arena_new(PLENTY), *b = arena_new(PLENTY);
    arena_on_exhausted(a, count_up, &called);

    ck_assert(!arena_fail_pending());
    arena_fail_at(3);
    ck_assert_ptr_nonnull(arena_alloc(a, 1));
    ck_assert_ptr_nonnull(arena_alloc(b, 1)); /* any arena of the thread counts */
    ck_assert(arena_fail_pending());
    ck_assert_ptr_null(arena_alloc(a, 1));
    ck_assert(!arena_fail_pending());
    ck_assert_int_eq(called, 1);
    ck_assert_ptr_nonnull(arena_alloc(a, 1));

    arena_fail_at(1);
    arena_fail_at(0);
    ck_assert(!arena_fail_pending());
    ck_assert_ptr_nonnull(arena_alloc(a, 1));
    arena_free(a);
    arena_free(b);
}
END_TEST

/* A bit of everything; false as soon as one step fails. */
static bool use_everything(arena *a, int *cleaned)
{
    if (!arena_defer(a, count_up, cleaned))
        return false;
    char *at = arena_alloc(a, 900);
    if (at == NULL || (at = arena_regrow(a, at, 900, 910)) == NULL ||
        (at = arena_regrow(a, at, 910, 9000)) == NULL)
        return false;
    memset(at, 1, 9000);
    return arena_array(a, uint64_t, 10000) != NULL && arena_copy(a, STR("x")).at != NULL &&
           arena_cstr(a, STR("y")) != NULL && arena_strf(a, "%0300d", 1).len == 300;
}

START_TEST(an_arena_survives_every_failing_allocation)
{
    long nth = 1;
    for (;; nth++) {
        int    cleaned = 0;
        arena *a = arena_new(PLENTY);
        arena_fail_at(nth);
        bool done = use_everything(a, &cleaned);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        arena_free(a);
        ck_assert_int_eq(cleaned, nth > 1);
        ck_assert(done == pending);
        if (done)
            break;
    }
    ck_assert_int_eq(nth, 9); /* eight allocations, so each was made to fail */
}
END_TEST

#if defined(UNDER_ASAN)
static const size_t watched[] = {1, 7, 8, 15, 16, 17, 500, 5000, 100000};

START_TEST(what_is_not_handed_out_is_poisoned)
{
    arena *a = arena_new(PLENTY);
    size_t bytes = watched[_i];
    char  *one = arena_alloc(a, bytes), *two = arena_alloc(a, bytes);

    ck_assert(__asan_region_is_poisoned(one, bytes) == NULL);
    ck_assert(__asan_region_is_poisoned(two, bytes) == NULL);
    for (int i = 0; i < 16; i++)
        ck_assert(__asan_address_is_poisoned(one + bytes + i));
    ck_assert(__asan_address_is_poisoned(one - 1) && __asan_address_is_poisoned(two - 1));

    one = arena_regrow(a, one, bytes, bytes + 5);
    two = arena_regrow(a, two, bytes, bytes + 5);
    ck_assert(__asan_region_is_poisoned(one, bytes + 5) == NULL &&
              __asan_address_is_poisoned(one + bytes + 5));
    ck_assert(__asan_region_is_poisoned(two, bytes + 5) == NULL &&
              __asan_address_is_poisoned(two + bytes + 5));

    arena_reset(a);
    char *first = arena_alloc(a, 3);
    ck_assert(!__asan_address_is_poisoned(first + 2));
    for (int i = 3; i < 500; i++)
        ck_assert(__asan_address_is_poisoned(first + i));
    arena_free(a);
}
END_TEST
#endif

static void add_running_out(Suite *s)
{
    TCase *t = tcase_create("running out");
    tcase_add_test(t, the_budget_is_spent_to_the_last_byte_and_not_further);
    tcase_add_loop_test(t, an_absurd_size_is_exhaustion, 0, COUNT(absurd));
    tcase_add_test(t, an_array_whose_size_wraps_is_exhaustion);
    tcase_add_test(t, every_function_gives_nothing_once_exhausted);
    tcase_add_test(t, a_hook_that_never_returns_leaves_a_sound_arena);
    tcase_add_test(t, growing_in_place_is_charged_to_the_budget);
    tcase_add_test(t, the_nth_allocation_fails_and_only_that_one);
    tcase_add_test(t, an_arena_survives_every_failing_allocation);
    suite_add_tcase(s, t);
}

Suite *suite_arena(void)
{
    Suite *s = suite_create("arena");
    TCase *t = tcase_create("allocation");
    tcase_add_loop_test(t, every_allocation_is_aligned_and_nobody_elses, 0, COUNT(sizes));
    tcase_add_test(t, zalloc_clears_memory_that_was_used_before_a_reset);
    tcase_add_test(t, used_counts_whole_steps_of_16_bytes);
    tcase_add_test(t, the_newest_allocation_grows_where_it_is);
    tcase_add_test(t, regrow_keeps_the_bytes_across_every_kind_of_block);
    tcase_add_test(t, texts_are_copied_and_terminated);
    tcase_add_loop_test(t, a_formatted_text_of_any_length_is_whole_and_terminated, 0, 2);
    tcase_add_loop_test(t, a_formatted_text_of_any_length_is_whole_and_terminated, 250, 260);
    tcase_add_loop_test(t, a_formatted_text_of_any_length_is_whole_and_terminated, 70000, 70001);
    tcase_add_test(t, an_empty_formatted_text_is_no_failure);
    tcase_add_test(t, cleanups_run_once_and_newest_first);
    tcase_add_test(t, a_cleanup_may_use_the_arena_and_never_meets_the_hook);
    tcase_add_test(t, a_reset_arena_starts_again_in_its_first_block);
#if defined(UNDER_ASAN)
    tcase_add_loop_test(t, what_is_not_handed_out_is_poisoned, 0, COUNT(watched));
#endif
    suite_add_tcase(s, t);
    add_running_out(s);
    return s;
}
