/* test_functions.c -- folders to functions, functions to rows, requests to functions.
 *
 * Each test writes the folders of an app of its own; one reads the folders of this repository.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/functions.h"

#include "core/log.h"
#include "unit/runtime/app_folder.h"
#include "unit/suites.h"

static res try_load(function_app **ret, str *why)
{
    *why = STR("");
    return functions_load(a, root, NULL, 0, ret, why);
}

static function_app *loaded(void)
{
    function_app *app = NULL;
    str           why;
    ck_assert_msg(try_load(&app, &why) == RES_OK, "%.*s", STR_ARG(why));
    return app;
}

static void refused(const char *reason)
{
    function_app *app;
    str           why;
    ck_assert_int_eq(try_load(&app, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, str_of(reason)), "it says: %.*s", STR_ARG(why));
}

static void ck_str(str got, const char *want)
{
    ck_assert_msg(str_eq(got, str_of(want)), "'%.*s' is not '%s'", STR_ARG(got), want);
}

/* ---- reading ---- */

START_TEST(an_http_function_is_read_whole)
{
    put_function(
        "order",
        "{\"scriptFile\":\"x\",\"entryPoint\":\"y\",\"bindings\":[{\"TYPE\":\"HTTPTRIGGER\",\"name\":\"req\","
        "\"direction\":\"in\",\"methods\":[\"get\",\"Post\",\"GET\"],\"route\":\"orders/{id}\",\"zone\":7},"
        "{\"type\":\"http\",\"direction\":\"out\",\"name\":\"$return\"}]}");
    const function *fn = functions_find(loaded(), STR("order"));
    ck_str(fn->name, "order");
    ck_assert_int_eq(fn->trigger, TRIGGER_HTTP);
    ck_assert_int_eq(fn->auth, AUTH_FUNCTION); /* the host's default */
    ck_assert(!fn->any_method && fn->method_count == 2);
    ck_str(fn->methods[0], "GET");
    ck_str(fn->methods[1], "POST");
    ck_str(fn->route, "api/orders/{id}");
    ck_assert(fn->forwardable && !fn->disabled);
    ck_str(fn->trigger_binding->name, "req");
    ck_str(fn->http_output->name, "$return");
    ck_assert_ptr_null(fn->row);
}
END_TEST

START_TEST(timers_and_queues_are_read_whole)
{
    put_function("tick",
                 "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"0 */5 * * * *\","
                 "\"runOnStartup\":true,\"useMonitor\":false}]}");
    put_function("tock",
                 "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"00:05:00\"}]}");
    put_function("onmsg", "{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"Jobs-1\","
                          "\"dataType\":\"binary\"},{\"type\":\"queue\",\"direction\":\"out\",\"name\":\"o\","
                          "\"queueName\":\"{id}-done\"}]}");
    put_function("blob", "{\"bindings\":[{\"type\":\"blobTrigger\",\"name\":\"b\",\"path\":\"x/{name}\"}]}");
    function_app   *app = loaded();
    const function *fn = functions_find(app, STR("tick"));
    ck_assert_int_eq(fn->trigger, TRIGGER_TIMER);
    ck_str(fn->schedule, "0 */5 * * * *");
    ck_assert(fn->run_on_startup && !fn->monitored && !fn->forwardable);
    fn = functions_find(app, STR("tock"));
    ck_assert(!fn->run_on_startup && fn->monitored);
    fn = functions_find(app, STR("onmsg"));
    ck_assert_int_eq(fn->trigger, TRIGGER_QUEUE);
    ck_str(fn->trigger_binding->queue, "jobs-1");
    ck_assert(fn->trigger_binding->binary && !fn->bindings[1].binary && fn->bindings[1].output);
    ck_assert_int_eq(functions_find(app, STR("blob"))->trigger, TRIGGER_OTHER);
}
END_TEST

#define TRIGGER "{\"type\":\"httpTrigger\",\"name\":\"req\"}"
#define OUTPUT  "{\"type\":\"http\",\"direction\":\"out\",\"name\":\"res\"}"

