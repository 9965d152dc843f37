/* test_actions_read_faults.c -- reading records from a table service that throttles, breaks off, talks
 * nonsense or takes its time.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <unistd.h>

#include "domain/actions/aggregate.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "runtime/fetch.h"

enum { LOOK_EVERY_US = 1000 };

#define NO_ROW    ROWS_FAILURE("404", "ResourceNotFound")
#define REFUSED   ROWS_FAILURE("403", "AuthorizationFailure")
#define BUSY      "HTTP/1.1 503 X\r\nConnection: close\r\nRetry-After: 0\r\n\r\n"
#define THROTTLED "HTTP/1.1 429 X\r\nConnection: close\r\nRetry-After: 0\r\n\r\n"
#define NONSENSE  ROWS_JSON("", "{\"value\":7}")
#define CUT_OFF   "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"value\":[{\"PartitionKey\":\"o\""
#define CACHED    "{\\\"stats\\\":{\\\"total\\\":7},\\\"status\\\":{\\\"totalCount\\\":7}}"
#define CACHE_ROW                                                                                     \
    ROWS_JSON("ETag: W/\"1\"\r\n", "{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"statsCache\"," \
                                   "\"RowKey\":\"aggregate\",\"CacheJson\":\"" CACHED "\"}")
#define ONE_ROW                                                                                            \
    "{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"o\",\"RowKey\":\"n\",\"PayloadHash\":\"" ROWS_HASH \
    "\",\"PayloadJson\":\"{\\\"name\\\":\\\"n\\\",\\\"owner\\\":\\\"o\\\"}\"}"

#define LIST_FAILED "{\"error\":\"Failed to query actions from table storage.\"}"

/* ---- a service of so many pages ---- */

typedef struct {
    const char *const *pages; /* their answers, one for each query; the last one repeats */
    size_t             count;
    const char        *row;             /* the answer to a read of one row; NULL: there is none */
    const char        *put;             /* … to a write */
    const char        *holds;           /* before this page it waits for `go` */
    atomic_bool        go, conditional; /* the last write had the ETag that was read */
    atomic_size_t      queries, reads, writes;
} service;

static bool is_query(const wire_request *r)
{
    return str_has(str_slice(r->head, 0, str_find_char(r->head, '\r')), STR("()"));
}

static void serve(void *ctx, const wire_request *r, wire_answer *ret)
{
    service *s = ctx;
    *ret = (wire_answer){.then = WIRE_CLOSE};
    if (!str_starts(r->head, STR("GET "))) {
        atomic_fetch_add(&s->writes, 1);
        atomic_store(&s->conditional, str_has(r->head, STR("\r\nIf-Match: W/\"1\"\r\n")));
        ret->bytes = s->put != NULL ? s->put : "HTTP/1.1 204 X\r\nETag: W/\"2\"\r\nConnection: close\r\n\r\n";
        return;
    }
    if (!is_query(r)) {
        atomic_fetch_add(&s->reads, 1);
        ret->bytes = s->row != NULL ? s->row : NO_ROW;
        return;
    }
    size_t n = atomic_fetch_add(&s->queries, 1);
    ret->bytes = s->pages[n < s->count ? n : s->count - 1];
    if (*ret->bytes == '\0')
        ret->then = WIRE_RESET;
    while (s->holds != NULL && ret->bytes == s->holds && !atomic_load(&s->go))
        (void)usleep(LOOK_EVERY_US); /* a thread of the server's own: the loop runs on */
}

static service *now_serving; /* of the running test: bodies of tests have no context */
static wire    *now_wire;

static void run_with(service *s, rig_fn *body)
{
    now_serving = s;
    now_wire = wire_start_fn(serve, s, NULL);
    rig_run(rig_wire_store(now_wire), body, 0);
    wire_stop(now_wire);
}

/* "1000 1 ": the $top of each query so far. */
static const char *tops(void)
{
    const char *all = "";
    for (size_t i = 0; i < wire_requests(now_wire); i++) {
        wire_request r = wire_request_at(now_wire, i);
        size_t       at = str_find(r.head, STR("$top=")), end = at + 5;
        while (end < r.head.len && r.head.at[end] >= '0' && r.head.at[end] <= '9')
            end++;
        if (is_query(&r))
            all = textf("%s%.*s ", all, STR_ARG(str_slice(r.head, at + 5, end)));
    }
    return all;
}

