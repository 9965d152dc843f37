/* test_envelope.c -- the host's envelope becomes a request: every shape of the specification, and hostile
 * ones.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "unit/runtime/samples.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;

static void open_arena(void)
{
    a = arena_new((size_t)16 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_fail_at(0);
    arena_free(a);
}

static request read_ok(const function *fn, str text)
{
    request in;
    str     error = {0};
    res     r = request_from_envelope(&in, a, text, fn, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
    return in;
}

/* The http trigger of `order` with these members besides its method. */
static request read_order(const char *members)
{
    return read_ok(&order,
                   arena_strf(a, "{\"Data\":{\"req\":{\"Method\":\"POST\"%s}},\"Metadata\":{}}", members));
}

/* HOST-16, HOST-17: spec 3.3 (a), as it is. */
START_TEST(the_http_payload_of_the_specification_is_read_whole)
{
    request in = read_ok(
        &order,
        STR("{\"Data\":{\"req\":{\"Url\":\"https://app.example/api/orders/42?name=Bob&name=Eve&code=K\","
            "\"Method\":\"POST\",\"Query\":{\"name\":\"Bob,Eve\",\"code\":\"K\"},"
            "\"Headers\":{\"Content-Type\":[\"application/json\"],\"Content-Length\":[\"21\"],"
            "\"Host\":[\"app.example\"],\"Accept\":[\"a\",\"b\"]},\"Params\":{\"oid\":\"42\",\"note\":null},"
            "\"Identities\":[{\"AuthenticationType\":null,\"IsAuthenticated\":false,\"Claims\":[]}],"
            "\"Body\":\"{\\\"id\\\":7,\\\"tags\\\":[\\\"x\\\"]}\"}},"
            "\"Metadata\":{\"id\":\"\\\"7\\\"\",\"oid\":\"\\\"42\\\"\",\"Query\":{\"name\":\"Eve\"},"
            "\"sys\":{\"MethodName\":\"order\"}}}"));
    size_t count;

    ck_str(request_function(&in), "order");
    ck_str(request_method(&in), "POST");
    ck_str(request_path(&in), "/api/orders/42");
    ck_str(request_host(&in), "app.example");
    ck_str(request_query(&in, "Name"), "Bob,Eve");
    ck_str(request_param(&in, "oid"), "42");
    ck_assert(request_is_absent(request_param(&in, "note")));
    ck_str(request_header(&in, "content-type"), "application/json");
    ck_str(request_body(&in), "{\"id\":7,\"tags\":[\"x\"]}");
    ck_assert_int_eq(request_meta_int(&in, "ID", 0), 7);
    ck_assert(id_is_uuid(request_invocation(&in)));
    ck_assert(str_eq(request_trace(&in), request_invocation(&in)));

    const http_header *headers = request_headers(&in, &count);
    ck_assert_uint_eq(count, 5);
    ck_str(headers[3].value, "a");
    ck_str(headers[4].value, "b");
}
END_TEST

/* HOST-15; the members, the body as bytes. */
static const struct {
    const char *members;
    str         body;
} bodies[] = {
    {"", STR_INIT("")},
    {",\"Body\":null", STR_INIT("")},
    {",\"Body\":\"aGk=\"", STR_INIT("aGk=")},
    {",\"Headers\":{\"content-type\":[\"application/octet-stream\"]},\"Body\":\"AP8=\"",
     STR_INIT("\x00\xff")},
    {",\"Headers\":{\"Content-Type\":\"Application/Octet-Stream; x=y\"},\"Body\":\"AP8=\"",
     STR_INIT("\x00\xff")},
    {",\"Headers\":{\"Content-Type\":[\"multipart/form-data; boundary=x\"]},\"Body\":\"aGk=\"",
     STR_INIT("hi")},
    {",\"Headers\":{\"Content-Type\":[\"x-MultiPart/mixed\"]},\"Body\":\"aGk=\"", STR_INIT("hi")},
    {",\"Headers\":{\"Content-Type\":[\"application/octet-stream2\"]},\"Body\":\"aGk=\"", STR_INIT("aGk=")},
    {",\"Headers\":{\"Content-Type\":[\"text/x; note=multipart/\"]},\"Body\":\"aGk=\"", STR_INIT("aGk=")},
    {",\"Headers\":{\"Content-Type\":[\"application/json\"]},\"Body\":\"{\\\"a\\\":1}\"",
     STR_INIT("{\"a\":1}")},
    {",\"Headers\":{\"Content-Type\":[\"image/png\"]},\"Body\":\"iVBO\"", STR_INIT("iVBO")},
    {",\"Headers\":{\"Content-Type\":[\"application/octet-stream\"]}", STR_INIT("")},
    {",\"Body\":{\"a\": 1}", STR_INIT("{\"a\":1}")},
};

