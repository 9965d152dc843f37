/* test_azure_tls.c -- the services over TLS, with keys and with tokens.
 *
 * Azurite looks at a token's times, issuer and audience, not at its signature (spec 2.8): so a token can be
 * made here. It is handed out by a scripted server in the place of App Service's identity endpoint.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/base64.h"
#include "core/clock.h"
#include "live/live.h"
#include "support/wire.h"

enum { HOUR_S = 3600 };

static res use_every_service(task *t, void *ctx)
{
    (void)ctx;
    entity    e = entity_new(t->arena, STR("p"), STR("o'b"));
    table     rows = live_table();
    blob_got  got;
    container blobs = live_container();
    OK(tables_insert(t, rows, &e));
    OK(tables_commit(t, rows, &(table_write){.kind = WRITE_DELETE, .e = &e, .etag = e.etag}, 1, NULL));
    OK(blobs_put(t, blobs, STR("b"), STR("x"), &(blob_put){0}, NULL));
    OK(blobs_get(t, blobs, STR("b"), &(blob_get){0}, &got));
    OK(queues_put(t, live_queue(), STR("x"), 0, 0, NULL));
    return RES_OK;
}

static void trust_azurite(void)
{
    ck_assert_int_eq(setenv("TRESTLE_CA_FILE", azurite_ca_file(live_azurite()), 1), 0);
}

START_TEST(keys_work_over_tls)
{
    trust_azurite();
    live_run(use_every_service, NULL, LIVE_DEADLINE_MS);
}
END_TEST

static res find_nobody_trusted(task *t, void *ctx)
{
    entity e;
    (void)ctx;
    EXPECT(RES_UNREACHABLE, tables_get(t, live_table(), STR("p"), STR("r"), &e));
    return RES_OK;
}

START_TEST(an_unknown_certificate_is_not_trusted)
{
    live_run(find_nobody_trusted, NULL, LIVE_DEADLINE_MS);
}
END_TEST

/* ---- tokens: STORE-8 ---- */

static const char *make_token(const char *audience, int64_t expires_in_s)
{
    int64_t     now = clock_wall_us() / 1000000;
    const char *claims =
        textf("{\"aud\":\"%s\",\"iss\":\"https://sts.windows.net/1/\",\"iat\":%lld,\"nbf\":%lld,"
              "\"exp\":%lld,\"oid\":\"6a1f0c3e-0000-4000-8000-000000000000\"}",
              audience, (long long)now - HOUR_S, (long long)now - HOUR_S, (long long)now + expires_in_s);
    str head = base64url_encode(scratch(), STR("{\"alg\":\"RS256\",\"typ\":\"JWT\"}"));
    str body = base64url_encode(scratch(), str_of(claims));
    return textf("%.*s.%.*s.c2ln", STR_ARG(head), STR_ARG(body));
}

typedef struct {
    res         expected;
    const char *token;
} token_run;

static res try_token(task *t, void *ctx)
{
    const token_run *run = ctx;
    entity           e;
    if (run->expected == RES_OK)
        return use_every_service(t, NULL);
    ck_assert_int_eq(tables_get(t, live_table(), STR("p"), STR("r"), &e), run->expected);
    ck_assert(!str_has(task_message(t), str_of(run->token)));
    task_forget(t);
    return RES_OK;
}

static void run_with_token(const char *token, res expected)
{
    azurite    *a = live_azurite();
    const char *body = textf("{\"access_token\":\"%s\",\"expires_on\":\"%lld\",\"resource\":"
                             "\"https://storage.azure.com\",\"token_type\":\"Bearer\"}",
                             token, (long long)clock_wall_us() / 1000000 + HOUR_S);
    const char *answer =
        textf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
              str_of(body).len, body);
    wire *w = wire_start(&(wire_answer){.bytes = answer}, 1, NULL);
    trust_azurite();
    ck_assert_int_eq(setenv("IDENTITY_ENDPOINT", wire_url(w, "/msi/token"), 1), 0);
    ck_assert_int_eq(setenv("IDENTITY_HEADER", "header-of-the-host", 1), 0);
    ck_assert_int_eq(setenv("LIVE__credential", "managedidentity", 1), 0);
    ck_assert_int_eq(setenv("LIVE__tableServiceUri", azurite_url(a, AZURITE_TABLES), 1), 0);
    ck_assert_int_eq(setenv("LIVE__blobServiceUri", azurite_url(a, AZURITE_BLOBS), 1), 0);
    ck_assert_int_eq(setenv("LIVE__queueServiceUri", azurite_url(a, AZURITE_QUEUES), 1), 0);
    token_run run = {.expected = expected, .token = token};
    live_run_on(
        &(store_options){
            .kind = STORE_AZURE, .tables = STR("LIVE"), .blobs = STR("LIVE"), .queues = STR("LIVE")},
        try_token, &run, LIVE_DEADLINE_MS);
    ck_assert_uint_ge(wire_requests(w), 1);
    ck_assert_uint_le(wire_requests(w), 4); /* cached: not one for each call */
    ck_assert(wire_has_header(w, 0, "X-IDENTITY-HEADER: header-of-the-host"));
    wire_stop(w);
}

START_TEST(a_token_of_the_managed_identity_opens_every_service)
{
    run_with_token(make_token("https://storage.azure.com", HOUR_S), RES_OK);
}
END_TEST

START_TEST(an_expired_token_is_refused)
{
    run_with_token(make_token("https://storage.azure.com", -60), RES_CONFIG);
}
END_TEST

START_TEST(a_token_for_somebody_else_is_refused)
{
    run_with_token(make_token("https://vault.azure.net", HOUR_S), RES_CONFIG);
}
END_TEST

static Suite *suite_azure_tls(void)
{
    Suite *s = suite_create("azure_tls");
    TCase *c = live_case("azure_tls");
    tcase_add_test(c, keys_work_over_tls);
    tcase_add_test(c, an_unknown_certificate_is_not_trusted);
    tcase_add_test(c, a_token_of_the_managed_identity_opens_every_service);
    tcase_add_test(c, an_expired_token_is_refused);
    tcase_add_test(c, a_token_for_somebody_else_is_refused);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {{"live_azure_tls", suite_azure_tls}};
    return live_azure_main(&(azurite_spec){.tls = true, .oauth = true}, suites, 1, argc, argv);
}
