/* test_actions_versions.c -- GET and HEAD actions/versions, and its timer.
 *
 * SPDX-License-Identifier: MIT */
#include "core/gzip.h"
#include "core/hash.h"
#include "domain/actions/settings.h"
#include "domain/actions/versions.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/derived_wire.h"

#define VERSIONS "/api/actions/versions"
#define WARMUP   "/VersionsWarmup"
#define TIMER    "{\"Data\":{\"timer\":{}},\"Metadata\":{}}"

enum { UNZIPPED_MAX = 8 * MIB, AT_ONCE = 6 };

static void put_three(task *t)
{
    rows_put(t, "Zeta", "Zeta_b", ",\"releaseInfo\":[\"v1\"],\"versionShaMap\":{\"v1\":\"abcdef0\"}");
    rows_put(t, "zeta", "A", "");
    rows_put(t, "acme", "acme_x", ",\"verified\":true");
    rows_put_cache(t, "{}");
}

/* The text without its date. */
static str undated(arena *a, str body)
{
    size_t from = str_find(body, STR("\"generatedAt\"")), to = str_find(body, STR("\"count\""));
    ck_assert(from < to && to < body.len);
    return arena_strf(a, "%.*s%.*s", STR_ARG(str_slice(body, 0, from)), STR_ARG(str_from(body, to)));
}

/* ---- over the real stores ---- */

/* ACT-46. */
RIG_TEST(the_catalogue_is_built_at_the_first_request_and_sorted)
{
    put_three(t);
    got g = rig_get(t, VERSIONS);
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=3600"));
    ck_str_eq(rig_header(&g, "vary"), STR("Accept-Encoding"));
    ck_str_eq(rig_header(&g, "x-versions-count"), STR("3"));
    ck_str_eq(rig_header(&g, "x-versions-schema-version"), STR("1"));
    ck_str_eq(rig_header(&g, "x-versions-generated-at"), rig_text(&g, "generatedAt"));
    ck_assert_int_eq(rig_int(&g, "schemaVersion"), 1);
    ck_assert_int_eq(rig_int(&g, "count"), 3);
    ck_assert_int_eq(rig_int(&g, "skipped"), 0); /* the row of aggregates is no record */
    ck_assert_uint_eq(json_len(rig_at(&g, "fields")), 11);
    ck_assert_int_eq(rig_int(&g, "flags/disabled"), 8);
    ck_str_eq(rig_text(&g, "actions/0/1"), STR("x"));
    ck_str_eq(rig_text(&g, "actions/1/1"), STR("A"));
    ck_str_eq(rig_text(&g, "actions/2/1"), STR("b"));
    ck_str_eq(rig_text(&g, "actions/2/2"), STR("v1"));
    ck_str_eq(rig_text(&g, "actions/2/3"), STR("abcdef0"));
}

/* ACT-46. */
RIG_TEST(gzip_is_sent_as_it_is_stored)
{
    const actions_settings *s = settings_get();
    blob_got                stored;
    str                     plain;
    put_three(t);
    got g = rig_get(t, VERSIONS), packed = derived_get(t, VERSIONS, "Accept-Encoding", STR("gzip, br"));
    OK(blobs_get(t, s->snapshots, s->versions_blob, &(blob_get){0}, &stored));
    ck_status(packed, 200);
    ck_str_eq(rig_header(&packed, "content-encoding"), STR("gzip"));
    ck_str_eq(packed.body, stored.body);
    OK(gzip_unpack(t->arena, packed.body, UNZIPPED_MAX, &plain));
    ck_str_eq(plain, g.body);
    ck_str_eq(rig_header(&packed, "etag"), rig_header(&g, "etag"));
    got none = derived_get(t, VERSIONS, "Accept-Encoding", STR("gzip;q=0"));
    ck_str_eq(none.body, g.body);
}

/* ACT-46. */
RIG_TEST(head_and_meta_tell_of_it)
{
    put_three(t);
    got g = rig_get(t, VERSIONS), h = rig_call(t, "HEAD", VERSIONS, (str){0}, NULL, 0);
    ck_status(h, 200);
    ck_assert_uint_eq(h.body.len, 0);
    ck_str_eq(rig_header(&h, "etag"), rig_header(&g, "etag"));
    ck_str_eq(rig_header(&h, "x-versions-count"), STR("3"));
    ck_str_eq(rig_header(&h, "content-length"), arena_strf(t->arena, "%zu", g.body.len));

    got m = rig_get(t, VERSIONS "?meta=true");
    ck_status(m, 200);
    ck_assert_uint_eq(json_len(m.json), 6);
    ck_assert_int_eq(rig_int(&m, "schemaVersion"), 1);
    ck_assert_int_eq(rig_int(&m, "count"), 3);
    ck_str_eq(rig_text(&m, "generatedAt"), rig_text(&g, "generatedAt"));
    ck_str_eq(rig_text(&m, "etag"), rig_header(&g, "etag"));
    ck_assert_int_eq(rig_int(&m, "rawBytes"), (int64_t)g.body.len);
    ck_assert_int_gt(rig_int(&m, "gzipBytes"), 0);
    ck_assert_int_lt(rig_int(&m, "gzipBytes"), (int64_t)g.body.len);
    ck_str_eq(rig_header(&m, "cache-control"), STR("public, max-age=3600"));
}

