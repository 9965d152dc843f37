/* history.h -- was there an order in which one register could have answered so?
 *
 * A history is a list of operations on one key, each with when it was called and when it returned (ticks of
 * one counter) and what came back. It is linearizable when the operations can be put in one order that keeps
 * those that did not overlap in theirs, and in which a plain variable would have given the same answers. The
 * search tries at each step every operation that may come next, and never enters the same place (operations
 * done, value held) twice.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_TESTS_HISTORY_H
#define TRESTLE_TESTS_HISTORY_H

#include "core/res.h"

enum { HISTORY_MAX = 64 };

typedef enum { HISTORY_READ, HISTORY_INSERT, HISTORY_REPLACE, HISTORY_REMOVE, HISTORY_UPSERT } history_kind;

/* Values are numbers above 0, each written once; 0: there is nothing. */
typedef struct {
    history_kind kind;
    unsigned     value;    /* written, or read */
    unsigned     expected; /* HISTORY_REPLACE, HISTORY_REMOVE: whose ETag was the condition */
    res          result;
    unsigned     called, returned;
} history_op;

bool history_is_linearizable(const history_op *ops, size_t count);
/* One line for each operation, in scratch(). */
str  history_text(const history_op *ops, size_t count);

#endif
