/* bulk_send.c -- a batch to ActionsUpsert/batch, and what its answer says about each record.
 *
 * A batch that is refused as a whole (400, 413) is sent in halves, down to the record that is to blame.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "app/bulk_run.h"

enum { ANSWER_MAX = 16 * MIB, RETRY_FIRST_MS = 200, RETRY_DOUBLINGS = 5, MESSAGE_SHOWN = 200 };

/* Records [from, from + len) of a batch. */
typedef struct {
    bulk_batch *b;
    size_t      from, len;
    bool        too_much; /* refused as a whole: fewer may pass */
} span;

static const struct {
    const char *status;
    bulk_kind   kind;
} settled_kinds[] = {
    {"created", BULK_CREATED},
    {"updated", BULK_UPDATED},
    {"unchanged", BULK_UNCHANGED},
    {"superseded", BULK_SUPERSEDED},
};

static str body_of(arena *a, const span *s)
{
    buf body;
    buf_init(&body, a, SIZE_MAX);
    for (size_t i = s->from; i < s->from + s->len; i++) {
        buf_add_char(&body, i == s->from ? '[' : ',');
        buf_add(&body, bulk_record_text(s->b->records[i]));
    }
    buf_add_char(&body, ']');
    return buf_str(&body);
}

/* What the server says of a record that it did not take. */
static json *error_of(arena *a, const json_val *result, str status)
{
    const json_val *said = json_get(result, "error");
    if (said == NULL)
        return bulk_failed_error(a, "NO_REASON", "the server says '%.*s' and not why", STR_ARG(status));
    json *v = json_object(a);
    for (json_iter it = json_each(said); json_next(&it);)
        json_set_val(v, arena_cstr(a, it.key), it.value);
    return v;
}

static res settle_one(task *t, bulk_batch *b, size_t i, const json_val *result, bool *ret_again)
{
    str status = json_text(json_get(result, "status"), (str){0});
    for (size_t k = 0; k < sizeof settled_kinds / sizeof *settled_kinds; k++) {
        if (str_eq(status, str_of(settled_kinds[k].status))) {
            bulk_batch_done(b, i, settled_kinds[k].kind);
            return RES_OK;
        }
    }
    bool retryable = json_truth(json_get(json_get(result, "error"), "retryable"), false);
    if (retryable && b->records[i]->tries + 1 < BULK_TRIES_MAX) {
        *ret_again = true;
        bulk_batch_again(b, i);
        return RES_OK;
    }
    return bulk_batch_failed(t, b, i, error_of(t->arena, result, status));
}

static res settle_all(task *t, const span *s, const json_val *results)
{
    bulk_run *run = s->b->run;
    bool      again = false;
    unsigned  tries = 0;
    for (size_t i = 0; i < s->len; i++) {
        unsigned before = s->b->records[s->from + i]->tries;
        bool     this_again = false;
        TRY(settle_one(t, s->b, s->from + i, json_at(results, i), &this_again));
        tries = this_again && before > tries ? before : tries;
        again = again || this_again;
    }
    /* What the store could not take just now gets a moment, so that the tries are not spent at once. */
    return again ? bulk_sleep(t, run,
                              (uint64_t)RETRY_FIRST_MS << (tries < RETRY_DOUBLINGS ? tries : RETRY_DOUBLINGS))
                 : RES_OK;
}

static str message_in(const bulk_answer *a)
{
    str text = json_text(json_get(a->json, "message"), (str){0});
    return str_slice(text.len > 0 ? text : json_text(json_get(a->json, "error"), (str){0}), 0, MESSAGE_SHOWN);
}

/* An answer without results: it is about the request as a whole. */
static res refused_whole(task *t, span *s, const bulk_answer *a)
{
    bulk_run *run = s->b->run;
    str       said = message_in(a);
    if ((a->status == 400 || a->status == 413) && s->len > 1) {
        s->too_much = true;
        return RES_OK;
    }
    if (a->status == 400 || a->status == 413) {
        const json_val *code = json_get(a->json, "errorCode");
        json *error = bulk_failed_error(t->arena, arena_cstr(t->arena, json_text(code, STR("REFUSED"))),
                                        "%d: %.*s", a->status, STR_ARG(said));
        return bulk_batch_failed(t, s->b, s->from, error);
    }
    bool ours = a->status == 200 || a->status == 207 || a->status == 404 || a->status == 405;
    bulk_stop(run, RES_UPSTREAM, "%.*s/ActionsUpsert/batch answers %d%s%.*s%s", STR_ARG(run->base), a->status,
              said.len > 0 ? ": " : "", STR_ARG(said),
              ours ? ", and not as the Actions catalogue does: is --to right?" : "");
    return RES_GONE;
}

static res send_span(task *t, void *ctx)
{
    span        *s = ctx;
    bulk_run    *run = s->b->run;
    bulk_answer  got;
    bulk_request in = {.method = STR("POST"),
                       .url = arena_strf(t->arena, "%.*s/ActionsUpsert/batch", STR_ARG(run->base)),
                       .body = body_of(t->arena, s),
                       .answer_max = ANSWER_MAX};
    TRY(bulk_exchange(t, run, &in, &got));
    const json_val *results = json_get(got.json, "results");
    bool            whole = json_typeof(results) == JSON_ARRAY && json_len(results) == s->len;
    return whole ? settle_all(t, s, results) : refused_whole(t, s, &got);
}

res bulk_send(task *t, bulk_batch *b)
{
    for (size_t from = 0, len = b->len; from < b->len;) {
        span s = {.b = b, .from = from, .len = len};
        TRY(task_scope(t, BULK_SCOPE_MEMORY, send_span, &s));
        from += s.too_much ? 0 : len;
        len = s.too_much ? (len + 1) / 2 : b->len - from;
    }
    return RES_OK;
}
