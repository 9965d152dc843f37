/* when.h -- when something is: words into times, and the form in which appointments hold them
 * (specification §3.1 TimeSpec, §6.5 grammar).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_WHEN_H
#define TRESTLE_DOMAIN_SCHEDULER_WHEN_H

#include "core/json.h"
#include "core/zone.h"

typedef enum { TIME_RESOLVED, TIME_PARTIAL, TIME_UNRESOLVED } time_status;

enum {
    MISSING_DATE = 1,
    MISSING_START = 2,
    MISSING_END = 4,
    MISSING_DURATION = 8,
    MISSING_TIMEZONE = 16,
    TIME_DURATION_MAX = 1440 /* minutes */
};

typedef enum { DURATION_UNSEEN, DURATION_AUTO, DURATION_CONFIRMED, DURATION_EDITED } time_acceptance;

typedef struct {
    time_status status;
    unsigned    missing;
    str         original;         /* what was said */
    int64_t     start_us, end_us; /* TIME_RESOLVED; the start also of a partial one that lacks but its length
                                     or end, else 0; JSON has neither then */
    str         zone;             /* of JSON: well-formed, but maybe not known here (zone_find) */
    bool        all_day;          /* whole days there; JSON does not say it, its reader sees it */
    bool        suggested;        /* durationSource */
    double      confidence;       /* of a suggested duration; 0: not said */
    str         assumption;       /* one line, or empty */

    /* What a document said beyond that, passed on as it was. */
    str             reason, inference; /* durationReason, inferenceVersion; may be empty */
    time_acceptance acceptance;        /* of a suggested duration */
    const json_val *assumptions;       /* texts; NULL: `assumption` is the only one */
    const json_val *evidence;          /* texts; NULL: none */
} when;

/* "next tuesday 9-10am", "Mar 5, 2026", "tomorrow at 5pm for 2 hours", "this weekend", … seen from now_us in
 * that zone. Never fails: what it cannot read is TIME_UNRESOLVED, missing date, as are more than 1,000
 * characters. No clock of the process is looked at. */
void when_parse(arena *a, str words, const zone *z, int64_t now_us, when *ret);
/* A clock time without a date ("at 5pm"): true, and its hour and minute. */
bool when_is_clock_only(str words, int *ret_hour, int *ret_minute);

/* From date, time of day and length as people give them: "2026-03-05", "10:30" or empty (the whole day), 1 to
 * 1440 or 0 (none said: partial, unless it is the whole day, which needs none). RES_INVALID: a date or time
 * that is none. */
res when_make(arena *a, str date, str start, int minutes, const zone *z, when *ret) MUST_USE;

/* What a document without a TimeSpec says of its time (§3.1): both ends, else its date, time of day and
 * length; else it is unresolved, missing date. Any of the texts may be empty or nonsense. */
typedef struct {
    str start, end;       /* ISO */
    str date, start_time; /* "2026-03-05", "10:30" */
    int minutes;          /* 0: none */
} when_parts;
void when_derive(arena *a, const when_parts *p, const zone *z, when *ret);

json *when_json(arena *a, const when *s);
/* RES_INVALID: not of §3.1's form (also a resolved one that ends before it starts). */
res   when_read(arena *a, const json_val *v, when *ret) MUST_USE;

bool when_is_whole_days(const zone *z, int64_t start_us, int64_t end_us); /* from midnight to midnight */

bool when_is_date(str text); /* "2026-02-28", of the calendar */
bool when_is_time(str text); /* "23:59" */

#endif
