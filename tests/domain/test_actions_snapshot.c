/* test_actions_snapshot.c -- GET actions/snapshot, its refresh and its timer.
 *
 * SPDX-License-Identifier: MIT */
#include "core/gzip.h"
#include "domain/actions/aggregate.h"
#include "domain/actions/settings.h"
#include "domain/actions/snapshot.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/derived_wire.h"

#define SNAPSHOT "/api/actions/snapshot"
#define REFRESH  "/api/actions/snapshot/refresh"
#define DOCUMENT "{\"version\":1,\"items\":[{\"owner\":\"o\",\"name\":\"n\"}]}"
#define TIMER    "{\"Data\":{\"timer\":{}},\"Metadata\":{}}"

enum { UNZIPPED_MAX = 8 * MIB, AT_ONCE = 8 };

static got refresh(task *t)
{
    got g = rig_post(t, REFRESH, STR(""));
    ck_status(g, 200);
    return g;
}

/* ---- over the real stores ---- */

/* ACT-41. */
RIG_TEST(the_snapshot_has_an_etag_and_304_for_who_has_it)
{
    rows_put(t, "o", "n", "");
    (void)refresh(t);
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 200);
    str etag = rig_header(&g, "etag");
    ck_assert(etag.len > 2);
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=300"));
    ck_assert_int_eq(rig_int(&g, "version"), 1);
    ck_assert_int_eq(rig_int(&g, "count"), 1);

    got same = derived_get(t, SNAPSHOT, "If-None-Match", etag);
    ck_status(same, 304);
    ck_assert_uint_eq(same.body.len, 0);
    ck_str_eq(rig_header(&same, "etag"), etag);
    ck_str_eq(rig_header(&same, "cache-control"), STR("public, max-age=300"));
    got stale = derived_get(t, SNAPSHOT, "If-None-Match", STR("\"0x0\""));
    ck_status(stale, 200);
    ck_str_eq(stale.body, g.body);
}

/* ACT-41: the blob, verbatim. */
RIG_TEST(what_is_sent_is_the_blob_and_its_etag)
{
    const actions_settings *s = settings_get();
    blob_got                stored;
    rows_put(t, "o", "n", "");
    (void)refresh(t);
    got g = rig_get(t, SNAPSHOT);
    OK(blobs_get(t, s->snapshots, s->snapshot_blob, &(blob_get){0}, &stored));
    ck_str_eq(g.body, stored.body);
    ck_str_eq(rig_header(&g, "etag"), stored.info.etag);
    ck_str_eq(stored.info.content_type, STR("application/json; charset=utf-8"));
}

RIG_TEST(the_snapshot_is_sent_as_gzip_to_those_who_take_it)
{
    str plain;
    rows_put(t, "o", "n", "");
    (void)refresh(t);
    got g = rig_get(t, SNAPSHOT), packed = derived_get(t, SNAPSHOT, "Accept-Encoding", STR("br, gzip;q=0.5"));
    ck_status(packed, 200);
    ck_str_eq(rig_header(&packed, "content-encoding"), STR("gzip"));
    ck_str_eq(rig_header(&packed, "vary"), STR("Accept-Encoding"));
    ck_str_eq(rig_header(&packed, "content-type"), STR("application/json; charset=utf-8"));
    OK(gzip_unpack(t->arena, packed.body, UNZIPPED_MAX, &plain));
    ck_str_eq(plain, g.body);
    got none = derived_get(t, SNAPSHOT, "Accept-Encoding", STR("gzip;q=0"));
    ck_assert(rig_header(&none, "content-encoding").at == NULL);
    ck_str_eq(none.body, g.body);
}

