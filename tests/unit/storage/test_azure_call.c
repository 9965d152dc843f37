/* test_azure_call.c -- azure_call against a scripted server: what is sent, what is sent again and when, and
 * when not.
 *
 * Faults of the wire, memory and the breaker are in azure_cases_faults.c; answers that say what is wrong in
 * azure_cases_error.c.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "storage/azure/retry.h"
#include "unit/storage/azure_rig.h"
#include "unit/suites.h"

#define GET_ROW       \
    ((azure_request){ \
        .operation = "tables_get", .method = STR("GET"), .path = STR("/T(PartitionKey='p',RowKey='r')")})
#define INSERT                                     \
    ((azure_request){.operation = "tables_insert", \
                     .method = STR("POST"),        \
                     .path = STR("/T"),            \
                     .headers = &json_type,        \
                     .header_count = 1,            \
                     .body = STR("{\"a\":1}")})
#define SOON "retry-after-ms: 1\r\n"

static const http_header json_type = {STR_INIT("Content-Type"), STR_INIT("application/json")};

/* ---- what is sent ---- */

static const struct {
    azure_service service;
    const char   *version, *accept;
} services[] = {
    {AZURE_TABLES, "2019-02-02", "application/json;odata=nometadata"},
    {AZURE_BLOBS, "2021-12-02", "application/xml"},
    {AZURE_QUEUES, "2021-12-02", "application/xml"},
};

/* What the server would compute from what came in. */
static const char *expected_authorization(wire *w, size_t i, azure_service service)
{
    http_header  headers[32];
    size_t       count = 0;
    wire_request q = wire_request_at(w, i);
    str          rest = q.head, line, first;
    ck_assert(str_next_field(&rest, '\n', &first));
    while (str_next_field(&rest, '\n', &line) && str_trim(line).len > 0) {
        size_t colon = str_find_char(line, ':');
        headers[count++] = (http_header){str_slice(line, 0, colon), str_trim(str_from(line, colon + 1))};
    }
    str method, target;
    ck_assert(str_next_field(&first, ' ', &method) && str_next_field(&first, ' ', &target));
    size_t       mark = str_find_char(target, '?');
    sign_request s = {.account = STR("acct"),
                      .method = method,
                      .path = str_slice(target, 0, mark),
                      .query = str_from(target, mark + 1),
                      .headers = headers,
                      .header_count = count,
                      .body_bytes = q.body.len};
    str text = service == AZURE_TABLES ? sign_tables_text(scratch(), &s) : sign_blob_text(scratch(), &s);
    str made = sign_text(scratch(), STR("secret-key-of-the-test"), text);
    return textf("SharedKey acct:%.*s", STR_ARG(made));
}

/* STORE-6 */
START_TEST(a_request_is_dated_versioned_identified_and_signed)
{
    wire         *w = wire_start(&(wire_answer){.bytes = RIG_OK("{}", "2")}, 1, NULL);
    azure_request in = INSERT;
    azure_service service = services[_i].service;
    in.query = STR("comp=list&prefix=a%2F");
    azure_got got = azure_rig_call(azure_rig_endpoint(w, service), in, 0);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_str_eq(got.body, "{}");
    ck_assert_uint_eq(got.tries, 1);
    ck_assert(!got.doubtful);

    ck_assert(str_starts(wire_request_at(w, 0).head, STR("POST /acct/T?comp=list&prefix=a%2F HTTP/1.1\r\n")));
    ck_assert_ptr_null(azure_rig_header(w, 0, "Date"));
    ck_assert_ptr_null(azure_rig_header(w, 0, "Expect"));
    ck_assert_str_eq(azure_rig_header(w, 0, "x-ms-version"), services[_i].version);
    ck_assert_str_eq(azure_rig_header(w, 0, "Accept"), services[_i].accept);
    ck_assert_str_eq(azure_rig_header(w, 0, "Content-Type"), "application/json");
    ck_assert_uint_eq(strlen(azure_rig_header(w, 0, "x-ms-client-request-id")), 36);
    int64_t sent_us;
    ck_assert(http_date_parse(str_of(azure_rig_header(w, 0, "x-ms-date")), &sent_us));
    ck_assert_int_lt(llabs(sent_us - clock_wall_us()), 60 * 1000000LL);
    ck_assert_str_eq(azure_rig_header(w, 0, "Authorization"), expected_authorization(w, 0, service));
    wire_stop(w);
}
END_TEST

