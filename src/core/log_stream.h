/* log_stream.h -- one of the log's two outputs: never blocks, keeps a bounded backlog, tells of gaps. For the
 * log alone; not for two threads at once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_LOG_STREAM_H
#define TRESTLE_CORE_LOG_STREAM_H

#include "core/log.h"
#include "core/str.h"

enum { LOG_BACKLOG_BYTES = 128 * KIB }; /* one for each stream: a flood of info cannot push out an error */

typedef struct {
    int       fd;
    log_level notice_level; /* of the line that tells of a gap */
    char     *ring;         /* LOG_BACKLOG_BYTES; apart, so that a static stream takes no room in the file */
    size_t    head, len;
    uint64_t  lines; /* in the backlog; one of which a part is written counts */
    uint64_t  dropped;
} log_stream;

void log_stream_send(log_stream *s, str line); /* with its line feed, and no other in it */
bool log_stream_flush(log_stream *s);          /* true: something waits for the reader */
void log_stream_set_fd(log_stream *s, int fd); /* forgets what waited */

#endif
