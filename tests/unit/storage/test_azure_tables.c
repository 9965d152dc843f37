/* test_azure_tables.c -- tables and entities against a scripted table service: what is sent, what an answer
 * means, and what becomes of a write whose reply is lost. Queries have a file of their own beside this one.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "storage/azure/tables_wire.h"
#include "unit/storage/tables_rig.h"
#include "unit/suites.h"

#define PATH         "/acct/Tab(PartitionKey='o%27%27b',RowKey='a%20%C3%BC%2B%25')"
#define LINE(method) method " " PATH " HTTP/1.1"
#define BODY         "{\"PartitionKey\":\"o'b\",\"RowKey\":\"a \\u00fc+%\",\"op\":\"7\",\"n\":5}"

static entity sample(arena *a)
{
    entity e = entity_new(a, STR("o'b"), STR("a \xC3\xBC+%"));
    entity_set_str(&e, "op", STR("7"));
    entity_set_int32(&e, "n", 5);
    e.etag = STR("old");
    return e;
}

/* ---- what is sent ---- */

typedef struct {
    write_kind  kind;
    const char *etag, *line, *body;
    const char *has[3], *lacks[3];
} write_row;

/* STORE-12, 14, 15, 17: the shapes. A delete always has its If-Match, and an upsert never. */
static const write_row shapes[] = {
    {WRITE_INSERT, "", "POST /acct/Tab HTTP/1.1", BODY, {"Prefer: return-no-content"}, {"If-Match"}},
    {WRITE_REPLACE, RIG_ETAG, LINE("PUT"), BODY, {"If-Match: " RIG_ETAG}, {"Prefer"}},
    {WRITE_REPLACE, "*", LINE("PUT"), BODY, {"If-Match: *"}, {"Prefer", "X-HTTP-Method"}},
    {WRITE_MERGE, "*", LINE("PATCH"), BODY, {"If-Match: *"}, {"Prefer", "X-HTTP-Method"}},
    {WRITE_UPSERT_REPLACE, "*", LINE("PUT"), BODY, {NULL}, {"If-Match", "Prefer"}},
    {WRITE_UPSERT_MERGE, "", LINE("PATCH"), BODY, {NULL}, {"If-Match", "Prefer"}},
    {WRITE_DELETE, RIG_ETAG, LINE("DELETE"), "", {"If-Match: " RIG_ETAG}, {"Content-Type", "Prefer"}},
};

static res write_shape(task *t, void *ctx)
{
    tables_rig      *r = ctx;
    const write_row *row = r->row;
    entity           e = sample(t->arena);
    table_write      w = {.kind = row->kind, .e = &e, .etag = str_of(row->etag)};
    TRY(azure_tables.write(r->e, t, STR("Tab"), &w));
    ck_assert(str_eq(e.etag, row->kind == WRITE_DELETE ? STR("") : STR(RIG_ETAG)));
    ck_assert_uint_eq(e.count, 2);
    return RES_OK;
}

START_TEST(a_write_is_sent_as_its_kind_demands)
{
    const write_row *row = &shapes[_i];
    tables_rig       r =
        tables_rig_start((wire_answer[]){{.bytes = RIG_EMPTY("204", "ETag: " RIG_ETAG "\r\n")}}, 1);
    r.row = row;
    ck_assert_int_eq(tables_rig_run(&r, write_shape), RES_OK);
    ck_assert_uint_eq(wire_requests(r.w), 1);
    ck_assert_str_eq(tables_rig_line(&r, 0), row->line);
    ck_assert_str_eq(tables_rig_body(&r, 0), row->body);
    ck_assert(wire_has_header(r.w, 0, "Accept: application/json;odata=nometadata"));
    ck_assert(wire_has_header(r.w, 0, "DataServiceVersion: 3.0"));
    ck_assert_int_eq(wire_has_header(r.w, 0, "Content-Type: application/json"), row->body[0] != '\0');
    for (size_t i = 0; i < 3 && row->has[i] != NULL; i++)
        ck_assert_msg(wire_has_header(r.w, 0, row->has[i]), "lacks %s", row->has[i]);
    for (size_t i = 0; i < 3 && row->lacks[i] != NULL; i++)
        ck_assert_msg(!str_has(wire_request_at(r.w, 0).head, str_of(row->lacks[i])), "has %s", row->lacks[i]);
    tables_rig_stop(&r);
}
END_TEST

