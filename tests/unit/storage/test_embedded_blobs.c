/* test_embedded_blobs.c -- blobs of the SQLite file: containers, puts and gets with conditions and ranges,
 * appends. Lists, blocks, streams, and many at once have files of their own (embedded_blobs_cases_*.c).
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "unit/storage/embedded_blobs_rig.h"
#include "unit/suites.h"

#define PLAIN (&(blob_put){.create_only = false})
#define WHOLE (&(blob_get){.ranged = false})

/* ---- containers ---- */

STORE_TEST(a_container_is_made_once_and_gone_with_its_blobs_when_dropped)
{
    ck_assert_int_eq(B.create(e, t, files), RES_OK);
    ck_assert_int_eq(B.create(e, t, files), RES_CONFLICT);
    ck_assert_int_eq(B.create(e, t, STR("other")), RES_OK);
    blob_info info;
    ck_assert_int_eq(B.put(e, t, STR("other"), STR("a"), STR("kept"), PLAIN, &info), RES_OK);
    (void)blobs_rig_put(t, e, "a", STR("1"));
    (void)blobs_rig_put(t, e, "b", blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1));
    ck_assert_int_eq(B.drop(e, t, files), RES_OK);
    ck_assert_int_eq(B.drop(e, t, files), RES_UNPROVISIONED);
    embedded_rig_settle(t, e);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_data"), 1);

    ck_assert_int_eq(B.create(e, t, files), RES_OK);
    ck_assert_int_eq(B.head(e, t, files, STR("a"), &info), RES_NOT_FOUND);
    ck_assert_int_eq(B.head(e, t, STR("other"), STR("a"), &info), RES_OK);
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(containers_are_listed_by_prefix_in_pages)
{
    static const char *const names[] = {"log-2", "app", "log-1", "zoo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(B.create(e, t, str_of(names[i])), RES_OK);
    name_page page;
    ck_assert_int_eq(B.list(e, t, STR("log-"), 1, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 1);
    ck_assert(str_eq(page.names[0], STR("log-1")));
    ck_assert_int_eq(B.list(e, t, STR("log-"), 1, page.next, &page), RES_OK);
    ck_assert(page.count == 1 && str_eq(page.names[0], STR("log-2")));
    ck_assert_uint_eq(page.next.len, 0);
    ck_assert_int_eq(B.list(e, t, STR("none"), 1, STR(""), &page), RES_OK);
    ck_assert_uint_eq(page.count, 0);
}

static res no_piece(task *t, str piece, void *ctx)
{
    (void)piece, (void)ctx;
    return task_fail(t, RES_INTERNAL, "a piece of nothing");
}

STORE_TEST(every_operation_without_its_container_or_blob_says_which_is_missing)
{
    blob_info info;
    blob_got  got;
    blob_page page;
    uint64_t  bytes;
    const str x = STR("x");
    ck_assert_int_eq(B.put(e, t, files, x, x, PLAIN, &info), RES_UNPROVISIONED);
    ck_assert_int_eq(B.put_block(e, t, files, x, x, 0, x), RES_UNPROVISIONED);
    ck_assert_int_eq(B.put_blocks(e, t, files, x, x, 0, PLAIN, &info), RES_UNPROVISIONED);
    ck_assert_int_eq(B.append(e, t, files, x, x, UINT64_MAX, &bytes), RES_UNPROVISIONED);
    ck_assert_int_eq(B.list_blobs(e, t, files, STR(""), '\0', 10, STR(""), &page), RES_UNPROVISIONED);
    for (int there = 0; there < 2; there++) {
        const res want = there ? RES_NOT_FOUND : RES_UNPROVISIONED;
        ck_assert_int_eq(B.get(e, t, files, x, WHOLE, &got), want);
        ck_assert_int_eq(B.get_stream(e, t, files, x, WHOLE, no_piece, NULL, &got), want);
        ck_assert_int_eq(B.head(e, t, files, x, &info), want);
        ck_assert_int_eq(B.remove(e, t, files, x, STR("")), want);
        ck_assert_int_eq(B.remove(e, t, files, x, STR("*")), want);
        if (!there)
            blobs_rig_make(t, e);
    }
}

/* ---- put and get ---- */

STORE_TEST(a_blob_comes_back_with_all_that_was_said_of_it)
{
    clock_set_for_test(1767355200000000, 1);
    blobs_rig_make(t, e);
    const http_header metadata[] = {
        {STR("owner"), STR("ann")}, {STR("empty"), STR("")}, {STR("z_9"), STR("a = b")}};
    blob_put how = {
        .content_type = STR("text/plain; charset=utf-8"), .metadata = metadata, .metadata_count = 3};
    blob_info put, head;
    blob_got  got;
    ck_assert_int_eq(B.put(e, t, files, STR("a"), STR("hello\0world"), &how, &put), RES_OK);
    ck_assert_int_eq(B.head(e, t, files, STR("a"), &head), RES_OK);
    ck_assert_int_eq(B.get(e, t, files, STR("a"), WHOLE, &got), RES_OK);
    clock_unset_for_test();

    ck_assert(str_eq(got.body, STR("hello\0world")));
    const blob_info *const all[] = {&put, &head, &got.info};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(str_eq(all[i]->content_type, how.content_type));
        ck_assert_uint_eq(all[i]->metadata_count, 3);
        for (size_t k = 0; k < 3; k++) {
            ck_assert(str_eq(all[i]->metadata[k].name, metadata[k].name));
            ck_assert(str_eq(all[i]->metadata[k].value, metadata[k].value));
        }
        ck_assert_uint_eq(all[i]->bytes, 11);
        ck_assert_int_eq(all[i]->modified_us, 1767355200000000);
        ck_assert(!all[i]->append);
        ck_assert(str_eq(all[i]->etag, put.etag));
    }
    ck_assert_uint_eq(put.etag.len, 19);
    ck_assert(str_starts(put.etag, STR("\"0x8D")) && str_ends(put.etag, STR("\"")));
}

STORE_TEST(a_put_without_a_type_is_of_bytes_and_replaces_all_of_the_old_one)
{
    blobs_rig_make(t, e);
    const http_header metadata[] = {{STR("owner"), STR("ann")}};
    blob_put          how = {.content_type = STR("text/html"), .metadata = metadata, .metadata_count = 1};
    blob_info         info;
    ck_assert_int_eq(B.put(e, t, files, STR("a"), blobs_rig_bytes(t, 3 * BLOB_PART_BYTES, 1), &how, &info),
                     RES_OK);
    str first = info.etag;
    (void)blobs_rig_put(t, e, "a", STR("short"));
    ck_assert_int_eq(B.head(e, t, files, STR("a"), &info), RES_OK);
    ck_assert(str_eq(info.content_type, STR("application/octet-stream")));
    ck_assert_uint_eq(info.metadata_count, 0);
    ck_assert(!str_eq(info.etag, first));
    ck_assert(str_eq(blobs_rig_get(t, e, "a"), STR("short")));
    blobs_rig_no_leftovers(t, e);
}

STORE_TEST(a_blob_of_any_length_comes_back_as_it_was)
{
    static const size_t lengths[] = {0,
                                     1,
                                     BLOB_PART_BYTES - 1,
                                     BLOB_PART_BYTES,
                                     BLOB_PART_BYTES + 1,
                                     3 * BLOB_PART_BYTES + 7,
                                     BLOBS_SINGLE_MAX / 8};
    blobs_rig_make(t, e);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        str bytes = blobs_rig_bytes(t, lengths[i], (unsigned)i);
        (void)blobs_rig_put(t, e, "a", bytes);
        ck_assert(str_eq(blobs_rig_get(t, e, "a"), bytes));
    }
}

