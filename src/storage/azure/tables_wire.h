/* tables_wire.h -- what single writes, batches and queries of the table service share. Private to azure/.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_TABLES_WIRE_H
#define TRESTLE_STORAGE_AZURE_TABLES_WIRE_H

#include "core/buf.h"
#include "storage/azure/azure_ops.h"

/* Headers that every request has; constants, because most requests have nothing else. */
#define TABLES_READS                                                           \
    {                                                                          \
        STR_INIT("Accept"), STR_INIT("application/json;odata=minimalmetadata") \
    }
#define TABLES_WRITES                                                     \
    {                                                                     \
        STR_INIT("Accept"), STR_INIT("application/json;odata=nometadata") \
    }
#define TABLES_VERSION                                  \
    {                                                   \
        STR_INIT("DataServiceVersion"), STR_INIT("3.0") \
    }
#define TABLES_JSON                                            \
    {                                                          \
        STR_INIT("Content-Type"), STR_INIT("application/json") \
    }
#define TABLES_QUIETLY                                    \
    {                                                     \
        STR_INIT("Prefer"), STR_INIT("return-no-content") \
    }

/* An entity is at most 1 MiB in UTF-16 (Cosmos: 2), of which JSON makes up to three times as much. */
enum { TABLES_ENTITY_ANSWER_MAX = 8 * 1024 * 1024 };

/* What a number may take beyond its least. */
enum { TABLES_NUMBER_BYTES = 30 };

/* "/Tab(PartitionKey='o%27%27b',RowKey='r')", in this order and encoded once (spec 3.3, 4.1): these bytes are
 * sent and signed. */
void tables_add_entity_path(buf *out, str name, str partition, str row);
str  tables_entity_path(arena *a, str name, str partition, str row);

/* "$select=PartitionKey,RowKey,Timestamp,a,b"; nothing for NULL. */
void tables_add_select(buf *out, const char *const *select);

/* How a kind of write is said in HTTP; the same alone and in a batch. */
enum { TABLES_WRITE_HEADERS_MAX = 6 };
typedef struct {
    const char *operation;
    str         method;
    bool        into_table; /* the path is the table's; else the entity's */
    bool        has_body;
    http_header headers[TABLES_WRITE_HEADERS_MAX];
    size_t      header_count;
} tables_write_form;
tables_write_form tables_form_of(const azure_endpoint *e, const table_write *w);

/* Whether an answer to a write that may have been carried out before (azure_answer.doubtful) may be the
 * answer to its own repetition (spec 8.4). */
bool tables_may_be_own_echo(int status, str code);
/* Then: RES_OK and the ETag when the entity carries the operation's value, so that it was this write;
 * RES_CONFLICT when it carries another; RES_UPSTREAM when that cannot be told. */
res  tables_settle(azure_endpoint *e, task *t, str name, const table_write *w, str *ret_etag) MUST_USE;

/* The operations that have files of their own. */
res azure_tables_commit(void *self, task *t, str name, const table_write *writes, size_t count,
                        size_t *ret_failed) MUST_USE;
res azure_tables_query(void *self, task *t, str name, const table_query *q, entity_page *ret) MUST_USE;
res azure_tables_list(void *self, task *t, str prefix, unsigned most, str from, name_page *ret) MUST_USE;

#endif