/* STORE-16 (the client's half): Cosmos gets the POST form, Azure and Azurite PATCH. */
START_TEST(a_merge_for_cosmos_is_a_post_that_says_merge)
{
    arena          *a = arena_new(MIB);
    azure_endpoint *cosmos = tables_rig_endpoint(
        a, "AccountName=acct;AccountKey=c2VjcmV0;TableEndpoint=https://acct.table.cosmos.azure.com:443/");
    azure_endpoint         *azure = tables_rig_endpoint(a, "AccountName=acct;AccountKey=c2VjcmV0");
    static const write_kind kinds[] = {WRITE_MERGE, WRITE_UPSERT_MERGE, WRITE_REPLACE};
    for (size_t i = 0; i < 3; i++) {
        table_write       w = {.kind = kinds[i], .etag = STR("*")};
        tables_write_form f = tables_form_of(cosmos, &w);
        str               said = http_header_get(f.headers, f.header_count, STR("x-http-method"));
        ck_assert(str_eq(f.method, i < 2 ? STR("POST") : STR("PUT")));
        ck_assert(str_eq(said, i < 2 ? STR("MERGE") : STR("")));
        ck_assert(str_eq(tables_form_of(azure, &w).method, i < 2 ? STR("PATCH") : STR("PUT")));
    }
    arena_free(a);
}
END_TEST

/* ---- what an answer means ---- */

typedef struct {
    write_kind  kind;
    const char *answer;
    res         want;
} failure_row;

/* STORE-12, 13, 14, 17: the same failure by whichever way it comes. */
static const failure_row failures[] = {
    {WRITE_INSERT, RIG_FAILURE("409", "EntityAlreadyExists"), RES_CONFLICT},
    {WRITE_INSERT, RIG_FAILURE("404", "TableNotFound"), RES_UNPROVISIONED},
    {WRITE_REPLACE, RIG_FAILURE("412", "UpdateConditionNotSatisfied"), RES_PRECONDITION},
    {WRITE_REPLACE, RIG_FAILURE("404", "ResourceNotFound"), RES_NOT_FOUND},
    {WRITE_MERGE, RIG_FAILURE("404", "EntityNotFound"), RES_NOT_FOUND},
    {WRITE_UPSERT_MERGE, RIG_FAILURE("404", "TableNotFound"), RES_UNPROVISIONED},
    {WRITE_DELETE, RIG_FAILURE("404", "ResourceNotFound"), RES_NOT_FOUND},
    {WRITE_DELETE, RIG_FAILURE("412", "UpdateConditionNotSatisfied"), RES_PRECONDITION},
    {WRITE_INSERT, RIG_FAILURE("413", "RequestBodyTooLarge"), RES_TOO_LARGE},
    {WRITE_INSERT, "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n", RES_INVALID},
    {WRITE_INSERT, RIG_FAILURE("403", "AuthorizationFailure"), RES_CONFIG},
};

static res write_failing(task *t, void *ctx)
{
    tables_rig        *r = ctx;
    const failure_row *row = r->row;
    entity             e = sample(t->arena);
    table_write        w = {.kind = row->kind, .e = &e, .etag = STR("*"), .operation = "op"};
    res                result = azure_tables.write(r->e, t, STR("Tab"), &w);
    ck_assert(str_eq(e.etag, STR("old")));
    return result;
}

