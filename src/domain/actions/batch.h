/* batch.h -- up to 100 records of one request (specification §10).
 *
 *     body -> batch_read: items, each with its record or its problem; duplicates superseded
 *          -> groups, one a partition: batch_run_group reads, writes, and settles each item's status
 *          -> batch.c answers, in the order of the request
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_BATCH_H
#define TRESTLE_DOMAIN_ACTIONS_BATCH_H

#include "domain/actions/upsert.h"

enum { BATCH_MAX = 100 };

typedef enum {
    BATCH_PENDING, /* nothing is decided yet; never in an answer */
    BATCH_CREATED,
    BATCH_UPDATED,
    BATCH_UNCHANGED,
    BATCH_SUPERSEDED,
    BATCH_INVALID,
    BATCH_CONFLICT,
    BATCH_FAILED,
    BATCH_ABORTED,
    BATCH_STATUSES
} batch_status;

typedef struct {
    str            text; /* as it stands in the body */
    record         r;    /* unless it is invalid */
    record_problem problem;
    str            partition; /* of an invalid one too, when its owner is any good; else empty */
    batch_status   status;
    size_t         winner; /* BATCH_SUPERSEDED: by which */
    str            synced;
    upsert_stored  seen; /* what a group knows of the row */
    /* Of BATCH_CONFLICT and BATCH_FAILED: */
    res            why;
    size_t         needed_bytes;
    task_peer      said;
} batch_item;

typedef struct {
    batch_item **of; /* by row */
    size_t       len;
    bool         spoiled; /* an invalid item has the same partition */
} batch_group;

typedef struct {
    arena       *a; /* of the request: what outlives a group's scope is made here */
    batch_item  *items;
    size_t       count;
    batch_group *groups;
    size_t       group_count;
    bool         strict; /* all of a partition or nothing */
    str          correlation;
} batch;

/* What is wrong with a request as a whole. */
typedef struct {
    const char *message;
    size_t      received; /* elements; 0 when it is no array */
} batch_problem;

/* RES_INVALID with *why: no JSON, no array, no elements or too many. ret->a is set already. */
res batch_read(task *t, str body, batch *ret, batch_problem *why) MUST_USE;

/* Settles all items of one group. What it returns otherwise than RES_OK ends the whole request. */
res batch_run_group(task *t, batch *b, batch_group *g) MUST_USE;

/* batch_commit.c: writes the pending items `of`, 1 to BATCH_MAX of one partition whose locks are held, and
 * settles them. */
res batch_commit(task *t, batch *b, batch_item *const *of, size_t len) MUST_USE;

/* One item whose lock is held, by itself: reads, writes, and settles it. */
res batch_write_single(task *t, batch *b, batch_item *it) MUST_USE;

/* Settling, for the files that do. */
void batch_fail(task *t, batch_item *it, batch_status status, res why);
void batch_unchanged(const batch *b, batch_item *it);
/* upsert_look in a scope of its own, into the item. A failure becomes the item's: the result is then RES_OK,
 * unless the whole request must end. */
res  batch_look(task *t, batch *b, batch_item *it) MUST_USE;
/* Failures that are the request's, not an item's: stopped, or out of memory. */
bool batch_is_over(task *t, res r);

#endif