START_TEST(a_callers_accept_takes_the_place_of_ours)
{
    wire         *w = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    http_header   h = {STR("accept"), STR("x/y")};
    azure_request in = GET_ROW;
    in.headers = &h;
    in.header_count = 1;
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0).result, RES_OK);
    ck_assert_str_eq(azure_rig_header(w, 0, "Accept"), "x/y");
    wire_stop(w);
}
END_TEST

START_TEST(the_lite_signature_is_for_tables_over_tls_alone)
{
    wire_tls *tls = wire_tls_new("IP:127.0.0.1");
    wire     *safe = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, tls);
    wire     *plain = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    setenv("TRESTLE_CA_FILE", wire_tls_ca_file(tls), 1);
    setenv("TRESTLE_STORAGE_SHARED_KEY_LITE", "1", 1);
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(safe, AZURE_TABLES), GET_ROW, 0).result, RES_OK);
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(safe, AZURE_BLOBS), GET_ROW, 0).result, RES_OK);
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(plain, AZURE_TABLES), GET_ROW, 0).result, RES_OK);
    unsetenv("TRESTLE_STORAGE_SHARED_KEY_LITE");
    unsetenv("TRESTLE_CA_FILE");
    ck_assert_ptr_nonnull(strstr(azure_rig_header(safe, 0, "Authorization"), "SharedKeyLite acct:"));
    ck_assert_ptr_nonnull(strstr(azure_rig_header(safe, 1, "Authorization"), "SharedKey acct:"));
    ck_assert_ptr_nonnull(strstr(azure_rig_header(plain, 0, "Authorization"), "SharedKey acct:"));
    wire_stop(safe);
    wire_stop(plain);
    wire_tls_free(tls);
}
END_TEST

START_TEST(a_shared_access_signature_ends_every_url_and_nothing_is_signed)
{
    wire           *w = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    azure_endpoint *e = azure_rig_connect(
        AZURE_TABLES, textf("TableEndpoint=%s;SharedAccessSignature=?sv=1&sig=a%%2Bb", wire_url(w, "/acct")));
    azure_request in = GET_ROW;
    ck_assert_int_eq(azure_rig_call(e, in, 0).result, RES_OK);
    in.query = STR("$top=5");
    ck_assert_int_eq(azure_rig_call(e, in, 0).result, RES_OK);
    ck_assert(str_starts(wire_request_at(w, 0).head,
                         STR("GET /acct/T(PartitionKey='p',RowKey='r')?sv=1&sig=a%2Bb HTTP")));
    ck_assert(str_starts(wire_request_at(w, 1).head,
                         STR("GET /acct/T(PartitionKey='p',RowKey='r')?$top=5&sv=1&sig=a%2Bb HTTP")));
    ck_assert_ptr_null(azure_rig_header(w, 0, "Authorization"));
    ck_assert_ptr_null(azure_rig_header(w, 0, "x-ms-date"));
    wire_stop(w);
}
END_TEST

START_TEST(escaping_leaves_plain_letters_and_what_it_is_told_to)
{
    ck_assert_str_eq(azure_escape(scratch(), STR("aZ9-_.~ '+%/\xC3\xBC"), "").at,
                     "aZ9-_.~%20%27%2B%25%2F%C3%BC");
    ck_assert_str_eq(azure_escape(scratch(), STR("a/b c"), "/").at, "a/b%20c");
    ck_assert_uint_eq(azure_escape(scratch(), STR(""), "").len, 0);
}
END_TEST

