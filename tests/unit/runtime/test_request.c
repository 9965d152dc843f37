/* test_request.c -- what handlers read of plain HTTP, of inputs and of metadata; ids of invocation and trace.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "unit/runtime/samples.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;

static void open_arena(void)
{
    a = arena_new((size_t)4 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static request from_http(const char *query, http_header *headers, size_t count)
{
    http_exchange x = {.arena = a,
                       .method = STR("GET"),
                       .path = STR("/api/hello"),
                       .query = str_of(query),
                       .headers = headers,
                       .header_count = count};
    request       in;
    request_from_http(&in, &x, &order, NULL, 0);
    return in;
}

/* ---- plain HTTP ---- */

/* HOST-31, HOST-34 */
START_TEST(a_forwarded_request_shows_path_query_host_and_the_hosts_id)
{
    http_header headers[] = {
        {STR("Host"), STR("app.example")},
        {STR("X-Azure-Functions-InvocationId"), STR("6a1f0c3e-0000-4000-8000-000000000001")},
        {STR("User-Agent"), STR("curl/8 Azure-Functions-Host/4.1.0.0")}};
    request in = from_http("name=Bob", headers, 3);
    size_t  count;

    ck_str(request_function(&in), "order");
    ck_str(request_method(&in), "GET");
    ck_str(request_path(&in), "/api/hello");
    ck_str(request_host(&in), "app.example");
    ck_str(request_query(&in, "NAME"), "Bob");
    ck_str(request_header(&in, "user-agent"), "curl/8 Azure-Functions-Host/4.1.0.0");
    ck_str(request_invocation(&in), "6a1f0c3e-0000-4000-8000-000000000001");
    ck_assert_ptr_eq(request_headers(&in, &count), headers);
    ck_assert_uint_eq(count, 3);
    ck_assert(request_is_absent(request_header(&in, "x-none")));
    ck_assert(request_is_absent(request_query(&in, "none")));
}
END_TEST

/* HOST-32 */
START_TEST(a_body_of_all_byte_values_is_not_touched)
{
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    http_exchange x = {.arena = a, .method = STR("POST"), .path = STR("/"), .body = {bytes, sizeof bytes}};
    request       in;
    request_from_http(&in, &x, &order, NULL, 0);

    ck_assert_uint_eq(request_body(&in).len, 256);
    ck_assert_int_eq(memcmp(request_body(&in).at, bytes, 256), 0);
}
END_TEST

static const struct {
    const char *query, *pairs; /* "name=value" of each pair, with '|' between */
} queries[] = {
    {"a=1%2C2", "a=1,2"},   /* HOST-41: merged by forwarding */
    {"a=1&a=2", "a=1|a=2"}, /* HOST-41: raw by proxying */
    {"flag", "flag="},
    {"flag=", "flag="},
    {"", ""},
    {"&&", ""},
    {"a=1&&b=2&", "a=1|b=2"},
    {"=x", "=x"},
    {"a=b=c", "a=b=c"},
    {"a+b=c+d", "a b=c d"},
    {"%61%62=%e2%82%AC", "ab=\xe2\x82\xac"},
    {"a=%2B%26%3D", "a=+&="},
    {"a=%", "a=%"},
    {"a=%4", "a=%4"},
    {"a=%zz%41", "a=%zzA"},
    {"a=%4g", "a=%4g"},
    {"%%41=1", "%A=1"},
    {"a=100%", "a=100%"},
    {"a=%41", "a=A"},
};

START_TEST(a_query_string_gives_exactly_its_pairs)
{
    request            in = from_http(queries[_i].query, NULL, 0);
    size_t             count;
    const http_header *list = request_queries(&in, &count);
    char               text[256] = "";

    for (size_t i = 0; i < count; i++) {
        ck_assert(!request_is_absent(list[i].name) && !request_is_absent(list[i].value));
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%.*s=%.*s", i > 0 ? "|" : "", STR_ARG(list[i].name),
                 STR_ARG(list[i].value));
    }
    ck_assert_str_eq(text, queries[_i].pairs);
}
END_TEST

START_TEST(a_flag_is_present_and_empty)
{
    request in = from_http("flag&other=%41", NULL, 0);
    ck_assert(!request_is_absent(request_query(&in, "flag")));
    ck_assert_uint_eq(request_query(&in, "flag").len, 0);
    ck_str(request_query(&in, "other"), "A");
}
END_TEST

