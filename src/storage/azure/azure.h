/* azure.h -- one signed, retried, counted call to a storage service; Tables, Blobs and Queues stand on it.
 *
 * azure_call is the whole policy of spec §8: sign anew for each try (one x-ms-client-request-id for all),
 * retry what can be retried with full jitter, honour Retry-After, never go past the task's deadline, correct
 * a skewed clock once, renew a refused token once, and let the endpoint's circuit breaker refuse at once when
 * it has been failing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_AZURE_H
#define TRESTLE_STORAGE_AZURE_AZURE_H

#include "runtime/fetch.h"
#include "runtime/task.h"

typedef enum { AZURE_TABLES, AZURE_BLOBS, AZURE_QUEUES } azure_service;

/* One service of one account: endpoint, credential, clock offset, breaker. Lives as long as the process. */
typedef struct azure_endpoint azure_endpoint;

/* From a connection string, or the name of a setting's group (NAME__accountName, …). RES_CONFIG with one
 * line that names the key that is wrong, and never its value. */
res azure_endpoint_new(arena *a, azure_service service, str connection, azure_endpoint **ret,
                       str *ret_error) MUST_USE;
str azure_endpoint_url(
    const azure_endpoint *e); /* "http://127.0.0.1:10002/devstoreaccount1", no slash at the end */
bool azure_endpoint_is_cosmos(const azure_endpoint *e);

typedef struct {
    const char        *operation; /* for metrics and messages: "tables_get"; static */
    str                method;
    str                path;  /* percent-encoded, behind the endpoint: "/Tab(PartitionKey='a',RowKey='b')" */
    str                query; /* percent-encoded, without '?': "comp=list&prefix=a%2F"; may be empty */
    const http_header *headers; /* Accept, Content-Type, If-Match, x-ms-…; not date, version, authorization */
    size_t             header_count;
    str                body;
    size_t             answer_max; /* 0: 1 MiB */
    uint64_t           try_ms;     /* of one try; 0: 10,000 */
    bool
        once; /* never sent twice, unless it was refused before it was looked at: a retry would do it twice */
} azure_request;

typedef struct {
    fetch_answer http;
    str      code; /* of a failure: "EntityAlreadyExists"; from JSON, XML or x-ms-error-code; may be empty */
    str      message; /* its first line */
    unsigned tries;
    bool     doubtful; /* an earlier try may have been carried out although its answer was lost */
} azure_answer;

/* RES_OK: an answer came, whatever its status, and it is not one that more tries would better. Anything else
 * is final, with its context in the message. */
res azure_call(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret) MUST_USE;
/* The same for an answer that is read in pieces (fetch_read); only the head is retried. An answer of 300 and
 * above has its body in ret->http (up to 64 KiB), and *ret_stream is NULL. try_ms is the time for all of it;
 * 0: 10 minutes. */
res azure_call_stream(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret,
                      fetch_stream **ret_stream) MUST_USE;

/* What a failing status means, by the table of codes in spec 3.6: with "OPERATION: 409 EntityAlreadyExists"
 * as the task's message. RES_OK below 300, and for 304. */
res azure_result(task *t, const azure_request *in, const azure_answer *got) MUST_USE;

/* Percent-encoded but for A-Z a-z 0-9 - _ . ~ and the bytes of `keep`. */
str azure_escape(arena *a, str text, const char *keep);

enum { AZURE_HEADERS_MAX = 96 };

#endif
