/* test_metrics.c -- counting, quantiles within their error, the text as Prometheus reads it, and threads.
 *
 * Every test runs in a process of its own or uses names of its own, because metrics are never freed.
 *
 * SPDX-License-Identifier: MIT */
#include "core/metrics.h"

#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static buf text;

static void make_text(void)
{
    buf_init(&text, NULL, 4 * MIB);
}

static void free_text(void)
{
    buf_free(&text);
}

static str print(void)
{
    buf_clear(&text);
    metrics_print(&text);
    ck_assert(!text.failed);
    return buf_str(&text);
}

static void assert_prints(const char *lines)
{
    str all = print();
    ck_assert_msg(str_has(all, str_of(lines)), "'%s' is not in:\n%.*s", lines, STR_ARG(all));
}

static int times(str all, str needle)
{
    int n = 0;
    for (size_t at = str_find(all, needle); at < all.len; at = str_find(all, needle), n++)
        all = str_from(all, at + needle.len);
    return n;
}

START_TEST(the_same_name_and_labels_give_the_same_metric)
{
    char    name[] = "t_same_total";
    metric *m = metrics_counter(name, "a=\"1\"", "Help.");
    name[0] = 'x'; /* the name was copied */
    ck_assert_ptr_eq(metrics_counter("t_same_total", "a=\"1\"", "Help."), m);
    ck_assert_ptr_ne(metrics_counter("t_same_total", "a=\"2\"", "Help."), m);
    ck_assert_ptr_ne(metrics_counter("t_same_total", "", "Help."), m);
    ck_assert_ptr_ne(metrics_counter("t_same_tota", "a=\"1\"", "Help."), m);
}
END_TEST

START_TEST(counters_add_and_gauges_go_both_ways)
{
    metric *c = metrics_counter("t_count_total", "", "Help."), *g = metrics_gauge("t_level", "", "Help.");
    ck_assert_int_eq(metrics_value(c), 0);
    metrics_add(c, 5);
    metrics_add(c, 0);
    metrics_add(c, 7);
    ck_assert_int_eq(metrics_value(c), 12);
    metrics_set(g, 10);
    metrics_add(g, -25);
    ck_assert_int_eq(metrics_value(g), -15);
    assert_prints("t_count_total 12\n");
    assert_prints("t_level -15\n");
}
END_TEST

/* The smallest and largest value of every bucket in a row, over all rows. */
START_TEST(a_quantile_is_never_off_by_more_than_a_sixteenth)
{
    char labels[32];
    int  made = 0;
    for (int bit = 0; bit < 33; bit++) {
        for (uint64_t step = 0; step < 32; step += bit < 5 ? 8 : 5) {
            uint64_t us = ((uint64_t)1 << bit) + (((uint64_t)1 << bit) * step) / 32;
            for (uint64_t v = us == 0 ? 0 : us - 1; v <= us; v++) {
                snprintf(labels, sizeof labels, "n=\"%d\"", made++);
                metric *h = metrics_histogram("t_error_seconds", labels, "Help.");
                metrics_observe_us(h, v);
                uint64_t got = metrics_quantile_us(h, 0.5), off = got > v ? got - v : v - got;
                ck_assert_msg(off * 16 <= v, "%llu reads as %llu", (unsigned long long)v,
                              (unsigned long long)got);
            }
        }
    }
    ck_assert_int_gt(made, 400);
}
END_TEST

START_TEST(values_below_sixteen_are_exact)
{
    metric *h = metrics_histogram("t_exact_seconds", "", "Help.");
    for (uint64_t us = 0; us < 16; us++)
        metrics_observe_us(h, us);
    for (uint64_t us = 0; us < 16; us++)
        ck_assert_uint_eq(metrics_quantile_us(h, ((double)us + 1) / 16), us);
}
END_TEST

START_TEST(quantiles_of_an_even_spread_are_where_they_should_be)
{
    static const double qs[] = {0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999};
    metric             *h = metrics_histogram("t_spread_seconds", "", "Help.");
    for (uint64_t us = 1; us <= 100000; us++)
        metrics_observe_us(h, us);
    ck_assert_int_eq(metrics_value(h), 100000);
    for (int i = 0; i < COUNT(qs); i++) {
        double want = qs[i] * 100000, got = (double)metrics_quantile_us(h, qs[i]);
        ck_assert_msg(got >= want * 15 / 16 && got <= want * 17 / 16, "quantile %g is %g", qs[i], got);
    }
    ck_assert_uint_eq(metrics_quantile_us(h, 0), 1);
    ck_assert_uint_eq(metrics_quantile_us(h, -3), 1);
    ck_assert_uint_ge(metrics_quantile_us(h, 1), 100000 * 15 / 16);
    ck_assert_uint_eq(metrics_quantile_us(h, 7), metrics_quantile_us(h, 1));
}
END_TEST

