/* test_roots.c -- other apps: modes of host.json, prefixes, and files that are wrong (spec 1.1, 5.1, 6).
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/e2e.h"

#define LIST(...)  ((const char *const[]){__VA_ARGS__, NULL})
#define INVOCATION "X-Azure-Functions-InvocationId: 11111111-2222-4333-8444-555555555555\r\n"

static const char http_bindings[] =
    "{\"bindings\":[{\"type\":\"httpTrigger\",\"direction\":\"in\",\"name\":\"req\",\"authLevel\":"
    "\"anonymous\""
    ",\"route\":\"%s\"},{\"type\":\"http\",\"direction\":\"out\",\"name\":\"res\"}]}";

static const char *http_function(const char *route)
{
    return arena_strf(scratch(), http_bindings, route).at;
}

static str message(const char *text)
{
    return arena_strf(scratch(), "{\"Data\":{\"msg\":\"\\\"%s\\\"\"},\"Metadata\":{}}", text);
}

static const char hello_envelope[] =
    "{\"Data\":{\"req\":{\"Url\":\"https://app.example/api/hello?name=Bob\",\"Method\":\"GET\","
    "\"Query\":{\"name\":\"Bob\"},\"Headers\":{},\"Params\":{}}},\"Metadata\":{}}";

/* HOST-44: an outside caller could have sent this, and the host would have forwarded it to the catch-all. */
START_TEST(with_an_empty_prefix_a_catch_all_route_keeps_outside_callers_from_a_queue_function)
{
    const char *root = root_copy();
    root_write(root, "host.json", root_host_json("", "\"enableForwardingHttpRequest\":true"));
    root_write(root, "world/function.json", http_function("{*path}"));
    server s = server_start(&(server_spec){.root = root});
    ck_assert(process_says(s.proc, "hides function", E2E_LIMIT_MS)); /* the author is told */

    answer a = invoke(s.port, "onmsg", message("from outside"), BY_LENGTH);
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "function"), "world");
    ck_assert_str_is(text_at(answer_json(&a), "path"), "/onmsg");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* HOST-44 */
START_TEST(with_an_empty_prefix_a_queue_function_that_no_route_matches_is_still_called)
{
    const char *root = root_copy();
    root_write(root, "host.json", root_host_json("", "\"enableForwardingHttpRequest\":true"));
    server s = server_start(&(server_spec){.root = root});
    ck_assert_status(client_call(s.port, "GET", "/hello", INVOCATION, (str){0}), 200);
    answer a = invoke(s.port, "onmsg", message("hi"), BY_CHUNKS);
    ck_assert_str_is(text_at(seen_of(&a), "text"), "hi");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* HOST-2, HOST-44: the ping has no invocation id; a forwarded GET / has one (spec 2). */
START_TEST(with_an_empty_prefix_and_a_catch_all_route_the_function_gets_the_root_path)
{
    const char *root = root_copy();
    root_write(root, "host.json", root_host_json("", "\"enableForwardingHttpRequest\":true"));
    root_write(root, "world/function.json", http_function("{*path}"));
    server s = server_start(&(server_spec){.root = root});
    answer a = client_call(s.port, "GET", "/", INVOCATION, (str){0});
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "path"), "/");
    answer ping = client_get(s.port, "/");
    ck_assert_status(ping, 200);
    ck_assert(!str_has(ping.body, STR("\"path\"")));
}
END_TEST

/* HOST-7: without forwarding every function is called by its name, with an envelope. */
START_TEST(without_forwarding_an_http_function_is_called_with_an_envelope)
{
    const char *root = root_copy();
    root_write(root, "host.json", root_host_json("api", ""));
    server s = server_start(&(server_spec){.root = root});
    answer a = invoke(s.port, "hello", str_of(hello_envelope), BY_CHUNKS);
    ck_assert_status(a, 200);
    ck_assert_int_eq(int_at(answer_json(&a), "Outputs/res/statusCode"), 200);
    ck_assert_str_is(text_at(json_of(text_at(answer_json(&a), "Outputs/res/body")), "path"), "/api/hello");
}
END_TEST