START_TEST(a_body_is_base64_only_for_octets_and_multipart)
{
    request in = read_order(bodies[_i].members);
    ck_assert_msg(str_eq(request_body(&in), bodies[_i].body), "got '%.*s'", STR_ARG(request_body(&in)));
}
END_TEST

/* HOST-16; the members, and the value of the query's or route's `n` (NULL: absent). */
static const struct {
    const char *members, *query, *param;
} shapes[] = {
    {",\"Query\":{\"n\":\"1\"},\"Params\":{\"n\":\"2\"}", "1", "2"},
    {",\"Query\":\"{}\",\"Params\":\"{}\"", NULL, NULL},
    {",\"Query\":\"{\\\"n\\\":\\\"1\\\"}\"", "1", NULL},
    {",\"Query\":\"\",\"Headers\":\"\"", NULL, NULL},
    {",\"Query\":null,\"Params\":null,\"Headers\":null", NULL, NULL},
    {",\"Query\":{\"n\":\"\"},\"Params\":{\"n\":null}", "", NULL},
    {",\"Query\":{\"n\":[\"1\",\"2\"]},\"Params\":{\"n\":5}", "1", "5"},
    {",\"Query\":{\"n\":\"0\",\"n\":\"1\"},\"Params\":{\"n\":\"0\",\"n\":null}", "1",
     NULL}, /* the last wins */
    {",\"Url\":\"http://h/p?n=a%20b\"", "a b", NULL},
    {",\"Url\":\"http://h/p?n=a%20b\",\"Query\":{}", NULL, NULL},
    {",\"Identities\":\"[]\"", NULL, NULL},
    {",\"Identities\":[{\"Claims\":[]}]", NULL, NULL},
    {",\"Identities\":17", NULL, NULL},
};

static void is_or_is_absent(str got, const char *want)
{
    ck_assert(request_is_absent(got) == (want == NULL));
    ck_str(got, want);
}

START_TEST(query_params_and_identities_are_taken_in_every_shape)
{
    request in = read_order(shapes[_i].members);
    is_or_is_absent(request_query(&in, "n"), shapes[_i].query);
    is_or_is_absent(request_param(&in, "n"), shapes[_i].param);
}
END_TEST

static const struct {
    const char *url, *host, *path;
} urls[] = {
    {"https://app.example/api/x?q", "app.example", "/api/x"},
    {"https://app.example:8080/a%20b#part", "app.example:8080", "/a%20b"},
    {"https://app.example", "app.example", ""},
    {"https://app.example?u=http://other/", "app.example", ""},
    {"/api/x?u=http://other/", "", "/api/x"},
    {"/api/x#://", "", "/api/x"},
    {"", "", ""},
    {"://", "", ""},
};

START_TEST(a_url_is_cut_into_host_and_path)
{
    request in = read_order(arena_cstr(a, arena_strf(a, ",\"Url\":\"%s\"", urls[_i].url)));
    ck_str(request_host(&in), urls[_i].host);
    ck_str(request_path(&in), urls[_i].path);
}
END_TEST

