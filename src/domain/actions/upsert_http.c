/* upsert_http.c -- POST /api/ActionsUpsert: one record (specification §4, §8).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions.h"
#include "domain/actions/problem.h"
#include "domain/actions/settings.h"
#include "domain/actions/upsert.h"

static res refuse(task *t, const request *in, reply *out, const record_problem *why)
{
    upsert_error e = problem_of_record(t->arena, why);
    return answer_upsert_error(t, in, out, &e);
}

static res failed(task *t, const request *in, reply *out, res code, size_t needed_bytes)
{
    if (code == RES_MEMORY || task_stopped(t) != RES_OK)
        return code; /* the runtime knows what to do */
    upsert_error e = problem_of_upsert(t, code, needed_bytes);
    return answer_upsert_error(t, in, out, &e);
}

static res succeeded(task *t, const request *in, reply *out, const record *r, const upsert_result *done)
{
    json *body = json_object(t->arena);
    json_set_bool(body, "updated", done->kind != UPSERT_UNCHANGED);
    json_set_bool(body, "created", done->kind == UPSERT_CREATED);
    json_set_str(body, "owner", r->owner);
    json_set_str(body, "name", r->name);
    json_set_str(body, "lastSyncedUtc", done->synced);
    return answer_json(in, out, done->kind == UPSERT_CREATED ? 201 : 200, NULL, body);
}

res actions_upsert(task *t, const request *in, reply *out)
{
    const actions_settings *s = settings_get();
    record                  r;
    record_problem          why = {0};
    upsert_result           done;

    if (answer_options(in, out, "POST,OPTIONS"))
        return RES_OK;
    res code = record_read(t, request_body(in), s->body_max, s->canon_timestamps, &r, &why);
    if (code == RES_INVALID || code == RES_TOO_LARGE)
        return refuse(t, in, out, &why);
    TRY(code);
    code = upsert_record(t, &r, &done);
    return code == RES_OK ? succeeded(t, in, out, &r, &done) : failed(t, in, out, code, done.needed_bytes);
}
