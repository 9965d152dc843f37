/* test_json_input.c -- JSON mode, what the host sends and what a function gets (spec 3).
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buf.h"
#include "e2e/e2e.h"

/* Spec 3.3 (a), as the host sends it; %s are the members of "req" after Params, and the query. */
static str order_envelope(const char *query, const char *more)
{
    return arena_strf(
        scratch(),
        "{\"Data\":{\"req\":{"
        "\"Url\":\"https://app.example/api/orders/42?name=Bob&name=Eve&code=K\",\"Method\":\"POST\","
        "\"Query\":%s,"
        "\"Headers\":{\"Content-Type\":[\"application/json\"],\"Content-Length\":[\"21\"],"
        "\"Host\":[\"app.example\"]},"
        "\"Params\":{\"oid\":\"42\",\"note\":null},"
        "\"Identities\":[{\"AuthenticationType\":\"WebJobsAuthLevel\",\"IsAuthenticated\":true,"
        "\"Claims\":[{\"Type\":\"http://schemas.microsoft.com/2017/07/functions/claims/authlevel\","
        "\"Value\":\"Function\"}]}]%s}},"
        "\"Metadata\":{\"id\":\"\\\"7\\\"\",\"name\":\"\\\"Eve\\\"\",\"oid\":\"\\\"42\\\"\","
        "\"Query\":{\"name\":\"Eve\",\"code\":\"K\"},"
        "\"Headers\":{\"Content-Type\":\"application/json\",\"Host\":\"app.example\"},"
        "\"sys\":{\"MethodName\":\"order\",\"UtcNow\":\"2026-01-02T03:04:05.1234567Z\",\"RandGuid\":\"r\"}}}",
        query, more);
}

static const char query_of_two[] = "{\"name\":\"Bob,Eve\",\"code\":\"K\"}";
static const char json_body[] = ",\"Body\":\"{\\\"id\\\":7,\\\"tags\\\":[\\\"x\\\"]}\"";

static str queue_envelope(const char *data, const char *metadata)
{
    return arena_strf(scratch(), "{\"Data\":{\"msg\":%s},\"Metadata\":{%s}}", data, metadata);
}

/* What the function answered over HTTP; and what it said it had seen. */
static const json_val *order_seen(const answer *a)
{
    ck_assert_status(*a, 200);
    const json_val *envelope = answer_json(a);
    ck_assert_int_eq(int_at(envelope, "Outputs/res/statusCode"), 201);
    return json_of(text_at(envelope, "Outputs/res/body"));
}

/* HOST-7, HOST-8, HOST-9, HOST-28: the framing of a request changes nothing. */
START_TEST(an_order_gets_the_same_answer_by_chunks_by_length_and_by_single_bytes)
{
    static const framing ways[] = {BY_CHUNKS, BY_LENGTH, BY_SINGLE_BYTES};
    str                  envelope = order_envelope(query_of_two, json_body), first = {0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        answer a = invoke(shared.port, "order", envelope, ways[i]);
        ck_assert_status(a, 200);
        ck_assert(str_starts_nocase(answer_header(&a, "content-type"), STR("application/json")));
        ck_assert_uint_eq(answer_count(&a, "content-length") + answer_count(&a, "transfer-encoding"), 1);
        ck_assert_int_eq(json_typeof(json_path(answer_json(&a), "Outputs")), JSON_OBJECT);
        if (i == 0)
            first = a.body;
        ck_assert(str_eq(a.body, first));
    }
}
END_TEST

