/* test_sched_app.c -- the page's files, and the code on its screen.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/gzip.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"

#define A_SESSION "0b0ff4ab-6ee4-4f21-9d3c-0d6f1f1f7a11"

/* ---- files ---- */

static const struct {
    const char *target, *type, *holds;
} files[] = {
    {"/api/app", "text/html; charset=utf-8", "<noscript>"},
    {"/api/app/", "text/html; charset=utf-8", "<noscript>"},
    {"/api/app/index.html", "text/html; charset=utf-8", "<noscript>"},
    {"/api/app/app.css", "text/css; charset=utf-8", "prefers-color-scheme: dark"},
    {"/api/app/icon.svg", "image/svg+xml", "<svg"},
    {"/api/app/api.js", "text/javascript; charset=utf-8", "// api.js"},
    {"/api/app/app.js", "text/javascript; charset=utf-8", "// app.js"},
    {"/api/app/chart.js", "text/javascript; charset=utf-8", "// chart.js"},
    {"/api/app/dom.js", "text/javascript; charset=utf-8", "// dom.js"},
    {"/api/app/group.js", "text/javascript; charset=utf-8", "// group.js"},
    {"/api/app/home.js", "text/javascript; charset=utf-8", "// home.js"},
    {"/api/app/ignite.js", "text/javascript; charset=utf-8", "// ignite.js"},
    {"/api/app/join.js", "text/javascript; charset=utf-8", "// join.js"},
    {"/api/app/session.js", "text/javascript; charset=utf-8", "// session.js"},
    {"/api/app/signin.js", "text/javascript; charset=utf-8", "// signin.js"},
};

enum { FILES = sizeof files / sizeof *files };

static void ck_guarded(const got *g)
{
    ck_str_eq(rig_header(g, "content-security-policy"),
              STR("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                  "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"));
    ck_str_eq(rig_header(g, "x-content-type-options"), STR("nosniff"));
    ck_str_eq(rig_header(g, "referrer-policy"), STR("no-referrer"));
}

RIG_TEST(each_file_comes_with_its_type_and_the_policy)
{
    got g = rig_get(t, files[i].target);
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "content-type"), str_of(files[i].type));
    ck_str_eq(rig_header(&g, "cache-control"), STR("no-cache"));
    ck_assert_uint_lt(str_find(g.body, str_of(files[i].holds)), g.body.len);
    ck_guarded(&g);
}

RIG_TEST(a_file_that_is_known_is_not_sent_again)
{
    got         g = rig_get(t, files[i].target);
    str         tag = arena_copy(t->arena, rig_header(&g, "etag"));
    http_header known = {STR("If-None-Match"), tag};
    g = rig_call(t, "GET", files[i].target, (str){0}, &known, 1);
    ck_status(g, 304);
    ck_assert_uint_eq(g.body.len, 0);
    ck_str_eq(rig_header(&g, "etag"), tag);
    ck_guarded(&g);
}

RIG_TEST(a_file_is_packed_for_whoever_takes_it)
{
    http_header takes = {STR("Accept-Encoding"), STR("gzip")};
    got         g = rig_call(t, "GET", "/api/app/app.css", (str){0}, &takes, 1);
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "content-encoding"), STR("gzip"));
    ck_str_eq(rig_header(&g, "vary"), STR("Accept-Encoding"));
    ck_assert(g.body.len > 2 && (unsigned char)g.body.at[0] == 0x1f && (unsigned char)g.body.at[1] == 0x8b);
    ck_guarded(&g);
}

static const char *const tricks[] = {
    "/api/app/nothing.js",          "/api/app/APP.CSS",         "/api/app/app.css/",
    "/api/app/app.css%00",          "/api/app/web/app.css",     "/api/app//app.css",
    "/api/app/..%2fapp.css",        "/api/app/../../host.json", "/api/app/%2e%2e/%2e%2e/host.json",
    "/api/app/..%5c..%5chost.json", "/api/app//etc/passwd",
};

enum { TRICKS = sizeof tricks / sizeof *tricks };

