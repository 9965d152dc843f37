/* tables_rig.h -- what the tests of azure/tables*.c and azure/batch.c share: a scripted server as the table
 * service, and steps that run in a task against it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_TABLES_RIG_H
#define TRESTLE_TESTS_TABLES_RIG_H

#include "storage/azure/azure_ops.h"
#include "unit/runtime/fetch_rig.h"

#define RIG_ETAG "W/\"datetime'2026-11-18T05%3A20%3A43.7001453Z'\""

/* Answers: without a body; with one that is JSON; a failure with its code. */
#define RIG_EMPTY(status, lines) \
    "HTTP/1.1 " status " X\r\nContent-Length: 0\r\nConnection: close\r\n" lines "\r\n"
#define RIG_FAILURE(status, code)                                                          \
    "HTTP/1.1 " status " X\r\nConnection: close\r\n\r\n{\"odata.error\":{\"code\":\"" code \
    "\",\"message\":{\"lang\":\"en-US\",\"value\":\"Sorry.\\nRequestId:1\"}}}"
#define RIG_JSON(lines, body) "HTTP/1.1 200 OK\r\nConnection: close\r\n" lines "\r\n" body

/* One that ends with its connection (RIG_FAILURE, RIG_JSON), and a reply that is lost. */
#define RIG_ENDS(text)                      \
    {                                       \
        .bytes = (text), .then = WIRE_CLOSE \
    }
#define RIG_LOST           \
    {                      \
        .then = WIRE_RESET \
    }

typedef struct {
    wire           *w;
    azure_endpoint *e;
    arena          *a;   /* of the endpoint and of what a step leaves */
    const void     *row; /* of the test's table */
    res             result;
    const char     *message; /* of the step */
} tables_rig;

/* tables_rig_start makes the server and an endpoint "http://127.0.0.1:PORT/acct" with a key. */
tables_rig tables_rig_start(const wire_answer *answers, size_t count);
tables_rig tables_rig_start_fn(wire_fn *fn, void *ctx);
void       tables_rig_stop(tables_rig *r);

/* fn gets the rig as its ctx; what it returns is in r->result and what it said in r->message. */
res tables_rig_run(tables_rig *r, task_fn *fn);

/* The request's first line, as "GET /acct/Tab() HTTP/1.1", in r->a. */
const char *tables_rig_line(tables_rig *r, size_t i);
const char *tables_rig_body(tables_rig *r, size_t i);

azure_endpoint *tables_rig_endpoint(arena *a, const char *connection);

TCase *tables_cases_query(void);
TCase *tables_cases_faults(void);

#endif
