/* call.h -- one call of the scheduler's API, step by step, each of which may end it (specification §0).
 *
 *     res sched_group_meta(task *t, const request *in, reply *out)
 *     {
 *         call       c;
 *         membership m;
 *         if (!call_begin(&c, t, in, out, TRACE_SERVER, NULL))
 *             return c.result;
 *         str group = call_query(&c, "groupId");
 *         if (group.len == 0)
 *             return call_refuse(&c, 400, "groupId_required", NULL, "groupId is required");
 *         if (!call_session(&c) || !gate_pass(&c, group, ADMIT_ACTIVE, &m))
 *             return c.result;
 *         …
 *         return call_answer(&c, 200, body);
 *     }
 *
 * A step that says false has answered already, or failed: the handler returns c.result.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_CALL_H
#define TRESTLE_DOMAIN_SCHEDULER_CALL_H

#include "domain/auth.h"

typedef struct call call;
struct call {
    task           *t;
    arena          *a; /* t's */
    const request  *in;
    reply          *out;
    str             trace;  /* traceId of the answer */
    const json_val *body;   /* an object, or NULL: no body was expected, or a member is absent from it */
    auth_user       who;    /* after call_session */
    res             result; /* what the handler returns once a step has said false */
    void (*dress)(call *c, json *body); /* adds what an endpoint puts into each answer; NULL: nothing */
};

typedef enum {
    TRACE_CLIENT, /* body's or query's traceId, if it is a text, else a new one */
    TRACE_SERVER  /* always a new one */
} call_trace;

/* How an endpoint words a body that is no JSON object. NULL stands for bad_request, BAD_JSON. */
typedef struct {
    const char *error, *code;
} call_bad_json;

/* Reads the body of POST and PUT. */
bool call_begin(call *c, task *t, const request *in, reply *out, call_trace trace, const call_bad_json *bad);
/* For a body that is no JSON: it is left alone, and cannot fail. */
void call_begin_bytes(call *c, task *t, const request *in, reply *out, call_trace trace);

/* Trimmed; empty when absent or of another type. */
str  call_text(const call *c, const char *member);
bool call_flag(const call *c, const char *member, bool otherwise);
str  call_query(const call *c, const char *name);
str  call_collapsed(const call *c, const char *member); /* each run of blanks is one */
bool call_is_uuid4(str id);

/* Sets c->who: 401 without a session that is valid. With_grace false: a guest's is 403. */
bool call_session(call *c);
bool call_full_session(call *c); /* organisers' calls, and those without a group: no guest's */

/* {ok:false,error,code?,message,traceId}; returns RES_OK, for the handler to return. The message is for
 * people and never tells whether an address is known. */
res call_refuse(call *c, int status, const char *error, const char *code, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
/* The same with members of one's own: those of *body, which may be NULL. */
res call_refuse_with(call *c, int status, const char *error, const char *code, str message, json *body);
res call_config_missing(call *c, const char *const *names, size_t count); /* 500, sorted */

/* What a storage call returned, in a step's way: true for RES_OK; else it has answered (500 INTERNAL_ERROR)
 * or c->result is the reason why the task was stopped. Logs the message. */
bool call_went(call *c, res r);

/* traceId is added. */
res   call_answer(call *c, int status, json *body);
json *call_ok(call *c); /* {"ok":true} to go on with */

/* Now: "2026-01-02T03:04:05.678Z"; its first 10 and 7 characters are the day's and the month's key. */
str call_now(arena *a);

#endif
