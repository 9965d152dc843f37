/* fetch_cases_stream.c -- answers in pieces: whole, bounded in memory, and left early.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "unit/runtime/fetch_rig.h"

#define GET(w, path) ((fetch_request){.method = STR("GET"), .url = str_of(wire_url((w), (path)))})

enum { LONG_BYTES = 64 * MIB };
#define LONG_HEAD "HTTP/1.1 200 OK\r\nX-Test: long\r\nContent-Length: 67108864\r\n\r\n"

typedef struct {
    wire         *w;
    fetch_request in;
    uint64_t      bytes; /* read */
    size_t        pieces, longest;
    res           opened, ended;
    unsigned      slow_ms; /* before the first read */
    uint64_t      sent_while_nobody_read;
    char          message[512];
} reading;

static void read_all(task *t, reading *r)
{
    fetch_stream *s;
    fetch_answer  a;
    str           piece;
    r->opened = fetch_open(t, &r->in, &a, &s);
    if (r->opened != RES_OK)
        return;
    if (r->slow_ms > 0 && task_sleep(t, r->slow_ms) == RES_OK)
        r->sent_while_nobody_read = wire_sent_bytes(r->w);
    while ((r->ended = fetch_read(t, s, &piece)) == RES_OK && piece.len > 0) {
        for (size_t i = 0; i < piece.len; i++)
            if (piece.at[i] != 'x')
                ck_abort_msg("byte %llu is wrong", (unsigned long long)r->bytes + i);
        r->bytes += piece.len;
        r->pieces++;
        r->longest = piece.len > r->longest ? piece.len : r->longest;
    }
    (void)snprintf(r->message, sizeof r->message, "%.*s", STR_ARG(task_message(t)));
    ck_assert_int_eq(fetch_read(t, s, &piece), r->ended); /* the end stays the end */
}

static res read_in_task(task *t, void *ctx)
{
    size_t used = arena_used_bytes(t->arena);
    read_all(t, ctx);
    ck_assert_uint_lt(arena_used_bytes(t->arena) - used, 16 * KIB); /* pieces are not the arena's */
    return RES_OK;
}

START_TEST(a_long_answer_is_read_in_pieces_while_the_peer_is_held_back)
{
    wire   *w = wire_start(&(wire_answer){.bytes = LONG_HEAD, .fill_bytes = LONG_BYTES}, 1, NULL);
    reading r = {.w = w, .in = GET(w, "/"), .slow_ms = 200};
    ck_assert_int_eq(rig_run(read_in_task, &r, 0), RES_OK);
    ck_assert_int_eq(r.opened, RES_OK);
    ck_assert_int_eq(r.ended, RES_OK);
    ck_assert_uint_eq(r.bytes, LONG_BYTES);
    ck_assert_uint_gt(r.pieces, LONG_BYTES / (FETCH_STREAM_HIGH + 64 * KIB));
    ck_assert_uint_le(r.longest, FETCH_STREAM_HIGH + 64 * KIB);
    /* Nobody read for 200 ms: the kernel's buffers and ours were filled, and that was all. */
    ck_assert_uint_gt(r.sent_while_nobody_read, FETCH_STREAM_HIGH);
    ck_assert_uint_lt(r.sent_while_nobody_read, LONG_BYTES / 4);
    wire_stop(w);
}
END_TEST

START_TEST(a_short_answer_and_an_empty_one_are_streams_too)
{
    static const struct {
        const char *bytes, *method;
        uint64_t    want;
    } rows[] = {
        {RIG_OK("xxx", "3"), "GET", 3},
        {RIG_OK("", "0"), "GET", 0},
        {"HTTP/1.1 204 No\r\n\r\n", "GET", 0},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD", 0},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxx\r\n1\r\nx\r\n0\r\n\r\n", "GET", 3}};
    wire   *w = wire_start(&(wire_answer){.bytes = rows[_i].bytes}, 1, NULL);
    reading r = {.w = w, .in = GET(w, "/")};
    r.in.method = str_of(rows[_i].method);
    ck_assert_int_eq(rig_run(read_in_task, &r, 0), RES_OK);
    ck_assert_int_eq(r.ended, RES_OK);
    ck_assert_uint_eq(r.bytes, rows[_i].want);
    wire_stop(w);
}
END_TEST

static res open_before_the_body(task *t, void *ctx)
{
    fetch_stream *s;
    fetch_answer  a;
    str           piece;
    TRY(fetch_open(t, &GET(ctx, "/"), &a, &s));
    ck_assert_int_eq(a.status, 200);
    ck_assert(str_eq(http_header_get(a.headers, a.header_count, STR("X-Test")), STR("1")));
    ck_assert_uint_lt(wire_sent_bytes(ctx), 100); /* the head is here, the body is not sent yet */
    TRY(fetch_read(t, s, &piece));
    ck_assert_uint_gt(piece.len, 0);
    fetch_close(s);
    fetch_close(NULL);
    return RES_OK;
}

START_TEST(open_returns_when_the_head_is_here)
{
    wire *w =
        wire_start(&(wire_answer){.bytes = "HTTP/1.1 200 OK\r\nX-Test: 1\r\nContent-Length: 150\r\n\r\n",
                                  .fill_bytes = 150,
                                  .fill_ms = 100},
                   1, NULL);
    ck_assert_int_eq(rig_run(open_before_the_body, w, 0), RES_OK);
    wire_stop(w);
}
END_TEST

