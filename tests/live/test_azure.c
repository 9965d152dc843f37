/* test_azure.c -- what only a service over the wire can show: signatures, keys, SAS, and connections.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "live/live.h"
#include "runtime/fetch.h"
#include "storage/azure/sign.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- signatures ---- */

#define VECTOR_DATE "Wed, 18 Nov 2026 12:00:00 GMT"
#define VECTOR_PATH "/Vectors(PartitionKey='p%20%C3%BC',RowKey='o%27%27b')"

static int send_vector(task *t, const char *method, const char *authorization, str body)
{
    http_header headers[] = {
        {STR("x-ms-date"), STR(VECTOR_DATE)},
        {STR("x-ms-version"), STR("2019-02-02")},
        {STR("Accept"), STR("application/json;odata=minimalmetadata")},
        {STR("Authorization"), str_of(authorization)},
        {STR("Content-Type"), STR("application/json")},
    };
    fetch_request in = {.method = str_of(method),
                        .url =
                            str_of(textf("%s%s", azurite_url(live_azurite(), AZURITE_TABLES), VECTOR_PATH)),
                        .headers = headers,
                        .header_count = body.len > 0 ? 5 : 4,
                        .body = body};
    fetch_answer  got;
    OK(fetch(t, &in, &got));
    return got.status;
}

/* STORE-2: T1, then T4, as the specification has them; and what T1 wrote is an entity to us. */
LIVE_TEST(the_vectors_of_the_specification_are_accepted)
{
    table  in = {.name = STR("Vectors")};
    entity e;
    OK(tables_create(t, in));
    ck_assert_int_eq(send_vector(t, "PUT",
                                 "SharedKey " AZURITE_ACCOUNT ":GXVhLB7rfLf1qq0Wet/vugrVt0JbHdSI4cJbM2wya2k=",
                                 STR("{\"A\":1}")),
                     204);
    ck_assert_int_eq(
        send_vector(
            t, "GET",
            "SharedKeyLite " AZURITE_ACCOUNT ":QwAABuXar54zGnvXDF9GmNTqznFtHDp+Eqv4GNnmtSU=", STR("")),
        200);
    OK(tables_get(t, in, STR("p \xc3\xbc"), STR("o'b"), &e));
    ck_assert_int_eq(entity_int(&e, "A", 0), 1);
}

static res use_every_service(task *t, void *ctx)
{
    (void)ctx;
    table          rows = live_table();
    container      blobs = live_container();
    queue          messages = live_queue();
    entity         e = entity_new(t->arena, STR("p \xc3\xbc"), STR("o'b")), got;
    blob_got       blob;
    queue_message *m;
    size_t         count;
    OK(tables_insert(t, rows, &e));
    OK(tables_commit(t, rows, &(table_write){.kind = WRITE_MERGE, .e = &e, .etag = e.etag}, 1, NULL));
    OK(tables_get(t, rows, e.partition, e.row, &got));
    OK(blobs_put(t, blobs, STR("a b/\xc3\xbc"), STR("x"), &(blob_put){0}, NULL));
    OK(blobs_get(t, blobs, STR("a b/\xc3\xbc"), &(blob_get){0}, &blob));
    OK(queues_put(t, messages, STR("x"), 0, 0, NULL));
    OK(queues_receive(t, messages, 1, 30, &m, &count));
    ck_assert_uint_eq(count, 1);
    OK(queues_remove(t, messages, m[0].id, m[0].receipt));
    return RES_OK;
}

START_TEST(the_light_signature_works_too)
{
    ck_assert_int_eq(setenv("TRESTLE_STORAGE_SHARED_KEY_LITE", "1", 1), 0);
    live_run(use_every_service, NULL, LIVE_DEADLINE_MS);
}
END_TEST

static bool has_secret(task *t, const char *secret)
{
    return str_has(task_message(t), str_of(secret));
}

/* STORE-3: the code is in an XML body, and no message has the key. */
static res find_the_key_refused(task *t, void *ctx)
{
    const char *key = ctx;
    entity      e;
    blob_got    blob;
    uint64_t    count;
    res         r = tables_get(t, live_table(), STR("p"), STR("r"), &e);
    ck_assert_int_eq(r, RES_CONFIG);
    ck_assert(str_has(task_message(t), STR("403")));
    ck_assert(str_has(task_message(t), STR("AuthorizationFailure")));
    ck_assert(!has_secret(t, key) && !has_secret(t, "SharedKey"));
    task_forget(t);
    r = blobs_get(t, live_container(), STR("b"), &(blob_get){0}, &blob);
    ck_assert_int_eq(r, RES_CONFIG);
    ck_assert(!has_secret(t, key));
    task_forget(t);
    r = queues_count(t, live_queue(), &count);
    ck_assert_int_eq(r, RES_CONFIG);
    ck_assert(!has_secret(t, key));
    task_forget(t);
    return RES_OK;
}

START_TEST(a_wrong_key_is_refused_and_never_told)
{
    static char key[] =
        "AAAAvdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    str connection = str_of(textf(
        "AccountName=" AZURITE_ACCOUNT ";AccountKey=%s;TableEndpoint=%s;BlobEndpoint=%s;QueueEndpoint=%s",
        key, azurite_url(live_azurite(), AZURITE_TABLES), azurite_url(live_azurite(), AZURITE_BLOBS),
        azurite_url(live_azurite(), AZURITE_QUEUES)));
    live_run_on(
        &(store_options){
            .kind = STORE_AZURE, .tables = connection, .blobs = connection, .queues = connection},
        find_the_key_refused, key, LIVE_DEADLINE_MS);
}
END_TEST

/* ---- SAS: STORE-7 ---- */

