/* contract_blobs.c -- blobs: whole, in parts, under conditions, in blocks, and at their end.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "live/contract.h"
#include "live/live.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const blob_put as_usual;
static const blob_get whole;

static str body_of(task *t, container in, const char *name)
{
    blob_got got;
    OK(blobs_get(t, in, str_of(name), &whole, &got));
    return got.body;
}

LIVE_TEST(a_blob_comes_back_with_all_that_is_known_of_it)
{
    static const http_header metadata[] = {{STR_INIT("abc"), STR_INIT("2")},
                                           {STR_INIT("owner_1"), STR_INIT("some body")}};
    container                in = live_container();
    blob_put                 how = {
                        .content_type = STR("text/plain; charset=utf-8"), .metadata = metadata, .metadata_count = 2};
    blob_info put, head;
    blob_got  got;
    OK(blobs_put(t, in, STR("dir/a.txt"), STR("hello"), &how, &put));
    OK(blobs_head(t, in, STR("dir/a.txt"), &head));
    OK(blobs_get(t, in, STR("dir/a.txt"), &whole, &got));
    ck_str_eq(got.body, STR("hello"));
    ck_assert(!got.not_modified);
    const blob_info *both[] = {&head, &got.info};
    for (int n = 0; n < 2; n++) {
        const blob_info *b = both[n];
        ck_str_eq(b->etag, put.etag);
        ck_str_eq(b->content_type, how.content_type);
        ck_assert_uint_eq(b->bytes, 5);
        ck_assert(!b->append);
        ck_assert_int_gt(b->modified_us, INT64_C(1700000000000000));
        ck_assert_uint_eq(b->metadata_count, 2);
        ck_str_eq(http_header_get(b->metadata, 2, STR("abc")), STR("2"));
        ck_str_eq(http_header_get(b->metadata, 2, STR("owner_1")), STR("some body"));
    }
    ck_assert(str_starts(put.etag, STR("\"")) && str_ends(put.etag, STR("\"")));
}

LIVE_TEST(a_blob_without_a_type_is_plain_bytes_and_may_be_empty)
{
    container in = live_container();
    blob_got  got;
    OK(blobs_put(t, in, STR("empty"), STR(""), &as_usual, NULL));
    OK(blobs_get(t, in, STR("empty"), &whole, &got));
    ck_assert_uint_eq(got.body.len, 0);
    ck_assert_uint_eq(got.info.bytes, 0);
    ck_str_eq(got.info.content_type, STR("application/octet-stream"));
    ck_assert_uint_eq(got.info.metadata_count, 0);
}

LIVE_TEST(any_bytes_are_kept)
{
    container in = live_container();
    str       noise = live_noise(t->arena, 300 * 1000, 5);
    OK(blobs_put(t, in, STR("noise"), noise, &as_usual, NULL));
    ck_assert(str_eq(body_of(t, in, "noise"), noise));
}

/* STORE-36 */
LIVE_TEST(a_missing_blob_is_told_from_a_missing_container)
{
    const backend *b = store_backend(STORE_MAIN);
    container      in = live_container();
    blob_got       got;
    blob_info      info;
    EXPECT(RES_UNPROVISIONED, b->blobs->get(b->blobs_self, t, in.name, STR("x"), &whole, &got));
    EXPECT(RES_UNPROVISIONED, b->blobs->head(b->blobs_self, t, in.name, STR("x"), &info));
    EXPECT(RES_UNPROVISIONED, b->blobs->put(b->blobs_self, t, in.name, STR("x"), STR("y"), &as_usual, &info));
    EXPECT(RES_UNPROVISIONED,
           b->blobs->append(b->blobs_self, t, in.name, STR("x"), STR("y"), 0, &(uint64_t){0}));
    EXPECT(RES_NOT_FOUND, blobs_get(t, in, STR("x"), &whole, &got));
    EXPECT(RES_NOT_FOUND, blobs_head(t, in, STR("x"), &info));
    EXPECT(RES_NOT_FOUND, blobs_remove(t, in, STR("x"), STR("")));
}

/* ---- conditions: STORE-35 ---- */

LIVE_TEST(create_only_creates_once)
{
    container in = live_container();
    blob_put  once = {.create_only = true};
    OK(blobs_put(t, in, STR("b"), STR("first"), &once, NULL));
    EXPECT(RES_CONFLICT, blobs_put(t, in, STR("b"), STR("second"), &once, NULL));
    ck_str_eq(body_of(t, in, "b"), STR("first"));
    OK(blobs_put(t, in, STR("b"), STR("third"), &as_usual, NULL));
    ck_str_eq(body_of(t, in, "b"), STR("third"));
}