/* ACT-46, ACT-47. */
RIG_TEST(who_has_it_gets_304_with_the_same_headers)
{
    put_three(t);
    got       g = rig_get(t, VERSIONS);
    str       etag = rig_header(&g, "etag");
    const str matching[] = {etag, STR("*"), arena_strf(t->arena, "\"a\", W/%.*s ,\"b\"", STR_ARG(etag))};
    const str others[] = {STR("\"a\""), STR("a, b"), str_slice(etag, 1, etag.len - 1)};
    ck_assert_uint_eq(etag.len, 66);
    for (size_t n = 0; n < 3; n++) {
        got same = derived_get(t, VERSIONS, "If-None-Match", matching[n]);
        ck_status(same, 304);
        ck_str_eq(rig_header(&same, "etag"), etag);
        ck_str_eq(rig_header(&same, "x-versions-count"), STR("3"));
        ck_str_eq(rig_header(&same, "x-versions-schema-version"), STR("1"));
        ck_str_eq(rig_header(&same, "x-versions-generated-at"), rig_text(&g, "generatedAt"));
        ck_str_eq(rig_header(&same, "cache-control"), STR("public, max-age=3600"));
    }
    for (size_t n = 0; n < 3; n++)
        ck_status(derived_get(t, VERSIONS, "If-None-Match", others[n]), 200);
}

/* ACT-49. */
RIG_TEST(the_same_data_have_the_same_etag_and_others_another)
{
    char hex[SHA256_HEX + 1];
    put_three(t);
    got first = rig_get(t, VERSIONS);
    OK(task_sleep(t, 2)); /* generatedAt has milliseconds */
    ck_assert_int_eq(rig_post(t, WARMUP, STR(TIMER)).status / 100, 2);
    got again = rig_get(t, VERSIONS);
    ck_assert(!str_eq(rig_text(&first, "generatedAt"), rig_text(&again, "generatedAt")));
    ck_str_eq(rig_header(&first, "etag"), rig_header(&again, "etag"));
    ck_str_eq(undated(t->arena, first.body), undated(t->arena, again.body));
    sha256_digest d = hash_sha256(undated(t->arena, first.body));
    str           digest = hash_hex(&d, hex);
    ck_str_eq(rig_header(&first, "etag"), arena_strf(t->arena, "\"%.*s\"", STR_ARG(digest)));

    rows_put(t, "new", "one", "");
    ck_assert_int_eq(rig_post(t, WARMUP, STR(TIMER)).status / 100, 2);
    got other = rig_get(t, VERSIONS);
    ck_assert(!str_eq(rig_header(&first, "etag"), rig_header(&other, "etag")));
    ck_assert_int_eq(rig_int(&other, "count"), 4);
}

/* ACT-48: rows that are no records are skipped, and the row of aggregates is not among them. */
RIG_TEST(rows_that_are_no_records_are_skipped)
{
    put_three(t);
    rows_put_raw(t, "x", "broken", "{");
    rows_put_raw(t, "x", "nameless", "{\"owner\":\"o\"}");
    got g = rig_get(t, VERSIONS);
    ck_assert_int_eq(rig_int(&g, "count"), 3);
    ck_assert_int_eq(rig_int(&g, "skipped"), 2);
}

/* ACT-46. */
RIG_TEST(other_methods_are_refused_and_options_tell_which_there_are)
{
    got g = rig_post(t, VERSIONS, STR(""));
    ck_status(g, 405);
    ck_assert(rig_header(&g, "cache-control").at == NULL);
    got o = rig_call(t, "OPTIONS", VERSIONS, (str){0}, NULL, 0);
    ck_status(o, 204);
    ck_str_eq(rig_header(&o, "allow"), STR("GET,HEAD,OPTIONS"));
}

/* ---- over the scripted service ---- */

/* ACT-46. */
DERIVED_TEST(without_a_catalogue_that_cannot_be_built_the_answer_is_503, .head = 404, .get = 404,
             .query = 403)
{
    for (int n = 0; n < 3; n++) {
        got g = rig_get(t, VERSIONS);
        ck_status(g, 503);
        ck_str_eq(rig_header(&g, "retry-after"), STR("60"));
        ck_assert(rig_header(&g, "cache-control").at == NULL);
        ck_assert(rig_text(&g, "error").len > 0);
    }
    ck_assert_uint_eq(derived()->queries, 1); /* once, not at each request */
}

