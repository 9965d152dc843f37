/* azure_blobs_cases_faults.c -- every operation on blobs with each allocation failing and each wait
 * cancelled.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/wait.h"
#include "unit/storage/azure_blobs_rig.h"

#define BLOB_LIST                                                                             \
    "<EnumerationResults><Blobs><Blob><Name>a</Name><Properties><Etag>0x1</Etag>"             \
    "</Properties></Blob><BlobPrefix><Name Encoded=\"true\">b%2F</Name></BlobPrefix></Blobs>" \
    "<NextMarker>n</NextMarker></EnumerationResults>"
#define CONTAINER_LIST                                                        \
    "<EnumerationResults><Containers><Container><Name>con</Name></Container>" \
    "</Containers><NextMarker>n</NextMarker></EnumerationResults>"
#define PROPERTIES "Content-Type: text/plain\r\nLast-Modified: " BLOBS_DATE "\r\nx-ms-meta-team: red\r\n"

/* A service that has all there is, and knows every operation by its first line. */
static void serve(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    *ret = (wire_answer)BLOBS_ENDS(BLOBS_WRITTEN);
    if (str_starts(q->head, STR("DELETE")))
        ret->bytes = BLOBS_HEAD("202", "");
    else if (str_starts(q->head, STR("PUT " BLOBS_PATH "?comp=appendblock")))
        ret->bytes = BLOBS_HEAD("201", "x-ms-blob-append-offset: 7\r\n");
    else if (str_starts(q->head, STR("GET /acct/?comp=list")))
        ret->bytes = BLOBS_XML(CONTAINER_LIST);
    else if (str_starts(q->head, STR("GET /acct/con?restype")))
        ret->bytes = BLOBS_XML(BLOB_LIST);
    else if (str_starts(q->head, STR("HEAD")))
        ret->bytes = BLOBS_BYTES("200", PROPERTIES, "5", "");
    else if (str_starts(q->head, STR("GET")))
        ret->bytes = BLOBS_BYTES("200", PROPERTIES, "5", "hello");
}

static res take(task *t, str piece, void *ctx)
{
    (void)t;
    *(size_t *)ctx += piece.len;
    return RES_OK;
}

static res reads(task *t, azure_endpoint *e)
{
    blob_get  how = {0};
    blob_got  got;
    blob_info info;
    blob_page page;
    name_page names;
    size_t    taken = 0;
    TRY(azure_blobs.list(e, t, STR("c"), 5, STR(""), &names));
    TRY(azure_blobs.list_blobs(e, t, STR("con"), STR("a"), '/', 5, names.next, &page));
    TRY(azure_blobs.get(e, t, STR("con"), STR(BLOBS_NAME), &how, &got));
    TRY(azure_blobs.get_stream(e, t, STR("con"), STR(BLOBS_NAME), &how, take, &taken, &got));
    TRY(azure_blobs.head(e, t, STR("con"), STR(BLOBS_NAME), &info));
    return taken == 5 && info.metadata_count == 1 ? RES_OK : RES_INVALID;
}

static res each_operation(task *t, void *ctx)
{
    azure_endpoint   *e = ((blobs_rig *)ctx)->e;
    const http_header team = {STR("team"), STR("red")};
    blob_put          how = {.metadata = &team, .metadata_count = 1, .if_match = STR("*")};
    blob_info         info;
    uint64_t          bytes;
    const str         upload = STR("c0ffee00-1111-4222-8333-444455556666");
    TRY(azure_blobs.create(e, t, STR("con")));
    TRY(azure_blobs.put(e, t, STR("con"), STR(BLOBS_NAME), STR("hello"), &how, &info));
    TRY(azure_blobs.put_block(e, t, STR("con"), STR(BLOBS_NAME), upload, 0, STR("hello")));
    TRY(azure_blobs.put_blocks(e, t, STR("con"), STR(BLOBS_NAME), upload, 1, &how, &info));
    TRY(azure_blobs.append(e, t, STR("con"), STR(BLOBS_NAME), STR("x"), 7, &bytes));
    TRY(reads(t, e));
    TRY(azure_blobs.remove(e, t, STR("con"), STR(BLOBS_NAME), STR("")));
    return azure_blobs.drop(e, t, STR("con"));
}

START_TEST(every_operation_survives_every_failing_allocation)
{
    blobs_rig r = blobs_rig_start_fn(serve, NULL);
    long      nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res result = blobs_rig_run(&r, each_operation);
        if (arena_fail_pending())
            break;
        ck_assert_msg(result == RES_MEMORY, "allocation %ld: %s %s", nth, res_name(result), r.message);
        ck_assert_int_lt(nth, 2000);
    }
    arena_fail_at(0);
    ck_assert_msg(r.result == RES_OK, "%s", r.message);
    ck_assert_int_gt(nth, 50);
    blobs_rig_stop(&r);
}
END_TEST

START_TEST(every_operation_survives_being_cancelled_at_every_wait)
{
    blobs_rig r = blobs_rig_start_fn(serve, NULL);
    long      nth = 1;
    for (;; nth++) {
        wait_cancel_at(nth, RES_GONE);
        res result = blobs_rig_run(&r, each_operation);
        if (wait_cancel_pending())
            break;
        ck_assert_msg(result == RES_GONE, "wait %ld: %s %s", nth, res_name(result), r.message);
        ck_assert_int_lt(nth, 200);
    }
    wait_cancel_at(0, RES_OK);
    ck_assert_msg(r.result == RES_OK, "%s", r.message);
    ck_assert_int_gt(nth, 12);
    blobs_rig_stop(&r);
}
END_TEST

TCase *azure_blobs_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, every_operation_survives_every_failing_allocation);
    tcase_add_test(c, every_operation_survives_being_cancelled_at_every_wait);
    return c;
}