LIVE_TEST(a_conditional_put_wants_the_etag_of_now)
{
    container in = live_container();
    blob_info first, second;
    OK(blobs_put(t, in, STR("b"), STR("1"), &as_usual, &first));
    OK(blobs_put(t, in, STR("b"), STR("2"), &(blob_put){.if_match = first.etag}, &second));
    ck_assert(!str_eq(first.etag, second.etag));
    EXPECT(RES_PRECONDITION, blobs_put(t, in, STR("b"), STR("3"), &(blob_put){.if_match = first.etag}, NULL));
    OK(blobs_put(t, in, STR("b"), STR("4"), &(blob_put){.if_match = STR("*")}, NULL));
    ck_str_eq(body_of(t, in, "b"), STR("4"));
}

/* Azurite would create it. */
LIVE_TEST(a_conditional_put_of_a_missing_blob_creates_nothing)
{
    container in = live_container();
    blob_info other, info;
    OK(blobs_put(t, in, STR("other"), STR("1"), &as_usual, &other));
    EXPECT(RES_PRECONDITION, blobs_put(t, in, STR("b"), STR("2"), &(blob_put){.if_match = STR("*")}, NULL));
    EXPECT(RES_PRECONDITION, blobs_put(t, in, STR("b"), STR("2"), &(blob_put){.if_match = other.etag}, NULL));
    EXPECT(RES_NOT_FOUND, blobs_head(t, in, STR("b"), &info));
}

LIVE_TEST(a_get_can_be_conditional)
{
    container in = live_container();
    blob_info first, second;
    blob_got  got;
    OK(blobs_put(t, in, STR("b"), STR("1"), &as_usual, &first));
    OK(blobs_get(t, in, STR("b"), &(blob_get){.if_none_match = first.etag}, &got));
    ck_assert(got.not_modified);
    OK(blobs_put(t, in, STR("b"), STR("2"), &as_usual, &second));
    OK(blobs_get(t, in, STR("b"), &(blob_get){.if_none_match = first.etag}, &got));
    ck_assert(!got.not_modified);
    ck_str_eq(got.body, STR("2"));
    OK(blobs_get(t, in, STR("b"), &(blob_get){.if_match = second.etag}, &got));
    EXPECT(RES_PRECONDITION, blobs_get(t, in, STR("b"), &(blob_get){.if_match = first.etag}, &got));
}

LIVE_TEST(a_removal_can_be_conditional)
{
    container in = live_container();
    blob_info first, second;
    OK(blobs_put(t, in, STR("b"), STR("1"), &as_usual, &first));
    OK(blobs_put(t, in, STR("b"), STR("2"), &as_usual, &second));
    EXPECT(RES_PRECONDITION, blobs_remove(t, in, STR("b"), first.etag));
    OK(blobs_remove(t, in, STR("b"), second.etag));
    EXPECT(RES_NOT_FOUND, blobs_head(t, in, STR("b"), &first));
    OK(blobs_put(t, in, STR("b"), STR("3"), &as_usual, NULL));
    OK(blobs_remove(t, in, STR("b"), STR("")));
}

/* ---- ranges: STORE-36 ---- */

typedef struct {
    uint64_t    from, count;
    const char *body; /* NULL: refused */
} range_case;

static const range_case ranges[] = {
    {0, 2, "he"}, {1, 3, "ell"}, {4, 1, "o"}, {3, 100, "lo"}, {0, 5, "hello"}, {5, 1, NULL}, {100, 5, NULL},
};

LIVE_TEST(a_range_gives_its_bytes_or_is_refused)
{
    container         in = live_container();
    const range_case *r = &ranges[i];
    blob_get          how = {.ranged = true, .from = r->from, .count = r->count};
    blob_got          got;
    OK(blobs_put(t, in, STR("b"), STR("hello"), &as_usual, NULL));
    EXPECT(r->body != NULL ? RES_OK : RES_INVALID, blobs_get(t, in, STR("b"), &how, &got));
    if (r->body == NULL)
        return;
    ck_str_eq(got.body, str_of(r->body));
    ck_assert_uint_eq(got.info.bytes, 5);
}