STORE_TEST(two_writes_in_one_microsecond_have_two_etags)
{
    clock_set_for_test(1767355200000000, 1);
    blobs_rig_make(t, e);
    str first = blobs_rig_put(t, e, "a", STR("1")).etag, second = blobs_rig_put(t, e, "a", STR("1")).etag;
    clock_unset_for_test();
    ck_assert(!str_eq(first, second));
}

/* STORE-35, embedded; with Azure's answers where Azurite is laxer: If-Match of a missing blob is 412. */
STORE_TEST(conditions_of_a_put_are_those_of_azure)
{
    blobs_rig_make(t, e);
    blob_info info;
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.if_match = STR("*")}, &info), RES_PRECONDITION);
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.if_match = STR("\"0x8DE000000000000\"")}, &info),
                     RES_PRECONDITION);
    ck_assert_int_eq(B.head(e, t, files, STR("a"), &info), RES_NOT_FOUND);
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.create_only = true}, &info), RES_OK);
    str first = info.etag;
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.create_only = true}, &info), RES_CONFLICT);
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.if_match = first}, &info), RES_OK);
    str second = info.etag;
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.if_match = first}, &info), RES_PRECONDITION);
    ck_assert_int_eq(blobs_rig_put_if(t, e, "a", (blob_put){.if_match = STR("*")}, &info), RES_OK);
    ck_assert_int_eq(B.remove(e, t, files, STR("a"), second), RES_PRECONDITION);
    ck_assert_int_eq(B.remove(e, t, files, STR("a"), info.etag), RES_OK);
    ck_assert_int_eq(B.remove(e, t, files, STR("a"), STR("")), RES_NOT_FOUND);
    blobs_rig_no_leftovers(t, e);
}