START_TEST(a_refused_write_says_why_and_changes_nothing)
{
    tables_rig r = tables_rig_start(&(wire_answer)RIG_ENDS(failures[_i].answer), 1);
    r.row = &failures[_i];
    ck_assert_int_eq(tables_rig_run(&r, write_failing), failures[_i].want);
    ck_assert_uint_eq(wire_requests(r.w), 1);
    ck_assert_msg(strstr(r.message, "tables_") != NULL, "%s", r.message);
    tables_rig_stop(&r);
}
END_TEST

/* ---- lost replies ---- */

#define STORED(op) \
    RIG_ENDS(RIG_JSON("ETag: theirs\r\n", "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"op\":\"" op "\"}"))
#define EXISTS   RIG_ENDS(RIG_FAILURE("409", "EntityAlreadyExists"))
#define CHANGED  RIG_ENDS(RIG_FAILURE("412", "UpdateConditionNotSatisfied"))
#define MISSING  RIG_ENDS(RIG_FAILURE("404", "ResourceNotFound"))
#define NO_TABLE RIG_ENDS(RIG_FAILURE("404", "TableNotFound"))
#define WRITTEN  RIG_ENDS(RIG_EMPTY("204", "ETag: new\r\n"))

typedef struct {
    write_kind  kind;
    const char *operation;
    wire_answer second, third;
    size_t      requests;
    res         want;
    const char *etag;
} echo_row;

/* STORE-46: the second answer to a write whose first reply was lost. */
static const echo_row echoes[] = {
    {WRITE_INSERT, "op", WRITTEN, WRITTEN, 2, RES_OK, "new"},
    {WRITE_INSERT, "op", EXISTS, STORED("7"), 3, RES_OK, "theirs"},
    {WRITE_INSERT, "op", EXISTS, STORED("8"), 3, RES_CONFLICT, "old"},
    {WRITE_INSERT, "op", EXISTS, STORED(""), 3, RES_CONFLICT, "old"},
    {WRITE_INSERT, "op", EXISTS, MISSING, 3, RES_UPSTREAM, "old"},
    {WRITE_INSERT, "op", EXISTS, RIG_ENDS(RIG_FAILURE("403", "AuthorizationFailure")), 3, RES_CONFIG, "old"},
    {WRITE_INSERT, "absent", EXISTS, STORED("7"), 3, RES_CONFLICT, "old"},
    {WRITE_INSERT, NULL, EXISTS, STORED("7"), 2, RES_UPSTREAM, "old"},
    {WRITE_INSERT, "op", NO_TABLE, STORED("7"), 2, RES_UNPROVISIONED, "old"},
    {WRITE_REPLACE, "op", CHANGED, STORED("7"), 3, RES_OK, "theirs"},
    {WRITE_REPLACE, "op", CHANGED, STORED("8"), 3, RES_PRECONDITION, "old"},
    {WRITE_REPLACE, NULL, CHANGED, STORED("7"), 2, RES_UPSTREAM, "old"},
    {WRITE_REPLACE, "op", MISSING, MISSING, 3, RES_UPSTREAM, "old"},
    {WRITE_MERGE, "op", CHANGED, STORED("7"), 3, RES_OK, "theirs"},
    {WRITE_UPSERT_MERGE, NULL, WRITTEN, WRITTEN, 2, RES_OK, "new"},
    {WRITE_DELETE, NULL, MISSING, WRITTEN, 2, RES_OK, ""},
    {WRITE_DELETE, "op", MISSING, WRITTEN, 2, RES_OK, ""},
    {WRITE_DELETE, NULL, CHANGED, WRITTEN, 2, RES_UPSTREAM, "old"},
    {WRITE_DELETE, NULL, NO_TABLE, WRITTEN, 2, RES_UNPROVISIONED, "old"},
};

