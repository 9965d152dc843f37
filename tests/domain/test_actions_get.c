/* test_actions_get.c -- GET actions/{owner}/{name} over real stores; and CORS, which is the same on all
 * paths.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/actions_rows.h"
#include "domain/actions_suites.h"

#define ETAG "\"" ROWS_HASH "\""

static got get_if_none_match(task *t, const char *target, const char *tags)
{
    const http_header h = {STR("If-None-Match"), str_of(tags)};
    return rig_call(t, "GET", target, (str){0}, &h, 1);
}

/* ---- found ---- */

/* ACT-28. */
RIG_TEST(a_record_comes_with_its_metadata)
{
    rows_put(t, "Acme", "Tool", ",\"verified\":true,\"ossf_score\":3,\"extra\":{\"deep\":[1]}");
    got g = rig_get(t, "/api/actions/acme/tool");
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=600"));
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
    ck_str_eq(rig_text(&g, "owner"), STR("Acme"));
    ck_str_eq(rig_text(&g, "name"), STR("Tool"));
    ck_assert(rig_bool(&g, "verified"));
    ck_assert_int_eq(rig_int(&g, "extra/deep/0"), 1);
    ck_str_eq(rig_text(&g, "_metadata/partitionKey"), STR("acme"));
    ck_str_eq(rig_text(&g, "_metadata/rowKey"), STR("tool"));
    ck_str_eq(rig_text(&g, "_metadata/payloadHash"), STR(ROWS_HASH));
    ck_str_eq(rig_text(&g, "_metadata/lastSyncedUtc"), STR(ROWS_SYNCED));
    ck_assert_uint_gt(rig_text(&g, "_metadata/etag").len, 0);
    ck_assert_uint_gt(rig_text(&g, "_metadata/timestamp").len, 0);
}

/* Keys are those of §6: trimmed, in lower case, unescaped. */
RIG_TEST(a_record_is_found_however_its_names_are_written)
{
    static const char *const ways[] = {"ACME/Tool", "%20acme%09/tool%20", "a%63me/to%6Fl"};
    rows_put(t, "Acme", "Tool", "");
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        got g = rig_get(t, textf("/api/actions/%s", ways[k]));
        ck_status(g, 200);
    }
}

/* ACT-30. */
RIG_TEST(a_record_under_the_older_row_key_is_found)
{
    rows_put(t, "acme", "acme_tool", "");
    got g = rig_get(t, "/api/actions/acme/tool");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "_metadata/rowKey"), STR("acme_tool"));
    rows_put(t, "acme", "tool", "");
    g = rig_get(t, "/api/actions/acme/tool");
    ck_str_eq(rig_text(&g, "_metadata/rowKey"), STR("tool"));
}

static const struct {
    const char *stored, *shown;
} stamps[] = {{"2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"},
              {"2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"},
              {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"},
              {"2026-01-02T03:04:05.100Z", "2026-01-02T03:04:05.100Z"}};
enum { STAMPS = sizeof stamps / sizeof *stamps };

/* ACT-31. */
RIG_TEST(a_stamp_of_a_whole_second_is_shortened)
{
    rows_put_synced(t, "o", "n", stamps[i].stored);
    got g = rig_get(t, "/api/actions/o/n");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "_metadata/lastSyncedUtc"), str_of(stamps[i].shown));
}

/* ACT-32. */
RIG_TEST(a_name_loses_the_prefix_of_its_owner)
{
    rows_put(t, "Acme-Labs", "acme-labs_setup", "");
    got g = rig_get(t, "/api/actions/acme-labs/acme-labs_setup");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "name"), STR("setup"));
    ck_str_eq(rig_text(&g, "_metadata/rowKey"), STR("acme-labs_setup"));
}

/* ---- not found, or not understood ---- */

static const char *const absent[] = {"nobody/nothing", "a%23b/n", "o/a%5Cb",
                                     "o/%01",          "o/a%3Fb", "statsCache/aggregate"};
enum { ABSENT = sizeof absent / sizeof *absent };