/* STORE-35, embedded */
STORE_TEST(conditions_of_a_get_are_those_of_azure)
{
    blobs_rig_make(t, e);
    blob_got got;
    str      etag = blobs_rig_put(t, e, "a", STR("hello")).etag;
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.if_none_match = etag}, &got), RES_OK);
    ck_assert(got.not_modified);
    ck_assert_uint_eq(got.body.len, 0);
    ck_assert(str_eq(got.info.etag, etag));
    ck_assert_int_eq(
        B.get_stream(e, t, files, STR("a"), &(blob_get){.if_none_match = etag}, no_piece, NULL, &got),
        RES_OK);
    ck_assert(got.not_modified);
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.if_match = etag}, &got), RES_OK);
    ck_assert(!got.not_modified && str_eq(got.body, STR("hello")));

    (void)blobs_rig_put(t, e, "a", STR("other"));
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.if_none_match = etag}, &got), RES_OK);
    ck_assert(!got.not_modified && str_eq(got.body, STR("other")));
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.if_match = etag}, &got), RES_PRECONDITION);
    ck_assert(str_has(task_message(t), STR("'a' has another ETag")));
}

static const struct {
    uint64_t from, count;
    res      want;
    uint64_t len;
} ranges[] = {
    {0, 1, RES_OK, 1},
    {0, UINT64_MAX, RES_OK, 2 * BLOB_PART_BYTES + 5},
    {5, 10, RES_OK, 10},
    {BLOB_PART_BYTES - 3, 6, RES_OK, 6},
    {BLOB_PART_BYTES, BLOB_PART_BYTES, RES_OK, BLOB_PART_BYTES},
    {BLOB_PART_BYTES - 1, BLOB_PART_BYTES + 2, RES_OK, BLOB_PART_BYTES + 2},
    {2 * BLOB_PART_BYTES + 4, 100, RES_OK, 1},
    {3, UINT64_MAX, RES_OK, 2 * BLOB_PART_BYTES + 2},
    {2 * BLOB_PART_BYTES + 5, 1, RES_INVALID, 0},
    {UINT64_MAX, 1, RES_INVALID, 0},
};

