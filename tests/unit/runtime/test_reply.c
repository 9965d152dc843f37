/* test_reply.c -- what a handler may say, what it may not, and what is kept of it.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "unit/runtime/samples.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;
static reply  out;

static void open_reply(void)
{
    log_set_level(LOG_OFF);
    a = arena_new((size_t)4 * MIB);
    ck_assert_ptr_nonnull(a);
    reply_init(&out, a, &order, NULL);
}

static void close_reply(void)
{
    arena_fail_at(0);
    arena_free(a);
    log_set_level(LOG_INFO);
}

static str header(const char *name)
{
    return http_header_get(out.headers, out.header_count, str_of(name));
}

/* ---- bodies ---- */

START_TEST(a_json_reply_says_its_type_and_charset)
{
    json *body = json_object(a);
    json_set_str(body, "name", STR("J\xc3\xbcrgen"));
    ck_assert_int_eq(reply_json(&out, 201, body), RES_OK);
    ck_assert_int_eq(out.status, 201);
    ck_str(out.body, "{\"name\":\"J\xc3\xbcrgen\"}");
    ck_str(header("content-type"), "application/json; charset=utf-8");
}
END_TEST

START_TEST(text_bytes_and_nothing_have_their_types)
{
    ck_assert_int_eq(reply_text(&out, 200, STR("hi")), RES_OK);
    ck_str(header("content-type"), "text/plain; charset=utf-8");
    ck_assert_int_eq(reply_bytes(&out, 200, "image/png", STR("\x89PNG")), RES_OK);
    ck_str(header("content-type"), "image/png");
    ck_str(out.body, "\x89PNG");
    ck_assert_int_eq(reply_empty(&out, 204), RES_OK);
    ck_assert(request_is_absent(header("content-type")));
    ck_assert_uint_eq(out.body.len, 0);
    ck_assert_int_eq(out.status, 204);
}
END_TEST

START_TEST(a_later_reply_replaces_the_earlier_and_keeps_other_headers)
{
    ck_assert_int_eq(reply_header(&out, "X-One", STR("1")), RES_OK);
    ck_assert_int_eq(reply_text(&out, 200, STR("first")), RES_OK);
    ck_assert_int_eq(reply_bytes(&out, 404, "text/html", STR("second")), RES_OK);
    ck_assert_int_eq(out.status, 404);
    ck_str(out.body, "second");
    ck_assert_uint_eq(out.header_count, 2);
    ck_str(header("x-one"), "1");
    ck_str(header("content-type"), "text/html");
}
END_TEST

static const struct {
    const char *body;
    int         status;
    bool        ok;
} statuses[] = {{"x", 200, true},  {"x", 599, true},  {"x", 302, true},  {"", 204, true},  {"", 304, true},
                {"", 100, false},  {"", 101, false},  {"", 199, false},  {"", 600, false}, {"", 0, false},
                {"", -200, false}, {"x", 204, false}, {"x", 304, false}, {"x", 205, true}};

START_TEST(only_final_statuses_are_taken_and_204_has_no_body)
{
    res r = reply_text(&out, statuses[_i].status, str_of(statuses[_i].body));
    ck_assert_int_eq(r, statuses[_i].ok ? RES_OK : RES_INTERNAL);
    ck_assert_int_eq(out.status, statuses[_i].ok ? statuses[_i].status : 0);
    ck_assert(statuses[_i].ok == (out.error.len == 0));
}
END_TEST

/* ---- headers ---- */

START_TEST(a_header_is_replaced_in_any_case_and_added_on_demand)
{
    ck_assert_int_eq(reply_header(&out, "Cache-Control", STR("no-store")), RES_OK);
    ck_assert_int_eq(reply_header(&out, "cache-control", STR("max-age=5")), RES_OK);
    ck_assert_uint_eq(out.header_count, 1);
    ck_str(header("Cache-Control"), "max-age=5");

    ck_assert_int_eq(reply_add_header(&out, "Set-Cookie", STR("a=1")), RES_OK);
    ck_assert_int_eq(reply_add_header(&out, "Set-Cookie", STR("b=2")), RES_OK);
    ck_assert_uint_eq(out.header_count, 3);
    ck_str(out.headers[1].value, "a=1");
    ck_str(out.headers[2].value, "b=2");
    ck_assert_int_eq(reply_header(&out, "set-cookie", STR("c=3")), RES_OK);
    ck_assert_uint_eq(out.header_count, 2);
    ck_str(header("Set-Cookie"), "c=3");
}
END_TEST

START_TEST(a_header_is_copied)
{
    char name[] = "X-Name", value[] = "value";
    ck_assert_int_eq(reply_header(&out, name, str_of(value)), RES_OK);
    memset(name, '!', sizeof name - 1);
    memset(value, '!', sizeof value - 1);
    ck_str(header("X-Name"), "value");
}
END_TEST

