/* bulk_ledger.c -- see bulk_ledger.h. A ring, indexed by the record's number.
 *
 * SPDX-License-Identifier: MIT */
#include "app/bulk_ledger.h"

#include <assert.h>
#include <stdlib.h>

bulk_ledger *bulk_ledger_new(const bulk_place *from)
{
    bulk_ledger *l = calloc(1, sizeof *l);
    if (l != NULL) {
        l->reached = *from;
        l->newest = from->records;
    }
    return l;
}

void bulk_ledger_free(bulk_ledger *l)
{
    free(l);
}

bool bulk_ledger_is_full(const bulk_ledger *l)
{
    return l->newest - l->reached.records == BULK_LEDGER_RECORDS;
}

uint64_t bulk_ledger_add(bulk_ledger *l, const bulk_place *after)
{
    assert(!bulk_ledger_is_full(l));
    size_t i = ++l->newest % BULK_LEDGER_RECORDS;
    l->at[i] = *after;
    l->at[i].records = l->newest;
    l->settled[i] = false;
    return l->newest;
}

void bulk_ledger_settle(bulk_ledger *l, uint64_t number)
{
    assert(number > l->reached.records && number <= l->newest);
    l->settled[number % BULK_LEDGER_RECORDS] = true;
    while (l->reached.records < l->newest && l->settled[(l->reached.records + 1) % BULK_LEDGER_RECORDS])
        l->reached = l->at[(l->reached.records + 1) % BULK_LEDGER_RECORDS];
}
