/* upsert.c -- see upsert.h.
 *
 *     look -> the same: unchanged
 *          -> write, on the condition that it still is as it was seen
 *               -> done
 *               -> somebody was faster:  pause, look, decide again; four writes at most
 *               -> the reply was lost:   look: it was ours if our hash and our LastSyncedUtc are stored
 *
 * Before the answer that makes one call of storage for what is unchanged and two for all else (ACT-61).
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/upsert.h"

#include "core/log.h"
#include "domain/actions/aggregate.h"
#include "domain/actions/cache.h"
#include "domain/actions/history.h"
#include "domain/actions/settings.h"

enum { PAUSE_MS = 100 };

/* ---- looking ---- */

/* A row that cannot be read is replaced all the same: then nothing is known of what it was. */
static void look_at_payload(task *t, const entity *e, facts *ret)
{
    str text;
    *ret = (facts){0};
    if (row_payload(t->arena, e, &text) == RES_OK && facts_read(t->arena, text, ret) == RES_OK)
        return;
    log_warn("the payload of '%.*s/%.*s' cannot be read, and is replaced", STR_ARG(e->partition),
             STR_ARG(e->row));
}

/* History is a kindness: what it fails in is told, and the write goes on (ACT-67). */
static res keep_payload(task *t, const entity *e)
{
    if (!settings_get()->history_kept || history_keep(t, e, HISTORY_UPDATE) == RES_OK)
        return RES_OK;
    TRY(task_stopped(t));
    str why = task_message(t);
    log_warn("no history of '%.*s/%.*s': %.*s", STR_ARG(e->partition), STR_ARG(e->row), STR_ARG(why));
    task_forget(t);
    return RES_OK;
}

res upsert_look(task *t, const record *r, upsert_stored *ret)
{
    entity        e;
    upsert_stored seen = {.there = true};
    res           code = tables_get(t, settings_get()->records, r->partition, r->row, &e);
    if (code == RES_NOT_FOUND) {
        task_forget(t);
        *ret = (upsert_stored){0};
        return RES_OK;
    }
    if (code != RES_OK)
        return code;
    seen.same = str_eq(row_hash(&e), (str){r->hash, SHA256_HEX});
    seen.etag = e.etag;
    seen.synced = row_synced(&e);
    if (!seen.same) {
        look_at_payload(t, &e, &seen.was);
        TRY(keep_payload(t, &e));
    }
    *ret = seen;
    return RES_OK;
}

bool upsert_same_row(const upsert_stored *a, const upsert_stored *b)
{
    return a->there == b->there && str_eq(a->etag, b->etag);
}

bool upsert_is_ours(const upsert_stored *now, str synced)
{
    return now->same && synced.len > 0 && str_eq(now->synced, synced);
}

/* ---- writing ---- */

bool upsert_was_raced(res r)
{
    return r == RES_CONFLICT || r == RES_PRECONDITION || r == RES_NOT_FOUND;
}

bool upsert_is_doubtful(res r)
{
    return r == RES_UPSTREAM || r == RES_TIMEOUT;
}

res upsert_pause(task *t, unsigned tries)
{
    return task_sleep(t, (uint64_t)PAUSE_MS << (tries - 1));
}

res upsert_prepare(task *t, const record *r, const upsert_stored *seen, str synced, entity *e,
                   table_write *ret, size_t *ret_bytes)
{
    TRY(row_make(t, r, synced, e, ret_bytes));
    *ret = (table_write){.kind = seen->there ? WRITE_REPLACE : WRITE_INSERT, .e = e, .etag = seen->etag};
    return RES_OK;
}

static res write_once(task *t, const record *r, const upsert_stored *seen, str synced, size_t *ret_bytes)
{
    entity      e;
    table_write w;
    TRY(upsert_prepare(t, r, seen, synced, &e, &w, ret_bytes));
    return tables_write(t, settings_get()->records, &w);
}

/* A failed write, and what was said of it: looking again must not overwrite that. */
typedef struct {
    res       code;
    str       synced, message;
    task_peer said;
} failure;

static res as_it_failed(task *t, const failure *f)
{
    task_forget(t);
    task_set_peer(t, f->said.status, str_of(f->said.code), str_of(f->said.message));
    return task_fail(t, f->code, "%.*s", STR_ARG(f->message));
}

/* After a write that did not succeed: RES_OK with *seen anew if there is sense in going on. */
static res look_again(task *t, const record *r, const failure *f, unsigned tries, upsert_stored *seen)
{
    upsert_stored now;
    bool          raced = upsert_was_raced(f->code);
    TRY(task_stopped(t));
    if (!raced && !upsert_is_doubtful(f->code))
        return f->code;
    if (raced && tries < UPSERT_TRIES_MAX)
        TRY(upsert_pause(t, tries));
    TRY(upsert_look(t, r, &now));
    if (!raced && upsert_same_row(&now, seen))
        return as_it_failed(t, f);
    if (!now.same && tries == UPSERT_TRIES_MAX)
        return task_fail(t, RES_CONFLICT, "somebody else was faster, %u times", tries);
    task_forget(t);
    *seen = now;
    return RES_OK;
}

static void written(task *t, const record *r, const upsert_stored *before, str synced, upsert_result *ret)
{
    upsert_written w = {.now = r, .before = before->there ? &before->was : NULL, .synced = synced};
    upsert_follow(t, &w, 1);
    *ret = (upsert_result){.kind = before->there ? UPSERT_UPDATED : UPSERT_CREATED, .synced = synced};
}

res upsert_locked(task *t, const record *r, upsert_result *ret)
{
    upsert_stored seen;
    *ret = (upsert_result){0};
    TRY(upsert_look(t, r, &seen));
    for (unsigned tries = 1; !seen.same; tries++) {
        upsert_stored before = seen;
        failure       f = {.synced = row_now(t->arena)};
        f.code = write_once(t, r, &seen, f.synced, &ret->needed_bytes);
        if (f.code != RES_OK) {
            f.message = task_message(t);
            f.said = *task_peer_said(t);
            TRY(look_again(t, r, &f, tries, &seen));
        }
        if (f.code == RES_OK || (upsert_is_doubtful(f.code) && upsert_is_ours(&seen, f.synced))) {
            written(t, r, &before, f.synced, ret);
            return RES_OK;
        }
    }
    *ret = (upsert_result){.kind = UPSERT_UNCHANGED, .synced = seen.synced};
    return RES_OK;
}

res upsert_lock(task *t, const record *r, key_lock **ret)
{
    return key_lock_take(t, arena_strf(t->arena, "%.*s/%.*s", STR_ARG(r->partition), STR_ARG(r->row)), ret);
}

res upsert_record(task *t, const record *r, upsert_result *ret)
{
    key_lock *l;
    TRY(upsert_lock(t, r, &l));
    res code = upsert_locked(t, r, ret);
    key_lock_release(l);
    return code;
}

/* ---- afterwards ---- */

void upsert_follow(task *t, const upsert_written *writes, size_t count)
{
    cache_key *keys = arena_array(t->arena, cache_key, count);
    for (size_t i = 0; i < count; i++) {
        const record *r = writes[i].now;
        facts         now = {0};
        keys[i] = (cache_key){r->partition, r->row};
        if (facts_read(t->arena, r->canonical, &now) == RES_OK) /* else it would never have become a record */
            aggregate_note(writes[i].before, &now, writes[i].synced);
    }
    cache_drop(t, keys, count);
}
