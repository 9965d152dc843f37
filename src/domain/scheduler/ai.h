/* ai.h -- one question to an OpenAI-compatible server (specification §6.4).
 *
 * Usage is recorded after each attempt (counters.h); the key is in no log. A failure is a result, whose
 * message says "OpenAI HTTP 429", "timeout", "OPENAI_API_KEY is not configured", … and nothing of the prompt.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_AI_H
#define TRESTLE_DOMAIN_SCHEDULER_AI_H

#include "core/json.h"
#include "runtime/task.h"

typedef struct {
    str model;    /* empty: OPENAI_MODEL */
    str user_key; /* whose usage it is */
    str system, user;
    str image, image_mime; /* bytes; empty: none */
} ai_question;

typedef struct {
    str             op_id;   /* the answer's id */
    const json_val *content; /* choices[0].message.content, parsed */
    str             text;
} ai_answer;

/* RES_CONFIG: not configured, nothing was attempted; RES_THROTTLED: nor was it, for today's limit is reached
 * (USAGE_DAILY_…_LIMIT); RES_UPSTREAM, RES_UNREACHABLE, RES_TIMEOUT; RES_INVALID: it answered, but no JSON.
 */
res ai_ask(task *t, const ai_question *q, ai_answer *ret) MUST_USE;

/* Does the content say what was asked for? Else *ret_why tells the model, and people, what is wrong. It may
 * keep what it has read in *ctx; it is called anew for each answer. */
typedef bool ai_check_fn(arena *a, const json_val *content, void *ctx, str *ret_why);

/* The same with a check. An answer that is no JSON or fails it is shown to the model with what is wrong with
 * it, once; RES_INVALID with the second one's fault. Each of the two is an attempt that is accounted for. */
res ai_ask_checked(task *t, const ai_question *q, ai_check_fn *check, void *ctx, ai_answer *ret) MUST_USE;

/* GET {base}/models/{model} within 7 s, for /api/diagnose/openai. */
res ai_ping(task *t, uint64_t *ret_ms) MUST_USE;

#endif
