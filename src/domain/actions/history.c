/* history.c -- see history.h.
 *
 *     <partition>/<row>/20260102T030405678Z-0123456789ab.json.gz
 *
 * The name says which payload it is, so that writing it again, by a retry or by another instance, finds it
 * there. A stamp that cannot be read counts as that of 1970; a hash that is none is taken anew.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/history.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "domain/actions/row.h"
#include "domain/actions/settings.h"

enum {
    KEEP_MEMORY = 64 * MIB, /* of keeping one: a payload of 16 MiB, out of its row and packed anew */
    PAGE_MEMORY = 16 * MIB,
    PAGE_BLOBS = 1000,
    NAMED_HASH = 12, /* digits of it in a name */
    REMOVED_AT_ONCE = 4,
};
#define US_A_DAY (INT64_C(24) * 3600 * 1000000)

/* ---- keeping ---- */

typedef struct {
    const entity  *old;
    history_reason why;
} keeping;

static bool is_hash(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.at[i] >= '0' && s.at[i] <= '9') || (s.at[i] >= 'a' && s.at[i] <= 'f')))
            return false;
    return s.len == SHA256_HEX;
}

static str hash_of(arena *a, const entity *e, str payload)
{
    str stored = row_hash(e);
    if (is_hash(stored))
        return stored;
    char         *hex = arena_alloc(a, SHA256_HEX + 1);
    sha256_digest digest = hash_sha256(payload);
    return hash_hex(&digest, hex);
}

/* "2026-01-02T03:04:05.678Z" */
static str stamp_of(arena *a, const entity *e)
{
    int64_t us;
    return iso8601_arena(a, iso8601_parse(row_synced(e), &us) ? us : 0, 3);
}

static str without_separators(arena *a, str stamp)
{
    char  *out = arena_alloc(a, stamp.len);
    size_t len = 0;
    for (size_t i = 0; i < stamp.len; i++)
        if (stamp.at[i] != '-' && stamp.at[i] != ':' && stamp.at[i] != '.')
            out[len++] = stamp.at[i];
    return (str){out, len};
}

static res put_payload(task *t, void *ctx)
{
    const keeping *k = ctx;
    const entity  *e = k->old;
    str            payload, packed;
    TRY(row_payload(t->arena, e, &payload));
    TRY(row_pack(t, payload, &packed));

    str stamp = stamp_of(t->arena, e), hash = hash_of(t->arena, e, payload);
    str name =
        arena_strf(t->arena, "%.*s/%.*s/%.*s-%.*s.json.gz", STR_ARG(e->partition), STR_ARG(e->row),
                   STR_ARG(without_separators(t->arena, stamp)), STR_ARG(str_slice(hash, 0, NAMED_HASH)));
    http_header metadata[] = {
        {STR("reason"), k->why == HISTORY_PURGE ? STR("purge") : STR("update")},
        {STR("hash"), hash},
        {STR("lastsynced"), stamp},
    };
    blob_put how = {.content_type = STR("application/gzip"),
                    .metadata = metadata,
                    .metadata_count = sizeof metadata / sizeof *metadata,
                    .create_only = true};
    res      r = blobs_put(t, settings_get()->history, name, packed, &how, NULL);
    if (r != RES_CONFLICT)
        return r;
    task_forget(t); /* it was kept already */
    return RES_OK;
}

res history_keep(task *t, const entity *old, history_reason why)
{
    keeping k = {.old = old, .why = why};
    if (why == HISTORY_UPDATE && !settings_get()->history_kept)
        return RES_OK;
    res r = task_scope(t, KEEP_MEMORY, put_payload, &k);
    return r == RES_OK
               ? r
               : task_fail(t, r, "history of '%.*s/%.*s'", STR_ARG(old->partition), STR_ARG(old->row));
}

/* ---- expiring ---- */

typedef struct {
    int64_t before_us;
    arena  *outer; /* tokens outlive the page that they came with */
    str     token;
    str    *names;
    size_t  count, removed;
} expiring;

static res remove_one(task *t, size_t i, void *ctx)
{
    expiring *x = ctx;
    res       r = blobs_remove(t, settings_get()->history, x->names[i], (str){0});
    x->removed += r == RES_OK;
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t); /* another instance was faster */
    return RES_OK;
}

static res expire_page(task *t, void *ctx)
{
    expiring *x = ctx;
    blob_page page;
    TRY(blobs_list(t, settings_get()->history, STR(""), '\0', PAGE_BLOBS, x->token, &page));
    x->token = arena_copy(x->outer, page.token);
    x->names = arena_array(t->arena, str, page.len);
    x->count = 0;
    for (size_t i = 0; i < page.len; i++)
        if (page.at[i].modified_us > 0 && page.at[i].modified_us < x->before_us) /* 0: not known */
            x->names[x->count++] = page.at[i].name;
    return x->count > 0 ? par_each(t, x->count, REMOVED_AT_ONCE, remove_one, x) : RES_OK;
}

res history_expire(task *t, size_t *ret_removed)
{
    expiring x = {.before_us = clock_wall_us() - settings_get()->history_days * US_A_DAY, .outer = t->arena};
    res      r;
    do
        r = task_scope(t, PAGE_MEMORY, expire_page, &x);
    while (r == RES_OK && x.token.len > 0);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(t); /* nothing was ever kept */
        r = RES_OK;
    }
    if (ret_removed != NULL)
        *ret_removed = x.removed;
    return r == RES_OK ? r : task_fail(t, r, "history older than %u days", settings_get()->history_days);
}
