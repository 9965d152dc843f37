/* test_sched_ai.c -- questions to a model: what counts as an answer, and what is counted.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/sched_model.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/ai.h"
#include "domain/scheduler/counters.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define USER         "ann"
#define HUGE_BYTES   (3 * MIB)

static const ai_question question = {.user_key = STR_INIT(USER),
                                     .system = STR_INIT("You plan."),
                                     .user = STR_INIT("Dentist tomorrow at ten, please.")};

/* ---- what was counted ---- */

typedef struct {
    int64_t calls, in, out, errors;
} counts;

static counts counted(task *t, place where, str partition, str row, bool by_model)
{
    entity e;
    if (tables_get(t, place_table(where), partition, row, &e) != RES_OK) {
        task_forget(t);
        return (counts){0};
    }
    return (counts){entity_int(&e, by_model ? "calls" : "openaiCalls", -1),
                    entity_int(&e, by_model ? "tokensIn" : "openaiTokensIn", -1),
                    entity_int(&e, by_model ? "tokensOut" : "openaiTokensOut", -1),
                    entity_int(&e, by_model ? "errors" : "openaiErrors", -1)};
}

static void same(const char *where, counts is, counts want)
{
    ck_assert_msg(is.calls == want.calls && is.in == want.in && is.out == want.out &&
                      is.errors == want.errors,
                  "%s: %d calls, %d in, %d out, %d errors", where, (int)is.calls, (int)is.in, (int)is.out,
                  (int)is.errors);
}

static void expect_counts(task *t, int calls, int errors)
{
    counts want = {calls, (int64_t)calls * MODEL_IN, (int64_t)calls * MODEL_OUT, errors};
    str    day = str_slice(call_now(t->arena), 0, 10), month = str_slice(day, 0, 7);
    same("UserDailyUsage", counted(t, PLACE_USER_DAILY_USAGE, STR(USER), day, false), want);
    same("UserDailyUsageByModel",
         counted(t, PLACE_USER_DAILY_USAGE_BY_MODEL, arena_strf(t->arena, USER "|%.*s", STR_ARG(day)),
                 STR(MODEL_NAME), true),
         want);
    same("DailyUsageByModel",
         counted(t, PLACE_DAILY_USAGE_BY_MODEL, month, arena_strf(t->arena, "%.*s|" MODEL_NAME, STR_ARG(day)),
                 true),
         want);
}

/* EXPECT forgets what the failure said. */
static void fails(task *t, res want, const char *message, res is)
{
    ck_assert_msg(is == want, "%s, not %s", res_name(is), res_name(want));
    ck_str_eq(task_message(t), str_of(message));
    task_forget(t);
}

/* ---- one question ---- */

/* SCHED-64. */
RIG_TEST(a_good_answer_is_given_and_its_tokens_are_counted)
{
    ai_answer a;
    model_on();
    OK(places_make(t));
    model_says("{\"kind\":\"reply\"}");
    OK(ai_ask(t, &question, &a));
    ck_str_eq(a.op_id, STR(MODEL_OP_ID));
    ck_str_eq(json_text(json_get(a.content, "kind"), (str){0}), STR("reply"));
    expect_counts(t, 1, 0);
    ck_assert(wire_has_header(model_wire(), 0, "Authorization: Bearer " MODEL_KEY));
    ck_assert(str_starts(wire_request_at(model_wire(), 0).head, STR("POST /v1/chat/completions ")));
    const json_val *sent;
    OK(json_parse(t->arena, model_question(0), &sent, NULL));
    ck_str_eq(json_text(json_get(sent, "model"), (str){0}), STR(MODEL_NAME));
    ck_assert_int_eq(json_int(json_get(sent, "temperature"), -1), 0);
    ck_str_eq(json_text(json_get(json_get(sent, "response_format"), "type"), (str){0}), STR("json_object"));
    ck_str_eq(json_text(json_get(json_at(json_get(sent, "messages"), 1), "content"), (str){0}),
              question.user);
    model_off();
}

RIG_TEST(a_picture_is_sent_as_a_data_url)
{
    ai_answer   a;
    ai_question q = question;
    model_on();
    OK(places_make(t));
    model_says("{}");
    q.model = STR("seeing-model");
    q.image = STR("abc");
    q.image_mime = STR("image/png");
    OK(ai_ask(t, &q, &a));
    ck_assert(str_has(model_question(0), STR("\"url\":\"data:image/png;base64,YWJj\"")));
    ck_assert(str_has(model_question(0), STR("\"model\":\"seeing-model\"")));
    model_off();
}

