/* azure_blobs_cases_append.c -- appends, each done once: where they go, what makes the blob, and what becomes
 * of one whose reply is lost.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "unit/storage/azure_blobs_rig.h"

#define ANYWHERE     UINT64_MAX
#define MISSING      BLOBS_ENDS(BLOBS_FAILURE("404", "BlobNotFound"))
#define NO_CONTAINER BLOBS_ENDS(BLOBS_FAILURE("404", "ContainerNotFound"))
#define ELSEWHERE    BLOBS_ENDS(BLOBS_FAILURE("412", "AppendPositionConditionNotMet"))
#define OTHER_TYPE   BLOBS_ENDS(BLOBS_FAILURE("409", "InvalidBlobType"))
#define EXISTS       BLOBS_ENDS(BLOBS_FAILURE("409", "BlobAlreadyExists"))
#define MADE         BLOBS_ENDS(BLOBS_WRITTEN)
#define ADDED(at)    BLOBS_ENDS(BLOBS_HEAD("201", "x-ms-blob-append-offset: " at "\r\n"))
#define SILENT       BLOBS_ENDS(BLOBS_HEAD("201", ""))
#define STORED(range, length, body) \
    BLOBS_ENDS(BLOBS_BYTES("206", "Content-Range: bytes " range "\r\n", length, body))
#define BEYOND BLOBS_ENDS(BLOBS_FAILURE("416", "InvalidRange"))
#define DENIED BLOBS_ENDS(BLOBS_FAILURE("403", "AuthorizationFailure"))

typedef struct {
    uint64_t    at;
    wire_answer answers[4];
    size_t      requests;
    res         want;
    uint64_t    bytes;
} append_row;

static const append_row rows[] = {
    {7, {ADDED("7")}, 1, RES_OK, 12},
    {7, {SILENT}, 1, RES_OK, 12},
    {7, {ADDED("x")}, 1, RES_OK, 12},
    {ANYWHERE, {ADDED("7")}, 1, RES_OK, 12},
    {ANYWHERE, {SILENT}, 1, RES_UPSTREAM, 77},
    {ANYWHERE, {ADDED("-1")}, 1, RES_UPSTREAM, 77},
    {7, {ELSEWHERE}, 1, RES_PRECONDITION, 77},
    {7, {OTHER_TYPE}, 1, RES_CONFLICT, 77},
    {ANYWHERE, {NO_CONTAINER}, 1, RES_UNPROVISIONED, 77},
    /* A missing blob is made, but not where it should have bytes already. */
    {7, {MISSING}, 1, RES_PRECONDITION, 77},
    {0, {MISSING, MADE, ADDED("0")}, 3, RES_OK, 5},
    {ANYWHERE, {MISSING, MADE, ADDED("0")}, 3, RES_OK, 5},
    {ANYWHERE, {MISSING, EXISTS, ADDED("9")}, 3, RES_OK, 14},
    {ANYWHERE, {MISSING, BLOBS_ENDS(BLOBS_FAILURE("412", "ConditionNotMet")), ADDED("9")}, 3, RES_OK, 14},
    {0, {MISSING, EXISTS, ELSEWHERE}, 3, RES_PRECONDITION, 77},
    {0, {MISSING, NO_CONTAINER}, 2, RES_UNPROVISIONED, 77},
    {0, {MISSING, MADE, MISSING}, 3, RES_NOT_FOUND, 77},
    /* STORE-39: the reply is lost. What stands at the position tells whose append it was. */
    {7, {BLOBS_LOST, ADDED("7")}, 2, RES_OK, 12},
    {7, {BLOBS_LOST, ELSEWHERE, STORED("7-11/12", "5", "line\n")}, 3, RES_OK, 12},
    {7, {BLOBS_LOST, ELSEWHERE, STORED("7-11/40", "5", "line\n")}, 3, RES_OK, 12},
    {7, {BLOBS_LOST, ELSEWHERE, STORED("7-11/12", "5", "LINE\n")}, 3, RES_PRECONDITION, 77},
    {7, {BLOBS_LOST, ELSEWHERE, STORED("7-8/9", "2", "li")}, 3, RES_PRECONDITION, 77},
    {7, {BLOBS_LOST, ELSEWHERE, STORED("7-6/7", "0", "")}, 3, RES_PRECONDITION, 77},
    {7, {BLOBS_LOST, ELSEWHERE, BEYOND}, 3, RES_PRECONDITION, 77},
    {7, {BLOBS_LOST, ELSEWHERE, MISSING}, 3, RES_PRECONDITION, 77},
    {7, {BLOBS_LOST, ELSEWHERE, DENIED}, 3, RES_CONFIG, 77},
    {0, {MISSING, MADE, BLOBS_LOST, ADDED("0")}, 4, RES_OK, 5},
};

