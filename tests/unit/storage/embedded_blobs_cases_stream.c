/* embedded_blobs_cases_stream.c -- embedded blobs piece by piece: bounded memory, and what happens to the
 * blob meanwhile.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "unit/storage/embedded_blobs_rig.h"

#define PLAIN (&(blob_put){.create_only = false})

typedef struct {
    engine  *e;
    buf      all;
    unsigned pieces;
    size_t   longest;
    /* What is done to the blob when the first piece has come: */
    res (*meanwhile)(task *t, engine *e);
} sink;

static res take_piece(task *t, str piece, void *ctx)
{
    sink *s = ctx;
    ck_assert_uint_gt(piece.len, 0);
    s->longest = piece.len > s->longest ? piece.len : s->longest;
    ck_assert(buf_add(&s->all, piece));
    if (s->pieces++ == 0 && s->meanwhile != NULL)
        TRY(s->meanwhile(t, s->e));
    return RES_OK;
}

static res stream(task *t, engine *e, const blob_get *how, res (*meanwhile)(task *t, engine *e), sink *ret)
{
    blob_got got;
    *ret = (sink){.e = e, .meanwhile = meanwhile};
    buf_init(&ret->all, t->arena, 16 * MIB);
    return B.get_stream(e, t, files, STR("a"), how, take_piece, ret, &got);
}

STORE_TEST(a_stream_gives_every_byte_in_pieces_of_bounded_length)
{
    static const size_t lengths[] = {0, 1, BLOB_PART_BYTES, BLOB_PART_BYTES + 1, 4 * BLOB_PART_BYTES - 1};
    sink                s;
    blobs_rig_make(t, e);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        str bytes = blobs_rig_bytes(t, lengths[i], (unsigned)i);
        (void)blobs_rig_put(t, e, "a", bytes);
        ck_assert_int_eq(stream(t, e, &(blob_get){.bytes_max = 1}, NULL, &s), RES_OK); /* it has no limit */
        ck_assert(str_eq(buf_str(&s.all), bytes));
        ck_assert_uint_le(s.longest, BLOB_PART_BYTES);
    }
}

STORE_TEST(a_stream_of_a_range_gives_that_range)
{
    sink s;
    str  bytes = blobs_rig_bytes(t, 4 * BLOB_PART_BYTES, 9);
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", bytes);
    blob_get how = {.ranged = true, .from = BLOB_PART_BYTES - 7, .count = 2 * BLOB_PART_BYTES};
    ck_assert_int_eq(stream(t, e, &how, NULL, &s), RES_OK);
    ck_assert(str_eq(buf_str(&s.all), str_slice(bytes, how.from, how.from + how.count)));
    how.from = bytes.len;
    ck_assert_int_eq(stream(t, e, &how, NULL, &s), RES_INVALID);
}

STORE_TEST(many_small_appends_are_streamed_in_large_pieces)
{
    sink s;
    blobs_rig_make(t, e);
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(B.append(e, t, files, STR("a"), STR("a line of the trail\n"), UINT64_MAX, NULL),
                         RES_OK);
    ck_assert_int_eq(stream(t, e, &(blob_get){.ranged = false}, NULL, &s), RES_OK);
    ck_assert_uint_eq(s.all.len, 300 * 20);
    ck_assert_uint_eq(s.pieces, 1);
}

static res replace_it(task *t, engine *e)
{
    blob_info info;
    return B.put(e, t, files, STR("a"), blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 99), PLAIN, &info);
}

static res remove_it(task *t, engine *e)
{
    return B.remove(e, t, files, STR("a"), STR(""));
}

static res drop_it(task *t, engine *e)
{
    return B.drop(e, t, files);
}

static res append_to_it(task *t, engine *e)
{
    return B.append(e, t, files, STR("a"), STR("later"), UINT64_MAX, NULL);
}

static res say_enough(task *t, engine *e)
{
    (void)e;
    return task_fail(t, RES_DENIED, "enough");
}

static res (*const losses[])(task *, engine *) = {replace_it, remove_it, drop_it};

STORE_TEST(a_blob_that_is_replaced_or_removed_ends_its_stream_and_is_never_mixed)
{
    sink s;
    str  bytes = blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1);
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", bytes);
    ck_assert_int_eq(stream(t, e, &(blob_get){.ranged = false}, losses[embedded_rig_case], &s),
                     RES_PRECONDITION);
    ck_assert(str_has(task_message(t), STR("'a' was replaced or removed while it was read")));
    ck_assert(str_starts(bytes, buf_str(&s.all)));
}

