/* sched_model.h -- a scripted OpenAI-compatible server.
 *
 *     model_on();
 *     model_says("{\"kind\":\"reply\",\"message\":\"hello\"}");
 *     … calls of the functions; the n-th question gets the n-th answer, the last one repeats …
 *     model_off();
 *
 * To be called before the first call of the functions: settings are read once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_MODEL_H
#define TRESTLE_TESTS_SCHED_MODEL_H

#include "support/wire.h"

#define MODEL_KEY   "sk-very-secret-key-0815"
#define MODEL_NAME  "test-model"
#define MODEL_IN    11 /* tokens of each good answer */
#define MODEL_OUT   7
#define MODEL_OP_ID "op-1"

void model_on(void); /* sets OPENAI_BASE_URL, _API_KEY and _MODEL */
void model_off(void);

/* What is asked next gets these, one after the other. */
void model_says(const char *content); /* a good answer of that content */
void model_sends(wire_answer answer); /* bytes as they are */
void model_status(int status);        /* no more than that */
void model_body(const char *body);    /* 200 with that body */
void model_forget(void);              /* the answers so far */

size_t model_asked(void);        /* questions so far */
str    model_question(size_t i); /* body of the i-th, 0 is the first */
wire  *model_wire(void);

#endif