/* Some of these are no path at all to the server: 400. */
RIG_TEST(no_path_leads_to_another_file)
{
    got g = rig_get(t, tricks[i]);
    ck_assert_msg(g.status == 404 || g.status == 400, "%s: %d", tricks[i], g.status);
    ck_str_eq(rig_header(&g, "content-type"), STR("application/json; charset=utf-8"));
}

RIG_TEST(what_is_not_there_is_an_answer_like_any_other)
{
    got g = rig_get(t, "/api/app/nothing.js");
    ck_status(g, 404);
    ck_assert(!rig_bool(&g, "ok"));
    ck_str_eq(rig_text(&g, "error"), STR("not_found"));
    ck_assert_uint_gt(rig_text(&g, "traceId").len, 0);
    ck_guarded(&g);
}

/* The policy forbids them, and a browser would leave them out without a word to the reader. */
RIG_TEST(the_page_has_no_script_and_no_style_of_its_own)
{
    got g = rig_get(t, "/api/app");
    ck_status(g, 200);
    ck_assert_uint_eq(str_find(g.body, STR("<style")), g.body.len);
    ck_assert_uint_eq(str_find(g.body, STR("style=")), g.body.len);
    ck_assert_uint_eq(str_find(g.body, STR(" onclick")), g.body.len);
    ck_assert_uint_eq(str_find(g.body, STR("<script>")), g.body.len);
    ck_assert_uint_eq(str_find(g.body, STR("//cdn")), g.body.len);
}

RIG_TEST(the_page_survives_every_failing_allocation)
{
    const int   none[] = {0};
    rig_request in = {.method = "GET", .target = "/api/app/api.js"};
    rig_torture(t, &in, 200, none, NULL);
}

/* ---- the code ---- */

static got ask_code(task *t, str session, str group, const char *of)
{
    return people_get(
        t, session, arena_strf(t->arena, "/api/ignite/qr?groupId=%.*s&sessionId=%s", STR_ARG(group), of).at);
}

RIG_TEST(a_code_is_a_drawing_of_where_guests_join)
{
    setenv("WEB_BASE_URL", "https://plan.example.org/api/app/", 1);
    str ann = people_named(t, "ann@example.org"), group = people_group(t, ann, "Sunday");
    got g = ask_code(t, ann, group, A_SESSION);
    ck_status(g, 200);
    ck_str_eq(rig_header(&g, "content-type"), STR("image/svg+xml"));
    ck_str_eq(rig_header(&g, "cache-control"), STR("no-store"));
    ck_str_eq(rig_header(&g, "x-content-type-options"), STR("nosniff"));
    ck_str_eq(rig_header(&g, "x-join-url"),
              arena_strf(t->arena, "https://plan.example.org/api/app/#/join-table?groupId=%.*s&sessionId=%s",
                         STR_ARG(group), A_SESSION));
    ck_assert(str_starts(g.body, STR("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ")));
    ck_assert(str_ends(g.body, STR("\"/></svg>\n")));
    got other = ask_code(t, ann, group, "another");
    ck_assert(!str_eq(g.body, other.body));
}

RIG_TEST(without_a_base_url_the_code_leads_where_the_page_came_from)
{
    unsetenv("WEB_BASE_URL");
    str         ann = people_named(t, "ann@example.org"), group = people_group(t, ann, "Sunday");
    str         target = arena_strf(t->arena, "/api/ignite/qr?groupId=%.*s&sessionId=s", STR_ARG(group));
    http_header sent[] = {{STR("x-session-id"), ann}, {STR("X-Forwarded-Host"), STR("plan.example.org")}};
    got         g = rig_call(t, "GET", target.at, (str){0}, sent, 2);
    ck_str_eq(rig_header(&g, "x-join-url"),
              arena_strf(t->arena, "https://plan.example.org/api/app/#/join-table?groupId=%.*s&sessionId=s",
                         STR_ARG(group)));
    g = rig_call(t, "GET", target.at, (str){0}, sent, 1);
    ck_str_eq(rig_header(&g, "x-join-url"),
              arena_strf(t->arena, "http://127.0.0.1:%d/api/app/#/join-table?groupId=%.*s&sessionId=s",
                         rig_port(), STR_ARG(group)));
}