STORE_TEST(a_blob_that_is_appended_to_is_streamed_to_the_end_that_it_had)
{
    sink s;
    str  bytes = blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1);
    blobs_rig_make(t, e);
    ck_assert_int_eq(B.append(e, t, files, STR("a"), bytes, 0, NULL), RES_OK);
    ck_assert_int_eq(stream(t, e, &(blob_get){.ranged = false}, append_to_it, &s), RES_OK);
    ck_assert(str_eq(buf_str(&s.all), bytes));
}

STORE_TEST(who_has_had_enough_ends_the_stream_with_his_result)
{
    sink s;
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1));
    ck_assert_int_eq(stream(t, e, &(blob_get){.ranged = false}, say_enough, &s), RES_DENIED);
    ck_assert_uint_eq(s.pieces, 1);
}

/* ---- one that does not fit into memory ---- */

enum { LARGE_BYTES = 100 * MIB, BLOCKS = LARGE_BYTES / BLOBS_BLOCK + 1, ALLOWED_BYTES = 64 * MIB };

static char byte_at(uint64_t i)
{
    return (char)((i * 2654435761u) >> 13 ^ i >> 18);
}

typedef struct {
    engine  *e;
    uint64_t at;
} check;

static res check_piece(task *t, str piece, void *ctx)
{
    check *c = ctx;
    (void)t;
    ck_assert_uint_le(piece.len, BLOB_PART_BYTES);
    for (size_t i = 0; i < piece.len; i++)
        if (piece.at[i] != byte_at(c->at + i))
            return RES_UPSTREAM;
    c->at += piece.len;
    return RES_OK;
}

static res stage_one(task *t, size_t i, void *ctx)
{
    uint64_t from = (uint64_t)i * BLOBS_BLOCK;
    size_t   len = from + BLOBS_BLOCK > LARGE_BYTES ? (size_t)(LARGE_BYTES - from) : BLOBS_BLOCK;
    char    *block = arena_alloc(t->arena, len);
    for (size_t k = 0; k < len; k++)
        block[k] = byte_at(from + k);
    return B.put_block(((check *)ctx)->e, t, files, STR("a"), STR("u"), (uint32_t)i, (str){block, len});
}

static size_t rss_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE         *f = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu %lu", &pages, &resident), 2);
    (void)fclose(f);
    return resident * 4096;
}

typedef struct {
    size_t i;
    check *c;
} one_block;

static res stage_in_scope(task *t, void *ctx)
{
    one_block *b = ctx;
    return stage_one(t, b->i, b->c);
}

STORE_TEST(a_blob_of_100_mib_goes_in_by_blocks_and_comes_out_in_bounded_memory)
{
    check     c = {.e = e};
    blob_info info;
    blob_got  got;
    size_t    before = rss_bytes();
    blobs_rig_make(t, e);
    for (size_t i = 0; i < BLOCKS; i++)
        ck_assert_int_eq(task_scope(t, 2 * BLOBS_BLOCK, stage_in_scope, &(one_block){.i = i, .c = &c}),
                         RES_OK);
    ck_assert_int_eq(B.put_blocks(e, t, files, STR("a"), STR("u"), BLOCKS, PLAIN, &info), RES_OK);
    ck_assert_uint_eq(info.bytes, LARGE_BYTES);
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.ranged = false}, &got), RES_TOO_LARGE);

    size_t arena_before = arena_used_bytes(t->arena);
    ck_assert_int_eq(B.get_stream(e, t, files, STR("a"), &(blob_get){.ranged = false}, check_piece, &c, &got),
                     RES_OK);
    ck_assert_uint_eq(c.at, LARGE_BYTES);
    ck_assert_uint_lt(arena_used_bytes(t->arena) - arena_before, 64 * KIB);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    size_t now = rss_bytes();
    ck_assert_uint_lt(now > before ? now - before : 0, ALLOWED_BYTES);
#else
    (void)before;
#endif
    ck_assert_int_eq(B.remove(e, t, files, STR("a"), STR("")), RES_OK);
    ck_assert_int_gt(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_data"), 0); /* not all at once */
    embedded_rig_settle(t, e);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_data"), 0);
}

TCase *embedded_blobs_cases_stream(void)
{
    TCase *c = tcase_create("stream");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_stream_gives_every_byte_in_pieces_of_bounded_length);
    tcase_add_test(c, a_stream_of_a_range_gives_that_range);
    tcase_add_test(c, many_small_appends_are_streamed_in_large_pieces);
    tcase_add_loop_test(c, a_blob_that_is_replaced_or_removed_ends_its_stream_and_is_never_mixed, 0,
                        sizeof losses / sizeof *losses);
    tcase_add_test(c, a_blob_that_is_appended_to_is_streamed_to_the_end_that_it_had);
    tcase_add_test(c, who_has_had_enough_ends_the_stream_with_his_result);
    tcase_add_test(c, a_blob_of_100_mib_goes_in_by_blocks_and_comes_out_in_bounded_memory);
    return c;
}
