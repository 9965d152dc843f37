/* fetch_cases_input.c -- what fetch refuses before anything is sent.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "unit/runtime/fetch_rig.h"

#define EIGHT(x)  x x x x x x x x
#define LONG_PATH EIGHT(EIGHT(EIGHT("/0123456789abcde")))

static const struct {
    str         method, url;
    http_header header;
    str         body;
    const char *words;
} refused[] = {
    {STR_INIT("GET"), STR_INIT(""), {{0}, {0}}, {0}, "neither http:// nor https://"},
    {STR_INIT("GET"), STR_INIT("ftp://127.0.0.1/"), {{0}, {0}}, {0}, "neither http:// nor https://"},
    {STR_INIT("GET"), STR_INIT("file:///etc/passwd"), {{0}, {0}}, {0}, "neither http:// nor https://"},
    {STR_INIT("GET"), STR_INIT("127.0.0.1/"), {{0}, {0}}, {0}, "neither http:// nor https://"},
    {STR_INIT("GET"), STR_INIT("http:///path"), {{0}, {0}}, {0}, "no valid host"},
    {STR_INIT("GET"), STR_INIT("http://a b/"), {{0}, {0}}, {0}, "percent-encoded"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1/\r\nHost: x"), {{0}, {0}}, {0}, "percent-encoded"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1/\0x"), {{0}, {0}}, {0}, "percent-encoded"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1/\xc3\xa4"), {{0}, {0}}, {0}, "percent-encoded"},
    {STR_INIT("GET"), STR_INIT("http://user:secret@127.0.0.1/"), {{0}, {0}}, {0}, "user or password"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1\\@evil/"), {{0}, {0}}, {0}, "user or password"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1\\evil/"), {{0}, {0}}, {0}, "no valid host"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1:0/"), {{0}, {0}}, {0}, "no valid port"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1:65536/"), {{0}, {0}}, {0}, "no valid port"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1:/"), {{0}, {0}}, {0}, "no valid port"},
    {STR_INIT("GET"), STR_INIT("http://[::1/"), {{0}, {0}}, {0}, "no valid host"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1" LONG_PATH), {{0}, {0}}, {0}, "longer than 8 KiB"},
    {STR_INIT("GE T"), STR_INIT("http://127.0.0.1/"), {{0}, {0}}, {0}, "invalid method"},
    {STR_INIT(""), STR_INIT("http://127.0.0.1/"), {{0}, {0}}, {0}, "invalid method"},
    {STR_INIT("GET\r\nX: y"), STR_INIT("http://127.0.0.1/"), {{0}, {0}}, {0}, "invalid method"},
    {STR_INIT("CONNECT"), STR_INIT("http://127.0.0.1/"), {{0}, {0}}, {0}, "no tunnels"},
    {STR_INIT("HEAD"), STR_INIT("http://127.0.0.1/"), {{0}, {0}}, STR_INIT("x"), "no body"},
    {STR_INIT("GET"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("A\r\nB"), STR_INIT("x")},
     {0},
     "invalid name"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1/"), {STR_INIT("A B"), STR_INIT("x")}, {0}, "invalid name"},
    {STR_INIT("GET"), STR_INIT("http://127.0.0.1/"), {STR_INIT("A:"), STR_INIT("x")}, {0}, "invalid name"},
    {STR_INIT("GET"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("A"), STR_INIT("x\r\nEvil: 1")},
     {0},
     "'A' to be sent"},
    {STR_INIT("GET"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("A"), STR_INIT("x\nEvil")},
     {0},
     "'A' to be sent"},
    {STR_INIT("GET"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("A"), STR_INIT("x\0y")},
     {0},
     "'A' to be sent"},
    {STR_INIT("PUT"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("content-length"), STR_INIT("9")},
     {0},
     "by fetch itself"},
    {STR_INIT("PUT"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("Transfer-Encoding"), STR_INIT("chunked")},
     {0},
     "by fetch itself"},
    {STR_INIT("GET"),
     STR_INIT("http://127.0.0.1/"),
     {STR_INIT("Host"), STR_INIT("other")},
     {0},
     "by fetch itself"},
};

START_TEST(a_bad_request_is_refused_before_anything_is_sent)
{
    rig_got got = rig_fetch((fetch_request){.method = refused[_i].method,
                                            .url = refused[_i].url,
                                            .headers = &refused[_i].header,
                                            .header_count = refused[_i].header.name.at != NULL,
                                            .body = refused[_i].body});
    ck_assert_int_eq(got.result, RES_INVALID);
    ck_assert_msg(strstr(got.message, refused[_i].words) != NULL, "'%s' does not say '%s'", got.message,
                  refused[_i].words);
    ck_assert_ptr_null(strstr(got.message, "secret"));
}
END_TEST

START_TEST(more_headers_than_a_request_may_have_are_refused)
{
    http_header many[FETCH_HEADERS_MAX + 1];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = (http_header){STR("A"), STR("b")};
    rig_got got = rig_fetch((fetch_request){.method = STR("GET"),
                                            .url = STR("http://127.0.0.1/"),
                                            .headers = many,
                                            .header_count = sizeof many / sizeof *many});
    ck_assert_int_eq(got.result, RES_INVALID);
}
END_TEST

TCase *fetch_cases_input(void)
{
    TCase *c = tcase_create("input");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_loop_test(c, a_bad_request_is_refused_before_anything_is_sent, 0,
                        (int)(sizeof refused / sizeof *refused));
    tcase_add_test(c, more_headers_than_a_request_may_have_are_refused);
    return c;
}