/* ACT-44. */
RIG_TEST(items_are_newest_first_undated_last_and_skipped_ones_are_counted)
{
    static const char *const order[] = {"newest", "middle", "oldest", "bad_date", "undated"};
    rows_put(t, "a", "undated", ",\"verified\":true");
    rows_put(t, "a", "bad_date", ",\"repoInfo\":{\"updated_at\":\"yesterday\"}");
    rows_put(t, "b", "oldest", ",\"repoInfo\":{\"updated_at\":\"2024-01-01T00:00:00Z\",\"archived\":true}");
    rows_put(t, "c", "newest", ",\"repoInfo\":{\"updated_at\":\"2026-01-01T01:30:00+02:00\"},\"ossf\":true");
    rows_put(t, "d", "middle", ",\"repoInfo\":{\"updated_at\":\"2025-12-31T23:00:00Z\"}");
    rows_put_raw(t, "e", "broken", "{\"owner\":");
    rows_put_raw(t, "e", "list", "[1]");
    rows_put_cache(t, "{\"own\":1}");

    got r = refresh(t);
    ck_assert_int_eq(rig_int(&r, "count"), 5);
    ck_assert_int_eq(rig_int(&r, "skipped"), 2);
    got g = rig_get(t, SNAPSHOT);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 5);
    for (size_t n = 0; n < 5; n++)
        ck_str_eq(rig_text(&g, textf("items/%zu/name", n)), str_of(order[n]));

    /* The counts of the same pass are those of Stats. */
    got stats = rig_get(t, "/api/actions/stats");
    ck_assert(rig_bool(&r, "statsRefreshed"));
    ck_assert_int_eq(rig_int(&r, "statsTotal"), 5);
    ck_assert_int_eq(rig_int(&stats, "total"), 5);
    ck_assert_int_eq(rig_int(&stats, "verified"), 1);
    ck_assert_int_eq(rig_int(&stats, "archived"), 1);
    ck_assert_int_eq(rig_int(&stats, "withOssf"), 1);
    ck_assert(str_has(rows_cache(t), STR("\"own\":1")));
}

/* ACT-45: nothing is there before, not even the container; an empty table makes an empty document. */
RIG_TEST(the_first_refresh_makes_the_container_and_the_blob)
{
    got r = refresh(t);
    ck_assert_int_eq(rig_int(&r, "count"), 0);
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 200);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), 0);
    ck_assert_int_eq(rig_int(&r, "bytes"), (int64_t)g.body.len);
    ck_str_eq(rig_text(&r, "generatedAt"), rig_text(&g, "generatedAt"));
}

/* ACT-42. */
RIG_TEST(without_a_snapshot_the_answer_is_503)
{
    rows_put(t, "o", "n", "");
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 503);
    ck_str_eq(rig_header(&g, "retry-after"), STR("60"));
    ck_assert(rig_text(&g, "error").len > 0);
    ck_assert(rig_text(&g, "hint").len > 0);
    ck_assert(rig_header(&g, "cache-control").at == NULL);
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
}

/* ACT-43, over a real store: a new version is seen at once. */
RIG_TEST(after_a_refresh_everybody_gets_the_new_version)
{
    rows_put(t, "o", "one", "");
    (void)refresh(t);
    got before = rig_get(t, SNAPSHOT);
    rows_put(t, "o", "two", "");
    (void)refresh(t);
    got after = rig_get(t, SNAPSHOT);
    ck_assert_int_eq(rig_int(&before, "count"), 1);
    ck_assert_int_eq(rig_int(&after, "count"), 2);
    ck_assert(!str_eq(rig_header(&before, "etag"), rig_header(&after, "etag")));
}

/* ACT-68. */
RIG_TEST(a_refresh_answers_seven_members)
{
    rows_put(t, "snapshot", "refresh", "");
    got r = refresh(t);
    ck_assert_uint_eq(json_len(r.json), 7);
    ck_assert_int_eq(rig_int(&r, "count"), 1);
    ck_assert_int_eq(rig_int(&r, "skipped"), 0);
    ck_assert_int_gt(rig_int(&r, "bytes"), 0);
    ck_assert(rig_text(&r, "generatedAt").len == 24);
    ck_assert_int_ge(rig_int(&r, "durationMs"), 0);
    ck_assert(rig_bool(&r, "statsRefreshed"));
    ck_assert_int_eq(rig_int(&r, "statsTotal"), 1);
}

/* ACT-68: the record snapshot/refresh is there, and still it is not what a GET reads. */
RIG_TEST(a_get_of_refresh_is_405_and_options_tell_what_there_is)
{
    rows_put(t, "snapshot", "refresh", "");
    got g = rig_get(t, REFRESH);
    ck_status(g, 405);
    ck_str_eq(rig_text(&g, "error"), STR("Method not allowed."));
    ck_str_eq(rig_header(&g, "allow"), STR("POST,OPTIONS"));
    got o = rig_call(t, "OPTIONS", REFRESH, (str){0}, NULL, 0);
    ck_status(o, 204);
    ck_str_eq(rig_header(&o, "allow"), STR("POST,OPTIONS"));
    o = rig_call(t, "OPTIONS", SNAPSHOT, (str){0}, NULL, 0);
    ck_status(o, 204);
    ck_str_eq(rig_header(&o, "allow"), STR("GET,OPTIONS"));
    g = rig_post(t, SNAPSHOT, STR(""));
    ck_status(g, 405);
}

