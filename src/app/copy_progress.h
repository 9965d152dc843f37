/* copy_progress.h -- tells on stderr how far a copy is: a line that changes on a terminal, else one now and
 * then.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_COPY_PROGRESS_H
#define TRESTLE_APP_COPY_PROGRESS_H

#include "core/str.h"

typedef struct {
    const char *verb;        /* "export" */
    uint64_t    total_bytes; /* 0: not known, then there is no bar */
    uint64_t    done_bytes;  /* of those */
    uint64_t    rows, blobs, messages, bytes;
    uint64_t    began_us, shown_us;
    bool        terminal;
} copy_progress;

void copy_progress_begin(copy_progress *p, const char *verb, uint64_t total_bytes);
void copy_progress_show(copy_progress *p); /* call as often as you like */
void copy_progress_end(copy_progress *p);  /* the line stays, with its end */

/* "1200 rows, 3 blobs, 4 messages, 1.5 MB" */
void copy_progress_counts(const copy_progress *p, char *out, size_t out_size);

#endif
