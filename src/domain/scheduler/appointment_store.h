/* appointment_store.h -- what reading, writing and listing of appointments share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_STORE_H
#define TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_STORE_H

#include "domain/scheduler/appointment_index.h"

void appointment_fill(arena *a, str group, const entity *row, const json_val *doc, str etag,
                      appointment *ret);
/* RES_NOT_FOUND: no document; RES_UPSTREAM: one that is damaged. */
res  appointment_document(task *t, str group, str id, const json_val **ret, str *ret_etag) MUST_USE;
/* Rows and document as they are, with nothing mended. */
res  appointment_open(task *t, str group, str id, bool with_deleted, index_rows *ret_rows,
                      appointment *ret) MUST_USE;

#endif