RIG_TEST(many_records_over_several_pages_all_come_into_the_document)
{
    enum { RECORDS = 1100 };
    for (int n = 0; n < RECORDS; n++)
        rows_put(t, "many", textf("n%04d", n),
                 textf(",\"repoInfo\":{\"updated_at\":\"2026-01-01T00:%02d:%02dZ\"}", n / 60 % 60, n % 60));
    got r = refresh(t);
    ck_assert_int_eq(rig_int(&r, "count"), RECORDS);
    got g = rig_get(t, SNAPSHOT);
    ck_assert_uint_eq(json_len(rig_at(&g, "items")), RECORDS);
    ck_str_eq(rig_text(&g, "items/0/name"), STR("n1099"));
    ck_str_eq(rig_text(&g, "items/1099/name"), STR("n0000"));
}

RIG_TEST(the_timer_rebuilds_the_snapshot)
{
    rows_put(t, "o", "n", "");
    got timer = rig_post(t, "/SnapshotWarmup", STR(TIMER));
    ck_assert_int_eq(timer.status / 100, 2);
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 200);
    ck_assert_int_eq(rig_int(&g, "count"), 1);
}

/* ---- over the scripted service ---- */

/* ACT-42: and the table is not scanned for it. */
DERIVED_TEST(without_a_snapshot_the_table_is_not_read, .head = 404, .get = 404)
{
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 503);
    ck_assert_uint_eq(derived()->queries, 0);
    ck_assert_uint_eq(derived()->gets, 0);
}

/* ACT-43. */
DERIVED_TEST(the_copy_in_memory_is_used_until_the_blob_changes, .etag = "one", .body = STR_INIT(DOCUMENT))
{
    derived_service *s = derived();
    for (unsigned n = 1; n <= 3; n++) {
        got g = rig_get(t, SNAPSHOT);
        ck_status(g, 200);
        ck_str_eq(g.body, STR(DOCUMENT));
        ck_assert_uint_eq(s->heads, n);
        ck_assert_uint_eq(s->gets, 1);
    }
    s->etag = "two";
    s->body = STR("{\"items\":[]}");
    got g = rig_get(t, SNAPSHOT);
    ck_str_eq(g.body, STR("{\"items\":[]}"));
    ck_str_eq(rig_header(&g, "etag"), STR("\"two\""));
    ck_assert_uint_eq(s->gets, 2);
}

/* ACT-43. */
DERIVED_TEST(a_failing_head_is_made_up_for_by_a_whole_read, .etag = "one", .body = STR_INIT(DOCUMENT))
{
    derived_service *s = derived();
    (void)rig_get(t, SNAPSHOT);
    s->head = 403;
    s->body = STR("{\"items\":[]}");
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 200);
    ck_str_eq(g.body, STR("{\"items\":[]}"));
    ck_assert_uint_eq(s->gets, 2);
    s->get = 403;
    g = rig_get(t, SNAPSHOT);
    ck_status(g, 500);
    ck_assert(rig_text(&g, "error").len > 0);
    ck_assert(rig_header(&g, "cache-control").at == NULL);
}

DERIVED_TEST(a_snapshot_that_is_taken_away_is_gone, .etag = "one", .body = STR_INIT(DOCUMENT))
{
    (void)rig_get(t, SNAPSHOT);
    derived()->head = derived()->get = 404;
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 503);
}

static res get_one(task *t, size_t n, void *ctx)
{
    got g = rig_get(t, SNAPSHOT);
    (void)n;
    ck_status(g, 200);
    ck_str_eq(g.body, *(const str *)ctx);
    return RES_OK;
}

/* ACT-43. */
DERIVED_TEST(requests_at_once_share_one_read, .etag = "one", .body = STR_INIT(DOCUMENT), .get_delay_ms = 300)
{
    OK(par_each(t, AT_ONCE, AT_ONCE, get_one, &derived()->body));
    ck_assert_uint_eq(derived()->heads, AT_ONCE);
    ck_assert_uint_eq(derived()->gets, 1);
}

DERIVED_TEST(a_blob_that_is_no_snapshot_is_passed_on_but_not_searched, .etag = "x", .body = STR_INIT("hello"))
{
    got g = rig_get(t, SNAPSHOT);
    ck_status(g, 200);
    ck_str_eq(g.body, STR("hello"));
    g = rig_get(t, "/api/actions/search?q=hello");
    ck_status(g, 500);
    ck_assert(rig_text(&g, "error").len > 0);
}

