/* test_gunzip.c -- in pieces of any size: the same bytes, the same refusals.
 *
 * SPDX-License-Identifier: MIT */
#include "core/gunzip.h"

#include <check.h>
#include <string.h>

#include "core/buf.h"
#include "core/gzip.h"
#include "unit/suites.h"

enum { PLENTY = 64 * MIB, OUT_BYTES = 7 };

static arena *a;

static void make_arena(void)
{
    a = arena_new(PLENTY);
}

static void free_arena(void)
{
    arena_free(a);
}

static str pack(str text)
{
    str packed;
    ck_assert_int_eq(gzip_pack(a, text, GZIP_DEFAULT, &packed), RES_OK);
    return packed;
}

static str join(str left, str right)
{
    buf b;
    buf_init(&b, a, PLENTY);
    buf_add(&b, left);
    buf_add(&b, right);
    return buf_str(&b);
}

/* All of it, fed in pieces of `step` bytes; *ret_end: it may end there. */
static res unpack(str packed, size_t step, buf *out, bool *ret_end)
{
    gunzip *g = gunzip_new();
    res     r = RES_OK;
    ck_assert_ptr_nonnull(g);
    for (size_t at = 0; at < packed.len && r == RES_OK; at += step) {
        str    piece = str_slice(packed, at, at + step);
        char   room[OUT_BYTES];
        size_t len = 1;
        while (r == RES_OK && (piece.len > 0 || len > 0)) {
            r = gunzip_more(g, &piece, room, sizeof room, &len);
            if (r == RES_OK)
                buf_add(out, (str){room, len});
            if (piece.len == 0 && len < sizeof room)
                break;
        }
    }
    *ret_end = gunzip_may_end(g);
    gunzip_free(g);
    return r;
}

static void check_gives(str packed, const char *want)
{
    for (size_t step = 1; step <= packed.len; step++) {
        buf  out;
        bool end;
        buf_init(&out, a, PLENTY);
        ck_assert_int_eq(unpack(packed, step, &out, &end), RES_OK);
        ck_assert(end);
        ck_assert_msg(str_eq(buf_str(&out), str_of(want)), "in steps of %zu: '%.*s'", step,
                      STR_ARG(buf_str(&out)));
    }
}

START_TEST(pieces_of_any_size_give_the_whole_text)
{
    check_gives(pack(STR("one text, and one text, and one text again")),
                "one text, and one text, and one text again");
    check_gives(pack(STR("")), "");
}
END_TEST

START_TEST(members_one_after_another_are_joined_and_zeros_behind_them_skipped)
{
    str two = join(pack(STR("first, ")), pack(STR("second")));
    check_gives(two, "first, second");
    check_gives(join(two, STR("\0\0\0\0")), "first, second");
}
END_TEST

START_TEST(anything_else_behind_the_end_is_refused)
{
    static const str tails[] = {STR_INIT("x"), STR_INIT("\0x"), STR_INIT("\x1f\x8bxx")};
    str              packed = join(pack(STR("text")), tails[_i]);
    for (size_t step = 1; step <= packed.len; step++) {
        buf  out;
        bool end;
        buf_init(&out, a, PLENTY);
        ck_assert(unpack(packed, step, &out, &end) == RES_INVALID || !end); /* or it is half a member */
    }
}
END_TEST

START_TEST(what_is_cut_off_is_never_taken_for_the_end)
{
    str packed = pack(STR("one text, and one text, and one text again"));
    for (size_t len = 0; len < packed.len; len++) {
        buf  out;
        bool end;
        buf_init(&out, a, PLENTY);
        ck_assert_int_eq(unpack(str_slice(packed, 0, len), 5, &out, &end), RES_OK);
        ck_assert_msg(!end, "at %zu of %zu bytes", len, packed.len);
    }
}
END_TEST

START_TEST(damage_is_found)
{
    str   packed = pack(STR("one text, and one text, and one text again"));
    char *at = arena_cstr(a, packed);
    memcpy(at, packed.at, packed.len);
    at[packed.len - 6] ^= 1; /* in the checksum */
    buf  out;
    bool end;
    buf_init(&out, a, PLENTY);
    ck_assert_int_eq(unpack((str){at, packed.len}, 8, &out, &end), RES_INVALID);
}
END_TEST

START_TEST(gzip_is_known_by_its_first_two_bytes)
{
    ck_assert(gunzip_knows(pack(STR("x"))));
    ck_assert(!gunzip_knows(STR("\x1f")));
    ck_assert(!gunzip_knows(STR("")));
    ck_assert(!gunzip_knows(STR("{}")));
}
END_TEST

Suite *suite_gunzip(void)
{
    Suite *s = suite_create("gunzip");
    TCase *tc = tcase_create("gunzip");
    tcase_add_checked_fixture(tc, make_arena, free_arena);
    tcase_add_test(tc, pieces_of_any_size_give_the_whole_text);
    tcase_add_test(tc, members_one_after_another_are_joined_and_zeros_behind_them_skipped);
    tcase_add_loop_test(tc, anything_else_behind_the_end_is_refused, 0, 3);
    tcase_add_test(tc, what_is_cut_off_is_never_taken_for_the_end);
    tcase_add_test(tc, damage_is_found);
    tcase_add_test(tc, gzip_is_known_by_its_first_two_bytes);
    suite_add_tcase(s, tc);
    return s;
}
