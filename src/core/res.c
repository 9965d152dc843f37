/* res.c -- what each result means to whoever called us: one row per code, at the code's index.
 *
 * "Retryable" is said to the client and to our own callers alike: the same request, unchanged, may well
 * succeed later. A spent memory budget is not: the same request would spend it again.
 *
 * SPDX-License-Identifier: MIT */
#include "core/res.h"

#define ROW(code, http_status, name, retryable, text) [code] = {code, http_status, name, retryable, text}

/* clang-format off */
static const res_info rows[RES_COUNT] = {
    /*  code                 status name                   retry  text */
    ROW(RES_OK,              200, "ok",                  false, "Done."),
    ROW(RES_INVALID,         400, "invalid",             false, "The request is not valid."),
    ROW(RES_UNAUTHENTICATED, 401, "unauthenticated",     false, "Valid credentials are needed."),
    ROW(RES_DENIED,          403, "denied",              false, "This is not allowed."),
    ROW(RES_NOT_FOUND,       404, "not_found",           false, "There is no such thing."),
    ROW(RES_METHOD,          405, "method_not_allowed",  false, "This method is not allowed here."),
    ROW(RES_CONFLICT,        409, "conflict",            false, "It exists already or was changed."),
    ROW(RES_PRECONDITION,    412, "precondition_failed", false, "It is not in the expected version."),
    ROW(RES_TOO_LARGE,       413, "too_large",           false, "It is larger than allowed."),
    ROW(RES_UNSUPPORTED,     415, "unsupported",         false, "This media type is not supported."),
    ROW(RES_THROTTLED,       429, "throttled",           true,  "Too many requests; try again later."),
    ROW(RES_GONE,            499, "gone",                false, "The client closed the connection."),
    ROW(RES_TIMEOUT,         504, "timeout",             true,  "It took too long."),
    ROW(RES_UNREACHABLE,     502, "unreachable",         true,  "A service behind this is unreachable."),
    ROW(RES_UPSTREAM,        502, "upstream",            true,  "A service behind this failed."),
    ROW(RES_UNAVAILABLE,     503, "unavailable",         true,  "Not available now; try again later."),
    ROW(RES_UNPROVISIONED,   503, "unprovisioned",       true,  "The storage is not set up yet."),
    ROW(RES_MEMORY,          503, "out_of_memory",       false, "The request needs too much memory."),
    ROW(RES_CONFIG,          500, "config",              false, "A setting is missing or wrong."),
    ROW(RES_INTERNAL,        500, "internal",            false, "Something went wrong here."),
};
/* clang-format on */

const res_info *res_get(res code)
{
    /* A code may come from arithmetic or from outside: what is no index reads as a fault of ours. */
    return (unsigned)code < RES_COUNT ? &rows[code] : &rows[RES_INTERNAL];
}