static const struct {
    const char *name, *value;
} bad_headers[] = {
    {"", "x"},
    {"a b", "x"},
    {"a:", "x"},
    {"a\r\nb", "x"},
    {"n\xc3\xa4me", "x"},
    {"a", "x\r\nSet-Cookie: evil=1"},
    {"a", "x\ny"},
    {"a", "\x7f"},
    {"a", "caf\xc3\xa9"}, /* ASCII only: the host reads other bytes as Latin-1 (spec 9.9) */
    {"a", "\x01"},
    {"Content-Length", "5"},
    {"transfer-encoding", "chunked"},
    {"CONNECTION", "close"},
    {"Date", "Fri, 02 Jan 2026 03:04:05 GMT"},
};

START_TEST(a_header_that_breaks_the_line_or_is_the_runtimes_is_refused)
{
    const char *name = bad_headers[_i].name;
    str         value = str_of(bad_headers[_i].value);
    ck_assert_int_eq(reply_header(&out, name, value), RES_INTERNAL);
    ck_assert_int_eq(reply_add_header(&out, name, value), RES_INTERNAL);
    ck_assert_uint_eq(out.header_count, 0);
    ck_assert_uint_gt(out.error.len, 0);
}
END_TEST

START_TEST(a_refused_header_leaves_the_old_one)
{
    ck_assert_int_eq(reply_header(&out, "a", STR("old")), RES_OK);
    ck_assert_int_eq(reply_header(&out, "a", STR("new\n")), RES_INTERNAL);
    ck_str(header("a"), "old");
    ck_assert_int_eq(reply_bytes(&out, 200, "text/html\r\nX: y", STR("")), RES_INTERNAL);
    ck_assert_int_eq(out.status, 0);
}
END_TEST

START_TEST(headers_are_limited_in_number)
{
    for (int i = 0; i < REPLY_HEADERS_MAX; i++)
        ck_assert_int_eq(reply_add_header(&out, "a", STR("x")), RES_OK);
    ck_assert_int_eq(reply_add_header(&out, "a", STR("x")), RES_INTERNAL);
    ck_assert_uint_eq(out.header_count, REPLY_HEADERS_MAX);
}
END_TEST

/* ---- outputs and logs ---- */

START_TEST(messages_are_copied_and_kept_in_order_with_their_binding)
{
    char text[] = "m 1";
    ck_assert_int_eq(reply_output(&out, "outqueue", str_of(text)), RES_OK);
    text[2] = '2';
    ck_assert_int_eq(reply_output(&out, "rawqueue", str_of(text)), RES_OK);
    ck_assert_uint_eq(out.messages.count, 2);
    ck_str(out.messages.first->text, "m 1");
    ck_str(out.messages.first->to->name, "outqueue");
    ck_str(out.messages.last->text, "m 2");
    ck_str(out.messages.last->to->name, "rawqueue");
    ck_assert_ptr_null(out.messages.last->next);
}
END_TEST

START_TEST(an_output_that_function_json_does_not_declare_is_refused_at_once)
{
    ck_assert_int_eq(reply_output(&out, "nosuch", STR("m")), RES_INTERNAL);
    ck_str(out.error, "function 'order' has no output binding 'nosuch'");
    ck_assert_int_eq(reply_output(&out, "note", STR("m")), RES_INTERNAL); /* an input */
    ck_str(out.error, "function 'order' has no output binding 'note'");
    ck_assert_int_eq(reply_output(&out, "res", STR("m")), RES_INTERNAL); /* the http answer */
    ck_assert_uint_eq(out.messages.count, 0);
}
END_TEST

/* HOST-24 */
START_TEST(a_text_of_several_lines_is_several_log_entries)
{
    reply_log(&out, "one %d\r\n\n  two\n", 1);
    reply_log(&out, "%s", "");
    ck_assert_uint_eq(out.logs.count, 2);
    ck_str(out.logs.first->text, "one 1");
    ck_str(out.logs.last->text, "two");
}
END_TEST

START_TEST(log_lines_are_limited_and_the_last_says_so)
{
    for (int i = 0; i < REPLY_LOGS_MAX + 10; i++)
        reply_log(&out, "line %d", i);
    ck_assert_uint_eq(out.logs.count, REPLY_LOGS_MAX + 1);
    ck_str(out.logs.last->text, "further lines are left out here");
}
END_TEST

START_TEST(a_log_line_also_reaches_our_own_log)
{
    int  ends[2];
    char got[512] = "";
    ck_assert_int_eq(pipe(ends), 0);
    log_set_fds(ends[1], ends[1]);
    log_set_level(LOG_INFO);
    reply_log(&out, "the %s line", "very");
    log_drain(1000);
    log_set_fds(-1, -1);
    ck_assert_int_gt(read(ends[0], got, sizeof got - 1), 0);
    close(ends[0]);
    close(ends[1]);
    ck_assert_ptr_nonnull(strstr(got, "the very line"));
}
END_TEST

/* ---- streams, which need a task ---- */

static void in_task(task_fn *fn)
{
    task_spec spec = {.name = "reply", .memory_bytes = MIB};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&spec, fn, NULL, NULL, NULL), RES_OK);
    loop_run();
    loop_close();
}

