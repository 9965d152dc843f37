/* test_settings.c -- local.settings.json and host.json: what they set, and what they are refused for.
 *
 * SPDX-License-Identifier: MIT */
#include "runtime/functions.h"
#include "runtime/host_json.h"
#include "unit/runtime/app_folder.h"
#include "unit/suites.h"

/* ---- local.settings.json ---- */

static res load(str *why)
{
    *why = STR("");
    return settings_load(a, root, why);
}

static void load_ok(void)
{
    str why;
    ck_assert_msg(load(&why) == RES_OK, "%.*s", STR_ARG(why));
}

/* Marks a name as one that the file may set: whatever comes, it is unset in the end. */
static void expect_env(const char *name)
{
    set_env(name, "");
    unsetenv(name);
}

START_TEST(a_missing_file_is_fine)
{
    load_ok();
}
END_TEST

START_TEST(values_go_into_the_environment_where_unset)
{
    put("local.settings.json",
        "{\"IsEncrypted\":false,\"Values\":{\"TRESTLE_T_NEW\":\"from file\",\"TRESTLE_T_OLD\":\"from file\","
        "\"TRESTLE_T_EMPTY\":\"from file\"},\"ConnectionStrings\":{}}");
    expect_env("TRESTLE_T_NEW");
    set_env("TRESTLE_T_OLD", "from environment");
    set_env("TRESTLE_T_EMPTY", "");
    load_ok();
    ck_assert_str_eq(getenv("TRESTLE_T_NEW"), "from file");
    ck_assert_str_eq(getenv("TRESTLE_T_OLD"), "from environment");
    ck_assert_str_eq(getenv("TRESTLE_T_EMPTY"), "");
    ck_assert(settings_came_from_file("TRESTLE_T_NEW"));
    ck_assert(!settings_came_from_file("TRESTLE_T_OLD"));
    ck_assert(!settings_came_from_file("TRESTLE_T_EMPTY"));
    ck_assert(!settings_came_from_file("TRESTLE_T"));
}
END_TEST

START_TEST(numbers_and_booleans_become_text_and_null_sets_nothing)
{
    put("local.settings.json",
        "{\"Values\":{\"TRESTLE_T_N\":5,\"TRESTLE_T_B\":true,\"TRESTLE_T_NULL\":null}}");
    expect_env("TRESTLE_T_N");
    expect_env("TRESTLE_T_B");
    expect_env("TRESTLE_T_NULL");
    load_ok();
    ck_assert_str_eq(getenv("TRESTLE_T_N"), "5");
    ck_assert_str_eq(getenv("TRESTLE_T_B"), "true");
    ck_assert_ptr_null(getenv("TRESTLE_T_NULL"));
}
END_TEST

START_TEST(names_are_forgotten_with_the_arena)
{
    put("local.settings.json", "{\"Values\":{\"TRESTLE_T_N\":\"5\"}}");
    expect_env("TRESTLE_T_N");
    load_ok();
    ck_assert(settings_came_from_file("TRESTLE_T_N"));
    arena_reset(a);
    ck_assert(!settings_came_from_file("TRESTLE_T_N"));
}
END_TEST

static const struct {
    const char *text, *why;
} bad_settings[] = {
    {"{\"IsEncrypted\":true,\"Values\":{\"K\":\"x\"}}", "decrypt it with 'func settings decrypt'"},
    {"{\"Values\":{\"TRESTLE_T_L\":[\"secret\"]}}", "the value 'TRESTLE_T_L' is a list or an object"},
    {"{\"Values\":{\"TRESTLE_T_O\":{\"a\":\"secret\"}}}", "the value 'TRESTLE_T_O' is a list or an object"},
    {"{\"Values\":{\"TRESTLE=T\":\"secret\"}}", "a name that the environment cannot hold"},
    {"{\"Values\":{\"\":\"secret\"}}", "a name that the environment cannot hold"},
    {"{\"Values\":{\"TRESTLE_T_Z\":\"a\\u0000secret\"}}", "the value 'TRESTLE_T_Z' holds a zero byte"},
    {"{\"Values\":[]}", "'Values' is not an object"},
    {"[]", "local.settings.json: is not a JSON object"},
    {"{\n  // note\n}", "local.settings.json: line 2, column 3: comments are not supported"},
    {"{\"Values\":{\"A\":\"secret\"}", "local.settings.json: line 1, column"},
    {"", "local.settings.json: line 1, column 1"},
};

