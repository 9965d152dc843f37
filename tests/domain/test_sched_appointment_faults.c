/* test_sched_appointment_faults.c -- writes of appointments beside others, and the calls that they cost, over
 * a scripted service.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/buf.h"
#include "domain/sched_appointments.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/events.h"

#define GROUP STR("6a1f0c3e-0000-4000-8000-000000000001")
enum { PAGE_ROWS = 1000, HANDLER_MEMORY = 64 * MIB };
#define OLD "2026-01-01T00:00:00.000Z"
#define NEW "2099-01-01T00:00:00.000Z"

static const char *const document =
    "{\"id\":\"x\",\"code\":\"APPT-1\",\"schemaVersion\":2,\"title\":\"t\",\"start\":\"2026-03-05T10:00:00."
    "000Z\","
    "\"end\":\"2026-03-05T11:00:00.000Z\",\"createdAt\":\"" OLD "\",\"updatedAt\":\"" OLD "\",\"people\":[]}";

/* How often a write of each kind is refused first, and what was asked for. */
static struct {
    atomic_int  put_refusals, row_refusals, refusal;
    atomic_int  puts, gets, queries, rows, lists, others;
    atomic_int  group_writes;
    atomic_bool no_rows;
    atomic_bool rows_are_endless;
    atomic_bool row_is_newer; /* after a refusal somebody else has written it */
} service;

static const char *with_body(const char *headers, const char *body)
{
    return textf("HTTP/1.1 200 OK\r\n%sContent-Length: %zu\r\n\r\n%s", headers, strlen(body), body);
}

static const char *refusal(void)
{
    return textf("HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", atomic_load(&service.refusal));
}

static const char *write_blob(void)
{
    atomic_fetch_add(&service.puts, 1);
    if (atomic_fetch_sub(&service.put_refusals, 1) > 0)
        return refusal();
    return "HTTP/1.1 201 X\r\nETag: \"new\"\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 "
           "GMT\r\nContent-Length: "
           "0\r\n\r\n";
}

static const char *write_row(void)
{
    atomic_fetch_add(&service.rows, 1);
    if (atomic_fetch_sub(&service.row_refusals, 1) > 0)
        return refusal();
    return "HTTP/1.1 204 X\r\nETag: W/\"2\"\r\nContent-Length: 0\r\n\r\n";
}

static const char *no_rows(void)
{
    return with_body("Content-Type: application/json\r\n", "{\"value\":[]}");
}

static const char *query_rows(void)
{
    if (atomic_load(&service.no_rows))
        return no_rows();
    bool newer = atomic_load(&service.row_is_newer) && atomic_load(&service.rows) > 0;
    atomic_fetch_add(&service.queries, 1);
    return with_body(
        "Content-Type: application/json\r\n",
        textf("{\"value\":[{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"%s\",\"RowKey\":"
              "\"20260305100000Z|x\",\"appointmentId\":\"x\",\"isDeleted\":false,\"createdAt\":\"" OLD
              "\",\"updatedAt\":\"%s\"}]}",
              GROUP.at, newer ? NEW : OLD));
}

/* Pages without end. */
static const char *endless_rows(void)
{
    static atomic_int page;
    int               first = atomic_fetch_add(&page, 1) * PAGE_ROWS;
    buf               all;
    buf_init(&all, NULL, 4 * MIB);
    for (int n = first; n < first + PAGE_ROWS; n++)
        (void)buf_addf(
            &all,
            "%s{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"%s\",\"RowKey\":\"20260305100000Z|%d\","
            "\"appointmentId\":\"%d\",\"status\":\"active\",\"hasScan\":false,\"isDeleted\":false,"
            "\"createdAt\":\"" OLD "\",\"updatedAt\":\"" OLD "\",\"code\":\"APPT-%d\",\"codeNo\":%d}",
            n == first ? "{\"value\":[" : ",", GROUP.at, n, n, n + 1, n + 1);
    (void)buf_add(&all, STR("]}"));
    (void)buf_add_char(&all, '\0');
    const char *bytes = with_body("Content-Type: application/json\r\nx-ms-continuation-NextPartitionKey: "
                                  "p\r\nx-ms-continuation-NextRowKey: r\r\n",
                                  all.at);
    buf_free(&all);
    return bytes;
}

