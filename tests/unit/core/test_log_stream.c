/* test_log_stream.c -- pipes, sockets and files that take nothing, a part, or no more.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log_stream.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "unit/suites.h"

enum { READ_END, WRITE_END };

static int        ends[2];
static char       ring[LOG_BACKLOG_BYTES];
static log_stream s;
static buf        got;

static void set_blocking(int fd, bool blocking)
{
    ck_assert_int_eq(fcntl(fd, F_SETFL, blocking ? 0 : O_NONBLOCK), 0);
}

static void open_pipe(void)
{
    ck_assert_int_eq(pipe(ends), 0);
    set_blocking(ends[READ_END], false);
    s = (log_stream){.fd = ends[WRITE_END], .notice_level = LOG_INFO, .ring = ring};
    buf_init(&got, NULL, 16 * MIB);
}

static void close_pipe(void)
{
    close(ends[READ_END]);
    close(ends[WRITE_END]);
    buf_free(&got);
}

/* Lines with the blocking socket that the host may use in place of a pipe. */
static void use_socket(void)
{
    close(ends[READ_END]);
    close(ends[WRITE_END]);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    set_blocking(ends[READ_END], false);
    log_stream_set_fd(&s, ends[WRITE_END]);
}

/* Fills the pipe to the last byte; gives how many that were. */
static size_t fill(void)
{
    static const char zeroes[4096];
    size_t            total = 0;
    set_blocking(ends[WRITE_END], false);
    for (size_t piece = sizeof zeroes; piece > 0; piece /= 2) {
        ssize_t n;
        while ((n = write(ends[WRITE_END], zeroes, piece)) > 0)
            total += (size_t)n;
    }
    set_blocking(ends[WRITE_END], true);
    return total;
}