#define ENVELOPE(inner) "{\"id\":\"x\",\"choices\":[{\"message\":{\"content\":" inner "}}]}"

/* `bytes`: as they are; `body`: of a 200; else the status alone. */
static const struct {
    const char *bytes, *body;
    int         status;
    unsigned    delay_ms;
    wire_then   then;
    res         want;
    const char *message;
} failures[] = {
    {.status = 401, .want = RES_UPSTREAM, .message = "OpenAI HTTP 401"},
    {.status = 429, .want = RES_UPSTREAM, .message = "OpenAI HTTP 429"},
    {.status = 500, .want = RES_UPSTREAM, .message = "OpenAI HTTP 500"},
    {.status = 301, .want = RES_UPSTREAM, .message = "OpenAI HTTP 301"},
    {.body = "no json at all", .want = RES_UPSTREAM, .message = "OpenAI's answer is no JSON"},
    {.body = "{\"choices\":[]}", .want = RES_UPSTREAM, .message = "OpenAI's answer is empty"},
    {.body = "[]", .want = RES_UPSTREAM, .message = "OpenAI's answer is empty"},
    {.body = "{\"choices\":{\"0\":1},\"id\":7,\"usage\":[]}",
     .want = RES_UPSTREAM,
     .message = "OpenAI's answer is empty"},
    {.body = ENVELOPE("17"), .want = RES_UPSTREAM, .message = "OpenAI's answer is empty"},
    {.body = ENVELOPE("\" \""), .want = RES_UPSTREAM, .message = "OpenAI's answer is empty"},
    {.body = ENVELOPE("\"Sure! {}\""),
     .want = RES_INVALID,
     .message = "OpenAI's answer cannot be used: it is no JSON object"},
    {.body = ENVELOPE("\"17\""),
     .want = RES_INVALID,
     .message = "OpenAI's answer cannot be used: it is no JSON object"},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"choices\":[{\"mess",
     .then = WIRE_CLOSE,
     .want = RES_UPSTREAM,
     .message = "OpenAI's answer broke off"},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"choices\":[{\"mess",
     .then = WIRE_HANG,
     .want = RES_TIMEOUT,
     .message = "timeout"},
    {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
     .delay_ms = 3000,
     .want = RES_TIMEOUT,
     .message = "timeout"},
    {.bytes = "", .then = WIRE_RESET, .want = RES_UNREACHABLE, .message = "OpenAI cannot be reached"},
};

/* SCHED-63. */
RIG_TEST(a_failure_is_told_without_the_key_and_counted_as_an_error)
{
    ai_answer a;
    model_on();
    ck_assert_int_eq(setenv("OPENAI_TIMEOUT_MS", "400", 1), 0);
    rig_log_capture();
    OK(places_make(t));
    if (failures[i].body != NULL)
        model_body(failures[i].body);
    else if (failures[i].bytes != NULL)
        model_sends((wire_answer){
            .bytes = failures[i].bytes, .delay_ms = failures[i].delay_ms, .then = failures[i].then});
    else
        model_status(failures[i].status);
    fails(t, failures[i].want, failures[i].message, ai_ask(t, &question, &a));
    expect_counts(t, 0, 1);
    int64_t at;
    ck_str_eq(usage_last_error(&at), str_of(failures[i].message));
    ck_assert(!str_has(rig_log(), STR(MODEL_KEY)));
    ck_assert(!str_has(rig_log(), STR("Dentist")));
    model_off();
}

RIG_TEST(an_answer_without_end_is_cut_off)
{
    ai_answer a;
    model_on();
    OK(places_make(t));
    model_sends((wire_answer){.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3145728\r\n\r\n",
                              .fill_bytes = HUGE_BYTES});
    fails(t, RES_UPSTREAM, "OpenAI's answer is too large", ai_ask(t, &question, &a));
    expect_counts(t, 0, 1);
    model_off();
}

RIG_TEST(without_a_key_nothing_is_attempted_and_nothing_counted)
{
    ai_answer a;
    uint64_t  ms;
    OK(places_make(t));
    fails(t, RES_CONFIG, "OPENAI_API_KEY is not configured", ai_ask(t, &question, &a));
    task_forget(t);
    EXPECT(RES_CONFIG, ai_ping(t, &ms));
    expect_counts(t, 0, 0);
}

