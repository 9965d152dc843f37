/* answer.h -- what all answers of the catalogue have in common (specification §8, §12): CORS headers on every
 * one, two shapes of errors, OPTIONS.
 *
 *     if (answer_options(in, out, "GET,OPTIONS"))
 *         return RES_OK;
 *     …
 *     return answer_json(in, out, 200, "public, max-age=300", body);
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_ANSWER_H
#define TRESTLE_DOMAIN_ACTIONS_ANSWER_H

#include "core/json.h"
#include "runtime/http.h"

/* True: it was OPTIONS, and is answered 204 with Allow. Storage is not touched. */
bool answer_options(const request *in, reply *out, const char *allow);

/* For replies that are made by hand (reply_bytes, reply_stream): call it before. cache: the value of
 * Cache-Control, NULL for none (errors never have one). */
void answer_headers(const request *in, reply *out, const char *cache);

res answer_json(const request *in, reply *out, int status, const char *cache, const json *body);

/* {"error":message}: everything below `actions`. */
res answer_error(task *t, const request *in, reply *out, int status, const char *message);
/* The same for a failure of storage: logs what task_message says, as an error, then answers 500. */
res answer_failed(task *t, const request *in, reply *out, res code, const char *message);

/* {"errorCode","message","correlationId","details"?}: everything below `ActionsUpsert`. Logged with the
 * correlation id: VALIDATION_FAILED and CONSTRAINT_VIOLATION as a warning, the others as an error with
 * task_message. details may be NULL. */
typedef struct {
    int         status;
    const char *code; /* "VALIDATION_FAILED" */
    str         message;
    json       *details;
    unsigned    retry_after_s; /* 0: no such header */
} upsert_error;
res answer_upsert_error(task *t, const request *in, reply *out, const upsert_error *e);

/* {message, name, statusCode?, code?, errorDetails?} of a storage failure, for `details`. */
json *answer_storage_details(task *t, res code);

enum { CORRELATION_HEX = 32 };
str answer_correlation_id(arena *a); /* 32 random hexadecimal digits */

/* If-None-Match: a list, W/ before a tag, or *. etag has its quotes. */
bool answer_matches(str if_none_match, str etag);

#endif
