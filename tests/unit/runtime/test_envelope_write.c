/* test_envelope_write.c -- a reply becomes the host's envelope, and the payloads made without a host.
 *
 * SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "unit/runtime/samples.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static arena *a;
static reply  out;

static void open_arena(void)
{
    log_set_level(LOG_OFF);
    a = arena_new((size_t)16 * MIB);
    ck_assert_ptr_nonnull(a);
}

static void close_arena(void)
{
    arena_fail_at(0);
    clock_unset_for_test();
    arena_free(a);
    log_set_level(LOG_INFO);
}

static void begin_reply(const function *fn)
{
    reply_init(&out, a, fn, NULL);
}

static void envelope_is(const char *want)
{
    str text = {0}, error = {0};
    res r = reply_to_envelope(&out, &text, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
    ck_str(text, want);
}

static void envelope_is_refused(const char *part)
{
    str text = STR("untouched"), error = {0};
    ck_assert_int_eq(reply_to_envelope(&out, &text, &error), RES_INTERNAL);
    ck_assert_msg(str_has(error, str_of(part)), "got '%.*s'", STR_ARG(error));
    ck_str(text, "untouched");
}

/* HOST-18 */
START_TEST(nothing_said_is_an_envelope_all_the_same)
{
    begin_reply(&onmsg);
    envelope_is("{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":null}");
    begin_reply(&order);
    envelope_is("{\"Outputs\":{\"res\":{\"statusCode\":204,\"headers\":{\"Content-Type\":\"text/plain; "
                "charset=utf-8\"},"
                "\"body\":\"\"}},\"Logs\":[],\"ReturnValue\":null}");
}
END_TEST

/* HOST-20, HOST-21, HOST-23, HOST-24 */
START_TEST(an_answer_messages_and_logs_have_their_places)
{
    begin_reply(&order);
    (void)reply_text(&out, 201, STR("test"));
    (void)reply_add_header(&out, "Vary", STR("Accept"));
    (void)reply_add_header(&out, "X-One", STR("1"));
    (void)reply_add_header(&out, "vary", STR("Origin"));
    (void)reply_add_header(&out, "Set-Cookie", STR("a=1"));
    (void)reply_output(&out, "outqueue", STR("test"));
    (void)reply_output(&out, "rawqueue", STR("{\"a\":1}"));
    (void)reply_output(&out, "outqueue", STR("m\n2"));
    reply_log(&out, "one\ntwo");
    envelope_is("{\"Outputs\":{\"res\":{\"statusCode\":201,\"headers\":{\"Content-Type\":\"text/plain; "
                "charset=utf-8\","
                "\"Vary\":\"Accept, Origin\",\"X-One\":\"1\",\"Set-Cookie\":\"a=1\"},\"body\":\"test\"},"
                "\"outqueue\":[\"test\",\"m\\n2\"],\"rawqueue\":[\"{\\\"a\\\":1}\"]},"
                "\"Logs\":[\"one\",\"two\"],\"ReturnValue\":null}");
}
END_TEST

/* HOST-29: a redirect is inside of the envelope, which is itself none. */
START_TEST(a_redirect_is_carried_inside)
{
    begin_reply(&order);
    (void)reply_header(&out, "Location", STR("/api/orders/42"));
    (void)reply_empty(&out, 302);
    envelope_is(
        "{\"Outputs\":{\"res\":{\"statusCode\":302,\"headers\":{\"Location\":\"/api/orders/42\","
        "\"Content-Type\":\"text/plain; charset=utf-8\"},\"body\":\"\"}},\"Logs\":[],\"ReturnValue\":null}");
}
END_TEST

/* HOST-21 */
START_TEST(two_cookies_are_refused)
{
    begin_reply(&order);
    (void)reply_text(&out, 200, STR("x"));
    (void)reply_add_header(&out, "Set-Cookie", STR("a=1"));
    (void)reply_add_header(&out, "set-cookie", STR("b=2"));
    envelope_is_refused("one Set-Cookie at most");
}
END_TEST