/* ACT-29: also what no key can be. */
RIG_TEST(what_is_not_there_is_404)
{
    rows_put_cache(t, "{}");
    got g = rig_get(t, textf("/api/actions/%s", absent[i]));
    ck_status(g, 404);
    ck_str_eq(g.body, STR("{\"error\":\"Action not found.\"}"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
    ck_assert_ptr_null(rig_header(&g, "etag").at);
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
}

/* ACT-29: the longest key there is has no room for the older row key. */
RIG_TEST(a_name_of_512_units_is_looked_for_and_one_of_513_cannot_be)
{
    str longest = live_repeat(t->arena, STR("n"), 512);
    got g = rig_get(t, textf("/api/actions/o/%.*s", STR_ARG(longest)));
    ck_status(g, 404);
    g = rig_get(t, textf("/api/actions/o/%.*sn", STR_ARG(longest)));
    ck_status(g, 404);
}

/* ACT-29. */
RIG_TEST(names_of_blanks_are_400)
{
    got g = rig_get(t, "/api/actions/%20/n");
    ck_status(g, 400);
    ck_str_eq(g.body, STR("{\"error\":\"Owner and name route parameters are required.\"}"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
    g = rig_get(t, "/api/actions/o/%09");
    ck_status(g, 400);
}

static const char *const broken[] = {"{not json", "[1]", "null", "7", "{\"verified\":true}"};
enum { BROKEN = sizeof broken / sizeof *broken };

/* ACT-33. */
RIG_TEST(a_payload_that_is_no_record_is_500)
{
    rows_put_raw(t, "o", "n", broken[i]);
    got g = rig_get(t, "/api/actions/o/n");
    ck_status(g, 500);
    ck_str_eq(g.body, STR("{\"error\":\"Stored action payload is invalid.\"}"));
    ck_assert_ptr_null(rig_header(&g, "cache-control").at);
    ck_assert_ptr_null(rig_header(&g, "etag").at);
}

/* ---- conditions ---- */

static const struct {
    const char *tags;
    int         status;
} conditions[] = {{ETAG, 304}, {"W/" ETAG, 304},   {"\"other\", " ETAG, 304},
                  {"*", 304},  {"\"other\"", 200}, {ROWS_HASH, 200},
                  {"", 200}};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* §11: the ETag is of the payload's hash. */
RIG_TEST(an_unchanged_record_is_not_sent_again)
{
    rows_put(t, "o", "n", "");
    got g = get_if_none_match(t, "/api/actions/o/n", conditions[i].tags);
    ck_status(g, conditions[i].status);
    ck_str_eq(rig_header(&g, "etag"), STR(ETAG));
    ck_str_eq(rig_header(&g, "cache-control"), STR("public, max-age=600"));
    ck_str_eq(rig_header(&g, "access-control-allow-origin"), STR("*"));
    ck_assert_uint_eq(g.body.len > 0, conditions[i].status == 200);
}

/* ---- CORS ---- */

static const struct {
    const char *setting, *value, *origin;
    const char *allowed; /* NULL: no such header */
    bool        vary;
} origins[] = {
    {NULL, NULL, "https://a.example", "*", false},
    {NULL, NULL, NULL, "*", false},
    {"CORS_ALLOWED_ORIGINS", "https://a.example, https://b.example", "https://b.example", "https://b.example",
     true},
    {"CORS_ALLOWED_ORIGINS", "https://a.example", "https://c.example", NULL, true},
    {"CORS_ALLOWED_ORIGINS", "https://a.example", NULL, NULL, true},
    {"CORS_ALLOW_ORIGINS", "https://a.example", "https://a.example", "https://a.example", true},
    {"CORS_ALLOW_ORIGINS", "https://a.example", "https://b.example", NULL, true},
};
enum { ORIGINS = sizeof origins / sizeof *origins };

static void check_cors(const got *g, int row)
{
    str allowed = rig_header(g, "access-control-allow-origin");
    if (origins[row].allowed != NULL)
        ck_str_eq(allowed, str_of(origins[row].allowed));
    else
        ck_assert_msg(allowed.at == NULL, "'%.*s' is allowed: %d %.*s", STR_ARG(allowed), g->status,
                      STR_ARG(g->body));
    if (origins[row].vary)
        ck_str_eq(rig_header(g, "vary"), STR("Origin"));
    else
        ck_assert_ptr_null(rig_header(g, "vary").at);
    ck_str_eq(rig_header(g, "access-control-allow-methods"), STR("GET,POST,OPTIONS"));
    ck_str_eq(rig_header(g, "access-control-allow-headers"),
              STR("Content-Type, Authorization, x-functions-key, x-ms-client-request-id"));
    ck_str_eq(rig_header(g, "access-control-max-age"), STR("86400"));
}

static const struct {
    const char *method, *target;
    int         status;
} answers[] = {{"GET", "/api/actions/o/n", 200},
               {"GET", "/api/actions/o/absent", 404},
               {"GET", "/api/actions/%20/n", 400},
               {"OPTIONS", "/api/actions/o/n", 204},
               {"DELETE", "/api/actions/o/n", 405},
               {"GET", "/api/actions/list", 200},
               {"GET", "/api/actions/list?limit=1&cursor=x", 400},
               {"GET", "/api/actions/stats", 200},
               {"GET", "/api/actions/status", 200},
               {"OPTIONS", "/api/actions/list", 204},
               {"OPTIONS", "/api/actions/stats", 204},
               {"OPTIONS", "/api/actions/status", 204}};

/* ACT-52: on every answer, errors too. */
RIG_TEST(every_answer_says_who_may_read_it)
{
    unsetenv("CORS_ALLOWED_ORIGINS");
    unsetenv("CORS_ALLOW_ORIGINS");
    if (origins[i].setting != NULL)
        ck_assert_int_eq(setenv(origins[i].setting, origins[i].value, 1), 0);
    rows_put(t, "o", "n", "");
    http_header h = {STR("Origin"), str_of(origins[i].origin)};
    for (size_t k = 0; k < sizeof answers / sizeof *answers; k++) {
        got g = rig_call(t, answers[k].method, answers[k].target, (str){0}, &h, origins[i].origin != NULL);
        ck_status(g, answers[k].status);
        check_cors(&g, i);
        if (g.status == 204)
            ck_str_eq(rig_header(&g, "allow"), STR("GET,OPTIONS"));
    }
}

/* ---- failures inside ---- */

RIG_TEST(reading_one_survives_every_failing_allocation_and_wait)
{
    static const rig_request there = {.method = "GET", .target = "/api/actions/o/tool"};
    static const rig_request not_there = {.method = "GET", .target = "/api/actions/o/nothing"};
    rows_put(t, "o", "o_tool", "");
    rig_torture(t, &there, 200, NULL, NULL);
    rig_torture(t, &not_there, 404, NULL, NULL);
}

Suite *suite_actions_get(void)
{
    Suite *s = suite_create("actions_get");
    TCase *c = live_case("actions_get");
    tcase_add_test(c, a_record_comes_with_its_metadata);
    tcase_add_test(c, a_record_is_found_however_its_names_are_written);
    tcase_add_test(c, a_record_under_the_older_row_key_is_found);
    tcase_add_loop_test(c, a_stamp_of_a_whole_second_is_shortened, 0, STAMPS);
    tcase_add_test(c, a_name_loses_the_prefix_of_its_owner);
    tcase_add_loop_test(c, what_is_not_there_is_404, 0, ABSENT);
    tcase_add_test(c, a_name_of_512_units_is_looked_for_and_one_of_513_cannot_be);
    tcase_add_test(c, names_of_blanks_are_400);
    tcase_add_loop_test(c, a_payload_that_is_no_record_is_500, 0, BROKEN);
    tcase_add_loop_test(c, an_unchanged_record_is_not_sent_again, 0, CONDITIONS);
    tcase_add_loop_test(c, every_answer_says_who_may_read_it, 0, ORIGINS);
    tcase_add_test(c, reading_one_survives_every_failing_allocation_and_wait);
    suite_add_tcase(s, c);
    return s;
}