#define DEEP4(x)  x x x x
#define DEEP64(x) DEEP4(DEEP4(DEEP4(x)))
static const struct {
    const function *fn;
    const char     *text, *error; /* the beginning of it */
} bad[] = {
    {&order, "", "envelope: the body is empty"},
    {&order, " \r\n", "envelope: the body is empty"},
    {&order, "\xEF\xBB\xBF", "envelope: the body is empty"},
    {&order, "{\"Data\":{", "envelope: not JSON at byte "},
    {&order, "\xff{}", "envelope: not JSON at byte "},
    {&order, "{\"Data\":{\"a\":\"\xff\"}}", "envelope: not JSON at byte "},
    {&onmsg, "{\"Data\":{}} x", "envelope: not JSON at byte "},
    {&order, "[]", "envelope: the body is not an object"},
    {&order, "null", "envelope: the body is not an object"},
    {&order, "{}", "envelope: 'Data' is not an object"},
    {&tick, "{\"Data\":[]}", "envelope: 'Data' is not an object"},
    {&tick, "{\"Data\":{},\"Data\":5}", "envelope: 'Data' is not an object"},
    {&onmsg, "{\"Data\":{},\"Metadata\":[]}", "envelope: 'Metadata' is not an object"},
    {&order, "{\"Data\":{}}", "envelope: 'req' is not an object"},
    {&order, "{\"Data\":{\"req\":\"x\"}}", "envelope: 'req' is not an object"},
    {&order, "{\"Data\":{\"req\":{}}}", "envelope: 'Method' is missing"},
    {&order, "{\"Data\":{\"req\":{\"Method\":7}}}", "envelope: 'Method' is not a string"},
    {&order, "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Url\":{}}}}", "envelope: 'Url' is not a string"},
    {&order, "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Query\":\"a=1\"}}}",
     "envelope: 'Query' is not an object"},
    {&order, "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Query\":[]}}}", "envelope: 'Query' is not an object"},
    {&order, "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Headers\":5}}}",
     "envelope: 'Headers' is not an object"},
    {&order, "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Params\":true}}}",
     "envelope: 'Params' is not an object"},
    {&order,
     "{\"Data\":{\"req\":{\"Method\":\"GET\",\"Headers\":{\"Content-Type\":[\"multipart/"
     "x\"]},\"Body\":\"*\"}}}",
     "envelope: 'Body' is not base64, as its media type demands"},
    {&order, "{\"Data\":" DEEP64("[[[[[[[[[[") "1", "envelope: not JSON at byte "},
};

START_TEST(what_is_no_envelope_is_refused_by_name_and_leaves_the_request_alone)
{
    request in = {.method = STR("untouched")};
    str     error = {0};
    res     r = request_from_envelope(&in, a, str_of(bad[_i].text), bad[_i].fn, &error);
    ck_assert_int_eq(r, RES_INVALID);
    ck_assert_msg(str_starts(error, str_of(bad[_i].error)), "got '%.*s'", STR_ARG(error));
    ck_str(in.method, "untouched");
}
END_TEST

START_TEST(a_byte_order_mark_and_missing_metadata_are_tolerated)
{
    request in = read_ok(&onmsg, STR("\xEF\xBB\xBF {\"Data\":{\"msg\":\"\\\"hi\\\"\"}}"));
    str     got;
    ck_assert(request_input_text(&in, "msg", &got));
    ck_str(got, "hi");
    ck_assert_ptr_null(request_meta(&in, "Id"));
    in = read_ok(&onmsg, STR("{\"Data\":{},\"Metadata\":null}"));
    ck_assert(!request_input_text(&in, "msg", &got));
    ck_assert_uint_eq(request_method(&in).len, 0);
}
END_TEST