/* ACT-46. */
DERIVED_TEST(a_catalogue_that_cannot_be_read_is_500_without_cache_headers, .head = 403, .get = 403)
{
    got g = rig_get(t, VERSIONS);
    ck_status(g, 500);
    ck_assert(rig_text(&g, "error").len > 0);
    ck_assert(rig_header(&g, "cache-control").at == NULL);
    ck_assert(rig_header(&g, "etag").at == NULL);
    ck_assert_uint_eq(derived()->queries, 0);
}

DERIVED_TEST(a_damaged_catalogue_is_500, .etag = "x", .body = STR_INIT("no gzip"))
{
    ck_status(rig_get(t, VERSIONS), 500);
}

DERIVED_TEST(the_copy_in_memory_is_used_until_the_blob_changes, .etag = "one", .body = STR_INIT(""))
{
    derived_service *s = derived();
    OK(gzip_pack(t->arena, STR("{\"schemaVersion\":1,\"generatedAt\":\"d\",\"count\":0,\"actions\":[]}"),
                 GZIP_DEFAULT, &s->body));
    for (int n = 0; n < 3; n++)
        ck_status(rig_get(t, VERSIONS), 200);
    ck_assert_uint_eq(s->gets, 1);
    s->etag = "two";
    ck_status(rig_get(t, VERSIONS), 200);
    ck_assert_uint_eq(s->gets, 2);
}

/* ACT-50. */
DERIVED_TEST(a_warmup_that_fails_fails_the_invocation, .query = 403)
{
    got g = rig_post(t, WARMUP, STR(TIMER));
    ck_assert_int_ge(g.status, 400);
    derived()->query = 200;
    derived()->put = 403;
    g = rig_post(t, WARMUP, STR(TIMER));
    ck_assert_int_ge(g.status, 400);
    derived()->put = 200;
    g = rig_post(t, WARMUP, STR(TIMER));
    ck_assert_int_eq(g.status / 100, 2);
}

static res get_one(task *t, size_t n, void *ctx)
{
    got g = rig_get(t, VERSIONS);
    (void)n, (void)ctx;
    ck_status(g, 200);
    return RES_OK;
}

/* ACT-46: §11, under a lock: the real store serves what the first has built. */
RIG_TEST(requests_at_once_build_it_once)
{
    put_three(t);
    rig_log_capture();
    OK(par_each(t, AT_ONCE, AT_ONCE, get_one, NULL));
    got g = rig_get(t, VERSIONS);
    ck_assert_int_eq(rig_int(&g, "count"), 3);
}

/* ---- torture ---- */

static void forget(task *t)
{
    (void)t;
    versions_forget_for_test();
}

RIG_TEST(the_catalogue_survives_every_failure_inside)
{
    static const int tolerated[] = {500, 0};
    put_three(t);
    ck_status(rig_get(t, VERSIONS), 200);
    rig_torture(t, &(rig_request){.method = "GET", .target = VERSIONS}, 200, tolerated, forget);
}

static void forget_all(task *t)
{
    const actions_settings *s = settings_get();
    versions_forget_for_test();
    res r = blobs_remove(t, s->snapshots, s->versions_blob, (str){0});
    ck_assert(r == RES_OK || r == RES_NOT_FOUND || r == RES_UNPROVISIONED); /* it is not there at first */
    task_forget(t);
}

RIG_TEST(its_building_survives_every_failure_inside)
{
    static const int tolerated[] = {500, 0};
    put_three(t);
    rig_torture(t, &(rig_request){.method = "GET", .target = VERSIONS "?meta=true"}, 200, tolerated,
                forget_all);
}

Suite *suite_actions_versions(void)
{
    Suite *s = suite_create("actions_versions");
    TCase *c = live_case("stores");
    tcase_add_test(c, the_catalogue_is_built_at_the_first_request_and_sorted);
    tcase_add_test(c, gzip_is_sent_as_it_is_stored);
    tcase_add_test(c, head_and_meta_tell_of_it);
    tcase_add_test(c, who_has_it_gets_304_with_the_same_headers);
    tcase_add_test(c, the_same_data_have_the_same_etag_and_others_another);
    tcase_add_test(c, rows_that_are_no_records_are_skipped);
    tcase_add_test(c, other_methods_are_refused_and_options_tell_which_there_are);
    tcase_add_test(c, requests_at_once_build_it_once);
    tcase_add_test(c, the_catalogue_survives_every_failure_inside);
    tcase_add_test(c, its_building_survives_every_failure_inside);
    suite_add_tcase(s, c);
    TCase *f = live_case("service");
    tcase_add_test(f, without_a_catalogue_that_cannot_be_built_the_answer_is_503);
    tcase_add_test(f, a_catalogue_that_cannot_be_read_is_500_without_cache_headers);
    tcase_add_test(f, a_damaged_catalogue_is_500);
    tcase_add_test(f, the_copy_in_memory_is_used_until_the_blob_changes);
    tcase_add_test(f, a_warmup_that_fails_fails_the_invocation);
    suite_add_tcase(s, f);
    return s;
}
