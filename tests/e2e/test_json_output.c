/* test_json_output.c -- JSON mode, what a function says and what the host gets (spec 4).
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/e2e.h"

static answer call_order(const char *query)
{
    return invoke(
        shared.port, "order",
        arena_strf(scratch(),
                   "{\"Data\":{\"req\":{\"Url\":\"https://app.example/api/orders/42\",\"Method\":\"GET\","
                   "\"Query\":{%s},\"Headers\":{},\"Params\":{\"oid\":\"42\",\"note\":null}}},"
                   "\"Metadata\":{}}",
                   query),
        BY_CHUNKS);
}

static answer send_message(const char *json_text)
{
    return invoke(shared.port, "onmsg",
                  arena_strf(scratch(), "{\"Data\":{\"msg\":\"\\\"%s\\\"\"},\"Metadata\":{}}", json_text),
                  BY_CHUNKS);
}

/* Strings alone, as the host demands of header values and log entries. */
static void check_all_strings(const json_val *v)
{
    for (json_iter it = json_each(v); json_next(&it);)
        ck_assert_int_eq(json_typeof(it.value), JSON_STRING);
}

/* HOST-20 */
START_TEST(an_http_output_has_a_status_code_string_headers_and_a_string_body)
{
    answer          a = call_order("");
    const json_val *res_output = json_path(answer_json(&a), "Outputs/res");
    ck_assert_int_eq(int_at(res_output, "statusCode"), 201);
    ck_assert_int_eq(json_typeof(json_get(res_output, "headers")), JSON_OBJECT);
    ck_assert_uint_ge(json_len(json_get(res_output, "headers")), 2);
    check_all_strings(json_get(res_output, "headers"));
    ck_assert_str_is(text_at(res_output, "headers/Location"), "/api/orders/42");
    ck_assert(str_starts(text_at(res_output, "headers/Content-Type"), STR("application/json")));
    ck_assert_ptr_null(json_get(res_output, "status"));
    (void)json_of(text_at(res_output, "body"));
}
END_TEST

/* HOST-23: each text is an element of an array, which the host takes as it is. */
START_TEST(queue_messages_that_look_like_base64_leave_as_an_array_of_strings)
{
    answer          a = call_order("");
    const json_val *list = json_path(answer_json(&a), "Outputs/outqueue");
    ck_assert_int_eq(json_typeof(list), JSON_ARRAY);
    ck_assert_uint_eq(json_len(list), 2);
    ck_assert_str_is(json_text(json_at(list, 0), (str){0}), "test");
    ck_assert_str_is(json_text(json_at(list, 1), (str){0}), "42");

    answer b = send_message("say:12345678");
    ck_assert_status(b, 200);
    list = json_path(answer_json(&b), "Outputs/seen");
    ck_assert_int_eq(json_typeof(list), JSON_ARRAY);
    ck_assert_str_is(json_text(json_at(list, 0), (str){0}), "12345678");
}
END_TEST

/* HOST-24 */
START_TEST(log_entries_are_strings_also_when_they_hold_newlines)
{
    answer          a = call_order("\"logs\":\"1\"");
    const json_val *logs = json_path(answer_json(&a), "Logs");
    ck_assert_int_eq(json_typeof(logs), JSON_ARRAY);
    ck_assert_uint_ge(json_len(logs), 2);
    check_all_strings(logs);
    str all = json_print_val(scratch(), logs);
    ck_assert_holds(all, "order 42 came");
    ck_assert_holds(all, "two");
    ck_assert_holds(all, "lines");
}
END_TEST

/* HOST-18 */
START_TEST(a_function_that_says_nothing_still_answers_an_envelope)
{
    answer a =
        invoke(shared.port, "quiet", STR("{\"Data\":{\"msg\":\"\\\"x\\\"\"},\"Metadata\":{}}"), BY_CHUNKS);
    ck_assert_status(a, 200);
    ck_assert_uint_gt(a.body.len, 0);
    const json_val *envelope = answer_json(&a);
    ck_assert_int_eq(json_typeof(envelope), JSON_OBJECT);
    ck_assert_uint_eq(json_len(json_path(envelope, "Outputs")), 0);
    ck_assert_uint_eq(json_len(json_path(envelope, "Logs")), 0);
    ck_assert_int_eq(json_typeof(json_path(envelope, "ReturnValue")), JSON_NULL);
}
END_TEST

/* HOST-19: the documented choice is 500, so that the host tries the message again; the lines of its log are
 * on our own streams. */
START_TEST(a_failing_queue_function_is_500_and_its_lines_are_in_our_own_log)
{
    answer a = send_message("fail:now");
    ck_assert_status(a, 500);
    ck_assert(process_says(shared.proc, "about to fail", E2E_LIMIT_MS));
    ck_assert(process_says(shared.proc, "message 'fail:now'", E2E_LIMIT_MS));
    ck_assert_holds(process_err(shared.proc), "message 'fail:now'");
}
END_TEST

/* HOST-19: a caller who waits gets the failure as its answer. */
START_TEST(a_failing_http_function_answers_its_caller_through_the_envelope)
{
    answer a = call_order("\"fail\":\"1\"");
    ck_assert_status(a, 200);
    const json_val *res_output = json_path(answer_json(&a), "Outputs/res");
    ck_assert_int_eq(int_at(res_output, "statusCode"), 409);
    const json_val *body = json_of(text_at(res_output, "body"));
    ck_assert_str_is(text_at(body, "error"), "conflict");
    ck_assert_str_is(text_at(body, "message"), "order '42' exists");
}
END_TEST