static res leave_early(task *t, void *ctx)
{
    wire         *w = ctx;
    fetch_stream *s;
    fetch_answer  a;
    str           piece;
    TRY(fetch_open(t, &GET(w, "/"), &a, &s));
    TRY(fetch_read(t, s, &piece));
    fetch_close(s);
    ck_assert(wire_wait_open(w, 0, 5000)); /* its connection is closed: nobody will read the rest */
    fetch_close(s);                        /* twice is as good as once */

    TRY(fetch_open(t, &GET(w, "/"), &a, &s));
    return fetch_read(t, s, &piece); /* left open: the arena's end closes it */
}

START_TEST(a_stream_can_be_left_early_by_hand_or_by_the_end_of_its_task)
{
    wire *w = wire_start(&(wire_answer){.bytes = LONG_HEAD, .fill_bytes = LONG_BYTES}, 1, NULL);
    ck_assert_int_eq(rig_run(leave_early, w, 0), RES_OK);
    ck_assert(wire_wait_open(w, 0, 5000));
    ck_assert_uint_lt(wire_sent_bytes(w), LONG_BYTES);
    wire_stop(w);
}
END_TEST

static const struct {
    wire_answer answer;
    uint64_t    answer_max, timeout_ms;
    res         ended;
} failing[] = {
    {{.bytes = LONG_HEAD, .fill_bytes = 1000, .then = WIRE_CLOSE}, 0, 0, RES_UPSTREAM},
    {{.bytes = LONG_HEAD, .fill_bytes = 1000, .then = WIRE_RESET, .then_ms = 30}, 0, 0, RES_UPSTREAM},
    {{.bytes = LONG_HEAD, .fill_bytes = 1000, .then = WIRE_HANG}, 0, 150, RES_TIMEOUT},
    {{.bytes = "HTTP/1.1 200 OK\r\n\r\n", .fill_bytes = 5000, .then = WIRE_CLOSE}, 4000, 0, RES_TOO_LARGE},
    {{.bytes = "HTTP/1.1 200 OK\r\n\r\n", .fill_bytes = 2 * MIB, .then = WIRE_CLOSE}, MIB, 0, RES_TOO_LARGE},
};

START_TEST(a_stream_that_breaks_off_says_so_when_it_is_read)
{
    wire   *w = wire_start(&failing[_i].answer, 1, NULL);
    reading r = {.w = w, .in = GET(w, "/secret")};
    r.in.answer_max = failing[_i].answer_max;
    r.in.timeout_ms = failing[_i].timeout_ms;
    ck_assert_int_eq(rig_run(read_in_task, &r, 0), RES_OK);
    ck_assert_int_eq(r.opened, RES_OK);
    ck_assert_msg(r.ended == failing[_i].ended, "%s: %s", res_name(r.ended), r.message);
    ck_assert_ptr_nonnull(strstr(r.message, "http://127.0.0.1:"));
    ck_assert_ptr_null(strstr(r.message, "secret"));
    ck_assert_uint_le(r.bytes, failing[_i].answer_max != 0 ? failing[_i].answer_max : 1000);
    wire_stop(w);
}
END_TEST

static res cancel_reader(task *t, size_t i, void *ctx)
{
    reading *r = ctx;
    if (i == 1) {
        for (int ms = 0; r->bytes < 1000 && ms < 5000; ms += 10)
            TRY(task_sleep(t, 10));
        return RES_GONE;
    }
    read_all(t, r);
    return r->ended;
}

static res read_and_leave(task *t, void *ctx)
{
    return par_each(t, 2, 2, cancel_reader, ctx);
}

START_TEST(a_reader_that_is_cancelled_ends_at_once)
{
    wire *w = wire_start(&(wire_answer){.bytes = LONG_HEAD, .fill_bytes = 1000, .then = WIRE_HANG}, 1, NULL);
    reading r = {.w = w, .in = GET(w, "/")};
    ck_assert_int_eq(rig_run(read_and_leave, &r, 0), RES_GONE);
    ck_assert_int_eq(r.ended, RES_GONE);
    ck_assert_uint_eq(r.bytes, 1000);
    ck_assert(wire_wait_open(w, 0, 5000));
    wire_stop(w);
}
END_TEST

static res read_twice(task *t, void *ctx)
{
    reading *r = ctx;
    read_all(t, r);
    read_all(t, r);
    return r->ended;
}

START_TEST(a_stream_read_to_its_end_leaves_its_connection_to_the_next)
{
    wire *w = wire_start(
        &(wire_answer){.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", .fill_bytes = 1000000},
        1, NULL);
    reading r = {.w = w, .in = GET(w, "/")};
    ck_assert_int_eq(rig_run(read_twice, &r, 0), RES_OK);
    ck_assert_uint_eq(r.bytes, 2000000);
    ck_assert_uint_eq(wire_connections(w), 1);
    wire_stop(w);
}
END_TEST

TCase *fetch_cases_stream(void)
{
    TCase *c = tcase_create("stream");
    tcase_add_checked_fixture(c, rig_before, rig_after);
    tcase_add_test(c, a_long_answer_is_read_in_pieces_while_the_peer_is_held_back);
    tcase_add_loop_test(c, a_short_answer_and_an_empty_one_are_streams_too, 0, 5);
    tcase_add_test(c, open_returns_when_the_head_is_here);
    tcase_add_test(c, a_stream_can_be_left_early_by_hand_or_by_the_end_of_its_task);
    tcase_add_loop_test(c, a_stream_that_breaks_off_says_so_when_it_is_read, 0,
                        (int)(sizeof failing / sizeof *failing));
    tcase_add_test(c, a_reader_that_is_cancelled_ends_at_once);
    tcase_add_test(c, a_stream_read_to_its_end_leaves_its_connection_to_the_next);
    return c;
}
