/* metrics.c -- the registry of metrics, and log-linear histograms.
 *
 * The registry is an array of pointers sorted by name and labels, behind a mutex; a metric, once in it, never
 * moves and never goes. Adding touches only the metric, by relaxed atomics: a reader may see a count without
 * its sum for a moment, but nothing is ever lost.
 *
 * A histogram has 16 buckets for each power of two of microseconds:
 *
 *   row 0: 0 1 2 … 15    row 1: 16 17 … 31    row 2: 32,33 34,35 … 62,63    row r: from 2^(r+3) to 2^(r+4)-1
 *
 * A row is allocated when something first falls into it. Latencies of one kind spread over a few powers of
 * two, so a histogram in use takes about 1 KiB and an idle one 300 bytes.
 *
 * The mutex is never held while text is written: a buffer that lives in a task's arena may run out, and then
 * the task is left without returning.
 *
 * SPDX-License-Identifier: MIT */
#include "core/metrics.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    METRICS_MAX = 4096,
    ROW_BUCKETS = 16,
    ROW_BITS = 4, /* log2 of the above */
    ROWS = 30,    /* up to 2^33 µs, 2.4 hours; all above counts in the last bucket */
    US_PER_SEC = 1000000,
};

typedef enum { COUNTER, GAUGE, HISTOGRAM, REFUSED } metric_kind;

typedef struct {
    _Atomic uint64_t buckets[ROW_BUCKETS];
} histogram_row;

typedef struct {
    _Atomic uint64_t         sum_us;
    _Atomic(histogram_row *) rows[ROWS];
} histogram;

struct metric {
    metric_kind     kind;
    _Atomic int64_t value; /* of a histogram: how many were observed */
    histogram      *h;     /* NULL for the other kinds */
    const char     *name, *labels, *help;
};

static const char *const kind_names[] = {[COUNTER] = "counter", [GAUGE] = "gauge", [HISTOGRAM] = "summary"};

static const struct {
    const char *label;
    double      q;
} quantiles[] = {{"0.5", 0.5}, {"0.95", 0.95}, {"0.99", 0.99}};

static pthread_mutex_t  mutex = PTHREAD_MUTEX_INITIALIZER;
static metric          *registry[METRICS_MAX];
static size_t           registry_len;
static _Atomic uint64_t refusals;
static metric refused = {.kind = REFUSED}; /* what everybody beyond the limit gets; it keeps nothing */

static bool is_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:";
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_:0123456789";
    return *name != '\0' && strchr(letters, *name) != NULL && name[strspn(name, all)] == '\0';
}

static int compare(const metric *m, const char *name, const char *labels)
{
    int by_name = strcmp(m->name, name);
    return by_name != 0 ? by_name : strcmp(m->labels, labels);
}