/* For all three services until 2036, with these permissions. */
static store_options sas_options(const char *permissions)
{
    sign_account_sas s = {.permissions = str_of(permissions),
                          .services = STR("bqt"),
                          .resource_types = STR("sco"),
                          .expiry = STR("2036-01-01T00:00:00Z"),
                          .protocols = STR("https,http"),
                          .version = STR("2021-12-02")};
    str              key = {0};
    ck_assert(base64_decode(scratch(), STR(AZURITE_KEY), &key));
    str signature = sign_text(scratch(), key, sign_account_sas_text(scratch(), STR(AZURITE_ACCOUNT), &s));
    const char *encoded = "";
    for (size_t k = 0; k < signature.len; k++) {
        char c = signature.at[k];
        encoded = textf(strchr("+/=", c) != NULL ? "%s%%%02X" : "%s%c", encoded, c);
    }
    str connection =
        str_of(textf("TableEndpoint=%s;BlobEndpoint=%s;QueueEndpoint=%s;SharedAccessSignature=?sv=2021-12-02&"
                     "ss=bqt&srt=sco&"
                     "sp=%s&se=2036-01-01T00%%3A00%%3A00Z&spr=https%%2Chttp&sig=%s",
                     azurite_url(live_azurite(), AZURITE_TABLES), azurite_url(live_azurite(), AZURITE_BLOBS),
                     azurite_url(live_azurite(), AZURITE_QUEUES), permissions, encoded));
    return (store_options){
        .kind = STORE_AZURE, .tables = connection, .blobs = connection, .queues = connection};
}

START_TEST(a_sas_with_all_permissions_does_everything)
{
    store_options o = sas_options("rwdlacup");
    live_run_on(&o, use_every_service, NULL, LIVE_DEADLINE_MS);
}
END_TEST

static res insert_into(task *t, void *ctx)
{
    entity e = entity_new(t->arena, STR("p"), STR("r"));
    OK(tables_insert(t, *(const table *)ctx, &e));
    return RES_OK;
}

static res read_but_not_remove(task *t, void *ctx)
{
    const table *in = ctx;
    entity       e;
    OK(tables_get(t, *in, STR("p"), STR("r"), &e));
    res r = tables_remove(t, *in, STR("p"), STR("r"), ETAG_ANY);
    ck_assert_int_eq(r, RES_CONFIG);
    ck_assert(str_has(task_message(t), STR("AuthorizationPermissionMismatch")));
    ck_assert(!has_secret(t, "sig="));
    task_forget(t);
    OK(tables_get(t, *in, STR("p"), STR("r"), &e));
    return RES_OK;
}

START_TEST(a_sas_for_reading_does_not_remove)
{
    table         in = live_table();
    store_options o = sas_options("r");
    live_run(insert_into, &in, LIVE_DEADLINE_MS);
    live_run_on(&o, read_but_not_remove, &in, LIVE_DEADLINE_MS);
}
END_TEST

/* ---- connections: STORE-43 ---- */

enum { TCP_ESTABLISHED = 1, LOCAL_PORTS_MAX = 64 };

/* Our ends of connections to that port, as the kernel lists them. */
static int local_ports(int to, unsigned ports[LOCAL_PORTS_MAX])
{
    char  line[256];
    int   count = 0;
    FILE *f = fopen("/proc/self/net/tcp", "re");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned local, remote, state;
        if (sscanf(line, " %*d: %*8x:%4x %*8x:%4x %2x", &local, &remote, &state) == 3 &&
            remote == (unsigned)to && state == TCP_ESTABLISHED && count < LOCAL_PORTS_MAX)
            ports[count++] = local;
    }
    (void)fclose(f);
    return count;
}

LIVE_TEST(requests_a_second_apart_share_a_connection)
{
    table    in = live_table();
    entity   e;
    unsigned before[LOCAL_PORTS_MAX], after[LOCAL_PORTS_MAX];
    int      to = azurite_port(live_azurite(), AZURITE_TABLES);
    EXPECT(RES_NOT_FOUND, tables_get(t, in, STR("p"), STR("r"), &e));
    ck_assert_int_eq(local_ports(to, before), 1);
    OK(task_sleep(t, 1000));
    EXPECT(RES_NOT_FOUND, tables_get(t, in, STR("p"), STR("r"), &e));
    ck_assert_int_eq(local_ports(to, after), 1);
    ck_assert_uint_eq(before[0], after[0]);
}

/* Azurite closes what was idle for 5 s. The next request must not find that out by failing. */
LIVE_TEST(a_request_after_a_long_pause_succeeds_at_once)
{
    table     in = live_table();
    container blobs = live_container();
    entity    e = entity_new(t->arena, STR("p"), STR("r"));
    OK(tables_upsert_replace(t, in, &e));
    OK(blobs_append(t, blobs, STR("log"), STR("x"), 0, NULL));
    OK(task_sleep(t, 8000));
    OK(tables_replace(t, in, &e, e.etag));
    OK(blobs_append(t, blobs, STR("log"), STR("y"), 1, NULL));
}

static Suite *suite_azure(void)
{
    Suite *s = suite_create("azure");
    TCase *c = live_case("azure");
    tcase_add_test(c, the_vectors_of_the_specification_are_accepted);
    tcase_add_test(c, the_light_signature_works_too);
    tcase_add_test(c, a_wrong_key_is_refused_and_never_told);
    tcase_add_test(c, a_sas_with_all_permissions_does_everything);
    tcase_add_test(c, a_sas_for_reading_does_not_remove);
    tcase_add_test(c, requests_a_second_apart_share_a_connection);
    tcase_add_test(c, a_request_after_a_long_pause_succeeds_at_once);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    static const runner_suite suites[] = {{"live_azure", suite_azure}};
    return live_azure_main(&(azurite_spec){.tls = false}, suites, COUNT(suites), argc, argv);
}