/* ---- what is sent again ---- */

static const struct {
    const char *first;
    bool        again, doubtful;
} statuses[] = {
    {RIG_STATUS("500 x", SOON), true, true},   {RIG_STATUS("502 x", SOON), true, true},
    {RIG_STATUS("503 x", SOON), true, true},   {RIG_STATUS("504 x", SOON), true, true},
    {RIG_STATUS("408 x", SOON), true, true},   {RIG_STATUS("429 x", SOON), true, false},
    {RIG_STATUS("400 x", SOON), false, false}, {RIG_STATUS("401 x", SOON), false, false},
    {RIG_STATUS("403 x", SOON), false, false}, {RIG_STATUS("404 x", SOON), false, false},
    {RIG_STATUS("409 x", SOON), false, false}, {RIG_STATUS("412 x", SOON), false, false},
    {RIG_STATUS("501 x", SOON), false, false}, {RIG_STATUS("505 x", SOON), false, false},
    {RIG_STATUS("304 x", SOON), false, false}, {RIG_STATUS("307 x", SOON), false, false},
};

/* STORE-45 */
START_TEST(an_answer_is_asked_for_again_only_if_that_may_help)
{
    wire *w = wire_start((wire_answer[]){{.bytes = statuses[_i].first}, {.bytes = RIG_OK("", "0")}}, 2, NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), INSERT, 0);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_uint_eq(wire_requests(w), statuses[_i].again ? 2 : 1);
    ck_assert_uint_eq(got.tries, wire_requests(w));
    ck_assert_int_eq(got.status, statuses[_i].again ? 200 : atoi(statuses[_i].first + strlen("HTTP/1.1 ")));
    ck_assert_int_eq(got.doubtful, statuses[_i].doubtful);
    wire_stop(w);
}
END_TEST

/* STORE-45 */
START_TEST(a_wait_that_is_asked_for_is_kept_and_the_next_try_signed_anew)
{
    wire *w = wire_start(
        (wire_answer[]){{.bytes = RIG_STATUS("503 x", "Retry-After: 1\r\n")}, {.bytes = RIG_OK("", "0")}}, 2,
        NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), INSERT, 0);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_uint_ge(got.took_us, 1000000);
    ck_assert_str_ne(azure_rig_header(w, 0, "x-ms-date"), azure_rig_header(w, 1, "x-ms-date"));
    ck_assert_str_ne(azure_rig_header(w, 0, "Authorization"), azure_rig_header(w, 1, "Authorization"));
    ck_assert_str_eq(azure_rig_header(w, 1, "Authorization"), expected_authorization(w, 1, AZURE_TABLES));
    ck_assert_str_eq(azure_rig_header(w, 0, "x-ms-client-request-id"),
                     azure_rig_header(w, 1, "x-ms-client-request-id"));
    ck_assert_str_eq(wire_request_at(w, 1).body.at, "{\"a\":1}");
    wire_stop(w);
}
END_TEST

static const struct {
    const char *answer;
    res         result;
    const char *words;
} lasting[] = {
    {RIG_STATUS("503 x", SOON "x-ms-error-code: ServerBusy\r\n"), RES_THROTTLED,
     "tables_get (4 tries): the service answered 503 ServerBusy"},
    {RIG_STATUS("429 x", SOON), RES_THROTTLED, "tables_get (4 tries): the service answered 429"},
    {RIG_STATUS("500 x", SOON "x-ms-error-code: OperationTimedOut\r\n"), RES_UPSTREAM,
     "answered 500 OperationTimedOut"},
    {RIG_STATUS("408 x", SOON), RES_UPSTREAM, "answered 408"},
};

