/* credential.c -- see credential.h.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/credential.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"

static bool lite_wanted(void)
{
    return str_eq(str_of(getenv("TRESTLE_STORAGE_SHARED_KEY_LITE")), STR("1"));
}

bool credential_init(credential *c, arena *a, azure_service service, const conn_string *conn)
{
    *c = (credential){
        .tables = service == AZURE_TABLES, .account = conn->account, .key = conn->key, .sas = conn->sas};
    /* The main defence is that no message is made of these; this is the second one. */
    if (conn->key_text.len > 0)
        log_add_secret(conn->key_text);
    if (conn->sas.len > 0)
        log_add_secret(conn->sas);

    identity id = {.resource =
                       conn->cosmos ? STR("https://cosmos.azure.com") : STR("https://storage.azure.com"),
                   .workload = conn->workload,
                   .managed = conn->managed,
                   .client_id = conn->client_id,
                   .resource_id = conn->resource_id};
    switch (conn->kind) {
    case CONN_KEY:
        c->kind =
            c->tables && conn->tls && lite_wanted() ? CREDENTIAL_SHARED_KEY_LITE : CREDENTIAL_SHARED_KEY;
        return true;
    case CONN_SAS:
        c->kind = CREDENTIAL_SAS;
        return true;
    case CONN_IDENTITY:
        break;
    }
    c->kind = CREDENTIAL_BEARER;
    return token_init(&c->token, a, &id);
}

static str signed_value(arena *a, const credential *c, str scheme, str text)
{
    buf b;
    buf_init(&b, a, SIZE_MAX);
    if (buf_reserve(&b, 128) == NULL)
        return (str){0}; /* never in a task */
    (void)buf_add(&b, scheme);
    (void)buf_add(&b, c->account);
    (void)buf_add_char(&b, ':');
    (void)buf_add(&b, sign_text(a, c->key, text));
    return buf_str(&b);
}

res credential_authorize(task *t, credential *c, const sign_request *q, str *ret, unsigned *ret_version)
{
    arena *a = t->arena;
    switch (c->kind) {
    case CREDENTIAL_SHARED_KEY:
        *ret =
            signed_value(a, c, STR("SharedKey "), c->tables ? sign_tables_text(a, q) : sign_blob_text(a, q));
        return RES_OK;
    case CREDENTIAL_SHARED_KEY_LITE:
        *ret = signed_value(a, c, STR("SharedKeyLite "), sign_tables_lite_text(a, q));
        return RES_OK;
    case CREDENTIAL_SAS:
        *ret = (str){0};
        return RES_OK;
    case CREDENTIAL_BEARER:
        break;
    }
    return token_get(t, &c->token, ret, ret_version);
}

bool credential_refused(credential *c, unsigned version)
{
    if (c->kind != CREDENTIAL_BEARER)
        return false;
    token_refused(&c->token, version);
    return true;
}
