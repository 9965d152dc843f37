/* problem.c -- see problem.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/problem.h"

#include "domain/actions/row.h"

enum { AGAIN_SOON_S = 1, AGAIN_LATER_S = 5 };

static json *sizes(arena *a, size_t most, size_t actual)
{
    json *d = json_object(a);
    json_set_int(d, "maxSize", (int64_t)most);
    json_set_int(d, "actualSize", (int64_t)actual);
    return d;
}

upsert_error problem_of_record(arena *a, const record_problem *why)
{
    upsert_error e = {.status = why->status, .code = "VALIDATION_FAILED", .message = why->message};
    if (why->status == 413) {
        e.code = "CONSTRAINT_VIOLATION";
        e.details = sizes(a, why->max_bytes, why->actual_bytes);
    } else if (why->field.len > 0) {
        e.details = json_object(a);
        json_set_str(e.details, "field", why->field);
        json_set_str(e.details, "reason", why->reason);
    }
    return e;
}

/* Without a size it was not the row that is too large by itself: the store has refused it, or all of its
 * owner's records together. */
static upsert_error too_large(task *t, size_t needed_bytes)
{
    upsert_error e = {.status = 413, .code = "CONSTRAINT_VIOLATION"};
    if (needed_bytes > 0) {
        e.message = STR("The record is too large to be stored, even compressed.");
        e.details = sizes(t->arena, (size_t)ROW_PIECES_MAX * ENTITY_BINARY_MAX, needed_bytes);
    } else {
        e.message = STR("Too large to be stored in one operation.");
        e.details = answer_storage_details(t, RES_TOO_LARGE);
    }
    return e;
}

static json *raced(arena *a)
{
    json *d = json_object(a);
    json_set_str(d, "message", STR("The record was changed by other writers at each attempt."));
    json_set_str(d, "name", STR("ConflictError"));
    json_set_str(d, "code", STR("MAX_RETRIES_EXCEEDED"));
    return d;
}

upsert_error problem_of_upsert(task *t, res code, size_t needed_bytes)
{
    upsert_error e = {
        .status = 500, .code = "PERSISTENCE_FAILED", .message = STR("Failed to persist action record.")};
    if (code == RES_TOO_LARGE)
        return too_large(t, needed_bytes);
    if (code == RES_CONFLICT) {
        e.details = raced(t->arena);
        e.retry_after_s = AGAIN_SOON_S;
    } else {
        e.details = answer_storage_details(t, code);
        e.retry_after_s = res_get(code)->retryable ? AGAIN_LATER_S : 0;
    }
    return e;
}
