/* fetch_rig.h -- what the tests of fetch share: a loop around one task, and an answer that outlives it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_FETCH_RIG_H
#define TRESTLE_TESTS_FETCH_RIG_H

#include <check.h>

#include "runtime/fetch_internal.h"
#include "runtime/loop.h"
#include "support/wire.h"

#define RIG_OK(body_text, body_len_text) \
    "HTTP/1.1 200 OK\r\nContent-Length: " body_len_text "\r\n\r\n" body_text

typedef struct {
    res      result;
    int      status;
    char     body[8192];
    size_t   body_len;
    char     x_test[256]; /* the header X-Test; "" when there is none */
    size_t   header_count;
    bool     reused, retried;
    uint64_t took_us; /* by the test's own clock */
    char     message[1024];
} rig_got;

/* A loop, fn in a task (deadline_ms 0: none), everything closed again. */
res         rig_run(task_fn *fn, void *ctx, uint64_t deadline_ms);
const char *rig_message(void); /* of the latest rig_run */
task       *rig_task(void);    /* while rig_run runs */

rig_got rig_fetch(fetch_request in);                    /* one exchange in a loop of its own */
rig_got rig_fetch_in(task *t, const fetch_request *in); /* one exchange in a task that there is already */
rig_got rig_get(wire *w, const char *path);

/* Fixtures of every case: after each test as many descriptors are open as before. So tests stop their
 * servers. */
void rig_before(void);
void rig_after(void);

TCase *fetch_cases_stream(void);
TCase *fetch_cases_redirect(void);
TCase *fetch_cases_tls(void);
TCase *fetch_cases_faults(void);
TCase *fetch_cases_input(void);

#endif
