/* test_azure_conn_string.c -- every form of a connection (spec 1.1 to 1.4), and what is said of wrong ones.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "storage/azure/conn_string.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define KEY "c2VjcmV0LWtleQ==" /* "secret-key" */

static const struct {
    const char   *text;
    azure_service service;
    const char   *url, *account, *secret; /* the decoded key, or the SAS */
    conn_kind     kind;
} good[] = {
    /* STORE-9: account key with derived hosts */
    {"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=" KEY ";EndpointSuffix=core.windows.net",
     AZURE_TABLES, "https://acct.table.core.windows.net", "acct", "secret-key", CONN_KEY},
    {"AccountName=acct;AccountKey=" KEY, AZURE_BLOBS, "https://acct.blob.core.windows.net", "acct",
     "secret-key", CONN_KEY},
    {"AccountName=acct;AccountKey=" KEY ";EndpointSuffix=core.chinacloudapi.cn", AZURE_QUEUES,
     "https://acct.queue.core.chinacloudapi.cn", "acct", "secret-key", CONN_KEY},
    {"defaultendpointsprotocol=HTTP;ACCOUNTNAME=acct;accountkey=" KEY ";", AZURE_TABLES,
     "http://acct.table.core.windows.net", "acct", "secret-key", CONN_KEY},
    {";; AccountName = acct ;\n AccountKey=" KEY " ;;", AZURE_TABLES, "https://acct.table.core.windows.net",
     "acct", "secret-key", CONN_KEY},
    /* explicit endpoints, per service */
    {"AccountName=a1;AccountKey=" KEY ";TableEndpoint=http://127.0.0.1:10002/a1/", AZURE_TABLES,
     "http://127.0.0.1:10002/a1", "a1", "secret-key", CONN_KEY},
    {"AccountName=a1;AccountKey=" KEY ";TableEndpoint=http://127.0.0.1:10002/a1/", AZURE_BLOBS,
     "https://a1.blob.core.windows.net", "a1", "secret-key", CONN_KEY},
    {"AccountName=a1;AccountKey=" KEY ";BlobEndpoint=https://[::1]:10000/a1", AZURE_BLOBS,
     "https://[::1]:10000/a1", "a1", "secret-key", CONN_KEY},
    {"AccountName=a1;AccountKey=" KEY ";TableEndpoint=http://h/x;TableSecondaryEndpoint=http://h/y;Other=z",
     AZURE_TABLES, "http://h/x", "a1", "secret-key", CONN_KEY},
    /* SAS */
    {"TableEndpoint=https://acct.table.core.windows.net/;SharedAccessSignature=?sv=2019-02-02&sig=a%2Bb%3D",
     AZURE_TABLES, "https://acct.table.core.windows.net", "", "sv=2019-02-02&sig=a%2Bb%3D", CONN_SAS},
    {"AccountName=acct;SharedAccessSignature=sv=2019-02-02&sig=a%2Bb%3D", AZURE_QUEUES,
     "https://acct.queue.core.windows.net", "acct", "sv=2019-02-02&sig=a%2Bb%3D", CONN_SAS},
    /* STORE-10: the development account */
    {"UseDevelopmentStorage=true", AZURE_BLOBS, "http://127.0.0.1:10000/devstoreaccount1", "devstoreaccount1",
     NULL, CONN_KEY},
    {"usedevelopmentstorage=TRUE;", AZURE_QUEUES, "http://127.0.0.1:10001/devstoreaccount1",
     "devstoreaccount1", NULL, CONN_KEY},
    {"X=y;UseDevelopmentStorage=true", AZURE_TABLES, "http://127.0.0.1:10002/devstoreaccount1",
     "devstoreaccount1", NULL, CONN_KEY},
    {"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite", AZURE_TABLES,
     "http://azurite:10002/devstoreaccount1", "devstoreaccount1", NULL, CONN_KEY},
    {"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=https://store.test:99/", AZURE_BLOBS,
     "https://store.test:10000/devstoreaccount1", "devstoreaccount1", NULL, CONN_KEY},
    /* Cosmos DB */
    {"DefaultEndpointsProtocol=https;AccountName=c;AccountKey=" KEY
     ";TableEndpoint=https://c.table.cosmos.azure.com:443/;",
     AZURE_TABLES, "https://c.table.cosmos.azure.com:443", "c", "secret-key", CONN_KEY},
};

static const char *terminated(str s)
{
    return textf("%.*s", STR_ARG(s));
}

