/* queues_rig.h -- what the tests of azure/queues.c share: a scripted server as the queue service, and steps
 * that run in a task against it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_QUEUES_RIG_H
#define TRESTLE_TESTS_QUEUES_RIG_H

#include "storage/azure/azure_ops.h"
#include "support/scratch.h"
#include "unit/runtime/fetch_rig.h"

/* Answers: without a body; a failure with its code; a list. The latter two end with their connection. */
#define QUEUES_EMPTY(status, lines) \
    "HTTP/1.1 " status " X\r\nContent-Length: 0\r\nConnection: close\r\n" lines "\r\n"
#define QUEUES_FAILURE(status, code)                                                       \
    "HTTP/1.1 " status                                                                     \
    " X\r\nConnection: close\r\n\r\n\xEF\xBB\xBF<?xml version=\"1.0\"?><Error><Code>" code \
    "</Code><Message>Sorry.\nRequestId:1</Message></Error>"
#define QUEUES_XML(body) \
    "HTTP/1.1 200 X\r\nConnection: close\r\n\r\n\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>" body
#define QUEUES_LIST(messages)  QUEUES_XML("<QueueMessagesList>" messages "</QueueMessagesList>")
#define QUEUES_MESSAGE(fields) "<QueueMessage>" fields "</QueueMessage>"

#define QUEUES_ENDS(text)                   \
    {                                       \
        .bytes = (text), .then = WIRE_CLOSE \
    }
#define QUEUES_LOST        \
    {                      \
        .then = WIRE_RESET \
    }

typedef struct {
    wire           *w;
    azure_endpoint *e;
    const void     *row; /* of the test's table */
    res             result;
    const char     *message; /* of the step */
} queues_rig;

/* The server, and an endpoint "http://127.0.0.1:PORT/acct" with a key. */
queues_rig queues_rig_start(const wire_answer *answers, size_t count);
queues_rig queues_rig_start_fn(wire_fn *fn, void *ctx);

/* fn gets the rig as its ctx; what it returns is in r->result and what it said in r->message. */
res queues_rig_run(queues_rig *r, task_fn *fn);

/* The request's first line, as "GET /acct/q HTTP/1.1", and its body. */
const char *queues_rig_line(queues_rig *r, size_t i);
const char *queues_rig_body(queues_rig *r, size_t i);

TCase *queues_cases_faults(void);
TCase *queues_cases_open(void);

#endif