static res write_twice(task *t, void *ctx)
{
    tables_rig     *r = ctx;
    const echo_row *row = r->row;
    entity          e = sample(t->arena);
    table_write     w = {.kind = row->kind, .e = &e, .etag = STR("*"), .operation = row->operation};
    res             result = azure_tables.write(r->e, t, STR("Tab"), &w);
    ck_assert_msg(str_eq(e.etag, str_of(row->etag)), "the ETag is %.*s", STR_ARG(e.etag));
    return result;
}

START_TEST(a_write_whose_reply_was_lost_is_told_from_another_writers)
{
    const echo_row *row = &echoes[_i];
    tables_rig      r = tables_rig_start((wire_answer[]){RIG_LOST, row->second, row->third}, 3);
    r.row = row;
    ck_assert_int_eq(tables_rig_run(&r, write_twice), row->want);
    ck_assert_uint_eq(wire_requests(r.w), row->requests);
    if (row->want == RES_UPSTREAM)
        ck_assert_msg(strstr(r.message, "what became of it cannot be told") != NULL, "%s", r.message);
    if (row->requests == 3)
        ck_assert(str_has(wire_request_at(r.w, 2).head, STR("?$select=PartitionKey,RowKey,Timestamp,")));
    tables_rig_stop(&r);
}
END_TEST

/* ---- reading ---- */

typedef struct {
    const char *const *select;
    const char        *query; /* behind the path */
    const char        *body;
} get_row;

static const get_row gets[] = {
    {NULL, "", "{\"odata.etag\":\"inner\",\"PartitionKey\":\"o'b\",\"RowKey\":\"a \xC3\xBC+%\",\"n\":5}"},
    {(const char *const[]){"n", NULL}, "?$select=PartitionKey,RowKey,Timestamp,n", "{\"n\":5}"},
    {(const char *const[]){"n", "\xC3\xBC&", NULL}, "?$select=PartitionKey,RowKey,Timestamp,n,%C3%BC%26",
     "{\"n\":5,\"b\":null}"},
    {(const char *const[]){NULL}, "?$select=PartitionKey,RowKey,Timestamp", "{\"n\":5}"},
};

static res get_sample(task *t, void *ctx)
{
    tables_rig    *r = ctx;
    const get_row *row = r->row;
    entity         e;
    TRY(azure_tables.get(r->e, t, STR("Tab"), STR("o'b"), STR("a \xC3\xBC+%"),
                         row != NULL ? row->select : NULL, &e));
    ck_assert(str_eq(e.partition, STR("o'b")));
    ck_assert(str_eq(e.row, STR("a \xC3\xBC+%")));
    ck_assert(str_eq(e.etag, STR(RIG_ETAG)));
    ck_assert_uint_eq(e.count, 1);
    ck_assert_int_eq(entity_int(&e, "n", 0), 5);
    return RES_OK;
}

START_TEST(an_entity_is_asked_for_by_its_keys_and_selection)
{
    arena     *a = arena_new(MIB);
    str        answer = arena_strf(a, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nETag: %s\r\n\r\n%s",
                                   strlen(gets[_i].body), RIG_ETAG, gets[_i].body);
    tables_rig r = tables_rig_start((wire_answer[]){{.bytes = answer.at}}, 1);
    r.row = &gets[_i];
    ck_assert_int_eq(tables_rig_run(&r, get_sample), RES_OK);
    str line = arena_strf(a, "GET %s%s HTTP/1.1", PATH, gets[_i].query);
    ck_assert_str_eq(tables_rig_line(&r, 0), line.at);
    ck_assert(wire_has_header(r.w, 0, "Accept: application/json;odata=minimalmetadata"));
    tables_rig_stop(&r);
    arena_free(a);
}
END_TEST

static const struct {
    const char *answer;
    res         want;
} bad_gets[] = {
    {RIG_FAILURE("404", "ResourceNotFound"), RES_NOT_FOUND},
    {RIG_FAILURE("404", "TableNotFound"), RES_UNPROVISIONED},
    {RIG_JSON("", ""), RES_UPSTREAM},
    {RIG_JSON("", "<html>"), RES_UPSTREAM},
    {RIG_JSON("", "{\"n\":{}}"), RES_UPSTREAM},
    {RIG_JSON("", "[{\"n\":5}]"), RES_UPSTREAM},
    {RIG_EMPTY("204", ""), RES_UPSTREAM},
};

