/* batch_commit.c -- one partition's writes as entity group transactions (specification §10, processing 4, 5).
 *
 * The writes that are still to be done stand in a list. Each turn takes as many from its front as fit into a
 * transaction, and then
 *
 *     done            they leave the list
 *     one was raced   it is looked at again, and leaves if it is the same by now; three such turns, then all
 *                     of them go one by one, so that a contended record does not sink its neighbours
 *     one is refused  it leaves as failed
 *     too large       the next transactions are half as long
 *     in doubt        all are looked at: if one of them is ours, all were done
 *     else            all of them leave as failed; storage has tried several times by then
 *
 * With `strict` there is one transaction or none.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/log.h"
#include "domain/actions/batch.h"
#include "domain/actions/settings.h"

enum {
    COMMIT_BYTES_MAX = 3584 * KIB, /* of the service's 4 MiB */
    AROUND_WRITE = 1 * KIB,        /* what surrounds a row in a transaction */
    ATTEMPT_MEMORY = 64 * MIB,
    RACES_MAX = 3,
    RETRIES_MAX = 3,
    RETRY_MS = 200,
};

typedef struct {
    batch       *b;
    batch_item **of; /* still to be done */
    size_t       len, most;
    unsigned     races, retries; /* since the last success */
    /* The latest attempt: */
    size_t       n, failed; /* how many were in it; which one failed, or n */
    str          synced, message;
    res          code;
    task_peer    said;
} commit;

/* ---- the list ---- */

/* What is settled leaves it. */
static void compact(commit *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->len; i++)
        if (c->of[i]->status == BATCH_PENDING)
            c->of[kept++] = c->of[i];
    c->len = kept;
}

static void written(batch_item *it, str synced)
{
    it->status = it->seen.there ? BATCH_UPDATED : BATCH_CREATED;
    it->synced = synced;
}

/* All of the latest attempt, with what was said then. */
static void fail_all(task *t, commit *c, batch_status status)
{
    str partition = c->of[0]->partition;
    task_set_peer(t, c->said.status, str_of(c->said.code), str_of(c->said.message));
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i]->status == BATCH_PENDING)
            batch_fail(t, c->of[i], status, c->code);
    log_error("batch: %zu records of '%.*s' are not written: %.*s [correlationId %.*s]", c->n,
              STR_ARG(partition), STR_ARG(c->message), STR_ARG(c->b->correlation));
    compact(c);
}

/* ---- one attempt ---- */

/* At least what the row takes by the formula of Azure, and as JSON on the wire: a character of ASCII is two
 * bytes in the one, and two in the other if it is escaped. */
static size_t cost_of(const entity *e)
{
    size_t bytes = AROUND_WRITE;
    for (size_t i = 0; i < e->count; i++) {
        const property *p = &e->props[i];
        if (p->type == EDM_BINARY)
            bytes += p->text.len * 4 / 3;
        else if (p->type == EDM_STRING)
            bytes += 2 * p->text.len;
    }
    return bytes;
}

static res prepare(task *t, commit *c, entity *rows, table_write *writes)
{
    size_t bytes = 0, most = c->len < c->most ? c->len : c->most;
    for (c->n = 0; c->n < most; c->n++) {
        batch_item *it = c->of[c->n];
        res         r =
            upsert_prepare(t, &it->r, &it->seen, c->synced, &rows[c->n], &writes[c->n], &it->needed_bytes);
        if (r == RES_TOO_LARGE)
            c->failed = c->n;
        if (r != RES_OK) {
            c->n++;
            return r;
        }
        bytes += cost_of(&rows[c->n]);
        if (c->n > 0 && bytes > COMMIT_BYTES_MAX)
            break;
    }
    bool fits = c->n == c->len || !c->b->strict;
    if (!fits)
        c->n = c->len; /* then none of them is written */
    c->failed = c->n;
    return fits ? RES_OK : task_fail(t, RES_TOO_LARGE, "the records do not fit into one transaction");
}

static void follow(task *t, commit *c)
{
    upsert_written *w = arena_array(t->arena, upsert_written, c->n);
    for (size_t i = 0; i < c->n; i++) {
        batch_item *it = c->of[i];
        w[i] = (upsert_written){
            .now = &it->r, .before = it->seen.there ? &it->seen.was : NULL, .synced = c->synced};
        written(it, c->synced);
    }
    upsert_follow(t, w, c->n);
}

static res attempt(task *t, void *ctx)
{
    commit      *c = ctx;
    entity      *rows = arena_array(t->arena, entity, c->len);
    table_write *writes = arena_array(t->arena, table_write, c->len);
    res          r = prepare(t, c, rows, writes);
    if (r == RES_OK)
        r = tables_commit(t, settings_get()->records, writes, c->n, &c->failed);
    if (r == RES_OK)
        follow(t, c);
    return r;
}

/* ---- what became of it ---- */

/* Each by itself, as a single upsert would. */
typedef struct {
    batch      *b;
    batch_item *it;
} single;

static res write_single(task *t, void *ctx)
{
    const single *s = ctx;
    upsert_result done;
    res           r = upsert_locked(t, &s->it->r, &done);
    s->it->needed_bytes = done.needed_bytes;
    if (r != RES_OK)
        return r;
    static const batch_status as[] = {[UPSERT_CREATED] = BATCH_CREATED,
                                      [UPSERT_UPDATED] = BATCH_UPDATED,
                                      [UPSERT_UNCHANGED] = BATCH_UNCHANGED};
    s->it->status = as[done.kind];
    s->it->synced = arena_copy(s->b->a, done.synced);
    return RES_OK;
}