START_TEST(a_connection_string_gives_endpoint_account_and_secret)
{
    conn_string c;
    str         why = {0};
    res         r = conn_string_parse(scratch(), good[_i].service, str_of(good[_i].text), &c, &why);
    ck_assert_msg(r == RES_OK, "%s", terminated(why));
    ck_assert_int_eq((int)c.kind, (int)good[_i].kind);
    ck_assert_str_eq(terminated(c.url), good[_i].url);
    ck_assert_str_eq(terminated(c.account), good[_i].account);
    ck_assert_int_eq(c.tls, strncmp(good[_i].url, "https", 5) == 0);
    ck_assert_int_eq(c.cosmos, strstr(good[_i].url, "cosmos") != NULL);
    ck_assert_int_eq(c.short_idle, c.path.len > 0);
    ck_assert(str_ends(c.url, c.path));
    if (good[_i].kind == CONN_SAS)
        ck_assert_str_eq(terminated(c.sas), good[_i].secret);
    else if (good[_i].secret != NULL)
        ck_assert_str_eq(terminated(c.key), good[_i].secret);
    else
        ck_assert_uint_eq(c.key.len, 64);
}
END_TEST

static const struct {
    const char *text, *names; /* what the message must name */
} bad[] = {
    {"", "neither a connection string nor the name"},
    {"hunter2 hunter2", "neither a connection string nor the name"},
    {"hunter2/../x", "neither a connection string nor the name"},
    {"AccountName=acct;hunter2", "part 2"},
    {"=hunter2", "part 1"},
    {"AccountName=acct", "'AccountKey'"},
    {"AccountKey=" KEY, "'AccountName'"},
    {"AccountName=acct;AccountKey=hunter2!", "'AccountKey'"},
    {"AccountName=acct;AccountKey=", "'AccountKey' is empty"},
    {"AccountName=acct;AccountKey=aHVudGVyMg", "'AccountKey'"},
    {"AccountName=acct;AccountName=hunter2;AccountKey=" KEY, "'AccountName' is given twice"},
    {"AccountName=hunter2/x;AccountKey=" KEY, "'AccountName'"},
    {"AccountName=hunter2\nX: y;AccountKey=" KEY, "'AccountName'"},
    {"AccountName=acct;AccountKey=" KEY ";DefaultEndpointsProtocol=hunter2", "'DefaultEndpointsProtocol'"},
    {"AccountName=acct;AccountKey=" KEY ";EndpointSuffix=hunter2/x", "'EndpointSuffix'"},
    {"AccountName=acct;AccountKey=" KEY ";EndpointSuffix=hunter2:x", "'EndpointSuffix'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=ftp://hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://u:hunter2@h", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://h?hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://h:0/hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://h:65536/hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://[::1/hunter2", "'TableEndpoint'"},
    {"AccountName=acct;AccountKey=" KEY ";TableEndpoint=http://h/a b", "'TableEndpoint'"},
    {"SharedAccessSignature=sig=hunter2", "'TableEndpoint'"},
    {"TableEndpoint=http://h;SharedAccessSignature=hunter2", "'SharedAccessSignature'"},
    {"TableEndpoint=http://h;SharedAccessSignature=sig=hunter2 x", "'SharedAccessSignature'"},
    {"UseDevelopmentStorage=hunter2", "'UseDevelopmentStorage'"},
    {"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=hunter2", "'DevelopmentStorageProxyUri'"},
    {"hunter2", "NAME__tableServiceUri or NAME__accountName"}, /* a key that was pasted alone, say */
    {"hunter2-and-more:of.it", "neither a connection string (it has no '=') nor the name of settings"},
    {"hunter2/+x", "neither a connection string nor the name of a setting"},
};

START_TEST(what_is_wrong_is_named_and_its_value_is_not_told)
{
    conn_string c = {.account = STR("untouched")};
    str         why = {0};
    ck_assert_int_eq(conn_string_parse(scratch(), AZURE_TABLES, str_of(bad[_i].text), &c, &why), RES_CONFIG);
    const char *text = terminated(why);
    ck_assert_msg(strstr(text, bad[_i].names) != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "hunter2"));
    ck_assert_ptr_null(strstr(text, KEY));
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert(str_eq(c.account, STR("untouched")));
}
END_TEST

/* ---- identity groups ---- */

