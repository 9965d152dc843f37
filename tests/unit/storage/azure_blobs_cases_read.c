/* azure_blobs_cases_read.c -- blobs read whole, in part, in pieces, or only their properties: what is asked
 * for, what an answer means, and answers that make no sense.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/azure_blobs_rig.h"

#define HEAD_LINE "HEAD " BLOBS_PATH " HTTP/1.1"
#define GET_LINE  "GET " BLOBS_PATH " HTTP/1.1"
#define INFO                                                                               \
    "Content-Type: text/plain\r\nLast-Modified: " BLOBS_DATE "\r\nx-ms-meta-Team: red\r\n" \
    "X-MS-META-n_2: a b\r\n"

/* ---- properties ---- */

static void check_info(const blob_info *info, bool append)
{
    ck_assert(str_eq(info->etag, STR(BLOBS_ETAG)));
    ck_assert(str_eq(info->content_type, STR("text/plain")));
    ck_assert_uint_eq(info->bytes, 5);
    ck_assert_int_eq(info->modified_us / 1000000, BLOBS_DATE_S);
    ck_assert_int_eq(info->append, append);
    ck_assert_uint_eq(info->metadata_count, 2);
    ck_assert(str_eq(info->metadata[0].name, STR("team")));
    ck_assert(str_eq(info->metadata[0].value, STR("red")));
    ck_assert(str_eq(info->metadata[1].name, STR("n_2")));
    ck_assert(str_eq(info->metadata[1].value, STR("a b")));
}

static res head_append(task *t, void *ctx)
{
    blob_info info;
    TRY(azure_blobs.head(((blobs_rig *)ctx)->e, t, STR("con"), STR(BLOBS_NAME), &info));
    check_info(&info, true);
    return RES_OK;
}

START_TEST(the_properties_of_a_blob_are_headers)
{
    blobs_rig r = blobs_rig_start(
        (wire_answer[]){{.bytes = BLOBS_BYTES("200", "x-ms-blob-type: AppendBlob\r\n" INFO, "5", "")}}, 1);
    ck_assert_msg(blobs_rig_run(&r, head_append) == RES_OK, "%s", r.message);
    ck_assert_str_eq(blobs_rig_line(&r, 0), HEAD_LINE);
    blobs_rig_stop(&r);
}
END_TEST

static const struct {
    const char *answer;
    res         want;
} bad_heads[] = {
    {BLOBS_REFUSED("404", "BlobNotFound"), RES_NOT_FOUND},
    {BLOBS_REFUSED("404", "ContainerNotFound"), RES_UNPROVISIONED},
    {BLOBS_HEAD("404", "Connection: close\r\n"), RES_NOT_FOUND},
    {BLOBS_REFUSED("403", "AuthorizationFailure"), RES_CONFIG},
    {"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nConnection: close\r\n\r\n", RES_UPSTREAM},
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n", RES_UPSTREAM},
    {"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", RES_UPSTREAM},
};

/* STORE-36: the code of a failing HEAD is a header. */
START_TEST(a_head_that_fails_says_why_without_a_body)
{
    blobs_rig r = blobs_rig_start(&(wire_answer)BLOBS_ENDS(bad_heads[_i].answer), 1);
    ck_assert_msg(blobs_rig_run(&r, head_append) == bad_heads[_i].want, "%s", r.message);
    ck_assert_msg(str_starts(str_of(r.message), STR("blobs_head")), "%s", r.message);
    blobs_rig_stop(&r);
}
END_TEST

/* ---- bytes ---- */

typedef struct {
    blob_get    how;
    const char *answer;
    res         want;
    const char *body;
    bool        not_modified;
    const char *etag;
    const char *has[3], *lacks[3];
} get_row;

#define RANGE(first, n)                               \
    {                                                 \
        .ranged = true, .from = (first), .count = (n) \
    }
#define PART(range, length, body) BLOBS_BYTES("206", "Content-Range: bytes " range "\r\n" INFO, length, body)
#define WHOLE                     BLOBS_BYTES("200", INFO, "5", "hello")

