/* sched_service.h -- a storage account in memory behind the scripted server: it keeps rows and blobs as a
 * real one would, counts what it is asked for, and fails when a test says so.
 *
 * What it was asked is kept as lines: "CREATE Groups", "INSERT Groups", "GET Groups", "QUERY UserGroups",
 * "REPLACE Groups", "DELETE Groups", "BLOB GET", "BLOB PUT"; tables without the test's prefix.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_SCHED_SERVICE_H
#define TRESTLE_TESTS_SCHED_SERVICE_H

#include "domain/rig.h"

void sched_service_run(rig_fn *body, int i);

/* How many lines begin so; "" counts all. _forget begins anew. */
size_t sched_service_count(const char *line);
void   sched_service_forget(void);

/* The next `times` requests whose line begins so get `answer` instead, and nothing comes of them. */
void sched_service_fail(const char *line, const char *answer, unsigned times);
/* Pages of queries have at most so many rows, whatever is asked for; 0: as asked. */
void sched_service_page(unsigned rows);

#define SCHED_SERVICE_FAILS(status, code)                                                             \
    "HTTP/1.1 " status " X\r\nContent-Type: application/json\r\nretry-after-ms: 1\r\nConnection: "    \
    "close\r\n\r\n{\"odata.error\":{\"code\":\"" code "\",\"message\":{\"lang\":\"en-US\",\"value\":" \
    "\"Sorry.\"}}}"
#define SCHED_SERVICE_BUSY    SCHED_SERVICE_FAILS("503", "ServerBusy")
#define SCHED_SERVICE_REFUSED SCHED_SERVICE_FAILS("403", "AuthorizationFailure")
#define SCHED_SERVICE_RACED   SCHED_SERVICE_FAILS("412", "UpdateConditionNotSatisfied")
#define SCHED_SERVICE_NONSENSE \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"value\":7}"

#endif