/* ACT-68: §11, a failure of the counts is no failure. */
DERIVED_TEST(a_refresh_without_counts_is_a_refresh, .row = 403)
{
    got g = rig_post(t, REFRESH, STR(""));
    ck_status(g, 200);
    ck_assert(!rig_bool(&g, "statsRefreshed"));
    ck_assert(json_typeof(rig_at(&g, "statsTotal")) == JSON_NULL);
    ck_assert_uint_eq(derived()->puts, 1);
}

DERIVED_TEST(a_refresh_that_cannot_read_is_500_and_writes_nothing, .query = 403)
{
    got g = rig_post(t, REFRESH, STR(""));
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("Failed to rebuild the actions snapshot."));
    ck_assert_uint_eq(derived()->puts, 0);
}

DERIVED_TEST(a_refresh_that_cannot_write_is_500, .put = 403)
{
    got g = rig_post(t, REFRESH, STR(""));
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("Failed to rebuild the actions snapshot."));
}

DERIVED_TEST(the_timer_only_logs_that_it_failed, .query = 403)
{
    rig_log_capture();
    got g = rig_post(t, "/SnapshotWarmup", STR(TIMER));
    ck_assert_int_eq(g.status / 100, 2);
    ck_assert(str_has(rig_log(), STR("the snapshot could not be rebuilt")));
}

/* ---- torture ---- */

static void forget(task *t)
{
    (void)t;
    snapshot_forget_for_test();
    aggregate_forget_for_test();
}

RIG_TEST(the_snapshot_survives_every_failure_inside)
{
    static const int tolerated[] = {500, 0};
    rows_put(t, "o", "n", "");
    (void)refresh(t);
    rig_torture(t, &(rig_request){.method = "GET", .target = SNAPSHOT}, 200, tolerated, forget);
}

RIG_TEST(a_refresh_survives_every_failure_inside)
{
    static const int tolerated[] = {500, 0};
    rows_put(t, "o", "n", "");
    rows_put(t, "o", "m", ",\"description\":\"d\"");
    rig_torture(t, &(rig_request){.method = "POST", .target = REFRESH}, 200, tolerated, forget);
    got g = rig_get(t, SNAPSHOT);
    ck_assert_int_eq(rig_int(&g, "count"), 2);
}

Suite *suite_actions_snapshot(void)
{
    Suite *s = suite_create("actions_snapshot");
    TCase *c = live_case("stores");
    tcase_add_test(c, the_snapshot_has_an_etag_and_304_for_who_has_it);
    tcase_add_test(c, what_is_sent_is_the_blob_and_its_etag);
    tcase_add_test(c, the_snapshot_is_sent_as_gzip_to_those_who_take_it);
    tcase_add_test(c, items_are_newest_first_undated_last_and_skipped_ones_are_counted);
    tcase_add_test(c, the_first_refresh_makes_the_container_and_the_blob);
    tcase_add_test(c, without_a_snapshot_the_answer_is_503);
    tcase_add_test(c, after_a_refresh_everybody_gets_the_new_version);
    tcase_add_test(c, a_refresh_answers_seven_members);
    tcase_add_test(c, a_get_of_refresh_is_405_and_options_tell_what_there_is);
    tcase_add_test(c, many_records_over_several_pages_all_come_into_the_document);
    tcase_add_test(c, the_timer_rebuilds_the_snapshot);
    tcase_add_test(c, the_snapshot_survives_every_failure_inside);
    tcase_add_test(c, a_refresh_survives_every_failure_inside);
    suite_add_tcase(s, c);
    TCase *f = live_case("service");
    tcase_add_test(f, without_a_snapshot_the_table_is_not_read);
    tcase_add_test(f, the_copy_in_memory_is_used_until_the_blob_changes);
    tcase_add_test(f, a_failing_head_is_made_up_for_by_a_whole_read);
    tcase_add_test(f, a_snapshot_that_is_taken_away_is_gone);
    tcase_add_test(f, requests_at_once_share_one_read);
    tcase_add_test(f, a_blob_that_is_no_snapshot_is_passed_on_but_not_searched);
    tcase_add_test(f, a_refresh_without_counts_is_a_refresh);
    tcase_add_test(f, a_refresh_that_cannot_read_is_500_and_writes_nothing);
    tcase_add_test(f, a_refresh_that_cannot_write_is_500);
    tcase_add_test(f, the_timer_only_logs_that_it_failed);
    suite_add_tcase(s, f);
    return s;
}
