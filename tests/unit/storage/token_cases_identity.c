/* token_cases_identity.c -- the three kinds of identity: how each is asked, and what is made of its answers.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "unit/storage/token_rig.h"

/* ---- how they are asked for ---- */

/* STORE-8 */
START_TEST(app_service_is_asked_with_its_header_and_the_token_is_kept)
{
    wire *w = wire_start(&(wire_answer){.bytes = RIG_OK("", "0")}, 1, NULL);
    vouch_one(token_answer("tok-1", 3600));
    setenv("MyStore__tableServiceUri", wire_url(w, "/acct"), 1);
    setenv("MyStore__credential", "managedidentity", 1);
    setenv("MyStore__clientId", "my-client", 1);
    azure_endpoint *e = azure_rig_connect(AZURE_TABLES, "MyStore");
    azure_request   in = {.operation = "tables_get", .method = STR("GET"), .path = STR("/T")};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(azure_rig_call(e, in, 0).status, 200);
    ck_assert_uint_eq(wire_requests(vouching), 1);
    ck_assert(str_starts(wire_request_at(vouching, 0).head,
                         STR("GET /msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com"
                             "&client_id=my-client HTTP/1.1\r\n")));
    ck_assert_str_eq(azure_rig_header(vouching, 0, "X-IDENTITY-HEADER"), "hunter2header");
    ck_assert_str_eq(azure_rig_header(w, 0, "Authorization"), "Bearer tok-1");
    ck_assert_str_eq(azure_rig_header(w, 2, "Authorization"), "Bearer tok-1");
    ck_assert_str_eq(azure_rig_header(w, 0, "x-ms-version"), "2020-12-06");
    ck_assert_ptr_nonnull(azure_rig_header(w, 0, "x-ms-date"));
    wire_stop(w);
    stop_vouching();
}
END_TEST

START_TEST(a_machine_is_asked_at_its_metadata_address)
{
    vouch_one(token_answer("tok-1", 3600));
    unsetenv("IDENTITY_HEADER"); /* App Service has both or it is none */
    setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", wire_url(vouching, "/"), 1);
    token_cache *c = new_cache();
    c->id.resource_id = STR("/subscriptions/1");
    ck_assert_str_eq(ask_token(c).got, "Bearer tok-1");
    ck_assert(
        str_starts(wire_request_at(vouching, 0).head,
                   STR("GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2F"
                       "storage.azure.com&msi_res_id=%2Fsubscriptions%2F1 HTTP/1.1\r\n")));
    ck_assert_str_eq(azure_rig_header(vouching, 0, "Metadata"), "true");
    stop_vouching();
}
END_TEST

static void federate(const char *file)
{
    setenv("AZURE_FEDERATED_TOKEN_FILE", file, 1);
    setenv("AZURE_TENANT_ID", "my-tenant", 1);
    setenv("AZURE_CLIENT_ID", "my-client", 1);
    setenv("AZURE_AUTHORITY_HOST", wire_url(vouching, "/"), 1);
}

START_TEST(a_workload_shows_the_content_of_its_file)
{
    char file[] = "/tmp/trestle-token-XXXXXX";
    int  fd = mkstemp(file);
    ck_assert(fd >= 0 && write(fd, " jwt+1\n", 7) == 7 && close(fd) == 0);
    vouch_one(json_answer("{\"access_token\":\"tok-w\",\"expires_in\":3599}"));
    federate(file);
    ask a = ask_token(new_cache());
    ck_assert_msg(a.result == RES_OK, "%s", a.message);
    ck_assert_str_eq(a.got, "Bearer tok-w");
    ck_assert(
        str_starts(wire_request_at(vouching, 0).head, STR("POST /my-tenant/oauth2/v2.0/token HTTP/1.1\r\n")));
    ck_assert_str_eq(azure_rig_header(vouching, 0, "Content-Type"), "application/x-www-form-urlencoded");
    ck_assert_str_eq(
        wire_request_at(vouching, 0).body.at,
        "grant_type=client_credentials&client_id=my-client&scope=https%3A%2F%2Fstorage.azure.com%2F"
        ".default&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-"
        "bearer&client_assertion=jwt%2B1");

    token_cache *managed = new_cache();
    managed->id.workload = false; /* asked for by name */
    ck_assert_int_eq(ask_token(managed).result, RES_OK);
    ck_assert(str_starts(wire_request_at(vouching, 1).head, STR("GET /msi/token?")));
    (void)unlink(file);
    ask gone = ask_token(new_cache());
    ck_assert_int_eq(gone.result, RES_CONFIG);
    ck_assert_ptr_nonnull(strstr(gone.message, "AZURE_FEDERATED_TOKEN_FILE"));
    stop_vouching();
}
END_TEST

