/* test_actions_readme.c -- GET actions/{owner}/{name}/readme, with a scripted GitHub.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/clock.h"
#include "domain/actions/settings.h"
#include "domain/actions_rows.h"
#include "domain/actions_suites.h"
#include "domain/rig.h"

#define TOKEN "ghp_a-token-nobody-may-see"

static struct {
    wire       *w;
    const char *html, *about; /* the answers to both requests */
} github;

static bool asks_for_html(const wire_request *r)
{
    return str_has(r->head, STR("html+json"));
}

static void answer_as_github(void *ctx, const wire_request *r, wire_answer *ret)
{
    (void)ctx;
    *ret = (wire_answer){.bytes = asks_for_html(r) ? github.html : github.about};
}

static const char *ok_answer(const char *body)
{
    str s = str_of(body);
    return textf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", s.len, body);
}

static void start_github(const char *html, const char *about)
{
    github.html = html;
    github.about = about;
    github.w = wire_start_fn(answer_as_github, NULL, NULL);
    ck_assert_int_eq(setenv("ACTIONS_GITHUB_API", wire_url(github.w, ""), 1), 0);
    ck_assert_int_eq(setenv("GITHUB_TOKEN", TOKEN, 1), 0);
}

static void start_usual_github(void)
{
    start_github(ok_answer("<p>Hi</p>"), ok_answer("{\"path\":\"README.md\"}"));
}

static void expect_readme(const got *g, const char *html, const char *x_cache)
{
    ck_status(*g, 200);
    ck_str_eq(g->body, str_of(html));
    ck_str_eq(rig_header(g, "x-cache"), str_of(x_cache));
    ck_str_eq(rig_header(g, "content-type"), STR("text/html; charset=utf-8"));
    ck_str_eq(rig_header(g, "cache-control"), STR("public, max-age=1800"));
    ck_str_eq(rig_header(g, "access-control-allow-origin"), STR("*"));
}

/* ACT-51. */
RIG_TEST(the_first_readme_comes_from_github_and_the_second_from_the_table)
{
    start_usual_github();
    got g = rig_get(t, "/api/actions/Acme/acme_setup_sub/readme");
    expect_readme(&g, "<p>Hi</p>", "MISS");
    ck_assert_uint_eq(wire_requests(github.w), 2);
    for (size_t n = 0; n < 2; n++) {
        wire_request r = wire_request_at(github.w, n);
        ck_assert(str_starts(r.head, STR("GET /repos/Acme/setup/readme?ref=main HTTP/1.1\r\n")));
        ck_assert(wire_has_header(github.w, n, "Authorization: Bearer " TOKEN));
        ck_assert(wire_has_header(github.w, n, "User-Agent: trestle"));
    }
    g = rig_get(t, "/api/actions/acme/ACME_setup_sub/readme");
    expect_readme(&g, "<p>Hi</p>", "HIT");
    ck_assert_uint_eq(wire_requests(github.w), 2);
    entity e;
    OK(tables_get(t, settings_get()->readmes, STR("acme-acme_setup_sub"), STR("main"), &e));
    ck_str_eq(entity_str(&e, "Content", (str){0}), STR("<p>Hi</p>"));
    wire_stop(github.w);
}

/* ACT-51. */
RIG_TEST(pictures_are_found_from_the_readmes_own_folder)
{
    start_github(ok_answer("<img src=\"a.png\"><img src='../b.png'><source srcset=\"/c.png 1x, d.png 2x\">"
                           "<a href=\"e.md\"><img src=\"https://x.example/f.png\">"),
                 ok_answer("{\"path\":\"docs/en/README.md\"}"));
    got g = rig_get(t, "/api/actions/o/n/readme?version=v1");
    expect_readme(&g,
                  "<img src=\"https://raw.githubusercontent.com/o/n/v1/docs/en/a.png\">"
                  "<img src='https://raw.githubusercontent.com/o/n/v1/docs/b.png'>"
                  "<source srcset=\"https://raw.githubusercontent.com/o/n/v1/c.png 1x, "
                  "https://raw.githubusercontent.com/o/n/v1/docs/en/d.png 2x\">"
                  "<a href=\"e.md\"><img src=\"https://x.example/f.png\">",
                  "MISS");
    wire_stop(github.w);
}

static const struct {
    const char *target, *ref;
} versions[] = {
    {"?version=v1.2", "v1.2"},       {"?version=releases/v1", "releases/v1"}, {"?version=", "main"},
    {"?version=%20%22%3C;", "main"}, {"?version=v1%26x%3Dy", "v1xy"},         {"?version=a%0d%0ab", "ab"},
};

