/* test_service.c -- health, metrics and the OpenAPI document: what they say, and that no failing allocation
 * makes them say half of it.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/service.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/metrics.h"
#include "runtime/exchange.h"
#include "runtime/loop.h"
#include "unit/suites.h"

typedef struct {
    handler_fn *run;
    res         result;
    int         status;
    char        body[4096];
    char        type[64], origin[8];
} visit;

static res call_handler(task *t, void *ctx)
{
    visit   *v = ctx;
    function fn = {.name = STR("service")};
    request  in = {.arena = t->arena, .fn = &fn};
    reply    out;
    reply_init(&out, t->arena, &fn, NULL);
    res r = v->run(t, &in, &out);
    if (r == RES_OK) {
        str type = http_header_get(out.headers, out.header_count, STR("content-type"));
        str origin = http_header_get(out.headers, out.header_count, STR("access-control-allow-origin"));
        v->status = out.status;
        (void)snprintf(v->body, sizeof v->body, "%.*s", STR_ARG(out.body));
        (void)snprintf(v->type, sizeof v->type, "%.*s", STR_ARG(type));
        (void)snprintf(v->origin, sizeof v->origin, "%.*s", STR_ARG(origin));
    }
    return r;
}

static void note_result(task *t, void *ctx, res result, str message)
{
    (void)t, (void)message;
    ((visit *)ctx)->result = result;
}

static visit visit_handler(handler_fn *run)
{
    visit v = {.run = run, .result = RES_COUNT};
    ck_assert_int_eq(loop_open(), RES_OK);
    ck_assert_int_eq(task_start(&(task_spec){.name = "visit"}, call_handler, note_result, &v, NULL), RES_OK);
    loop_run();
    loop_close();
    return v;
}

START_TEST(health_says_ok_time_and_version_and_nothing_else)
{
    clock_set_for_test(1767323045678000, 1); /* 2026-01-02T03:04:05.678Z */
    service_set_version("1.2.3");
    visit v = visit_handler(service_health);
    clock_unset_for_test();
    ck_assert_int_eq(v.result, RES_OK);
    ck_assert_int_eq(v.status, 200);
    ck_assert_str_eq(v.body, "{\"ok\":true,\"time\":\"2026-01-02T03:04:05.678Z\",\"version\":\"1.2.3\"}");
    ck_assert_str_eq(v.type, "application/json; charset=utf-8");
}
END_TEST

START_TEST(metrics_are_prometheus_text)
{
    metrics_add(metrics_counter("visits_total", "", "For this test"), 3);
    visit v = visit_handler(service_metrics);
    ck_assert_int_eq(v.status, 200);
    ck_assert_ptr_nonnull(strstr(v.body, "# TYPE visits_total counter\nvisits_total 3\n"));
    ck_assert_str_eq(v.type, "text/plain; version=0.0.4; charset=utf-8");
}
END_TEST

START_TEST(the_openapi_document_may_be_read_by_any_page)
{
    visit v = visit_handler(service_openapi);
    ck_assert_int_eq(v.status, 200);
    ck_assert_str_eq(v.type, "application/json; charset=utf-8");
    ck_assert_str_eq(v.origin, "*");
    ck_assert(strstr(v.body, "{\n  \"openapi\": \"3.1.0\",") == v.body);
}
END_TEST

static handler_fn *const all[] = {service_health, service_metrics, service_openapi};

START_TEST(a_failing_allocation_is_out_of_memory_and_never_half_an_answer)
{
    for (long nth = 1;; nth++) {
        ck_assert_int_lt(nth, 1000);
        arena_fail_at(nth);
        visit v = visit_handler(all[_i]);
        bool  pending = arena_fail_pending();
        arena_fail_at(0);
        ck_assert_int_eq(v.result, pending ? RES_OK : RES_MEMORY);
        ck_assert_int_eq(v.status, pending ? 200 : 0);
        if (pending)
            break;
    }
}
END_TEST

Suite *suite_service(void)
{
    Suite *s = suite_create("service");
    TCase *c = tcase_create("service");
    tcase_add_test(c, health_says_ok_time_and_version_and_nothing_else);
    tcase_add_test(c, metrics_are_prometheus_text);
    tcase_add_test(c, the_openapi_document_may_be_read_by_any_page);
    tcase_add_loop_test(c, a_failing_allocation_is_out_of_memory_and_never_half_an_answer, 0,
                        sizeof all / sizeof *all);
    suite_add_tcase(s, c);
    return s;
}