/* ---- pages ---- */

#define PAGE(lines, rows) ROWS_JSON(lines, "{\"value\":[" rows "]}")

static const char *page_of(const char *lines, const char *rows)
{
    return textf(ROWS_JSON("%s", "{\"value\":[%s]}"), lines, rows);
}

static void ask_for_1000_then_1001(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/list?limit=1000");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 1000);
    ck_assert_uint_gt(rig_text(&g, "nextCursor").len, 0);
    g = rig_get(t, "/api/actions/list?limit=1001");
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 1001);
    ck_str_eq(rig_text(&g, "items/1000/name"), STR("r01000"));
    ck_str_eq(str_of(tops()), STR("1000 1000 1 "));
}

/* ACT-21: the first two of the pages are for the first and the second list. */
START_TEST(pages_are_asked_for_as_far_as_the_limit_reaches)
{
    const char *first = page_of(ROWS_NEXT("o", "r01000"), rows_page("o", 0, 1000, 10));
    const char *pages[] = {first, first, page_of(ROWS_NEXT("o", "r01001"), rows_page("o", 1000, 1, 10))};
    run_with(&(service){.pages = pages, .count = 3}, ask_for_1000_then_1001);
}
END_TEST

static void ask_for_five(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/list?limit=5");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 5);
    ck_str_eq(str_of(tops()), STR("5 3 3 "));
    ck_assert_int_eq(json_typeof(rig_at(&g, "nextCursor")), JSON_NULL);
}

/* ACT-25: a short page, and an empty one, with somewhere to go on. */
START_TEST(a_short_page_with_a_token_is_not_the_end)
{
    const char *pages[] = {page_of(ROWS_NEXT("o", "r00002"), rows_page("o", 0, 2, 10)),
                           page_of(ROWS_NEXT("o", "r00002b"), ""), page_of("", rows_page("o", 2, 3, 10))};
    run_with(&(service){.pages = pages, .count = 3}, ask_for_five);
}
END_TEST

static void ask_a_stuck_one(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/list?limit=5");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 2);
    ck_assert_uint_eq(atomic_load(&now_serving->queries), 3);
}

/* §11: it stops where a page is empty and the token has not moved. */
START_TEST(a_service_that_does_not_move_is_not_asked_for_ever)
{
    const char *pages[] = {page_of(ROWS_NEXT("o", "a"), rows_page("o", 0, 2, 10)),
                           page_of(ROWS_NEXT("o", "b"), ""), page_of(ROWS_NEXT("o", "b"), "")};
    run_with(&(service){.pages = pages, .count = 3}, ask_a_stuck_one);
}
END_TEST

/* ---- failures before the first byte ---- */

static const char *const failing[] = {REFUSED, NONSENSE, ROWS_JSON("", "<html>"),
                                      ROWS_FAILURE("400", "InvalidInput"),
                                      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"value\":[{]}"};
enum { FAILING = sizeof failing / sizeof *failing };

static const struct {
    const char *target, *body;
} readers[] = {{"/api/actions/list", LIST_FAILED},
               {"/api/actions/list?limit=5", LIST_FAILED},
               {"/api/actions/list?owner=o", LIST_FAILED},
               {"/api/actions/stats?refresh=true", "{\"error\":\"Failed to compute stats.\"}"},
               {"/api/actions/stats", "{\"error\":\"Failed to compute stats.\"}"},
               {"/api/actions/status?refresh=true", "{\"error\":\"Failed to compute status.\"}"},
               {"/api/actions/status", "{\"error\":\"Failed to compute status.\"}"}};

static void read_all_failing(task *t, int i)
{
    (void)i;
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++) {
        got g = rig_get(t, readers[k].target);
        ck_status(g, 500);
        ck_str_eq(g.body, str_of(readers[k].body));
        ck_assert_ptr_null(rig_header(&g, "cache-control").at);
        ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
    }
}