static res append_line(task *t, void *ctx)
{
    blobs_rig        *r = ctx;
    const append_row *row = r->row;
    uint64_t          bytes = 77;
    res result = azure_blobs.append(r->e, t, STR("con"), STR(BLOBS_NAME), STR("line\n"), row->at, &bytes);
    ck_assert_uint_eq(bytes, row->bytes);
    ck_assert_uint_eq(task_message(t).len == 0, result == RES_OK);
    return result;
}

static void check_requests(blobs_rig *r, const append_row *row)
{
    char position[64];
    snprintf(position, sizeof position, "x-ms-blob-condition-appendpos: %llu", (unsigned long long)row->at);
    for (size_t i = 0; i < row->requests; i++) {
        str  head = wire_request_at(r->w, i).head;
        bool adds = str_starts(head, STR("PUT " BLOBS_PATH "?comp=appendblock "));
        bool makes = str_starts(head, STR("PUT " BLOBS_PATH " "));
        bool looks = str_starts(head, STR("GET " BLOBS_PATH " "));
        ck_assert_int_eq(adds + makes + looks, 1);
        ck_assert_str_eq(blobs_rig_body(r, i), adds ? "line\n" : "");
        ck_assert_int_eq(wire_has_header(r->w, i, position), adds && row->at != ANYWHERE);
        ck_assert_int_eq(str_has(head, STR("appendpos")), adds && row->at != ANYWHERE);
        ck_assert_int_eq(wire_has_header(r->w, i, "x-ms-blob-type: AppendBlob"), makes);
        ck_assert_int_eq(wire_has_header(r->w, i, "If-None-Match: *"), makes);
        ck_assert_int_eq(wire_has_header(r->w, i, "x-ms-range: bytes=7-11"), looks);
        ck_assert_int_eq(wire_has_header(r->w, i, "Content-Length: 0"), makes);
        ck_assert(!str_has(head, STR("form-urlencoded")));
    }
}

START_TEST(an_append_is_done_once_or_says_why_not)
{
    const append_row *row = &rows[_i];
    blobs_rig         r = blobs_rig_start(row->answers, 4);
    r.row = row;
    ck_assert_msg(blobs_rig_run(&r, append_line) == row->want, "%s: %s", res_name(r.result), r.message);
    ck_assert_uint_eq(wire_requests(r.w), row->requests);
    check_requests(&r, row);
    if (row->want != RES_OK)
        ck_assert_msg(str_starts(str_of(r.message), STR("blobs_")), "%s", r.message);
    blobs_rig_stop(&r);
}
END_TEST

/* Without a position nothing would tell the second from the first. */
START_TEST(an_append_without_a_position_is_never_sent_twice)
{
    static const append_row  row = {.at = ANYWHERE, .bytes = 77};
    static const wire_answer lost[] = {
        BLOBS_LOST, BLOBS_ENDS(BLOBS_HEAD("500", "")), {.bytes = "HTTP/1.1 20", .then = WIRE_CLOSE}};
    blobs_rig r = blobs_rig_start((wire_answer[]){lost[_i], ADDED("7")}, 2);
    r.row = &row;
    res result = blobs_rig_run(&r, append_line);
    ck_assert_msg(result == RES_UPSTREAM || result == RES_UNREACHABLE, "%s", res_name(result));
    ck_assert_uint_eq(wire_requests(r.w), 1);
    blobs_rig_stop(&r);
}
END_TEST

TCase *azure_blobs_cases_append(void)
{
    TCase *c = tcase_create("appending");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    BLOBS_LOOP(c, an_append_is_done_once_or_says_why_not, rows);
    tcase_add_loop_test(c, an_append_without_a_position_is_never_sent_twice, 0, 3);
    return c;
}
