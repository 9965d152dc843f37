/* appointment_index.h -- the rows of AppointmentsIndex (specification §2.4).
 *
 * A row is a copy of what lists need of a document; it is behind the document or equal to it, never ahead.
 * Beside the columns of §2.4 it has `code` ("APPT-3") and `codeNo` (3), so that codes are found and counted
 * without reading documents; rows of other writers may lack both.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_INDEX_H
#define TRESTLE_DOMAIN_SCHEDULER_APPOINTMENT_INDEX_H

#include "domain/scheduler/appointments.h"

enum { DOCUMENTS_AT_ONCE = 16, DOCUMENT_MAX = 1 * MIB };

/* One appointment's rows: one, or none; two only of an older writer. Newest change first. */
typedef struct {
    entity *at;
    size_t  len;
} index_rows;
res index_find(task *t, str group, str id, index_rows *ret) MUST_USE;

/* Brings the index up to this document: inserted, replaced in its place, or moved, with the surplus rows
 * deleted in the same transaction. A row that is newer than the document stays. rows: as found before. */
res index_put(task *t, str group, str id, const json_val *doc, index_rows rows, entity *ret) MUST_USE;

/* The row is of an older version than the document. */
bool index_is_behind(const entity *row, const json_val *doc);

/* "APPT-4", given to nobody else, ever (see the file). */
res index_next_code(task *t, str group, str *ret) MUST_USE;
/* Rows that have that number, or might: those without a code. */
res index_find_code(task *t, str group, int64_t number, index_rows *ret) MUST_USE;

/* "APPT-3", "appt 3", "Appt3": 3; else 0. */
int64_t code_number(str code);

#endif