LIVE_TEST(a_blob_beyond_the_limit_of_the_reader_is_too_large)
{
    container in = live_container();
    blob_got  got;
    OK(blobs_put(t, in, STR("b"), live_noise(t->arena, 100, 1), &as_usual, NULL));
    EXPECT(RES_TOO_LARGE, blobs_get(t, in, STR("b"), &(blob_get){.bytes_max = 99}, &got));
    OK(blobs_get(t, in, STR("b"), &(blob_get){.bytes_max = 100}, &got));
}

/* ---- large ones ---- */

typedef struct {
    str      all;
    size_t   at, piece;
    uint64_t sum;
} pieces;

static res next_piece(task *t, void *ctx, str *ret)
{
    (void)t;
    pieces *p = ctx;
    *ret = str_slice(p->all, p->at, p->at + p->piece);
    p->at += ret->len;
    return RES_OK;
}

static res take_piece(task *t, str piece, void *ctx)
{
    (void)t;
    pieces *p = ctx;
    ck_assert(str_eq(piece, str_slice(p->all, p->at, p->at + piece.len)));
    p->at += piece.len;
    return RES_OK;
}

/* STORE-38: above BLOBS_SINGLE_MAX it travels in blocks. */
LIVE_TEST(a_blob_of_many_blocks_is_their_concatenation)
{
    container in = live_container();
    str       all = live_noise(t->arena, BLOBS_SINGLE_MAX + BLOBS_BLOCK / 2 + 3, 9);
    blob_info put;
    blob_got  got;
    blob_put  how = {.content_type = STR("video/x"), .create_only = true};
    OK(blobs_put(t, in, STR("large"), all, &how, &put));
    ck_assert_uint_eq(put.bytes, all.len);
    EXPECT(RES_CONFLICT, blobs_put(t, in, STR("large"), all, &how, NULL));
    pieces seen = {.all = all};
    OK(blobs_get_stream(t, in, STR("large"), &whole, take_piece, &seen, &got));
    ck_assert_uint_eq(seen.at, all.len);
    ck_str_eq(got.info.etag, put.etag);
    ck_str_eq(got.info.content_type, STR("video/x"));
    EXPECT(RES_TOO_LARGE, blobs_get(t, in, STR("large"), &whole, &got));
}

LIVE_TEST(a_stream_of_pieces_becomes_one_blob)
{
    static const size_t sizes[] = {0, 1, 1000, 5 * MIB + 17};
    container           in = live_container();
    for (int n = 0; n < COUNT(sizes); n++) {
        pieces   out = {.all = live_noise(t->arena, sizes[n], 3), .piece = 777 * 1000};
        pieces   back = {.all = out.all};
        blob_got got;
        OK(blobs_put_stream(t, in, STR("s"), next_piece, &out, &as_usual, NULL));
        OK(blobs_get_stream(t, in, STR("s"), &whole, take_piece, &back, &got));
        ck_assert_uint_eq(back.at, sizes[n]);
    }
}

static res broken_piece(task *t, void *ctx, str *ret)
{
    pieces *p = ctx;
    if (p->at >= 3 * MIB)
        return task_fail(t, RES_DENIED, "the source broke");
    return next_piece(t, ctx, ret);
}

LIVE_TEST(a_stream_that_breaks_leaves_what_was_there)
{
    container in = live_container();
    pieces    out = {.all = live_noise(t->arena, 4 * MIB, 3), .piece = 1 * MIB};
    OK(blobs_put(t, in, STR("s"), STR("old"), &as_usual, NULL));
    EXPECT(RES_DENIED, blobs_put_stream(t, in, STR("s"), broken_piece, &out, &as_usual, NULL));
    ck_str_eq(body_of(t, in, "s"), STR("old"));
}

LIVE_TEST(a_range_can_be_streamed)
{
    container in = live_container();
    str       all = live_noise(t->arena, 3 * MIB, 3);
    pieces    back = {.all = str_slice(all, MIB, 2 * MIB)};
    blob_got  got;
    OK(blobs_put(t, in, STR("s"), all, &as_usual, NULL));
    blob_get how = {.ranged = true, .from = MIB, .count = MIB};
    OK(blobs_get_stream(t, in, STR("s"), &how, take_piece, &back, &got));
    ck_assert_uint_eq(back.at, MIB);
}

/* ---- append blobs: STORE-39 ---- */

