/* test_standalone.c -- without the host: we route, check keys, run timers and answer CORS ourselves.
 *
 * SPDX-License-Identifier: MIT */
#include "e2e/e2e.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define KEY       "k3y-that-nobody-should-see"

static const char with_cors[] = "{\"IsEncrypted\":false,\"Values\":{\"TRESTLE_ACCESS_LOG\":\"1\"},"
                                "\"Host\":{\"CORS\":\"%s\",\"CORSCredentials\":%s}}";

START_TEST(the_banner_lists_functions_and_one_line_to_try)
{
    server s = server_start(&(server_spec){.real = true, .standalone = true});
    str    out = process_out(s.proc);
    ck_assert_holds(out, textf("standalone on http://127.0.0.1:%d", s.port));
    ck_assert_holds(out, textf("[GET] http://127.0.0.1:%d/api/health", s.port));
    ck_assert_holds(out, textf("curl http://127.0.0.1:%d/api/health", s.port));
    ck_assert_status(client_get(s.port, "/api/health"), 200);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(functions_are_served_by_their_routes)
{
    server s = server_start(&(server_spec){.standalone = true});
    answer a = client_call(s.port, "POST", "/api/orders/42/fast", "", STR("body"));
    ck_assert_status(a, 201); /* plain HTTP, also for a function that the host would send an envelope */
    ck_assert_str_is(text_at(answer_json(&a), "oid"), "42");
    ck_assert_str_is(text_at(answer_json(&a), "body"), "body");
    ck_assert_uint_ge(text_at(answer_json(&a), "invocation").len, 36);
    ck_assert_status(client_get(s.port, "/api/nowhere"), 404);
    ck_assert_status(client_get(s.port, "/api/off"), 404);
    ck_assert_status(client_get(s.port, "/"), 200);
}
END_TEST

START_TEST(a_method_that_no_route_has_is_405_with_the_ones_it_has)
{
    server s = server_start(&(server_spec){.standalone = true});
    answer a = client_call(s.port, "DELETE", "/api/hello", "", (str){0});
    ck_assert_status(a, 405);
    ck_assert_holds(answer_header(&a, "allow"), "GET");
    ck_assert_holds(answer_header(&a, "allow"), "POST");
}
END_TEST

START_TEST(a_function_with_a_key_wants_it_in_the_header_or_the_query)
{
    server s = server_start(&(server_spec){.standalone = true, .env = LIST("TRESTLE_FUNCTION_KEY=" KEY)});
    answer a = client_get(s.port, "/api/secret");
    ck_assert_status(a, 401);
    ck_assert_str_is(text_at(answer_json(&a), "error"), "unauthenticated");
    ck_assert_holds(text_at(answer_json(&a), "message"), "x-functions-key");
    ck_assert_status(client_get(s.port, "/api/secret?code=" KEY "x"), 401);
    ck_assert_status(client_get(s.port, "/api/secret?code="), 401);
    ck_assert_status(
        client_call(s.port, "GET", "/api/secret?code=" KEY, "x-functions-key: wrong\r\n", (str){0}), 401);
    ck_assert_status(client_get(s.port, "/api/secret?code=" KEY), 200);
    ck_assert_status(client_call(s.port, "GET", "/api/secret", "X-Functions-Key: " KEY "\r\n", (str){0}),
                     200);
    ck_assert_status(client_get(s.port, "/api/hello"), 200); /* anonymous */
    ck_assert_status(client_call(s.port, "POST", "/tick", "", STR("")), 401);
    ck_assert_status(client_call(s.port, "POST", "/tick", "x-functions-key: " KEY "\r\n", STR("")), 200);
    ck_assert_int_eq(server_stop(&s), 0);
    ck_assert(!str_has(process_out(s.proc), STR(KEY)) && !str_has(process_err(s.proc), STR(KEY)));
}
END_TEST

START_TEST(without_a_key_set_all_functions_are_open_on_loopback)
{
    server s = server_start(&(server_spec){.standalone = true});
    ck_assert_status(client_get(s.port, "/api/secret"), 200);
}
END_TEST

/* On an address that others can reach a key is demanded; with it, it listens there. */
START_TEST(with_a_key_it_listens_on_every_address)
{
    const char *root = textf("%s/tests/e2e/app", e2e_source());
    process    *p = process_start(&(process_spec){
           .args = LIST(e2e_app(), "--root", root, "--port", "0", "--listen", "0.0.0.0", "--data", root_empty()),
           .env = LIST("TRESTLE_FUNCTION_KEY=" KEY)});
    ck_assert(process_says(p, "standalone on http://0.0.0.0:", E2E_LIMIT_MS));
    ck_assert(process_alive(p));
}
END_TEST

static const char *root_with_schedule(const char *schedule, const char *more)
{
    const char *root = root_copy();
    root_write(root, "tick/function.json",
               textf("{\"bindings\":[{\"type\":\"timerTrigger\",\"direction\":\"in\",\"name\":\"tick\","
                     "\"schedule\":\"%s\"%s},{\"type\":\"queue\",\"direction\":\"out\",\"name\":\"seen\","
                     "\"queueName\":\"seen\"}]}",
                     schedule, more));
    return root;
}

static size_t ticks(const server *s)
{
    str    out = process_out(s->proc), mark = STR("\"tick runs\"");
    size_t n = 0;
    for (size_t at; (at = str_find(out, mark)) < out.len; out = str_from(out, at + mark.len))
        n++;
    return n;
}

static bool ticks_reach(const server *s, size_t wanted)
{
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (ticks(s) < wanted && process_now_ms() < until)
        for (int i = 0; i < 10; i++)
            process_pause();
    return ticks(s) >= wanted;
}

START_TEST(a_timer_runs_by_its_schedule)
{
    server s =
        server_start(&(server_spec){.standalone = true, .root = root_with_schedule("* * * * * *", "")});
    ck_assert(ticks_reach(&s, 2));
    ck_assert_holds(process_out(s.proc), "\"function\":\"tick\"");
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* The schedule may be a setting, and the setting may stand in local.settings.json. */
START_TEST(a_schedule_may_be_a_setting_of_the_file)
{
    const char *root = root_with_schedule("%MY_SCHEDULE%", "");
    root_write(root, "local.settings.json",
               "{\"IsEncrypted\":false,\"Values\":{\"MY_SCHEDULE\":\"* * * * * *\",\"MY_OTHER\":\"file\"}}");
    server s = server_start(&(server_spec){.standalone = true, .root = root});
    ck_assert(ticks_reach(&s, 1));
    ck_assert_int_eq(server_stop(&s), 0);

    /* The environment wins over the file: now it runs once a year, and so not here. */
    server t = server_start(
        &(server_spec){.standalone = true, .root = root, .env = LIST("MY_SCHEDULE=0 0 0 1 1 *")});
    ck_assert(!process_says(t.proc, "\"tick runs\"", 1500));
    ck_assert_int_eq(server_stop(&t), 0);
}
END_TEST

START_TEST(a_timer_runs_once_at_start_if_it_is_told_to)
{
    const char *root = root_with_schedule("0 0 0 1 1 *", ",\"runOnStartup\":true");
    server      s = server_start(&(server_spec){.standalone = true, .root = root});
    ck_assert(ticks_reach(&s, 1));
    ck_assert_uint_eq(ticks(&s), 1);
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

START_TEST(a_timer_and_a_queue_function_can_be_started_by_hand)
{
    server s = server_start(&(server_spec){.standalone = true});
    answer a = client_call(s.port, "POST", "/tick", "", STR(""));
    ck_assert(!json_truth(json_path(seen_of(&a), "past_due"), true));
    ck_assert(process_says(s.proc, "\"tick runs\"", E2E_LIMIT_MS));
    answer b = client_call(s.port, "POST", "/onmsg", "",
                           STR("{\"Data\":{\"msg\":\"\\\"by hand\\\"\"},\"Metadata\":{}}"));
    ck_assert_str_is(text_at(seen_of(&b), "text"), "by hand");
    ck_assert_status(client_call(s.port, "POST", "/onmsg", "", STR("{")), 400);
}
END_TEST

START_TEST(a_schedule_that_cannot_be_read_ends_it_with_one_line)
{
    static const char *const bad[] = {"* * * * *x", "99 * * * * *", "every day", "0 0 0 31 2 *",
                                      "0 %NOT_SET% * * * *"};
    const char              *root = root_with_schedule(bad[_i], "");
    outcome                  o = e2e_run(e2e_app(), LIST("--port", "0", "--root", root), NULL, NULL);
    ck_assert_int_eq(o.status, 1);
    ck_assert_holds(o.err, "tick/function.json");
    ck_assert_msg(str_find_char(o.err, '\n') == o.err.len - 1, "more than one line: %.*s", STR_ARG(o.err));
}
END_TEST

/* As under the host: it is left out, and the others are served. */
START_TEST(a_timer_whose_setting_is_missing_is_left_out_with_a_line)
{
    server_spec spec = {.root = root_with_schedule("%NOT_SET%", ""), .standalone = true};
    server      s = server_start(&spec);
    ck_assert_holds(process_err(s.proc), "NOT_SET");
    ck_assert_int_eq(client_call(s.port, "POST", "/tick", "", STR("")).status, 404);
    ck_assert_int_eq(client_get(s.port, "/api/hello").status, 200);
}
END_TEST

START_TEST(the_programs_own_settings_may_stand_in_the_settings_file_too)
{
    const char *root = root_copy();
    root_write(root, "local.settings.json",
               "{\"Values\":{\"TRESTLE_LOG_LEVEL\":\"chatty\"},\"Host\":{\"LocalHttpPort\":24999}}");
    outcome o = e2e_run(e2e_app(), LIST("--root", root), NULL, NULL);
    ck_assert_int_eq(o.status, 2);
    ck_assert_holds(o.err, "TRESTLE_LOG_LEVEL is 'chatty'");

    outcome over = e2e_run(e2e_app(), LIST("routes", "--root", root), LIST("TRESTLE_LOG_LEVEL=info"), NULL);
    ck_assert_int_eq(over.status, 0); /* the environment wins over the file */
    ck_assert_holds(over.out, "http://127.0.0.1:24999/");
    outcome told = e2e_run(e2e_app(), LIST("routes", "--port", "24998", "--root", root),
                           LIST("TRESTLE_LOG_LEVEL=info"), NULL);
    ck_assert_holds(told.out, "http://127.0.0.1:24998/"); /* and the command line over both */
}
END_TEST

START_TEST(a_local_settings_file_that_is_not_json_ends_it_with_one_line)
{
    const char *root = root_copy();
    root_write(root, "local.settings.json", "{\"Values\":");
    outcome o = e2e_run(e2e_app(), LIST("--port", "0", "--root", root), NULL, NULL);
    ck_assert_int_eq(o.status, 1);
    ck_assert_holds(o.err, "local.settings.json");
}
END_TEST

#define PREFLIGHT "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: x-mine\r\n"

START_TEST(a_preflight_is_answered_for_allowed_origins_alone)
{
    const char *root = root_copy();
    root_write(root, "local.settings.json",
               arena_strf(scratch(), with_cors, "https://one.example, https://two.example", "true").at);
    server s = server_start(&(server_spec){.standalone = true, .root = root});
    answer a =
        client_call(s.port, "OPTIONS", "/api/hello", "Origin: https://two.example\r\n" PREFLIGHT, (str){0});
    ck_assert_status(a, 204);
    ck_assert_str_is(answer_header(&a, "access-control-allow-origin"), "https://two.example");
    ck_assert_str_is(answer_header(&a, "access-control-allow-credentials"), "true");
    ck_assert_str_is(answer_header(&a, "access-control-allow-methods"), "POST");
    ck_assert_str_is(answer_header(&a, "access-control-allow-headers"), "x-mine");
    answer b =
        client_call(s.port, "OPTIONS", "/api/hello", "Origin: https://evil.example\r\n" PREFLIGHT, (str){0});
    ck_assert_ptr_null(answer_header(&b, "access-control-allow-origin").at);

    answer d = client_call(s.port, "GET", "/api/hello", "Origin: https://one.example\r\n", (str){0});
    ck_assert_status(d, 200);
    ck_assert_str_is(answer_header(&d, "access-control-allow-origin"), "https://one.example");
    ck_assert_str_is(answer_header(&d, "vary"), "Origin");
    answer e = client_call(s.port, "GET", "/api/nowhere", "Origin: https://one.example\r\n", (str){0});
    ck_assert_status(e, 404); /* a page may read why */
    ck_assert_str_is(answer_header(&e, "access-control-allow-origin"), "https://one.example");
}
END_TEST

START_TEST(a_stream_carries_the_headers_of_cors_too)
{
    const char *root = root_copy();
    root_write(root, "local.settings.json", arena_strf(scratch(), with_cors, "*", "false").at);
    server s = server_start(&(server_spec){.standalone = true, .root = root});
    answer a = client_call(s.port, "GET", "/api/stream/2/0", "Origin: https://any.example\r\n", (str){0});
    ck_assert_status(a, 200);
    ck_assert_str_is(answer_header(&a, "access-control-allow-origin"), "*");
}
END_TEST

/* Under the host it is the host that answers CORS and checks keys. */
START_TEST(under_the_host_neither_keys_nor_cors_are_ours)
{
    const char *root = root_copy();
    root_write(root, "local.settings.json", arena_strf(scratch(), with_cors, "*", "false").at);
    server s = server_start(&(server_spec){.root = root, .env = LIST("TRESTLE_FUNCTION_KEY=" KEY)});
    answer a = client_call(s.port, "GET", "/api/secret", "Origin: https://any.example\r\n", (str){0});
    ck_assert_status(a, 200);
    ck_assert_ptr_null(answer_header(&a, "access-control-allow-origin").at);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_standalone");
    TCase *tc = e2e_add_alone(s, "alone");
    tcase_add_test(tc, the_banner_lists_functions_and_one_line_to_try);
    tcase_add_test(tc, functions_are_served_by_their_routes);
    tcase_add_test(tc, a_method_that_no_route_has_is_405_with_the_ones_it_has);
    tcase_add_test(tc, a_function_with_a_key_wants_it_in_the_header_or_the_query);
    tcase_add_test(tc, without_a_key_set_all_functions_are_open_on_loopback);
    tcase_add_test(tc, with_a_key_it_listens_on_every_address);
    tcase_add_test(tc, a_timer_runs_by_its_schedule);
    tcase_add_test(tc, a_schedule_may_be_a_setting_of_the_file);
    tcase_add_test(tc, a_timer_runs_once_at_start_if_it_is_told_to);
    tcase_add_test(tc, a_timer_and_a_queue_function_can_be_started_by_hand);
    tcase_add_loop_test(tc, a_schedule_that_cannot_be_read_ends_it_with_one_line, 0, 5);
    tcase_add_test(tc, a_timer_whose_setting_is_missing_is_left_out_with_a_line);
    tcase_add_test(tc, the_programs_own_settings_may_stand_in_the_settings_file_too);
    tcase_add_test(tc, a_local_settings_file_that_is_not_json_ends_it_with_one_line);
    tcase_add_test(tc, a_preflight_is_answered_for_allowed_origins_alone);
    tcase_add_test(tc, a_stream_carries_the_headers_of_cors_too);
    tcase_add_test(tc, under_the_host_neither_keys_nor_cors_are_ours);
    return s;
}

int main(void)
{
    return e2e_main("e2e_standalone", suite);
}