START_TEST(a_workload_without_its_settings_is_told_which)
{
    vouch_one(token_answer("x", 3600));
    token_cache *c = new_cache();
    c->id.managed = false;
    ask a = ask_token(c);
    ck_assert_int_eq(a.result, RES_CONFIG);
    ck_assert_ptr_nonnull(strstr(a.message, "AZURE_TENANT_ID"));
    ck_assert_uint_eq(wire_requests(vouching), 0);
    stop_vouching();
}
END_TEST

START_TEST(identity_endpoints_are_reached_without_a_proxy)
{
    wire *proxy = wire_start(&(wire_answer){.bytes = RIG_STATUS("502 x", "")}, 1, NULL);
    vouch_one(token_answer("tok-1", 3600));
    setenv("HTTP_PROXY", wire_url(proxy, ""), 1);
    setenv("TRESTLE_PROXY", "1", 1);
    ck_assert_str_eq(ask_token(new_cache()).got, "Bearer tok-1");
    unsetenv("HTTP_PROXY");
    unsetenv("TRESTLE_PROXY");
    ck_assert_uint_eq(wire_requests(proxy), 0);
    wire_stop(proxy);
    stop_vouching();
}
END_TEST

/* ---- what is answered ---- */

static const struct {
    const char *expiry; /* with %lld: the second in which it expires */
    bool        exact;
} expiries[] = {
    {"\"expires_on\":\"%lld\"", true},
    {"\"expires_on\":%lld", true},
    {"\"expires_on\":\"2040-01-02T03:04:05Z\"", false},
    {"\"expires_on\":\"2040-01-02T03:04:05.1234567+00:00\"", false},
    {"\"expires_in\":3600", false},
    {"\"expires_in\":\"3600\"", false},
    {"\"expires_on\":\"soon\",\"expires_in\":3600", false},
};

/* STORE-8 */
START_TEST(the_expiry_is_understood_as_text_number_and_date)
{
    long long end_s = clock_wall_us() / 1000000 + 7200;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const char *expiry = textf(expiries[_i].expiry, end_s);
#pragma GCC diagnostic pop
    vouch_one(json_answer(textf("{\"access_token\":\"t\",%s}", expiry)));
    token_cache *c = new_cache();
    ask          a = ask_token(c);
    ck_assert_msg(a.result == RES_OK, "%s", a.message);
    if (expiries[_i].exact)
        ck_assert_int_eq(c->expires_us, end_s * 1000000);
    else if (strstr(expiry, "2040") != NULL)
        ck_assert_int_eq(c->expires_us / 1000000, 2209086245);
    else
        ck_assert_int_lt(llabs(c->expires_us - clock_wall_us() - 3600 * 1000000LL), 60 * 1000000LL);
    stop_vouching();
}
END_TEST

static const char *const useless[] = {
    "",
    "hunter2",
    "[]",
    "{\"access_token\":\"\",\"expires_on\":4102444800}",
    "{\"access_token\":5,\"expires_on\":4102444800}",
    "{\"access_token\":\"hunter2\\r\\nX: y\",\"expires_on\":4102444800}",
    "{\"access_token\":\"hunter2\"}",
    "{\"access_token\":\"hunter2\",\"expires_on\":\"soon\"}",
    "{\"access_token\":\"hunter2\",\"expires_on\":-5}",
    "{\"access_token\":\"hunter2\",\"expires_on\":9223372036854775807}",
    "{\"access_token\":\"hunter2\",\"expires_on\":1000}",
};

