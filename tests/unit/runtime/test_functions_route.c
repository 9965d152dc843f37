/* test_functions_route.c -- which function gets a request, and the rules that make host and handler agree on
 * it.
 *
 * HOST-42, HOST-44 (what routing has to say of it) and HOST-56.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/functions.h"
#include "runtime/route_template.h"
#include "unit/runtime/app_folder.h"
#include "unit/suites.h"

static function_app *loaded(void)
{
    function_app *app = NULL;
    str           why = STR("");
    ck_assert_msg(functions_load(a, root, NULL, 0, &app, &why) == RES_OK, "%.*s", STR_ARG(why));
    return app;
}

/* "name a=1 b=2"; "404"; "405 GET, POST". */
static const char *route(const function_app *app, const char *method, const char *path)
{
    route_match m;
    str         allow = STR("");
    res         r = functions_route(a, app, str_of(method), str_of(path), &m, &allow);
    if (r == RES_NOT_FOUND)
        return "404";
    if (r == RES_METHOD)
        return arena_strf(a, "405 %.*s", STR_ARG(allow)).at;
    ck_assert_int_eq(r, RES_OK);

    str text = m.fn->name;
    for (size_t i = 0; i < m.param_count; i++)
        text = arena_strf(a, "%.*s %.*s=%.*s", STR_ARG(text), STR_ARG(m.params[i].name),
                          STR_ARG(m.params[i].value));
    return arena_cstr(a, text);
}

/* ---- routing ---- */

/* HOST-42. */
START_TEST(a_path_in_other_letters_and_with_a_slash_behind_matches)
{
    put_http("hello", "hello", NULL);
    function_app *app = loaded();
    ck_assert_str_eq(route(app, "GET", "/api/hello"), "hello");
    ck_assert_str_eq(route(app, "GET", "/api/HELLO/"), "hello");
    ck_assert_str_eq(route(app, "GET", "/Api/Hello"), "hello");
    ck_assert_str_eq(route(app, "GET", "/hello"), "404");
    ck_assert_str_eq(route(app, "GET", "/api/hello//"), "404");
    ck_assert_str_eq(route(app, "GET", "/"), "404");
    ck_assert_str_eq(route(app, "GET", ""), "404");
    ck_assert_str_eq(route(app, "OPTIONS", "*"), "404");
}
END_TEST

/* HOST-44: the name of a queue function is no route; with an empty prefix a catch-all gets it, and with a
 * prefix not even that. */
START_TEST(the_name_of_a_queue_function_is_not_a_route)
{
    put_function("onmsg",
                 "{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"jobs\"}]}");
    put_http("web", "x/{id}", NULL);
    ck_assert_str_eq(route(loaded(), "POST", "/onmsg"), "404");

    put("host.json", "{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":\"\"}}}");
    ck_assert_str_eq(route(loaded(), "POST", "/onmsg"), "404");
    put_http("web", "{*path}", NULL);
    ck_assert_str_eq(route(loaded(), "POST", "/onmsg"), "web path=onmsg");
    ck_assert_str_eq(route(loaded(), "GET", "/"), "web");
    put("host.json", "{\"version\":\"2.0\"}");
    ck_assert_str_eq(route(loaded(), "POST", "/onmsg"), "404");
    ck_assert_str_eq(route(loaded(), "POST", "/api/onmsg"), "web path=onmsg");
}
END_TEST

START_TEST(the_route_is_the_name_unless_it_is_given)
{
    put_http("Plain", "", NULL);
    put_http("blank", "  ", NULL);
    function_app *app = loaded();
    ck_assert_str_eq(route(app, "GET", "/api/plain"), "Plain");
    ck_assert_str_eq(route(app, "GET", "/api/Blank"), "blank");
}
END_TEST

START_TEST(a_slash_before_the_route_is_ignored_with_an_empty_prefix)
{
    put("host.json", "{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":\"\"}}}");
    put_http("web", "/x", NULL);
    ck_assert_str_eq(route(loaded(), "GET", "/x"), "web");
}
END_TEST