START_TEST(a_malformed_file_is_refused_without_its_secrets)
{
    str why;
    put("local.settings.json", bad_settings[_i].text);
    ck_assert_msg(load(&why) == RES_CONFIG, "%s was accepted", bad_settings[_i].text);
    ck_assert_msg(str_has(why, str_of(bad_settings[_i].why)), "%s says: %.*s", bad_settings[_i].text,
                  STR_ARG(why));
    ck_assert(!str_has(why, STR("secret")));
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    put("local.settings.json", "\xEF\xBB\xBF{\"Values\":{\"TRESTLE_T_N\":\"5\"}}");
    expect_env("TRESTLE_T_N");
    load_ok();
    ck_assert_str_eq(getenv("TRESTLE_T_N"), "5");
}
END_TEST

START_TEST(loading_settings_survives_every_failing_allocation)
{
    put("local.settings.json", "{\"Values\":{\"TRESTLE_T_A\":\"1\",\"TRESTLE_T_B\":2,\"TRESTLE_T_C\":true}}");
    expect_env("TRESTLE_T_A");
    expect_env("TRESTLE_T_B");
    expect_env("TRESTLE_T_C");
    for (long nth = 1;; nth++) {
        str why;
        arena_fail_at(nth);
        res  r = load(&why);
        bool done = arena_fail_pending();
        arena_fail_at(0);
        if (done) {
            ck_assert_int_eq(r, RES_OK);
            ck_assert_int_gt(nth, 3);
            break;
        }
        ck_assert_int_eq(r, RES_MEMORY);
        arena_reset(a);
    }
}
END_TEST

/* ---- host.json ---- */

static host_settings host_of(const char *text)
{
    host_settings h = {0};
    str           why = STR("");
    put("host.json", text);
    ck_assert_msg(host_json_read(a, root, &h, &why) == RES_OK, "%.*s", STR_ARG(why));
    return h;
}

static void ck_str(str got, const char *want)
{
    ck_assert_msg(str_eq(got, str_of(want)), "'%.*s' is not '%s'", STR_ARG(got), want);
}

START_TEST(a_host_json_with_its_version_alone_has_the_hosts_defaults)
{
    host_settings h = host_of("{\"version\":\"2.0\"}");
    ck_str(h.route_prefix, "api");
    ck_assert(!h.forwarding && !h.proxying && !h.forward_by_name);
    ck_assert_uint_eq(h.function_timeout_ms, 30 * 60 * 1000);
    ck_assert_int_eq(h.queue_batch, 16);
    ck_assert_int_eq(h.queue_new_batch_threshold, 8);
    ck_assert_int_eq(h.queue_max_dequeue, 5);
    ck_assert_uint_eq(h.queue_visibility_ms, 0);
    ck_assert_uint_eq(h.queue_max_polling_ms, 60000);
    ck_assert_uint_eq(h.cors_origins.len, 0);
    ck_assert(!h.cors_credentials);
    ck_assert_int_eq(h.local_port, 0);
}
END_TEST

START_TEST(every_member_is_read)
{
    host_settings h = host_of(
        "{\"version\":\"2.0\",\"functionTimeout\":\"00:10:00\",\"customHandler\":{\"description\":{},"
        "\"enableForwardingHttpRequest\":true,\"enableProxyingHttpRequest\":\"True\"},\"extensions\":{"
        "\"http\":"
        "{\"routePrefix\":\"v1/"
        "x\"},\"queues\":{\"batchSize\":8,\"newBatchThreshold\":3,\"maxDequeueCount\":7,"
        "\"visibilityTimeout\":\"00:00:30\",\"maxPollingInterval\":\"00:00:02\",\"messageEncoding\":\"none\"}"
        "},\"logging\":{\"a\":1}}");
    ck_str(h.route_prefix, "v1/x");
    ck_assert(h.forwarding && h.proxying && !h.forward_by_name);
    ck_assert_uint_eq(h.function_timeout_ms, 600000);
    ck_assert_int_eq(h.queue_batch, 8);
    ck_assert_int_eq(h.queue_new_batch_threshold, 3);
    ck_assert_int_eq(h.queue_max_dequeue, 7);
    ck_assert_uint_eq(h.queue_visibility_ms, 30000);
    ck_assert_uint_eq(h.queue_max_polling_ms, 2000);
    ck_assert(h.queue_plain);
}
END_TEST

START_TEST(a_timeout_of_minus_one_is_none)
{
    ck_assert_uint_eq(host_of("{\"version\":\"2.0\",\"functionTimeout\":\"-1\"}").function_timeout_ms, 0);
    ck_assert_uint_eq(host_of("{\"version\":\"2.0\",\"functionTimeout\":-1}").function_timeout_ms, 0);
}
END_TEST