/* HOST-7, HOST-16: method, query, parameters and body are those of the outside request. */
START_TEST(an_order_in_an_envelope_looks_like_the_outside_request)
{
    answer          a = invoke(shared.port, "order", order_envelope(query_of_two, json_body), BY_CHUNKS);
    const json_val *seen = order_seen(&a);
    ck_assert_str_is(text_at(seen, "function"), "order");
    ck_assert_str_is(text_at(seen, "method"), "POST");
    ck_assert_str_is(text_at(seen, "host"), "app.example");
    ck_assert_str_is(text_at(seen, "path"), "/api/orders/42");
    ck_assert_str_is(text_at(seen, "body"), "{\"id\":7,\"tags\":[\"x\"]}");
    ck_assert_str_is(text_at(seen, "oid"), "42");
    ck_assert(!json_truth(json_path(seen, "has_note"), true));
    ck_assert_str_is(text_at(seen, "invocation"), "6a1f0000-0000-4000-8000-00000000abcd");
}
END_TEST

/* HOST-16: Query and Identities in both shapes that the host and the docs show. */
START_TEST(query_and_identities_are_read_as_objects_and_as_strings)
{
    static const char *const shapes[] = {"{\"name\":\"Bob\"}", "\"{\\\"name\\\":\\\"Bob\\\"}\""};
    for (size_t i = 0; i < 2; i++) {
        answer          a = invoke(shared.port, "order", order_envelope(shapes[i], ""), BY_LENGTH);
        const json_val *pair = json_at(json_path(order_seen(&a), "query"), 0);
        ck_assert_str_is(json_text(json_at(pair, 0), (str){0}), "name");
        ck_assert_str_is(json_text(json_at(pair, 1), (str){0}), "Bob");
    }
    answer none = invoke(shared.port, "order", order_envelope("\"{}\"", ""), BY_LENGTH);
    ck_assert_uint_eq(json_len(json_path(order_seen(&none), "query")), 0);
    answer text = invoke(shared.port, "order",
                         STR("{\"Data\":{\"req\":{\"Method\":\"GET\",\"Url\":\"https://a/api/orders/42\","
                             "\"Params\":{\"oid\":\"9\"},\"Identities\":\"[{}]\"}},\"Metadata\":{}}"),
                         BY_LENGTH);
    ck_assert_str_is(text_at(order_seen(&text), "oid"), "9");
}
END_TEST

typedef struct {
    const char *type, *body, *text;
    int         bytes;
} body_case;

static const body_case bodies[] = {
    {"application/json", "{\\\"a\\\":1}", "{\"a\":1}", 7},
    {"application/octet-stream", "AAEC/w==", NULL, 4},
    {"multipart/form-data; boundary=x", "LS14DQo=", "--x\r\n", 5},
    {"image/png", "AAEC/w==", "AAEC/w==", 8}, /* destroyed by the host already: not to be repaired */
    {"text/plain", "dGVzdA==", "dGVzdA==", 8},
};

/* HOST-15 */
START_TEST(a_body_is_decoded_from_base64_by_its_content_type_alone)
{
    const body_case  *c = &bodies[_i];
    static const char shape[] = "{\"Data\":{\"req\":{\"Method\":\"POST\",\"Url\":\"https://a/api/orders/"
                                "1\",\"Params\":{\"oid\":\"1\"},"
                                "\"Headers\":{\"Content-Type\":[\"%s\"]},\"Body\":\"%s\"}},\"Metadata\":{}}";
    str               envelope = arena_strf(scratch(), shape, c->type, c->body);
    answer            a = invoke(shared.port, "order", envelope, BY_CHUNKS);
    const json_val   *seen = order_seen(&a);
    ck_assert_int_eq(int_at(seen, "body_bytes"), c->bytes);
    if (c->text != NULL)
        ck_assert_str_is(text_at(seen, "body"), c->text);
}
END_TEST

/* HOST-15 */
START_TEST(an_envelope_without_a_body_is_an_empty_body)
{
    answer a = invoke(shared.port, "order", order_envelope("{}", ""), BY_LENGTH);
    ck_assert_int_eq(int_at(order_seen(&a), "body_bytes"), 0);
}
END_TEST