/* Spec 6.4: a literal does not beat a parameter. */
START_TEST(the_first_name_wins_not_the_narrower_route)
{
    put_http("GetItem", "items/{id}", "\"get\"");
    put_http("GetRecent", "items/recent", "\"get\",\"put\"");
    function_app *app = loaded();
    ck_assert_str_eq(route(app, "GET", "/api/items/recent"), "GetItem id=recent");
    ck_assert_str_eq(route(app, "PUT", "/api/items/recent"), "GetRecent");
    put_http("aaRecent", "items/{x:alpha}", "\"get\"");
    ck_assert_str_eq(route(loaded(), "GET", "/api/items/recent"), "aaRecent x=recent");
    ck_assert_str_eq(route(loaded(), "GET", "/api/items/7"), "GetItem id=7");
}
END_TEST

START_TEST(a_wrong_method_is_told_all_right_ones)
{
    put_http("a", "x/{id}", "\"get\",\"delete\"");
    put_http("b", "x/y", "\"Put\",\"get\"");
    put_http("c", "x/z", NULL);
    function_app *app = loaded();
    ck_assert_str_eq(route(app, "POST", "/api/x/y"), "405 GET, DELETE, PUT");
    ck_assert_str_eq(route(app, "POST", "/api/x/1"), "405 GET, DELETE");
    ck_assert_str_eq(route(app, "HEAD", "/api/x/1"), "405 GET, DELETE"); /* not implied by GET */
    ck_assert_str_eq(route(app, "OPTIONS", "/api/x/1"), "405 GET, DELETE");
    ck_assert_str_eq(route(app, "get", "/api/x/1"), "a id=1");
    ck_assert_str_eq(route(app, "PATCH", "/api/x/z"), "c");
    ck_assert_str_eq(route(app, "POST", "/api/y"), "404");
}
END_TEST

START_TEST(an_empty_list_of_methods_never_matches)
{
    put_http("none", "x", "");
    ck_assert_str_eq(route(loaded(), "GET", "/api/x"), "404");
    put_http("some", "{a}", "\"get\"");
    ck_assert_str_eq(route(loaded(), "GET", "/api/x"), "some a=x");
    ck_assert_str_eq(route(loaded(), "PUT", "/api/x"), "405 GET");
}
END_TEST

START_TEST(a_disabled_function_does_not_match)
{
    put_http("a", "x", "\"get\"");
    put_http("b", "{rest}", "\"put\"");
    set_env("AzureWebJobs.a.Disabled", "1");
    function_app *app = loaded();
    ck_assert_str_eq(route(app, "PUT", "/api/x"), "b rest=x");
    ck_assert_str_eq(route(app, "GET", "/api/x"), "405 PUT");
}
END_TEST

START_TEST(one_template_with_a_common_method_is_refused)
{
    function_app *app;
    str           why = STR("");
    put_http("a", "x/{id}", "\"get\",\"put\"");
    put_http("b", "X/{ID}", "\"post\"");
    ck_assert_str_eq(route(loaded(), "POST", "/api/x/1"), "b ID=1");
    put_http("b", "X/{ID}", "\"post\",\"put\"");
    ck_assert_int_eq(functions_load(a, root, NULL, 0, &app, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, STR("b/function.json: route 'api/X/{ID}' is that of 'a' too")), "%.*s",
                  STR_ARG(why));
    put_http("b", "X/{ID}", NULL);
    ck_assert_int_eq(functions_load(a, root, NULL, 0, &app, &why), RES_CONFIG);
    put_http("b", "X/{ID}", "");
    (void)loaded();
}
END_TEST

/* ---- the index ---- */

/* The slow way: every template in turn. */
static const char *route_slowly(const function_app *app, const char *path)
{
    for (size_t i = 0; i < app->count; i++) {
        http_header *params;
        size_t       n;
        if (route_template_match(a, app->all[i].template, str_of(path), &params, &n))
            return arena_cstr(a, app->all[i].name);
    }
    return "404";
}

static const char *segment(unsigned *seed, bool of_template)
{
    static const char *const templates[] = {"a", "B", "c", "{p%u}", "{p%u:int}", "v{p%u}", "{p%u}"};
    static const char *const paths[] = {"a", "b", "C", "1", "v1", "x", "%61"};
    *seed = *seed * 1103515245 + 12345;
    unsigned    n = *seed >> 16;
    const char *text = (of_template ? templates : paths)[n % 7];
    buf         out;
    buf_init(&out, a, 256);
    for (; *text != '\0'; text++)
        if (of_template && text[0] == '%')
            buf_addf(&out, "%u", *seed), text++; /* a name of its own */
        else
            buf_add_char(&out, *text);
    buf_add_char(&out, '\0');
    return out.at;
}

