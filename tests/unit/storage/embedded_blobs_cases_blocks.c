/* embedded_blobs_cases_blocks.c -- embedded blobs made of blocks: order, repeats, what is missing, what is
 * left over.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "unit/storage/embedded_blobs_rig.h"

#define PLAIN (&(blob_put){.create_only = false})

static const str name = STR_INIT("large");

static void stage(task *t, engine *e, const char *upload, uint32_t number, str bytes)
{
    ck_assert_int_eq(B.put_block(e, t, files, name, str_of(upload), number, bytes), RES_OK);
}

static res commit(task *t, engine *e, const char *upload, uint32_t count)
{
    blob_info info;
    return B.put_blocks(e, t, files, name, str_of(upload), count, PLAIN, &info);
}

static int64_t staged(task *t, engine *e)
{
    return embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_staged");
}

/* STORE-38, embedded */
STORE_TEST(blocks_in_any_order_make_the_blob_in_the_order_of_their_numbers)
{
    blob_info info;
    blob_put  how = {.content_type = STR("image/x"), .create_only = true};
    str       middle = blobs_rig_bytes(t, 2 * BLOB_PART_BYTES + 100, 5);
    blobs_rig_make(t, e);
    stage(t, e, "u", 2, STR("the end"));
    stage(t, e, "u", 1, middle);
    stage(t, e, "u", 0, STR("begin "));
    ck_assert_int_eq(B.head(e, t, files, name, &info), RES_NOT_FOUND); /* it appears when all are there */
    ck_assert_int_eq(B.put_blocks(e, t, files, name, STR("u"), 3, &how, &info), RES_OK);
    ck_assert_uint_eq(info.bytes, 13 + middle.len);
    ck_assert(str_eq(info.content_type, how.content_type));

    str body = blobs_rig_get(t, e, "large");
    ck_assert(str_starts(body, STR("begin ")) && str_ends(body, STR("the end")));
    ck_assert(str_eq(str_slice(body, 6, 6 + middle.len), middle));
    blob_got got;
    blob_get range = {.ranged = true, .from = 6 + BLOB_PART_BYTES - 2, .count = 4};
    ck_assert_int_eq(B.get(e, t, files, name, &range, &got), RES_OK);
    ck_assert(str_eq(got.body, str_slice(middle, BLOB_PART_BYTES - 2, BLOB_PART_BYTES + 2)));
    ck_assert_int_eq(staged(t, e), 0);
    blobs_rig_no_leftovers(t, e);
}

/* STORE-38, embedded */
STORE_TEST(a_commit_with_a_missing_block_is_refused_and_loses_nothing)
{
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("a"));
    stage(t, e, "u", 2, STR("c"));
    ck_assert_int_eq(commit(t, e, "u", 3), RES_INVALID);
    ck_assert_int_eq(commit(t, e, "other", 1), RES_INVALID);
    stage(t, e, "u", 1, STR("b"));
    ck_assert_int_eq(commit(t, e, "u", 3), RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("abc")));
    ck_assert_int_eq(commit(t, e, "u", 3), RES_INVALID); /* they are the blob's by now */
}

STORE_TEST(a_block_that_comes_again_replaces_the_earlier_one)
{
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1));
    stage(t, e, "u", 0, STR("again"));
    ck_assert_int_eq(commit(t, e, "u", 1), RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("again")));
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(blocks_beyond_the_count_and_empty_ones_leave_nothing_behind)
{
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("a"));
    stage(t, e, "u", 1, STR(""));
    stage(t, e, "u", 2, STR("c"));
    stage(t, e, "u", 3, STR("not wanted"));
    ck_assert_int_eq(commit(t, e, "u", 3), RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("ac")));
    ck_assert_int_eq(staged(t, e), 0);
    blobs_rig_no_leftovers(t, e);
    ck_assert_int_eq(commit(t, e, "none", 0), RES_OK);
    ck_assert_uint_eq(blobs_rig_get(t, e, "large").len, 0);
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(two_uploads_of_one_blob_do_not_mix)
{
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("u0"));
    stage(t, e, "v", 0, STR("v0"));
    stage(t, e, "u", 1, STR("u1"));
    stage(t, e, "v", 1, STR("v1"));
    ck_assert_int_eq(commit(t, e, "u", 2), RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("u0u1")));
    ck_assert_int_eq(commit(t, e, "v", 2), RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("v0v1")));
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(blocks_staged_for_one_blob_are_not_those_of_another)
{
    blob_info info;
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("a"));
    ck_assert_int_eq(B.put_blocks(e, t, files, STR("other"), STR("u"), 1, PLAIN, &info), RES_INVALID);
}

