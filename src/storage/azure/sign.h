/* sign.h -- what is signed, byte for byte (spec 2.2 to 2.7), and its signature.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_SIGN_H
#define TRESTLE_STORAGE_AZURE_SIGN_H

#include "core/arena.h"
#include "runtime/http_header.h"

/* One request as it goes on the wire. */
typedef struct {
    str                account;
    str                method;
    str                path;    /* percent-encoded, with the account in it where the endpoint is path-style */
    str                query;   /* percent-encoded, without '?' */
    const http_header *headers; /* all that are sent; x-ms-date is among them */
    size_t             header_count;
    size_t             body_bytes;
} sign_request;

/* The texts. In a task these never fail; elsewhere an empty str means that memory ran out. */
str sign_tables_text(arena *a, const sign_request *q);
str sign_tables_lite_text(arena *a, const sign_request *q);
str sign_blob_text(arena *a, const sign_request *q); /* queues too */

/* base64(HMAC-SHA-256(key, text)); the key is the decoded one. */
str sign_text(arena *a, str key, str text);

/* Of an account SAS (spec 2.7). From version 2020-12-06 on there is a line for the encryption scope. */
typedef struct {
    str permissions, services, resource_types, start, expiry, ip, protocols, version;
} sign_account_sas;
str sign_account_sas_text(arena *a, str account, const sign_account_sas *s);

#endif
