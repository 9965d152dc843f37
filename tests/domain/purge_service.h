/* purge_service.h -- of test_actions_purge.c: a scripted table and blob service with forty rows, two of which
 * may be purged, and four blobs of history.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_PURGE_SERVICE_H
#define TRESTLE_TESTS_PURGE_SERVICE_H

#include <stdio.h>

#include "domain/actions_rows.h"

#define OLD "2020-01-02T03:04:05.678Z"

typedef enum { AS_IT_SHOULD, CHANGED, NO_BLOBS, NO_DELETES } mood;

typedef struct {
    mood     how;
    unsigned deletes, batches, puts;
    char     page[32 * 1024], blobs[4096], answer[512];
} service;

#define EMPTY_LIST                                                                                        \
    "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n<?xml version=\"1.0\" " \
    "encoding=\"utf-8\"?><EnumerationResults><Blobs>"
#define ONE_ROW                                                                                          \
    "{\"odata.etag\":\"W/\\\"1\\\"\",\"PartitionKey\":\"o\",\"RowKey\":\"n%u\",\"LastSyncedUtc\":\"" OLD \
    "\",\"PayloadHash\":\"" ROWS_HASH                                                                    \
    "\",\"PayloadJson\":\"{\\\"name\\\":\\\"n\\\",\\\"owner\\\":\\\"o\\\"%s}\"}"
#define ARCHIVED_TEXT ",\\\"repoInfo\\\":{\\\"archived\\\":true}"
#define CHANGESET(text)                                                                                      \
    "HTTP/1.1 202 Accepted\r\nContent-Type: multipart/mixed; boundary=b\r\nConnection: close\r\n\r\n--b\r\n" \
    "Content-Type: multipart/mixed; boundary=c\r\n\r\n" text "--c--\r\n--b--\r\n"
#define PART(text) \
    "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" text "\r\n"
#define GONE_PART PART("HTTP/1.1 204 No Content\r\n\r\n")
#define CHANGED_PART                                                                                   \
    PART("HTTP/1.1 412 Precondition Failed\r\nContent-Type: application/json\r\n\r\n"                  \
         "{\"odata.error\":{\"code\":\"UpdateConditionNotSatisfied\",\"message\":{\"lang\":\"en-US\"," \
         "\"value\":\"0:The update condition specified in the request was not satisfied.\"}}}")

/* Two of forty are archived: n0 and n1. */
static void fill_page(service *s)
{
    int len = snprintf(s->page, sizeof s->page, "%s", ROWS_JSON("", "{\"value\":["));
    for (unsigned i = 0; i < 40; i++)
        len += snprintf(s->page + len, sizeof s->page - (size_t)len, "%s" ONE_ROW, i > 0 ? "," : "", i,
                        i < 2 ? ARCHIVED_TEXT : "");
    (void)snprintf(s->page + len, sizeof s->page - (size_t)len, "]}");
}

/* Four blobs, of which the second is young, and of the third nothing is known. */
static void fill_blobs(service *s)
{
    static const char *const dates[] = {"Wed, 01 Jan 2020 00:00:00", "Tue, 01 Jan 2999 00:00:00", "No day",
                                        "Wed, 01 Jan 2020 00:00:00"};
    int                      len = snprintf(s->blobs, sizeof s->blobs, "%s", EMPTY_LIST);
    for (int i = 0; i < 4; i++)
        len += snprintf(s->blobs + len, sizeof s->blobs - (size_t)len,
                        "<Blob><Name>o/n/%d</Name><Properties><Last-Modified>%s GMT</Last-Modified>"
                        "<Etag>0x1</Etag><Content-Length>1</Content-Length><BlobType>BlockBlob</BlobType>"
                        "</Properties></Blob>",
                        i, dates[i]);
    (void)snprintf(s->blobs + len, sizeof s->blobs - (size_t)len,
                   "</Blobs><NextMarker /></EnumerationResults>");
}

static void answer_write(service *s, const wire_request *r, wire_answer *ret)
{
    if (str_starts(r->head, STR("DELETE"))) {
        s->deletes++;
        ret->bytes = "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    } else if (str_starts(r->head, STR("PUT"))) {
        s->puts++;
        ret->bytes =
            s->how == NO_BLOBS
                ? "HTTP/1.1 403 Forbidden\r\nx-ms-error-code: AuthorizationFailure\r\nConnection: "
                  "close\r\nContent-Length: 0\r\n\r\n"
                : "HTTP/1.1 201 Created\r\nETag: \"0x1\"\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 "
                  "GMT\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    } else if (s->how == NO_DELETES) {
        s->batches++;
        ret->bytes = ROWS_FAILURE("403", "AuthorizationFailure");
    } else {
        bool first = s->batches++ == 0;
        ret->bytes = s->how == CHANGED && first ? CHANGESET(CHANGED_PART)
                     : s->how == CHANGED        ? CHANGESET(GONE_PART)
                                                : CHANGESET(GONE_PART GONE_PART);
    }
}

static void answer(void *ctx, const wire_request *r, wire_answer *ret)
{
    service *s = ctx;
    str      line = str_slice(r->head, 0, str_find_char(r->head, '\r'));
    ret->then = WIRE_CLOSE;
    if (!str_starts(line, STR("GET")))
        answer_write(s, r, ret);
    else if (str_has(line, STR("comp=list")))
        ret->bytes = s->blobs;
    else if (str_has(line, STR("filter")))
        ret->bytes = s->page;
    else if (rows_asks_cache(r))
        ret->bytes = ROWS_FAILURE("404", "ResourceNotFound");
    else {
        (void)snprintf(s->answer, sizeof s->answer, "%s" ONE_ROW, ROWS_JSON("ETag: W/\"1\"\r\n", ""),
                       str_has(line, STR("n1")) ? 1u : 0u, ARCHIVED_TEXT);
        ret->bytes = s->answer;
    }
}

#endif