RIG_TEST(a_day_whose_limit_is_reached_asks_nobody)
{
    ai_answer a;
    model_on();
    ck_assert_int_eq(setenv("USAGE_DAILY_REQUEST_LIMIT", "2", 1), 0);
    OK(places_make(t));
    model_says("{}");
    OK(ai_ask(t, &question, &a));
    OK(ai_ask(t, &question, &a));
    EXPECT(RES_THROTTLED, ai_ask(t, &question, &a));
    ck_assert_uint_eq(model_asked(), 2);
    expect_counts(t, 2, 0);
    model_off();
}

/* ---- repair ---- */

static bool has_colour(arena *a, const json_val *content, void *ctx, str *ret_why)
{
    (void)a, (void)ctx;
    *ret_why = STR("colour is missing");
    return json_get(content, "colour") != NULL;
}

RIG_TEST(an_answer_that_fails_its_check_is_repaired_once)
{
    ai_answer a;
    model_on();
    OK(places_make(t));
    model_says("{\"size\":3}");
    model_says("{\"colour\":\"red\"}");
    OK(ai_ask_checked(t, &question, has_colour, NULL, &a));
    ck_str_eq(json_text(json_get(a.content, "colour"), (str){0}), STR("red"));
    ck_assert_uint_eq(model_asked(), 2);
    ck_assert(str_has(model_question(1), STR("colour is missing")));
    ck_assert(str_has(model_question(1), STR("{\\\"size\\\":3}")));
    expect_counts(t, 1, 1);
    model_off();
}

RIG_TEST(an_answer_that_fails_its_check_twice_is_given_up)
{
    ai_answer a;
    model_on();
    OK(places_make(t));
    model_says("nonsense");
    model_says("{\"size\":4}");
    fails(t, RES_INVALID, "OpenAI's answer cannot be used: colour is missing",
          ai_ask_checked(t, &question, has_colour, NULL, &a));
    ck_assert_uint_eq(model_asked(), 2);
    expect_counts(t, 0, 2);
    model_off();
}

/* A server that is down is not asked again: only words can be repaired. */
RIG_TEST(a_refusal_is_not_repaired)
{
    ai_answer a;
    model_on();
    OK(places_make(t));
    model_status(503);
    EXPECT(RES_UPSTREAM, ai_ask_checked(t, &question, has_colour, NULL, &a));
    ck_assert_uint_eq(model_asked(), 1);
    model_off();
}

/* ---- many at once ---- */

enum { AT_ONCE = 20 };

static res ask_one(task *t, size_t i, void *ctx)
{
    ai_answer a;
    (void)i, (void)ctx;
    return ai_ask(t, &question, &a);
}

/* SCHED-88. */
RIG_TEST(twenty_questions_at_once_are_counted_exactly)
{
    usage_counts all;
    model_on();
    OK(places_make(t));
    model_says("{}");
    OK(par_each(t, AT_ONCE, AT_ONCE, ask_one, NULL));
    expect_counts(t, AT_ONCE, 0);
    OK(usage_today(t, &all));
    ck_assert_int_eq(all.calls, AT_ONCE);
    ck_assert_int_eq(all.tokens_in, AT_ONCE * MODEL_IN);
    model_off();
}

RIG_TEST(a_model_that_is_there_answers_a_ping)
{
    uint64_t ms = UINT64_MAX;
    model_on();
    model_body("{}");
    OK(ai_ping(t, &ms));
    ck_assert_uint_lt(ms, UINT64_MAX);
    ck_assert(str_starts(wire_request_at(model_wire(), 0).head, STR("GET /v1/models/" MODEL_NAME " ")));
    model_off();
}

Suite *suite_sched_ai(void)
{
    Suite *s = suite_create("sched_ai");
    TCase *c = live_case("ai");
    tcase_add_test(c, a_good_answer_is_given_and_its_tokens_are_counted);
    tcase_add_test(c, a_picture_is_sent_as_a_data_url);
    tcase_add_loop_test(c, a_failure_is_told_without_the_key_and_counted_as_an_error, 0, COUNT(failures));
    tcase_add_test(c, an_answer_without_end_is_cut_off);
    tcase_add_test(c, without_a_key_nothing_is_attempted_and_nothing_counted);
    tcase_add_test(c, a_day_whose_limit_is_reached_asks_nobody);
    tcase_add_test(c, an_answer_that_fails_its_check_is_repaired_once);
    tcase_add_test(c, an_answer_that_fails_its_check_twice_is_given_up);
    tcase_add_test(c, a_refusal_is_not_repaired);
    tcase_add_test(c, twenty_questions_at_once_are_counted_exactly);
    tcase_add_test(c, a_model_that_is_there_answers_a_ping);
    suite_add_tcase(s, c);
    return s;
}
