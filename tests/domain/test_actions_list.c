/* test_actions_list.c -- GET actions/list over real stores.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/base64.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"

static void put_many(task *t, const char *owner, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rows_put(t, owner, textf("n%04u", i), "");
}

static void check_total(const got *g, const char *total)
{
    ck_str_eq(rig_header(g, "x-total-count"), str_of(total));
}

static got get_page(task *t, const char *query, str cursor)
{
    /* In a query '+' is a blank: base64's must be escaped. */
    const char *escaped = "";
    for (size_t i = 0; i < cursor.len; i++)
        escaped =
            textf(cursor.at[i] == '+' || cursor.at[i] == '/' || cursor.at[i] == '=' ? "%s%%%02X" : "%s%c",
                  escaped, cursor.at[i]);
    return rig_get(t, textf("/api/actions/list?%s&cursor=%s", query, escaped));
}

/* ---- the whole list ---- */

/* ACT-17. */
RIG_TEST(without_a_limit_the_list_is_an_array_of_everything)
{
    rows_put(t, "Beta", "two", ",\"verified\":true,\"ossfScore\":6.5");
    rows_put(t, "Alpha", "one", "");
    rows_put_cache(t, "{\"stats\":{\"total\":7}}");
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_assert_int_eq(json_typeof(g.json), JSON_ARRAY);
    ck_assert_uint_eq(json_len(g.json), 2);
    ck_str_eq(rig_text(&g, "0/owner"), STR("Alpha"));
    ck_str_eq(rig_text(&g, "1/owner"), STR("Beta"));
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("2"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    check_total(&g, "7");
    ck_assert(str_ends(rig_header(&g, "x-table-endpoint"), str_of(getenv("ACTIONS_TABLE_NAME"))));
    ck_assert(!str_has(rig_header(&g, "x-table-endpoint"), STR("?")));
}

/* ACT-17: what an item is. */
RIG_TEST(an_item_is_the_payload_with_its_score_and_its_metadata)
{
    rows_put(t, "Acme", "Acme_tool", ",\"ossfScore\":6.5,\"extra\":[1,null]");
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "0/name"), STR("Acme_tool"));
    ck_assert_uint_eq(json_len(rig_at(&g, "0/extra")), 2);
    ck_assert_double_eq(json_double(rig_at(&g, "0/openssf_score"), 0), 6.5);
    ck_str_eq(rig_text(&g, "0/_metadata/partitionKey"), STR("acme"));
    ck_str_eq(rig_text(&g, "0/_metadata/rowKey"), STR("acme_tool"));
    ck_str_eq(rig_text(&g, "0/_metadata/payloadHash"), STR(ROWS_HASH));
    ck_str_eq(rig_text(&g, "0/_metadata/lastSyncedUtc"), STR(ROWS_SYNCED));
    ck_assert_uint_gt(rig_text(&g, "0/_metadata/etag").len, 0);
    ck_assert_int_eq(json_typeof(rig_at(&g, "0/_metadata/timestamp")), JSON_NONE);
}

/* ACT-37 for lists: the row of aggregates is no record; and rows that are none are left out. */
RIG_TEST(rows_that_are_no_records_are_left_out)
{
    rows_put_cache(t, "{\"stats\":{\"total\":1}}");
    rows_put_raw(t, "o", "a", "{not json");
    rows_put_raw(t, "o", "b", "[1]");
    rows_put(t, "o", "c", "");
    rows_put_raw(t, "o", "d", "{\"verified\":true}");
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(g.json), 1);
    ck_str_eq(rig_text(&g, "0/name"), STR("c"));
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("1"));
}

/* ACT-69, its second half. */
RIG_TEST(a_table_that_does_not_exist_is_an_empty_list)
{
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_str_eq(g.body, STR("[]"));
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("0"));
    ck_assert_ptr_null(rig_header(&g, "x-total-count").at);
    g = rig_get(t, "/api/actions/list?limit=5");
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"items\":[],\"nextCursor\":null}"));
}