/* ACT-51. */
RIG_TEST(a_version_is_stripped_of_all_that_no_ref_has)
{
    start_usual_github();
    const char *target = textf("/api/actions/o/n/readme%s", versions[i].target);
    got         g = rig_get(t, target);
    expect_readme(&g, "<p>Hi</p>", "MISS");
    wire_request r = wire_request_at(github.w, 0);
    ck_assert(
        str_starts(r.head, str_of(textf("GET /repos/o/n/readme?ref=%s HTTP/1.1\r\n", versions[i].ref))));
    g = rig_get(t, target);
    expect_readme(&g, "<p>Hi</p>", "HIT");
    wire_stop(github.w);
}

static const char *const refused[] = {"/api/actions/a.b/n/readme",      "/api/actions/a_b/n/readme",
                                      "/api/actions/a%2Fb/n/readme",    "/api/actions/o/n%20m/readme",
                                      "/api/actions/o/%2e%2e/readme?x", "/api/actions/o/o_.._x/readme",
                                      "/api/actions/o/o_/readme",       "/api/actions/%C3%B6/n/readme"};

/* ACT-51. */
RIG_TEST(an_owner_or_name_that_github_cannot_have_is_refused_unasked)
{
    start_usual_github();
    got g = rig_get(t, refused[i]);
    ck_assert_msg(g.status == 400 || g.status == 404, "%d", g.status);
    if (str_has(str_of(refused[i]), STR("..")) || !str_has(str_of(refused[i]), STR("%2e")))
        ck_status(g, 400);
    ck_assert(rig_header(&g, "cache-control").len == 0);
    ck_assert_uint_eq(wire_requests(github.w), 0);
    wire_stop(github.w);
}

static const struct {
    const char *html;
    int         status;
    const char *error;
} failures[] = {
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", 404, "README not found."},
    {"HTTP/1.1 403 Forbidden\r\nX-RateLimit-Remaining: 0\r\nContent-Length: 2\r\n\r\n{}", 500,
     "Failed to fetch README."},
    {"HTTP/1.1 429 Too Many\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n", 500, "Failed to fetch README."},
    {"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", 500, "Failed to fetch README."},
    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\nxx", 500, "Failed to fetch README."},
    {"no HTTP at all\r\n\r\n", 500, "Failed to fetch README."},
    {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf", 500,
     "Failed to fetch README."},
};

static void answer_and_close(void *ctx, const wire_request *r, wire_answer *ret)
{
    answer_as_github(ctx, r, ret);
    ret->then = WIRE_CLOSE;
}

/* ACT-51. */
RIG_TEST(what_goes_wrong_at_github_is_an_error_that_is_neither_kept_nor_cached)
{
    start_github(failures[i].html, failures[i].html);
    wire_stop(github.w);
    github.w = wire_start_fn(answer_and_close, NULL, NULL);
    ck_assert_int_eq(setenv("ACTIONS_GITHUB_API", wire_url(github.w, ""), 1), 0);
    settings_forget_for_test();
    rig_log_capture();
    got g = rig_get(t, "/api/actions/o/n/readme");
    ck_status(g, failures[i].status);
    ck_str_eq(rig_text(&g, "error"), str_of(failures[i].error));
    ck_assert(rig_header(&g, "cache-control").len == 0);
    ck_assert(!str_has(rig_log(), STR(TOKEN)));
    github.html = ok_answer("<p>Now</p>");
    g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Now</p>", "MISS");
    wire_stop(github.w);
}

/* ACT-51. */
RIG_TEST(the_folder_that_github_does_not_tell_costs_no_readme)
{
    start_github(ok_answer("<img src=a.png>"), failures[1].html);
    got g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<img src=https://raw.githubusercontent.com/o/n/main/a.png>", "MISS");
    wire_stop(github.w);
}

static void put_record(task *t, const char *updated)
{
    rows_put(t, "o", "n", textf(",\"repoInfo\":{\"updated_at\":\"%s\"}", updated));
}

/* ACT-51. */
RIG_TEST(a_copy_is_good_until_the_record_says_that_the_repository_changed)
{
    start_usual_github();
    put_record(t, "2026-01-01T00:00:00Z");
    got g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Hi</p>", "MISS");
    put_record(t, "2025-12-31T23:59:59.5+00:00");
    g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Hi</p>", "HIT");
    put_record(t, "2026-01-01T00:00:00.5Z");
    g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Hi</p>", "MISS");
    g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Hi</p>", "HIT");
    wire_stop(github.w);
}