/* STORE-35, 36. Every row is read whole and in pieces. */
static const get_row gets[] = {
    {{.ranged = false}, WHOLE, RES_OK, "hello", false, BLOBS_ETAG, {NULL}, {"x-ms-range", "If-", "Range:"}},
    {{.if_match = STR_INIT("\"a\"")}, WHOLE, RES_OK, "hello", false, BLOBS_ETAG, {"If-Match: \"a\""}, {NULL}},
    {{.if_none_match = STR_INIT("\"a\"")},
     WHOLE,
     RES_OK,
     "hello",
     false,
     BLOBS_ETAG,
     {"If-None-Match: \"a\""},
     {"If-Match"}},
    {{.ranged = false}, BLOBS_BYTES("200", "", "0", ""), RES_OK, "", false, BLOBS_ETAG, {NULL}, {NULL}},
    {RANGE(1, 3),
     PART("1-3/5", "3", "ell"),
     RES_OK,
     "ell",
     false,
     BLOBS_ETAG,
     {"x-ms-range: bytes=1-3"},
     {"If-"}},
    {RANGE(4, 9),
     PART("4-4/5", "1", "o"),
     RES_OK,
     "o",
     false,
     BLOBS_ETAG,
     {"x-ms-range: bytes=4-12"},
     {NULL}},
    {RANGE(0, 5), PART("0-4/5", "5", "hello"), RES_OK, "hello", false, BLOBS_ETAG, {NULL}, {NULL}},
    {RANGE(UINT64_MAX - 1, 1),
     BLOBS_FAILURE("416", "InvalidRange"),
     RES_INVALID,
     "",
     false,
     "",
     {"x-ms-range: bytes=18446744073709551614-18446744073709551614"},
     {NULL}},
    /* Azurite, at the very end, and of a blob that is empty. */
    {RANGE(5, 3), PART("5-4/5", "0", ""), RES_INVALID, "", false, "", {NULL}, {NULL}},
    {RANGE(0, 1), PART("0--1/0", "0", ""), RES_INVALID, "", false, "", {NULL}, {NULL}},
    {RANGE(0, 1), BLOBS_BYTES("200", "", "0", ""), RES_INVALID, "", false, "", {NULL}, {NULL}},
    {RANGE(1, 3), WHOLE, RES_UPSTREAM, "", false, "", {NULL}, {NULL}},
    {RANGE(1, 3), PART("1-3/*", "3", "ell"), RES_UPSTREAM, "", false, "", {NULL}, {NULL}},
    {RANGE(1, 3), PART("1-3", "3", "ell"), RES_UPSTREAM, "", false, "", {NULL}, {NULL}},
    {RANGE(1, 3), PART("1-3/99999999999999999999", "3", "ell"), RES_UPSTREAM, "", false, "", {NULL}, {NULL}},
    {{.if_none_match = STR_INIT("\"a\"")},
     "HTTP/1.1 304 X\r\nETag: \"a2\"\r\n\r\n",
     RES_OK,
     "",
     true,
     "\"a2\"",
     {"If-None-Match: \"a\""},
     {NULL}},
    {{.if_none_match = STR_INIT("\"a\"")},
     "HTTP/1.1 304 X\r\n\r\n",
     RES_OK,
     "",
     true,
     "\"a\"",
     {NULL},
     {NULL}},
    {{.if_none_match = STR_INIT("\"a\""), .ranged = true, .from = 9, .count = 1},
     "HTTP/1.1 304 X\r\n\r\n",
     RES_OK,
     "",
     true,
     "\"a\"",
     {"x-ms-range: bytes=9-9"},
     {NULL}},
    {{.if_match = STR_INIT("\"a\"")},
     BLOBS_FAILURE("412", "ConditionNotMet"),
     RES_PRECONDITION,
     "",
     false,
     "",
     {NULL},
     {NULL}},
    {{.ranged = false}, BLOBS_FAILURE("404", "BlobNotFound"), RES_NOT_FOUND, "", false, "", {NULL}, {NULL}},
    {{.ranged = false},
     BLOBS_FAILURE("404", "ContainerNotFound"),
     RES_UNPROVISIONED,
     "",
     false,
     "",
     {NULL},
     {NULL}},
    {{.ranged = false}, BLOBS_FAILURE("409", "InvalidBlobType"), RES_CONFLICT, "", false, "", {NULL}, {NULL}},
    {{.ranged = false},
     "HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\nhello",
     RES_UPSTREAM,
     "",
     false,
     "",
     {NULL},
     {NULL}},
    {{.ranged = false},
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
     RES_UPSTREAM,
     "",
     false,
     "",
     {NULL},
     {NULL}},
};