/* ACT-26, 40. */
START_TEST(a_failing_query_is_500_and_says_which)
{
    run_with(&(service){.pages = &failing[_i], .count = 1}, read_all_failing);
}
END_TEST

static const char *const passing[][3] = {{BUSY, PAGE("", ONE_ROW)},
                                         {THROTTLED, PAGE("", ONE_ROW)},
                                         {CUT_OFF, PAGE("", ONE_ROW)},
                                         {"", PAGE("", ONE_ROW)}};
enum { PASSING = sizeof passing / sizeof *passing };

static void read_one_item(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/list");
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(g.json), 1);
    ck_assert_uint_eq(atomic_load(&now_serving->queries), 2);
}

START_TEST(a_service_that_fails_for_a_moment_is_asked_again)
{
    run_with(&(service){.pages = passing[_i], .count = 2}, read_one_item);
}
END_TEST

static void refuse_cursor(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/list?limit=1");
    ck_status(g, 200);
    str cursor = rig_text(&g, "nextCursor");
    g = rig_get(t, textf("/api/actions/list?limit=1&cursor=%.*s", STR_ARG(cursor)));
    ck_status(g, 400);
    ck_str_eq(g.body, STR("{\"error\":\"Invalid cursor parameter.\"}"));
}

/* ACT-23: one of ours that the service does not take. */
START_TEST(a_cursor_that_the_service_refuses_is_400)
{
    static const char *const pages[] = {PAGE(ROWS_NEXT("ooo", "nnn"), ONE_ROW),
                                        ROWS_FAILURE("400", "InvalidInput")};
    run_with(&(service){.pages = pages, .count = 2}, refuse_cursor);
}
END_TEST

/* ---- streams ---- */

static size_t count_of(str text, str what)
{
    size_t n = 0;
    for (size_t at = str_find(text, what); at < text.len; at = str_find(text, what)) {
        n++;
        text = str_from(text, at + what.len);
    }
    return n;
}

static res open_list(task *t, fetch_answer *head, fetch_stream **body)
{
    fetch_request in = {.method = STR("GET"),
                        .url = arena_strf(t->arena, "http://127.0.0.1:%d/api/actions/list", rig_port()),
                        .direct = true};
    return fetch_open(t, &in, head, body);
}

/* Reads on to the end; what broke off is the result. */
static res read_to_end(task *t, fetch_stream *body, uint64_t *bytes, size_t *items)
{
    for (;;) {
        str piece;
        TRY(fetch_read(t, body, &piece));
        if (piece.len == 0)
            return RES_OK;
        *bytes += piece.len;
        *items += count_of(piece, STR("\"_metadata\""));
    }
}

static void read_while_it_holds(task *t, int i)
{
    fetch_answer  head;
    fetch_stream *body;
    str           piece;
    uint64_t      bytes = 0;
    size_t        items = 0;
    (void)i;
    OK(open_list(t, &head, &body));
    ck_assert_int_eq(head.status, 200);
    OK(fetch_read(t, body, &piece));
    ck_assert(str_starts(piece, STR("[{")));
    ck_assert(!atomic_load(&now_serving->go)); /* the second page is still to come */
    atomic_store(&now_serving->go, true);
    OK(read_to_end(t, body, &bytes, &items));
    ck_assert_uint_eq(atomic_load(&now_serving->queries), 2);
    ck_assert_uint_gt(bytes, 2 * MIB);
}

START_TEST(the_first_byte_comes_before_the_scan_ends)
{
    const char *last = page_of("", rows_page("o", 100, 100, 15000));
    const char *pages[] = {page_of(ROWS_NEXT("o", "n"), rows_page("o", 0, 100, 15000)), last};
    run_with(&(service){.pages = pages, .count = 2, .holds = last}, read_while_it_holds);
}
END_TEST

static void read_until_it_breaks(task *t, int i)
{
    fetch_answer  head;
    fetch_stream *body;
    uint64_t      bytes = 0;
    size_t        items = 0;
    (void)i;
    OK(open_list(t, &head, &body));
    ck_assert_int_eq(head.status, 200);
    ck_assert_int_ne(read_to_end(t, body, &bytes, &items), RES_OK);
    task_forget(t);
    ck_assert_uint_gt(bytes, 0);
}

