/* open.c -- an Azure account, or up to three of them, as a back end. Connects to nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/azure/azure_ops.h"

static const struct {
    azure_service service;
    const char   *name;
} services[] = {{AZURE_TABLES, "tables"}, {AZURE_BLOBS, "blobs"}, {AZURE_QUEUES, "queues"}};

enum { SERVICES = sizeof services / sizeof *services };

static res no_memory(str *ret_error)
{
    *ret_error = STR("no memory for the storage connection");
    return RES_MEMORY;
}

static res open_one(arena *a, size_t i, str connection, azure_endpoint **ret, str *ret_error)
{
    azure_endpoint *e;
    str             error;
    res             r = azure_endpoint_new(a, services[i].service, connection, &e, &error);
    if (r == RES_MEMORY)
        return no_memory(ret_error);
    if (r != RES_OK) {
        *ret_error = arena_strf(a, "connection for %s: %.*s", services[i].name, STR_ARG(error));
        return ret_error->at != NULL ? r : no_memory(ret_error);
    }
    str url = azure_endpoint_url(e);
    if (str_find_char(url, '@') < url.len) { /* a password may stand before it, and the URL is shown */
        *ret_error = arena_strf(a, "connection for %s: the endpoint names a user", services[i].name);
        return ret_error->at != NULL ? RES_CONFIG : no_memory(ret_error);
    }
    *ret = e;
    return RES_OK;
}

res azure_open(arena *a, str tables, str blobs, str queues, backend *ret, str *ret_error)
{
    const str       connections[SERVICES] = {tables, blobs, queues};
    azure_endpoint *opened[SERVICES] = {NULL, NULL, NULL};
    str             shown = {0};
    for (size_t i = 0; i < SERVICES; i++) {
        if (connections[i].len == 0)
            continue;
        TRY(open_one(a, i, connections[i], &opened[i], ret_error));
        if (shown.len == 0)
            shown = azure_endpoint_url(opened[i]);
    }
    if (shown.len == 0) {
        *ret_error = STR("there is no connection for any storage service");
        return RES_CONFIG;
    }
    backend b = {.tables = opened[0] != NULL ? &azure_tables : NULL,
                 .blobs = opened[1] != NULL ? &azure_blobs : NULL,
                 .queues = opened[2] != NULL ? &azure_queues : NULL,
                 .tables_self = opened[0],
                 .blobs_self = opened[1],
                 .queues_self = opened[2],
                 .describe = arena_strf(a, "azure: %.*s", STR_ARG(shown)),
                 .tables_url = opened[0] != NULL ? azure_endpoint_url(opened[0]) : STR("")};
    if (b.describe.at == NULL)
        return no_memory(ret_error);
    *ret = b;
    return RES_OK;
}