/* Spec 5.2: the path is the function's name, and the route has no say. */
START_TEST(with_the_old_http_worker_section_plain_requests_come_to_the_functions_name)
{
    const char *root = root_copy();
    root_write(root, "host.json",
               "{\"version\":\"2.0\",\"httpWorker\":{\"description\":{\"defaultExecutablePath\":\"x\"}}}");
    server s = server_start(&(server_spec){.root = root});
    answer a = client_call(s.port, "GET", "/hello?name=Bob", INVOCATION, (str){0});
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "path"), "/hello");
    ck_assert_status(client_call(s.port, "GET", "/nosuch", INVOCATION, (str){0}), 404);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* HOST-36, HOST-41, HOST-45: what only the newer mode of the host sends. */
START_TEST(with_proxying_a_chunked_body_a_raw_query_and_a_stream_pass)
{
    const char *root = root_copy();
    root_write(root, "host.json", root_host_json("api", "\"enableProxyingHttpRequest\":true"));
    server  s = server_start(&(server_spec){.root = root});
    client *c = client_open(s.port);
    ck_assert(client_sendf(c, "POST /api/hello?a=1&a=2 HTTP/1.1\r\nHost: app.example\r\n" INVOCATION
                              "x-ms-invocation-id: 11111111-2222-4333-8444-555555555555\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    answer a = client_answer(c);
    ck_assert_status(a, 200);
    ck_assert_str_is(text_at(answer_json(&a), "body"), "abc");
    ck_assert_uint_eq(json_len(json_path(answer_json(&a), "query")), 2);
    ck_assert(client_sendf(c, "GET /api/stream/3/1 HTTP/1.1\r\nHost: a\r\n" INVOCATION "\r\n"));
    ck_assert_str_is(client_answer(c).body, "piece 0\npiece 1\npiece 2\n");
    client_close(c);

    answer q = invoke(s.port, "onmsg", message("hi"), BY_CHUNKS); /* other triggers: as ever */
    ck_assert_str_is(text_at(seen_of(&q), "text"), "hi");
}
END_TEST

static str function_at(const server *s, const char *target)
{
    answer a = client_call(s->port, "GET", target, INVOCATION, (str){0});
    ck_assert_status(a, 200);
    return text_at(answer_json(&a), "function");
}

/* Spec 6.4, HOST-56: by name, not by how well a template fits. */
START_TEST(the_function_that_sorts_first_gets_a_path_that_two_routes_match)
{
    const char *root = root_copy();
    root_write(root, "hello/function.json", http_function("things/recent"));
    root_write(root, "world/function.json", http_function("things/{id}"));
    root_write(root, "echo/function.json", http_function("numbers/{n:int}"));
    server s = server_start(&(server_spec){.root = root});
    ck_assert_str_is(function_at(&s, "/api/things/recent"), "hello");
    ck_assert_str_is(function_at(&s, "/api/things/other"), "world");
    ck_assert_status(client_call(s.port, "GET", "/api/numbers/12", INVOCATION, (str){0}), 200);
    ck_assert_status(client_call(s.port, "GET", "/api/numbers/twelve", INVOCATION, (str){0}), 404);
}
END_TEST

/* HOST-56: a route that the host would never reach is a mistake that is told before anything listens. */
START_TEST(a_route_that_an_earlier_name_hides_ends_it_with_one_line)
{
    const char *root = root_copy();
    root_write(root, "hello/function.json", http_function("things/{id}"));
    root_write(root, "world/function.json", http_function("things/recent"));
    const char *port = textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", e2e_free_port());
    outcome     o = e2e_run(e2e_app(), LIST("--root", root), LIST(port), NULL);
    ck_assert_int_eq(o.status, 1);
    ck_assert_holds(o.err, "'hello'");
    ck_assert_holds(o.err, "'world'");
}
END_TEST

typedef struct {
    const char *file, *text; /* NULL text: the folder is removed */
    const char *says[2];
} broken_case;

static const broken_case broken[] = {
    {"host.json", "{", {"host.json", NULL}},
    {"host.json", "[]", {"host.json", NULL}},
    {"host.json",
     "{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":[]}}}",
     {"host.json", "routePrefix"}},
    {"host.json",
     "{\"version\":\"2.0\",\"customHandler\":{\"enableForwardingHttpRequest\":\"perhaps\"}}",
     {"host.json", "enableForwardingHttpRequest"}},
    {"hello/function.json", "{\"bindings\":", {"hello/function.json", NULL}},
    {"hello/function.json", "", {"hello/function.json", NULL}},
    {"hello/function.json", "{}", {"hello/function.json", "bindings"}},
    {"hello/function.json", "{\"bindings\":[]}", {"hello/function.json", NULL}},
    {"hello/function.json", "{\"bindings\":[{\"type\":\"httpTrigger\"}]}", {"hello/function.json", NULL}},
    {"tick/function.json",
     "{\"bindings\":[{\"type\":\"timerTrigger\",\"direction\":\"in\",\"name\":\"t\"}]}",
     {"tick/function.json", "schedule"}},
    {"hello", NULL, {"hello", NULL}},
    {"stranger/function.json",
     "{\"bindings\":[{\"type\":\"queueTrigger\",\"direction\":\"in\",\"name\":\"m\",\"queueName\":\"q\"}]}",
     {"stranger", NULL}},
};