LIVE_TEST(appending_makes_the_blob_and_adds_at_its_end)
{
    container in = live_container();
    uint64_t  bytes = 0;
    blob_info head;
    OK(blobs_append(t, in, STR("log"), STR("one\n"), UINT64_MAX, &bytes));
    ck_assert_uint_eq(bytes, 4);
    OK(blobs_append(t, in, STR("log"), STR("two\n"), 4, &bytes));
    ck_assert_uint_eq(bytes, 8);
    EXPECT(RES_PRECONDITION, blobs_append(t, in, STR("log"), STR("two\n"), 4, &bytes));
    EXPECT(RES_PRECONDITION, blobs_append(t, in, STR("log"), STR("x"), 100, &bytes));
    OK(blobs_append(t, in, STR("log"), STR("three\n"), UINT64_MAX, NULL));
    ck_str_eq(body_of(t, in, "log"), STR("one\ntwo\nthree\n"));
    OK(blobs_head(t, in, STR("log"), &head));
    ck_assert(head.append);
    ck_assert_uint_eq(head.bytes, 14);
}

LIVE_TEST(the_first_append_may_name_position_0)
{
    container in = live_container();
    uint64_t  bytes = 0;
    OK(blobs_append(t, in, STR("log"), STR("one"), 0, &bytes));
    ck_assert_uint_eq(bytes, 3);
    EXPECT(RES_PRECONDITION, blobs_append(t, in, STR("other"), STR("one"), 7, &bytes));
}

LIVE_TEST(appends_have_their_limits)
{
    container in = live_container();
    EXPECT(RES_TOO_LARGE,
           blobs_append(t, in, STR("log"), live_noise(t->arena, BLOBS_APPEND_MAX + 1, 1), UINT64_MAX, NULL));
    OK(blobs_append(t, in, STR("log"), live_noise(t->arena, BLOBS_APPEND_MAX, 1), UINT64_MAX, NULL));
    OK(blobs_put(t, in, STR("block"), STR("x"), &as_usual, NULL));
    EXPECT(RES_CONFLICT, blobs_append(t, in, STR("block"), STR("y"), UINT64_MAX, NULL));
    ck_str_eq(body_of(t, in, "block"), STR("x"));
}

static res append_line(task *t, size_t i, void *ctx)
{
    return blobs_append(t, *(const container *)ctx, STR("log"), arena_strf(t->arena, "%03zu\n", i),
                        UINT64_MAX, NULL);
}

LIVE_TEST(concurrent_appends_are_all_there)
{
    container in = live_container();
    OK(par_each(t, 40, 8, append_line, &in));
    str body = body_of(t, in, "log");
    ck_assert_uint_eq(body.len, 160);
    for (int n = 0; n < 40; n++)
        ck_assert(str_has(body, str_of(textf("%03d\n", n))));
}

Suite *suite_blobs(void)
{
    Suite *s = suite_create("blobs");
    TCase *c = live_case("blobs");
    tcase_add_test(c, a_blob_comes_back_with_all_that_is_known_of_it);
    tcase_add_test(c, a_blob_without_a_type_is_plain_bytes_and_may_be_empty);
    tcase_add_test(c, any_bytes_are_kept);
    tcase_add_test(c, a_missing_blob_is_told_from_a_missing_container);
    tcase_add_test(c, create_only_creates_once);
    tcase_add_test(c, a_conditional_put_wants_the_etag_of_now);
    tcase_add_test(c, a_conditional_put_of_a_missing_blob_creates_nothing);
    tcase_add_test(c, a_get_can_be_conditional);
    tcase_add_test(c, a_removal_can_be_conditional);
    tcase_add_loop_test(c, a_range_gives_its_bytes_or_is_refused, 0, COUNT(ranges));
    tcase_add_test(c, a_blob_beyond_the_limit_of_the_reader_is_too_large);
    tcase_add_test(c, a_blob_of_many_blocks_is_their_concatenation);
    tcase_add_test(c, a_stream_of_pieces_becomes_one_blob);
    tcase_add_test(c, a_stream_that_breaks_leaves_what_was_there);
    tcase_add_test(c, a_range_can_be_streamed);
    tcase_add_test(c, appending_makes_the_blob_and_adds_at_its_end);
    tcase_add_test(c, the_first_append_may_name_position_0);
    tcase_add_test(c, appends_have_their_limits);
    tcase_add_test(c, concurrent_appends_are_all_there);
    suite_add_tcase(s, c);
    return s;
}
