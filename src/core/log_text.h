/* log_text.h -- what goes into a log line: text as JSON, without secrets. For the log alone.
 *
 * The functions that read or write the list of secrets are called with the log's mutex held.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_LOG_TEXT_H
#define TRESTLE_CORE_LOG_TEXT_H

#include "core/log.h"
#include "core/str.h"

enum {
    LOG_LINE_BYTES_MAX = 4000, /* with the line feed; below the 4,096 that a pipe takes whole */
    LOG_SECRETS_MAX = 16,
    LOG_SECRET_BYTES_MIN = 8,
    LOG_SECRET_BYTES_KEPT = 2048, /* of a longer one the rest is taken to follow */
    /* Of a message cut at this length, any secret that begins in the part which fits a line is seen whole. */
    LOG_RAW_BYTES = LOG_LINE_BYTES_MAX + LOG_SECRET_BYTES_KEPT,
};

typedef struct {
    char  *at;
    size_t len, max;
} log_text;

bool log_text_put(log_text *to, str s); /* as it is, all or nothing; false: nothing */

str  log_text_level(log_level level);              /* its name */
void log_text_head(log_text *to, log_level level); /* up to and with the quote that begins the message */

/* As the inside of a JSON string, as much as fits; false: not all of it did. never_warn: the word "warn", in
 * any case, gets one letter written as an escape. */
bool log_text_escape(log_text *to, str text, bool never_warn);

/* False when there are LOG_SECRETS_MAX others already. One that is too short or known is fine, and ignored.
 */
bool log_text_hide(str secret);

#endif