START_TEST(after_four_tries_the_last_answer_is_the_result)
{
    wire     *w = wire_start(&(wire_answer){.bytes = lasting[_i].answer}, 1, NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), GET_ROW, 0);
    ck_assert_int_eq(got.result, lasting[_i].result);
    ck_assert_msg(strstr(got.message, lasting[_i].words) != NULL, "%s", got.message);
    ck_assert_uint_eq(wire_requests(w), RETRY_TRIES);
    wire_stop(w);
}
END_TEST

START_TEST(who_is_told_to_wait_for_minutes_gives_up_at_once)
{
    wire     *w = wire_start(&(wire_answer){.bytes = RIG_STATUS("503 x", "Retry-After: 61\r\n")}, 1, NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), GET_ROW, 0);
    ck_assert_int_eq(got.result, RES_THROTTLED);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

START_TEST(what_must_be_sent_once_is_not_sent_twice)
{
    static const wire_answer firsts[] = {
        {.bytes = RIG_STATUS("503 x", SOON)},
        {.then = WIRE_CLOSE},
        {.bytes = "HTTP/1.1 200 OK\r\nConte", .then = WIRE_RESET, .then_ms = 20}};
    wire         *w = wire_start((wire_answer[]){firsts[_i], {.bytes = RIG_OK("", "0")}}, 2, NULL);
    azure_request in = INSERT;
    in.once = true;
    ck_assert_int_ne(azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0).result, RES_OK);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

START_TEST(a_name_that_is_being_deleted_is_waited_for_beyond_the_usual_tries)
{
#define DELETING RIG_STATUS("409 x", SOON "x-ms-error-code: TableBeingDeleted\r\n")
    wire_answer rows[7] = {{.bytes = DELETING},       {.bytes = DELETING}, {.bytes = DELETING},
                           {.bytes = DELETING},       {.bytes = DELETING}, {.bytes = DELETING},
                           {.bytes = RIG_OK("", "0")}};
    wire       *w = wire_start(rows, 7, NULL);
    azure_got   got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), INSERT, 0);
    ck_assert_int_eq(got.status, 200);
    ck_assert_uint_eq(got.tries, 7);
    ck_assert(!got.doubtful); /* refused each time */
    wire_stop(w);

    w = wire_start(rows, 1, NULL);
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), INSERT, 0).means, RES_UNAVAILABLE);
    ck_assert_uint_eq(wire_requests(w), 1 + RETRY_SLOW_TRIES);
    wire_stop(w);
}
END_TEST

static const struct {
    http_header h;
    bool        found;
    uint64_t    ms;
} waits[] = {
    {{STR_INIT("retry-after-ms"), STR_INIT("120")}, true, 120},
    {{STR_INIT("X-Ms-Retry-After-Ms"), STR_INIT(" 7 ")}, true, 7},
    {{STR_INIT("Retry-After"), STR_INIT("3")}, true, 3000},
    {{STR_INIT("Retry-After"), STR_INIT("Wed, 18 Nov 2026 12:00:02 GMT")}, true, 2000},
    {{STR_INIT("Retry-After"), STR_INIT("Wed, 18 Nov 2026 11:00:00 GMT")}, true, 0},
    {{STR_INIT("Retry-After"), STR_INIT("99999999999999999999")}, false, 0},
    {{STR_INIT("Retry-After"), STR_INIT("18446744073709551615")}, true, UINT64_MAX},
    {{STR_INIT("Retry-After"), STR_INIT("soon")}, false, 0},
    {{STR_INIT("Retry-After"), STR_INIT("-1")}, false, 0},
    {{STR_INIT("Other"), STR_INIT("3")}, false, 0},
};

START_TEST(every_form_of_retry_after_is_understood)
{
    fetch_answer a = {.headers = &waits[_i].h, .header_count = 1};
    uint64_t     ms = 0;
    ck_assert_int_eq(retry_after_ms(&a, 1795003200000000, &ms), waits[_i].found);
    if (waits[_i].found)
        ck_assert_uint_eq(ms, waits[_i].ms);
}
END_TEST