static const struct {
    const char *json, *why;
} bad_functions[] = {
    {"{\"bindings\":[{\"name\":\"req\"}]}", "f/function.json: binding 0 has no 'type'"},
    {"{\"bindings\":[{\"type\":\"\",\"name\":\"req\"}]}", "f/function.json: binding 0 has no 'type'"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\"}]}", "binding 0 has no 'name'"},
    {"{\"bindings\":[" TRIGGER ",{\"type\":5,\"name\":\"x\"}]}", "binding 1: 'type' is not a string"},
    {"{\"bindings\":[7]}", "binding 0 is not an object"},
    {"{\"bindings\":{}}", "'bindings' is missing or not a list"},
    {"{\"binding\":[]}", "'bindings' is missing or not a list"},
    {"{\"bindings\":[]}", "has no binding whose type ends in 'Trigger'"},
    {"{\"bindings\":[" OUTPUT "]}", "has no binding whose type ends in 'Trigger'"},
    {"{\"bindings\":[" TRIGGER ",{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"* * * * * *\"}]}",
     "has two triggers, 'req' and 't'"},
    {"{\"bindings\":[" TRIGGER "," TRIGGER "]}", "bindings 0 and 1 are both named 'req'"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"direction\":\"out\"}]}",
     "trigger with the direction out"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"direction\":\"up\"}]}",
     "'direction' 'up' is none of"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"authLevel\":\"anon\"}]}",
     "'authLevel' 'anon' is none of"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"methods\":\"get\"}]}",
     "'methods' is not a list"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"methods\":[5]}]}",
     "not the name of a method"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"methods\":[\"a b\"]}]}",
     "not the name of a method"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":7}]}", "'route' is not a string"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"/x\"}]}",
     "'route' begins with a slash"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"a/{b\"}]}",
     "binding 0: route 'api/a/{b': a parameter is not closed"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"Administrators\"}]}",
     "which the host keeps"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"runtime/x\"}]}",
     "which the host keeps"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"a\\u0000b\"}]}",
     "'route' holds a zero byte"},
    {"{\"bindings\":[{\"type\":\"httpTrigger\",\"name\":\"r\",\"route\":\"%NO_SUCH_T%/x\"}]}",
     "'route' needs the setting 'NO_SUCH_T', which is missing"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\"}]}", "binding 0 has no 'schedule'"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"61 * * * * *\"}]}",
     "binding 0: schedule '61 * * * * *': second 61 is not within 0-59"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"0 %NO_SUCH_T% * * * *\"}]}",
     "'schedule' needs the setting 'NO_SUCH_T', which is missing"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"5%\"}]}",
     "encloses no name of a setting"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"%%\"}]}",
     "encloses no name of a setting"},
    {"{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"* * * * * "
     "*\",\"runOnStartup\":\"no\"}]}",
     "'runOnStartup' is neither true nor false"},
    {"{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\"}]}", "binding 0 has no 'queueName'"},
    {"{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"a_b\"}]}",
     "'a_b' cannot be the name of a queue"},
    {"{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"x\"}]}",
     "cannot be the name of a queue"},
    {"{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"{id}-x\"}]}",
     "cannot be the name of a queue"},
    {"{\"disabled\":5,\"bindings\":[" TRIGGER "]}",
     "'disabled' is neither true, false nor the name of a setting"},
    {"{\"bindings\":[" TRIGGER "]", "f/function.json: line 1, column"},
    {"{\n\"bindings\":[\n/* http */" TRIGGER "]}",
     "f/function.json: line 3, column 1: comments are not supported"},
    {"5", "f/function.json: is not a JSON object"},
};

START_TEST(a_wrong_function_json_is_refused_with_its_reason)
{
    put_function("f", bad_functions[_i].json);
    refused(bad_functions[_i].why);
}
END_TEST

START_TEST(a_function_json_above_1_mib_is_refused)
{
    char *big = arena_alloc(a, 1 * MIB + 1);
    memset(big, ' ', 1 * MIB + 1);
    memcpy(big, "{\"bindings\":[" TRIGGER "]}", strlen("{\"bindings\":[" TRIGGER "]}"));
    put_bytes("f/function.json", big, 1 * MIB);
    (void)loaded();
    put_bytes("f/function.json", big, 1 * MIB + 1);
    refused("f/function.json: is larger than 1048576 bytes");
}
END_TEST

START_TEST(a_function_json_that_is_no_file_is_refused_without_waiting)
{
    char path[512];
    put("f/x", "");
    (void)snprintf(path, sizeof path, "%s/f/function.json", root);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    refused("f/function.json: is not a regular file");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    refused("f/function.json: is not a regular file");
}
END_TEST