START_TEST(an_answer_without_a_usable_token_is_refused_and_not_repeated)
{
    vouch_one(json_answer(useless[_i]));
    ask a = ask_token(new_cache());
    ck_assert_int_eq(a.result, RES_UPSTREAM);
    ck_assert_ptr_nonnull(strstr(a.message, "App Service"));
    ck_assert_ptr_null(strstr(a.message, "hunter2"));
    stop_vouching();
}
END_TEST

static const struct {
    const char *first;
    bool        imds, again;
    res         result; /* if not again */
} refusals[] = {
    {RIG_STATUS("404 x", SOON), false, true, RES_OK},
    {RIG_STATUS("429 x", SOON), false, true, RES_OK},
    {RIG_STATUS("500 x", SOON), false, true, RES_OK},
    {RIG_STATUS("503 x", SOON), false, true, RES_OK},
    {RIG_STATUS("504 x", SOON), false, true, RES_OK},
    {RIG_STATUS("408 x", SOON), false, true, RES_OK},
    {RIG_STATUS("400 x", SOON), false, false, RES_CONFIG},
    {RIG_STATUS("403 x", SOON), false, false, RES_CONFIG},
    {RIG_STATUS("410 x", SOON), false, false, RES_CONFIG},
    {RIG_STATUS("502 x", SOON), false, false, RES_UPSTREAM},
    {RIG_STATUS("410 x", SOON), true, true, RES_OK},
    {RIG_STATUS("502 x", SOON), true, true, RES_OK},
    {RIG_STATUS("404 x", SOON), true, true, RES_OK},
    {RIG_STATUS("400 x", SOON), true, false, RES_CONFIG},
};

START_TEST(a_refusal_is_followed_by_another_try_if_that_may_help)
{
    vouch((wire_answer[]){{.bytes = refusals[_i].first}, {.bytes = token_answer("t", 3600)}}, 2);
    if (refusals[_i].imds) {
        unsetenv("IDENTITY_ENDPOINT");
        setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", wire_url(vouching, ""), 1);
    }
    ask a = ask_token(new_cache());
    ck_assert_msg(a.result == refusals[_i].result, "%s", a.message);
    ck_assert_uint_eq(wire_requests(vouching), refusals[_i].again ? 2 : 1);
    stop_vouching();
}
END_TEST

START_TEST(tries_end_after_three_more)
{
    const char *body = "{\"error\":\"oops\",\"error_description\":\"hunter2 hunter2\"}";
    vouch_one(textf("HTTP/1.1 500 x\r\nContent-Length: %zu\r\n" SOON "\r\n%s", strlen(body), body));
    ask a = ask_token(new_cache());
    ck_assert_int_eq(a.result, RES_UPSTREAM);
    ck_assert_uint_eq(wire_requests(vouching), 4);
    ck_assert_ptr_nonnull(strstr(a.message, "answered 500 oops"));
    ck_assert_ptr_null(strstr(a.message, "hunter2"));
    stop_vouching();
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

TCase *token_cases_identity(void)
{
    TCase *c = tcase_create("identity");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, app_service_is_asked_with_its_header_and_the_token_is_kept);
    tcase_add_test(c, a_machine_is_asked_at_its_metadata_address);
    tcase_add_test(c, a_workload_shows_the_content_of_its_file);
    tcase_add_test(c, a_workload_without_its_settings_is_told_which);
    tcase_add_test(c, identity_endpoints_are_reached_without_a_proxy);
    LOOP(c, the_expiry_is_understood_as_text_number_and_date, expiries);
    LOOP(c, an_answer_without_a_usable_token_is_refused_and_not_repeated, useless);
    LOOP(c, a_refusal_is_followed_by_another_try_if_that_may_help, refusals);
    tcase_add_test(c, tries_end_after_three_more);
    return c;
}
