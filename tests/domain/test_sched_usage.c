/* test_sched_usage.c -- what AI use has come to today, whether the AI answers, and that this process does.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/counters.h"

#define USAGE "/api/usage"

static void use(task *t, const char *model, int calls, int64_t in, int64_t out)
{
    usage u = {.user_key = people_user_key("ann@example.org"), .model = str_of(model)};
    u.tokens_in = in;
    u.tokens_out = out;
    for (int n = 0; n < calls; n++)
        usage_record(t, &u);
}

static void usage_is(task *t, const char *state, const char *summary)
{
    got g = rig_get(t, USAGE);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "usageState"), str_of(state));
    ck_str_eq(rig_text(&g, "usageSummary"), str_of(summary));
    ck_assert_uint_eq(rig_text(&g, "updatedAt").len, 24);
    ck_assert_uint_eq(json_len(g.json), 3);
}

static void limits(const char *requests, const char *tokens)
{
    ck_assert_int_eq(setenv("USAGE_DAILY_REQUEST_LIMIT", requests, 1), 0);
    ck_assert_int_eq(setenv("USAGE_DAILY_TOKEN_LIMIT", tokens, 1), 0);
}

/* SCHED-86. */
RIG_TEST(a_day_without_a_call_is_fine)
{
    usage_is(t, "ok", "0/200 req, 0/200.0k tokens");
}

/* SCHED-86: over all people and models. */
RIG_TEST(seventy_percent_of_the_requests_are_a_warning_and_all_of_them_the_limit)
{
    limits("10", "100000");
    OK(places_make(t));
    use(t, "a", 4, 10, 5);
    use(t, "b", 2, 10, 5);
    usage_is(t, "ok", "6/10 req, 90/100.0k tokens");
    use(t, "b", 1, 0, 0);
    usage_is(t, "warning", "7/10 req, 90/100.0k tokens");
    use(t, "c", 3, 0, 0);
    usage_is(t, "limit_reached", "10/10 req, 90/100.0k tokens");
}

/* SCHED-86. */
RIG_TEST(tokens_count_towards_their_limit_in_both_directions)
{
    limits("200", "2000");
    OK(places_make(t));
    use(t, "a", 1, 1000, 399);
    usage_is(t, "ok", "1/200 req, 1.4k/2.0k tokens");
    use(t, "a", 1, 0, 1);
    usage_is(t, "warning", "2/200 req, 1.4k/2.0k tokens");
    use(t, "a", 1, 0, 600);
    usage_is(t, "limit_reached", "3/200 req, 2.0k/2.0k tokens");
}

/* SCHED-86. */
RIG_TEST(an_error_of_the_last_half_hour_is_a_warning)
{
    int64_t now_us = clock_wall_us();
    usage_note_error(STR("OpenAI HTTP 500"));
    usage_is(t, "warning", "0/200 req, 0/200.0k tokens, last error: OpenAI HTTP 500");
    clock_set_for_test(now_us + 31 * INT64_C(60000000), clock_mono_us());
    got g = rig_get(t, USAGE);
    clock_unset_for_test();
    ck_str_eq(rig_text(&g, "usageState"), STR("ok"));
}

static const char *const down[] = {
    "HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"value\":[[[",
};

static void is_not_known(task *t, int i)
{
    (void)i;
    usage_is(t, "unknown", "usage tracking unavailable");
}

/* SCHED-86. */
START_TEST(usage_that_cannot_be_read_is_unknown)
{
    wire *w = wire_start(&(wire_answer){.bytes = down[_i], .then = WIRE_CLOSE}, 1, NULL);
    rig_run(rig_wire_store(w), is_not_known, 0);
    wire_stop(w);
}
END_TEST

/* SCHED-96. */
static void health_is_three_members(task *t, int i)
{
    (void)i;
    got g = rig_get(t, "/api/health");
    ck_status(g, 200);
    ck_assert(rig_bool(&g, "ok"));
    ck_assert_uint_eq(rig_text(&g, "time").len, 24);
    ck_assert_uint_gt(rig_text(&g, "version").len, 0);
    ck_assert_uint_eq(json_len(g.json), 3);
}

START_TEST(health_asks_storage_nothing)
{
    wire *w = wire_start(&(wire_answer){.bytes = down[0]}, 1, NULL);
    rig_run(rig_wire_store(w), health_is_three_members, 0);
    ck_assert_uint_eq(wire_requests(w), 0);
    wire_stop(w);
}
END_TEST

RIG_TEST(usage_survives_every_failure)
{
    rig_request in = {.method = "GET", .target = USAGE};
    OK(places_make(t));
    use(t, "a", 1, 1, 1);
    rig_torture(t, &in, 200, NULL, NULL);
}