/* The group's row: whenever it is written, another process has been faster by five codes, the first time. */
static const char *row_of_group(bool get)
{
    if (!get)
        return atomic_fetch_add(&service.group_writes, 1) == 0
                   ? refusal()
                   : "HTTP/1.1 204 X\r\nETag: W/\"2\"\r\nContent-Length: 0\r\n\r\n";
    return with_body("Content-Type: application/json\r\nETag: W/\"1\"\r\n",
                     textf("{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"group\",\"RowKey\":\"%s\","
                           "\"appointmentCodeLast\":%d}",
                           GROUP.at, atomic_load(&service.group_writes) > 0 ? 8 : 3));
}

static const char *read_blob(str line)
{
    static const char *const headers =
        "ETag: \"1\"\r\nx-ms-blob-type: BlockBlob\r\nLast-Modified: Fri, 02 Jan "
        "2026 03:04:05 GMT\r\n";
    if (str_has(line, STR("comp=list"))) {
        atomic_fetch_add(&service.lists, 1);
        return with_body("Content-Type: application/xml\r\n",
                         "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults><Blobs/>"
                         "<NextMarker/></EnumerationResults>");
    }
    atomic_fetch_add(&service.gets, 1);
    return with_body(headers, document);
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* each connection has a thread */

static void answer(void *ctx, const wire_request *asked, wire_answer *ret)
{
    str  line = str_slice(asked->head, 0, str_find_char(asked->head, '\r'));
    bool get = str_starts(line, STR("GET"));
    (void)ctx;
    pthread_mutex_lock(&one_at_a_time);
    if (str_has(line, STR("AppointmentsIndex")))
        ret->bytes = !get                                     ? write_row()
                     : atomic_load(&service.rows_are_endless) ? endless_rows()
                                                              : query_rows();
    else if (str_has(line, STR("Groups(")))
        ret->bytes = row_of_group(get);
    else if (str_has(line, STR(".json")) || str_has(line, STR("comp=list")))
        ret->bytes = get ? read_blob(line) : write_blob();
    else {
        atomic_fetch_add(&service.others, 1);
        ret->bytes = "HTTP/1.1 201 X\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n";
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/* ---- cases ---- */

static const struct {
    int  puts_refused, rows_refused, refusal;
    bool newer;
    res  result;
    int  puts, gets, queries, rows;
} cases[] = {
    {0, 0, 412, false, RES_OK, 1, 1, 1, 1},       /* SCHED-90: two writes, and what they need to know */
    {2, 0, 412, false, RES_OK, 3, 3, 3, 1},       /* others were faster, twice */
    {9, 0, 412, false, RES_CONFLICT, 4, 4, 4, 0}, /* others were faster each time: nothing of it is there */
    {0, 1, 412, false, RES_OK, 1, 1, 2, 2},       /* somebody mended the row meanwhile */
    {0, 1, 412, true, RES_OK, 1, 1, 2, 1},        /* … and has written a later version: that one stays */
    {0, 99, 412, false, RES_PRECONDITION, 1, 1, 8, 8}, /* it does not go on for ever */
    {9, 0, 400, false, RES_INVALID, 1, 1, 1, 0},       /* a refusal is told, and not tried again */
};
enum { CASES = sizeof cases / sizeof *cases };

static void update_it(task *t, int i)
{
    appointment        p;
    actor              by = {STR("u"), STR("auth:u")};
    appointment_change c = {.set = SET_TITLE, .title = STR("new")};
    res                r = appointment_update(t, GROUP, STR("x"), &c, &by, &p);
    if (cases[i].refusal == 412)
        ck_assert_msg(r == cases[i].result, "%s", res_name(r));
    else
        ck_assert_int_ne(r, RES_OK);
    if (r == RES_OK)
        ck_str_eq(p.title, STR("new"));
}

static wire *start(int puts_refused, int rows_refused, int status, bool newer)
{
    atomic_store(&service.put_refusals, puts_refused);
    atomic_store(&service.row_refusals, rows_refused);
    atomic_store(&service.refusal, status);
    atomic_store(&service.row_is_newer, newer);
    return wire_start_fn(answer, NULL, NULL);
}

/* SCHED-90. */
START_TEST(an_update_beside_others_costs_what_it_must)
{
    wire *w = start(cases[_i].puts_refused, cases[_i].rows_refused, cases[_i].refusal, cases[_i].newer);
    rig_run(rig_wire_store(w), update_it, _i);
    ck_assert_int_eq(atomic_load(&service.puts), cases[_i].puts);
    ck_assert_int_eq(atomic_load(&service.gets), cases[_i].gets);
    ck_assert_int_eq(atomic_load(&service.queries), cases[_i].queries);
    ck_assert_int_eq(atomic_load(&service.rows), cases[_i].rows);
    wire_stop(w);
}
END_TEST

/* ---- codes ---- */

static void create_it(task *t, int i)
{
    appointment        p;
    actor              by = {STR("u"), STR("auth:u")};
    appointment_change c = {.set = SET_TITLE, .title = STR("new")};
    (void)i;
    OK(appointment_create(t, GROUP, (str){0}, &c, &by, &p));
    ck_str_eq(p.code, STR("APPT-9"));
}

START_TEST(a_code_that_another_process_took_meanwhile_is_not_given_again)
{
    wire *w = start(0, 0, 412, false);
    atomic_store(&service.no_rows, true);
    rig_run(rig_wire_store(w), create_it, 0);
    wire_stop(w);
}
END_TEST

/* ---- lists ---- */

static void list_them(task *t, int i)
{
    json           *snapshot;
    const json_val *v;
    size_t          before = arena_used_bytes(t->arena);
    (void)i;
    OK(appointments_snapshot(t, GROUP, &snapshot));
    str text = json_print(t->arena, snapshot);
    ck_assert_uint_lt(arena_used_bytes(t->arena) - before, HANDLER_MEMORY); /* what a request has */
    OK(json_parse(t->arena, text, &v, NULL));
    ck_assert_uint_eq(json_len(json_get(v, "appointments")), APPOINTMENTS_LISTED_MAX);
    ck_assert(json_truth(json_get(v, "truncated"), false));
}

START_TEST(beyond_five_thousand_a_list_says_so_and_fits_into_a_request)
{
    wire *w = start(0, 0, 412, false);
    atomic_store(&service.rows_are_endless, true);
    rig_run(rig_wire_store(w), list_them, 0);
    wire_stop(w);
}
END_TEST

/* ---- events ---- */

static void append_it(task *t, int i)
{
    bool      repeated;
    log_event e = {.type = "USER_MESSAGE", .actor = "HUMAN"};
    EXPECT(i == 0 ? RES_OK : RES_CONFLICT, events_append(t, GROUP, STR("x"), &e, 1, NULL, &repeated));
}

START_TEST(an_event_is_tried_four_times_beside_others)
{
    wire *w = start(_i == 0 ? 3 : 9, 0, 412, false);
    rig_run(rig_wire_store(w), append_it, _i);
    ck_assert_int_eq(atomic_load(&service.puts), 4);
    ck_assert_int_eq(atomic_load(&service.lists), 4);
    wire_stop(w);
}
END_TEST

Suite *suite_sched_appointment_faults(void)
{
    Suite *s = suite_create("sched_appointment_faults");
    TCase *c = live_case("appointments beside others");
    tcase_add_loop_test(c, an_update_beside_others_costs_what_it_must, 0, CASES);
    tcase_add_test(c, a_code_that_another_process_took_meanwhile_is_not_given_again);
    tcase_add_test(c, beyond_five_thousand_a_list_says_so_and_fits_into_a_request);
    tcase_add_loop_test(c, an_event_is_tried_four_times_beside_others, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
