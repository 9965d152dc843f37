/* services.h -- what the blob and the queue service have in common beyond azure_call.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_SERVICES_H
#define TRESTLE_STORAGE_AZURE_SERVICES_H

#include "core/buf.h"
#include "storage/azure/azure.h"
#include "storage/azure/xml.h"
#include "storage/backend.h"

enum { SERVICES_LIST_MAX = 32 * MIB }; /* bytes of a list: 5000 blobs with long names and then some */

/* azure_call, and azure_result of what it answered. */
res services_call(task *t, azure_endpoint *e, const azure_request *in, azure_answer *ret) MUST_USE;

/* Deletes a blob or message. One that is not there any more although an earlier try may
 * have been carried out was deleted by that (spec 8.4). */
res services_delete(task *t, azure_endpoint *e, const azure_request *in) MUST_USE;
/* The same for a container or queue as such: its absence is RES_NOT_FOUND. */
res services_drop(task *t, azure_endpoint *e, const azure_request *in) MUST_USE;

/* The containers or queues of an account: `element` is "Container" or "Queue". */
res  services_list(task *t, azure_endpoint *e, const char *operation, const char *element, str prefix,
                   unsigned most, str position, name_page *ret) MUST_USE;
/* "&prefix=…&maxresults=…&marker=…", of each what is there. */
void services_add_page(buf *query, arena *a, str prefix, unsigned most, str position);

str     services_header(const azure_answer *got, const char *name);
int64_t services_date_us(str http_date); /* 0 when it is none */

/* Makes place for one more after `len` objects of which `cap` fit, in the arena of a task. */
void *services_grow(arena *a, void *at, size_t len, size_t *cap, size_t each_bytes);

/* A conditional write whose second try was refused, perhaps because of the first: RES_UPSTREAM. */
res services_cannot_be_told(task *t, const azure_request *in);
/* An answer that is not what the service promises: RES_UPSTREAM. */
res services_nonsense(task *t, const azure_request *in, const char *why);

#endif