/* HOST-22 */
START_TEST(a_binary_body_leaves_only_through_return)
{
    begin_reply(&order);
    (void)reply_bytes(&out, 200, "image/png", STR("\x89PNG"));
    envelope_is_refused("named http output 'res'");

    begin_reply(&returning);
    (void)reply_bytes(&out, 200, "image/png", STR("\x89PNG"));
    envelope_is("{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":\"iVBORw==\"}");
    (void)reply_header(&out, "ETag", STR("x"));
    envelope_is_refused("neither a status nor headers");

    begin_reply(&returning);
    (void)reply_bytes(&out, 404, "image/png", STR("\x89PNG"));
    envelope_is_refused("neither a status nor headers");

    begin_reply(&returning_raw);
    (void)reply_bytes(&out, 200, "image/png", STR("\x89PNG"));
    envelope_is_refused("dataType 'binary'");
}
END_TEST

/* "test" is valid base64 and "5" is JSON: as bare strings, the host would change them. */
START_TEST(text_through_return_is_an_object_that_is_not_guessed_at)
{
    static const char *const texts[] = {"test", "5", "12345678", ""};
    for (int i = 0; i < COUNT(texts); i++) {
        begin_reply(&returning);
        (void)reply_text(&out, 200, str_of(texts[i]));
        envelope_is(
            arena_cstr(a, arena_strf(a,
                                     "{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":{\"statusCode\":200,"
                                     "\"headers\":{\"Content-Type\":\"text/plain; charset=utf-8\"},"
                                     "\"body\":\"%s\"}}",
                                     texts[i])));
    }
}
END_TEST

START_TEST(a_collected_stream_is_the_body)
{
    begin_reply(&order);
    out.status = 200; /* as reply_stream and reply_write leave it */
    out.streaming = true;
    buf_add(&out.collected, STR("a,b\n"));
    envelope_is("{\"Outputs\":{\"res\":{\"statusCode\":200,\"headers\":{\"Content-Type\":\"text/plain; "
                "charset=utf-8\"},"
                "\"body\":\"a,b\\n\"}},\"Logs\":[],\"ReturnValue\":null}");
}
END_TEST

/* HOST-23 */
START_TEST(a_binary_message_leaves_alone_and_as_base64)
{
    begin_reply(&onmsg);
    (void)reply_output(&out, "$return", STR("\xff"));
    envelope_is("{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":\"/w==\"}");
    (void)reply_output(&out, "$return", STR("text"));
    envelope_is_refused("carries a binary message only alone");

    begin_reply(&onmsg);
    (void)reply_output(&out, "$return", STR("test"));
    envelope_is("{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":[\"test\"]}");

    begin_reply(&order);
    (void)reply_output(&out, "outqueue", STR("\xff"));
    (void)reply_output(&out, "rawqueue", STR("\xff"));
    envelope_is_refused("output 'rawqueue' of function 'order' has dataType 'binary'");
}
END_TEST

START_TEST(a_failure_that_nobody_would_hear_is_refused)
{
    begin_reply(&onmsg);
    (void)reply_text(&out, 200, STR("fine"));
    envelope_is("{\"Outputs\":{},\"Logs\":[],\"ReturnValue\":null}");
    (void)reply_text(&out, 500, STR("not fine"));
    envelope_is_refused("function 'onmsg' replied with status 500");
}
END_TEST

/* ---- payloads made without a host ---- */

static request read_ok(const function *fn, str text)
{
    request in;
    str     error = {0};
    res     r = request_from_envelope(&in, a, text, fn, &error);
    ck_assert_msg(r == RES_OK, "%.*s", STR_ARG(error));
    return in;
}

START_TEST(a_timers_payload_reads_as_the_hosts)
{
    int64_t last, next;
    ck_assert(iso8601_parse(STR("2026-01-02T03:00:00.75Z"), &last));
    ck_assert(iso8601_parse(STR("2026-01-02T03:05:00Z"), &next));
    clock_set_for_test(last, 0);
    str text = envelope_for_timer(a, &tick, last, next, true);
    ck_assert(str_starts(
        text,
        STR("{\"Data\":{\"tick\":{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":{"
            "\"Last\":\"2026-01-02T03:00:00+00:00\",\"Next\":\"2026-01-02T03:05:00+00:00\","
            "\"LastUpdated\":\"2026-01-02T03:00:00+00:00\"},\"IsPastDue\":true}},"
            "\"Metadata\":{\"sys\":{\"MethodName\":\"tick\",\"UtcNow\":\"2026-01-02T03:00:00.7500000Z\","
            "\"RandGuid\":\"")));
    request in = read_ok(&tick, text);
    ck_assert(request_is_past_due(&in));

    ck_assert(
        str_has(envelope_for_timer(a, &tick, 0, next, false), STR("\"Last\":\"0001-01-01T00:00:00+00:00\"")));
    function unwatched = tick;
    unwatched.monitored = false;
    text = envelope_for_timer(a, &unwatched, last, next, false);
    ck_assert(str_has(text, STR("\"ScheduleStatus\":null,\"IsPastDue\":false")));
}
END_TEST

static queue_message_info message(const char *text)
{
    return (queue_message_info){.id = STR("800ae4b3"),
                                .pop_receipt = STR("Ag\"AA"),
                                .text = str_of(text),
                                .dequeue_count = 3,
                                .inserted_us = INT64_C(1767323045000000),
                                .expires_us = INT64_C(1767927845000000),
                                .next_visible_us = INT64_C(1767323645999999)};
}

START_TEST(a_queues_payload_is_encoded_as_the_host_does)
{
    queue_message_info m =
        message("{\"a\":1,\"o\":{\"b\":2},\"l\":[1],\"n\":null,\"t\":true,\"s\":\"x\",\"MyTrigger\":1}");
    str         text = envelope_for_queue(a, &onmsg, &m), got;
    const char *want = "{\"Data\":{\"msg\":\"\\\"{\\\\\\\"a\\\\\\\":1,\\\\\\\"o\\\\\\\":{\\\\\\\"b\\\\\\\":2}"
                       ",\\\\\\\"l\\\\\\\":[1],"
                       "\\\\\\\"n\\\\\\\":null,\\\\\\\"t\\\\\\\":true,\\\\\\\"s\\\\\\\":\\\\\\\"x\\\\\\\","
                       "\\\\\\\"MyTrigger\\\\\\\":1}"
                       "\\\"\"},\"Metadata\":{\"DequeueCount\":\"3\",\"Id\":\"\\\"800ae4b3\\\"\","
                       "\"PopReceipt\":\"\\\"Ag\\\\\\\"AA"
                       "\\\"\",\"ExpirationTime\":\"2026-01-09T03:04:05+00:00\",\"InsertionTime\":\"2026-01-"
                       "02T03:04:05+00:00\","
                       "\"NextVisibleTime\":\"2026-01-02T03:14:05+00:00\",\"a\":\"\\\"1\\\"\",\"o\":{\"b\":2}"
                       ",\"t\":\"\\\"True\\\"\","
                       "\"s\":\"\\\"x\\\"\",\"sys\":{\"MethodName\":\"onmsg\"";
    ck_str(str_slice(text, 0, strlen(want)), want);

    request in = read_ok(&onmsg, text);
    ck_assert(request_input_text(&in, "msg", &got));
    ck_assert(str_eq(got, m.text));
    ck_str(request_meta_text(&in, "popreceipt"), "Ag\"AA");
    ck_assert_int_eq(request_meta_int(&in, "DequeueCount", 0), 3);
}
END_TEST

static const char *const round_trips[] = {"",  "hi", "\"hi\"", "null", "5", "[1, 2]", "\xe2\x82\xac\n\x01",
                                          "{", "\""};

START_TEST(every_text_arrives_as_it_was_sent)
{
    queue_message_info m = message(round_trips[_i]);
    request            in = read_ok(&onmsg, envelope_for_queue(a, &onmsg, &m));
    str                got;
    ck_assert(request_input_text(&in, "msg", &got));
    ck_str(got, round_trips[_i]);

    m.text = STR("\x00\xff");
    in = read_ok(&onbytes, envelope_for_queue(a, &onbytes, &m));
    ck_assert(request_input_bytes(&in, "msg", &got));
    ck_assert(str_eq(got, m.text));
}
END_TEST

START_TEST(members_of_a_message_hide_what_the_host_knows)
{
    queue_message_info m = message("{\"id\":\"mine\",\"sys\":7}");
    str                text = envelope_for_queue(a, &onmsg, &m);
    request            in = read_ok(&onmsg, text);
    ck_str(request_meta_text(&in, "Id"), "mine");
    ck_assert_int_eq(request_meta_int(&in, "sys", 0), 7);
    ck_str(json_text(json_get(request_meta(&in, "$sys"), "MethodName"), (str){0}), "onmsg");
    ck_assert(!str_has(text, STR("800ae4b3")));
}
END_TEST

/* ---- memory ---- */

static res write_everything(str *ret)
{
    str error = {0};
    begin_reply(&order);
    res r = reply_text(&out, 200, STR("hello"));
    if (r == RES_OK)
        r = reply_add_header(&out, "Vary", STR("a"));
    if (r == RES_OK)
        r = reply_add_header(&out, "Vary", STR("b"));
    if (r == RES_OK)
        r = reply_output(&out, "outqueue", STR("\xff"));
    if (r == RES_OK)
        r = reply_output(&out, "rawqueue", STR("m"));
    return r == RES_OK ? reply_to_envelope(&out, ret, &error) : r;
}

START_TEST(writing_survives_every_failing_allocation)
{
    bool pending = false;
    for (long nth = 1; !pending; nth++) {
        str text = STR("untouched");
        ck_assert_int_lt(nth, 1000);
        arena_reset(a);
        arena_fail_at(nth);
        res r = write_everything(&text);
        pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_msg(r == (pending ? RES_OK : RES_MEMORY), "allocation %ld: %s", nth, res_name(r));
        ck_str(text,
               pending
                   ? "{\"Outputs\":{\"res\":{\"statusCode\":200,\"headers\":{\"Content-Type\":\"text/plain; "
                     "charset=utf-8\",\"Vary\":\"a, "
                     "b\"},\"body\":\"hello\"},\"outqueue\":\"/w==\",\"rawqueue\":[\"m\"]},"
                     "\"Logs\":[],\"ReturnValue\":null}"
                   : "untouched");
    }
}
END_TEST

START_TEST(payloads_survive_every_failing_allocation)
{
    queue_message_info m = message("{\"a\":1,\"o\":{\"b\":2}}");
    bool               pending = false;
    for (long nth = 1; !pending; nth++) {
        ck_assert_int_lt(nth, 1000);
        arena_reset(a);
        arena_fail_at(nth);
        str timer = envelope_for_timer(a, &tick, 1, 2, false), queue = envelope_for_queue(a, &onmsg, &m);
        pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_msg(pending == (timer.at != NULL && queue.at != NULL), "allocation %ld", nth);
        ck_assert(timer.at == NULL || str_has(timer, STR("RandGuid")));
        ck_assert(queue.at == NULL ||
                  (str_has(queue, STR("RandGuid")) && str_has(queue, STR("NextVisibleTime"))));
    }
}
END_TEST

Suite *suite_envelope_write(void)
{
    Suite *s = suite_create("envelope_write");
    TCase *t = tcase_create("write");
    tcase_add_checked_fixture(t, open_arena, close_arena);
    tcase_add_test(t, nothing_said_is_an_envelope_all_the_same);
    tcase_add_test(t, an_answer_messages_and_logs_have_their_places);
    tcase_add_test(t, a_redirect_is_carried_inside);
    tcase_add_test(t, two_cookies_are_refused);
    tcase_add_test(t, a_binary_body_leaves_only_through_return);
    tcase_add_test(t, text_through_return_is_an_object_that_is_not_guessed_at);
    tcase_add_test(t, a_collected_stream_is_the_body);
    tcase_add_test(t, a_binary_message_leaves_alone_and_as_base64);
    tcase_add_test(t, a_failure_that_nobody_would_hear_is_refused);
    tcase_add_test(t, a_timers_payload_reads_as_the_hosts);
    tcase_add_test(t, a_queues_payload_is_encoded_as_the_host_does);
    tcase_add_loop_test(t, every_text_arrives_as_it_was_sent, 0, COUNT(round_trips));
    tcase_add_test(t, members_of_a_message_hide_what_the_host_knows);
    tcase_add_test(t, writing_survives_every_failing_allocation);
    tcase_add_test(t, payloads_survive_every_failing_allocation);
    suite_add_tcase(s, t);
    return s;
}
