/* test_gzip.c -- there and back at all sizes, the limit, damage at every byte, bombs, and running out.
 *
 * SPDX-License-Identifier: MIT */
#include "core/gzip.h"

#include <check.h>
#include <setjmp.h>
#include <string.h>
#include <zlib.h>

#include "core/buf.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

enum { PLENTY = 64 * MIB };

static arena *a;

static void make_arena(void)
{
    a = arena_new(PLENTY);
}

static void free_arena(void)
{
    arena_free(a);
}

/* Bytes of a fixed sequence that do not compress. */
static str noise(size_t len)
{
    uint32_t state = 12345;
    char    *at = arena_alloc(a, len + 1);
    for (size_t i = 0; i < len; i++) {
        state = state * 1664525u + 1013904223u;
        at[i] = (char)(state >> 24);
    }
    return (str){at, len};
}

/* Words that compress about as well as JSON does. */
static str prose(size_t len)
{
    static const char *const words[] = {"{\"id\":", "\"hunt\"", ",\"points\":", "12", "}", "team-red",
                                        "[",        "]"};
    uint32_t                 state = 99;
    buf                      b;
    buf_init(&b, a, len);
    while (b.len < len) {
        state = state * 1664525u + 1013904223u;
        str    w = str_of(words[state >> 29]);
        size_t room = len - b.len;
        buf_add(&b, str_slice(w, 0, room));
    }
    return buf_str(&b);
}

static str pack(str data, int level)
{
    str packed = {NULL, 0};
    ck_assert_int_eq(gzip_pack(a, data, level, &packed), RES_OK);
    return packed;
}

static void assert_unpacks(str packed, str want)
{
    str got = STR("untouched");
    ck_assert_int_eq(gzip_unpack(a, packed, want.len, &got), RES_OK);
    ck_assert(str_eq(got, want));
}

static const size_t sizes[] = {0,     1,     2,     100,   249,   250,   251,   2048,   3834,   3835,
                               16122, 16123, 32505, 32506, 32507, 32768, 65536, 100000, 1000003};

START_TEST(what_was_packed_comes_back_at_every_level)
{
    for (int level = GZIP_FAST; level <= GZIP_BEST; level++) {
        str words = prose(sizes[_i]), random = noise(sizes[_i]);
        assert_unpacks(pack(words, level), words);
        assert_unpacks(pack(random, level), random);
        arena_reset(a);
    }
}
END_TEST

START_TEST(the_same_input_gives_the_same_bytes_without_time_and_name)
{
    str data = prose(5000), first = pack(data, GZIP_DEFAULT), second = pack(data, GZIP_DEFAULT);
    ck_assert(str_eq(first, second));
    ck_assert_int_eq((uint8_t)first.at[0], 0x1f);
    ck_assert_int_eq((uint8_t)first.at[1], 0x8b);
    ck_assert_int_eq(first.at[2], 8); /* deflate */
    ck_assert_int_eq(first.at[3], 0); /* no name, no comment, no extra */
    ck_assert_mem_eq(first.at + 4, "\0\0\0\0", 4);
}
END_TEST