STORE_TEST(blocks_staged_in_a_dropped_container_are_not_those_of_the_next)
{
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("a"));
    ck_assert_int_eq(B.drop(e, t, files), RES_OK);
    blobs_rig_make(t, e);
    ck_assert_int_eq(commit(t, e, "u", 1), RES_INVALID);
}

STORE_TEST(conditions_are_looked_at_when_blocks_are_committed)
{
    blob_info info, now;
    blobs_rig_make(t, e);
    stage(t, e, "u", 0, STR("a"));
    ck_assert_int_eq(B.put_blocks(e, t, files, name, STR("u"), 1, &(blob_put){.if_match = STR("*")}, &info),
                     RES_PRECONDITION);
    now = blobs_rig_put(t, e, "large", STR("meanwhile"));
    ck_assert_int_eq(B.put_blocks(e, t, files, name, STR("u"), 1, &(blob_put){.create_only = true}, &info),
                     RES_CONFLICT);
    ck_assert_int_eq(B.put_blocks(e, t, files, name, STR("u"), 1, &(blob_put){.if_match = now.etag}, &info),
                     RES_OK);
    ck_assert(str_eq(blobs_rig_get(t, e, "large"), STR("a")));
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(blocks_that_nobody_committed_are_gone_after_a_week)
{
    const int64_t noon_us = 1767355200000000, week_us = INT64_C(7) * 24 * 3600 * 1000000;
    blobs_rig_make(t, e);
    clock_set_for_test(noon_us, 1);
    for (uint32_t i = 0; i < 100; i++)
        stage(t, e, "old", i, STR("x"));
    clock_set_for_test(noon_us + week_us - 1, 1);
    stage(t, e, "young", 0, STR("y"));
    ck_assert_int_eq(staged(t, e), 101);
    clock_set_for_test(noon_us + week_us, 1);
    stage(t, e, "young", 1, STR("y"));
    stage(t, e, "young", 2, STR("y"));
    clock_unset_for_test();
    ck_assert_int_eq(staged(t, e), 3);
    blobs_rig_no_leftovers(t, e);
    ck_assert_int_eq(commit(t, e, "young", 3), RES_OK);
}

TCase *embedded_blobs_cases_blocks(void)
{
    TCase *c = tcase_create("blocks");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, blocks_in_any_order_make_the_blob_in_the_order_of_their_numbers);
    tcase_add_test(c, a_commit_with_a_missing_block_is_refused_and_loses_nothing);
    tcase_add_test(c, a_block_that_comes_again_replaces_the_earlier_one);
    tcase_add_test(c, blocks_beyond_the_count_and_empty_ones_leave_nothing_behind);
    tcase_add_test(c, two_uploads_of_one_blob_do_not_mix);
    tcase_add_test(c, blocks_staged_for_one_blob_are_not_those_of_another);
    tcase_add_test(c, blocks_staged_in_a_dropped_container_are_not_those_of_the_next);
    tcase_add_test(c, conditions_are_looked_at_when_blocks_are_committed);
    tcase_add_test(c, blocks_that_nobody_committed_are_gone_after_a_week);
    return c;
}
