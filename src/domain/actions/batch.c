/* batch.c -- POST /api/ActionsUpsert/batch: the handler and its answer (specification §10).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/batch.h"

#include "core/log.h"
#include "domain/actions.h"
#include "domain/actions/problem.h"
#include "domain/actions/settings.h"

/* clang-format off */
static const char *const status_names[BATCH_STATUSES] = {
    [BATCH_PENDING] = "pending",       [BATCH_CREATED] = "created",       [BATCH_UPDATED] = "updated",
    [BATCH_UNCHANGED] = "unchanged",   [BATCH_SUPERSEDED] = "superseded", [BATCH_INVALID] = "invalid",
    [BATCH_CONFLICT] = "conflict",     [BATCH_FAILED] = "failed",         [BATCH_ABORTED] = "aborted",
};
/* clang-format on */

static bool is_stored(batch_status s)
{
    return s == BATCH_CREATED || s == BATCH_UPDATED || s == BATCH_UNCHANGED;
}

static bool succeeded(const batch *b, const batch_item *it)
{
    return is_stored(it->status == BATCH_SUPERSEDED ? b->items[it->winner].status : it->status);
}

/* ---- one record ---- */

/* The details of a failure are those of the peer's words then. */
static upsert_error error_of(task *t, const batch_item *it)
{
    if (it->status == BATCH_INVALID)
        return problem_of_record(t->arena, &it->problem);
    if (it->status == BATCH_ABORTED)
        return (upsert_error){.code = "PERSISTENCE_FAILED",
                              .message = STR("Not written, because another record of its owner was not.")};
    task_set_peer(t, it->said.status, str_of(it->said.code), str_of(it->said.message));
    upsert_error e =
        problem_of_upsert(t, it->status == BATCH_CONFLICT ? RES_CONFLICT : it->why, it->needed_bytes);
    if (it->why == RES_INVALID)
        e.code = "CONSTRAINT_VIOLATION";
    return e;
}

static bool is_retryable(const batch_item *it)
{
    return it->status == BATCH_CONFLICT || it->status == BATCH_ABORTED ||
           (it->status == BATCH_FAILED && res_get(it->why)->retryable);
}

static void add_error(task *t, json *out, const batch_item *it)
{
    upsert_error e = error_of(t, it);
    json        *error = json_set_object(out, "error");
    json_set_str(error, "errorCode", str_of(e.code));
    json_set_str(error, "message", e.message);
    json_set_json(error, "details", e.details);
    json_set_bool(error, "retryable", is_retryable(it));
}

static str action_of(arena *a, const batch_item *it)
{
    if (it->status == BATCH_INVALID)
        return STR("unknown");
    return arena_strf(a, "%.*s/%.*s", STR_ARG(it->r.owner), STR_ARG(it->r.name));
}

static void add_result(task *t, json *list, const batch *b, size_t i)
{
    const batch_item *it = &b->items[i];
    json             *out = json_push_object(list);
    json_set_int(out, "index", (int64_t)i);
    json_set_bool(out, "success", succeeded(b, it));
    json_set_str(out, "action", action_of(t->arena, it));
    json_set_str(out, "status", str_of(status_names[it->status]));
    json_set_bool(out, "updated", it->status == BATCH_CREATED || it->status == BATCH_UPDATED);
    json_set_bool(out, "created", it->status == BATCH_CREATED);
    if (it->status != BATCH_INVALID) {
        json_set_str(out, "owner", it->r.owner);
        json_set_str(out, "name", it->r.name);
    }
    if (is_stored(it->status))
        json_set_str(out, "lastSyncedUtc", it->synced);
    else if (it->status == BATCH_SUPERSEDED)
        json_set_int(out, "supersededBy", (int64_t)it->winner);
    else
        add_error(t, out, it);
}

/* ---- all of them ---- */

typedef struct {
    size_t of[BATCH_STATUSES], succeeded;
} tally;

static tally count(const batch *b)
{
    tally n = {0};
    for (size_t i = 0; i < b->count; i++) {
        n.of[b->items[i].status]++;
        n.succeeded += succeeded(b, &b->items[i]);
    }
    return n;
}

static int status_of(const batch *b, const tally *n)
{
    if (n->succeeded == b->count)
        return 200;
    if (n->succeeded > 0)
        return 207;
    return n->of[BATCH_FAILED] + n->of[BATCH_CONFLICT] > 0 ? 500 : 400;
}

static res answer(task *t, const request *in, reply *out, const batch *b)
{
    tally n = count(b);
    json *body = json_object(t->arena);
    json_set_int(body, "total", (int64_t)b->count);
    for (int s = BATCH_CREATED; s < BATCH_STATUSES; s++)
        json_set_int(body, status_names[s], (int64_t)n.of[s]);
    json_set_str(body, "correlationId", b->correlation);
    json *results = json_set_array(body, "results");
    for (size_t i = 0; i < b->count; i++)
        add_result(t, results, b, i);
    if (n.succeeded < b->count)
        log_warn("%zu of %zu records were not stored [correlationId %.*s]", b->count - n.succeeded, b->count,
                 STR_ARG(b->correlation));
    return answer_json(in, out, status_of(b, &n), NULL, body);
}

static res refuse(task *t, const request *in, reply *out, const batch_problem *why)
{
    upsert_error e = {.status = 400,
                      .code = "VALIDATION_FAILED",
                      .message = str_of(why->message),
                      .details = json_object(t->arena)};
    json_set_int(e.details, "max", BATCH_MAX);
    json_set_int(e.details, "received", (int64_t)why->received);
    return answer_upsert_error(t, in, out, &e);
}

static res run_group(task *t, size_t i, void *ctx)
{
    batch *b = ctx;
    return batch_run_group(t, b, &b->groups[i]);
}

res actions_upsert_batch(task *t, const request *in, reply *out)
{
    batch         b = {.a = t->arena, .strict = str_eq_nocase(request_query(in, "strict"), STR("true"))};
    batch_problem why = {0};

    if (answer_options(in, out, "POST,OPTIONS"))
        return RES_OK;
    res r = batch_read(t, request_body(in), &b, &why);
    if (r == RES_INVALID)
        return refuse(t, in, out, &why);
    TRY(r);
    b.correlation = answer_correlation_id(t->arena);
    TRY(par_each(t, b.group_count, settings_get()->batch_parallel, run_group, &b));
    return answer(t, in, out, &b);
}
