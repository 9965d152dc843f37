/* tables_cases_faults.c -- every operation on tables with each allocation failing and each wait
 * cancelled; and so for the look at what became of a write.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/wait.h"
#include "unit/storage/tables_rig.h"

#define ENTITY \
    "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"op\":\"7\",\"b\":\"AAE=\",\"b@odata.type\":\"Edm.Binary\"}"

#define PART "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\nETag: e\r\n\r\n\r\n"
#define BATCH                                                                                                \
    "HTTP/1.1 202 Accepted\r\nContent-Type: multipart/mixed; boundary=b\r\nConnection: close\r\n\r\n--b\r\n" \
    "Content-Type: multipart/mixed; boundary=c\r\n\r\n" PART PART "--c--\r\n--b--\r\n"

/* A service that has all there is, and knows every operation by its first line. */
static void serve(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    *ret = (wire_answer)RIG_ENDS(RIG_EMPTY("204", "ETag: e\r\nConnection: close\r\n"));
    if (str_starts(q->head, STR("GET /acct/Tab(P")))
        ret->bytes = RIG_JSON("ETag: e\r\n", ENTITY);
    else if (str_starts(q->head, STR("GET /acct/Tables")))
        ret->bytes = RIG_JSON("", "{\"value\":[{\"TableName\":\"Tab\"}]}");
    else if (str_starts(q->head, STR("GET /acct/Tab()")))
        ret->bytes = RIG_JSON("x-ms-continuation-NextPartitionKey: x\r\n", "{\"value\":[" ENTITY "]}");
    else if (str_starts(q->head, STR("POST /acct/$batch")))
        ret->bytes = BATCH;
}

static res each_operation(task *t, void *ctx)
{
    tables_rig       *r = ctx;
    const char *const select[] = {"op", NULL};
    entity            e = entity_new(t->arena, STR("p"), STR("r")), got;
    entity            second = entity_new(t->arena, STR("p"), STR("r2"));
    table_write       w = {.kind = WRITE_INSERT, .e = &e, .operation = "op", .etag = STR("*")};
    const table_write both[] = {w, {.kind = WRITE_UPSERT_MERGE, .e = &second}};
    table_query       q = {.where = filter_prefix(t->arena, "RowKey", STR("r")), .select = select};
    entity_page       rows;
    name_page         names;
    size_t            failed;
    entity_set_str(&e, "op", STR("7"));
    TRY(azure_tables.create(r->e, t, STR("Tab")));
    TRY(azure_tables.list(r->e, t, STR("T"), 5, STR(""), &names));
    TRY(azure_tables.get(r->e, t, STR("Tab"), STR("p"), STR("r"), select, &got));
    TRY(azure_tables.write(r->e, t, STR("Tab"), &w));
    TRY(azure_tables.query(r->e, t, STR("Tab"), &q, &rows));
    q.token = rows.token;
    TRY(azure_tables.query(r->e, t, STR("Tab"), &q, &rows));
    TRY(azure_tables.commit(r->e, t, STR("Tab"), both, 2, &failed));
    return azure_tables.drop(r->e, t, STR("Tab"));
}

START_TEST(every_operation_survives_every_failing_allocation)
{
    tables_rig r = tables_rig_start_fn(serve, NULL);
    long       nth = 1;
    for (;; nth++) {
        arena_fail_at(nth);
        res result = tables_rig_run(&r, each_operation);
        if (arena_fail_pending())
            break;
        ck_assert_int_eq(result, RES_MEMORY);
        ck_assert_int_lt(nth, 2000);
    }
    arena_fail_at(0);
    ck_assert_int_eq(r.result, RES_OK);
    ck_assert_int_gt(nth, 50);
    tables_rig_stop(&r);
}
END_TEST

START_TEST(every_operation_survives_being_cancelled_at_every_wait)
{
    tables_rig r = tables_rig_start_fn(serve, NULL);
    long       nth = 1;
    for (;; nth++) {
        wait_cancel_at(nth, RES_GONE);
        res result = tables_rig_run(&r, each_operation);
        if (wait_cancel_pending())
            break;
        ck_assert_int_eq(result, RES_GONE);
        ck_assert_int_lt(nth, 200);
    }
    wait_cancel_at(0, RES_OK);
    ck_assert_int_eq(r.result, RES_OK);
    ck_assert_int_gt(nth, 8);
    tables_rig_stop(&r);
}
END_TEST

/* ---- the way out of a lost reply ---- */

/* Every second insert is answered as if nobody knew what became of it, and 409 when it comes again. */
static void lose_inserts(void *ctx, const wire_request *q, wire_answer *ret)
{
    unsigned *inserts = ctx;
    *ret = (wire_answer)RIG_ENDS(RIG_JSON("ETag: e\r\n", ENTITY));
    if (!str_starts(q->head, STR("POST")))
        return;
    *ret = ++*inserts % 2 == 1 ? (wire_answer)RIG_ENDS(RIG_EMPTY("503", "Retry-After: 0\r\n"))
                               : (wire_answer)RIG_ENDS(RIG_FAILURE("409", "EntityAlreadyExists"));
}

static res insert_lost(task *t, void *ctx)
{
    entity      e = entity_new(t->arena, STR("p"), STR("r"));
    table_write w = {.kind = WRITE_INSERT, .e = &e, .operation = "op"};
    entity_set_str(&e, "op", STR("7"));
    return azure_tables.write(((tables_rig *)ctx)->e, t, STR("Tab"), &w);
}

/* The server counts inserts, so each run must begin with an odd one: it is a server of its own. */
static res run_lost(long nth_alloc, long nth_wait)
{
    unsigned   inserts = 0;
    tables_rig r = tables_rig_start_fn(lose_inserts, &inserts);
    arena_fail_at(nth_alloc);
    wait_cancel_at(nth_wait, RES_GONE);
    res  result = tables_rig_run(&r, insert_lost);
    bool pending = nth_alloc > 0 ? arena_fail_pending() : wait_cancel_pending();
    arena_fail_at(0);
    wait_cancel_at(0, RES_OK);
    tables_rig_stop(&r);
    return pending ? RES_COUNT : result;
}

START_TEST(a_lost_reply_is_looked_up_or_the_failure_is_told)
{
    long nth = 1;
    for (res r; (r = run_lost(nth, 0)) != RES_COUNT; nth++)
        ck_assert_int_eq(r, RES_MEMORY);
    ck_assert_int_gt(nth, 10);
    for (nth = 1;; nth++) {
        res r = run_lost(0, nth);
        if (r == RES_COUNT)
            break;
        ck_assert_int_eq(r, RES_GONE);
    }
    ck_assert_int_gt(nth, 3);
}
END_TEST

TCase *tables_cases_faults(void)
{
    TCase *c = tcase_create("faults");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, every_operation_survives_every_failing_allocation);
    tcase_add_test(c, every_operation_survives_being_cancelled_at_every_wait);
    tcase_add_test(c, a_lost_reply_is_looked_up_or_the_failure_is_told);
    return c;
}
