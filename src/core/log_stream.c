/* log_stream.c -- hands lines to a pipe that may be full, and keeps what it would not take in a ring.
 *
 * No write blocks: a pipe which poll() calls writable has a free page, and a line is shorter than a page (a
 * socket has a quarter of its buffer free). The descriptor is left in blocking mode, because that mode
 * belongs to the open file, which a shell or another process may share.
 *
 *   ring: [head … oldest line \n … newest line \n] free      lines are sent whole, one a write
 *
 * When the ring is full, lines are dropped until the reader has taken all of it; then one line tells how many
 * are missing, in the place where they are missing.
 *
 * SPDX-License-Identifier: MIT */
#include "log_stream.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "log_text.h"

typedef enum { READY, FULL, BROKEN } readiness;

static readiness ready(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (poll(&p, 1, 0) <= 0)
        return FULL;
    if (p.revents & (POLLERR | POLLHUP | POLLNVAL))
        return BROKEN;
    return p.revents & POLLOUT ? READY : FULL;
}

/* Bytes written, 0 when the stream would rather have them later, -1 when it will not have them. */
static ssize_t write_parts(int fd, const struct iovec *parts, int len)
{
    ssize_t n = writev(fd, parts, len);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

static bool backlog_add(log_stream *s, str line)
{
    if (line.len > LOG_BACKLOG_BYTES - s->len)
        return false;
    size_t at = (s->head + s->len) % LOG_BACKLOG_BYTES;
    size_t first = line.len < LOG_BACKLOG_BYTES - at ? line.len : LOG_BACKLOG_BYTES - at;
    memcpy(s->ring + at, line.at, first);
    memcpy(s->ring, line.at + first, line.len - first);
    s->len += line.len;
    s->lines++;
    return true;
}

/* The oldest line, in two parts if it goes around the end of the ring. Gives its length. */
static size_t oldest_line(log_stream *s, struct iovec parts[2])
{
    str    straight = {s->ring + s->head,
                    s->len < LOG_BACKLOG_BYTES - s->head ? s->len : LOG_BACKLOG_BYTES - s->head};
    size_t first = str_find_char(straight, '\n'), second = 0;
    if (first < straight.len)
        first++;
    else
        second = str_find_char((str){s->ring, s->len - straight.len}, '\n') + 1;
    assert(first + second <= s->len); /* the backlog always ends with a line feed */
    parts[0] = (struct iovec){s->ring + s->head, first};
    parts[1] = (struct iovec){s->ring, second};
    return first + second;
}

/* Both give what write_parts gave. */
static ssize_t write_oldest(log_stream *s)
{
    struct iovec parts[2];
    size_t       len = oldest_line(s, parts);
    ssize_t      n = write_parts(s->fd, parts, 2);
    if (n > 0) {
        s->head = (s->head + (size_t)n) % LOG_BACKLOG_BYTES;
        s->len -= (size_t)n;
        s->lines -= (size_t)n == len;
    }
    return n;
}

static ssize_t tell_dropped(log_stream *s)
{
    char     bytes[256], msg[96];
    log_text o = {.at = bytes, .max = sizeof bytes};
    snprintf(msg, sizeof msg, "%llu log lines were dropped here: the reader was too slow",
             (unsigned long long)s->dropped);
    log_text_head(&o, s->notice_level);
    log_text_put(&o, str_of(msg));
    log_text_put(&o, STR("\"}\n"));
    struct iovec part = {o.at, o.len};
    ssize_t      n = write_parts(s->fd, &part, 1);
    if (n > 0) {
        s->dropped = 0;
        if ((size_t)n < o.len)
            (void)backlog_add(s, (str){o.at + n, o.len - (size_t)n}); /* it is empty, so there is room */
    }
    return n;
}

/* Nobody reads, or the disk is full: what waited is lost, and counted in case that changes. */
static readiness give_up(log_stream *s)
{
    s->dropped += s->lines;
    s->len = s->lines = 0;
    return BROKEN;
}

/* Writes what waits, as far as that is possible now. READY means: nothing waits, and the next line may go. */
static readiness write_waiting(log_stream *s)
{
    for (;;) {
        readiness now = ready(s->fd);
        if (now == BROKEN)
            return give_up(s);
        if (now == FULL || (s->len == 0 && s->dropped == 0))
            return now;
        ssize_t n = s->len > 0 ? write_oldest(s) : tell_dropped(s);
        if (n <= 0)
            return n == 0 ? FULL : give_up(s);
    }
}

void log_stream_send(log_stream *s, str line)
{
    ssize_t n = 0;
    if (write_waiting(s) == READY) {
        struct iovec part = {(char *)line.at, line.len};
        n = write_parts(s->fd, &part, 1);
        if (n == (ssize_t)line.len)
            return;
    }
    if (n < 0 || s->dropped > 0 || !backlog_add(s, str_from(line, (size_t)n)))
        s->dropped++;
}

bool log_stream_flush(log_stream *s)
{
    return (s->len > 0 || s->dropped > 0) && write_waiting(s) == FULL;
}

void log_stream_set_fd(log_stream *s, int fd)
{
    s->fd = fd;
    s->head = s->len = 0;
    s->lines = s->dropped = 0;
}