static size_t read_some(size_t most)
{
    char *to = buf_reserve(&got, most);
    ck_assert_ptr_nonnull(to);
    ssize_t n = read(ends[READ_END], to, most);
    got.len += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

static void read_everything(void)
{
    do
        (void)log_stream_flush(&s);
    while (read_some(64 * KIB) > 0);
}

/* A line of at least `len` bytes that begins with its number. */
static void send_number(long n, size_t len)
{
    static char text[4000];

    int used = snprintf(text, sizeof text, "%ld ", n);
    for (; (size_t)used + 1 < len; used++)
        text[used] = 'y';
    text[used++] = '\n';
    log_stream_send(&s, (str){text, (size_t)used});
}

static long number_at(str line, size_t from)
{
    size_t end = from;
    while (end < line.len && line.at[end] >= '0' && line.at[end] <= '9')
        end++;
    int64_t n;
    return str_to_i64(str_slice(line, from, end), &n) ? (long)n : -1; /* -1: no line has it */
}

/* Every line must have the next number, but for those that tell how many are missing. Gives how many lines
 * came or were told. */
static long count_lines(str all, long *ret_told)
{
    long next = 0;
    str  line;
    ck_assert(all.len == 0 || all.at[all.len - 1] == '\n');
    *ret_told = 0;
    while (all.len > 1 && str_next_field(&all, '\n', &line)) {
        bool   notice = str_starts(line, STR("{"));
        size_t from = notice ? str_find(line, STR("\"msg\":\"")) + 7 : 0;
        long   n = number_at(line, from);
        if (line.len == 0)
            continue;
        if (notice) {
            *ret_told += n;
            next += n;
        } else {
            ck_assert_int_eq(n, next);
            next++;
        }
    }
    return next;
}

START_TEST(a_line_that_the_pipe_takes_is_there_at_once)
{
    log_stream_send(&s, STR("one\n"));
    (void)read_some(100);
    ck_assert(str_eq(buf_str(&got), STR("one\n")));
    ck_assert(!log_stream_flush(&s));
}
END_TEST

START_TEST(a_short_jam_loses_nothing_and_keeps_the_order)
{
    size_t filled = fill();
    long   told = 0;
    for (int i = 0; i < 500; i++)
        send_number(i, 200);
    ck_assert(log_stream_flush(&s));
    read_everything();
    ck_assert_int_eq(count_lines(str_from(buf_str(&got), filled), &told), 500);
    ck_assert_int_eq(told, 0);
    ck_assert(!log_stream_flush(&s));
}
END_TEST

START_TEST(a_backlog_that_is_full_drops_and_tells_in_the_place_of_the_gap)
{
    size_t filled = fill();
    long   told = 0;
    for (int i = 0; i < 5000; i++)
        send_number(i, 100);
    read_everything();
    send_number(5000, 100);
    read_everything();
    ck_assert_int_eq(count_lines(str_from(buf_str(&got), filled), &told), 5001);
    ck_assert_int_eq(told, 5000 - LOG_BACKLOG_BYTES / 100);
}
END_TEST

/* Once a line is dropped, shorter ones behind it do not slip in before the gap is told. */
START_TEST(a_gap_has_no_holes)
{
    size_t filled = fill();
    long   told = 0;
    for (int i = 0; i < 3000; i++)
        send_number(i, i % 2 == 0 ? 3000 : 10);
    read_everything();
    ck_assert_int_eq(count_lines(str_from(buf_str(&got), filled), &told), 3000);
    ck_assert_int_gt(told, 2000);
    ck_assert_uint_eq(s.dropped, 0);
}
END_TEST

/* Jams and drains by odd amounts, so that the ring goes around its end many times. */
START_TEST(lines_that_go_around_the_end_of_the_ring_stay_whole)
{
    size_t filled = fill();
    long   next = 0, told = 0;
    for (int round = 0; round < 400; round++) {
        for (; s.len < 100000; next++)
            send_number(next, (size_t)(next * 37 % 900) + 20);
        (void)read_some(30011);
        (void)log_stream_flush(&s);
    }
    read_everything();
    ck_assert_int_eq(count_lines(str_from(buf_str(&got), filled), &told), next);
    ck_assert_int_eq(told, 0);
    ck_assert_uint_gt(got.len, 20 * LOG_BACKLOG_BYTES);
}
END_TEST

START_TEST(a_socket_that_is_full_does_not_block_either)
{
    long told = 0;
    use_socket();
    for (int i = 0; i < 4000; i++)
        send_number(i, i % 3 == 0 ? 3900 : 100);
    read_everything();
    ck_assert_int_eq(count_lines(buf_str(&got), &told), 4000);
    ck_assert_int_gt(told, 0);
}
END_TEST

START_TEST(a_reader_that_left_ends_neither_the_program_nor_the_call)
{
    (void)fill();
    send_number(0, 100); /* waits */
    close(ends[READ_END]);
    for (int i = 1; i < 1000; i++)
        send_number(i, 100);
    ck_assert(!log_stream_flush(&s)); /* nobody to wait for */
    ck_assert_uint_eq(s.len, 0);
    ck_assert_uint_ge(s.dropped, 999);
    ends[READ_END] = dup(ends[WRITE_END]);
}
END_TEST

START_TEST(lines_that_waited_for_a_reader_that_left_are_counted_once)
{
    (void)fill();
    for (int i = 0; i < 20; i++)
        send_number(i, 100);
    read_everything(); /* these have arrived */
    (void)fill();
    for (int i = 0; i < 7; i++)
        send_number(i, 100);
    close(ends[READ_END]);
    ck_assert(!log_stream_flush(&s));
    ck_assert_uint_eq(s.dropped, 7);
    ends[READ_END] = dup(ends[WRITE_END]);
}
END_TEST

START_TEST(a_closed_descriptor_is_survived)
{
    int fd = dup(ends[WRITE_END]);
    close(fd);
    log_stream_set_fd(&s, fd);
    for (int i = 0; i < 10; i++)
        send_number(i, 100);
    ck_assert(!log_stream_flush(&s));
}
END_TEST

static struct rlimit before;

/* A file that may have 1,000 bytes takes one line of 600 bytes, 400 of the next, and then no more. */
static int use_small_file(void)
{
    char          name[] = "/tmp/trestle-log-XXXXXX";
    struct rlimit small;
    int           fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    log_stream_set_fd(&s, fd);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){1000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    return fd;
}

static void lift_limit(void)
{
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
}

static str read_file(int fd)
{
    char *to = buf_reserve(&got, 8 * KIB);
    ck_assert_ptr_nonnull(to);
    ssize_t n = pread(fd, to, 8 * KIB, 0);
    got.len = n > 0 ? (size_t)n : 0;
    close(fd);
    return buf_str(&got);
}

START_TEST(a_line_of_which_a_part_was_taken_is_finished_first)
{
    long told = 0;
    int  fd = use_small_file();
    send_number(0, 600);
    send_number(1, 600);
    lift_limit();
    ck_assert_uint_eq(s.len, 200);
    send_number(2, 600);
    str all = read_file(fd);
    ck_assert_uint_eq(all.len, 1800);
    ck_assert_int_eq(count_lines(all, &told), 3);
    ck_assert_int_eq(told, 0);
}
END_TEST

START_TEST(a_disk_that_fills_up_and_empties_again_gets_the_count)
{
    int fd = use_small_file();
    for (int i = 0; i < 4; i++)
        send_number(i, 600);
    lift_limit();
    ck_assert_uint_eq(s.dropped, 3);

    send_number(4, 600);
    str all = read_file(fd);
    ck_assert(str_has(all, STR("\"msg\":\"3 log lines were dropped here")));
    ck_assert(str_has(all, STR("}\n4 yyy")) && str_ends(all, STR("yyy\n")));
}
END_TEST

Suite *suite_log_stream(void)
{
    Suite *suite = suite_create("log_stream");
    TCase *c = tcase_create("log_stream");
    tcase_add_checked_fixture(c, open_pipe, close_pipe);
    tcase_set_timeout(c, 30);
    tcase_add_test(c, a_line_that_the_pipe_takes_is_there_at_once);
    tcase_add_test(c, a_short_jam_loses_nothing_and_keeps_the_order);
    tcase_add_test(c, a_backlog_that_is_full_drops_and_tells_in_the_place_of_the_gap);
    tcase_add_test(c, a_gap_has_no_holes);
    tcase_add_test(c, lines_that_go_around_the_end_of_the_ring_stay_whole);
    tcase_add_test(c, a_socket_that_is_full_does_not_block_either);
    tcase_add_test(c, a_reader_that_left_ends_neither_the_program_nor_the_call);
    tcase_add_test(c, lines_that_waited_for_a_reader_that_left_are_counted_once);
    tcase_add_test(c, a_closed_descriptor_is_survived);
    tcase_add_test(c, a_disk_that_fills_up_and_empties_again_gets_the_count);
    tcase_add_test(c, a_line_of_which_a_part_was_taken_is_finished_first);
    suite_add_tcase(suite, c);
    return suite;
}