/* HOST-21 */
START_TEST(two_cookies_through_the_envelope_are_refused_and_the_author_is_told)
{
    answer a = call_order("\"cookies\":\"2\"");
    ck_assert_status(a, 500);
    ck_assert(process_says(shared.proc, "sets two cookies", E2E_LIMIT_MS));
}
END_TEST

/* HOST-22 */
START_TEST(a_binary_body_through_a_named_output_is_refused_and_the_author_is_told)
{
    answer a = call_order("\"binary\":\"1\"");
    ck_assert_status(a, 500);
    ck_assert(process_says(shared.proc, "answers a binary body", E2E_LIMIT_MS));
}
END_TEST

static answer call_ret(const char *query)
{
    return invoke(
        shared.port, "ret",
        arena_strf(scratch(),
                   "{\"Data\":{\"req\":{\"Url\":\"https://a/api/ret\",\"Method\":\"POST\",\"Query\":{%s},"
                   "\"Headers\":{\"Content-Type\":[\"text/plain\"]},\"Params\":{},\"Body\":\"this\"}},"
                   "\"Metadata\":{}}",
                   query),
        BY_CHUNKS);
}

/* HOST-22 */
START_TEST(a_binary_body_through_return_is_base64)
{
    answer a = call_ret("\"binary\":\"1\"");
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "ReturnValue"), "AP/+AQ==");
}
END_TEST

/* HOST-20, HOST-22: text through $return is an object that nobody takes for base64. */
START_TEST(a_text_through_return_is_an_object_with_status_headers_and_body)
{
    answer a = call_ret("");
    ck_assert_status(a, 200);
    const json_val *value = json_path(answer_json(&a), "ReturnValue");
    ck_assert_int_eq(int_at(value, "statusCode"), 202);
    ck_assert_str_is(text_at(value, "body"), "returned this");
    ck_assert_str_is(text_at(value, "headers/X-Made-By"), "ret");
    ck_assert_ptr_null(json_path(answer_json(&a), "Outputs/$return"));
}
END_TEST

/* HOST-29: the host would follow it. */
START_TEST(a_redirect_by_a_function_stays_inside_the_envelope)
{
    answer a = call_order("\"redirect\":\"1\"");
    ck_assert_status(a, 200);
    ck_assert_int_eq(int_at(answer_json(&a), "Outputs/res/statusCode"), 302);
    ck_assert_str_is(text_at(answer_json(&a), "Outputs/res/headers/Location"), "/elsewhere");
    ck_assert_ptr_null(answer_header(&a, "location").at);
}
END_TEST

/* HOST-29: also for spellings that frameworks like to redirect. */
START_TEST(no_path_of_json_mode_is_ever_redirected)
{
    static const char *const paths[] = {"/order/", "//order",    "/ORDER",  "/api",
                                        "/api/",   "/order?x=1", "/./order"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        answer a =
            client_call(shared.port, "POST", paths[i], "X-Azure-Functions-InvocationId: i\r\n", STR("{}"));
        ck_assert_msg(a.status / 100 != 3, "'%s' gives %d", paths[i], a.status);
    }
}
END_TEST

/* HOST-28, HOST-20: a stream has no place in an envelope; it is collected. */
START_TEST(a_stream_is_collected_into_the_envelope)
{
    answer a = call_order("\"stream\":\"1\"");
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "Outputs/res/body"), "one two");
    ck_assert_uint_eq(answer_count(&a, "content-length") + answer_count(&a, "transfer-encoding"), 1);
}
END_TEST

/* Spec 9.13: control characters leave as escapes, other text as UTF-8, and it reads back the same. */
START_TEST(control_characters_and_unicode_survive_the_envelope)
{
    answer a = call_order("\"text\":\"\\u0001\\n\\\"\\u00e9\\ud83d\\ude00\"");
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "Outputs/res/body"), "\x01\n\"\xc3\xa9\xf0\x9f\x98\x80");
    for (size_t i = 0; i < a.body.len; i++)
        ck_assert_int_ge((unsigned char)a.body.at[i], 0x20);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_json_output");
    TCase *tc = e2e_add_shared(s, "shared");
    tcase_add_test(tc, an_http_output_has_a_status_code_string_headers_and_a_string_body);
    tcase_add_test(tc, queue_messages_that_look_like_base64_leave_as_an_array_of_strings);
    tcase_add_test(tc, log_entries_are_strings_also_when_they_hold_newlines);
    tcase_add_test(tc, a_function_that_says_nothing_still_answers_an_envelope);
    tcase_add_test(tc, a_failing_queue_function_is_500_and_its_lines_are_in_our_own_log);
    tcase_add_test(tc, a_failing_http_function_answers_its_caller_through_the_envelope);
    tcase_add_test(tc, two_cookies_through_the_envelope_are_refused_and_the_author_is_told);
    tcase_add_test(tc, a_binary_body_through_a_named_output_is_refused_and_the_author_is_told);
    tcase_add_test(tc, a_binary_body_through_return_is_base64);
    tcase_add_test(tc, a_text_through_return_is_an_object_with_status_headers_and_body);
    tcase_add_test(tc, a_redirect_by_a_function_stays_inside_the_envelope);
    tcase_add_test(tc, no_path_of_json_mode_is_ever_redirected);
    tcase_add_test(tc, a_stream_is_collected_into_the_envelope);
    tcase_add_test(tc, control_characters_and_unicode_survive_the_envelope);
    return s;
}

int main(void)
{
    return e2e_main("e2e_json_output", suite);
}
