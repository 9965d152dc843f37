/* chat.h -- one message of a conversation, as the files of chat share it (specification §6.1, §6.2).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_CHAT_H
#define TRESTLE_DOMAIN_SCHEDULER_CHAT_H

#include "domain/scheduler/ai.h"
#include "domain/scheduler/call.h"
#include "domain/scheduler/chat_memory.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/planner.h"

typedef struct {
    call       *c;
    membership *m;
    str         group, message;
    chat_key    key;
    state       now; /* state.json */
    str         zone;
} chat;

/* Ends the call with {kind, text…, snapshot}; body holds what else is said, and may be NULL. */
res chat_reply(chat *x, str text, json *body);
res chat_error(call *c, int status, const char *error, const char *message);
/* What an AI call that failed means to the caller. */
res chat_ai_failed(chat *x, res r);

/* chat_prompt.c: what the model is told. Within OPENAI_MAX_CONTEXT_CHARS; names and ids, but no addresses. */
extern const char *const chat_system, *const chat_rules_system;
res chat_prompt(chat *x, str *ret) MUST_USE;

/* rules_mode.c: a call with ruleMode. _fits answers when what was sent is not fit, before anybody is asked.
 */
bool rules_mode_fits(call *c);
res  rules_mode(chat *x, str mode);

#endif
