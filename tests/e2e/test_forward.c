/* test_forward.c -- forwarding and proxying: plain HTTP from outside, passed on by the host (spec 5).
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <string.h>

#include "e2e/e2e.h"

#define INVOCATION "X-Azure-Functions-InvocationId: 11111111-2222-4333-8444-555555555555\r\n"

static str pair_value(const json_val *list, const char *name)
{
    for (json_iter it = json_each(list); json_next(&it);)
        if (str_eq_nocase(json_text(json_at(it.value, 0), (str){0}), str_of(name)))
            return json_text(json_at(it.value, 1), (str){0});
    return (str){0};
}

static const json_val *hello(const char *method, const char *target, const char *head)
{
    answer a = client_call(shared.port, method, target, head, (str){0});
    ck_assert_status(a, 200);
    return answer_json(&a);
}

/* HOST-31 */
START_TEST(a_forwarded_request_keeps_path_query_host_and_id)
{
    const json_val *seen = hello("GET", "/api/hello?name=Bob", INVOCATION "X-Forwarded-For: 1.2.3.4\r\n");
    ck_assert_str_is(text_at(seen, "method"), "GET");
    ck_assert_str_is(text_at(seen, "path"), "/api/hello");
    ck_assert_str_is(text_at(seen, "host"), "app.example");
    ck_assert_str_is(pair_value(json_path(seen, "query"), "name"), "Bob");
    ck_assert_str_is(pair_value(json_path(seen, "headers"), "x-forwarded-for"), "1.2.3.4");
    ck_assert_str_is(text_at(seen, "invocation"), "11111111-2222-4333-8444-555555555555");
}
END_TEST

static str every_byte(void)
{
    char *bytes = arena_alloc(scratch(), 256);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    return (str){bytes, 256};
}

/* HOST-32 */
START_TEST(a_body_of_all_byte_values_is_passed_exactly)
{
    answer a = client_call(shared.port, "POST", "/api/echo", INVOCATION "Content-Type: application/x-all\r\n",
                           every_byte());
    ck_assert_status(a, 200);
    ck_assert(str_eq(a.body, every_byte()));
    ck_assert_str_is(answer_header(&a, "content-type"), "application/x-all");
}
END_TEST

/* HOST-32, HOST-27: as large as the function allows; one byte more is 413. */
START_TEST(a_body_of_32_megabytes_comes_back_and_a_larger_one_is_413)
{
    size_t size = 32 * MIB;
    char  *bytes = arena_alloc(scratch(), size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 + i / 65536);
    answer a = client_call(shared.port, "POST", "/api/echo", INVOCATION, (str){bytes, size});
    ck_assert_status(a, 200);
    ck_assert(str_eq(a.body, (str){bytes, size}));

    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", size + 1));
    ck_assert_status(client_answer(c), 413);
    client_close(c);
}
END_TEST

/* HOST-33: a caller may have sent such a header itself; the host appends, in one line or as a second. */
START_TEST(the_last_invocation_id_counts)
{
    const json_val *seen = hello("GET", "/api/hello", "X-Azure-Functions-InvocationId: fake, real\r\n");
    ck_assert_str_is(text_at(seen, "invocation"), "real");
    seen = hello("GET", "/api/hello",
                 "X-Azure-Functions-InvocationId: fake\r\nX-Azure-Functions-InvocationId: real\r\n");
    ck_assert_str_is(text_at(seen, "invocation"), "real");
}
END_TEST

/* HOST-34 */
START_TEST(any_user_agent_and_none_are_fine)
{
    const json_val *seen =
        hello("GET", "/api/hello", INVOCATION "User-Agent: curl/8 Azure-Functions-Host/4.1.0.0\r\n");
    ck_assert_str_is(pair_value(json_path(seen, "headers"), "user-agent"),
                     "curl/8 Azure-Functions-Host/4.1.0.0");
    seen = hello("GET", "/api/hello", INVOCATION);
    ck_assert_ptr_null(pair_value(json_path(seen, "headers"), "user-agent").at);
}
END_TEST

