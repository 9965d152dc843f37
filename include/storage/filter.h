/* filter.h -- which rows a query wants: built from typed parts, so that no value can be taken for syntax.
 *
 *     const filter *f = filter_and(a, filter_str(a, "PartitionKey", FILTER_EQ, hunt),
 *                                     filter_int32(a, "points", FILTER_GT, 10));
 *
 * NULL is the filter that all rows pass; filter_and and filter_or accept it. A comparison with a property
 * that a row lacks, or has in another type, is false, for FILTER_NE too; filter_not of it is true (spec 4.2).
 * Azure takes at most 15 comparisons a filter: tables_query refuses more.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_FILTER_H
#define TRESTLE_STORAGE_FILTER_H

#include "storage/entity.h"

enum { FILTER_COMPARISONS_MAX = 15 };

typedef enum { FILTER_EQ, FILTER_NE, FILTER_GT, FILTER_GE, FILTER_LT, FILTER_LE } filter_op;

typedef enum { FILTER_COMPARE, FILTER_AND, FILTER_OR, FILTER_NOT } filter_kind;

/* Read by the back ends; made by the functions below alone. */
typedef struct filter filter;
struct filter {
    filter_kind   kind;
    filter_op     op;    /* FILTER_COMPARE */
    property      value; /* FILTER_COMPARE: name, type and value; PartitionKey, RowKey, Timestamp too */
    const filter *left, *right; /* FILTER_AND, FILTER_OR; FILTER_NOT: left alone */
    unsigned      comparisons;  /* in all of it */
    unsigned      depth;
};

/* Names are literals or as long-lived as the filter; texts are borrowed. */
const filter *filter_str(arena *a, const char *name, filter_op op, str value);
const filter *filter_int32(arena *a, const char *name, filter_op op, int32_t value);
const filter *filter_int64(arena *a, const char *name, filter_op op, int64_t value);
const filter *filter_double(arena *a, const char *name, filter_op op, double value);
const filter *filter_bool(arena *a, const char *name, filter_op op, bool value);
const filter *filter_ticks(arena *a, const char *name, filter_op op, edm_ticks value);
const filter *filter_guid(arena *a, const char *name, filter_op op, str value);
const filter *filter_binary(arena *a, const char *name, filter_op op, str value);

const filter *filter_and(arena *a, const filter *left, const filter *right);
const filter *filter_or(arena *a, const filter *left, const filter *right); /* NULL on a side: NULL */
const filter *filter_not(arena *a, const filter *f);                        /* f is not NULL */

/* Texts that begin so: name ge 'abc' and name lt 'abd'. The empty prefix gives NULL: all. */
const filter *filter_prefix(arena *a, const char *name, str prefix);

/* RES_INVALID with *ret_why: over FILTER_COMPARISONS_MAX, a bad name, text that is not UTF-8, a bad GUID, a
 * double that is not finite (it has no literal). What follows wants filters that have passed. */
res filter_check(arena *a, const filter *f, str *ret_why) MUST_USE;

/* As OData, e.g. (PartitionKey eq 'o''b') and (n gt 5L); not percent-encoded. Empty for NULL. */
str  filter_text(arena *a, const filter *f);
bool filter_matches(const filter *f, const entity *e);

/* What the filter says of keys: every row that passes has PartitionKey and RowKey in these ranges (it may say
 * more). For back ends that seek instead of reading all. */
typedef struct {
    str  from, to;      /* inclusive; `to` counts only with has_to */
    bool has_to, exact; /* exact: from == to */
} filter_range;
void filter_key_ranges(const filter *f, filter_range *ret_partition, filter_range *ret_row);

#endif