static const char *joined(unsigned *seed, bool of_template)
{
    *seed = *seed * 1103515245 + 12345;
    unsigned n = (*seed >> 16) % 12;
    str      text = STR("");
    for (unsigned i = 0; i < n; i++)
        text = arena_strf(a, "%.*s%s%s", STR_ARG(text), i > 0 ? "/" : "", segment(seed, of_template));
    if (of_template && n % 4 == 3)
        text = arena_strf(a, "%.*s/{*rest}", STR_ARG(text));
    else if (of_template && n % 4 == 2)
        text = arena_strf(a, "%.*s/{opt?}", STR_ARG(text));
    return text.len > 0 ? text.at : "";
}

START_TEST(the_index_finds_what_trying_every_template_finds)
{
    unsigned seed = 42;
    int      found = 0;
    put("host.json", "{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":\"\"}}}");
    for (int i = 0; i < 150; i++) {
        char name[16], json_route[512];
        (void)snprintf(name, sizeof name, "f%d", i);
        (void)snprintf(json_route, sizeof json_route, "%s", joined(&seed, true));
        char method[16];
        (void)snprintf(method, sizeof method, "\"M%d\"", i); /* of its own, so that equal routes may load */
        put_http(name, json_route, method);
    }
    function_app *app = loaded();
    for (size_t i = 0; i < app->count; i++)
        app->all[i].any_method = true;
    for (int i = 0; i < 3000; i++) {
        const char *path = arena_strf(a, "/%s", joined(&seed, false)).at;
        const char *want = route_slowly(app, path), *got = route(app, "GET", path);
        size_t      len = strcspn(got, " ");
        ck_assert_msg(strlen(want) == len && strncmp(want, got, len) == 0, "%s goes to %s, not %s", path, got,
                      want);
        found += strcmp(want, "404") != 0;
    }
    ck_assert_int_gt(found, 500);
    ck_assert_int_lt(found, 2950);
}
END_TEST

START_TEST(routing_survives_every_failing_allocation)
{
    put_http("web", "x/{id}", "\"get\"");
    function_app *app = loaded();
    for (int wrong = 0; wrong < 2; wrong++)
        for (long nth = 1;; nth++) {
            route_match m;
            str         allow = STR("");
            arena_fail_at(nth);
            res  r = functions_route(a, app, wrong ? STR("PUT") : STR("GET"), STR("/api/x/%41"), &m, &allow);
            bool done = arena_fail_pending();
            arena_fail_at(0);
            if (done) {
                ck_assert_int_eq(r, wrong ? RES_METHOD : RES_OK);
                ck_assert_int_gt(nth, 2);
                break;
            }
            ck_assert_int_eq(r, RES_MEMORY);
        }
}
END_TEST

/* ---- HOST-56 ---- */

static void problem(const function_app *app, const char *reason)
{
    str why = STR("");
    ck_assert_int_eq(functions_check(a, app, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, str_of(reason)), "it says: %.*s", STR_ARG(why));
}

static void no_problem(const function_app *app)
{
    str why = STR("");
    ck_assert_msg(functions_check(a, app, &why) == RES_OK, "%.*s", STR_ARG(why));
}

START_TEST(a_broad_route_before_a_narrow_one_is_a_problem)
{
    put_http("GetItem", "items/{id}", "\"get\"");
    put_http("GetRecent", "items/recent", "\"get\"");
    problem(loaded(), "function 'GetItem': route 'api/items/{id}' gets paths of 'api/items/recent'");
    put_http("GetRecent", "items/recent", "\"put\"");
    no_problem(loaded());
    put_http("GetRecent", "items/recent", NULL);
    problem(loaded(), "'GetItem'");
    set_env("AzureWebJobs.GetItem.Disabled", "true");
    no_problem(loaded());
}
END_TEST