/* ---- limits ---- */

/* ACT-18. */
RIG_TEST(a_limit_gives_items_and_where_to_go_on)
{
    put_many(t, "o", 55);
    got g = rig_get(t, "/api/actions/list?limit=50");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 50);
    ck_str_eq(rig_header(&g, "x-actions-count"), STR("50"));
    ck_assert_uint_gt(rig_text(&g, "nextCursor").len, 0);
    g = rig_get(t, "/api/actions/list?limit=10");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 10);
    ck_str_eq(rig_text(&g, "items/9/name"), STR("n0009"));
}

/* ACT-18, 22: the cursor is base64 of JSON. */
RIG_TEST(a_cursor_is_base64_of_json)
{
    str             text;
    const json_val *body;
    put_many(t, "o", 3);
    got g = rig_get(t, "/api/actions/list?limit=2");
    ck_assert(base64_decode(t->arena, rig_text(&g, "nextCursor"), &text));
    OK(json_parse(t->arena, text, &body, NULL));
    ck_assert_int_eq(json_typeof(body), JSON_OBJECT);
}

static const struct {
    const char *limit;
    int         items; /* -1: the whole array */
} limits[] = {
    {"abc", -1}, {"-5", -1},  {"0", -1},   {"", -1},   {"%20", -1},  {"-0", -1}, {"+2", 2},
    {"2.9", 2},  {"2abc", 2}, {"%202", 2}, {"1e3", 1}, {"0x10", -1}, {"02", 2},  {"99999999999999999999", 4}};
enum { LIMITS = sizeof limits / sizeof *limits };

/* ACT-19: what is no whole number above zero at its beginning is ignored. */
RIG_TEST(a_limit_is_the_whole_number_that_it_begins_with)
{
    put_many(t, "o", 4);
    got  g = rig_get(t, textf("/api/actions/list?limit=%s", limits[i].limit));
    bool all = limits[i].items < 0;
    ck_status(g, 200);
    ck_assert_int_eq(json_typeof(g.json), all ? JSON_ARRAY : JSON_OBJECT);
    ck_assert_uint_eq(json_len(all ? g.json : rig_at(&g, "items")), all ? 4 : (size_t)limits[i].items);
}

/* ACT-20. */
RIG_TEST(a_limit_above_the_total_gives_all_and_no_cursor)
{
    static const char *const above[] = {"5", "1000", "1001", "100000"};
    put_many(t, "o", 4);
    for (size_t k = 0; k < sizeof above / sizeof *above; k++) {
        got g = rig_get(t, textf("/api/actions/list?limit=%s", above[k]));
        ck_status(g, 200);
        ck_assert_uint_eq(json_len(rig_at(&g, "items")), 4);
        ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
    }
}

/* ACT-21: lists beyond a page of the service. */
RIG_TEST(a_limit_may_be_more_than_a_page_of_the_service)
{
    entity      rows[100];
    table_write writes[100];
    const char *name;
    for (unsigned k = 0; k < 12; k++) {
        for (unsigned n = 0; n < 100; n++) {
            name = textf("n%04u", k * 100 + n);
            rows[n] = entity_new(t->arena, STR("o"), str_of(name));
            entity_set_str(&rows[n], "PayloadJson", str_of(textf("{\"owner\":\"o\",\"name\":\"%s\"}", name)));
            writes[n] = (table_write){.kind = WRITE_INSERT, .e = &rows[n]};
        }
        OK(tables_commit(t, (table){STORE_MAIN, str_of(getenv("ACTIONS_TABLE_NAME"))}, writes, 100, NULL));
    }
    static const unsigned wanted[] = {1000, 1001, 1200, 100000};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        got      g = rig_get(t, textf("/api/actions/list?limit=%u", wanted[k]));
        unsigned most = wanted[k] < 1200 ? wanted[k] : 1200;
        ck_status(g, 200);
        ck_assert_uint_eq(json_len(rig_at(&g, "items")), most);
        ck_str_eq(rig_text(&g, textf("items/%u/name", most - 1)), str_of(textf("n%04u", most - 1)));
        ck_str_eq(rig_header(&g, "x-actions-count"), str_of(textf("%u", most)));
    }
    got g = rig_get(t, "/api/actions/list");
    ck_assert_uint_eq(json_len(g.json), 1200);
}

