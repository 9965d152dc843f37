/* facade_rig.h -- a back end that does next to nothing: it counts the calls, and notes what it was given.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_FACADE_RIG_H
#define TRESTLE_TESTS_FACADE_RIG_H

#include "storage/backend.h"
#include "unit/storage/storage_rig.h"

enum { FACADE_PAGES = 4, FACADE_PAGE_ROWS = 3 }; /* of every query; the second page is empty */

typedef struct {
    unsigned calls, blocks, at_once, at_once_most;
    size_t   bytes, puts;
    unsigned top;
    int      ttl_s;
    char     text[256]; /* the latest body, name or position */
    char     queue[80];
    char     upload[40];
    bool     slow, has_block[64];
    res      answer; /* of a commit, or of deleting a message */
} facade_seen;
extern facade_seen facade_saw;

/* Fixtures: the back end is STORE_MAIN's and has seen nothing. */
void facade_before(void);
void facade_after(void);

/* A table of calls, each with the answer that it must get: RES_OK, and it has reached the back end; or a
 * refusal with that word in its message, and it has not. */
typedef struct {
    task_fn    *fn;
    res         expected;
    const char *word;
} facade_trial;
void facade_try(const facade_trial *c);

#define FACADE_CALL(name, expression)   \
    static res name(task *t, void *ctx) \
    {                                   \
        (void)ctx;                      \
        return expression;              \
    }

str facade_repeat(task *t, char c, size_t n);

TCase *facade_cases_blobs(void);
TCase *facade_cases_queues(void);

#endif