START_TEST(waits_grow_up_to_their_cap_with_full_jitter)
{
    static const uint64_t most[] = {200, 400, 800, 1600, 3200, 5000, 5000};
    for (unsigned tries = 1; tries <= 7; tries++) {
        uint64_t low = UINT64_MAX, high = 0;
        for (uint32_t random = 0; random < 20000; random++) {
            uint64_t ms = retry_delay_ms(tries, random);
            low = ms < low ? ms : low;
            high = ms > high ? ms : high;
        }
        ck_assert_uint_eq(low, 0);
        ck_assert_uint_eq(high, most[tries - 1]);
    }
}
END_TEST

/* ---- time ---- */

START_TEST(a_wait_that_the_deadline_would_cut_is_not_begun)
{
    static const char *const answers[] = {
        RIG_STATUS("503 x", "Retry-After: 20\r\nx-ms-error-code: ServerBusy\r\n"),
        RIG_STATUS("409 x", "x-ms-error-code: TableBeingDeleted\r\n"),
    };
    static const res results[] = {RES_THROTTLED, RES_OK};
    wire            *w = wire_start(&(wire_answer){.bytes = answers[_i]}, 1, NULL);
    azure_got        got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), INSERT, 4000);
    ck_assert_int_eq(got.result, results[_i]);
    if (got.result == RES_OK)
        ck_assert_int_eq(got.means, RES_UNAVAILABLE);
    ck_assert_uint_lt(got.took_us, 3000000);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

START_TEST(a_try_that_takes_too_long_is_followed_by_another)
{
    wire         *w = wire_start((wire_answer[]){{.then = WIRE_HANG}, {.bytes = RIG_OK("", "0")}}, 2, NULL);
    azure_request in = INSERT;
    in.try_ms = 150;
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0);
    ck_assert_msg(got.result == RES_OK, "%s", got.message);
    ck_assert_uint_eq(got.tries, 2);
    ck_assert(got.doubtful);
    wire_stop(w);
}
END_TEST

START_TEST(the_deadline_ends_a_call_whatever_its_try_may_take)
{
    wire     *w = wire_start(&(wire_answer){.then = WIRE_HANG}, 1, NULL);
    azure_got got = azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), GET_ROW, 200);
    ck_assert_int_eq(got.result, RES_TIMEOUT);
    ck_assert_uint_lt(got.took_us, 5000000);
    ck_assert_uint_eq(wire_requests(w), 1);
    ck_assert_ptr_nonnull(strstr(got.message, "tables_get"));
    wire_stop(w);
}
END_TEST

/* ---- the clock ---- */

static char skewed[512];

static void answer_skewed(void *ctx, const wire_request *q, wire_answer *ret)
{
    (void)ctx;
    char    date[HTTP_DATE_SIZE];
    int64_t sent_us = 0, theirs_us = clock_wall_us() + 3600 * 1000000LL;
    size_t  at = str_find(q->head, STR("x-ms-date: "));
    bool    parsed = http_date_parse(str_slice(q->head, at + 11, at + 11 + HTTP_DATE_SIZE - 1), &sent_us);
    (void)snprintf(
        skewed, sizeof skewed,
        "HTTP/1.1 403 x\r\nDate: %s\r\nx-ms-error-code: AuthenticationFailed\r\nContent-Length: 0\r\n\r\n",
        http_date_format(theirs_us, date).at);
    bool close = parsed && llabs(theirs_us - sent_us) < 15 * 60 * 1000000LL;
    bool hopeless = str_has(q->head, STR("/hopeless"));
    *ret = (wire_answer){.bytes = close && !hopeless ? RIG_OK("", "0") : skewed};
}