/* HOST-17 */
START_TEST(a_header_of_the_envelope_is_found_in_any_case)
{
    answer a = invoke(shared.port, "order", order_envelope("{}", json_body), BY_LENGTH);
    ck_assert_str_is(text_at(order_seen(&a), "content_type"), "application/json");
}
END_TEST

/* HOST-10, HOST-11: encoded twice as the host does, and once as the docs show. */
START_TEST(a_queue_message_is_the_same_text_in_both_encodings)
{
    static const char *const shapes[] = {"\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"", "\"{\\\"a\\\":1}\""};
    for (size_t i = 0; i < 2; i++) {
        answer a = invoke(shared.port, "onmsg", queue_envelope(shapes[i], ""), BY_CHUNKS);
        ck_assert_str_is(text_at(seen_of(&a), "text"), "{\"a\":1}");
    }
}
END_TEST

/* HOST-12 */
START_TEST(a_dequeue_count_is_a_number_in_both_encodings)
{
    static const char *const shapes[] = {"\"DequeueCount\":\"3\"", "\"DequeueCount\":3",
                                         "\"dequeuecount\":\"\\\"3\\\"\""};
    for (size_t i = 0; i < 3; i++) {
        answer a = invoke(shared.port, "onmsg", queue_envelope("\"\\\"hi\\\"\"", shapes[i]), BY_LENGTH);
        ck_assert_int_eq(int_at(seen_of(&a), "dequeue_count"), 3);
    }
}
END_TEST

/* HOST-10, HOST-12: the whole payload of spec 3.3 (c). */
START_TEST(the_metadata_of_a_queue_message_is_read)
{
    answer a = invoke(
        shared.port, "onmsg",
        queue_envelope("\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"",
                       "\"DequeueCount\":\"1\",\"Id\":\"\\\"800ae4b3\\\"\",\"PopReceipt\":\"\\\"AgAA\\\"\","
                       "\"ExpirationTime\":\"2026-01-09T03:04:05+00:00\",\"a\":\"\\\"1\\\"\","
                       "\"sys\":{\"MethodName\":\"onmsg\",\"UtcNow\":\"x\",\"RandGuid\":\"y\"}"),
        BY_CHUNKS);
    const json_val *seen = seen_of(&a);
    ck_assert_int_eq(int_at(seen, "dequeue_count"), 1);
    ck_assert_str_is(text_at(seen, "id"), "800ae4b3");
    ck_assert_int_eq(int_at(seen, "a"), 1);
    ck_assert_str_is(text_at(seen, "method"), "");
    ck_assert_str_is(text_at(seen, "invocation"), "6a1f0000-0000-4000-8000-00000000abcd");
}
END_TEST

typedef struct {
    const char *timer;
    bool        past_due, has_status;
} timer_case;

static const timer_case timers[] = {
    {"{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":{\"Last\":\"2026-01-02T03:00:00+00:00\","
     "\"Next\":\"2026-01-02T03:05:00+00:00\",\"LastUpdated\":\"2026-01-02T03:00:00+00:00\"},"
     "\"IsPastDue\":false}",
     false, true},
    {"{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":null,\"IsPastDue\":true}", true, false},
};

/* HOST-13 */
START_TEST(a_timer_is_told_whether_it_is_past_due)
{
    const timer_case *c = &timers[_i];
    str    envelope = arena_strf(scratch(), "{\"Data\":{\"tick\":%s},\"Metadata\":{\"sys\":{}}}", c->timer);
    answer a = invoke(shared.port, "tick", envelope, BY_CHUNKS);
    const json_val *seen = seen_of(&a);
    ck_assert_int_eq(json_truth(json_path(seen, "past_due"), !c->past_due), c->past_due);
    ck_assert_int_eq(json_truth(json_path(seen, "has_status"), !c->has_status), c->has_status);
}
END_TEST

/* HOST-14 */
START_TEST(a_blob_that_does_not_exist_is_missing_and_not_a_text_of_four_letters)
{
    answer a = invoke(shared.port, "blobin",
                      STR("{\"Data\":{\"msg\":\"\\\"m\\\"\",\"doc\":\"null\"},\"Metadata\":{}}"), BY_CHUNKS);
    ck_assert(!json_truth(json_path(seen_of(&a), "there"), true));

    answer b = invoke(shared.port, "blobin",
                      STR("{\"Data\":{\"msg\":\"\\\"m\\\"\",\"doc\":\"\\\"line\\\\n\\\"\"},\"Metadata\":{}}"),
                      BY_CHUNKS);
    ck_assert(json_truth(json_path(seen_of(&b), "there"), false));
    ck_assert_str_is(text_at(seen_of(&b), "text"), "line\n");
}
END_TEST

/* HOST-10: dataType binary is base64, once (spec 3.2). */
START_TEST(a_binary_message_arrives_byte_for_byte_and_leaves_so)
{
    answer a = invoke(shared.port, "binmsg", queue_envelope("\"AP/+AQ==\"", ""), BY_CHUNKS);
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "Outputs/seen"), "AP/+AQ==");
}
END_TEST