static const struct {
    const char *bindings;
    bool        forwardable;
} shapes[] = {
    {TRIGGER "," OUTPUT, true},
    {OUTPUT "," TRIGGER, true},
    {"{\"type\":\"HttpTrigger\",\"name\":\"r\"},{\"type\":\"HTTP\",\"direction\":\"out\",\"name\":\"$"
     "return\"}",
     true},
    {TRIGGER, false},
    {TRIGGER ",{\"type\":\"queue\",\"direction\":\"out\",\"name\":\"q\",\"queueName\":\"jobs\"}", false},
    {TRIGGER "," OUTPUT ",{\"type\":\"queue\",\"direction\":\"out\",\"name\":\"q\",\"queueName\":\"jobs\"}",
     false},
    {TRIGGER "," OUTPUT ",{\"type\":\"blob\",\"direction\":\"in\",\"name\":\"b\"}", false},
    {TRIGGER ",{\"type\":\"http\",\"direction\":\"inout\",\"name\":\"b\"}", false},
    {TRIGGER ",{\"type\":\"http\",\"name\":\"b\"}", false},
    {"{\"type\":\"blobTrigger\",\"name\":\"r\"}," OUTPUT, false},
};

/* Spec 5.1. */
START_TEST(one_http_trigger_and_one_http_output_make_a_forwarded_function)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "{\"bindings\":[%s]}", shapes[_i].bindings);
    put_function("f", text);
    function_app *app = loaded();
    ck_assert_msg(app->all[0].forwardable == shapes[_i].forwardable, "%s", shapes[_i].bindings);
    bool http = app->all[0].trigger == TRIGGER_HTTP;
    ck_assert_ptr_eq(functions_not_forwarded(app), http && !shapes[_i].forwardable ? &app->all[0] : NULL);
}
END_TEST

/* ---- settings in the file ---- */

START_TEST(settings_between_percent_signs_are_filled_in)
{
    put_function(
        "tick",
        "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"0 %T_MINUTE% * * * *\"}]}");
    put_function("onmsg",
                 "{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"%T_A%-%T_B%\"}]}");
    put_http("web", "%T_A%/{id}", NULL);
    set_env("T_MINUTE", "*/7");
    set_env("T_A", "first");
    set_env("T_B", "second");
    function_app *app = loaded();
    ck_str(functions_find(app, STR("tick"))->schedule, "0 */7 * * * *");
    ck_str(functions_find(app, STR("onmsg"))->trigger_binding->queue, "first-second");
    ck_str(functions_find(app, STR("web"))->route, "api/first/{id}");
}
END_TEST

/* As under the host, the others are served. */
START_TEST(a_timer_whose_setting_is_missing_does_not_run)
{
    log_set_level(LOG_OFF);
    put_function("t1",
                 "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"%NO_SUCH_T%\"}]}");
    put_function("t2", "{\"bindings\":[" TRIGGER "," OUTPUT "]}");
    function_app *app = loaded();
    log_set_level(LOG_INFO);
    ck_assert(app->all[0].disabled);
    ck_assert(!app->all[1].disabled);
}
END_TEST

START_TEST(a_function_is_disabled_by_file_or_environment)
{
    static const char *const on = "{\"bindings\":[" TRIGGER "," OUTPUT "]}";
    put_function("a1", on);
    put_function("a2", "{\"disabled\":true,\"bindings\":[" TRIGGER "," OUTPUT "]}");
    put_function("a3", "{\"disabled\":false,\"bindings\":[" TRIGGER "," OUTPUT "]}");
    put_function("a4", "{\"disabled\":\"%T_OFF%\",\"bindings\":[" TRIGGER "," OUTPUT "]}");
    put_function("a5", on);
    put_function("a6", on);
    put_function("a7", on);
    put_function("a8", "{\"disabled\":true,\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\","
                       "\"schedule\":\"%NO_SUCH_T%\"}]}");
    set_env("T_OFF", "1");
    set_env("AzureWebJobs.a5.Disabled", "True");
    set_env("AzureWebJobs_a6_Disabled", "1");
    set_env("AzureWebJobs.a7.Disabled", "false");
    function_app     *app = loaded();
    static const bool off[] = {false, true, false, true, true, true, false, true};
    ck_assert_uint_eq(app->count, 8);
    for (size_t i = 0; i < app->count; i++)
        ck_assert_msg(app->all[i].disabled == off[i], "a%zu", i + 1);
}
END_TEST

/* ---- folders ---- */

START_TEST(folders_without_function_json_and_hidden_ones_are_ignored)
{
    put_http("web", "web", NULL);
    put("docs/readme.txt", "no function");
    put(".git/function.json", "not even JSON");
    put("function.json", "not even JSON");
    put("bad name/readme.txt", "no function");
    ck_assert_uint_eq(loaded()->count, 1);
}
END_TEST