START_TEST(the_threshold_is_half_the_batch_unless_given)
{
    ck_assert_int_eq(host_of("{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"batchSize\":5}}}")
                         .queue_new_batch_threshold,
                     2);
}
END_TEST

START_TEST(the_old_section_forwards_by_name_unless_the_new_one_is_there)
{
    host_settings h = host_of("{\"version\":\"2.0\",\"httpWorker\":{\"description\":{}}}");
    ck_assert(h.forwarding && h.forward_by_name);
    h = host_of("{\"version\":\"2.0\",\"httpWorker\":{},\"customHandler\":{\"description\":{}}}");
    ck_assert(!h.forwarding && !h.forward_by_name);
}
END_TEST

START_TEST(the_environment_overrides_host_json)
{
    static const char text[] =
        "{\"version\":\"2.0\",\"customHandler\":{\"enableForwardingHttpRequest\":true}}";
    set_env("AzureFunctionsJobHost__customHandler__enableForwardingHttpRequest", "false");
    set_env("AzureFunctionsJobHost__extensions__http__routePrefix", "");
    set_env("azurefunctionsjobhost:FUNCTIONTIMEOUT", "00:01:00");
    host_settings h = host_of(text);
    ck_assert(!h.forwarding);
    ck_str(h.route_prefix, "");
    ck_assert_uint_eq(h.function_timeout_ms, 60000);

    unsetenv("AzureFunctionsJobHost__customHandler__enableForwardingHttpRequest");
    ck_assert(host_of(text).forwarding);
}
END_TEST

START_TEST(a_name_that_only_begins_like_an_override_is_none)
{
    set_env("AzureFunctionsJobHost__extensions__http__routePrefixes", "x");
    set_env("AzureFunctionsJobHostextensions__http__routePrefix", "y");
    ck_str(host_of("{\"version\":\"2.0\"}").route_prefix, "api");
}
END_TEST

static const struct {
    const char *text, *why;
} bad_hosts[] = {
    {"{}", "host.json: 'version' is not \"2.0\""},
    {"{\"version\":2}", "'version' is not \"2.0\""},
    {"{\"version\":\"2.0\",}", "host.json: line 1, column 17"},
    {"[]", "host.json: is not a JSON object"},
    {"{\"version\":\"2.0\",\"customHandler\":5}", "'customHandler' is not an object"},
    {"{\"version\":\"2.0\",\"httpWorker\":[]}", "'httpWorker' is not an object"},
    {"{\"version\":\"2.0\",\"extensions\":[]}", "'extensions' is not an object"},
    {"{\"version\":\"2.0\",\"extensions\":{\"http\":\"x\"}}", "'http' is not an object"},
    {"{\"version\":\"2.0\",\"customHandler\":{\"enableForwardingHttpRequest\":\"yes\"}}",
     "host.json: 'customHandler:enableForwardingHttpRequest' is neither true nor false"},
    {"{\"version\":\"2.0\",\"customHandler\":{\"enableProxyingHttpRequest\":[]}}", "is a list or an object"},
    {"{\"version\":\"2.0\",\"functionTimeout\":\"10 minutes\"}", "is neither a TimeSpan hh:mm:ss nor -1"},
    {"{\"version\":\"2.0\",\"functionTimeout\":\"00:00:00.5\"}", "is below one second"},
    {"{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":\"/api\"}}}",
     "a slash at its beginning"},
    {"{\"version\":\"2.0\",\"extensions\":{\"http\":{\"routePrefix\":\"api/\"}}}", "a slash at its end"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"batchSize\":33}}}", "is not within 1 and 32"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"batchSize\":0}}}", "is not within 1 and 32"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"batchSize\":1.5}}}", "is not a whole number"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"maxDequeueCount\":\"x\"}}}",
     "is not a whole number"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"visibilityTimeout\":30}}}", "is not a TimeSpan"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"messageEncoding\":\"rot13\"}}}",
     "is neither base64 nor none"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"visibilityTimeout\":\"8.00:00:00\"}}}",
     "is not within 0 and 604800000 milliseconds"},
    {"{\"version\":\"2.0\",\"extensions\":{\"queues\":{\"maxPollingInterval\":\"00:00:00\"}}}",
     "is not within 100"},
};

