/* conn_string.h -- what a connection string, or a group of identity settings, says about one service.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_CONN_STRING_H
#define TRESTLE_STORAGE_AZURE_CONN_STRING_H

#include "storage/azure/azure.h"

typedef enum { CONN_KEY, CONN_SAS, CONN_IDENTITY } conn_kind;

typedef struct {
    conn_kind kind;
    str       url;  /* "https://host:port/path", no slash at the end; terminated */
    str       host; /* in url, without the port */
    str       path; /* in url; empty, or "/devstoreaccount1" */
    bool      tls, cosmos;
    bool      short_idle; /* an emulator: closes what has been idle for a few seconds (spec 8.5) */
    str       account;
    str       key_text;  /* CONN_KEY: base64; only so that the log can black it out */
    str       key;       /* … decoded */
    str       sas;       /* CONN_SAS: without '?' */
    bool      workload;  /* CONN_IDENTITY: workload identity may be used */
    bool      managed;   /* … and a managed identity */
    str       client_id; /* of a user-assigned one; may be empty, as is the next */
    str       resource_id;
} conn_string;

/* All of *ret is copied to `a`. RES_CONFIG with one line in *ret_error that names the key that is wrong and
 * never its value; RES_MEMORY. Text without '=' is the name of a group: NAME__accountName, … are looked up in
 * the environment. */
res conn_string_parse(arena *a, azure_service service, str text, conn_string *ret, str *ret_error) MUST_USE;

#endif