/* HOST-31: the W3C header is used if it is well-formed, and never required (spec 8.5). */
START_TEST(a_trace_id_is_taken_from_a_good_traceparent_alone)
{
    const json_val *seen =
        hello("GET", "/api/hello",
              INVOCATION "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
    ck_assert_str_is(text_at(seen, "trace"), "0af7651916cd43dd8448eb211c80319c");
    seen = hello("GET", "/api/hello", INVOCATION "traceparent: 00-0000-b7-01\r\n");
    ck_assert_str_is(text_at(seen, "trace"), "11111111-2222-4333-8444-555555555555");
}
END_TEST

/* HOST-35 */
START_TEST(an_expected_continue_comes_before_the_body_and_the_answer_after)
{
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "POST /api/echo HTTP/1.1\r\nHost: a\r\n" INVOCATION
                              "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
    ck_assert_int_eq(client_answer(c).status, 100);
    ck_assert(client_silent(c, 50));
    ck_assert(client_send(c, STR("later")));
    answer a = client_answer(c);
    ck_assert_status(a, 200);
    ck_assert_str_is(a.body, "later");
    client_close(c);
}
END_TEST

/* HOST-35 */
START_TEST(a_body_that_will_be_refused_is_not_asked_for)
{
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "POST /api/hello HTTP/1.1\r\nHost: a\r\n" INVOCATION
                              "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n"));
    ck_assert_status(client_answer(c), 413);
    client_close(c);
}
END_TEST

/* HOST-36 */
START_TEST(a_chunked_body_is_complete)
{
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "5;name=value\r\nfirst\r\n1\r\n,\r\n7\r\n second\r\n0\r\nTrailer: x\r\n\r\n"));
    answer a = client_answer(c);
    ck_assert_status(a, 200);
    ck_assert_str_is(a.body, "first, second");
    client_close(c);
}
END_TEST

static const char *const two_framings[] = {
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: chunked, gzip",
    "Transfer-Encoding: xchunked",
};

/* HOST-36, HOST-37 */
START_TEST(a_body_framed_in_two_ways_or_coded_is_refused_and_the_connection_ends)
{
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c,
                           "POST /api/echo HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                           "GET /api/hello HTTP/1.1\r\nHost: smuggled\r\n\r\n",
                           two_framings[_i]));
    answer a = client_answer(c);
    ck_assert_msg(a.status == 400 || a.status == 501, "%s gives %d", two_framings[_i], a.status);
    ck_assert(answer_closes(&a));
    ck_assert(client_closed(c));
    client_close(c);
}
END_TEST

typedef struct {
    int         status;
    const char *query, *header, *value;
} status_case;

static const status_case statuses[] = {
    {500, "", NULL, NULL},
    {404, "?X-Why=none", "x-why", "none"},
    {302, "?Location=%2Felsewhere", "location", "/elsewhere"},
    {418, "", NULL, NULL},
    {599, "", NULL, NULL},
};

/* HOST-38 */
START_TEST(any_status_passes_with_its_body_and_headers)
{
    const status_case *c = &statuses[_i];
    answer             a =
        client_call(shared.port, "GET", textf("/api/status/%d%s", c->status, c->query), INVOCATION, (str){0});
    ck_assert_status(a, c->status);
    ck_assert_str_is(a.body, textf("status %d\n", c->status));
    if (c->header != NULL)
        ck_assert_str_is(answer_header(&a, c->header), c->value);
}
END_TEST

/* HOST-38 */
START_TEST(two_cookies_stay_two_lines)
{
    answer a = client_get(shared.port, "/api/status/200?Set-Cookie=a%3D1&Set-Cookie=b%3D2");
    ck_assert_status(a, 200);
    ck_assert_uint_eq(answer_count(&a, "set-cookie"), 2);
    ck_assert_holds(a.head, "\r\nSet-Cookie: a=1\r\n");
    ck_assert_holds(a.head, "\r\nSet-Cookie: b=2\r\n");
}
END_TEST

/* HOST-39 */
START_TEST(a_head_answer_has_no_body_and_the_next_request_is_read)
{
    static const char *const targets[] = {"/api/hello", "/api/status/404", "/api/stream/2/0", "/api/nowhere"};
    client                  *c = client_open(shared.port);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        ck_assert(client_sendf(c, "HEAD %s HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n", targets[i]));
        ck_assert_int_ge(client_answer_to_head(c).status, 200);
        ck_assert(client_sendf(c, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
        ck_assert_status(client_answer(c), 200); /* a byte of a body would stand in its way */
    }
    client_close(c);
}
END_TEST

/* HOST-39: the length is that of the body which GET would have had. */
START_TEST(a_head_answer_may_tell_the_length_of_the_absent_body)
{
    answer  with = client_get(shared.port, "/api/status/200");
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "HEAD /api/status/200 HTTP/1.1\r\nHost: a\r\n\r\n"));
    answer a = client_answer_to_head(c);
    ck_assert_int_eq(a.status, 200);
    if (a.sized)
        ck_assert_str_is(answer_header(&a, "content-length"), textf("%zu", with.body.len));
    client_close(c);
}
END_TEST