/* Where the first metric is that does not sort before these. The mutex is held. */
static size_t position_of(const char *name, const char *labels)
{
    size_t from = 0, to = registry_len;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (compare(registry[mid], name, labels) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static const char *store(char **at, const char *text)
{
    char  *to = *at;
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    *at += size;
    return to;
}

/* One piece of memory: the metric, its histogram if it is one, and copies of the texts. NULL without memory.
 */
static metric *new_metric(metric_kind kind, const char *name, const char *labels, const char *help)
{
    size_t  h_bytes = kind == HISTOGRAM ? sizeof(histogram) : 0;
    metric *m = calloc(1, sizeof *m + h_bytes + strlen(name) + strlen(labels) + strlen(help) + 3);
    if (m == NULL)
        return NULL;
    char *texts = (char *)(m + 1) + h_bytes;
    m->kind = kind;
    m->h = kind == HISTOGRAM ? (histogram *)(m + 1) : NULL;
    m->name = store(&texts, name);
    m->labels = store(&texts, labels);
    m->help = store(&texts, help);
    return m;
}

/* Metrics of one name are of one kind, or the text would be nonsense. */
static void check_kind(const metric *m, const char *name, metric_kind kind)
{
    assert(strcmp(m->name, name) != 0 || m->kind == kind);
    (void)m, (void)name, (void)kind;
}

/* Finds or makes. The mutex is held. NULL: refused. */
static metric *enter(metric_kind kind, const char *name, const char *labels, const char *help)
{
    size_t at = position_of(name, labels);
    if (at > 0)
        check_kind(registry[at - 1], name, kind);
    if (at < registry_len) {
        check_kind(registry[at], name, kind);
        if (compare(registry[at], name, labels) == 0)
            return registry[at];
    }
    metric *m = registry_len < METRICS_MAX ? new_metric(kind, name, labels, help) : NULL;
    if (m == NULL)
        return NULL;
    memmove(registry + at + 1, registry + at, (registry_len - at) * sizeof *registry);
    registry[at] = m;
    registry_len++;
    return m;
}

static metric *get(metric_kind kind, const char *name, const char *labels, const char *help)
{
    assert(is_name(name));
    pthread_mutex_lock(&mutex);
    metric *m = enter(kind, name, labels, help);
    pthread_mutex_unlock(&mutex);
    if (m != NULL)
        return m;
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    return &refused;
}

metric *metrics_counter(const char *name, const char *labels, const char *help)
{
    return get(COUNTER, name, labels, help);
}

metric *metrics_gauge(const char *name, const char *labels, const char *help)
{
    return get(GAUGE, name, labels, help);
}

metric *metrics_histogram(const char *name, const char *labels, const char *help)
{
    return get(HISTOGRAM, name, labels, help);
}

void metrics_add(metric *m, int64_t n)
{
    if (m->kind == REFUSED)
        return;
    assert(m->kind == GAUGE || (m->kind == COUNTER && n >= 0));
    atomic_fetch_add_explicit(&m->value, n, memory_order_relaxed);
}

void metrics_set(metric *gauge, int64_t value)
{
    if (gauge->kind == REFUSED)
        return;
    assert(gauge->kind == GAUGE);
    atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

/* Where a value counts: its row is its power of two, its bucket the four bits below the highest. */
static void bucket_of(uint64_t us, size_t *ret_row, size_t *ret_bucket)
{
    const uint64_t most = ((uint64_t)1 << (ROWS + ROW_BITS - 1)) - 1;
    if (us > most)
        us = most;
    size_t row = us < ROW_BUCKETS ? 0 : (size_t)(63 - __builtin_clzll(us)) - ROW_BITS + 1;
    *ret_row = row;
    *ret_bucket = (size_t)(row == 0 ? us : us >> (row - 1)) & (ROW_BUCKETS - 1);
}

/* The middle of what counts in a bucket: off by at most 1/32 of any of it. */
static uint64_t middle_of(size_t row, size_t bucket)
{
    if (row == 0)
        return bucket;
    uint64_t width = (uint64_t)1 << (row - 1);
    return (ROW_BUCKETS + bucket) * width + (width - 1) / 2;
}

/* Two threads may both find a row missing: the first one's stays. NULL without memory. */
static histogram_row *row_at(histogram *h, size_t row)
{
    histogram_row *have = atomic_load_explicit(&h->rows[row], memory_order_acquire);
    if (have != NULL)
        return have;
    histogram_row *mine = calloc(1, sizeof *mine);
    if (mine == NULL)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(&h->rows[row], &have, mine, memory_order_acq_rel,
                                                memory_order_acquire))
        return mine;
    free(mine);
    return have;
}

/* Without memory for a row the value still counts in _count and _sum; only the quantiles miss it. */
void metrics_observe_us(metric *m, uint64_t us)
{
    if (m->kind == REFUSED)
        return;
    assert(m->kind == HISTOGRAM);
    size_t row, bucket;
    bucket_of(us, &row, &bucket);
    histogram_row *r = row_at(m->h, row);
    if (r != NULL)
        atomic_fetch_add_explicit(&r->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->h->sum_us, us, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->value, 1, memory_order_relaxed);
}

int64_t metrics_value(const metric *m)
{
    return atomic_load_explicit(&m->value, memory_order_relaxed);
}

static uint64_t bucket_count(const histogram *h, size_t i)
{
    histogram_row *r = atomic_load_explicit(&h->rows[i / ROW_BUCKETS], memory_order_acquire);
    return r == NULL ? 0 : atomic_load_explicit(&r->buckets[i % ROW_BUCKETS], memory_order_relaxed);
}

/* Counts only grow, so the walk always meets the rank that the first walk's total gave. */
uint64_t metrics_quantile_us(const metric *m, double q)
{
    if (m->kind != HISTOGRAM)
        return 0;
    uint64_t total = 0;
    for (size_t i = 0; i < ROWS * ROW_BUCKETS; i++)
        total += bucket_count(m->h, i);
    if (total == 0)
        return 0;

    double   wanted = q <= 0 ? 0 : q >= 1 ? (double)total : q * (double)total;
    uint64_t rank = (uint64_t)wanted;
    if ((double)rank < wanted || rank == 0)
        rank++;
    if (rank > total)
        rank = total;
    uint64_t seen = 0;
    for (size_t i = 0; i < ROWS * ROW_BUCKETS; i++) {
        seen += bucket_count(m->h, i);
        if (seen >= rank)
            return middle_of(i / ROW_BUCKETS, i % ROW_BUCKETS);
    }
    return middle_of(ROWS - 1, ROW_BUCKETS - 1);
}

/* The metric after this one (NULL: the first), even if others have come in between meanwhile. */
static const metric *next_of(const metric *last)
{
    pthread_mutex_lock(&mutex);
    size_t        at = last == NULL ? 0 : position_of(last->name, last->labels) + 1;
    const metric *next = at < registry_len ? registry[at] : NULL;
    pthread_mutex_unlock(&mutex);
    return next;
}

/* In # HELP, a backslash and a line feed are written as \\ and \n. */
static void print_head(buf *out, const metric *m)
{
    buf_addf(out, "# HELP %s ", m->name);
    for (const char *c = m->help; *c != '\0'; c++) {
        if (*c == '\\')
            buf_add(out, STR("\\\\"));
        else if (*c == '\n')
            buf_add(out, STR("\\n"));
        else
            buf_add_char(out, *c);
    }
    buf_addf(out, "\n# TYPE %s %s\n", m->name, kind_names[m->kind]);
}

/* name, suffix, {labels}, and a blank. */
static void print_key(buf *out, const metric *m, const char *suffix)
{
    if (*m->labels != '\0')
        buf_addf(out, "%s%s{%s} ", m->name, suffix, m->labels);
    else
        buf_addf(out, "%s%s ", m->name, suffix);
}

static void print_seconds(buf *out, uint64_t us)
{
    buf_addf(out, "%llu.%06llu\n", (unsigned long long)(us / US_PER_SEC),
             (unsigned long long)(us % US_PER_SEC));
}

/* A quantile of nothing is NaN, as Prometheus' own clients print it. */
static void print_summary(buf *out, const metric *m)
{
    int64_t count = metrics_value(m);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        buf_addf(out, "%s{%s%squantile=\"%s\"} ", m->name, m->labels, *m->labels != '\0' ? "," : "",
                 quantiles[i].label);
        if (count == 0)
            buf_add(out, STR("NaN\n"));
        else
            print_seconds(out, metrics_quantile_us(m, quantiles[i].q));
    }
    print_key(out, m, "_sum");
    print_seconds(out, atomic_load_explicit(&m->h->sum_us, memory_order_relaxed));
    print_key(out, m, "_count");
    buf_addf(out, "%lld\n", (long long)count);
}

void metrics_print(buf *out)
{
    const metric *last = NULL;
    for (const metric *m = next_of(NULL); m != NULL; m = next_of(m)) {
        if (last == NULL || strcmp(last->name, m->name) != 0)
            print_head(out, m);
        last = m;
        if (m->kind == HISTOGRAM) {
            print_summary(out, m);
            continue;
        }
        print_key(out, m, "");
        buf_addf(out, "%lld\n", (long long)metrics_value(m));
    }
    uint64_t n = atomic_load_explicit(&refusals, memory_order_relaxed);
    if (n > 0)
        buf_addf(out, "# refused %llu times to make a metric: %d is the most\n", (unsigned long long)n,
                 METRICS_MAX);
}
