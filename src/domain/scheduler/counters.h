/* counters.h -- how often things happened: by day for all, and AI calls by person, day and model
 * (specification §2.5 to §2.8).
 *
 * Every count is exact: read, add, replace with If-Match, until it fits. A count that fails all the same is
 * logged and lost; it never fails the call that it belongs to.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_COUNTERS_H
#define TRESTLE_DOMAIN_SCHEDULER_COUNTERS_H

#include "runtime/task.h"

typedef enum {
    COUNT_NEW_USERS,
    COUNT_NEW_GROUPS,
    COUNT_NEW_APPOINTMENTS,
    COUNT_INVITES_SENT,
    COUNT_INVITES_ACCEPTED,
    COUNT_KINDS
} count_kind;

void count_daily(task *t, count_kind kind, int n);

typedef struct {
    int64_t  of[COUNT_KINDS];
    unsigned days; /* that have a row */
} month_counts;
res month_read(task *t, str month, month_counts *ret) MUST_USE; /* RES_NOT_FOUND: not a row */

/* One AI call: three rows. failed: an error; else a call with its tokens. */
typedef struct {
    str     user_key, model;
    bool    failed;
    int64_t tokens_in, tokens_out;
} usage;
void usage_record(task *t, const usage *u);

typedef struct {
    int64_t calls, tokens_in, tokens_out, errors;
} usage_counts;
res usage_today_of(task *t, str user_key, usage_counts *ret) MUST_USE; /* RES_NOT_FOUND: none */
res usage_today(task *t, usage_counts *ret) MUST_USE;                  /* of all; RES_NOT_FOUND: none */

/* The last AI error of this process, for /api/usage. */
void usage_note_error(str text);
str  usage_last_error(int64_t *ret_at_us); /* empty: none */

#endif