/* ACT-51. */
RIG_TEST(a_copy_of_an_unknown_repository_is_good_for_an_hour)
{
    start_usual_github();
    got    g = rig_get(t, "/api/actions/o/n/readme");
    entity e;
    expect_readme(&g, "<p>Hi</p>", "MISS");
    OK(tables_get(t, settings_get()->readmes, STR("o-n"), STR("main"), &e));
    entity_set_str(&e, "CachedAt", STR("2020-01-01T00:00:00Z"));
    OK(tables_replace(t, settings_get()->readmes, &e, e.etag));
    g = rig_get(t, "/api/actions/o/n/readme");
    expect_readme(&g, "<p>Hi</p>", "MISS");
    wire_stop(github.w);
}

/* ACT-51. */
RIG_TEST(refs_that_differ_in_case_alone_are_not_taken_for_each_other)
{
    start_usual_github();
    got g = rig_get(t, "/api/actions/o/n/readme?version=Rel");
    expect_readme(&g, "<p>Hi</p>", "MISS");
    github.html = ok_answer("<p>Other</p>");
    g = rig_get(t, "/api/actions/o/n/readme?version=rel");
    expect_readme(&g, "<p>Other</p>", "MISS");
    wire_stop(github.w);
}

/* ACT-51. */
RIG_TEST(a_long_readme_is_kept_whole_and_one_that_cannot_be_kept_is_served_all_the_same)
{
    str   noise = live_noise(t->arena, 120000, 7);
    char *text = arena_cstr(t->arena, noise);
    for (size_t k = 0; k < noise.len; k++)
        text[k] = (char)('a' + (unsigned char)text[k] % 26);
    start_github(ok_answer(text), ok_answer("{}"));
    got g = rig_get(t, "/api/actions/o/long/readme");
    expect_readme(&g, text, "MISS");
    g = rig_get(t, "/api/actions/o/long/readme");
    expect_readme(&g, text, "HIT");

    github.html = ok_answer("<p>\xff</p>"); /* no table takes that */
    for (int k = 0; k < 2; k++) {
        g = rig_get(t, "/api/actions/o/bad/readme");
        expect_readme(&g, "<p>\xff</p>", "MISS");
    }
    wire_stop(github.w);
}

RIG_TEST(options_on_a_readme_asks_nobody)
{
    start_usual_github();
    got g = rig_call(t, "OPTIONS", "/api/actions/o/n/readme", (str){0}, NULL, 0);
    ck_status(g, 204);
    ck_str_eq(rig_header(&g, "allow"), STR("GET,OPTIONS"));
    ck_assert_uint_eq(wire_requests(github.w), 0);
    wire_stop(github.w);
}

static void forget_copy(task *t)
{
    res r = tables_remove(t, settings_get()->readmes, STR("o-n"), STR("main"), ETAG_ANY);
    ck_assert(r == RES_OK || r == RES_NOT_FOUND || r == RES_UNPROVISIONED);
    task_forget(t);
}

RIG_TEST(a_readme_survives_every_failing_allocation_and_cancelled_wait)
{
    start_usual_github();
    put_record(t, "2026-01-01T00:00:00Z");
    const int tolerated[] = {500, 0};
    rig_torture(t, &(rig_request){.method = "GET", .target = "/api/actions/o/n/readme", .body = {0}}, 200,
                tolerated, forget_copy);
    wire_stop(github.w);
}

Suite *suite_actions_readme(void)
{
    Suite *s = suite_create("actions_readme");
    TCase *c = live_case("actions_readme");
    tcase_add_test(c, the_first_readme_comes_from_github_and_the_second_from_the_table);
    tcase_add_test(c, pictures_are_found_from_the_readmes_own_folder);
    tcase_add_loop_test(c, a_version_is_stripped_of_all_that_no_ref_has, 0,
                        sizeof versions / sizeof *versions);
    tcase_add_loop_test(c, an_owner_or_name_that_github_cannot_have_is_refused_unasked, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_loop_test(c, what_goes_wrong_at_github_is_an_error_that_is_neither_kept_nor_cached, 0,
                        sizeof failures / sizeof *failures);
    tcase_add_test(c, the_folder_that_github_does_not_tell_costs_no_readme);
    tcase_add_test(c, a_copy_is_good_until_the_record_says_that_the_repository_changed);
    tcase_add_test(c, a_copy_of_an_unknown_repository_is_good_for_an_hour);
    tcase_add_test(c, refs_that_differ_in_case_alone_are_not_taken_for_each_other);
    tcase_add_test(c, a_long_readme_is_kept_whole_and_one_that_cannot_be_kept_is_served_all_the_same);
    tcase_add_test(c, options_on_a_readme_asks_nobody);
    tcase_add_test(c, a_readme_survives_every_failing_allocation_and_cancelled_wait);
    suite_add_tcase(s, c);
    return s;
}