static conn_string parse_group(azure_service service, res want, const char **ret_why)
{
    conn_string c = {0};
    str         why = {0};
    res         r = conn_string_parse(scratch(), service, STR("MyStore"), &c, &why);
    ck_assert_msg(r == want, "%s", terminated(why));
    if (ret_why != NULL)
        *ret_why = terminated(why);
    return c;
}

START_TEST(a_group_of_settings_names_account_and_identity)
{
    setenv("MyStore__accountName", "acct", 1);
    conn_string c = parse_group(AZURE_QUEUES, RES_OK, NULL);
    ck_assert_int_eq((int)c.kind, (int)CONN_IDENTITY);
    ck_assert_str_eq(terminated(c.url), "https://acct.queue.core.windows.net");
    ck_assert(c.workload && c.managed && c.client_id.len == 0);

    setenv("MyStore__tableServiceUri", "https://t.example/", 1);
    setenv("MyStore__credential", "managedIdentity", 1);
    setenv("MyStore__clientId", "6a1f0c3e-0000-4000-8000-000000000000", 1);
    c = parse_group(AZURE_TABLES, RES_OK, NULL);
    ck_assert_str_eq(terminated(c.url), "https://t.example");
    ck_assert(!c.workload && c.managed);
    ck_assert_str_eq(terminated(c.client_id), "6a1f0c3e-0000-4000-8000-000000000000");
    ck_assert_str_eq(terminated(parse_group(AZURE_BLOBS, RES_OK, NULL).url),
                     "https://acct.blob.core.windows.net");

    setenv("MyStore__credential", "workloadidentity", 1);
    c = parse_group(AZURE_TABLES, RES_OK, NULL);
    ck_assert(c.workload && !c.managed);
}
END_TEST

START_TEST(a_wrong_member_of_a_group_is_named)
{
    const char *why;
    setenv("MyStore__accountName", "acct", 1);
    setenv("MyStore__credential", "hunter2", 1);
    parse_group(AZURE_TABLES, RES_CONFIG, &why);
    ck_assert(strstr(why, "'MyStore__credential'") != NULL && strstr(why, "hunter2") == NULL);
    setenv("MyStore__credential", "managedidentity", 1);
    setenv("MyStore__clientId", "hunter2&x=y", 1);
    parse_group(AZURE_TABLES, RES_CONFIG, &why);
    ck_assert(strstr(why, "'MyStore__clientId'") != NULL && strstr(why, "hunter2") == NULL);
    unsetenv("MyStore__clientId");
    setenv("MyStore__tableServiceUri", "http://far.example", 1);
    parse_group(AZURE_TABLES, RES_CONFIG, &why);
    ck_assert(strstr(why, "'MyStore__tableServiceUri' is not https") != NULL);
    setenv("MyStore__tableServiceUri", "http://127.0.0.1:1/acct", 1);
    parse_group(AZURE_TABLES, RES_OK, NULL);
}
END_TEST

START_TEST(a_connection_survives_every_failing_allocation)
{
    static const char *const texts[] = {
        "AccountName=a1;AccountKey=" KEY,
        "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://h",
        "TableEndpoint=http://h;SharedAccessSignature=sig=x",
        "MyStore",
    };
    setenv("MyStore__accountName", "acct", 1);
    setenv("MyStore__clientId", "id", 1);
    for (long nth = 1;; nth++) {
        arena          *a = arena_new(1 * MIB);
        str             why = {0};
        azure_endpoint *e = NULL;
        arena_fail_at(nth);
        res  r = azure_endpoint_new(a, AZURE_TABLES, str_of(texts[_i]), &e, &why);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert(pending ? r == RES_OK : r == RES_MEMORY || r == RES_CONFIG);
        ck_assert(pending || e == NULL);
        arena_free(a);
        if (pending)
            break;
    }
}
END_TEST

Suite *suite_azure_conn_string(void)
{
    Suite *s = suite_create("azure_conn_string");
    TCase *tc = tcase_create("conn_string");
    tcase_add_loop_test(tc, a_connection_string_gives_endpoint_account_and_secret, 0,
                        sizeof good / sizeof *good);
    tcase_add_loop_test(tc, what_is_wrong_is_named_and_its_value_is_not_told, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, a_group_of_settings_names_account_and_identity);
    tcase_add_test(tc, a_wrong_member_of_a_group_is_named);
    tcase_add_loop_test(tc, a_connection_survives_every_failing_allocation, 0, 4);
    suite_add_tcase(s, tc);
    return s;
}