/* STORE-47 */
START_TEST(a_clock_that_is_an_hour_off_is_corrected_once_and_for_all)
{
    wire           *w = wire_start_fn(answer_skewed, NULL, NULL);
    azure_endpoint *e = azure_rig_endpoint(w, AZURE_TABLES);
    azure_got       got = azure_rig_call(e, GET_ROW, 0);
    ck_assert_int_eq(got.result, RES_OK);
    ck_assert_int_eq(got.status, 200);
    ck_assert_uint_eq(wire_requests(w), 2);
    ck_assert(!got.doubtful);

    ck_assert_int_eq(azure_rig_call(e, GET_ROW, 0).status, 200);
    ck_assert_uint_eq(wire_requests(w), 3); /* the offset is remembered */

    azure_request in = GET_ROW;
    in.path = STR("/hopeless");
    ck_assert_int_eq(azure_rig_call(e, in, 0).means, RES_CONFIG);
    ck_assert_uint_eq(wire_requests(w), 4); /* the clock is right: it was something else */
    wire_stop(w);
}
END_TEST

/* ---- metrics ---- */

START_TEST(calls_results_and_retries_are_counted_by_operation)
{
    wire *w =
        wire_start((wire_answer[]){{.bytes = RIG_STATUS("500 x", SOON)},
                                   {.bytes = RIG_STATUS("404 x", "x-ms-error-code: TableNotFound\r\n")}},
                   2, NULL);
    azure_request in = GET_ROW;
    in.operation = "count_me";
    ck_assert_int_eq(azure_rig_call(azure_rig_endpoint(w, AZURE_TABLES), in, 0).means, RES_UNPROVISIONED);
    ck_assert_int_eq(metrics_value(metrics_counter("trestle_storage_total",
                                                   "operation=\"count_me\",result=\"unprovisioned\"", "")),
                     1);
    ck_assert_int_eq(
        metrics_value(metrics_counter("trestle_storage_retries_total", "operation=\"count_me\"", "")), 1);
    ck_assert_int_eq(
        metrics_value(metrics_histogram("trestle_storage_seconds", "operation=\"count_me\"", "")), 1);
    wire_stop(w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

Suite *suite_azure_call(void)
{
    Suite *s = suite_create("azure_call");
    TCase *c = tcase_create("call");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, a_request_is_dated_versioned_identified_and_signed, services);
    tcase_add_test(c, a_callers_accept_takes_the_place_of_ours);
    tcase_add_test(c, the_lite_signature_is_for_tables_over_tls_alone);
    tcase_add_test(c, a_shared_access_signature_ends_every_url_and_nothing_is_signed);
    tcase_add_test(c, escaping_leaves_plain_letters_and_what_it_is_told_to);
    LOOP(c, an_answer_is_asked_for_again_only_if_that_may_help, statuses);
    tcase_add_test(c, a_wait_that_is_asked_for_is_kept_and_the_next_try_signed_anew);
    LOOP(c, after_four_tries_the_last_answer_is_the_result, lasting);
    tcase_add_test(c, who_is_told_to_wait_for_minutes_gives_up_at_once);
    tcase_add_loop_test(c, what_must_be_sent_once_is_not_sent_twice, 0, 3);
    tcase_add_test(c, a_name_that_is_being_deleted_is_waited_for_beyond_the_usual_tries);
    LOOP(c, every_form_of_retry_after_is_understood, waits);
    tcase_add_test(c, waits_grow_up_to_their_cap_with_full_jitter);
    tcase_add_loop_test(c, a_wait_that_the_deadline_would_cut_is_not_begun, 0, 2);
    tcase_add_test(c, a_try_that_takes_too_long_is_followed_by_another);
    tcase_add_test(c, the_deadline_ends_a_call_whatever_its_try_may_take);
    tcase_add_test(c, a_clock_that_is_an_hour_off_is_corrected_once_and_for_all);
    tcase_add_test(c, calls_results_and_retries_are_counted_by_operation);
    suite_add_tcase(s, c);
    suite_add_tcase(s, azure_cases_faults());
    suite_add_tcase(s, azure_cases_error());
    return s;
}
