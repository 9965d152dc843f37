/* log.h -- one JSON object a line: time, level, message, and who it was for.
 *
 *   {"time":"2026-01-02T03:04:05.678Z","level":"info","msg":"…","invocation":"…","function":"…","trace":"…"}
 *
 * info and debug go to stdout, warn and error to stderr, because the Functions host reads levels from that
 * (spec 1.4): a stderr line is an Error unless it holds "warn" in any case. So an error line never holds
 * these four letters (one is written as a \u escape), and no line begins with one of the host's magic words.
 *
 * Nothing here blocks: a line that the pipe would not take at once waits in a bounded backlog; beyond that,
 * lines are dropped and their number is told later. A line is at most 4,000 bytes; longer messages are cut
 * and say so.
 *
 * Secrets: texts registered with log_add_secret are replaced by *** wherever they appear in any line.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_LOG_H
#define TRESTLE_CORE_LOG_H

#include "core/str.h"

typedef enum { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF } log_level;

/* Whom the lines of the running task are for. The runtime binds it at each switch; empty members are left
 * out. */
typedef struct {
    str invocation, function, trace;
} log_context;

void log_bind(const log_context *current); /* per thread; NULL: none */

void log_set_level(log_level least);
bool log_level_parse(str        name,
                     log_level *ret) MUST_USE; /* debug, info, warn or warning, error, off; any case */
bool log_enabled(log_level level);

void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* At most 16 secrets of 8 bytes or more are kept; shorter ones would black out ordinary words and are
 * ignored. */
void log_add_secret(str secret);
/* A URL for a log or an error: without user and password, and with the values of its query left out. */
str  log_safe_url(str url, char *out, size_t out_size);

void log_flush(void);                     /* tries the backlog again; never blocks */
void log_drain(int limit_ms);             /* at exit: waits that long at most for a slow reader */
void log_set_fds(int out_fd, int err_fd); /* tests; -1, -1: back to 1 and 2 */

#endif