START_TEST(one_slow_call_in_a_hundred_shows_in_the_last_percent_alone)
{
    metric *h = metrics_histogram("t_tail_seconds", "", "Help.");
    for (int i = 0; i < 99; i++)
        metrics_observe_us(h, 1000);
    metrics_observe_us(h, 5000000);
    ck_assert_uint_lt(metrics_quantile_us(h, 0.99), 1100);
    ck_assert_uint_gt(metrics_quantile_us(h, 0.995), 4600000);
}
END_TEST

START_TEST(values_beyond_the_range_count_in_the_last_bucket_and_fully_in_the_sum)
{
    metric *h = metrics_histogram("t_beyond_seconds", "", "Help.");
    metrics_observe_us(h, (uint64_t)1 << 40);
    uint64_t got = metrics_quantile_us(h, 0.5);
    ck_assert_uint_gt(got, (uint64_t)3600 * 1000000); /* over an hour */
    ck_assert_uint_lt(got, (uint64_t)1 << 33);
    assert_prints("t_beyond_seconds_sum 1099511.627776\n");
}
END_TEST

START_TEST(nothing_observed_has_no_quantile)
{
    metric *h = metrics_histogram("t_none_seconds", "", "Help.");
    ck_assert_uint_eq(metrics_quantile_us(h, 0.5), 0);
    assert_prints("t_none_seconds{quantile=\"0.5\"} NaN\n"
                  "t_none_seconds{quantile=\"0.95\"} NaN\n"
                  "t_none_seconds{quantile=\"0.99\"} NaN\n"
                  "t_none_seconds_sum 0.000000\n"
                  "t_none_seconds_count 0\n");
}
END_TEST

START_TEST(the_text_is_sorted_with_one_head_for_each_name)
{
    metrics_add(metrics_counter("t_text_total", "op=\"put\"", "All \\ calls,\nby operation."), 2);
    metrics_add(metrics_counter("t_text_total", "op=\"get\"", "Other help."), 1);
    metrics_set(metrics_gauge("t_text", "", "A level."), 3);
    metric *h = metrics_histogram("t_text_seconds", "op=\"get\"", "How long.");
    for (int i = 0; i < 3; i++)
        metrics_observe_us(h, 10);
    assert_prints("# HELP t_text A level.\n"
                  "# TYPE t_text gauge\n"
                  "t_text 3\n"
                  "# HELP t_text_seconds How long.\n"
                  "# TYPE t_text_seconds summary\n"
                  "t_text_seconds{op=\"get\",quantile=\"0.5\"} 0.000010\n"
                  "t_text_seconds{op=\"get\",quantile=\"0.95\"} 0.000010\n"
                  "t_text_seconds{op=\"get\",quantile=\"0.99\"} 0.000010\n"
                  "t_text_seconds_sum{op=\"get\"} 0.000030\n"
                  "t_text_seconds_count{op=\"get\"} 3\n");
    str all = print();
    ck_assert_int_eq(times(all, STR("# TYPE t_text_total counter\n")), 1);
    ck_assert_int_eq(times(all, STR("# HELP t_text_total ")), 1);
    ck_assert(str_has(all, STR("t_text_total{op=\"get\"} 1\nt_text_total{op=\"put\"} 2\n")));
    ck_assert(!str_has(all, STR("refused")));
}
END_TEST

START_TEST(a_backslash_and_a_line_feed_in_the_help_are_escaped)
{
    (void)metrics_counter("t_help_total", "", "One \\ two\nthree.");
    assert_prints("# HELP t_help_total One \\\\ two\\nthree.\n# TYPE t_help_total counter\n");
}
END_TEST

/* Runs in a process of its own (check forks), because it uses the registry up. */
START_TEST(beyond_the_limit_metrics_are_shared_silent_and_counted)
{
    char    labels[32];
    metric *last = NULL, *over = NULL;
    for (int i = 0; i < 4100; i++) {
        snprintf(labels, sizeof labels, "n=\"%d\"", i);
        metric *m = metrics_counter("t_limit_total", labels, "Help.");
        if (i == 4095)
            last = m;
        else if (i > 4095)
            ck_assert(over == NULL || over == m);
        if (i > 4095)
            over = m;
    }
    ck_assert_ptr_ne(last, over);
    ck_assert_ptr_eq(metrics_histogram("t_limit_seconds", "", "Help."), over);
    metrics_add(over, 1);
    metrics_set(over, 1);
    metrics_observe_us(over, 1);
    ck_assert_int_eq(metrics_value(over), 0);
    ck_assert_uint_eq(metrics_quantile_us(over, 0.5), 0);
    ck_assert_ptr_eq(metrics_counter("t_limit_total", "n=\"4095\"", "Help."), last);

    str all = print();
    ck_assert_int_eq(times(all, STR("t_limit_total{")), 4096);
    ck_assert_msg(str_has(all, STR("\n# refused 5 times")), "the refusals are not told");
}
END_TEST

/* What assert says is expected, and the suite is silent when all is well. */
static void expect_abort(void)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

START_TEST(a_name_with_two_kinds_ends_the_program)
{
    expect_abort();
    (void)metrics_counter("t_kind", "b=\"1\"", "Help.");
    (void)metrics_gauge("t_kind", "a=\"1\"", "Help.");
}
END_TEST

