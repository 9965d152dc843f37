/* sched_model.c -- see sched_model.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_model.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "support/scratch.h"

enum { ANSWERS_MAX = 16 };

static struct {
    pthread_mutex_t lock; /* each connection has a thread */
    wire           *w;
    wire_answer     answers[ANSWERS_MAX];
    size_t          count, next;
} model = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void answer(void *ctx, const wire_request *request, wire_answer *ret)
{
    (void)ctx, (void)request;
    pthread_mutex_lock(&model.lock);
    *ret = model.count > 0 ? model.answers[model.next]
                           : (wire_answer){.bytes = "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"};
    if (model.next + 1 < model.count)
        model.next++;
    pthread_mutex_unlock(&model.lock);
}

void model_on(void)
{
    model_forget();
    model.w = wire_start_fn(answer, NULL, NULL);
    ck_assert_int_eq(setenv("OPENAI_BASE_URL", wire_url(model.w, "/v1"), 1), 0);
    ck_assert_int_eq(setenv("OPENAI_API_KEY", MODEL_KEY, 1), 0);
    ck_assert_int_eq(setenv("OPENAI_MODEL", MODEL_NAME, 1), 0);
}

void model_off(void)
{
    wire_stop(model.w);
    model.w = NULL;
}

void model_forget(void)
{
    pthread_mutex_lock(&model.lock);
    model.count = model.next = 0;
    pthread_mutex_unlock(&model.lock);
}

/* One that comes behind answers that were all given is the next. */
void model_sends(wire_answer a)
{
    pthread_mutex_lock(&model.lock);
    ck_assert_uint_lt(model.count, ANSWERS_MAX);
    model.answers[model.count++] = a;
    pthread_mutex_unlock(&model.lock);
}

void model_body(const char *body)
{
    const char *bytes = textf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                              "%zu\r\n\r\n%s",
                              strlen(body), body);
    model_sends((wire_answer){.bytes = bytes});
}

void model_says(const char *content)
{
    json *body = json_object(scratch());
    json_set_str(body, "id", STR(MODEL_OP_ID));
    json *choice = json_push_object(json_set_array(body, "choices"));
    json *message = json_set_object(choice, "message");
    json_set_str(message, "role", STR("assistant"));
    json_set_str(message, "content", str_of(content));
    json *used = json_set_object(body, "usage");
    json_set_int(used, "prompt_tokens", MODEL_IN);
    json_set_int(used, "completion_tokens", MODEL_OUT);
    model_body(arena_cstr(scratch(), json_print(scratch(), body)));
}

void model_status(int status)
{
    model_sends((wire_answer){.bytes = textf("HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status)});
}

size_t model_asked(void)
{
    return wire_requests(model.w);
}

str model_question(size_t i)
{
    return wire_request_at(model.w, i).body;
}

wire *model_wire(void)
{
    return model.w;
}
