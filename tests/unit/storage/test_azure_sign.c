/* test_azure_sign.c -- the vectors of spec 2.6 and 2.7, byte for byte: first the text, then its signature.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <locale.h>

#include "core/base64.h"
#include "core/iso8601.h"
#include "storage/azure/sign.h"
#include "support/scratch.h"
#include "unit/suites.h"

#define DEV_KEY "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define DATE    "Wed, 18 Nov 2026 12:00:00 GMT"
#define ENTITY  "/devstoreaccount1/Vectors(PartitionKey='p%20%C3%BC',RowKey='o%27%27b')"
#define BLOB    "/devstoreaccount1/vec/dir/h%C3%A9llo%20w.txt"
#define VERSION "2021-12-02"

typedef str text_fn(arena *a, const sign_request *q);

static const struct {
    text_fn    *text_of;
    const char *method, *path, *query;
    size_t      body_bytes;
    http_header headers[6]; /* beside x-ms-date; in an order that is not that of signing */
    const char *text, *signature;
} vectors[] = {
    {.text_of = sign_tables_text, /* T1 */
     .method = "PUT",
     .path = ENTITY,
     .query = "",
     .headers = {{STR_INIT("Content-Type"), STR_INIT("application/json")}},
     .text = "PUT\n\napplication/json\n" DATE "\n/devstoreaccount1" ENTITY,
     .signature = "GXVhLB7rfLf1qq0Wet/vugrVt0JbHdSI4cJbM2wya2k="},
    {.text_of = sign_tables_text, /* T2: the query is not signed (STORE-5) */
     .method = "GET",
     .path = "/devstoreaccount1/Vectors()",
     .query = "$filter=A%20eq%201&$top=5",
     .text = "GET\n\n\n" DATE "\n/devstoreaccount1/devstoreaccount1/Vectors()",
     .signature = "1lsnYQVOHIfo3MWAsEB3ZQpWvcAawX2f4U+KL9rkhmk="},
    {.text_of = sign_tables_text, /* T3: … but comp is (STORE-5) */
     .method = "GET",
     .path = "/devstoreaccount1/",
     .query = "restype=service&comp=properties",
     .text = "GET\n\n\n" DATE "\n/devstoreaccount1/devstoreaccount1/?comp=properties",
     .signature = "H9EmOVB7JNdkHqqnILNFZ/jGPHXWkFQfn1qKUHVqPqA="},
    {.text_of = sign_tables_lite_text, /* T4 */
     .method = "GET",
     .path = ENTITY,
     .query = "",
     .text = DATE "\n/devstoreaccount1" ENTITY,
     .signature = "QwAABuXar54zGnvXDF9GmNTqznFtHDp+Eqv4GNnmtSU="},
    {.text_of = sign_tables_lite_text, /* T5 */
     .method = "POST",
     .path = "/devstoreaccount1/Tables",
     .query = "",
     .headers = {{STR_INIT("Content-Type"), STR_INIT("application/json")}},
     .text = DATE "\n/devstoreaccount1/devstoreaccount1/Tables",
     .signature = "n7q2fZ3+/dwgBuJAzN51NpqS6LgXtNbFrDDtxgAqac0="},
    {.text_of = sign_blob_text, /* B1 */
     .method = "PUT",
     .path = BLOB,
     .query = "",
     .body_bytes = 5,
     .headers = {{STR_INIT("X-Ms-Version"), STR_INIT(VERSION)},
                 {STR_INIT("x-ms-meta-zed"), STR_INIT("1")},
                 {STR_INIT("Content-Type"), STR_INIT("text/plain")},
                 {STR_INIT("x-ms-meta-ABC"), STR_INIT(" 2 ")},
                 {STR_INIT("If-None-Match"), STR_INIT("*")},
                 {STR_INIT("x-ms-blob-type"), STR_INIT("BlockBlob")}},
     .text = "PUT\n\n\n5\n\ntext/plain\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:" DATE
             "\nx-ms-meta-abc:2\nx-ms-meta-zed:1\nx-ms-version:" VERSION "\n/devstoreaccount1" BLOB,
     .signature = "ivai4U0lUfYcJZfO1yZMo+3JZjUpnqUibtjZn+g58gk="},
    {.text_of = sign_blob_text, /* B2 */
     .method = "GET",
     .path = "/devstoreaccount1/vec",
     .query = "restype=container&comp=list&prefix=dir%2F&maxresults=10",
     .headers = {{STR_INIT("x-ms-version"), STR_INIT(VERSION)}},
     .text = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" DATE "\nx-ms-version:" VERSION
             "\n/devstoreaccount1/devstoreaccount1/vec\ncomp:list\nmaxresults:10\nprefix:dir/\n"
             "restype:container",
     .signature = "Xyn0APkLczmI4voQOGvhIw2VqSgUVMdbaAg/e1jxow8="},
    {.text_of = sign_blob_text, /* B3 */
     .method = "GET",
     .path = BLOB,
     .query = "",
     .headers = {{STR_INIT("x-ms-version"), STR_INIT(VERSION)},
                 {STR_INIT("x-ms-range"), STR_INIT("bytes=0-1")}},
     .text = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" DATE "\nx-ms-range:bytes=0-1\nx-ms-version:" VERSION
             "\n/devstoreaccount1" BLOB,
     .signature = "2b8oR4M661OopqsAVN/UzF7A9qVEIMElQQ8QIVaet30="},
    {.text_of = sign_blob_text, /* Q1: the length of an empty body is nothing */
     .method = "PUT",
     .path = "/devstoreaccount1/vecq",
     .query = "",
     .headers = {{STR_INIT("x-ms-version"), STR_INIT(VERSION)}},
     .text = "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:" DATE "\nx-ms-version:" VERSION
             "\n/devstoreaccount1/devstoreaccount1/vecq",
     .signature = "qdZBhCjaVOVhXr751JKBqMIdHSk0+Zn4Vlp37BYZRHU="},
};