/* HOST-40 */
START_TEST(no_content_and_not_modified_have_no_body_and_no_length_of_one)
{
    static const int codes[] = {204, 304};
    client          *c = client_open(shared.port);
    for (size_t i = 0; i < 2; i++) {
        ck_assert(client_sendf(c, "GET /api/status/%d HTTP/1.1\r\nHost: a\r\n\r\n", codes[i]));
        answer a = client_answer(c);
        ck_assert_int_eq(a.status, codes[i]);
        ck_assert(!a.chunked);
        ck_assert(!a.sized || str_eq(answer_header(&a, "content-length"), STR("0")));
        ck_assert(client_sendf(c, "GET /api/hello HTTP/1.1\r\nHost: a\r\n\r\n"));
        ck_assert_status(client_answer(c), 200);
    }
    client_close(c);
}
END_TEST

/* HOST-41 */
START_TEST(a_merged_query_is_one_parameter_and_a_raw_one_is_two)
{
    const json_val *merged = json_path(hello("GET", "/api/hello?a=1%2C2", INVOCATION), "query");
    ck_assert_uint_eq(json_len(merged), 1);
    ck_assert_str_is(pair_value(merged, "a"), "1,2");
    const json_val *raw = json_path(hello("GET", "/api/hello?a=1&a=2", INVOCATION), "query");
    ck_assert_uint_eq(json_len(raw), 2);
    ck_assert_str_is(json_text(json_at(json_at(raw, 1), 1), (str){0}), "2");
}
END_TEST

/* HOST-42 */
START_TEST(a_path_matches_in_any_case_and_with_a_trailing_slash)
{
    const json_val *seen = hello("GET", "/api/HELLO/", INVOCATION);
    ck_assert_str_is(text_at(seen, "path"), "/api/HELLO/");
    ck_assert_str_is(text_at(seen, "function"), "hello");
}
END_TEST

/* HOST-43 */
START_TEST(envelopes_and_forwarded_requests_share_a_process_and_a_connection)
{
    client *c = client_open(shared.port);
    for (int i = 0; i < 3; i++) {
        invoke_send(c, "onmsg", STR("{\"Data\":{\"msg\":\"\\\"hi\\\"\"},\"Metadata\":{}}"), BY_CHUNKS);
        answer a = client_answer(c);
        ck_assert_str_is(text_at(seen_of(&a), "text"), "hi");
        ck_assert(client_sendf(c, "GET /api/hello HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n"));
        answer b = client_answer(c);
        ck_assert_str_is(text_at(answer_json(&b), "path"), "/api/hello");
    }
    client_close(c);
}
END_TEST

/* HOST-44: with a prefix, a function that is forwarded is not reached by its bare name, nor one that is not
 * by an outside path. */
START_TEST(a_forwarded_function_has_no_name_path_and_a_queue_function_no_route)
{
    ck_assert_status(client_call(shared.port, "POST", "/hello", INVOCATION, STR("{}")), 404);
    ck_assert_status(client_call(shared.port, "POST", "/api/onmsg", INVOCATION, STR("{}")), 404);
    /* Without the host's id it is no call of the host. */
    ck_assert_status(client_call(shared.port, "POST", "/onmsg", "", STR("{}")), 404);
    ck_assert_status(client_call(shared.port, "GET", "/onmsg", INVOCATION, (str){0}), 404);
}
END_TEST

