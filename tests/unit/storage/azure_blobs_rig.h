/* azure_blobs_rig.h -- what the tests of azure/blobs*.c share: a scripted server as the blob service, and
 * steps that run in a task against it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_AZURE_BLOBS_RIG_H
#define TRESTLE_TESTS_AZURE_BLOBS_RIG_H

#include "storage/azure/azure_ops.h"
#include "unit/runtime/fetch_rig.h"

#define BLOBS_NAME "dir/b c/\xC3\xBC.txt"
#define BLOBS_PATH "/acct/con/dir/b%20c/%C3%BC.txt"
#define BLOBS_ETAG "\"0x1D6F\""
#define BLOBS_DATE "Wed, 18 Nov 2026 05:20:43 GMT"
enum { BLOBS_DATE_S = 1794979243 };

/* Answers, which all say that their connection ends: one that closed unsaid may still be taken for the next
 * request, whose reply is then lost. A head alone; bytes with their length; a failure with its code in XML,
 * and in the header alone. */
#define BLOBS_HEAD(status, lines) \
    "HTTP/1.1 " status " X\r\nContent-Length: 0\r\nConnection: close\r\n" lines "\r\n"
#define BLOBS_WRITTEN BLOBS_HEAD("201", "ETag: " BLOBS_ETAG "\r\nLast-Modified: " BLOBS_DATE "\r\n")
#define BLOBS_BYTES(status, lines, length, body)                                                    \
    "HTTP/1.1 " status " X\r\nETag: " BLOBS_ETAG "\r\nConnection: close\r\nContent-Length: " length \
    "\r\n" lines "\r\n" body
#define BLOBS_FAILURE(status, code)                                                        \
    "HTTP/1.1 " status                                                                     \
    " X\r\nConnection: close\r\n\r\n\xEF\xBB\xBF<?xml version=\"1.0\"?><Error><Code>" code \
    "</Code><Message>Sorry.\nRequestId:1</Message></Error>"
#define BLOBS_REFUSED(status, code) BLOBS_HEAD(status, "x-ms-error-code: " code "\r\n")
#define BLOBS_XML(body)             "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" body

/* One that ends with its connection, and a reply that is lost. */
#define BLOBS_ENDS(text)                    \
    {                                       \
        .bytes = (text), .then = WIRE_CLOSE \
    }
#define BLOBS_LOST         \
    {                      \
        .then = WIRE_RESET \
    }

typedef struct {
    wire           *w;
    azure_endpoint *e;
    arena          *a;   /* of the endpoint and of what a step leaves */
    const void     *row; /* of the test's table */
    char            got[64];
    size_t          got_len; /* of a stream */
    res             result;
    const char     *message; /* of the step */
} blobs_rig;

/* Makes the server and an endpoint "http://127.0.0.1:PORT/acct" with a key. */
blobs_rig blobs_rig_start(const wire_answer *answers, size_t count);
blobs_rig blobs_rig_start_fn(wire_fn *fn, void *ctx);
void      blobs_rig_stop(blobs_rig *r);

/* fn gets the rig as its ctx; what it returns is in r->result and what it said in r->message. */
res blobs_rig_run(blobs_rig *r, task_fn *fn);

/* Of the i-th request: its first line, as "GET /acct/con HTTP/1.1", and its body, in r->a. */
const char *blobs_rig_line(blobs_rig *r, size_t i);
const char *blobs_rig_body(blobs_rig *r, size_t i);
/* Lines that must be in its head, and words that must not; each list ends with NULL or after `most`. */
void blobs_rig_check(blobs_rig *r, size_t i, const char *const *has, const char *const *lacks, size_t most);

TCase *azure_blobs_cases_read(void);
TCase *azure_blobs_cases_append(void);
TCase *azure_blobs_cases_list(void);
TCase *azure_blobs_cases_faults(void);

#define BLOBS_LOOP(c, test, rows) tcase_add_loop_test((c), (test), 0, (int)(sizeof(rows) / sizeof *(rows)))

#endif