/* Against zlib with its full window: what a smaller state saves in memory must not cost bytes. */
START_TEST(a_small_window_packs_as_well_as_the_full_one)
{
    str      data = prose(sizes[_i]), packed = pack(data, GZIP_DEFAULT);
    uLong    bound = compressBound((uLong)data.len) + 64;
    Bytef   *full = arena_alloc(a, bound);
    z_stream z = {.next_in = (Bytef *)data.at, .avail_in = (uInt)data.len, .next_out = full};
    z.avail_out = (uInt)bound;
    ck_assert_int_eq(deflateInit2(&z, GZIP_DEFAULT, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_le(packed.len, z.total_out + z.total_out / 50 + 8);
    deflateEnd(&z);
}
END_TEST

START_TEST(packing_a_small_text_takes_little_of_the_budget)
{
    str    data = prose(2048);
    size_t before = arena_used_bytes(a);
    (void)pack(data, GZIP_DEFAULT);
    ck_assert_uint_le(arena_used_bytes(a) - before, 96 * KIB);
}
END_TEST

START_TEST(levels_outside_one_to_nine_are_refused)
{
    static const int levels[] = {-1, 0, 10, 1000};
    str              got = STR("untouched");
    for (int i = 0; i < COUNT(levels); i++)
        ck_assert_int_eq(gzip_pack(a, STR("x"), levels[i], &got), RES_INVALID);
    ck_assert(str_eq(got, STR("untouched")));
}
END_TEST

START_TEST(the_limit_is_exact)
{
    str data = prose(10000), packed = pack(data, GZIP_DEFAULT), got = STR("untouched");
    ck_assert_int_eq(gzip_unpack(a, packed, data.len - 1, &got), RES_TOO_LARGE);
    ck_assert_int_eq(gzip_unpack(a, packed, 0, &got), RES_TOO_LARGE);
    ck_assert(str_eq(got, STR("untouched")));
    ck_assert_int_eq(gzip_unpack(a, packed, data.len, &got), RES_OK);
    ck_assert_int_eq(gzip_unpack(a, packed, SIZE_MAX, &got), RES_OK);
    ck_assert(str_eq(got, data));
}
END_TEST

START_TEST(nothing_packed_unpacks_within_a_limit_of_nothing)
{
    str got = STR("x");
    ck_assert_int_eq(gzip_unpack(a, pack(STR(""), GZIP_DEFAULT), 0, &got), RES_OK);
    ck_assert_uint_eq(got.len, 0);
}
END_TEST

START_TEST(a_text_cut_anywhere_is_refused)
{
    str packed = pack(prose(700), GZIP_DEFAULT), got = STR("untouched");
    for (size_t len = 0; len < packed.len; len++) {
        ck_assert_msg(gzip_unpack(a, str_slice(packed, 0, len), PLENTY, &got) == RES_INVALID, "cut at %zu",
                      len);
        ck_assert_msg(gzip_unpack(a, str_slice(packed, 0, len), 700, &got) == RES_INVALID, "full, cut at %zu",
                      len);
    }
    ck_assert(str_eq(got, STR("untouched")));
}
END_TEST

/* The header has a few bits without consequence (time, extra flags, system), so damage begins behind it. Up
 * to seven more fill the last byte of the deflated data: flipping those changes nothing. */
START_TEST(a_flipped_bit_is_refused_unless_it_says_nothing)
{
    enum { HEADER = 10 };
    str   data = prose(300), packed = pack(data, GZIP_DEFAULT), got;
    char *copy = arena_cstr(a, packed);
    int   idle = 0;
    for (size_t i = HEADER; i < packed.len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (char)(packed.at[i] ^ 1 << bit);
            res r = gzip_unpack(a, (str){copy, packed.len}, 300, &got);
            if (r == RES_OK) {
                ck_assert(str_eq(got, data));
                idle++;
                continue;
            }
            ck_assert_msg(r == RES_INVALID || r == RES_TOO_LARGE, "bit %d of byte %zu gave %d", bit, i,
                          (int)r);
        }
        copy[i] = packed.at[i];
    }
    ck_assert_int_lt(idle, 8);
}
END_TEST

START_TEST(members_one_after_another_are_joined)
{
    str one = pack(STR("one, "), GZIP_FAST), none = pack(STR(""), GZIP_FAST),
        two = pack(STR("two"), GZIP_BEST);
    str all;
    buf b;
    buf_init(&b, a, PLENTY);
    buf_add(&b, one);
    buf_add(&b, none);
    buf_add(&b, two);
    ck_assert_int_eq(gzip_unpack(a, buf_str(&b), 8, &all), RES_OK);
    ck_assert(str_eq(all, STR("one, two")));
    ck_assert_int_eq(gzip_unpack(a, buf_str(&b), 7, &all), RES_TOO_LARGE);
}
END_TEST

static const char *const behind[] = {"x", "\x1f", "\x1f\x8b", "0000000000", "\x1f\x8b\x08", "\n"};

START_TEST(bytes_behind_the_end_are_refused)
{
    buf b;
    str got;
    buf_init(&b, a, PLENTY);
    buf_add(&b, pack(STR("text"), GZIP_DEFAULT));
    buf_add(&b, str_of(behind[_i]));
    ck_assert_int_eq(gzip_unpack(a, buf_str(&b), PLENTY, &got), RES_INVALID);
    ck_assert_int_eq(gzip_unpack(a, buf_str(&b), 4, &got), RES_INVALID);
    buf_clear(&b);
    buf_add(&b, pack(STR("text"), GZIP_DEFAULT));
    buf_add_char(&b, '\0');
    ck_assert_int_eq(gzip_unpack(a, buf_str(&b), PLENTY, &got), RES_INVALID);
}
END_TEST

START_TEST(what_is_not_gzip_is_refused)
{
    static const char *const others[] = {"", "plain text", "\x78\x9c\x4b\x04\x00\x00\x62\x00\x62",
                                         "PK\x03\x04", "{}"};
    str                      got = STR("untouched");
    for (int i = 0; i < COUNT(others); i++)
        ck_assert_int_eq(gzip_unpack(a, str_of(others[i]), PLENTY, &got), RES_INVALID);
    ck_assert_int_eq(gzip_unpack(a, (str){NULL, 0}, PLENTY, &got), RES_INVALID);
    ck_assert(str_eq(got, STR("untouched")));
}
END_TEST

/* 1 GiB of zeroes in about 1 MB: a full flush makes the blocks of one MiB independent, so they can be
 * repeated without deflating a gigabyte. The trailer is missing, as nobody should get that far. */
static str bomb(void)
{
    Bytef   *zeroes = arena_zalloc(a, MIB), *block = arena_alloc(a, 8 * KIB);
    z_stream z = {.next_in = zeroes, .avail_in = MIB, .next_out = block, .avail_out = 8 * KIB};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FULL_FLUSH), Z_OK);
    size_t len = z.total_out;
    deflateEnd(&z);

    buf b;
    buf_init(&b, a, PLENTY);
    buf_add(&b, (str){"\x1f\x8b\x08\0\0\0\0\0\0\3", 10});
    for (int i = 0; i < 1024; i++)
        buf_add(&b, (str){(const char *)block, len});
    return buf_str(&b);
}