/* Nobody may take half of the list for the whole. */
START_TEST(a_failure_behind_the_first_byte_breaks_the_connection)
{
    const char *pages[] = {page_of(ROWS_NEXT("o", "n"), rows_page("o", 0, 100, 15000)), REFUSED};
    run_with(&(service){.pages = pages, .count = 2}, read_until_it_breaks);
}
END_TEST

enum { PAGES = 60, ROWS_OF_PAGE = 100, ROW_BYTES = 14000 };

static void read_more_than_a_task_may_hold(task *t, int i)
{
    fetch_answer  head;
    fetch_stream *body;
    uint64_t      bytes = 0;
    size_t        items = 0;
    (void)i;
    size_t before = arena_used_bytes(t->arena);
    OK(open_list(t, &head, &body));
    OK(read_to_end(t, body, &bytes, &items));
    ck_assert_uint_gt(bytes, (uint64_t)PAGES * ROWS_OF_PAGE * ROW_BYTES);
    ck_assert_uint_le(arena_used_bytes(t->arena) - before, 1 * MIB); /* the reader's own */
}

/* 84 MB through a task that may hold 64 MiB: what has been sent is forgotten. */
START_TEST(a_list_longer_than_the_memory_of_a_task_is_streamed)
{
    const char *pages[PAGES],
        *same = page_of(ROWS_NEXT("o", "n"), rows_page("o", 0, ROWS_OF_PAGE, ROW_BYTES));
    for (unsigned k = 0; k < PAGES - 1; k++)
        pages[k] = same;
    pages[PAGES - 1] = page_of("", rows_page("o", 0, ROWS_OF_PAGE, ROW_BYTES));
    run_with(&(service){.pages = pages, .count = PAGES}, read_more_than_a_task_may_hold);
}
END_TEST

/* ---- one record ---- */

static void get_refused(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/o/n");
    ck_status(g, 500);
    ck_str_eq(g.body, STR("{\"error\":\"Failed to retrieve action.\"}"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
}

/* ACT-29. */
START_TEST(a_record_that_cannot_be_read_is_500)
{
    run_with(&(service){.row = REFUSED}, get_refused);
}
END_TEST

static void get_absent(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/O/N");
    ck_status(g, 404);
    ck_assert_uint_eq(wire_requests(now_wire), 2);
    ck_assert(str_has(wire_request_at(now_wire, 0).head, STR("(PartitionKey=%27o%27,RowKey=%27n%27)")) ||
              str_has(wire_request_at(now_wire, 0).head, STR("(PartitionKey='o',RowKey='n')")));
    ck_assert(str_has(wire_request_at(now_wire, 1).head, STR("o_n")));
}

/* ACT-30. */
START_TEST(a_miss_reads_the_older_key_too_and_nothing_else)
{
    run_with(&(service){0}, get_absent);
}
END_TEST

/* ---- counts ---- */

static void ask_cached(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/stats");
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "total"), 7);
    g = rig_get(t, "/api/actions/status");
    ck_status(g, 200);
    ck_assert_uint_eq(atomic_load(&now_serving->queries), 0);
    g = rig_get(t, "/api/actions/stats?refresh=true");
    ck_assert_int_eq(rig_int(&g, "total"), 1);
    ck_assert_uint_eq(atomic_load(&now_serving->queries), 1);
}

/* ACT-36. */
START_TEST(a_cached_count_does_not_scan)
{
    static const char *const pages[] = {PAGE("", ONE_ROW)};
    run_with(&(service){.pages = pages, .count = 1, .row = CACHE_ROW}, ask_cached);
}
END_TEST

static void count_unwritten(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/actions/stats?refresh=true");
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "total"), 1);
    ck_assert_uint_ge(atomic_load(&now_serving->writes), 1);
}

START_TEST(a_count_that_cannot_be_written_back_is_an_answer_all_the_same)
{
    static const char *const pages[] = {PAGE("", ONE_ROW)};
    run_with(&(service){.pages = pages, .count = 1, .put = REFUSED}, count_unwritten);
}
END_TEST

