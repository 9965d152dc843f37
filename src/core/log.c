/* log.c -- composes lines in a static buffer, one at a time, and hands them to their stream.
 *
 * One mutex guards all that the log has (streams, secrets, the buffers), since threads log too. It is held
 * for the composing and for one write that cannot block (log_stream.c). Nothing here allocates, so no task is
 * ever left with the mutex held.
 *
 * SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "log_stream.h"
#include "log_text.h"

enum {
    MEMBER_BYTES_MAX = 256, /* of each name in the context, escaped */
    CUT_MARK_BYTES = 48,
};

static pthread_mutex_t             mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int                 least_level = LOG_INFO;
static char                        out_ring[LOG_BACKLOG_BYTES], err_ring[LOG_BACKLOG_BYTES];
static log_stream                  out_stream = {.fd = 1, .notice_level = LOG_INFO, .ring = out_ring};
static log_stream                  err_stream = {.fd = 2, .notice_level = LOG_WARN, .ring = err_ring};
static __thread const log_context *context;

/* ---- composing ---------------------------------------------------------------------------------------- */

static void put_member(log_text *o, str key, str value, bool never_warn)
{
    if (value.len == 0)
        return;
    log_text_put(o, STR(",\""));
    log_text_put(o, key);
    log_text_put(o, STR("\":\""));
    log_text part = {.at = o->at, .len = o->len, .max = o->len + MEMBER_BYTES_MAX};
    (void)log_text_escape(&part, value, never_warn); /* a name that long is cut without a mark */
    o->len = part.len;
    log_text_put(o, STR("\""));
}

/* The whole line. What follows the message is composed first, so that a long message leaves room for it. */
PRINTF_LIKE(2, 0) static str compose(log_level level, const char *fmt, va_list args)
{
    static char line[LOG_LINE_BYTES_MAX], tail[3 * (MEMBER_BYTES_MAX + 32)], raw[LOG_RAW_BYTES + 1];

    bool     never_warn = level == LOG_ERROR;
    log_text end = {.at = tail, .max = sizeof tail};
    log_text_put(&end, STR("\""));
    if (context != NULL) {
        put_member(&end, STR("invocation"), context->invocation, never_warn);
        put_member(&end, STR("function"), context->function, never_warn);
        put_member(&end, STR("trace"), context->trace, never_warn);
    }
    log_text_put(&end, STR("}\n"));

    int    asked = vsnprintf(raw, sizeof raw, fmt, args);
    size_t len = asked < 0 ? 0 : (size_t)asked < LOG_RAW_BYTES ? (size_t)asked : LOG_RAW_BYTES;
    str msg = asked < 0 ? str_of(fmt) : (str){raw, len}; /* at least the format, if a %ls cannot be shown */

    log_text o = {.at = line, .max = sizeof line - end.len - CUT_MARK_BYTES};
    log_text_head(&o, level);
    bool all = log_text_escape(&o, msg, never_warn) && asked <= LOG_RAW_BYTES;
    o.max = sizeof line;
    if (!all) {
        char mark[CUT_MARK_BYTES];
        snprintf(mark, sizeof mark, " [cut; %zu bytes in all]", asked < 0 ? msg.len : (size_t)asked);
        log_text_put(&o, str_of(mark));
    }
    log_text_put(&o, (str){end.at, end.len});
    return (str){o.at, o.len};
}

/* errno is as before, for the caller may still want to look at it; and it is what %m in fmt means. */
PRINTF_LIKE(2, 0) static void log_line(log_level level, const char *fmt, va_list args)
{
    int saved = errno;
    pthread_mutex_lock(&mutex);
    errno = saved;
    str line = compose(level, fmt, args);
    log_stream_send(level >= LOG_WARN ? &err_stream : &out_stream, line);
    pthread_mutex_unlock(&mutex);
    errno = saved;
}

/* ---- for everybody ------------------------------------------------------------------------------------ */

#define LOG_AT(level)           \
    va_list args;               \
    if (!log_enabled(level))    \
        return;                 \
    va_start(args, fmt);        \
    log_line(level, fmt, args); \
    va_end(args)

void log_debug(const char *fmt, ...)
{
    LOG_AT(LOG_DEBUG);
}

void log_info(const char *fmt, ...)
{
    LOG_AT(LOG_INFO);
}

void log_warn(const char *fmt, ...)
{
    LOG_AT(LOG_WARN);
}

void log_error(const char *fmt, ...)
{
    LOG_AT(LOG_ERROR);
}

void log_bind(const log_context *current)
{
    context = current;
}

void log_set_level(log_level least)
{
    atomic_store_explicit(&least_level, (int)least, memory_order_relaxed);
}

bool log_level_parse(str name, log_level *ret)
{
    if (str_eq_nocase(name, STR("warning")))
        name = STR("warn");
    for (int i = LOG_DEBUG; i <= LOG_OFF; i++) {
        if (str_eq_nocase(name, log_text_level((log_level)i))) {
            *ret = (log_level)i;
            return true;
        }
    }
    return false;
}

bool log_enabled(log_level level)
{
    return level < LOG_OFF && (int)level >= atomic_load_explicit(&least_level, memory_order_relaxed);
}

void log_add_secret(str secret)
{
    pthread_mutex_lock(&mutex);
    bool hidden = log_text_hide(secret);
    pthread_mutex_unlock(&mutex);
    if (!hidden)
        log_warn("more than %d secrets: one is not looked for in log lines", LOG_SECRETS_MAX);
}

/* Tells whether something is left that waits for a reader, and for which. */
static bool flush(log_stream *s, struct pollfd *ret)
{
    pthread_mutex_lock(&mutex);
    bool waits = log_stream_flush(s);
    *ret = (struct pollfd){.fd = s->fd, .events = POLLOUT};
    pthread_mutex_unlock(&mutex);
    return waits;
}

void log_flush(void)
{
    struct pollfd ignored;
    (void)flush(&out_stream, &ignored);
    (void)flush(&err_stream, &ignored);
}

/* Not clock_mono_us: a clock that a test has stopped would make this endless. */
static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void log_drain(int limit_ms)
{
    int64_t deadline = now_ms() + limit_ms;
    for (;;) {
        struct pollfd waiting[2];
        nfds_t        len = 0;
        len += flush(&out_stream, &waiting[len]);
        len += flush(&err_stream, &waiting[len]);
        int64_t left = deadline - now_ms();
        if (len == 0 || left <= 0)
            return;
        poll(waiting, len, (int)left);
    }
}

void log_set_fds(int out_fd, int err_fd)
{
    pthread_mutex_lock(&mutex);
    log_stream_set_fd(&out_stream, out_fd >= 0 ? out_fd : 1);
    log_stream_set_fd(&err_stream, err_fd >= 0 ? err_fd : 2);
    pthread_mutex_unlock(&mutex);
}
