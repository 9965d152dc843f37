/* fetch_cases_redirect.c -- redirects: followed only if asked, and never with credentials to somebody else.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "unit/runtime/fetch_rig.h"

static const http_header credentials[] = {
    {STR_INIT("Authorization"), STR_INIT("Bearer secret")}, {STR_INIT("Cookie"), STR_INIT("a=secret")},
    {STR_INIT("x-functions-key"), STR_INIT("secret")},      {STR_INIT("X-Own"), STR_INIT("secret")},
    {STR_INIT("Accept"), STR_INIT("text/plain")},           {STR_INIT("User-Agent"), STR_INIT("trestle")},
    {STR_INIT("Content-Type"), STR_INIT("text/css")},
};
enum { CREDENTIALS = sizeof credentials / sizeof *credentials };

static fetch_request request(wire *w, const char *method, const char *body)
{
    return (fetch_request){.method = str_of(method),
                           .url = str_of(wire_url(w, "/dir/from?old=1")),
                           .headers = credentials,
                           .header_count = CREDENTIALS,
                           .body = str_of(body),
                           .redirects_max = 3};
}

/* A server whose first answer redirects, and whose later ones are 200. */
static wire *redirecting(char *room, size_t size, int status, const char *location)
{
    (void)snprintf(room, size, "HTTP/1.1 %d R\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status,
                   location);
    return wire_start((wire_answer[]){{.bytes = room}, {.bytes = RIG_OK("there", "5")}}, 2, NULL);
}

static const struct {
    const char *location, *target;
} locations[] = {
    {"/to", "/to"},
    {"to?x=1", "/dir/to?x=1"},
    {"../up", "/up"},
    {"?new=2", "/dir/from?new=2"},
    {"/a b#fragment", "/a%20b"},
    {"./x/../y", "/dir/y"},
};

START_TEST(a_location_is_resolved_against_the_url_and_keeps_all_headers_on_the_same_host)
{
    char    room[256], line[64];
    wire   *w = redirecting(room, sizeof room, 302, locations[_i].location);
    rig_got got = rig_fetch(request(w, "GET", ""));
    ck_assert_msg(got.result == RES_OK, "%s", got.message);
    ck_assert_int_eq(got.status, 200);
    ck_assert_str_eq(got.body, "there");
    (void)snprintf(line, sizeof line, "GET %s HTTP/1.1\r\n", locations[_i].target);
    ck_assert_msg(str_starts(wire_request_at(w, 1).head, str_of(line)), "%s", wire_request_at(w, 1).head.at);
    for (size_t i = 0; i < CREDENTIALS; i++) {
        (void)snprintf(line, sizeof line, "%s: %s", credentials[i].name.at, credentials[i].value.at);
        ck_assert(wire_has_header(w, 1, line));
    }
    ck_assert_uint_eq(wire_connections(w), 1);
    wire_stop(w);
}
END_TEST