/* Nothing listens on a broken app; the line names the file, and what of it. */
START_TEST(a_broken_file_or_a_missing_partner_ends_it_with_one_line)
{
    const broken_case *c = &broken[_i];
    const char        *root = root_copy();
    if (c->text != NULL)
        root_write(root, c->file, c->text);
    else
        root_remove(root, c->file);
    const char *port = textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", e2e_free_port());
    outcome     o = e2e_run(e2e_app(), LIST("--root", root), LIST(port), NULL);
    ck_assert_int_eq(o.status, 1);
    ck_assert(str_starts(o.err, STR("trestle: ")));
    ck_assert_msg(str_find_char(o.err, '\n') == o.err.len - 1, "more than one line: %.*s", STR_ARG(o.err));
    for (size_t i = 0; i < 2 && c->says[i] != NULL; i++)
        ck_assert_holds(o.err, c->says[i]);
}
END_TEST

static const char *const bad_routes[] = {
    "{",       "{id",         "a/{id}/{id}",    "{*rest}/after",      "admin/things",
    "runtime", "{id:nosuch}", "administrators", "things/{id?}/more{",
};

/* HOST-56: routes that the host would refuse, or that we could not match, are refused here too. */
START_TEST(a_route_that_the_host_would_refuse_ends_it_with_one_line)
{
    const char *root = root_copy();
    root_write(root, "hello/function.json", http_function(bad_routes[_i]));
    /* An empty prefix, for with another the host checks the whole. */
    root_write(root, "host.json", root_host_json("", "\"enableForwardingHttpRequest\":true"));
    const char *port = textf("FUNCTIONS_CUSTOMHANDLER_PORT=%d", e2e_free_port());
    outcome     o = e2e_run(e2e_app(), LIST("--root", root), LIST(port), NULL);
    ck_assert_int_eq(o.status, 1);
    ck_assert_holds(o.err, "hello");
    ck_assert_msg(str_find_char(o.err, '\n') == o.err.len - 1, "more than one line: %.*s", STR_ARG(o.err));
}
END_TEST

/* HOST-25: a setting can switch a function off (AzureWebJobs.NAME.Disabled). */
START_TEST(a_function_that_a_setting_disables_is_404)
{
    server s = server_start(&(server_spec){.env = LIST("AzureWebJobs.hello.Disabled=true")});
    ck_assert_status(client_get(s.port, "/api/hello"), 404);
    ck_assert_status(client_get(s.port, "/api/stats"), 200);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_roots");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_test(tc, with_an_empty_prefix_a_catch_all_route_keeps_outside_callers_from_a_queue_function);
    tcase_add_test(tc, with_an_empty_prefix_a_queue_function_that_no_route_matches_is_still_called);
    tcase_add_test(tc, with_an_empty_prefix_and_a_catch_all_route_the_function_gets_the_root_path);
    tcase_add_test(tc, without_forwarding_an_http_function_is_called_with_an_envelope);
    tcase_add_test(tc, with_the_old_http_worker_section_plain_requests_come_to_the_functions_name);
    tcase_add_test(tc, with_proxying_a_chunked_body_a_raw_query_and_a_stream_pass);
    tcase_add_test(tc, the_function_that_sorts_first_gets_a_path_that_two_routes_match);
    tcase_add_test(tc, a_route_that_an_earlier_name_hides_ends_it_with_one_line);
    tcase_add_loop_test(tc, a_broken_file_or_a_missing_partner_ends_it_with_one_line, 0,
                        sizeof broken / sizeof *broken);
    tcase_add_loop_test(tc, a_route_that_the_host_would_refuse_ends_it_with_one_line, 0,
                        sizeof bad_routes / sizeof *bad_routes);
    tcase_add_test(tc, a_function_that_a_setting_disables_is_404);
    return s;
}

int main(void)
{
    return e2e_main("e2e_roots", suite);
}