/* HOST-45: the second piece comes a minute later; the first is here long before. */
START_TEST(a_piece_of_a_stream_is_sent_when_it_is_written)
{
    client *c = client_open(shared.port);
    ck_assert(client_sendf(c, "GET /api/stream/2/60000 HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert(client_gets(c, STR("piece 0\n")));
    ck_assert(!str_has(client_peek(c, 0), STR("piece 1")));
    client_close(c);
}
END_TEST

/* HOST-45 */
START_TEST(a_stream_arrives_whole_and_in_order)
{
    answer a = client_get(shared.port, "/api/stream/50/1?bytes=10000");
    ck_assert_status(a, 200);
    ck_assert(a.chunked);
    size_t at = 0;
    for (int i = 0; i < 50; i++) {
        str line = str_of(textf("piece %d\n", i));
        ck_assert(str_starts(str_from(a.body, at), line));
        at += line.len + 10000;
    }
    ck_assert_uint_eq(a.body.len, at);
}
END_TEST

/* HOST-45: nobody may take half for the whole. */
START_TEST(a_stream_that_fails_breaks_the_connection)
{
    client *c = client_open(shared.port);
    answer  a;
    ck_assert(client_sendf(c, "GET /api/stream/5/0?break=2 HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert(!client_answers(c, &a));
    ck_assert_holds(client_peek(c, 1), "piece 1");
    client_close(c);
}
END_TEST

static int64_t stat_of(const char *name)
{
    answer a = client_get(shared.port, "/api/stats");
    return int_at(answer_json(&a), name);
}

static bool reaches(const char *name, int64_t wanted)
{
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (stat_of(name) != wanted && process_now_ms() < until)
        process_pause();
    return stat_of(name) == wanted;
}

static size_t open_files(void)
{
    DIR   *d = opendir(textf("/proc/%d/fd", (int)process_pid(shared.proc)));
    size_t n = 0;
    ck_assert_ptr_nonnull(d);
    while (readdir(d) != NULL)
        n++;
    (void)closedir(d);
    return n;
}

/* HOST-46: while it sleeps, while it streams, while the peer does not read; by FIN and by RST. */
START_TEST(a_peer_that_leaves_cancels_its_call_and_no_file_stays_open)
{
    static const char *const targets[] = {"/api/slow/50000", "/api/stream/1000/50",
                                          "/api/stream/1000/0?bytes=50000"};
    ck_assert(reaches("running", 0));
    size_t  before = open_files();
    int64_t gone = stat_of("gone"), count = 0;
    for (int i = 0; i < 30; i++, count++) {
        client *c = client_open(shared.port);
        ck_assert(client_sendf(c, "GET %s HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n", targets[i % 3]));
        ck_assert(reaches("running", 1));
        if (i % 2 == 0)
            client_reset(c);
        else
            client_close(c);
        ck_assert(reaches("running", 0));
    }
    ck_assert_int_eq(stat_of("gone"), gone + count);
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (open_files() > before && process_now_ms() < until)
        process_pause();
    ck_assert_uint_le(open_files(), before);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_forward");
    TCase *tc = e2e_add_shared(s, "shared");
    tcase_add_test(tc, a_forwarded_request_keeps_path_query_host_and_id);
    tcase_add_test(tc, a_body_of_all_byte_values_is_passed_exactly);
    tcase_add_test(tc, a_body_of_32_megabytes_comes_back_and_a_larger_one_is_413);
    tcase_add_test(tc, the_last_invocation_id_counts);
    tcase_add_test(tc, any_user_agent_and_none_are_fine);
    tcase_add_test(tc, a_trace_id_is_taken_from_a_good_traceparent_alone);
    tcase_add_test(tc, an_expected_continue_comes_before_the_body_and_the_answer_after);
    tcase_add_test(tc, a_body_that_will_be_refused_is_not_asked_for);
    tcase_add_test(tc, a_chunked_body_is_complete);
    tcase_add_loop_test(tc, a_body_framed_in_two_ways_or_coded_is_refused_and_the_connection_ends, 0,
                        sizeof two_framings / sizeof *two_framings);
    tcase_add_loop_test(tc, any_status_passes_with_its_body_and_headers, 0,
                        sizeof statuses / sizeof *statuses);
    tcase_add_test(tc, two_cookies_stay_two_lines);
    tcase_add_test(tc, a_head_answer_has_no_body_and_the_next_request_is_read);
    tcase_add_test(tc, a_head_answer_may_tell_the_length_of_the_absent_body);
    tcase_add_test(tc, no_content_and_not_modified_have_no_body_and_no_length_of_one);
    tcase_add_test(tc, a_merged_query_is_one_parameter_and_a_raw_one_is_two);
    tcase_add_test(tc, a_path_matches_in_any_case_and_with_a_trailing_slash);
    tcase_add_test(tc, envelopes_and_forwarded_requests_share_a_process_and_a_connection);
    tcase_add_test(tc, a_forwarded_function_has_no_name_path_and_a_queue_function_no_route);
    tcase_add_test(tc, a_piece_of_a_stream_is_sent_when_it_is_written);
    tcase_add_test(tc, a_stream_arrives_whole_and_in_order);
    tcase_add_test(tc, a_stream_that_fails_breaks_the_connection);
    tcase_add_test(tc, a_peer_that_leaves_cancels_its_call_and_no_file_stays_open);
    return s;
}

int main(void)
{
    return e2e_main("e2e_forward", suite);
}
