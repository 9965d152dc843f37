/* bulk_progress.c -- how far `trestle import` is: a line that changes on a terminal, else one now and then.
 *
 *     import: [##########              ]  42 %  14,700 records, 5,210/s, ETA 0:04, created 14,688, failed 12
 *
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <unistd.h>

#include "app/bulk_run.h"
#include "core/clock.h"

enum {
    BAR_CELLS = 24,
    TERMINAL_US = 200 * 1000,
    LINES_US = 5 * 1000 * 1000,
    GROUPED_SIZE = 32,
    LINE_SIZE = 512,
};

static const char *const kind_names[] = {"created", "updated", "unchanged", "superseded", "failed"};

void bulk_progress_begin(bulk_progress *p, uint64_t total_bytes, bool dry_run)
{
    uint64_t now_us = clock_mono_us();
    p->total_bytes = total_bytes;
    p->began_bytes = p->done_bytes;
    p->began_us = p->shown_us = now_us;
    p->terminal = isatty(STDERR_FILENO) == 1;
    p->dry_run = dry_run;
}

/* "1,234,567" */
static const char *grouped(uint64_t n, char out[GROUPED_SIZE])
{
    char   digits[GROUPED_SIZE];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), to = 0;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = digits[i];
    }
    out[to] = '\0';
    return out;
}

static uint64_t all_records(const bulk_progress *p)
{
    uint64_t n = 0;
    for (size_t i = 0; i < BULK_KINDS; i++)
        n += p->counts[i];
    return n;
}

static void add_bar(const bulk_progress *p, buf *line)
{
    if (p->total_bytes == 0)
        return;
    uint64_t done = p->done_bytes < p->total_bytes ? p->done_bytes : p->total_bytes;
    double   part = (double)done / (double)p->total_bytes;
    int      cells = (int)(part * BAR_CELLS);
    buf_addf(line, "[%.*s%*s] %3d %%  ", cells, "########################", BAR_CELLS - cells, "",
             (int)(part * 100));
}

/* By the bytes of this run: what an earlier one has done says nothing about the pace. */
static void add_eta(const bulk_progress *p, uint64_t took_us, buf *line)
{
    uint64_t done = p->done_bytes - p->began_bytes;
    if (p->total_bytes <= p->done_bytes || done == 0)
        return;
    uint64_t s = (uint64_t)((double)took_us / 1e6 * (double)(p->total_bytes - p->done_bytes) / (double)done);
    if (s >= 3600)
        buf_addf(line, ", ETA %llu:%02llu:%02llu", (unsigned long long)(s / 3600),
                 (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
    else
        buf_addf(line, ", ETA %llu:%02llu", (unsigned long long)(s / 60), (unsigned long long)(s % 60));
}

static void add_counts(const bulk_progress *p, bool all, buf *line)
{
    char number[GROUPED_SIZE];
    for (size_t i = 0; i < BULK_KINDS; i++)
        if (p->counts[i] > 0 || (all && i != BULK_SUPERSEDED))
            buf_addf(line, ", %s%s %s", p->dry_run && i <= BULK_UPDATED ? "would be " : "", kind_names[i],
                     grouped(p->counts[i], number));
}

static void print_line(const bulk_progress *p, bool last, const char *before, const char *after)
{
    char     number[GROUPED_SIZE];
    buf      line;
    uint64_t took_us = clock_mono_us() - p->began_us, records = all_records(p);
    buf_init(&line, NULL, LINE_SIZE);
    add_bar(p, &line);
    buf_addf(&line, "%s records", grouped(records, number));
    if (took_us > 0)
        buf_addf(&line, ", %s/s", grouped((uint64_t)((double)records * 1e6 / (double)took_us), number));
    if (!last)
        add_eta(p, took_us, &line);
    add_counts(p, last, &line);
    (void)fprintf(stderr, "%simport: %.*s%s", before, STR_ARG(buf_str(&line)), after);
    (void)fflush(stderr); /* a closed stderr is no reason to stop */
    buf_free(&line);
}

void bulk_progress_show(bulk_progress *p)
{
    uint64_t now_us = clock_mono_us();
    if (now_us - p->shown_us < (p->terminal ? TERMINAL_US : LINES_US))
        return;
    p->shown_us = now_us;
    print_line(p, false, p->terminal ? "\r" : "", p->terminal ? "\033[K" : "\n");
}

void bulk_progress_say(bulk_progress *p, const char *fmt, ...)
{
    char    text[LINE_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "%simport: %s\n", p->terminal ? "\r\033[K" : "", text);
}

void bulk_progress_end(bulk_progress *p)
{
    print_line(p, true, p->terminal ? "\r" : "", p->terminal ? "\033[K\n" : "\n");
}
