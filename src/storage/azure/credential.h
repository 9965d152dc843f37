/* credential.h -- how a request proves who sends it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_CREDENTIAL_H
#define TRESTLE_STORAGE_AZURE_CREDENTIAL_H

#include "storage/azure/conn_string.h"
#include "storage/azure/sign.h"
#include "storage/azure/token.h"

typedef enum {
    CREDENTIAL_SHARED_KEY,
    CREDENTIAL_SHARED_KEY_LITE, /* tables over TLS: covers neither method nor content type (spec 2.3) */
    CREDENTIAL_SAS,             /* nothing is signed; the query of every URL ends with it */
    CREDENTIAL_BEARER,
} credential_kind;

typedef struct {
    credential_kind kind;
    bool            tables;
    str             account;
    str             key; /* decoded */
    str             sas; /* without '?' */
    token_cache     token;
} credential;

/* For the connection of an endpoint; TRESTLE_STORAGE_SHARED_KEY_LITE=1 asks for the lite form. False: no
 * memory. */
bool credential_init(credential *c, arena *a, azure_service service, const conn_string *conn) MUST_USE;

/* The value of Authorization; empty for a SAS. May wait for a token. *ret_version is for
 * credential_refused. */
res  credential_authorize(task *t, credential *c, const sign_request *q, str *ret,
                          unsigned *ret_version) MUST_USE;
/* The service did not accept it (401). True: another one may be had. */
bool credential_refused(credential *c, unsigned version) MUST_USE;

#endif
