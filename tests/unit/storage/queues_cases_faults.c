/* queues_cases_faults.c -- every operation on queues with each allocation failing and each wait cancelled;
 * and azure_open, which makes a back end of up to three services.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/wait.h"
#include "unit/storage/queues_rig.h"

#define MESSAGE \
    QUEUES_MESSAGE("<MessageId>i</MessageId><PopReceipt>r</PopReceipt><MessageText>a&amp;b</MessageText>")

/* A service that has all there is, and knows every operation by its first line. */
static void serve(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    *ret = (wire_answer)QUEUES_ENDS(QUEUES_EMPTY("201", "Connection: close\r\nx-ms-popreceipt: n\r\n"));
    if (str_starts(q->head, STR("GET /acct/?comp=list")))
        ret->bytes = QUEUES_XML("<EnumerationResults><Queues><Queue><Name>q&amp;</Name></Queue></Queues>"
                                "<NextMarker>m</NextMarker></EnumerationResults>");
    else if (str_starts(q->head, STR("GET /acct/q?")))
        ret->bytes = QUEUES_EMPTY("200", "Connection: close\r\nx-ms-approximate-messages-count: 7\r\n");
    else if (str_starts(q->head, STR("GET")) || str_starts(q->head, STR("POST")))
        ret->bytes = QUEUES_LIST(MESSAGE);
}

static res each_operation(task *t, void *ctx)
{
    queues_rig   *r = ctx;
    str           text = STR("a<b");
    name_page     names;
    queue_message m, *all;
    size_t        found;
    uint64_t      total;
    TRY(azure_queues.create(r->e, t, STR("q")));
    TRY(azure_queues.list(r->e, t, STR("p"), 5, STR("m"), &names));
    TRY(azure_queues.put(r->e, t, STR("q"), text, 0, 60, &m));
    TRY(azure_queues.peek(r->e, t, STR("q"), 2, &all, &found));
    TRY(azure_queues.receive(r->e, t, STR("q"), 2, 30, &all, &found));
    TRY(azure_queues.update(r->e, t, STR("q"), &m, &text, 5));
    TRY(azure_queues.remove(r->e, t, STR("q"), m.id, m.receipt));
    TRY(azure_queues.count(r->e, t, STR("q"), &total));
    TRY(azure_queues.clear(r->e, t, STR("q")));
    return azure_queues.drop(r->e, t, STR("q"));
}

START_TEST(every_operation_survives_every_failing_allocation)
{
    queues_rig r = queues_rig_start_fn(serve, NULL);
    long       nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res result = queues_rig_run(&r, each_operation);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(result, RES_MEMORY);
        ck_assert_int_lt(nth, 2000);
    }
    arena_fail_at(0);
    ck_assert_int_eq(r.result, RES_OK);
    ck_assert_int_gt(nth, 50);
    wire_stop(r.w);
}
END_TEST

START_TEST(every_operation_survives_being_cancelled_at_every_wait)
{
    queues_rig r = queues_rig_start_fn(serve, NULL);
    long       nth = 1;
    for (;; nth++) {
        wait_cancel_at(nth, RES_GONE);
        res result = queues_rig_run(&r, each_operation);
        if (wait_cancel_pending())
            break;
        ck_assert_int_eq(result, RES_GONE);
        ck_assert_int_lt(nth, 200);
    }
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(r.result, RES_OK);
    ck_assert_int_gt(nth, 9);
    wire_stop(r.w);
}
END_TEST

TCase *queues_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, every_operation_survives_every_failing_allocation);
    tcase_add_test(c, every_operation_survives_being_cancelled_at_every_wait);
    return c;
}

/* ---- azure_open ---- */

#define KEYED  "AccountName=acct;AccountKey=aHVudGVyMg=="
#define SIGNED "SharedAccessSignature=sv=1&sig=hunter2;BlobEndpoint=http://b.example/x"