/* ---- diagnose ---- */

#define DIAGNOSE "/api/diagnose/openai"
#define KEY      "sk-a-key-that-nobody-may-see"

RIG_TEST(nobody_diagnoses_unless_it_is_allowed)
{
    got g = rig_get(t, DIAGNOSE);
    ck_status(g, 404);
    ck_str_eq(g.body, STR("{\"error\":\"Not found\"}"));
}

/* SCHED-87. */
RIG_TEST(that_there_is_no_key_is_reported)
{
    ck_assert_int_eq(setenv("DOGFOOD", "1", 1), 0);
    ck_assert_int_eq(setenv("OPENAI_MODEL", "m", 1), 0);
    got g = rig_get(t, DIAGNOSE);
    ck_status(g, 503);
    ck_assert(!rig_bool(&g, "ok") && !rig_bool(&g, "hasApiKey"));
    ck_str_eq(rig_text(&g, "lastError"), STR("OPENAI_API_KEY is not configured"));
    ck_str_eq(rig_text(&g, "model"), STR("m"));
    ck_assert_int_ge(rig_int(&g, "latencyMs"), 0);
}

static const struct {
    const char *answer;
    int         status;
    const char *error;
} pings[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, NULL},
    {"HTTP/1.1 401 X\r\nContent-Length: 34\r\n\r\n{\"error\":\"" KEY " is wrong\"}", 503, "openai_http_401"},
    {"HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n", 503, "openai_http_429"},
    {"hello\r\n\r\n", 503, NULL},
};

/* SCHED-87: nor is a key that is there. */
RIG_TEST(what_the_ai_says_is_reported_without_the_key)
{
    wire *w = wire_start(&(wire_answer){.bytes = pings[i].answer, .then = WIRE_CLOSE}, 1, NULL);
    ck_assert_int_eq(setenv("DOGFOOD", "1", 1), 0);
    ck_assert_int_eq(setenv("OPENAI_MODEL", "m", 1), 0);
    ck_assert_int_eq(setenv("OPENAI_API_KEY", KEY, 1), 0);
    ck_assert_int_eq(setenv("OPENAI_BASE_URL", wire_url(w, "/v1"), 1), 0);
    got g = rig_get(t, DIAGNOSE);
    ck_status(g, pings[i].status);
    ck_assert(rig_bool(&g, "hasApiKey"));
    ck_assert_int_eq(rig_bool(&g, "ok"), pings[i].status == 200);
    ck_assert_int_eq(rig_at(&g, "lastError") != NULL, pings[i].status != 200);
    if (pings[i].error != NULL)
        ck_str_eq(rig_text(&g, "lastError"), str_of(pings[i].error));
    ck_assert(!str_has(g.body, STR(KEY)));
    ck_assert(str_starts(wire_request_at(w, 0).head, STR("GET /v1/models/m ")));
    wire_stop(w);
}

RIG_TEST(diagnose_survives_every_failure)
{
    static const int unreachable[] = {503, 0};
    rig_request      in = {.method = "GET", .target = DIAGNOSE};
    wire            *w = wire_start(&(wire_answer){.bytes = pings[0].answer, .then = WIRE_CLOSE}, 1, NULL);
    ck_assert_int_eq(setenv("DOGFOOD", "1", 1), 0);
    ck_assert_int_eq(setenv("OPENAI_BASE_URL", wire_url(w, "/v1"), 1), 0);
    rig_torture(t, &in, 200, unreachable, NULL);
    wire_stop(w);
}

Suite *suite_sched_usage(void)
{
    Suite *s = suite_create("sched_usage");
    TCase *c = live_case("usage");
    tcase_add_test(c, a_day_without_a_call_is_fine);
    tcase_add_test(c, seventy_percent_of_the_requests_are_a_warning_and_all_of_them_the_limit);
    tcase_add_test(c, tokens_count_towards_their_limit_in_both_directions);
    tcase_add_test(c, an_error_of_the_last_half_hour_is_a_warning);
    tcase_add_loop_test(c, usage_that_cannot_be_read_is_unknown, 0, (int)(sizeof down / sizeof *down));
    tcase_add_test(c, health_asks_storage_nothing);
    tcase_add_test(c, usage_survives_every_failure);
    tcase_add_test(c, nobody_diagnoses_unless_it_is_allowed);
    tcase_add_test(c, that_there_is_no_key_is_reported);
    tcase_add_loop_test(c, what_the_ai_says_is_reported_without_the_key, 0,
                        (int)(sizeof pings / sizeof *pings));
    tcase_add_test(c, diagnose_survives_every_failure);
    suite_add_tcase(s, c);
    return s;
}