/* HOST-30 */
START_TEST(a_retry_context_is_exposed_as_numbers)
{
    answer a =
        invoke(shared.port, "onmsg",
               queue_envelope("\"\\\"hi\\\"\"",
                              "\"RetryContext\":{\"RetryCount\":1,\"MaxRetryCount\":2,\"Exception\":null,"
                              "\"Instance\":null,\"State\":{}}"),
               BY_CHUNKS);
    ck_assert_int_eq(int_at(seen_of(&a), "retry_count"), 1);
    ck_assert_int_eq(int_at(seen_of(&a), "retry_max"), 2);
}
END_TEST

/* HOST-25 */
START_TEST(a_function_that_does_not_exist_is_404)
{
    answer a = invoke(shared.port, "nosuch", STR("{\"Data\":{},\"Metadata\":{}}"), BY_CHUNKS);
    ck_assert_status(a, 404);
}
END_TEST

/* HOST-25: a disabled function does not exist for anybody. */
START_TEST(a_disabled_function_is_404)
{
    answer a = client_call(shared.port, "GET", "/api/off", "X-Azure-Functions-InvocationId: i\r\n", (str){0});
    ck_assert_status(a, 404);
}
END_TEST

static const char *const malformed[] = {
    "",
    "{",
    "[]",
    "null",
    "{\"Data\":{\"msg\":\"x\"}",
    "{\"Data\":[],\"Metadata\":{}}",
    "\"",
    "\xff",
    "1 2",
    "{\"Metadata\":{}}",
    "{\"Data\":{\"msg\":\"\xff\"}}",
};

/* HOST-26 */
START_TEST(a_malformed_or_empty_envelope_is_400_and_the_connection_goes_on)
{
    client *c = client_open(shared.port);
    invoke_send(c, "onmsg", str_of(malformed[_i]), BY_CHUNKS);
    answer a = client_answer(c);
    ck_assert_status(a, 400);
    ck_assert(!answer_closes(&a));
    ck_assert_str_is(text_at(answer_json(&a), "error"), "invalid");
    ck_assert_uint_gt(text_at(answer_json(&a), "message").len, 0);

    invoke_send(c, "onmsg", queue_envelope("\"\\\"hi\\\"\"", ""), BY_LENGTH);
    answer b = client_answer(c);
    ck_assert_str_is(text_at(seen_of(&b), "text"), "hi");
    client_close(c);
}
END_TEST

