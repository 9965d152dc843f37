/* scan.c -- every record of the table, one after another.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/row.h"
#include "domain/actions/settings.h"

typedef struct {
    row_fn *fn;
    void   *ctx;
} scan;

/* The filter has left the row of aggregates out already where the store does as it is told; one that does not
 * must not make it a record. */
static res pass_on(task *t, const entity *e, void *ctx)
{
    const scan *s = ctx;
    return str_eq(e->partition, STR(ROW_STATS_PARTITION)) ? RES_OK : s->fn(t, e, s->ctx);
}

res row_each(task *t, str partition, row_fn *fn, void *ctx)
{
    scan        s = {.fn = fn, .ctx = ctx};
    table_query q = {.where = partition.len > 0 ? filter_str(t->arena, "PartitionKey", FILTER_EQ, partition)
                                                : filter_str(t->arena, "PartitionKey", FILTER_NE,
                                                             STR(ROW_STATS_PARTITION))};
    return tables_each(t, settings_get()->records, &q, pass_on, &s);
}