/* STORE-36, embedded */
STORE_TEST(a_range_is_what_it_says_and_ends_with_the_blob)
{
    const int i = embedded_rig_case;
    str       bytes = blobs_rig_bytes(t, 2 * BLOB_PART_BYTES + 5, 3);
    blob_got  got;
    blob_get  how = {.ranged = true, .from = ranges[i].from, .count = ranges[i].count};
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", bytes);
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &how, &got), ranges[i].want);
    if (ranges[i].want != RES_OK) {
        ck_assert(str_has(task_message(t), STR("has 524293 bytes")));
        return;
    }
    ck_assert_uint_eq(got.info.bytes, bytes.len);
    ck_assert(str_eq(got.body, str_slice(bytes, (size_t)how.from, (size_t)(how.from + ranges[i].len))));
}

STORE_TEST(a_range_of_an_empty_blob_is_beyond_its_end)
{
    blob_got got;
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", STR(""));
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.ranged = true, .count = 1}, &got),
                     RES_INVALID);
}

STORE_TEST(no_more_is_read_than_allowed)
{
    blob_got got;
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "a", STR("12345678"));
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.bytes_max = 8}, &got), RES_OK);
    ck_assert_int_eq(B.get(e, t, files, STR("a"), &(blob_get){.bytes_max = 7}, &got), RES_TOO_LARGE);
    ck_assert_int_eq(B.get(e, t, files, STR("a"),
                           &(blob_get){.bytes_max = 7, .ranged = true, .from = 1, .count = 7}, &got),
                     RES_OK);
}

