/* log_pipes.h -- the log's two streams as pipes that a test reads. For test_log.c alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_LOG_PIPES_H
#define TRESTLE_TESTS_LOG_PIPES_H

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"

enum { READ_END, WRITE_END };

static int out_pipe[2], err_pipe[2];
static buf got; /* what the last read_all gave */

static void open_pipes(void)
{
    ck_assert_int_eq(pipe(out_pipe), 0);
    ck_assert_int_eq(pipe(err_pipe), 0);
    ck_assert_int_eq(fcntl(out_pipe[READ_END], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(fcntl(err_pipe[READ_END], F_SETFL, O_NONBLOCK), 0);
    buf_init(&got, NULL, 8 * MIB);
    log_set_fds(out_pipe[WRITE_END], err_pipe[WRITE_END]);
    log_set_level(LOG_DEBUG);
    clock_set_for_test(1767323045678901, 0);
}

static void close_pipes(void)
{
    log_set_fds(-1, -1);
    log_set_level(LOG_INFO);
    log_bind(NULL);
    clock_unset_for_test();
    for (int i = 0; i < 2; i++) {
        close(out_pipe[i]);
        close(err_pipe[i]);
    }
    buf_free(&got);
}

/* Adds what is there at once, without waiting; gives how much that was. */
static size_t read_some(const int from[2])
{
    size_t total = 0;
    for (;;) {
        char   *to = buf_reserve(&got, 64 * KIB);
        ssize_t n;
        ck_assert_ptr_nonnull(to);
        n = read(from[READ_END], to, 64 * KIB);
        if (n <= 0)
            return total;
        got.len += (size_t)n;
        total += (size_t)n;
    }
}

static str read_all(const int from[2])
{
    buf_clear(&got);
    (void)read_some(from);
    return buf_str(&got);
}

/* Reads and lets the backlog follow until nothing more comes. */
static str read_everything(const int from[2])
{
    buf_clear(&got);
    do
        log_flush();
    while (read_some(from) > 0);
    return buf_str(&got);
}

static yyjson_doc *parse(str line)
{
    yyjson_doc *doc = yyjson_read(line.at, line.len, 0);
    ck_assert_msg(doc != NULL, "not JSON: %.*s", STR_ARG(line));
    return doc;
}

/* The one line in the pipe must be JSON; its message is compared. */
static void assert_text(const int from[2], const char *want)
{
    str all = read_all(from);
    ck_assert_uint_gt(all.len, 0);
    ck_assert_uint_eq(str_find_char(all, '\n'), all.len - 1);
    yyjson_doc *doc = parse(all);
    yyjson_val *msg = yyjson_obj_get(yyjson_doc_get_root(doc), "msg");
    str         is = {yyjson_get_str(msg), yyjson_get_len(msg)};
    ck_assert_msg(str_eq(is, str_of(want)), "'%.*s' is not '%s'", STR_ARG(is), want);
    yyjson_doc_free(doc);
}

/* Fills the pipe to the last byte; gives how many that were. */
static size_t fill(int fd)
{
    static const char zeroes[4096];
    size_t            total = 0;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (size_t piece = sizeof zeroes; piece > 0; piece /= 2) {
        ssize_t n;
        while ((n = write(fd, zeroes, piece)) > 0)
            total += (size_t)n;
    }
    fcntl(fd, F_SETFL, 0); /* as the host's pipes are: blocking */
    return total;
}

#endif