/* HOST-27 */
START_TEST(a_body_of_140_megabytes_is_refused_and_nothing_breaks)
{
    enum { PIECE = 1 * MIB, PIECES = 140 };
    char *piece = arena_alloc(scratch(), PIECE);
    memset(piece, 'x', PIECE);
    client *c = client_open(shared.port);
    invoke_send(c, "onmsg", (str){0}, BY_LENGTH); /* a first, empty call */
    ck_assert_status(client_answer(c), 400);

    ck_assert(client_sendf(c, "POST /onmsg HTTP/1.1\r\nHost: a\r\nX-Azure-Functions-InvocationId: i\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n"));
    bool reads = true;
    for (int i = 0; i < PIECES && reads; i++)
        reads = client_sendf(c, "%x\r\n", PIECE) && client_send(c, (str){piece, PIECE}) &&
                client_send(c, STR("\r\n"));
    answer a;
    if (client_answers(c, &a))
        ck_assert_status(a, 413);
    else
        ck_assert(!reads); /* its answer was lost in the reset, for it had stopped reading */
    client_close(c);

    answer b = invoke(shared.port, "onmsg", queue_envelope("\"\\\"hi\\\"\"", ""), BY_LENGTH);
    ck_assert_str_is(text_at(seen_of(&b), "text"), "hi");
}
END_TEST

/* Spec 9.13: surrogate pairs, duplicate keys (the last wins), deep nesting. */
START_TEST(odd_but_valid_json_is_read)
{
    buf deep;
    buf_init(&deep, scratch(), 64 * KIB);
    for (int i = 0; i < 64; i++)
        buf_add(&deep, STR("{\"d\":"));
    buf_add(&deep, STR("1"));
    for (int i = 0; i < 64; i++)
        buf_add(&deep, STR("}"));
    answer a = invoke(shared.port, "onmsg",
                      arena_strf(scratch(),
                                 "{\"Data\":{\"msg\":\"\\\"old\\\"\",\"msg\":\"\\\"\\\\ud83d\\\\ude00\\\"\"},"
                                 "\"Metadata\":{\"deep\":%.*s}}",
                                 STR_ARG(buf_str(&deep))),
                      BY_CHUNKS);
    ck_assert_str_is(text_at(seen_of(&a), "text"), "\xf0\x9f\x98\x80");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_json_input");
    TCase *tc = e2e_add_shared(s, "shared");
    tcase_add_test(tc, an_order_gets_the_same_answer_by_chunks_by_length_and_by_single_bytes);
    tcase_add_test(tc, an_order_in_an_envelope_looks_like_the_outside_request);
    tcase_add_test(tc, query_and_identities_are_read_as_objects_and_as_strings);
    tcase_add_loop_test(tc, a_body_is_decoded_from_base64_by_its_content_type_alone, 0,
                        sizeof bodies / sizeof *bodies);
    tcase_add_test(tc, an_envelope_without_a_body_is_an_empty_body);
    tcase_add_test(tc, a_header_of_the_envelope_is_found_in_any_case);
    tcase_add_test(tc, a_queue_message_is_the_same_text_in_both_encodings);
    tcase_add_test(tc, a_dequeue_count_is_a_number_in_both_encodings);
    tcase_add_test(tc, the_metadata_of_a_queue_message_is_read);
    tcase_add_loop_test(tc, a_timer_is_told_whether_it_is_past_due, 0, sizeof timers / sizeof *timers);
    tcase_add_test(tc, a_blob_that_does_not_exist_is_missing_and_not_a_text_of_four_letters);
    tcase_add_test(tc, a_binary_message_arrives_byte_for_byte_and_leaves_so);
    tcase_add_test(tc, a_retry_context_is_exposed_as_numbers);
    tcase_add_test(tc, a_function_that_does_not_exist_is_404);
    tcase_add_test(tc, a_disabled_function_is_404);
    tcase_add_loop_test(tc, a_malformed_or_empty_envelope_is_400_and_the_connection_goes_on, 0,
                        sizeof malformed / sizeof *malformed);
    tcase_add_test(tc, a_body_of_140_megabytes_is_refused_and_nothing_breaks);
    tcase_add_test(tc, odd_but_valid_json_is_read);
    return s;
}

int main(void)
{
    return e2e_main("e2e_json_input", suite);
}