static void warm_up(task *t, int i)
{
    (void)i;
    got g = rig_post(t, "/StatsWarmup", STR("{\"Data\":{\"timer\":{}},\"Metadata\":{}}"));
    ck_assert_msg(g.status / 100 == 2, "status %d", g.status);
    ck_assert_int_eq(json_typeof(g.json), JSON_OBJECT);
    ck_assert_uint_eq(atomic_load(&now_serving->writes), 0);
}

/* ACT-39. */
START_TEST(a_warm_up_that_fails_is_no_failed_invocation)
{
    static const char *const pages[] = {REFUSED};
    run_with(&(service){.pages = pages, .count = 1}, warm_up);
}
END_TEST

/* ---- patches ---- */

static void note_one(task *t, int i)
{
    (void)t, (void)i;
    aggregate_note(NULL, &(facts){0}, STR("2026-02-01T00:00:00.000Z"));
}

static const char *const lost[] = {NULL, ROWS_FAILURE("412", "UpdateConditionNotSatisfied"), REFUSED,
                                   ROWS_FAILURE("404", "ResourceNotFound")};
enum { LOST = sizeof lost / sizeof *lost };

/* §12: on condition of what was read; whatever the service says, once. The process leaves as soon as the
 * difference is noted: it is written all the same, and nobody waits for the next second. */
START_TEST(a_patch_is_sent_once_on_condition)
{
    service s = {.row = CACHE_ROW, .put = lost[_i]};
    run_with(&s, note_one);
    ck_assert_uint_eq(atomic_load(&s.writes), 1);
    ck_assert(atomic_load(&s.conditional));
}
END_TEST

static const char *const unpatchable[] = {
    NO_ROW, REFUSED,
    ROWS_JSON("", "{\"odata.etag\":\"1\",\"PartitionKey\":\"statsCache\",\"RowKey\":\"aggregate\"}")};
enum { UNPATCHABLE = sizeof unpatchable / sizeof *unpatchable };

/* §12: without the row a patch is skipped; it makes none. */
START_TEST(a_row_that_cannot_be_patched_is_left_alone)
{
    service s = {.row = unpatchable[_i]};
    run_with(&s, note_one);
    ck_assert_uint_eq(atomic_load(&s.reads), 1);
    ck_assert_uint_eq(atomic_load(&s.writes), 0);
}
END_TEST

Suite *suite_actions_read_faults(void)
{
    Suite *s = suite_create("actions_read_faults");
    TCase *c = live_case("actions_read_faults");
    tcase_add_test(c, pages_are_asked_for_as_far_as_the_limit_reaches);
    tcase_add_test(c, a_short_page_with_a_token_is_not_the_end);
    tcase_add_test(c, a_service_that_does_not_move_is_not_asked_for_ever);
    tcase_add_loop_test(c, a_failing_query_is_500_and_says_which, 0, FAILING);
    tcase_add_loop_test(c, a_service_that_fails_for_a_moment_is_asked_again, 0, PASSING);
    tcase_add_test(c, a_cursor_that_the_service_refuses_is_400);
    tcase_add_test(c, the_first_byte_comes_before_the_scan_ends);
    tcase_add_test(c, a_failure_behind_the_first_byte_breaks_the_connection);
    tcase_add_test(c, a_list_longer_than_the_memory_of_a_task_is_streamed);
    tcase_add_test(c, a_record_that_cannot_be_read_is_500);
    tcase_add_test(c, a_miss_reads_the_older_key_too_and_nothing_else);
    tcase_add_test(c, a_cached_count_does_not_scan);
    tcase_add_test(c, a_count_that_cannot_be_written_back_is_an_answer_all_the_same);
    tcase_add_test(c, a_warm_up_that_fails_is_no_failed_invocation);
    tcase_add_loop_test(c, a_patch_is_sent_once_on_condition, 0, LOST);
    tcase_add_loop_test(c, a_row_that_cannot_be_patched_is_left_alone, 0, UNPATCHABLE);
    suite_add_tcase(s, c);
    return s;
}
