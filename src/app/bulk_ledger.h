/* bulk_ledger.h -- which records are settled, and so up to where the input is: batches end in any order, but
 * a next run can only go on from one place.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_LEDGER_H
#define TRESTLE_APP_BULK_LEDGER_H

#include "core/json_cut.h"

enum { BULK_LEDGER_RECORDS = 32768 }; /* between the first that is not settled and the newest */

typedef struct {
    unsigned       input;      /* which of the inputs */
    json_cut_place at;         /* in it, unpacked */
    uint64_t       records;    /* of all inputs, up to here */
    uint64_t       done_bytes; /* of all inputs as they lie on disk: for the bar */
} bulk_place;

typedef struct {
    bulk_place at[BULK_LEDGER_RECORDS];
    bool       settled[BULK_LEDGER_RECORDS];
    bulk_place reached; /* everything before it is settled */
    uint64_t   newest;  /* number of the record that was added last */
} bulk_ledger;

bulk_ledger *bulk_ledger_new(const bulk_place *from) MUST_USE; /* NULL: no memory */
void         bulk_ledger_free(bulk_ledger *l);                 /* accepts NULL */
bool         bulk_ledger_is_full(const bulk_ledger *l);
/* The next record, which ends at `after` (whose `records` is set here). Returns its number. */
uint64_t     bulk_ledger_add(bulk_ledger *l, const bulk_place *after);
void         bulk_ledger_settle(bulk_ledger *l, uint64_t number);

#endif