START_TEST(no_redirect_is_followed_unless_asked)
{
    char          room[256];
    wire         *w = redirecting(room, sizeof room, 302, "/to");
    fetch_request in = request(w, "GET", "");
    in.redirects_max = 0;
    ck_assert_int_eq(rig_fetch(in).status, 302);
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

static void no_credentials(wire *w, size_t i)
{
    ck_assert(!str_has(wire_request_at(w, i).head, STR("secret")));
    ck_assert(wire_has_header(w, i, "Accept: text/plain"));
    ck_assert(wire_has_header(w, i, "User-Agent: trestle"));
}

START_TEST(credentials_do_not_go_to_another_port_nor_back_again)
{
    char  there[256], back[256];
    /* home sends to far, far sends back to home: what was taken off stays off. */
    wire *home = wire_start((wire_answer[]){{.bytes = back}, {.bytes = RIG_OK("home", "4")}}, 2, NULL);
    (void)snprintf(there, sizeof there,
                   "HTTP/1.1 307 R\r\nLocation: http://127.0.0.1:%u/again\r\nContent-Length: 0\r\n\r\n",
                   wire_port(home));
    wire *far = wire_start(&(wire_answer){.bytes = there}, 1, NULL);
    (void)snprintf(back, sizeof back,
                   "HTTP/1.1 307 R\r\nLocation: //127.0.0.1:%u/far\r\nContent-Length: 0\r\n\r\n",
                   wire_port(far));

    rig_got got = rig_fetch(request(home, "POST", "body"));
    ck_assert_msg(got.result == RES_OK, "%s", got.message);
    ck_assert_str_eq(got.body, "home");
    ck_assert(str_has(wire_request_at(home, 0).head, STR("secret")));
    no_credentials(far, 0);
    no_credentials(home, 1);
    ck_assert_str_eq(wire_request_at(far, 0).body.at, "body");
    ck_assert(str_starts(wire_request_at(home, 1).head, STR("POST /again ")));
    wire_stop(home);
    wire_stop(far);
}
END_TEST

START_TEST(credentials_do_not_go_to_another_name_of_the_same_machine)
{
    char  room[256];
    wire *w = wire_start((wire_answer[]){{.bytes = room}, {.bytes = RIG_OK("there", "5")}}, 2, NULL);
    (void)snprintf(room, sizeof room,
                   "HTTP/1.1 301 R\r\nLocation: http://localhost:%u/x\r\nContent-Length: 0\r\n\r\n",
                   wire_port(w));
    ck_assert_str_eq(rig_fetch(request(w, "GET", "")).body, "there");
    no_credentials(w, 1);
    wire_stop(w);
}
END_TEST

static const struct {
    int         status;
    const char *method, *body, *then, *then_body;
} methods[] = {
    {301, "POST", "b", "GET", ""},   {302, "POST", "b", "GET", ""},   {303, "POST", "b", "GET", ""},
    {303, "PUT", "b", "GET", ""},    {303, "HEAD", "", "HEAD", ""},   {301, "PUT", "b", "PUT", "b"},
    {307, "POST", "b", "POST", "b"}, {308, "POST", "b", "POST", "b"}, {302, "DELETE", "", "DELETE", ""},
};

START_TEST(the_method_after_a_redirect_is_what_its_status_demands)
{
    char  room[256], line[64];
    wire *w = redirecting(room, sizeof room, methods[_i].status, "/to");
    ck_assert_int_eq(rig_fetch(request(w, methods[_i].method, methods[_i].body)).result, RES_OK);
    (void)snprintf(line, sizeof line, "%s /to HTTP/1.1\r\n", methods[_i].then);
    wire_request q = wire_request_at(w, 1);
    ck_assert_msg(str_starts(q.head, str_of(line)), "%s", q.head.at);
    ck_assert_str_eq(q.body.at, methods[_i].then_body);
    bool to_get = strcmp(methods[_i].method, methods[_i].then) != 0;
    ck_assert_int_eq(wire_has_header(w, 1, "Content-Type: text/css"), !to_get);
    wire_stop(w);
}
END_TEST

static const char *const bad_locations[] = {
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "http://user:secret@127.0.0.1/",
    "gopher://x/",
    "http://",
    "javascript:1",
    "http://127.0.0.1:99999/",
};

START_TEST(a_redirect_to_what_we_do_not_fetch_is_the_peers_failure)
{
    char    room[256];
    wire   *w = redirecting(room, sizeof room, 302, bad_locations[_i]);
    rig_got got = rig_fetch(request(w, "GET", ""));
    ck_assert_msg(got.result == RES_UPSTREAM, "%s: %s", res_name(got.result), got.message);
    ck_assert_ptr_nonnull(strstr(got.message, "redirects"));
    ck_assert_ptr_null(strstr(got.message, "secret"));
    ck_assert_uint_eq(wire_requests(w), 1);
    wire_stop(w);
}
END_TEST

START_TEST(a_circle_of_redirects_ends_at_the_limit)
{
    wire *w = wire_start(
        &(wire_answer){.bytes = "HTTP/1.1 302 R\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"}, 1, NULL);
    rig_got got = rig_fetch(request(w, "GET", ""));
    ck_assert_int_eq(got.result, RES_UPSTREAM);
    ck_assert_ptr_nonnull(strstr(got.message, "more than 3 redirects"));
    ck_assert_uint_eq(wire_requests(w), 4);
    wire_stop(w);
}
END_TEST

START_TEST(a_redirect_that_names_no_place_is_an_answer)
{
    wire *w = wire_start(&(wire_answer){.bytes = "HTTP/1.1 302 R\r\nContent-Length: 0\r\n\r\n"}, 1, NULL);
    ck_assert_int_eq(rig_fetch(request(w, "GET", "")).status, 302);
    wire_stop(w);
}
END_TEST

#define LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

TCase *fetch_cases_redirect(void)
{
    TCase *c = tcase_create("redirect");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    LOOP(c, a_location_is_resolved_against_the_url_and_keeps_all_headers_on_the_same_host, locations);
    tcase_add_test(c, no_redirect_is_followed_unless_asked);
    tcase_add_test(c, credentials_do_not_go_to_another_port_nor_back_again);
    tcase_add_test(c, credentials_do_not_go_to_another_name_of_the_same_machine);
    LOOP(c, the_method_after_a_redirect_is_what_its_status_demands, methods);
    LOOP(c, a_redirect_to_what_we_do_not_fetch_is_the_peers_failure, bad_locations);
    tcase_add_test(c, a_circle_of_redirects_ends_at_the_limit);
    tcase_add_test(c, a_redirect_that_names_no_place_is_an_answer);
    return c;
}