START_TEST(a_narrow_route_before_a_broad_one_is_none)
{
    put_http("ActionsBuildSnapshot", "actions/snapshot/refresh", "\"post\",\"options\"");
    put_http("ActionsGet", "actions/{owner}/{name}", "\"get\",\"options\"");
    put_http("Other", "{*rest}", NULL);
    no_problem(loaded());
}
END_TEST

START_TEST(two_routes_of_one_shape_with_a_common_method_are_a_problem)
{
    put_http("a", "x/{id}", "\"get\"");
    put_http("b", "x/{name}", "\"get\"");
    problem(loaded(), "function 'a': route 'api/x/{id}' gets paths of 'api/x/{name}' (function 'b')");
}
END_TEST

START_TEST(names_out_of_order_or_equal_but_for_case_are_a_problem)
{
    put_http("a", "x", NULL);
    put_http("b", "y", NULL);
    function_app *app = loaded();
    no_problem(app);
    app->all[0].name = STR("B");
    problem(app, "function 'b' stands behind 'B', out of the host's order");
    app->all[0].name = STR("c");
    problem(app, "function 'b' stands behind 'c'");
}
END_TEST

START_TEST(a_route_that_begins_with_admin_or_runtime_is_a_problem)
{
    put_http("a", "x", NULL);
    function_app *app = loaded();
    app->all[0].route = STR("api/Administrators");
    problem(app, "function 'a': route 'Administrators' begins with 'admin' or 'runtime'");
    app->all[0].route = STR("api/runtime/x");
    problem(app, "begins with 'admin' or 'runtime'");
    app->all[0].route = STR("api/v2/admin");
    no_problem(app);
}
END_TEST

/* HOST-56, of the folders of this repository. */
START_TEST(our_own_functions_keep_the_rules)
{
    const char   *source = getenv("TRESTLE_SOURCE_ROOT");
    function_app *app = NULL;
    str           why = STR("");
    source = source != NULL ? source : ".";
    set_env("REMINDER_TICK_SCHEDULE", "0 * * * * *"); /* an app setting, as local.settings.json has it */
    ck_assert_msg(functions_load(a, source, NULL, 0, &app, &why) == RES_OK, "%.*s", STR_ARG(why));
    ck_assert_uint_ge(app->count, 2);
    ck_assert_ptr_nonnull(functions_find(app, STR("health")));
    no_problem(app);
    const function *not_forwarded = functions_not_forwarded(app);
    ck_assert_msg(not_forwarded == NULL, "%.*s is not forwarded", STR_ARG(not_forwarded->name));
    ck_assert(app->host.forwarding);
}
END_TEST

Suite *suite_functions_route(void)
{
    Suite *s = suite_create("functions_route");
    TCase *t = tcase_create("functions_route");
    tcase_add_checked_fixture(t, begin_app, end_app);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_path_in_other_letters_and_with_a_slash_behind_matches);
    tcase_add_test(t, the_name_of_a_queue_function_is_not_a_route);
    tcase_add_test(t, the_route_is_the_name_unless_it_is_given);
    tcase_add_test(t, a_slash_before_the_route_is_ignored_with_an_empty_prefix);
    tcase_add_test(t, the_first_name_wins_not_the_narrower_route);
    tcase_add_test(t, a_wrong_method_is_told_all_right_ones);
    tcase_add_test(t, an_empty_list_of_methods_never_matches);
    tcase_add_test(t, a_disabled_function_does_not_match);
    tcase_add_test(t, one_template_with_a_common_method_is_refused);
    tcase_add_test(t, the_index_finds_what_trying_every_template_finds);
    tcase_add_test(t, routing_survives_every_failing_allocation);
    tcase_add_test(t, a_broad_route_before_a_narrow_one_is_a_problem);
    tcase_add_test(t, a_narrow_route_before_a_broad_one_is_none);
    tcase_add_test(t, two_routes_of_one_shape_with_a_common_method_are_a_problem);
    tcase_add_test(t, names_out_of_order_or_equal_but_for_case_are_a_problem);
    tcase_add_test(t, a_route_that_begins_with_admin_or_runtime_is_a_problem);
    tcase_add_test(t, our_own_functions_keep_the_rules);
    suite_add_tcase(s, t);
    return s;
}
