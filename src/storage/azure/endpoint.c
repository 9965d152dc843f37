/* endpoint.c -- one service of one account; made once, then only its clock offset, token and breaker change.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/endpoint.h"

#include <stdio.h>

#include "core/clock.h"

enum { US_PER_S = 1000000 };

/* Tables speak an old version with keys, as the SDKs do; tokens need a newer one (spec 2.8, 3.1). */
static str version_of(azure_service service, conn_kind kind)
{
    if (service != AZURE_TABLES)
        return STR("2021-12-02");
    return kind == CONN_IDENTITY ? STR("2020-12-06") : STR("2019-02-02");
}

static metric *state_gauge(const azure_endpoint *e)
{
    char labels[512];
    (void)snprintf(labels, sizeof labels, "endpoint=\"%.*s\"", STR_ARG(e->conn.url));
    return metrics_gauge("trestle_storage_breaker_state", labels,
                         "Circuit breaker of a storage endpoint: 0 closed, 1 half open, 2 open");
}

res azure_endpoint_new(arena *a, azure_service service, str connection, azure_endpoint **ret, str *ret_error)
{
    azure_endpoint *e = arena_one(a, azure_endpoint);
    *ret_error = STR("no memory for the storage connection");
    if (e == NULL)
        return RES_MEMORY;
    res r = conn_string_parse(a, service, connection, &e->conn, ret_error);
    if (r != RES_OK)
        return r;
    if (!credential_init(&e->cred, a, service, &e->conn))
        return RES_MEMORY;
    e->service = service;
    e->version = version_of(service, e->conn.kind);
    e->accept = service == AZURE_TABLES ? STR("application/json;odata=nometadata") : STR("application/xml");
    e->breaker = BREAKER_INIT;
    e->breaker.gauge = state_gauge(e);
    e->date_s = INT64_MIN;
    *ret = e;
    *ret_error = (str){0};
    return RES_OK;
}

str azure_endpoint_url(const azure_endpoint *e)
{
    return e->conn.url;
}

bool azure_endpoint_is_cosmos(const azure_endpoint *e)
{
    return e->conn.cosmos;
}

str azure_endpoint_date(azure_endpoint *e)
{
    int64_t now_s = (clock_wall_us() + e->clock_offset_us) / US_PER_S;
    if (now_s != e->date_s) {
        (void)http_date_format(now_s * US_PER_S, e->date);
        e->date_s = now_s;
    }
    return (str){e->date, HTTP_DATE_SIZE - 1};
}

/* ---- URLs ---- */

static bool is_plain(unsigned char c, const char *keep)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return true;
    if (c == '-' || c == '_' || c == '.' || c == '~')
        return true;
    for (; *keep != '\0'; keep++)
        if (c == (unsigned char)*keep)
            return true;
    return false;
}

str azure_escape(arena *a, str text, const char *keep)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t            len = 0;
    for (size_t i = 0; i < text.len; i++)
        len += is_plain((unsigned char)text.at[i], keep) ? 1 : 3;
    char *out = arena_alloc(a, len + 1), *to = out;
    if (out == NULL)
        return (str){0};
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (is_plain(c, keep)) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = '\0';
    return (str){out, len};
}