static void check_got(const get_row *row, const blob_got *got)
{
    ck_assert_int_eq(got->not_modified, row->not_modified);
    ck_assert(str_eq(got->info.etag, str_of(row->etag)));
    if (row->body[0] != '\0')
        check_info(&got->info, false);
}

static res get_row_whole(task *t, void *ctx)
{
    blobs_rig     *r = ctx;
    const get_row *row = r->row;
    blob_got       got;
    TRY(azure_blobs.get(r->e, t, STR("con"), STR(BLOBS_NAME), &row->how, &got));
    ck_assert(str_eq(got.body, str_of(row->body)));
    check_got(row, &got);
    return RES_OK;
}

static res take_piece(task *t, str piece, void *ctx)
{
    blobs_rig *r = ctx;
    (void)t;
    ck_assert_uint_gt(piece.len, 0);
    ck_assert_uint_le(r->got_len + piece.len, sizeof r->got);
    memcpy(r->got + r->got_len, piece.at, piece.len);
    r->got_len += piece.len;
    return RES_OK;
}

static res get_row_stream(task *t, void *ctx)
{
    blobs_rig     *r = ctx;
    const get_row *row = r->row;
    blob_got       got;
    TRY(azure_blobs.get_stream(r->e, t, STR("con"), STR(BLOBS_NAME), &row->how, take_piece, r, &got));
    ck_assert(str_eq((str){r->got, r->got_len}, str_of(row->body)));
    check_got(row, &got);
    return RES_OK;
}

START_TEST(a_get_ends_as_the_answer_says_whole_and_in_pieces)
{
    const get_row *row = &gets[_i];
    for (int streams = 0; streams <= 1; streams++) {
        blobs_rig r = blobs_rig_start(&(wire_answer)BLOBS_ENDS(row->answer), 1);
        r.row = row;
        blobs_rig_run(&r, streams ? get_row_stream : get_row_whole);
        ck_assert_msg(r.result == row->want, "%s: %s", res_name(r.result), r.message);
        ck_assert_str_eq(blobs_rig_line(&r, 0), GET_LINE);
        blobs_rig_check(&r, 0, row->has, row->lacks, 3);
        if (row->want != RES_OK) {
            ck_assert_msg(str_starts(str_of(r.message), STR("blobs_get")), "%s", r.message);
            ck_assert_uint_eq(r.got_len, 0);
        }
        blobs_rig_stop(&r);
    }
}
END_TEST

/* ---- limits ---- */

static res get_at_most(task *t, void *ctx)
{
    blobs_rig *r = ctx;
    blob_get   how = {.bytes_max = *(const size_t *)r->row};
    blob_got   got;
    TRY(azure_blobs.get(r->e, t, STR("con"), STR(BLOBS_NAME), &how, &got));
    ck_assert_uint_eq(got.body.len, how.bytes_max);
    return RES_OK;
}