START_TEST(headers_are_limited_in_number_also_when_they_are_empty)
{
    static const char *const values[] = {"\"v\"", "[]", "[\"v\"]"};
    for (int n = ENVELOPE_VALUES_MAX; n <= ENVELOPE_VALUES_MAX + 1; n++) {
        request in;
        buf     text;
        str     error = {0};
        buf_init(&text, a, MIB);
        buf_add(&text, STR("{\"Data\":{\"req\":{\"Method\":\"GET\",\"Headers\":{"));
        for (int i = 0; i < n; i++)
            buf_addf(&text, "%s\"h%d\":%s", i > 0 ? "," : "", i, values[_i]);
        buf_add(&text, STR("}}}}"));
        res r = request_from_envelope(&in, a, buf_str(&text), &order, &error);
        ck_assert_int_eq(r, n <= ENVELOPE_VALUES_MAX ? RES_OK : RES_INVALID);
        ck_str(error, n <= ENVELOPE_VALUES_MAX ? "" : "envelope: 'Headers' has too many values");
    }
}
END_TEST

/* HOST-13 */
static const struct {
    const char *timer;
    bool        past_due;
} timers[] = {
    {"{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":{\"Last\":\"2026-01-02T03:00:00+00:00\"},"
     "\"IsPastDue\":true}",
     true},
    {"{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":null,\"IsPastDue\":false}", false},
    {"{\"ScheduleStatus\":null,\"isPastDue\":true}", true},
    {"{\"IsPastDue\":\"true\"}", true},
    {"\"{\\\"IsPastDue\\\":true}\"", true},
    {"{}", false},
    {"{\"IsPastDue\":1}", false},
    {"null", false},
    {"[true]", false},
};

START_TEST(a_timer_says_whether_it_is_past_due)
{
    request in = read_ok(&tick, arena_strf(a, "{\"Data\":{\"tick\":%s},\"Metadata\":{}}", timers[_i].timer));
    ck_assert(request_is_past_due(&in) == timers[_i].past_due);
}
END_TEST

/* Only a lack of memory may be reported, and nothing half read. */
START_TEST(reading_survives_every_failing_allocation)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        request in = {.method = STR("untouched")};
        str     error = {0};
        ck_assert_int_lt(nth, 1000);
        arena_reset(a);
        arena_fail_at(nth);
        res r = request_from_envelope(
            &in, a,
            STR("{\"Data\":{\"req\":{\"Method\":\"GET\",\"Url\":\"http://h/p\",\"Query\":\"{\\\"n\\\":1}\","
                "\"Headers\":{\"A\":[\"b\"]},\"Params\":{\"c\":5},\"Body\":{}}}}"),
            &order, &error);
        pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(r, pending ? RES_OK : RES_MEMORY);
        ck_assert(pending || error.len > 0);
        ck_str(request_method(&in), pending ? "GET" : "untouched");
    }
}
END_TEST

Suite *suite_envelope(void)
{
    Suite *s = suite_create("envelope");
    TCase *t = tcase_create("read");
    tcase_add_checked_fixture(t, open_arena, close_arena);
    tcase_add_test(t, the_http_payload_of_the_specification_is_read_whole);
    tcase_add_loop_test(t, a_body_is_base64_only_for_octets_and_multipart, 0, COUNT(bodies));
    tcase_add_loop_test(t, query_params_and_identities_are_taken_in_every_shape, 0, COUNT(shapes));
    tcase_add_loop_test(t, a_url_is_cut_into_host_and_path, 0, COUNT(urls));
    tcase_add_loop_test(t, what_is_no_envelope_is_refused_by_name_and_leaves_the_request_alone, 0,
                        COUNT(bad));
    tcase_add_test(t, a_byte_order_mark_and_missing_metadata_are_tolerated);
    tcase_add_loop_test(t, headers_are_limited_in_number_also_when_they_are_empty, 0, 3);
    tcase_add_loop_test(t, a_timer_says_whether_it_is_past_due, 0, COUNT(timers));
    tcase_add_test(t, reading_survives_every_failing_allocation);
    suite_add_tcase(s, t);
    return s;
}
