/* test_storage_azurite.c -- the built program with a store over the wire: queue functions, and the way from a
 * laptop to the cloud and back.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "e2e/e2e.h"
#include "support/azurite.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static azurite *cloud;

static void start_cloud(void)
{
    cloud = azurite_start(&(azurite_spec){0});
    ck_assert_ptr_nonnull(cloud);
}

static void stop_cloud(void)
{
    azurite_stop(cloud);
    cloud = NULL;
}

static const char *const *cloud_env(void)
{
    const char **env = (const char **)arena_array(scratch(), char *, 2);
    env[0] = textf("AZURE_STORAGE_CONNECTION_STRING=%s", azurite_connection(cloud));
    return env;
}

/* data NULL: in the cloud. */
static server start_on(const char *data)
{
    return server_start(
        &(server_spec){.standalone = true, .data = data, .env = data == NULL ? cloud_env() : NULL});
}

static void copy(const char *verb, const char *dir, const char *data)
{
    outcome o = e2e_run(e2e_trestle(), LIST("store", verb, dir, "--data", data != NULL ? data : "unused"),
                        data == NULL ? cloud_env() : NULL, root_empty());
    ck_assert_msg(o.status == 0, "%s ended with %d: %.*s", verb, o.status, STR_ARG(o.err));
    ck_assert_holds(o.err, "120 rows, 8 blobs, 3 messages");
}

static str listing(const char *data)
{
    server s = start_on(data);
    answer a = client_get(s.port, "/api/listing");
    ck_assert_status(a, 200);
    ck_assert_int_eq(server_stop(&s), 0);
    return a.body;
}

START_TEST(a_store_moves_to_the_cloud_and_back)
{
    const char *from = root_empty(), *to = root_empty();
    const char *up = textf("%s/up", root_empty()), *down = textf("%s/down", root_empty());
    server      s = start_on(from);
    ck_assert_status(client_call(s.port, "POST", "/api/fill/120", "", (str){0}), 200);
    ck_assert_int_eq(server_stop(&s), 0);
    str before = listing(from);
    copy("export", up, from);
    copy("import", up, NULL);
    ck_assert_str_is(listing(NULL), arena_cstr(scratch(), before));
    copy("export", down, NULL);
    copy("import", down, to);
    ck_assert_str_is(listing(to), arena_cstr(scratch(), before));
}
END_TEST

/* STORE-42 */
START_TEST(queue_functions_run_from_a_queue_over_the_wire)
{
    server s = start_on(NULL);
    ck_assert_holds(process_out(s.proc), "Storage: azure");
    ck_assert(!str_has(process_out(s.proc), STR(AZURITE_KEY)));
    ck_assert_status(client_call(s.port, "POST", "/api/enqueue", "", STR("hello")), 202);
    ck_assert_status(client_call(s.port, "POST", "/api/enqueue", "", STR("fail always")), 202);
    ck_assert(process_says(s.proc, "work: 'hello', try 1", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "done: 'hello'", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "work: 'fail always', try 5", E2E_LIMIT_MS));
    ck_assert(process_says(s.proc, "poison: 'fail always'", E2E_LIMIT_MS));
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

/* The program starts without it, says what is wrong, and works when it comes. */
START_TEST(a_store_that_comes_late_is_found)
{
    azurite_kill(cloud);
    server s = start_on(NULL);
    ck_assert_status(client_get(s.port, "/api/hello"), 200);
    ck_assert(process_says(s.proc, "cannot be read, and is tried again", 100 * 1000));
    azurite_launch(cloud);
    answer   a = {0};
    uint64_t until = process_now_ms() + E2E_LIMIT_MS;
    while (a.status != 202 && process_now_ms() < until) {
        a = client_call(s.port, "POST", "/api/enqueue", "", STR("late"));
        process_pause();
    }
    ck_assert_status(a, 202);
    ck_assert(process_says(s.proc, "done: 'late'", 100 * 1000));
    ck_assert_int_eq(server_stop(&s), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("e2e_storage_azurite");
    TCase *tc = e2e_add_alone(s, "azurite");
    tcase_add_checked_fixture(tc, start_cloud, stop_cloud);
    tcase_add_test(tc, a_store_moves_to_the_cloud_and_back);
    tcase_add_test(tc, queue_functions_run_from_a_queue_over_the_wire);
    tcase_add_test(tc, a_store_that_comes_late_is_found);
    return s;
}

int main(void)
{
    return e2e_main("e2e_storage_azurite", suite);
}