START_TEST(of_too_many_pairs_the_first_1024_are_kept)
{
    static char text[8 * 2000];
    int         at = 0;
    for (int i = 0; i < 2000; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "&k=%d", i);
    request            in = from_http(text, NULL, 0);
    size_t             count;
    const http_header *list = request_queries(&in, &count);

    ck_assert_uint_eq(count, REQUEST_QUERIES_MAX);
    ck_str(list[count - 1].value, "1023");
}
END_TEST

START_TEST(params_of_the_route_are_found_by_name)
{
    http_header   params[] = {{STR("id"), STR("42")}, {STR("rest"), STR("")}};
    http_exchange x = {.arena = a, .method = STR("GET"), .path = STR("/api/orders/42")};
    request       in;
    request_from_http(&in, &x, &order, params, 2);

    ck_str(request_param(&in, "id"), "42");
    ck_assert(!request_is_absent(request_param(&in, "rest")));
    ck_assert(request_is_absent(request_param(&in, "note")));
}
END_TEST

START_TEST(plain_http_has_neither_inputs_nor_metadata)
{
    request in = from_http("", NULL, 0);
    str     got;
    ck_assert(!request_input_text(&in, "req", &got));
    ck_assert(!request_input_bytes(&in, "req", &got));
    ck_assert_ptr_null(request_input_json(&in, "req"));
    ck_assert_ptr_null(request_meta(&in, "Id"));
    ck_assert(request_is_absent(request_meta_text(&in, "Id")));
    ck_assert_int_eq(request_meta_int(&in, "Id", 7), 7);
    ck_assert(!request_is_past_due(&in));
}
END_TEST

/* ---- ids ---- */

static const struct {
    const char *first, *second, *id;
} invocations[] = {
    {"fake, real", NULL, "real"}, /* HOST-33 */
    {"real", NULL, "real"},
    {"a,b,  c \t", NULL, "c"},
    {"fake", "real", "real"}, /* appended as a line of its own */
    {"fake", "x, real", "real"},
    {"fake,", NULL, ""}, /* what a caller sent is never believed in the host's place */
    {"", NULL, ""},
    {"real", " ", ""},
};

START_TEST(the_invocation_id_is_the_last_element)
{
    http_header headers[] = {{STR("x-azure-functions-INVOCATIONID"), str_of(invocations[_i].first)},
                             {STR("Other"), STR("x")},
                             {STR("X-Azure-Functions-InvocationId"), str_of(invocations[_i].second)}};
    ck_str(request_invocation_of(headers, invocations[_i].second != NULL ? 3 : 2), invocations[_i].id);
}
END_TEST

START_TEST(an_id_is_made_up_where_the_host_gave_none)
{
    char        longest[REQUEST_INVOCATION_MAX + 1];
    http_header header = {STR("X-Azure-Functions-InvocationId"), {longest, sizeof longest}};
    memset(longest, 'x', sizeof longest);
    request one = from_http("", NULL, 0), other = from_http("", &header, 1);

    ck_assert(id_is_uuid(request_invocation(&one)));
    ck_assert(id_is_uuid(request_invocation(&other))); /* one byte too long to be believed */
    ck_assert(!str_eq(request_invocation(&one), request_invocation(&other)));
    ck_assert(str_eq(request_trace(&one), request_invocation(&one)));
    header.value.len--;
    ck_assert_uint_eq(request_invocation_of(&header, 1).len, REQUEST_INVOCATION_MAX);
}
END_TEST

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"
static const struct {
    const char *header;
    bool        valid;
} traces[] = {
    {"00-" TRACE "-" SPAN "-01", true},
    {" 00-" TRACE "-" SPAN "-00\t", true},
    {"01-" TRACE "-" SPAN "-01", false},
    {"ff-" TRACE "-" SPAN "-01", false},
    {"00-" TRACE "-" SPAN "-01-extra", false},
    {"00-" TRACE "-" SPAN "-0", false},
    {"00-" TRACE "-" SPAN "-0g", false},
    {"00-" TRACE "_" SPAN "-01", false},
    {"00-" TRACE "-" SPAN "_01", false},
    {"00_" TRACE "-" SPAN "-01", false},
    {"00-00000000000000000000000000000000-" SPAN "-01", false},
    {"00-" TRACE "-0000000000000000-01", false},
    {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false},
    {"00-0af7651916cd43dd8448eb211c80319-" SPAN "-011", false},
    {"00-" TRACE "-b7ad6b716920333z-01", false},
    {"", false},
};