START_TEST(a_folder_with_a_name_that_the_host_refuses_is_refused)
{
    static const char *const names[] = {"1st", "_x", "a.b", "a b", "host", "Host", "caf\xC3\xA9"};
    put_http(names[_i], "x", NULL);
    refused("the folder's name is not a letter and");
}
END_TEST

START_TEST(a_name_has_128_characters_at_most)
{
    char name[130] = {0};
    memset(name, 'x', 128);
    put_http(name, "x", NULL);
    ck_assert_uint_eq(loaded()->count, 1);
    name[128] = 'x';
    put_http(name, "y", NULL);
    refused("the folder's name is not a letter and");
}
END_TEST

START_TEST(names_that_differ_in_case_alone_are_refused)
{
    put_http("Web", "x", NULL);
    put_http("web", "y", NULL);
    refused("web/function.json: the name differs from 'Web' in case alone");
}
END_TEST

START_TEST(the_1025th_function_is_refused)
{
    char name[32];
    for (int i = 0; i < 1025; i++) {
        if (i == 1024)
            ck_assert_uint_eq(loaded()->count, 1024);
        (void)snprintf(name, sizeof name, "f%d", i);
        put_function(name, "{\"bindings\":[{\"type\":\"blobTrigger\",\"name\":\"b\"}]}");
    }
    refused("there are more than 1024 functions");
}
END_TEST

/* Ordinal ignoring case folds to upper case, so that '_' comes after every letter, and '-' before. */
START_TEST(functions_stand_in_the_hosts_order)
{
    static const char *const sorted[] = {"a-z", "A1", "aB", "Ac", "org", "orgs", "org_x", "Zz"};
    for (size_t i = 0; i < 8; i++)
        put_http(sorted[(i * 5 + 3) % 8], sorted[(i * 5 + 3) % 8], NULL);
    function_app *app = loaded();
    ck_assert_uint_eq(app->count, 8);
    for (size_t i = 0; i < 8; i++) {
        ck_str(app->all[i].name, sorted[i]);
        ck_assert_ptr_eq(functions_find(app, str_of(sorted[i])), &app->all[i]);
    }
    ck_assert_ptr_eq(functions_find(app, STR("ORG_X")), &app->all[6]);
    ck_assert_ptr_null(functions_find(app, STR("or")));
    ck_assert_ptr_null(functions_find(app, STR("")));
}
END_TEST

/* ---- rows ---- */

static res serve_nothing(task *t, const request *in, reply *out)
{
    (void)t, (void)in, (void)out;
    return RES_OK;
}

static void bind_refused(const handler *rows, size_t count, const char *reason)
{
    function_app *app;
    str           why = STR("");
    ck_assert_int_eq(functions_load(a, root, rows, count, &app, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, str_of(reason)), "it says: %.*s", STR_ARG(why));
}

START_TEST(every_folder_has_its_row_and_every_row_its_folder)
{
    static const handler rows[] = {{"web", serve_nothing, 5000, 0}, {"api", serve_nothing, 1000, 4096}};
    function_app        *app;
    str                  why = STR("");
    put_http("api", "x", NULL);
    bind_refused(rows, 2, "handlers: 'web' has a row but no folder with a function.json");
    put_http("web", "y", NULL);
    ck_assert_msg(functions_load(a, root, rows, 2, &app, &why) == RES_OK, "%.*s", STR_ARG(why));
    ck_assert_ptr_eq(functions_find(app, STR("web"))->row, &rows[0]);
    ck_assert_ptr_eq(functions_find(app, STR("api"))->row, &rows[1]);
    bind_refused(rows, 1, "api/function.json: the function has no row in the table of handlers");
    bind_refused(rows, 0, "has no row");
}
END_TEST

START_TEST(a_row_that_is_wrong_in_itself_is_refused)
{
    static const handler twice[] = {{"web", serve_nothing, 5000, 0}, {"web", serve_nothing, 5000, 0}};
    static const handler cased[] = {{"Web", serve_nothing, 5000, 0}};
    static const handler slow[] = {{"web", serve_nothing, 600000, 0}};
    put("host.json", "{\"version\":\"2.0\",\"functionTimeout\":\"00:10:00\"}");
    put_http("web", "x", NULL);
    bind_refused(twice, 2, "handlers: 'web' has two rows");
    bind_refused(cased, 1, "handlers: 'Web' has a row but no folder");
    bind_refused(slow, 1, "handlers: the deadline of 'web', 600000 ms, is not below functionTimeout");
}
END_TEST

/* ---- all of it ---- */