static const struct {
    const char *tables, *blobs, *queues;
    const char *describe; /* or what the error says */
    res         want;
} opened[] = {
    {KEYED, KEYED, KEYED, "azure: https://acct.table.core.windows.net", RES_OK},
    {KEYED, "", "", "azure: https://acct.table.core.windows.net", RES_OK},
    {"", SIGNED, "", "azure: http://b.example/x", RES_OK},
    {"", "", KEYED, "azure: https://acct.queue.core.windows.net", RES_OK},
    {"", SIGNED, KEYED, "azure: http://b.example/x", RES_OK},
    {"", "", "", "there is no connection for any storage service", RES_CONFIG},
    {KEYED, KEYED, "aHVudGVyMg", "connection for queues: ", RES_CONFIG},
    {KEYED, "AccountName=acct", KEYED, "connection for blobs: ", RES_CONFIG},
    {"AccountKey=aHVudGVyMg==", KEYED, KEYED, "connection for tables: ", RES_CONFIG},
    {KEYED ";TableEndpoint=http://h/u:hunter2@x", "", "", "connection for tables: ", RES_CONFIG},
};

static bool tells_secret(const char *text)
{
    return strstr(text, "hunter2") != NULL || strstr(text, "aHVudGVyMg") != NULL;
}

START_TEST(a_back_end_has_the_services_that_have_a_connection)
{
    backend b = {0};
    str     why = {0};
    res     r = azure_open(scratch(), str_of(opened[_i].tables), str_of(opened[_i].blobs),
                           str_of(opened[_i].queues), &b, &why);
    ck_assert_int_eq(r, opened[_i].want);
    const char *said = textf("%.*s", STR_ARG(r == RES_OK ? b.describe : why));
    ck_assert_msg(str_starts(str_of(said), str_of(opened[_i].describe)), "%s", said);
    ck_assert_msg(!tells_secret(said), "%s", said);
    ck_assert_ptr_null(strchr(said, '\n'));
    bool ok = r == RES_OK;
    ck_assert_ptr_eq(b.tables, ok && opened[_i].tables[0] != '\0' ? &azure_tables : NULL);
    ck_assert_ptr_eq(b.blobs, ok && opened[_i].blobs[0] != '\0' ? &azure_blobs : NULL);
    ck_assert_ptr_eq(b.queues, ok && opened[_i].queues[0] != '\0' ? &azure_queues : NULL);
    ck_assert_int_eq(b.tables != NULL, b.tables_self != NULL);
    ck_assert_int_eq(b.blobs != NULL, b.blobs_self != NULL);
    ck_assert_int_eq(b.queues != NULL, b.queues_self != NULL);
}
END_TEST

START_TEST(opening_survives_every_failing_allocation)
{
    for (long nth = 1;; nth++) {
        arena  *a = arena_new(MIB);
        backend b = {0};
        str     why = {0};
        arena_fail_at(nth);
        res  r = azure_open(a, STR(KEYED), STR(SIGNED), STR(KEYED), &b, &why);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert(pending ? r == RES_OK : r == RES_MEMORY || r == RES_CONFIG);
        ck_assert(r == RES_OK || (why.len > 0 && b.describe.at == NULL));
        arena_free(a);
        if (pending)
            break;
        ck_assert_int_lt(nth, 200);
    }
}
END_TEST

/* As an application meets it: the facade over a back end without queues and tables. */
static res count_left_out(task *t, void *ctx)
{
    (void)ctx;
    uint64_t total;
    return queues_count(t, (queue){.store = STORE_MAIN, .name = STR("jobs")}, &total);
}

START_TEST(a_service_that_is_left_out_answers_that_it_is_not_set_up)
{
    backend b;
    str     why;
    ck_assert_int_eq(azure_open(scratch(), STR(""), STR(SIGNED), STR(""), &b, &why), RES_OK);
    store_set_for_test(STORE_MAIN, &b);
    ck_assert_int_eq(rig_run(count_left_out, NULL, 0), RES_CONFIG);
    ck_assert(!tells_secret(rig_message()) && rig_message()[0] != '\0');
    store_set_for_test(STORE_MAIN, NULL);
}
END_TEST

TCase *queues_cases_open(void)
{
    TCase *c = tcase_create("open");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_back_end_has_the_services_that_have_a_connection, 0,
                        (int)(sizeof opened / sizeof *opened));
    tcase_add_test(c, opening_survives_every_failing_allocation);
    tcase_add_test(c, a_service_that_is_left_out_answers_that_it_is_not_set_up);
    return c;
}