START_TEST(the_trace_id_is_that_of_a_strictly_valid_traceparent)
{
    http_header header = {STR("TraceParent"), str_of(traces[_i].header)};
    request     in = from_http("", &header, 1);
    if (traces[_i].valid)
        ck_str(request_trace(&in), TRACE);
    else
        ck_assert(str_eq(request_trace(&in), request_invocation(&in)));
}
END_TEST

START_TEST(of_two_traceparents_none_is_believed)
{
    http_header both[] = {{STR("traceparent"), STR("00-" TRACE "-" SPAN "-01")},
                          {STR("traceparent"), STR("00-" TRACE "-" SPAN "-01")}};
    ck_assert(request_is_absent(request_trace_of(both, 2)));
    ck_str(request_trace_of(both, 1), TRACE);
}
END_TEST

/* ---- inputs ---- */

static request from_json(const function *fn, const char *text)
{
    request in;
    str     error = {0};
    res     r = request_from_envelope(&in, a, str_of(text), fn, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
    return in;
}

/* HOST-10, HOST-11; NULL: the input is missing. */
static const struct {
    const char *wire, *text;
} messages[] = {
    {"\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"", "{\"a\":1}"}, /* as the host sends it */
    {"\"{\\\"a\\\":1}\"", "{\"a\":1}"},                 /* as the docs show it */
    {"{ \"a\" : 1 }", "{\"a\":1}"},
    {"\"\\\"hi\\\"\"", "hi"},
    {"\"hi\"", "hi"},
    {"\"\\\"\\\\\\\"hi\\\\\\\"\\\"\"", "\"hi\""}, /* a message that is a JSON string, from the host */
    {"\"\\\"hi\"", "\"hi"},                       /* begins with a quote, yet is no JSON */
    {"\"5\"", "5"},
    {"\"\\\"5\\\"\"", "5"},
    {"5", "5"},
    {"true", "true"},
    {"\"[1, 2]\"", "[1, 2]"},
    {"[1, 2]", "[1,2]"},
    {"\"\"", ""},
    {"\"\\\"\\\"\"", ""},
    {"\"null\"", "null"}, /* a trigger is never missing */
    {"\"\\\"null\\\"\"", "null"},
    {"null", NULL},
};

START_TEST(the_text_of_a_message_is_the_same_in_every_encoding)
{
    char    text[256];
    str     got = STR("untouched");
    request in;
    snprintf(text, sizeof text, "{\"Data\":{\"msg\":%s},\"Metadata\":{}}", messages[_i].wire);
    in = from_json(&onmsg, text);

    ck_assert(request_input_text(&in, "msg", &got) == (messages[_i].text != NULL));
    ck_str(got, messages[_i].text != NULL ? messages[_i].text : "untouched");
}
END_TEST

START_TEST(json_of_a_message_is_found_below_both_encodings)
{
    request in =
        from_json(&onmsg, "{\"Data\":{\"msg\":\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\",\"one\":\"{\\\"a\\\":1}\","
                          "\"bare\":{\"a\":1},\"text\":\"\\\"hi there\\\"\",\"gone\":\"null\","
                          "\"nil\":null,\"number\":5}}");
    ck_assert_int_eq(json_int(json_get(request_input_json(&in, "msg"), "a"), 0), 1);
    ck_assert_int_eq(json_int(json_get(request_input_json(&in, "one"), "a"), 0), 1);
    ck_assert_int_eq(json_int(json_get(request_input_json(&in, "bare"), "a"), 0), 1);
    ck_assert_int_eq(json_int(request_input_json(&in, "number"), 0), 5);
    ck_assert_ptr_null(request_input_json(&in, "text"));
    ck_assert_ptr_null(request_input_json(&in, "gone"));
    ck_assert_ptr_null(request_input_json(&in, "nil"));
    ck_assert_ptr_null(request_input_json(&in, "none"));
}
END_TEST

/* HOST-14 */
START_TEST(a_blob_that_does_not_exist_is_missing_and_not_four_letters)
{
    request in =
        from_json(&order, "{\"Data\":{\"req\":{\"Method\":\"GET\"},\"note\":\"null\",\"picture\":\"null\"}}");
    str got;
    ck_assert(!request_input_text(&in, "note", &got));
    ck_assert(!request_input_bytes(&in, "note", &got));
    ck_assert_ptr_null(request_input_json(&in, "note"));
    ck_assert(!request_input_bytes(&in, "picture", &got)); /* though "null" is valid base64 */

    in = from_json(&order, "{\"Data\":{\"req\":{\"Method\":\"GET\"},\"note\":\"\\\"null\\\"\"}}");
    ck_assert(request_input_text(&in, "note", &got)); /* a blob with these four letters in it */
    ck_str(got, "null");
    in = from_json(&order, "{\"Data\":{\"req\":{\"Method\":\"GET\"},\"note\":\"\\\"line\\\\n\\\"\"}}");
    ck_assert(request_input_text(&in, "note", &got));
    ck_str(got, "line\n");
}
END_TEST

START_TEST(binary_input_is_decoded_from_base64)
{
    request in = from_json(&onbytes, "{\"Data\":{\"msg\":\"AP+A\"}}");
    str     got = STR("untouched");
    ck_assert(request_input_bytes(&in, "msg", &got));
    ck_assert(str_eq(got, STR("\x00\xff\x80")));
    got = STR("untouched");
    ck_assert(!request_input_text(&in, "msg", &got)); /* these bytes are no text */
    ck_str(got, "untouched");

    in = from_json(&onbytes, "{\"Data\":{\"msg\":\"\\\"aGk=\\\"\"}}"); /* encoded once more */
    ck_assert(request_input_bytes(&in, "msg", &got));
    ck_str(got, "hi");
    ck_assert(request_input_text(&in, "msg", &got));
    in = from_json(&onbytes, "{\"Data\":{\"msg\":\"null\"}}"); /* three bytes: a trigger exists */
    ck_assert(request_input_bytes(&in, "msg", &got));
    ck_assert(str_eq(got, STR("\x9e\xe9\x65")));
    in = from_json(&onbytes, "{\"Data\":{\"msg\":\"not base64\"}}");
    ck_assert(!request_input_bytes(&in, "msg", &got));
    in = from_json(&onbytes, "{\"Data\":{\"msg\":{}}}");
    ck_assert(!request_input_bytes(&in, "msg", &got));
}
END_TEST

/* ---- metadata ---- */

/* HOST-12 */
START_TEST(a_number_in_metadata_is_read_from_every_encoding)
{
    request in =
        from_json(&onmsg, "{\"Data\":{},\"Metadata\":{\"a\":5,\"b\":\"5\",\"c\":\"\\\"5\\\"\",\"d\":5.0,"
                          "\"e\":\"x\",\"f\":\"5.5\",\"g\":null,\"h\":{},\"DequeueCount\":\"1\"}}");
    ck_assert_int_eq(request_meta_int(&in, "a", -1), 5);
    ck_assert_int_eq(request_meta_int(&in, "b", -1), 5);
    ck_assert_int_eq(request_meta_int(&in, "c", -1), 5);
    ck_assert_int_eq(request_meta_int(&in, "d", -1), 5);
    ck_assert_int_eq(request_meta_int(&in, "e", -1), -1);
    ck_assert_int_eq(request_meta_int(&in, "f", -1), -1);
    ck_assert_int_eq(request_meta_int(&in, "g", -1), -1);
    ck_assert_int_eq(request_meta_int(&in, "h", -1), -1);
    ck_assert_int_eq(request_meta_int(&in, "none", -1), -1);
    ck_assert_int_eq(request_meta_int(&in, "dequeuecount", -1), 1);
}
END_TEST

START_TEST(metadata_is_found_in_any_case_and_decoded)
{
    request in = from_json(
        &onmsg, "{\"Data\":{},\"Metadata\":{\"Id\":\"\\\"800ae4b3\\\"\",\"Digits\":\"12345678901234567890\","
                "\"InsertionTime\":\"2026-01-02T03:04:05+00:00\",\"Gone\":\"null\",\"Nil\":null,"
                "\"Properties\":{\"x\":1}}}");
    ck_str(request_meta_text(&in, "ID"), "800ae4b3");
    ck_str(json_text(request_meta(&in, "iD"), (str){0}), "800ae4b3");
    ck_str(request_meta_text(&in, "digits"), "12345678901234567890");
    ck_str(request_meta_text(&in, "insertiontime"), "2026-01-02T03:04:05+00:00");
    ck_str(json_text(request_meta(&in, "insertiontime"), (str){0}), "2026-01-02T03:04:05+00:00");
    ck_str(request_meta_text(&in, "properties"), "{\"x\":1}");
    ck_assert_int_eq(json_int(json_get(request_meta(&in, "properties"), "x"), 0), 1);
    ck_assert_ptr_null(request_meta(&in, "gone"));
    ck_assert_ptr_null(request_meta(&in, "nil"));
    ck_assert(request_is_absent(request_meta_text(&in, "gone")));
    ck_assert(request_is_absent(request_meta_text(&in, "nil")));
    ck_assert(request_is_absent(request_meta_text(&in, "none")));
}
END_TEST

/* HOST-30 */
START_TEST(the_retry_context_has_numbers)
{
    request in =
        from_json(&onmsg, "{\"Data\":{},\"Metadata\":{\"RetryContext\":{\"RetryCount\":1,\"MaxRetryCount\":2,"
                          "\"Exception\":null,\"Instance\":null,\"State\":{}}}}");
    const json_val *retry = request_meta(&in, "retrycontext");
    ck_assert_int_eq(json_int(json_get(retry, "RetryCount"), -1), 1);
    ck_assert_int_eq(json_int(json_get(retry, "MaxRetryCount"), -1), 2);
    ck_assert_int_eq(json_typeof(json_get(retry, "Exception")), JSON_NULL);
}
END_TEST

START_TEST(a_request_survives_every_failing_allocation)
{
    http_header header = {STR("Host"), STR("app.example")};
    bool        pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 100);
        arena_fail_at(nth);
        request in = from_http("a=%41&b=c+d&e", &header, 1);
        pending = arena_fail_pending();
        arena_fail_at(0);
        ck_str(request_host(&in), "app.example");
        ck_assert(in.query_count == 0 || in.query_count == 3);
        if (in.query_count == 3)
            ck_str(request_query(&in, "b"), "c d");
    }
}
END_TEST