START_TEST(a_bomb_stops_at_the_limit_with_little_memory)
{
    str    packed = bomb(), got = STR("untouched");
    arena *small = arena_new(4 * MIB);
    ck_assert_uint_lt(packed.len, 2 * MIB);
    ck_assert_int_eq(gzip_unpack(small, packed, MIB, &got), RES_TOO_LARGE);
    ck_assert_uint_lt(arena_used_bytes(small), 3 * MIB);
    arena_free(small);
    ck_assert(str_eq(got, STR("untouched")));
}
END_TEST

START_TEST(a_bomb_of_many_members_stops_at_the_limit)
{
    str member = pack((str){arena_zalloc(a, MIB), MIB}, GZIP_BEST), got;
    buf b;
    buf_init(&b, a, PLENTY);
    for (int i = 0; i < 1024; i++)
        buf_add(&b, member);
    arena *small = arena_new(8 * MIB);
    ck_assert_int_eq(gzip_unpack(small, buf_str(&b), 2 * MIB + 1, &got), RES_TOO_LARGE);
    arena_free(small);
}
END_TEST

START_TEST(without_memory_outside_a_task_the_answer_says_so)
{
    str data = prose(100000), packed = pack(data, GZIP_DEFAULT), got = STR("untouched");
    for (long nth = 1;; nth++) {
        arena_fail_at(nth);
        res r = gzip_pack(a, data, GZIP_DEFAULT, &got);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
    }
    got = STR("untouched");
    for (long nth = 1;; nth++) {
        arena_fail_at(nth);
        res r = gzip_unpack(a, packed, PLENTY, &got);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(r, RES_MEMORY);
        ck_assert(str_eq(got, STR("untouched")));
    }
    arena_fail_at(0);
    ck_assert(str_eq(got, data));
}
END_TEST

static jmp_buf out_of_task;

static void leave_task(void *ctx)
{
    (void)ctx;
    longjmp(out_of_task, 1);
}

/* zlib's own memory would leak here if it were zlib's; the leak sanitizer tells. */
START_TEST(a_task_left_at_any_allocation_leaves_nothing_behind)
{
    str           data = prose(60000), packed = pack(data, GZIP_DEFAULT);
    volatile long nth = 0;
    volatile bool reached = true;
    while (reached) {
        nth++;
        arena *volatile own = arena_new(PLENTY);
        arena_on_exhausted(own, leave_task, NULL);
        if (setjmp(out_of_task) == 0) {
            str got;
            arena_fail_at(nth);
            ck_assert_int_eq(gzip_pack(own, data, GZIP_DEFAULT, &got), RES_OK);
            ck_assert_int_eq(gzip_unpack(own, packed, PLENTY, &got), RES_OK);
        }
        reached = !arena_fail_pending();
        arena_fail_at(0);
        arena_free(own);
    }
    ck_assert_int_gt(nth, 6);
}
END_TEST

Suite *suite_gzip(void)
{
    Suite *s = suite_create("gzip");
    TCase *c = tcase_create("gzip");
    tcase_add_checked_fixture(c, make_arena, free_arena);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, what_was_packed_comes_back_at_every_level, 0, COUNT(sizes));
    tcase_add_test(c, the_same_input_gives_the_same_bytes_without_time_and_name);
    tcase_add_loop_test(c, a_small_window_packs_as_well_as_the_full_one, 0, COUNT(sizes));
    tcase_add_test(c, packing_a_small_text_takes_little_of_the_budget);
    tcase_add_test(c, levels_outside_one_to_nine_are_refused);
    tcase_add_test(c, the_limit_is_exact);
    tcase_add_test(c, nothing_packed_unpacks_within_a_limit_of_nothing);
    tcase_add_test(c, a_text_cut_anywhere_is_refused);
    tcase_add_test(c, a_flipped_bit_is_refused_unless_it_says_nothing);
    tcase_add_test(c, members_one_after_another_are_joined);
    tcase_add_loop_test(c, bytes_behind_the_end_are_refused, 0, COUNT(behind));
    tcase_add_test(c, what_is_not_gzip_is_refused);
    tcase_add_test(c, a_bomb_stops_at_the_limit_with_little_memory);
    tcase_add_test(c, a_bomb_of_many_members_stops_at_the_limit);
    tcase_add_test(c, without_memory_outside_a_task_the_answer_says_so);
    tcase_add_test(c, a_task_left_at_any_allocation_leaves_nothing_behind);
    suite_add_tcase(s, c);
    return s;
}
