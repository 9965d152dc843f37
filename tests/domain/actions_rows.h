/* actions_rows.h -- rows of the catalogue as tests put them into the table, and as a scripted service tells
 * of them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_ACTIONS_ROWS_H
#define TRESTLE_TESTS_ACTIONS_ROWS_H

#include "domain/rig.h"

#define ROWS_HASH   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ROWS_SYNCED "2026-01-02T03:04:05.678Z"

/* A row with all five columns; members are those of the payload behind owner and name, with a comma before
 * them: ",\"verified\":true". */
void rows_put(task *t, const char *owner, const char *name, const char *members);
void rows_put_synced(task *t, const char *owner, const char *name, const char *synced);
/* Keys and payload as they are given; no Owner, no Name. */
void rows_put_raw(task *t, const char *partition, const char *row, const char *payload);
void rows_put_cache(task *t, const char *text); /* the row of aggregates, replaced */
str  rows_cache(task *t);                       /* its text; empty: none */

/* The answers of a scripted table service. */
#define ROWS_JSON(lines, body) \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n" lines "\r\n" body
#define ROWS_NEXT(partition, row) \
    "x-ms-continuation-NextPartitionKey: " partition "\r\nx-ms-continuation-NextRowKey: " row "\r\n"
#define ROWS_FAILURE(status, code)                                                         \
    "HTTP/1.1 " status " X\r\nConnection: close\r\n\r\n{\"odata.error\":{\"code\":\"" code \
    "\",\"message\":{\"lang\":\"en-US\",\"value\":\"Sorry.\"}}}"

/* {"PartitionKey":"o",…}: one row of a page, from `first` on `count` of them with commas between. */
const char *rows_page(const char *owner, unsigned first, unsigned count, size_t payload_bytes);
/* For the row of aggregates, and not for the rows of a query that leaves it out. */
bool        rows_asks_cache(const wire_request *r);

#endif