/* ---- paging ---- */

/* ACT-22. */
RIG_TEST(paging_by_three_over_ten_visits_each_once)
{
    unsigned seen = 0;
    str      cursor = {0};
    put_many(t, "o", 10);
    for (unsigned page = 0; page < 4; page++) {
        got    g = page == 0 ? rig_get(t, "/api/actions/list?limit=3") : get_page(t, "limit=3", cursor);
        size_t n = json_len(rig_at(&g, "items"));
        ck_status(g, 200);
        ck_assert_uint_eq(n, page < 3 ? 3 : 1);
        for (size_t k = 0; k < n; k++)
            ck_str_eq(rig_text(&g, textf("items/%zu/name", k)), str_of(textf("n%04u", seen++)));
        if (page < 3)
            cursor = rig_text(&g, "nextCursor");
        else
            ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
    }
    ck_assert_uint_eq(seen, 10);
}

static const char *const bad_cursors[] = {"!!!",
                                          "bm90IGpzb24",
                                          "e30",
                                          "eyJjb250aW51YXRpb24iOiIifQ",
                                          "eyJjb250aW51YXRpb24iOjF9",
                                          "eyJjb250aW51YXRpb24iOiJub25zZW5zZSJ9",
                                          "W10",
                                          "%FF%FE"};
enum { BAD_CURSORS = sizeof bad_cursors / sizeof *bad_cursors };

/* ACT-23. */
RIG_TEST(a_cursor_that_is_none_is_refused)
{
    rows_put(t, "o", "n", "");
    got g = rig_get(t, textf("/api/actions/list?limit=3&cursor=%s", bad_cursors[i]));
    ck_status(g, 400);
    ck_str_eq(g.body, STR("{\"error\":\"Invalid cursor parameter.\"}"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
    g = rig_get(t, textf("/api/actions/list?cursor=%s", bad_cursors[i]));
    ck_status(g, 200); /* used only with a limit */
}

/* ACT-24. */
RIG_TEST(an_owner_sees_its_own_alone)
{
    put_many(t, "Acme", 5);
    put_many(t, "acme-labs", 3);
    rows_put_cache(t, "{\"stats\":{\"total\":8}}");
    got g = rig_get(t, "/api/actions/list?owner=%20ACME");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(g.json), 5);
    ck_assert_ptr_null(rig_header(&g, "x-total-count").at);
    g = rig_get(t, "/api/actions/list?owner=acme&limit=2");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 2);
    g = get_page(t, "owner=acme&limit=4", rig_text(&g, "nextCursor"));
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 3);
    ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
    g = rig_get(t, "/api/actions/list?owner=nobody");
    ck_str_eq(g.body, STR("[]"));
    g = rig_get(t, "/api/actions/list?owner=nobody&limit=3");
    ck_str_eq(g.body, STR("{\"items\":[],\"nextCursor\":null}"));
    g = rig_get(t, "/api/actions/list?owner=statsCache");
    ck_str_eq(g.body, STR("[]"));
}

static const char *const odd_owners[] = {"o%27%20or%20PartitionKey%20ne%20%27",
                                         "%27",
                                         "a%2Fb",
                                         "a%23b",
                                         "%01",
                                         "%FF",
                                         "%00",
                                         "a%5Cb",
                                         "%F0%9F%98%80"};
enum { ODD_OWNERS = sizeof odd_owners / sizeof *odd_owners };