/* A value that could not be decoded for want of memory is missing; it is never wrong. */
START_TEST(inputs_and_metadata_survive_every_failing_allocation)
{
    request in = from_json(
        &onmsg, "{\"Data\":{\"msg\":\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"},\"Metadata\":{\"n\":\"\\\"5\\\"\"}}");
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 100);
        str got = STR("untouched");
        arena_fail_at(nth);
        bool            found = request_input_text(&in, "msg", &got);
        const json_val *parsed = request_input_json(&in, "msg");
        int64_t         number = request_meta_int(&in, "n", -1);
        str             text = request_meta_text(&in, "n");
        pending = arena_fail_pending();
        arena_fail_at(0);

        ck_str(got, found ? "{\"a\":1}" : "untouched");
        ck_assert(parsed == NULL || json_int(json_get(parsed, "a"), 0) == 1);
        ck_assert(number == 5 || number == -1);
        ck_assert(request_is_absent(text) || str_eq(text, STR("5")));
    }
}
END_TEST

Suite *suite_request(void)
{
    Suite *s = suite_create("request");
    TCase *t = tcase_create("request");
    tcase_add_checked_fixture(t, open_arena, close_arena);
    tcase_add_test(t, a_forwarded_request_shows_path_query_host_and_the_hosts_id);
    tcase_add_test(t, a_body_of_all_byte_values_is_not_touched);
    tcase_add_loop_test(t, a_query_string_gives_exactly_its_pairs, 0, COUNT(queries));
    tcase_add_test(t, a_flag_is_present_and_empty);
    tcase_add_test(t, of_too_many_pairs_the_first_1024_are_kept);
    tcase_add_test(t, params_of_the_route_are_found_by_name);
    tcase_add_test(t, plain_http_has_neither_inputs_nor_metadata);
    tcase_add_loop_test(t, the_invocation_id_is_the_last_element, 0, COUNT(invocations));
    tcase_add_test(t, an_id_is_made_up_where_the_host_gave_none);
    tcase_add_loop_test(t, the_trace_id_is_that_of_a_strictly_valid_traceparent, 0, COUNT(traces));
    tcase_add_test(t, of_two_traceparents_none_is_believed);
    tcase_add_loop_test(t, the_text_of_a_message_is_the_same_in_every_encoding, 0, COUNT(messages));
    tcase_add_test(t, json_of_a_message_is_found_below_both_encodings);
    tcase_add_test(t, a_blob_that_does_not_exist_is_missing_and_not_four_letters);
    tcase_add_test(t, binary_input_is_decoded_from_base64);
    tcase_add_test(t, a_number_in_metadata_is_read_from_every_encoding);
    tcase_add_test(t, metadata_is_found_in_any_case_and_decoded);
    tcase_add_test(t, the_retry_context_has_numbers);
    tcase_add_test(t, a_request_survives_every_failing_allocation);
    tcase_add_test(t, inputs_and_metadata_survive_every_failing_allocation);
    suite_add_tcase(s, t);
    return s;
}