START_TEST(a_name_that_prometheus_would_not_take_ends_the_program)
{
    static const char *const names[] = {"", "9lives", "with-dash", "with blank", "a{b}"};
    expect_abort();
    (void)metrics_counter(names[_i], "", "Help.");
}
END_TEST

enum { THREADS = 4, ROUNDS = 20000 };

static void *count_in_thread(void *arg)
{
    char labels[32];
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        metrics_add(metrics_counter("t_thread_total", "", "Help."), 1);
        metrics_observe_us(metrics_histogram("t_thread_seconds", "", "Help."), (uint64_t)1 << i % 30);
        if (i % 100 == 0) {
            snprintf(labels, sizeof labels, "n=\"%d\"", i);
            metrics_add(metrics_gauge("t_thread_many", labels, "Help."), 1);
        }
    }
    return NULL;
}

START_TEST(threads_that_count_at_once_lose_nothing)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&all[i], NULL, count_in_thread, NULL), 0);
    for (int i = 0; i < 20; i++)
        (void)print(); /* while metrics come and go up */
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);

    metric *h = metrics_histogram("t_thread_seconds", "", "Help.");
    ck_assert_int_eq(metrics_value(metrics_counter("t_thread_total", "", "Help.")), THREADS * ROUNDS);
    ck_assert_int_eq(metrics_value(h), THREADS * ROUNDS);
    ck_assert_int_eq(times(print(), STR("t_thread_many{")), ROUNDS / 100);
    for (int i = 0; i < ROUNDS; i += 100) {
        char labels[32];
        snprintf(labels, sizeof labels, "n=\"%d\"", i);
        ck_assert_int_eq(metrics_value(metrics_gauge("t_thread_many", labels, "Help.")), THREADS);
    }
    /* Each power of two was seen equally often: none of the buckets lost a count to a row made twice. */
    for (int i = 0; i < 30; i++) {
        uint64_t got = metrics_quantile_us(h, (i + 0.5) / 30), want = (uint64_t)1 << i;
        ck_assert_msg(got >= want && got <= want + want / 16, "power %d reads as %llu", i,
                      (unsigned long long)got);
    }
}
END_TEST

static jmp_buf out_of_task;

static void leave_task(void *ctx)
{
    (void)ctx;
    longjmp(out_of_task, 1);
}

START_TEST(a_task_left_while_printing_does_not_keep_the_registry_locked)
{
    metric *m = metrics_counter("t_left_total", "", "Help.");
    arena  *a = arena_new(MIB);
    arena_on_exhausted(a, leave_task, NULL);
    if (setjmp(out_of_task) == 0) {
        buf small;
        buf_init(&small, a, MIB);
        arena_fail_at(1);
        metrics_print(&small);
        ck_abort_msg("the arena was not exhausted");
    }
    arena_fail_at(0);
    arena_free(a);
    ck_assert_ptr_eq(metrics_counter("t_left_total", "", "Help."), m);
}
END_TEST

Suite *suite_metrics(void)
{
    Suite *s = suite_create("metrics");
    TCase *c = tcase_create("metrics");
    tcase_add_checked_fixture(c, make_text, free_text);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, the_same_name_and_labels_give_the_same_metric);
    tcase_add_test(c, counters_add_and_gauges_go_both_ways);
    tcase_add_test(c, a_quantile_is_never_off_by_more_than_a_sixteenth);
    tcase_add_test(c, values_below_sixteen_are_exact);
    tcase_add_test(c, quantiles_of_an_even_spread_are_where_they_should_be);
    tcase_add_test(c, one_slow_call_in_a_hundred_shows_in_the_last_percent_alone);
    tcase_add_test(c, values_beyond_the_range_count_in_the_last_bucket_and_fully_in_the_sum);
    tcase_add_test(c, nothing_observed_has_no_quantile);
    tcase_add_test(c, the_text_is_sorted_with_one_head_for_each_name);
    tcase_add_test(c, a_backslash_and_a_line_feed_in_the_help_are_escaped);
    tcase_add_test(c, threads_that_count_at_once_lose_nothing);
    tcase_add_test(c, a_task_left_while_printing_does_not_keep_the_registry_locked);
    suite_add_tcase(s, c);

    /* These use up the registry or end the process: they need a process of their own, so not with CK_FORK=no.
     */
    const char *fork_mode = getenv("CK_FORK");
    if (fork_mode == NULL || strcmp(fork_mode, "no") != 0) {
        TCase *alone = tcase_create("alone");
        tcase_add_checked_fixture(alone, make_text, free_text);
        tcase_add_test(alone, beyond_the_limit_metrics_are_shared_silent_and_counted);
        tcase_add_test_raise_signal(alone, a_name_with_two_kinds_ends_the_program, SIGABRT);
        tcase_add_loop_test_raise_signal(alone, a_name_that_prometheus_would_not_take_ends_the_program,
                                         SIGABRT, 0, 5);
        suite_add_tcase(s, alone);
    }
    return s;
}