START_TEST(the_list_is_aligned_and_sorted)
{
    put_http("health", "health", "\"get\"");
    put_http("ab", "x/{id}", "\"get\",\"post\"");
    put_http("any", "", NULL);
    put_function(
        "tick", "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"0 */5 * * * *\"}]}");
    put_function("onmsg", "{\"disabled\":true,\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\","
                          "\"queueName\":\"jobs\"}]}");
    buf out;
    buf_init(&out, a, 64 * KIB);
    functions_print(loaded(), STR("http://127.0.0.1:7071"), &out);
    ck_str(buf_str(&out), "  ab:     [GET,POST] http://127.0.0.1:7071/api/x/{id}\n"
                          "  any:    [any] http://127.0.0.1:7071/api/any\n"
                          "  health: [GET] http://127.0.0.1:7071/api/health\n"
                          "  onmsg:  queueTrigger (jobs) (disabled)\n"
                          "  tick:   timerTrigger (0 */5 * * * *)\n");
}
END_TEST

START_TEST(loading_survives_every_failing_allocation)
{
    static const handler rows[] = {
        {"web", serve_nothing, 5000, 0}, {"tick", serve_nothing, 1000, 0}, {"onmsg", serve_nothing, 1000, 0}};
    put("host.json", "{\"version\":\"2.0\",\"functionTimeout\":\"00:10:00\",\"extensions\":{\"queues\":{"
                     "\"batchSize\":8}}}");
    put("local.settings.json", "{\"Host\":{\"CORS\":\"*\",\"LocalHttpPort\":7071}}");
    put_http("web", "x/{id:int:regex(^1)}/v{n}.{e?}", "\"get\"");
    put_function("tick",
                 "{\"bindings\":[{\"type\":\"timerTrigger\",\"name\":\"t\",\"schedule\":\"%T_WHEN%\"}]}");
    put_function("onmsg",
                 "{\"bindings\":[{\"type\":\"queueTrigger\",\"name\":\"m\",\"queueName\":\"jobs\"}]}");
    put("docs/readme.txt", "no function");
    set_env("T_WHEN", "0 * * * * *");
    for (long nth = 1;; nth++) {
        function_app *app;
        str           why = STR("");
        arena_reset(a);
        arena_fail_at(nth);
        res  r = functions_load(a, root, rows, 3, &app, &why);
        bool done = arena_fail_pending();
        arena_fail_at(0);
        if (done) {
            ck_assert_int_eq(r, RES_OK);
            ck_assert_int_gt(nth, 30);
            break;
        }
        ck_assert_msg(r == RES_MEMORY, "allocation %ld: %s, %.*s", nth, res_name(r), STR_ARG(why));
        ck_assert(str_has(why, STR("memory")));
    }
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

Suite *suite_functions(void)
{
    Suite *s = suite_create("functions");
    TCase *t = tcase_create("functions");
    tcase_add_checked_fixture(t, begin_app, end_app);
    tcase_set_timeout(t, 60); /* a thousand folders take their time under sanitizers */
    tcase_add_test(t, an_http_function_is_read_whole);
    tcase_add_test(t, timers_and_queues_are_read_whole);
    tcase_add_loop_test(t, a_wrong_function_json_is_refused_with_its_reason, 0, COUNT(bad_functions));
    tcase_add_test(t, a_function_json_above_1_mib_is_refused);
    tcase_add_test(t, a_function_json_that_is_no_file_is_refused_without_waiting);
    tcase_add_loop_test(t, one_http_trigger_and_one_http_output_make_a_forwarded_function, 0, COUNT(shapes));
    tcase_add_test(t, settings_between_percent_signs_are_filled_in);
    tcase_add_test(t, a_timer_whose_setting_is_missing_does_not_run);
    tcase_add_test(t, a_function_is_disabled_by_file_or_environment);
    tcase_add_test(t, folders_without_function_json_and_hidden_ones_are_ignored);
    tcase_add_loop_test(t, a_folder_with_a_name_that_the_host_refuses_is_refused, 0, 7);
    tcase_add_test(t, a_name_has_128_characters_at_most);
    tcase_add_test(t, names_that_differ_in_case_alone_are_refused);
    tcase_add_test(t, the_1025th_function_is_refused);
    tcase_add_test(t, functions_stand_in_the_hosts_order);
    tcase_add_test(t, every_folder_has_its_row_and_every_row_its_folder);
    tcase_add_test(t, a_row_that_is_wrong_in_itself_is_refused);
    tcase_add_test(t, the_list_is_aligned_and_sorted);
    tcase_add_test(t, loading_survives_every_failing_allocation);
    suite_add_tcase(s, t);
    return s;
}
