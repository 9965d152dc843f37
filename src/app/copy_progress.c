/* copy_progress.c -- see copy_progress.h.
 *
 * SPDX-License-Identifier: MIT */
#include "app/copy_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"

enum { BAR_CELLS = 24, TERMINAL_US = 200 * 1000, LINES_US = 5 * 1000 * 1000 };

void copy_progress_begin(copy_progress *p, const char *verb, uint64_t total_bytes)
{
    uint64_t now_us = clock_mono_us();
    *p = (copy_progress){.verb = verb,
                         .total_bytes = total_bytes,
                         .began_us = now_us,
                         .shown_us = now_us,
                         .terminal = isatty(STDERR_FILENO) == 1};
}

void copy_progress_counts(const copy_progress *p, char *out, size_t out_size)
{
    (void)snprintf(out, out_size, "%llu rows, %llu blobs, %llu messages, %llu.%llu MB",
                   (unsigned long long)p->rows, (unsigned long long)p->blobs, (unsigned long long)p->messages,
                   (unsigned long long)(p->bytes / MIB), (unsigned long long)(p->bytes % MIB * 10 / MIB));
}

static void draw_bar(const copy_progress *p, char *out, size_t out_size)
{
    if (p->total_bytes == 0) {
        *out = '\0';
        return;
    }
    uint64_t done = p->done_bytes < p->total_bytes ? p->done_bytes : p->total_bytes;
    int      cells = (int)((double)done / (double)p->total_bytes * BAR_CELLS);
    int      percent = (int)((double)done / (double)p->total_bytes * 100);
    (void)snprintf(out, out_size, "[%.*s%*s] %3d %%  ", cells, "########################", BAR_CELLS - cells,
                   "", percent);
}

static void print_line(const copy_progress *p, const char *before, const char *after)
{
    char     bar[64], counts[128];
    uint64_t took_us = clock_mono_us() - p->began_us;
    double   items = (double)(p->rows + p->blobs + p->messages);
    draw_bar(p, bar, sizeof bar);
    copy_progress_counts(p, counts, sizeof counts);
    (void)fprintf(stderr, "%s%s: %s%s, %.0f/s%s", before, p->verb, bar, counts,
                  took_us > 0 ? items * 1e6 / (double)took_us : 0.0, after);
    (void)fflush(stderr); /* a closed stderr is no reason to stop */
}

void copy_progress_show(copy_progress *p)
{
    uint64_t now_us = clock_mono_us();
    if (now_us - p->shown_us < (p->terminal ? TERMINAL_US : LINES_US))
        return;
    p->shown_us = now_us;
    print_line(p, p->terminal ? "\r" : "", p->terminal ? "\033[K" : "\n");
}

void copy_progress_end(copy_progress *p)
{
    if (p->total_bytes > 0)
        p->done_bytes = p->total_bytes;
    print_line(p, p->terminal ? "\r" : "", p->terminal ? "\033[K\n" : "\n");
}
