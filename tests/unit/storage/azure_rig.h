/* azure_rig.h -- what the tests of azure_call and of tokens share: a scripted server as a storage account,
 * calls to it in a loop of their own, and answers that outlive them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_AZURE_RIG_H
#define TRESTLE_TESTS_AZURE_RIG_H

#include "storage/azure/endpoint.h"
#include "support/scratch.h"
#include "unit/runtime/fetch_rig.h"

#define RIG_KEY "c2VjcmV0LWtleS1vZi10aGUtdGVzdA==" /* "secret-key-of-the-test" */

/* An answer without body, with further header lines (each ended by \r\n). */
#define RIG_STATUS(status, lines) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n" lines "\r\n"

typedef struct {
    res         result;
    res         means; /* azure_result of an answer that came */
    int         status;
    unsigned    tries;
    bool        doubtful;
    const char *code, *text, *body; /* in scratch() */
    const char *message;            /* of the task */
    uint64_t    took_us;
} azure_got;

/* Tables of the account "acct", path-style, with a key. */
azure_endpoint *azure_rig_endpoint(wire *w, azure_service service);
azure_endpoint *azure_rig_connect(azure_service service, const char *connection);

azure_got azure_rig_call(azure_endpoint *e, azure_request in,
                         uint64_t deadline_ms); /* in a loop of its own */
azure_got azure_rig_call_in(task *t, azure_endpoint *e, const azure_request *in);

/* The value of a header of the i-th request; NULL: it has none. */
const char *azure_rig_header(wire *w, size_t i, const char *name);

TCase *azure_cases_faults(void);
TCase *azure_cases_error(void);

#endif