RIG_TEST(a_code_is_for_active_members_alone)
{
    str ann = people_named(t, "ann@example.org"), bob = people_named(t, "bob@example.org");
    str group = people_group(t, ann, "Sunday");
    got g = ask_code(t, (str){0}, group, A_SESSION);
    ck_status(g, 401);
    g = ask_code(t, bob, group, A_SESSION);
    ck_status(g, 403);
    people_invite(t, group, "bob@example.org");
    g = ask_code(t, bob, group, A_SESSION);
    ck_status(g, 403);
    g = ask_code(t, people_guest(t, "guest@example.org", group), group, A_SESSION);
    ck_status(g, 403);
    ck_str_eq(rig_text(&g, "code"), STR("AUTH_SESSION_SCOPE_VIOLATION"));
}

RIG_TEST(a_code_needs_a_group_and_a_session_that_fit_in_an_address)
{
    str ann = people_named(t, "ann@example.org"), group = people_group(t, ann, "Sunday");
    got g = ask_code(t, ann, STR("sunday"), A_SESSION);
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_group_id"));
    g = ask_code(t, ann, group, "");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("sessionId_required"));
    g = ask_code(t, ann, group, "a%26b%3Dc");
    ck_status(g, 400);
}

RIG_TEST(a_code_survives_every_failing_allocation_and_every_wait_that_is_cancelled)
{
    setenv("WEB_BASE_URL", "https://plan.example.org", 1);
    const int   none[] = {0};
    str         ann = people_named(t, "ann@example.org"), group = people_group(t, ann, "Sunday");
    http_header who = {STR("x-session-id"), ann};
    rig_request in = {.method = "GET",
                      .target =
                          arena_strf(t->arena, "/api/ignite/qr?groupId=%.*s&sessionId=s", STR_ARG(group)).at,
                      .headers = &who,
                      .header_count = 1};
    rig_torture(t, &in, 200, none, NULL);
}

RIG_TEST(an_address_that_is_too_long_for_a_code_is_the_servers_fault)
{
    char base[2048] = "https://plan.example.org/";
    for (size_t n = strlen(base); n < sizeof base - 1; n++)
        base[n] = 'x';
    setenv("WEB_BASE_URL", base, 1);
    str ann = people_named(t, "ann@example.org"), group = people_group(t, ann, "Sunday");
    got g = ask_code(t, ann, group, A_SESSION);
    ck_status(g, 500);
    ck_str_eq(rig_text(&g, "error"), STR("INTERNAL_ERROR"));
}

Suite *suite_sched_app(void)
{
    Suite *s = suite_create("sched_app");
    TCase *c = live_case("files");
    tcase_add_loop_test(c, each_file_comes_with_its_type_and_the_policy, 0, FILES);
    tcase_add_loop_test(c, a_file_that_is_known_is_not_sent_again, 0, FILES);
    tcase_add_test(c, a_file_is_packed_for_whoever_takes_it);
    tcase_add_loop_test(c, no_path_leads_to_another_file, 0, TRICKS);
    tcase_add_test(c, what_is_not_there_is_an_answer_like_any_other);
    tcase_add_test(c, the_page_has_no_script_and_no_style_of_its_own);
    tcase_add_test(c, the_page_survives_every_failing_allocation);
    suite_add_tcase(s, c);
    c = live_case("code");
    tcase_add_test(c, a_code_is_a_drawing_of_where_guests_join);
    tcase_add_test(c, without_a_base_url_the_code_leads_where_the_page_came_from);
    tcase_add_test(c, a_code_is_for_active_members_alone);
    tcase_add_test(c, a_code_needs_a_group_and_a_session_that_fit_in_an_address);
    tcase_add_test(c, a_code_survives_every_failing_allocation_and_every_wait_that_is_cancelled);
    tcase_add_test(c, an_address_that_is_too_long_for_a_code_is_the_servers_fault);
    suite_add_tcase(s, c);
    return s;
}