/* ACT-27: nothing in an owner's name is taken for the filter's syntax. */
RIG_TEST(an_owner_cannot_change_the_filter)
{
    rows_put(t, "o", "n", "");
    rows_put(t, "o'b", "n", "");
    got g = rig_get(t, textf("/api/actions/list?owner=%s", odd_owners[i]));
    ck_status(g, 200);
    ck_str_eq(g.body, STR("[]"));
    g = rig_get(t, "/api/actions/list?owner=O%27B");
    ck_assert_uint_eq(json_len(g.json), 1);
}

RIG_TEST(an_owner_longer_than_any_key_has_no_records)
{
    rows_put(t, "o", "n", "");
    str owner = live_repeat(t->arena, STR("o"), 513);
    got g = rig_get(t, textf("/api/actions/list?owner=%.*s", STR_ARG(owner)));
    ck_status(g, 200);
    ck_str_eq(g.body, STR("[]"));
}

/* ---- streams ---- */

/* Above 1 MiB the body is a stream: whole and in order all the same, but nobody knows its count in time. */
RIG_TEST(a_long_list_is_streamed_whole)
{
    str filler = live_repeat(t->arena, STR("x"), 30000);
    rows_put_cache(t, "{\"stats\":{\"total\":50}}");
    for (unsigned k = 0; k < 50; k++)
        rows_put(t, "o", textf("n%04u", k), textf(",\"x\":\"%.*s\"", STR_ARG(filler)));
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_assert_uint_gt(g.body.len, 50 * 30000);
    ck_assert_uint_eq(json_len(g.json), 50);
    ck_str_eq(rig_text(&g, "49/name"), STR("n0049"));
    ck_assert_ptr_null(rig_header(&g, "x-actions-count").at);
    ck_assert_ptr_null(rig_header(&g, "content-length").at);
    check_total(&g, "50");
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
    g = rig_get(t, "/api/actions/list?limit=45");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 45);
    ck_assert_uint_gt(rig_text(&g, "nextCursor").len, 0);
}

/* ---- failures inside ---- */

RIG_TEST(the_list_survives_every_failing_allocation_and_wait)
{
    static const rig_request in = {.method = "GET", .target = "/api/actions/list?limit=2"};
    put_many(t, "o", 3);
    rows_put_cache(t, "{\"stats\":{\"total\":3}}");
    rig_torture(t, &in, 200, NULL, NULL);
}

Suite *suite_actions_list(void)
{
    Suite *s = suite_create("actions_list");
    TCase *c = live_case("actions_list");
    tcase_add_test(c, without_a_limit_the_list_is_an_array_of_everything);
    tcase_add_test(c, an_item_is_the_payload_with_its_score_and_its_metadata);
    tcase_add_test(c, rows_that_are_no_records_are_left_out);
    tcase_add_test(c, a_table_that_does_not_exist_is_an_empty_list);
    tcase_add_test(c, a_limit_gives_items_and_where_to_go_on);
    tcase_add_test(c, a_cursor_is_base64_of_json);
    tcase_add_loop_test(c, a_limit_is_the_whole_number_that_it_begins_with, 0, LIMITS);
    tcase_add_test(c, a_limit_above_the_total_gives_all_and_no_cursor);
    tcase_add_test(c, a_limit_may_be_more_than_a_page_of_the_service);
    tcase_add_test(c, paging_by_three_over_ten_visits_each_once);
    tcase_add_loop_test(c, a_cursor_that_is_none_is_refused, 0, BAD_CURSORS);
    tcase_add_test(c, an_owner_sees_its_own_alone);
    tcase_add_loop_test(c, an_owner_cannot_change_the_filter, 0, ODD_OWNERS);
    tcase_add_test(c, an_owner_longer_than_any_key_has_no_records);
    tcase_add_test(c, a_long_list_is_streamed_whole);
    tcase_add_test(c, the_list_survives_every_failing_allocation_and_wait);
    suite_add_tcase(s, c);
    return s;
}
