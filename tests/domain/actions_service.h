/* actions_service.h -- a table service that answers as the test says, for what real ones do too rarely.
 *
 * Each kind of request has its list of answers; the n-th request of a kind gets the n-th answer, and the last
 * one repeats. Some are made for the occasion:
 *
 *     SERVICE_DONE   the write is accepted; a transaction, with as many parts as it has writes
 *     SERVICE_OURS   the row as it was last sent (lookups alone)
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ACTIONS_SERVICE_H
#define TRESTLE_TESTS_ACTIONS_SERVICE_H

#include "domain/rig.h"

#define SERVICE_DONE "done"
#define SERVICE_OURS "ours"
#define SERVICE_LOST "lost" /* the connection is reset */

enum { SERVICE_ANSWERS_MAX = 12 };

/* Requests are counted: `look` a GET of an entity, `insert` and `replace` single writes, `commit` a
 * transaction, `blob` all that is about blobs. The row of counts is always missing, and never counted. */
typedef struct {
    const char *look[SERVICE_ANSWERS_MAX], *insert[SERVICE_ANSWERS_MAX], *replace[SERVICE_ANSWERS_MAX],
        *commit[SERVICE_ANSWERS_MAX], *blob[SERVICE_ANSWERS_MAX];
    const char *spared; /* requests that do not hold this text get SERVICE_DONE, or a row that is missing */
    unsigned    delay_ms;
} service_plan;

typedef struct {
    unsigned look, insert, replace, commit, blob, connections;
} service_counts;

/* Runs body with the service as the store. */
void           service_run(const service_plan *p, rig_fn *body, int i);
service_counts service_count(void);
void           service_again(void); /* the lists start anew, the counts at 0 */

/* ---- answers ---- */

#define SERVICE_FAILS(status, code, message)                                                               \
    "HTTP/1.1 " status " X\r\nContent-Type: application/json\r\nretry-after-ms: 1\r\nConnection: close"    \
    "\r\n\r\n{\"odata.error\":{\"code\":\"" code "\",\"message\":{\"lang\":\"en-US\",\"value\":\"" message \
    "\"}}}"
#define SERVICE_MISSING SERVICE_FAILS("404", "ResourceNotFound", "Not there.")
#define SERVICE_THERE   SERVICE_FAILS("409", "EntityAlreadyExists", "There already.")
#define SERVICE_RACED   SERVICE_FAILS("412", "UpdateConditionNotSatisfied", "Another one.")
#define SERVICE_BUSY    SERVICE_FAILS("503", "ServiceUnavailable", "Busy now.")

/* A transaction of which one write fails; the message begins with its index. */
#define SERVICE_PART_FAILS(status, code, message)                                                            \
    "HTTP/1.1 202 Accepted\r\nContent-Type: multipart/mixed; boundary=b\r\nConnection: close\r\n\r\n--b\r\n" \
    "Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: "                                 \
    "application/http\r\n\r\nHTTP/1.1 " status                                                               \
    " X\r\nContent-Type: application/json\r\n\r\n{\"odata.error\":{\"code\":\"" code                         \
    "\",\"message\":{\"lang\":\"en-US\",\"value\":\"" message "\"}}}\r\n--c--\r\n--b--\r\n"

/* A row of "o", "n" with that hash, time and tag. */
#define SERVICE_ROW(hash, synced, etag)                                                                 \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: " etag "\r\nConnection: close\r\n\r\n"  \
    "{\"PartitionKey\":\"o\",\"RowKey\":\"n\",\"PayloadJson\":\"{\\\"name\\\":\\\"n\\\",\\\"owner\\\":" \
    "\\\"o\\\"}\","                                                                                     \
    "\"PayloadHash\":\"" hash "\",\"LastSyncedUtc\":\"" synced "\"}"
#define SERVICE_OTHER SERVICE_ROW("00", "2026-01-01T00:00:00.000Z", "W/\"1\"")

#endif
