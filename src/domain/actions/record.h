/* record.h -- a record as a caller sent it, checked, keyed and in canonical form (specification §3 to §6).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_RECORD_H
#define TRESTLE_DOMAIN_ACTIONS_RECORD_H

#include "core/hash.h"
#include "runtime/task.h"

enum { RECORD_DEPTH_MAX = 64, RECORD_KEY_UNITS_MAX = 512 };

typedef struct {
    str  owner, name;          /* trimmed, in their own case */
    str  partition, row;       /* the keys: lower case */
    str  canonical;            /* what is stored, and what the hash is of */
    char hash[SHA256_HEX + 1]; /* lower-case hexadecimal */
} record;

/* What is wrong with it. field and reason are for `details`; empty when the message says it all. */
typedef struct {
    int    status;  /* 400 or 413 */
    str    message; /* "Missing required field: owner" */
    str    field, reason;
    size_t max_bytes, actual_bytes; /* 413 */
} record_problem;

/* RES_INVALID or RES_TOO_LARGE with *why filled; or the reason why the task was stopped. Large texts are
 * worked on in a thread. All views live in t's arena. */
res record_read(task *t, str text, size_t max_bytes, bool timestamps, record *ret,
                record_problem *why) MUST_USE;

/* The same, where nothing may wait: for small texts and for tests. */
res record_read_now(arena *a, str text, size_t max_bytes, bool timestamps, record *ret,
                    record_problem *why) MUST_USE;

/* "  Acme\t" -> "acme": JavaScript's trim() and simple lower case; for keys in URLs too. *ret lives in a. */
str record_trim(str text);
str record_key(arena *a, str text);

#endif