static res stream_twice(task *t, void *ctx)
{
    (void)ctx;
    ck_assert_int_eq(reply_stream(t, &out, 200, "text/csv"), RES_OK);
    ck_assert_int_eq(reply_write(t, &out, STR("a,b\n")), RES_OK);
    ck_assert_int_eq(reply_write(t, &out, STR("")), RES_OK);
    ck_assert_int_eq(reply_write(t, &out, STR("1,2\n")), RES_OK);
    return RES_OK;
}

START_TEST(in_json_mode_the_pieces_of_a_stream_are_collected)
{
    in_task(stream_twice);
    ck_assert(out.streaming);
    ck_assert_int_eq(out.status, 200);
    ck_str(buf_str(&out.collected), "a,b\n1,2\n");
    ck_str(header("content-type"), "text/csv");
}
END_TEST

static res misuse_streams(task *t, void *ctx)
{
    (void)ctx;
    ck_assert_int_eq(reply_write(t, &out, STR("x")), RES_INTERNAL);
    ck_str(task_message(t), "a piece is written before the stream has begun");
    ck_assert_int_eq(reply_stream(t, &out, 204, "text/csv"), RES_INTERNAL);
    ck_assert_int_eq(reply_stream(t, &out, 200, "a\nb"), RES_INTERNAL);
    ck_assert(!out.streaming);

    ck_assert_int_eq(reply_stream(t, &out, 200, "text/csv"), RES_OK);
    ck_assert_int_eq(reply_stream(t, &out, 200, "text/csv"), RES_INTERNAL);
    ck_assert_int_eq(reply_text(&out, 500, STR("too late")), RES_INTERNAL);
    ck_assert_int_eq(reply_header(&out, "a", STR("too late")), RES_INTERNAL);
    out.collected.max = 10;
    ck_assert_int_eq(reply_write(t, &out, STR("0123456789")), RES_OK);
    ck_assert_int_eq(reply_write(t, &out, STR("x")), RES_TOO_LARGE);
    return RES_OK;
}

START_TEST(a_stream_has_one_beginning_and_a_limit)
{
    in_task(misuse_streams);
    ck_assert_int_eq(out.status, 200);
    ck_str(buf_str(&out.collected), "0123456789");
    ck_assert_uint_eq(out.header_count, 1);
}
END_TEST

/* ---- memory ---- */

START_TEST(a_reply_survives_every_failing_allocation)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 200);
        arena_reset(a);
        reply_init(&out, a, &order, NULL);
        json *body = json_object(a);
        json_set_str(body, "a", STR("b"));

        arena_fail_at(nth);
        res results[] = {reply_json(&out, 200, body), reply_header(&out, "X-One", STR("1")),
                         reply_output(&out, "outqueue", STR("m"))};
        reply_log(&out, "line");
        res refused = reply_header(&out, "X-One", STR("\n"));
        pending = arena_fail_pending();
        arena_fail_at(0);

        for (int i = 0; i < COUNT(results); i++)
            ck_assert(results[i] == RES_OK || results[i] == RES_MEMORY);
        ck_assert_int_eq(refused, RES_INTERNAL);
        ck_assert_int_eq(out.status, results[0] == RES_OK ? 200 : 0);
        ck_assert_int_eq(str_eq(header("x-one"), STR("1")), results[1] == RES_OK);
        ck_assert_uint_eq(out.messages.count, results[2] == RES_OK ? 1 : 0);
    }
    ck_str(out.body, "{\"a\":\"b\"}");
    ck_assert_uint_eq(out.logs.count, 1);
}
END_TEST

Suite *suite_reply(void)
{
    Suite *s = suite_create("reply");
    TCase *t = tcase_create("reply");
    tcase_add_checked_fixture(t, open_reply, close_reply);
    tcase_add_test(t, a_json_reply_says_its_type_and_charset);
    tcase_add_test(t, text_bytes_and_nothing_have_their_types);
    tcase_add_test(t, a_later_reply_replaces_the_earlier_and_keeps_other_headers);
    tcase_add_loop_test(t, only_final_statuses_are_taken_and_204_has_no_body, 0, COUNT(statuses));
    tcase_add_test(t, a_header_is_replaced_in_any_case_and_added_on_demand);
    tcase_add_test(t, a_header_is_copied);
    tcase_add_loop_test(t, a_header_that_breaks_the_line_or_is_the_runtimes_is_refused, 0,
                        COUNT(bad_headers));
    tcase_add_test(t, a_refused_header_leaves_the_old_one);
    tcase_add_test(t, headers_are_limited_in_number);
    tcase_add_test(t, messages_are_copied_and_kept_in_order_with_their_binding);
    tcase_add_test(t, an_output_that_function_json_does_not_declare_is_refused_at_once);
    tcase_add_test(t, a_text_of_several_lines_is_several_log_entries);
    tcase_add_test(t, log_lines_are_limited_and_the_last_says_so);
    tcase_add_test(t, a_log_line_also_reaches_our_own_log);
    tcase_add_test(t, in_json_mode_the_pieces_of_a_stream_are_collected);
    tcase_add_test(t, a_stream_has_one_beginning_and_a_limit);
    tcase_add_test(t, a_reply_survives_every_failing_allocation);
    suite_add_tcase(s, t);
    return s;
}