res batch_write_single(task *t, batch *b, batch_item *it)
{
    single s = {.b = b, .it = it};
    res    r = task_scope(t, ATTEMPT_MEMORY, write_single, &s);
    if (r == RES_OK || batch_is_over(t, r))
        return r;
    batch_fail(t, it, r == RES_CONFLICT ? BATCH_CONFLICT : BATCH_FAILED, r);
    str why = task_message(t);
    log_error("batch: '%.*s/%.*s' is not written: %.*s [correlationId %.*s]", STR_ARG(it->partition),
              STR_ARG(it->r.row), STR_ARG(why), STR_ARG(b->correlation));
    task_forget(t);
    return RES_OK;
}

static res one_by_one(task *t, commit *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i]->status == BATCH_PENDING)
            TRY(batch_write_single(t, c->b, c->of[i]));
    compact(c);
    return RES_OK;
}

static res raced_too_often(task *t, commit *c)
{
    if (!c->b->strict)
        return one_by_one(t, c);
    if (c->failed < c->n)
        batch_fail(t, c->of[c->failed], BATCH_CONFLICT, RES_CONFLICT);
    else
        fail_all(t, c, BATCH_CONFLICT);
    c->len = 0; /* the others will be aborted */
    return RES_OK;
}

static res look_anew(task *t, commit *c, batch_item *it)
{
    TRY(batch_look(t, c->b, it));
    if (it->status == BATCH_PENDING && it->seen.same)
        batch_unchanged(c->b, it);
    return RES_OK;
}

static res one_raced(task *t, commit *c)
{
    if (c->failed == c->n || ++c->races > RACES_MAX)
        return raced_too_often(t, c);
    TRY(upsert_pause(t, c->races));
    TRY(look_anew(t, c, c->of[c->failed]));
    compact(c);
    return RES_OK;
}

static res one_refused(task *t, commit *c)
{
    batch_fail(t, c->of[c->failed], BATCH_FAILED, c->code);
    compact(c);
    if (c->b->strict)
        c->len = 0;
    return RES_OK;
}

static res too_large(task *t, commit *c)
{
    if (c->n > 1 && !c->b->strict)
        c->most = c->n / 2;
    else
        fail_all(t, c, BATCH_FAILED);
    if (c->b->strict)
        c->len = 0;
    return RES_OK;
}

/* Of all, or none: one that is ours tells for all. */
static res settle_done(task *t, commit *c, const upsert_stored *before)
{
    for (size_t i = 0; i < c->n; i++) {
        c->of[i]->status = BATCH_PENDING;
        c->of[i]->seen = before[i];
    }
    follow(t, c);
    compact(c);
    return RES_OK;
}

/* Nothing has come of it: a write of the service's own that timed out is worth another try. */
static res nothing_done(task *t, commit *c)
{
    if (c->failed == c->n || ++c->retries > RETRIES_MAX) {
        fail_all(t, c, BATCH_FAILED);
        return RES_OK;
    }
    compact(c);
    return task_sleep(t, (uint64_t)RETRY_MS << (c->retries - 1));
}

static res in_doubt(task *t, commit *c)
{
    upsert_stored *before = arena_array(t->arena, upsert_stored, c->n);
    bool           ours = false, moved = false;
    for (size_t i = 0; i < c->n; i++) {
        batch_item *it = c->of[i];
        before[i] = it->seen;
        TRY(batch_look(t, c->b, it));
        ours = ours || (it->status == BATCH_PENDING && upsert_is_ours(&it->seen, c->synced));
        moved = moved || (it->status == BATCH_PENDING && !upsert_same_row(&before[i], &it->seen));
    }
    if (ours)
        return settle_done(t, c, before);
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i]->status == BATCH_PENDING && c->of[i]->seen.same)
            batch_unchanged(c->b, c->of[i]);
    if (!moved)
        return nothing_done(t, c);
    if (++c->races > RACES_MAX)
        return raced_too_often(t, c);
    compact(c);
    return upsert_pause(t, c->races);
}

static res after_failure(task *t, commit *c)
{
    bool told = c->failed < c->n;
    if (upsert_is_doubtful(c->code))
        return in_doubt(t, c);
    if (upsert_was_raced(c->code))
        return one_raced(t, c);
    if (told && (c->code == RES_INVALID || c->code == RES_TOO_LARGE))
        return one_refused(t, c);
    if (c->code == RES_TOO_LARGE)
        return too_large(t, c);
    if (told && res_get(c->code)->retryable)
        return nothing_done(t, c);
    fail_all(t, c, BATCH_FAILED);
    return RES_OK;
}

static res turn(task *t, commit *c)
{
    c->synced = row_now(c->b->a);
    c->code = task_scope(t, ATTEMPT_MEMORY, attempt, c);
    if (c->code == RES_OK) {
        compact(c);
        c->races = c->retries = 0;
        return RES_OK;
    }
    if (batch_is_over(t, c->code))
        return c->code;
    c->message = task_message(t);
    c->said = *task_peer_said(t);
    TRY(after_failure(t, c));
    task_forget(t);
    return RES_OK;
}

res batch_commit(task *t, batch *b, batch_item *const *of, size_t len)
{
    commit *c = arena_one(t->arena, commit);
    *c = (commit){.b = b, .len = len, .most = len};
    c->of = (batch_item **)arena_zalloc_array(t->arena, len, sizeof *c->of);
    memcpy((void *)c->of, (const void *)of, len * sizeof *c->of);
    while (c->len > 0)
        TRY(turn(t, c));
    return RES_OK;
}