/* STORE-13: a missing table and a missing entity are told apart. */
START_TEST(what_is_no_entity_is_no_success)
{
    tables_rig r = tables_rig_start(&(wire_answer)RIG_ENDS(bad_gets[_i].answer), 1);
    ck_assert_int_eq(tables_rig_run(&r, get_sample), bad_gets[_i].want);
    ck_assert(strstr(r.message, "tables_get") != NULL);
    tables_rig_stop(&r);
}
END_TEST

/* ---- tables ---- */

static res create_table(task *t, void *ctx)
{
    return azure_tables.create(((tables_rig *)ctx)->e, t, STR("Tab"));
}

static res drop_table(task *t, void *ctx)
{
    return azure_tables.drop(((tables_rig *)ctx)->e, t, STR("Tab"));
}

static const struct {
    task_fn    *fn;
    wire_answer first, second;
    res         want;
    const char *line, *body;
} table_rows[] = {
    {create_table, RIG_ENDS(RIG_EMPTY("204", "")), RIG_LOST, RES_OK, "POST /acct/Tables HTTP/1.1",
     "{\"TableName\":\"Tab\"}"},
    {create_table, RIG_ENDS(RIG_FAILURE("409", "TableAlreadyExists")), RIG_LOST, RES_CONFLICT,
     "POST /acct/Tables HTTP/1.1", "{\"TableName\":\"Tab\"}"},
    {create_table, RIG_ENDS(RIG_FAILURE("400", "")), RIG_LOST, RES_INVALID, "POST /acct/Tables HTTP/1.1",
     "{\"TableName\":\"Tab\"}"},
    {drop_table, RIG_ENDS(RIG_EMPTY("204", "")), RIG_LOST, RES_OK, "DELETE /acct/Tables('Tab') HTTP/1.1", ""},
    {drop_table, MISSING, RIG_LOST, RES_NOT_FOUND, "DELETE /acct/Tables('Tab') HTTP/1.1", ""},
    {drop_table, RIG_LOST, MISSING, RES_OK, "DELETE /acct/Tables('Tab') HTTP/1.1", ""},
};

/* STORE-11: a table that exists, and a bad name whose failure has no code. */
START_TEST(a_table_is_made_and_removed_by_name)
{
    tables_rig r = tables_rig_start((wire_answer[]){table_rows[_i].first, table_rows[_i].second}, 2);
    ck_assert_int_eq(tables_rig_run(&r, table_rows[_i].fn), table_rows[_i].want);
    ck_assert_str_eq(tables_rig_line(&r, 0), table_rows[_i].line);
    ck_assert_str_eq(tables_rig_body(&r, 0), table_rows[_i].body);
    tables_rig_stop(&r);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

Suite *suite_azure_tables(void)
{
    Suite *s = suite_create("azure_tables");
    TCase *c = tcase_create("entities");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, a_write_is_sent_as_its_kind_demands, shapes);
    tcase_add_test(c, a_merge_for_cosmos_is_a_post_that_says_merge);
    LOOP(c, a_refused_write_says_why_and_changes_nothing, failures);
    LOOP(c, a_write_whose_reply_was_lost_is_told_from_another_writers, echoes);
    LOOP(c, an_entity_is_asked_for_by_its_keys_and_selection, gets);
    LOOP(c, what_is_no_entity_is_no_success, bad_gets);
    LOOP(c, a_table_is_made_and_removed_by_name, table_rows);
    suite_add_tcase(s, c);
    suite_add_tcase(s, tables_cases_query());
    suite_add_tcase(s, tables_cases_faults());
    return s;
}