STORE_TEST(a_large_blob_that_is_replaced_again_and_again_does_not_pile_up)
{
    enum { ROUNDS = 8, PARTS = 16 };
    str bytes = blobs_rig_bytes(t, PARTS * BLOB_PART_BYTES, 1);
    blobs_rig_make(t, e);
    for (int i = 0; i < ROUNDS; i++) {
        (void)blobs_rig_put(t, e, "a", bytes);
        ck_assert_int_le(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_data"), 2 * PARTS);
    }
    blobs_rig_no_leftovers(t, e);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blob_data"), PARTS);
}

STORE_TEST(a_container_of_many_blobs_is_gone_in_the_end)
{
    enum { MANY = 600 };
    blobs_rig_make(t, e);
    for (int i = 0; i < MANY; i++)
        (void)blobs_rig_put(t, e, arena_strf(t->arena, "%d", i).at, STR("x"));
    ck_assert_int_eq(B.drop(e, t, files), RES_OK);
    ck_assert_int_eq(B.create(e, t, files), RES_OK);
    (void)blobs_rig_put(t, e, "1", STR("new"));
    blobs_rig_no_leftovers(t, e);
    ck_assert_int_eq(embedded_rig_number(t, e, "SELECT COUNT(*) FROM blobs"), 1);
    ck_assert(str_eq(blobs_rig_get(t, e, "1"), STR("new")));
}

/* ---- append ---- */

/* STORE-39, embedded: here no reply can be lost, so a repeated append is told apart by its position alone. */
STORE_TEST(an_append_is_done_where_the_blob_ends_and_never_twice)
{
    uint64_t  bytes = 0;
    blob_info info;
    blobs_rig_make(t, e);
    ck_assert_int_eq(B.append(e, t, files, STR("log"), STR("one\n"), 0, &bytes), RES_OK);
    ck_assert_uint_eq(bytes, 4);
    ck_assert_int_eq(B.head(e, t, files, STR("log"), &info), RES_OK);
    ck_assert(info.append);
    str first = info.etag;
    ck_assert_int_eq(B.append(e, t, files, STR("log"), STR("two\n"), 4, &bytes), RES_OK);
    ck_assert_uint_eq(bytes, 8);
    ck_assert_int_eq(B.append(e, t, files, STR("log"), STR("two\n"), 4, &bytes), RES_PRECONDITION);
    ck_assert(str_has(task_message(t), STR("ends at 8, not at 4")));
    ck_assert_int_eq(B.append(e, t, files, STR("log"), STR("three\n"), UINT64_MAX, &bytes), RES_OK);
    ck_assert_uint_eq(bytes, 14);
    ck_assert_int_eq(B.append(e, t, files, STR("new"), STR("x"), 1, &bytes), RES_PRECONDITION);
    ck_assert(str_eq(blobs_rig_get(t, e, "log"), STR("one\ntwo\nthree\n")));
    ck_assert_int_eq(B.head(e, t, files, STR("log"), &info), RES_OK);
    ck_assert(!str_eq(info.etag, first));
    blob_got got;
    ck_assert_int_eq(B.get(e, t, files, STR("log"), &(blob_get){.ranged = true, .from = 2, .count = 7}, &got),
                     RES_OK);
    ck_assert(str_eq(got.body, STR("e\ntwo\nt")));
}

STORE_TEST(a_blob_keeps_its_kind_unless_it_is_put_anew)
{
    blob_info info;
    blobs_rig_make(t, e);
    (void)blobs_rig_put(t, e, "block", STR("b"));
    ck_assert_int_eq(B.append(e, t, files, STR("block"), STR("x"), UINT64_MAX, NULL), RES_CONFLICT);
    ck_assert_int_eq(B.append(e, t, files, STR("log"), STR("x"), UINT64_MAX, NULL), RES_OK);
    ck_assert_int_eq(B.put_block(e, t, files, STR("log"), STR("u"), 0, STR("b")), RES_CONFLICT);
    ck_assert_int_eq(B.put_blocks(e, t, files, STR("log"), STR("u"), 0, PLAIN, &info), RES_CONFLICT);
    (void)blobs_rig_put(t, e, "log", STR("b"));
    ck_assert_int_eq(B.head(e, t, files, STR("log"), &info), RES_OK);
    ck_assert(!info.append);
    blobs_rig_no_leftovers(t, e);
}

Suite *suite_embedded_blobs(void)
{
    Suite *s = suite_create("embedded_blobs");
    TCase *c = tcase_create("blobs");
    tcase_add_checked_fixture(c, embedded_rig_before, embedded_rig_after);
    tcase_add_test(c, a_container_is_made_once_and_gone_with_its_blobs_when_dropped);
    tcase_add_test(c, containers_are_listed_by_prefix_in_pages);
    tcase_add_test(c, every_operation_without_its_container_or_blob_says_which_is_missing);
    tcase_add_test(c, a_blob_comes_back_with_all_that_was_said_of_it);
    tcase_add_test(c, a_put_without_a_type_is_of_bytes_and_replaces_all_of_the_old_one);
    tcase_add_test(c, a_blob_of_any_length_comes_back_as_it_was);
    tcase_add_test(c, two_writes_in_one_microsecond_have_two_etags);
    tcase_add_test(c, conditions_of_a_put_are_those_of_azure);
    tcase_add_test(c, conditions_of_a_get_are_those_of_azure);
    tcase_add_loop_test(c, a_range_is_what_it_says_and_ends_with_the_blob, 0, sizeof ranges / sizeof *ranges);
    tcase_add_test(c, a_range_of_an_empty_blob_is_beyond_its_end);
    tcase_add_test(c, no_more_is_read_than_allowed);
    tcase_add_test(c, a_large_blob_that_is_replaced_again_and_again_does_not_pile_up);
    tcase_add_test(c, a_container_of_many_blobs_is_gone_in_the_end);
    tcase_add_test(c, an_append_is_done_where_the_blob_ends_and_never_twice);
    tcase_add_test(c, a_blob_keeps_its_kind_unless_it_is_put_anew);
    suite_add_tcase(s, c);
    suite_add_tcase(s, embedded_blobs_cases_many());
    suite_add_tcase(s, embedded_blobs_cases_list());
    suite_add_tcase(s, embedded_blobs_cases_blocks());
    suite_add_tcase(s, embedded_blobs_cases_stream());
    return s;
}
