/* tables_cases_query.c -- pages of rows and of table names against a scripted table service.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/storage/tables_rig.h"

#define NEXT(partition, row) \
    "x-ms-continuation-NextPartitionKey: " partition "\r\nX-MS-Continuation-nextrowkey: " row "\r\n"
#define ROWS(lines, rows) RIG_JSON(lines, "{\"value\":[" rows "]}")
#define ROW(row)          "{\"PartitionKey\":\"p\",\"RowKey\":\"" row "\",\"odata.etag\":\"e" row "\"}"

/* ---- what is sent ---- */

typedef struct {
    const char        *filter; /* a RowKey that it shall be */
    const char *const *select;
    unsigned           top;
    str                token;
    const char        *line;
} query_row;

#define START "GET /acct/Tab()?"

/* STORE-24, 25 (the shapes): nothing of a value can end its parameter, and each page repeats all of them. */
static const query_row queries[] = {
    {NULL, NULL, 0, {0}, START "$top=1000 HTTP/1.1"},
    {"x' or PartitionKey ne '&$top=1",
     NULL,
     7,
     {0},
     START
     "$filter=RowKey%20eq%20%27x%27%27%20or%20PartitionKey%20ne%20%27%27%26%24top%3D1%27&$top=7 HTTP/1.1"},
    {NULL,
     (const char *const[]){"a", "b", NULL},
     2,
     {0},
     START "$select=PartitionKey,RowKey,Timestamp,a,b&$top=2 HTTP/1.1"},
    {"r", (const char *const[]){"a", NULL}, 2, STR_INIT("4:a+=&+b/c"),
     START "$filter=RowKey%20eq%20%27r%27&$select=PartitionKey,RowKey,Timestamp,a&$top=2&NextPartitionKey=a%"
           "2B%3D%26"
           "&NextRowKey=b%2Fc HTTP/1.1"},
    {NULL, NULL, 1, STR_INIT("2:\xC3\xBC-"), START "$top=1&NextPartitionKey=%C3%BC HTTP/1.1"},
    {NULL, NULL, 1, STR_INIT("0:+r"), START "$top=1&NextPartitionKey=&NextRowKey=r HTTP/1.1"},
    {NULL, NULL, 1, STR_INIT("1:p+"), START "$top=1&NextPartitionKey=p&NextRowKey= HTTP/1.1"},
};

static res query_shape(task *t, void *ctx)
{
    tables_rig      *r = ctx;
    const query_row *row = r->row;
    entity_page      page;
    table_query      q = {.select = row->select, .top = row->top, .token = row->token};
    if (row->filter != NULL)
        q.where = filter_str(t->arena, "RowKey", FILTER_EQ, str_of(row->filter));
    TRY(azure_tables.query(r->e, t, STR("Tab"), &q, &page));
    ck_assert_uint_eq(page.len, 0);
    ck_assert_uint_eq(page.token.len, 0);
    return RES_OK;
}

START_TEST(a_query_is_sent_with_all_its_parameters_encoded)
{
    tables_rig r = tables_rig_start((wire_answer[]){RIG_ENDS(ROWS("", ""))}, 1);
    r.row = &queries[_i];
    ck_assert_int_eq(tables_rig_run(&r, query_shape), RES_OK);
    ck_assert_str_eq(tables_rig_line(&r, 0), queries[_i].line);
    ck_assert(wire_has_header(r.w, 0, "Accept: application/json;odata=minimalmetadata"));
    tables_rig_stop(&r);
}
END_TEST

static const str bad_tokens[] = {
    STR_INIT("x"),     STR_INIT(":"),
    STR_INIT("-1:a-"), STR_INIT("2:a-"),
    STR_INIT("1:a"),   STR_INIT("1:a-b"),
    STR_INIT("1:a*"),  STR_INIT(":a-"),
    STR_INIT("1:"),    STR_INIT("18446744073709551615:a+b"),
    STR_INIT("5"),     STR_INIT("0:"),
    STR_INIT("01a+b"),
};

START_TEST(a_token_that_is_none_is_refused_and_not_sent)
{
    tables_rig r = tables_rig_start((wire_answer[]){RIG_ENDS(ROWS("", ""))}, 1);
    r.row = &(query_row){.token = bad_tokens[_i]};
    ck_assert_int_eq(tables_rig_run(&r, query_shape), RES_INVALID);
    ck_assert_uint_eq(wire_requests(r.w), 0);
    tables_rig_stop(&r);
}
END_TEST

/* ---- what comes back ---- */

/* Reads to the end, and leaves the rows it saw in r->row. */
static res read_all(task *t, void *ctx)
{
    tables_rig *r = ctx;
    table_query q = {.top = 2};
    buf         seen;
    buf_init(&seen, r->a, KIB);
    do {
        entity_page page;
        TRY(azure_tables.query(r->e, t, STR("Tab"), &q, &page));
        for (size_t i = 0; i < page.len; i++) {
            buf_add(&seen, page.at[i].row);
            buf_add(&seen, page.at[i].etag);
        }
        buf_add_char(&seen, '.');
        q.token = page.token;
    } while (q.token.len > 0);
    r->row = arena_cstr(r->a, buf_str(&seen));
    return RES_OK;
}

