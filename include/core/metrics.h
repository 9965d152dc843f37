/* metrics.h -- counters, gauges and latency histograms for the whole process, as Prometheus text.
 *
 * A metric is made once (at start, or on first use) and never freed; asking again for the same name and
 * labels gives the same one. Adding is atomic, so offload and storage threads may count too. Labels are given
 * in Prometheus' own form, e.g. `operation="get",table="actions"`, or "" for none.
 *
 * Histograms are log-linear (relative error of a quantile at most 1/16), from 1 µs to over an hour; they
 * print as a summary with quantiles 0.5, 0.95 and 0.99 over the whole life of the process, plus _sum and
 * _count, in seconds.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_METRICS_H
#define TRESTLE_CORE_METRICS_H

#include "core/buf.h"

typedef struct metric metric;

/* At most 4,096 metrics; beyond that all share one that is not shown, and a line in the text says how many
 * were refused. */
metric *metrics_counter(const char *name, const char *labels, const char *help);
metric *metrics_gauge(const char *name, const char *labels, const char *help);
metric *metrics_histogram(const char *name, const char *labels, const char *help);

void metrics_add(metric *m, int64_t n); /* counter: n >= 0; gauge: either sign */
void metrics_set(metric *gauge, int64_t value);
void metrics_observe_us(metric *histogram, uint64_t us);

int64_t  metrics_value(const metric *m);                 /* counter, gauge; count of a histogram */
uint64_t metrics_quantile_us(const metric *m, double q); /* 0 when nothing was observed */

/* Sorted by name and labels; # HELP and # TYPE once a name. */
void metrics_print(buf *out);

#endif