static const struct {
    size_t      most;
    wire_answer answer;
    res         want;
} limits[] = {
    {5, {.bytes = WHOLE}, RES_OK},
    {4, {.bytes = WHOLE}, RES_TOO_LARGE},
    {70000, {.bytes = BLOBS_BYTES("200", "", "70000", ""), .fill_bytes = 70000}, RES_OK},
    {69999, {.bytes = BLOBS_BYTES("200", "", "70000", ""), .fill_bytes = 70000}, RES_TOO_LARGE},
    {1, {.bytes = BLOBS_BYTES("200", "", "70000", ""), .fill_bytes = 70000}, RES_TOO_LARGE},
    {1, BLOBS_ENDS(BLOBS_FAILURE("404", "BlobNotFound")), RES_NOT_FOUND},
};

START_TEST(a_blob_beyond_the_wanted_bytes_is_too_large)
{
    blobs_rig r = blobs_rig_start(&limits[_i].answer, 1);
    r.row = &limits[_i].most;
    ck_assert_msg(blobs_rig_run(&r, get_at_most) == limits[_i].want, "%s", r.message);
    ck_assert_uint_eq(wire_requests(r.w), 1);
    blobs_rig_stop(&r);
}
END_TEST

/* ---- streams that end early ---- */

static const get_row whole_row = {.want = RES_OK, .body = "hello", .etag = BLOBS_ETAG};

START_TEST(a_stream_that_breaks_off_in_the_middle_is_no_success)
{
    static const wire_then ways[] = {WIRE_CLOSE, WIRE_RESET};
    blobs_rig              r = blobs_rig_start(
                     (wire_answer[]){{.bytes = BLOBS_BYTES("200", INFO, "5", "hel"), .then = ways[_i], .then_ms = 20}}, 1);
    r.row = &whole_row;
    ck_assert_int_eq(blobs_rig_run(&r, get_row_stream), RES_UPSTREAM);
    ck_assert(str_eq((str){r.got, r.got_len}, STR("hel")));
    ck_assert_uint_eq(wire_requests(r.w), 1);
    blobs_rig_stop(&r);
}
END_TEST

START_TEST(a_stream_whose_head_is_lost_is_asked_for_again)
{
    blobs_rig r = blobs_rig_start((wire_answer[]){BLOBS_LOST, {.bytes = WHOLE}}, 2);
    r.row = &whole_row;
    ck_assert_msg(blobs_rig_run(&r, get_row_stream) == RES_OK, "%s", r.message);
    ck_assert_uint_eq(wire_requests(r.w), 2);
    blobs_rig_stop(&r);
}
END_TEST

static res refuse_piece(task *t, str piece, void *ctx)
{
    (void)piece, (void)ctx;
    return task_fail(t, RES_DENIED, "enough");
}

static res get_refusing(task *t, void *ctx)
{
    blob_get how = {0};
    blob_got got;
    return azure_blobs.get_stream(((blobs_rig *)ctx)->e, t, STR("con"), STR(BLOBS_NAME), &how, refuse_piece,
                                  NULL, &got);
}

START_TEST(a_reader_that_has_enough_ends_the_stream)
{
    blobs_rig r = blobs_rig_start(
        (wire_answer[]){{.bytes = BLOBS_BYTES("200", INFO, "5", "hel"), .then = WIRE_HANG}}, 1);
    ck_assert_int_eq(blobs_rig_run(&r, get_refusing), RES_DENIED);
    ck_assert_str_eq(r.message, "enough");
    ck_assert(wire_wait_open(r.w, 0, 5000));
    blobs_rig_stop(&r);
}
END_TEST

TCase *azure_blobs_cases_read(void)
{
    TCase *c = tcase_create("reading");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, the_properties_of_a_blob_are_headers);
    BLOBS_LOOP(c, a_head_that_fails_says_why_without_a_body, bad_heads);
    BLOBS_LOOP(c, a_get_ends_as_the_answer_says_whole_and_in_pieces, gets);
    BLOBS_LOOP(c, a_blob_beyond_the_wanted_bytes_is_too_large, limits);
    tcase_add_loop_test(c, a_stream_that_breaks_off_in_the_middle_is_no_success, 0, 2);
    tcase_add_test(c, a_stream_whose_head_is_lost_is_asked_for_again);
    tcase_add_test(c, a_reader_that_has_enough_ends_the_stream);
    return c;
}
