/* test_id.c -- random bytes and UUIDs.
 *
 * Randomness cannot be proven, but its absence can be seen: a place that is never written, a digit that never
 * varies.
 *
 * SPDX-License-Identifier: MIT */
#include "core/id.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* Each byte must differ from 0 in one of 16 runs; by chance one does not in 2^-128. */
START_TEST(every_byte_asked_for_is_written_and_none_beyond)
{
    enum { RUNS = 16 };
    static const size_t sizes[] = {0, 1, 16, 255, 256, 257, 5000};
    size_t              bytes = sizes[_i];
    unsigned char      *seen = calloc(bytes + 1, 1), *got = calloc(bytes + 1, 1);

    ck_assert(seen != NULL && got != NULL);
    for (int run = 0; run < RUNS; run++) {
        id_random(got, bytes);
        ck_assert_uint_eq(got[bytes], 0);
        for (size_t i = 0; i < bytes; i++)
            seen[i] |= got[i];
    }
    for (size_t i = 0; i < bytes; i++)
        ck_assert_msg(seen[i] != 0, "byte %zu of %zu is always 0", i, bytes);
    free(seen);
    free(got);
}
END_TEST

static void ignore(int signal_number)
{
    (void)signal_number;
}

/* The kernel cuts large requests short when a signal arrives: the rest must be asked for again. */
START_TEST(a_request_cut_short_by_signals_is_completed)
{
    enum { BYTES = 8 * MIB, BLOCK = 64 };
    struct sigaction act = {.sa_handler = ignore};
    struct itimerval often = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}},
                     never = {{0}, {0}};
    unsigned char             *got = calloc(BYTES, 1);
    static const unsigned char zeros[BLOCK];

    ck_assert_ptr_nonnull(got);
    ck_assert_int_eq(sigaction(SIGALRM, &act, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    id_random(got, BYTES);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    signal(SIGALRM, SIG_DFL);
    for (size_t i = 0; i < BYTES; i += BLOCK)
        if (memcmp(got + i, zeros, BLOCK) == 0)
            ck_abort_msg("nothing was written at %zu", i);
    free(got);
}
END_TEST

START_TEST(a_uuid_is_of_version_4_in_lower_case_and_terminated)
{
    char out[UUID_TEXT + 1];
    memset(out, 'x', sizeof out);
    str s = id_uuid(out);

    ck_assert_ptr_eq(s.at, out);
    ck_assert_uint_eq(s.len, UUID_TEXT);
    ck_assert_uint_eq(strlen(out), UUID_TEXT);
    ck_assert(id_is_uuid(s));
    ck_assert_uint_eq(strspn(out, "0123456789abcdef-"), UUID_TEXT);
    ck_assert_int_eq(out[14], '4');
    ck_assert_ptr_nonnull(strchr("89ab", out[19]));
}
END_TEST

/* 500 uuids: a free digit that takes one value only would be a fault, and each of 16 values is missing with
 * probability (15/16)^500, about 10^-14. */
START_TEST(every_free_digit_of_a_uuid_takes_all_its_values)
{
    enum { RUNS = 500 };
    unsigned values[UUID_TEXT] = {0};
    for (int run = 0; run < RUNS; run++) {
        char out[UUID_TEXT + 1];
        (void)id_uuid(out);
        for (int i = 0; i < UUID_TEXT; i++)
            values[i] |= 1u << (out[i] == '-' ? 0 : out[i] <= '9' ? out[i] - '0' : out[i] - 'a' + 10);
    }
    for (int i = 0; i < UUID_TEXT; i++) {
        bool     hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        unsigned expected = hyphen ? 1u : i == 14 ? 1u << 4 : i == 19 ? 0x0F00u : 0xFFFFu;
        ck_assert_msg(values[i] == expected, "place %d took %04x", i, values[i]);
    }
}
END_TEST

static const struct {
    str  s;
    bool good;
} uuids[] = {
    {STR_INIT("00000000-0000-0000-0000-000000000000"), true},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c"), true},
    {STR_INIT("6A1F0C3E-1B2D-1F5A-CB9C-0D1E2F3A4B5C"), true},
    {STR_INIT("ffffffff-ffff-ffff-ffff-ffffffffffff"), true},
    {STR_INIT(""), false},
    {STR_INIT("6a1f0c3e1b2d4f5a8b9c0d1e2f3a4b5c"), false},
    {STR_INIT("{6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c}"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c0"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5g"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5\0"), false},
    {STR_INIT("6a1f0c3-e1b2d-4f5a-8b9c-0d1e2f3a4b5c"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c00d1e2f3a4b5c"), false},
    {STR_INIT("6a1f0c3e-1b2d-4f5a-8b9c--d1e2f3a4b5c"), false},
    {STR_INIT("6a1f0c3e_1b2d_4f5a_8b9c_0d1e2f3a4b5c"), false},
    {STR_INIT(":a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c"), false},
    {STR_INIT("/a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c"), false},
    {STR_INIT("@a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c"), false},
    {STR_INIT("`a1f0c3e-1b2d-4f5a-8b9c-0d1e2f3a4b5c"), false},
};

START_TEST(a_child_process_makes_other_uuids_than_its_parent)
{
    char first[UUID_TEXT + 1], mine[UUID_TEXT + 1], childs[UUID_TEXT + 1] = {0};
    int  fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    (void)id_uuid(first); /* there are random bytes in stock now */

    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)id_uuid(childs);
        _exit(write(fds[1], childs, sizeof childs) == (ssize_t)sizeof childs ? 0 : 1);
    }
    (void)id_uuid(mine);
    ck_assert_int_eq(read(fds[0], childs, sizeof childs), (ssize_t)sizeof childs);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_str_ne(mine, childs);
    (void)close(fds[0]);
    (void)close(fds[1]);
}
END_TEST

START_TEST(only_36_characters_of_the_right_kinds_are_a_uuid)
{
    ck_assert(id_is_uuid(uuids[_i].s) == uuids[_i].good);
}
END_TEST

Suite *suite_id(void)
{
    Suite *s = suite_create("id");
    TCase *t = tcase_create("id");
    tcase_add_loop_test(t, every_byte_asked_for_is_written_and_none_beyond, 0, 7);
    tcase_add_test(t, a_request_cut_short_by_signals_is_completed);
    tcase_add_test(t, a_uuid_is_of_version_4_in_lower_case_and_terminated);
    tcase_add_test(t, every_free_digit_of_a_uuid_takes_all_its_values);
    tcase_add_loop_test(t, only_36_characters_of_the_right_kinds_are_a_uuid, 0, COUNT(uuids));
    tcase_add_test(t, a_child_process_makes_other_uuids_than_its_parent);
    suite_add_tcase(s, t);
    return s;
}
