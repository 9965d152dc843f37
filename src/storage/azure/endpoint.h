/* endpoint.h -- the inside of an azure_endpoint, for the files that make calls.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_AZURE_ENDPOINT_H
#define TRESTLE_STORAGE_AZURE_ENDPOINT_H

#include "core/iso8601.h"
#include "storage/azure/breaker.h"
#include "storage/azure/credential.h"

struct azure_endpoint {
    azure_service service;
    conn_string   conn;
    credential    cred;
    str           version; /* x-ms-version */
    str           accept;  /* where a request has none of its own */
    breaker       breaker;
    int64_t       clock_offset_us; /* what the service's clock is ahead of ours (spec 8.3) */
    int64_t       date_s;          /* the second that `date` is the text of */
    char          date[HTTP_DATE_SIZE];
};

/* x-ms-date of a request that is sent now; valid until the next second's. */
str azure_endpoint_date(azure_endpoint *e);

#endif
