/* bulk_window.h -- what `trestle import` has read and not yet sent: a bounded number of records, by owner.
 *
 * One owner is one transaction of the server, so records of an owner go into the same batch where they meet
 * in the window. The owner whose record has waited longest comes first, so that nothing waits for ever. Two
 * records of one key are never under way in two batches: the later one must win.
 *
 * Owners and keys are told apart by their hashes alone; two that meet in one hash wait for each other, and
 * nothing worse.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_APP_BULK_WINDOW_H
#define TRESTLE_APP_BULK_WINDOW_H

#include "core/str.h"

enum { BULK_WINDOW_RECORDS = 4096, BULK_WINDOW_BYTES = 32 * MIB };

typedef struct bulk_record bulk_record;
struct bulk_record {
    bulk_record *next, *next_away; /* the window's */
    uint64_t     number;           /* in all inputs together; 1 is the first */
    uint64_t     line;             /* in its input */
    uint64_t     owner, key;       /* hashes */
    unsigned     input;            /* which */
    unsigned     tries;
    size_t       len;
    char         text[];
};

bulk_record *bulk_record_new(str text) MUST_USE; /* NULL: no memory */
void         bulk_record_free(bulk_record *r);
str          bulk_record_text(const bulk_record *r);
/* Sets the hashes, from texts as the caller wrote them: blanks around them and case do not count. */
void         bulk_record_sort(bulk_record *r, str owner, str name);

typedef struct bulk_window bulk_window;

bulk_window *bulk_window_new(void) MUST_USE;   /* NULL: no memory */
void         bulk_window_free(bulk_window *w); /* with the records that wait; accepts NULL */

void   bulk_window_add(bulk_window *w, bulk_record *r); /* takes it */
size_t bulk_window_count(const bulk_window *w);         /* that wait */
bool   bulk_window_is_full(const bulk_window *w);

/* The next batch, in input order for each owner; 0: none may go now. They are the caller's until each is
 * given back, by _again or _gone. */
size_t bulk_window_take(bulk_window *w, bulk_record **ret, size_t most, size_t most_bytes) MUST_USE;
void   bulk_window_again(bulk_window *w,
                         bulk_record *r); /* it must be sent again, before others of its owner */
void   bulk_window_gone(bulk_window *w, bulk_record *r); /* frees it */

#endif
