/* res.h -- what a call that can fail returns, and the table that says what each code means to a caller.
 *
 * Ask "which row?" before adding an `if`: HTTP status, name on the wire and whether a retry makes sense are
 * in res.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_CORE_RES_H
#define TRESTLE_CORE_RES_H

#include "core/str.h"

typedef enum {
    RES_OK = 0,
    /* expected: the caller decides */
    RES_INVALID,         /* the input is wrong; the message names the field or limit */
    RES_UNAUTHENTICATED, /* nobody, or not who they say */
    RES_DENIED,          /* known, but may not */
    RES_NOT_FOUND,
    RES_METHOD,       /* the route exists, this method does not */
    RES_CONFLICT,     /* exists already, or changed by another */
    RES_PRECONDITION, /* an ETag did not match */
    RES_TOO_LARGE,
    RES_UNSUPPORTED, /* a media type or feature that we do not speak */
    RES_THROTTLED,
    /* operational: passed up with context */
    RES_GONE,          /* the client left; nobody reads the answer */
    RES_TIMEOUT,       /* the deadline of the task has passed */
    RES_UNREACHABLE,   /* nothing was sent, or the peer never answered */
    RES_UPSTREAM,      /* the peer answered, with a failure or nonsense */
    RES_UNAVAILABLE,   /* over a limit of ours, shutting down, or the circuit is open */
    RES_UNPROVISIONED, /* the table, container or queue itself is missing */
    RES_MEMORY,        /* the request's memory budget is spent */
    RES_CONFIG,        /* a setting is missing or wrong */
    RES_INTERNAL,      /* a fault of ours */
    RES_COUNT
} res;

typedef struct {
    res         code;
    int         http_status;
    const char *name; /* as on the wire: "not_found" */
    bool        retryable;
    const char *text; /* for people, when nothing better is known */
} res_info;

const res_info *res_get(res code); /* never NULL: an unknown code reads as RES_INTERNAL */

static inline const char *res_name(res code)
{
    return res_get(code)->name;
}

/* Passes a failure on. The only macro of ours that hides a return: for domain and storage code, where the
 * arena owns all. */
#define TRY(call)                 \
    do {                          \
        res try_result = (call);  \
        if (try_result != RES_OK) \
            return try_result;    \
    } while (0)

#endif