/* STORE-26: an empty page with a token, and a token without a row key. STORE-28: an ETag for each row. */
START_TEST(pages_are_read_until_there_is_no_token_whatever_is_in_them)
{
    wire_answer pages[] = {
        RIG_ENDS(ROWS(NEXT("P 1", "R/1"), ROW("a") "," ROW("b"))),
        RIG_ENDS(ROWS("x-ms-continuation-NextPartitionKey: P2\r\n", "")),
        RIG_ENDS(ROWS(NEXT("", "R3"), ROW("c"))),
        RIG_ENDS(ROWS(NEXT("", ""), ROW("d"))),
    };
    tables_rig r = tables_rig_start(pages, 4);
    ck_assert_int_eq(tables_rig_run(&r, read_all), RES_OK);
    ck_assert_str_eq(r.row, "aeabeb..cec.ded.");
    ck_assert_str_eq(tables_rig_line(&r, 1), START "$top=2&NextPartitionKey=P%201&NextRowKey=R%2F1 HTTP/1.1");
    ck_assert_str_eq(tables_rig_line(&r, 2), START "$top=2&NextPartitionKey=P2 HTTP/1.1");
    ck_assert_str_eq(tables_rig_line(&r, 3), START "$top=2&NextPartitionKey=&NextRowKey=R3 HTTP/1.1");
    tables_rig_stop(&r);
}
END_TEST

static const struct {
    const char *answer;
    res         want;
} bad_pages[] = {
    {RIG_FAILURE("404", "TableNotFound"), RES_UNPROVISIONED},
    {RIG_FAILURE("400", "InvalidInput"), RES_INVALID},
    {RIG_JSON("", ""), RES_UPSTREAM},
    {RIG_JSON("", "{\"value\":[{}]}"), RES_UPSTREAM},
    {RIG_JSON("", "{\"value\":[" ROW("a") "]"), RES_UPSTREAM},
    {RIG_JSON("", "\xff\xfe"), RES_UPSTREAM},
};

START_TEST(what_is_no_page_is_no_success)
{
    tables_rig r = tables_rig_start(&(wire_answer)RIG_ENDS(bad_pages[_i].answer), 1);
    ck_assert_int_eq(tables_rig_run(&r, read_all), bad_pages[_i].want);
    ck_assert(strstr(r.message, "tables_query") != NULL);
    tables_rig_stop(&r);
}
END_TEST

/* ---- table names ---- */

static res list_two_pages(task *t, void *ctx)
{
    tables_rig *r = ctx;
    name_page   page;
    TRY(azure_tables.list(r->e, t, STR("ab"), 2, STR(""), &page));
    ck_assert_uint_eq(page.count, 2);
    ck_assert(str_eq(page.names[1], STR("abc")));
    ck_assert(str_eq(page.next, STR("next 1")));
    TRY(azure_tables.list(r->e, t, STR(""), 1000, page.next, &page));
    ck_assert_uint_eq(page.count, 0);
    ck_assert_uint_eq(page.next.len, 0);
    return RES_OK;
}

START_TEST(table_names_come_in_pages_by_prefix)
{
    tables_rig r = tables_rig_start(
        (wire_answer[]){RIG_ENDS(RIG_JSON("x-ms-continuation-NextTableName: next 1\r\n",
                                          "{\"value\":[{\"TableName\":\"abb\"},{\"TableName\":\"abc\"}]}")),
                        RIG_ENDS(ROWS("", ""))},
        2);
    ck_assert_int_eq(tables_rig_run(&r, list_two_pages), RES_OK);
    ck_assert_str_eq(
        tables_rig_line(&r, 0),
        "GET /acct/Tables?$filter=%28TableName%20ge%20%27ab%27%29%20and%20%28TableName%20lt%20%27ac%27%29"
        "&$top=2 HTTP/1.1");
    ck_assert_str_eq(tables_rig_line(&r, 1), "GET /acct/Tables?$top=1000&NextTableName=next%201 HTTP/1.1");
    tables_rig_stop(&r);
}
END_TEST

static const char *const bad_lists[] = {"",
                                        "{}",
                                        "{\"value\":{\"TableName\":\"a\"}}",
                                        "{\"value\":[{}]}",
                                        "{\"value\":[7]}",
                                        "{\"value\":[{\"TableName\":7}]}"};

START_TEST(what_is_no_list_of_tables_is_no_success)
{
    arena     *a = arena_new(MIB);
    str        answer = arena_strf(a, RIG_JSON("", "%s"), bad_lists[_i]);
    tables_rig r = tables_rig_start(&(wire_answer)RIG_ENDS(answer.at), 1);
    ck_assert_int_eq(tables_rig_run(&r, list_two_pages), RES_UPSTREAM);
    tables_rig_stop(&r);
    arena_free(a);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

TCase *tables_cases_query(void)
{
    TCase *c = tcase_create("queries");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, a_query_is_sent_with_all_its_parameters_encoded, queries);
    LOOP(c, a_token_that_is_none_is_refused_and_not_sent, bad_tokens);
    tcase_add_test(c, pages_are_read_until_there_is_no_token_whatever_is_in_them);
    LOOP(c, what_is_no_page_is_no_success, bad_pages);
    tcase_add_test(c, table_names_come_in_pages_by_prefix);
    LOOP(c, what_is_no_list_of_tables_is_no_success, bad_lists);
    return c;
}