static str dev_key(void)
{
    str key = {0};
    ck_assert(base64_decode(scratch(), STR(DEV_KEY), &key));
    return key;
}

static const char *terminated(str s)
{
    return textf("%.*s", STR_ARG(s));
}

/* STORE-1, STORE-5 */
START_TEST(a_request_is_signed_as_its_vector_says)
{
    http_header headers[8] = {{STR("x-ms-date"), STR(DATE)}};
    size_t      count = 1;
    for (size_t i = 0; i < 6 && vectors[_i].headers[i].name.len > 0; i++)
        headers[count++] = vectors[_i].headers[i];
    sign_request q = {.account = STR("devstoreaccount1"),
                      .method = str_of(vectors[_i].method),
                      .path = str_of(vectors[_i].path),
                      .query = str_of(vectors[_i].query),
                      .headers = headers,
                      .header_count = count,
                      .body_bytes = vectors[_i].body_bytes};
    str          text = vectors[_i].text_of(scratch(), &q);
    ck_assert_str_eq(terminated(text), vectors[_i].text);
    ck_assert_str_eq(terminated(sign_text(scratch(), dev_key(), text)), vectors[_i].signature);
}
END_TEST

/* STORE-1 */
START_TEST(an_account_sas_is_signed_as_its_vectors_say)
{
    sign_account_sas s = {.permissions = STR("raud"),
                          .services = STR("t"),
                          .resource_types = STR("sco"),
                          .expiry = STR("2030-01-01T00:00:00Z"),
                          .protocols = STR("https,http"),
                          .version = STR("2019-02-02")};
    str              text = sign_account_sas_text(scratch(), STR("devstoreaccount1"), &s);
    ck_assert_str_eq(terminated(text), "devstoreaccount1\nraud\nt\nsco\n\n2030-01-01T00:00:00Z\n\nhttps,"
                                       "http\n2019-02-02\n");
    ck_assert_str_eq(terminated(sign_text(scratch(), dev_key(), text)),
                     "Om/BGtGUdH59CB2tWyjnr83FlT7/splJGb9RwMBLF4c=");
    s.version = STR("2021-12-02");
    text = sign_account_sas_text(scratch(), STR("devstoreaccount1"), &s);
    ck_assert(str_ends(text, STR("\n2021-12-02\n\n")));
    ck_assert_str_eq(terminated(sign_text(scratch(), dev_key(), text)),
                     "YoudJEPuWKrK3hAm/wpSET/gjvUrY8uSQZ/GzSf+a3c=");
}
END_TEST

START_TEST(values_of_one_parameter_are_sorted_and_joined)
{
    sign_request q = {
        .account = STR("a"),
        .method = STR("GET"),
        .path = STR("/c"),
        .query = STR("include=snapshots&Comp=list&include=metadata&marker=a%2Bb%26c&&flag&bad=%zz%4")};
    str text = sign_blob_text(scratch(), &q);
    ck_assert(
        str_ends(text, STR("\n/a/c\nbad:%zz%4\ncomp:list\nflag:\ninclude:metadata,snapshots\nmarker:a+b&c")));
}
END_TEST

START_TEST(without_memory_a_text_is_empty_and_not_half)
{
    http_header  h[] = {{STR("x-ms-date"), STR(DATE)}, {STR("x-ms-a"), STR("b")}};
    sign_request q = {.account = STR("a"),
                      .method = STR("GET"),
                      .path = STR("/c"),
                      .query = STR("comp=list&b=%20"),
                      .headers = h,
                      .header_count = 2};
    str          whole = sign_blob_text(scratch(), &q);
    long         nth = 1;
    for (;; nth++) {
        arena *a = arena_new(1 * MIB);
        arena_fail_at(nth);
        str  text = sign_blob_text(a, &q);
        bool pending = arena_fail_pending();
        arena_fail_at(0);
        if (pending)
            ck_assert(str_eq(text, whole));
        else
            ck_assert_uint_eq(text.len, 0);
        arena_free(a);
        if (pending)
            break;
    }
    ck_assert_int_gt(nth, 3);
}
END_TEST

/* STORE-6: no strftime, so no locale has a say. */
START_TEST(dates_are_english_in_any_locale)
{
    char out[HTTP_DATE_SIZE];
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
    ck_assert_str_eq(terminated(http_date_format(1795003200000000, out)), DATE);
    (void)setlocale(LC_ALL, "C");
}
END_TEST

Suite *suite_azure_sign(void)
{
    Suite *s = suite_create("azure_sign");
    TCase *tc = tcase_create("sign");
    tcase_add_loop_test(tc, a_request_is_signed_as_its_vector_says, 0, sizeof vectors / sizeof *vectors);
    tcase_add_test(tc, an_account_sas_is_signed_as_its_vectors_say);
    tcase_add_test(tc, values_of_one_parameter_are_sorted_and_joined);
    tcase_add_test(tc, without_memory_a_text_is_empty_and_not_half);
    tcase_add_test(tc, dates_are_english_in_any_locale);
    suite_add_tcase(s, tc);
    return s;
}