START_TEST(a_wrong_host_json_is_refused_with_its_reason)
{
    host_settings h;
    str           why = STR("");
    put("host.json", bad_hosts[_i].text);
    ck_assert_msg(host_json_read(a, root, &h, &why) == RES_CONFIG, "%s was accepted", bad_hosts[_i].text);
    ck_assert_msg(str_has(why, str_of(bad_hosts[_i].why)), "%s says: %.*s", bad_hosts[_i].text, STR_ARG(why));
}
END_TEST

START_TEST(a_wrong_override_names_the_environment)
{
    host_settings h;
    str           why = STR("");
    set_env("AzureFunctionsJobHost__customHandler__enableForwardingHttpRequest", "maybe");
    ck_assert_int_eq(host_json_read(a, root, &h, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, STR("environment AzureFunctionsJobHost: 'customHandler:enableForwarding")),
                  "%.*s", STR_ARG(why));
}
END_TEST

START_TEST(a_root_without_host_json_is_refused)
{
    host_settings h;
    str           why = STR("");
    ck_assert_int_eq(host_json_read(a, "/nonexistent", &h, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, STR("host.json: not found in '/nonexistent'")), "%.*s", STR_ARG(why));
}
END_TEST

START_TEST(cors_and_port_come_from_local_settings)
{
    put("local.settings.json",
        "{\"Host\":{\"LocalHttpPort\":7072,\"CORS\":\"https://a.example,https://b.example\","
        "\"CORSCredentials\":true}}");
    host_settings h = host_of("{\"version\":\"2.0\"}");
    ck_str(h.cors_origins, "https://a.example,https://b.example");
    ck_assert(h.cors_credentials);
    ck_assert_int_eq(h.local_port, 7072);
}
END_TEST

static const struct {
    const char *text, *why;
} bad_locals[] = {
    {"{\"Host\":{\"CORS\":[\"*\"]}}", "local.settings.json: 'Host.CORS' is not a string"},
    {"{\"Host\":{\"CORSCredentials\":\"perhaps\"}}", "'Host.CORSCredentials' is neither true nor false"},
    {"{\"Host\":{\"LocalHttpPort\":70000}}", "'Host.LocalHttpPort' is not a port"},
    {"{\"Host\":{\"LocalHttpPort\":0}}", "'Host.LocalHttpPort' is not a port"},
    {"{", "local.settings.json: line 1"},
};

START_TEST(a_wrong_host_section_is_refused_with_its_reason)
{
    host_settings h;
    str           why = STR("");
    put("local.settings.json", bad_locals[_i].text);
    ck_assert_int_eq(host_json_read(a, root, &h, &why), RES_CONFIG);
    ck_assert_msg(str_has(why, str_of(bad_locals[_i].why)), "%s says: %.*s", bad_locals[_i].text,
                  STR_ARG(why));
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

Suite *suite_settings(void)
{
    Suite *s = suite_create("settings");
    TCase *t = tcase_create("settings");
    tcase_add_checked_fixture(t, begin_app, end_app);
    tcase_add_test(t, a_missing_file_is_fine);
    tcase_add_test(t, values_go_into_the_environment_where_unset);
    tcase_add_test(t, numbers_and_booleans_become_text_and_null_sets_nothing);
    tcase_add_test(t, names_are_forgotten_with_the_arena);
    tcase_add_loop_test(t, a_malformed_file_is_refused_without_its_secrets, 0, COUNT(bad_settings));
    tcase_add_test(t, a_byte_order_mark_is_skipped);
    tcase_add_test(t, loading_settings_survives_every_failing_allocation);
    tcase_add_test(t, a_host_json_with_its_version_alone_has_the_hosts_defaults);
    tcase_add_test(t, every_member_is_read);
    tcase_add_test(t, a_timeout_of_minus_one_is_none);
    tcase_add_test(t, the_threshold_is_half_the_batch_unless_given);
    tcase_add_test(t, the_old_section_forwards_by_name_unless_the_new_one_is_there);
    tcase_add_test(t, the_environment_overrides_host_json);
    tcase_add_test(t, a_name_that_only_begins_like_an_override_is_none);
    tcase_add_loop_test(t, a_wrong_host_json_is_refused_with_its_reason, 0, COUNT(bad_hosts));
    tcase_add_test(t, a_wrong_override_names_the_environment);
    tcase_add_test(t, a_root_without_host_json_is_refused);
    tcase_add_test(t, cors_and_port_come_from_local_settings);
    tcase_add_loop_test(t, a_wrong_host_section_is_refused_with_its_reason, 0, COUNT(bad_locals));
    suite_add_tcase(s, t);
    return s;
}
