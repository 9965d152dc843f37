/* versions_held.c -- the catalogue of versions in memory: as it is stored, inflated, and what it says of
 * itself.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/gzip.h"
#include "core/log.h"
#include "domain/actions/held.h"
#include "domain/actions/parts.h"
#include "domain/actions/settings.h"
#include "domain/actions/versions.h"
#include "runtime/key_lock.h"

enum { PACKED_MAX = 64 * MIB, RAW_MAX = 128 * MIB, US_OF_S = 1000 * 1000 };

typedef struct {
    versions v;
    char     etag[VERSIONS_ETAG_BYTES];
    buf      raw;
} inflated;

static held     newest = HELD_INIT;
static uint64_t paused_until_us; /* after a build that failed */

/* ---- what a text says of itself ---- */

/* The member and one of the commas around it. */
static str with_comma(str raw, str member)
{
    size_t from = (size_t)(member.at - raw.at), to = from + member.len;
    size_t after = to;
    while (after < raw.len && strchr(" \t\r\n", raw.at[after]) != NULL)
        after++;
    if (after < raw.len && raw.at[after] == ',')
        return str_slice(raw, from, after + 1);
    while (from > 0 && raw.at[from] != ',' && raw.at[from] != '{')
        from--;
    return str_slice(raw, raw.at[from] == ',' ? from : (size_t)(member.at - raw.at), to);
}

static void set_etag(sha256_digest d, char *room)
{
    char hex[SHA256_HEX + 1];
    (void)hash_hex(&d, hex);
    room[0] = room[SHA256_HEX + 1] = '"';
    memcpy(room + 1, hex, SHA256_HEX);
}

/* Of the text without that part. */
static res hash_without(str raw, str left_out, char *room)
{
    arena      *a = arena_new(16 * KIB);
    hash_state *h = a != NULL ? hash_begin(a) : NULL;
    if (h != NULL) {
        size_t from = left_out.len > 0 ? (size_t)(left_out.at - raw.at) : raw.len;
        hash_add(h, str_slice(raw, 0, from));
        hash_add(h, str_from(raw, from + left_out.len));
        set_etag(hash_end(h), room);
    }
    arena_free(a);
    return h != NULL ? RES_OK : RES_MEMORY;
}

res versions_read(str raw, char *etag_room, versions *ret)
{
    versions v = {.raw = raw, .etag = {etag_room, VERSIONS_ETAG_BYTES}};
    str      dated = {0};
    bool     rows = false;
    part     one;
    parts    p = parts_of(raw);
    while (parts_next(&p, &one)) {
        bool known = true;
        if (str_eq(one.key, STR("count"))) {
            known = str_to_i64(one.value, &v.count);
        } else if (str_eq(one.key, STR("schemaVersion"))) {
            known = str_to_i64(one.value, &v.schema);
        } else if (str_eq(one.key, STR("generatedAt"))) {
            dated = with_comma(raw, one.whole);
            known = one.value.at[0] == '"';
            v.generated_at = str_slice(one.value, 1, one.value.len - 1);
        } else if (str_eq(one.key, STR("actions"))) {
            rows = one.value.at[0] == '[';
        }
        if (!known)
            return RES_UPSTREAM;
    }
    if (p.damaged || p.closing != '}' || !rows)
        return RES_UPSTREAM;
    res r = hash_without(raw, dated, etag_room);
    if (r == RES_OK)
        *ret = v;
    return r;
}

/* ---- the copy ---- */

static void drop(void *worked)
{
    inflated *i = worked;
    buf_free(&i->raw);
    free(i);
}

static res inflate(str packed, buf *ret)
{
    arena *a = arena_new(3 * (size_t)RAW_MAX);
    str    raw;
    res    r = a != NULL ? gzip_unpack(a, packed, RAW_MAX, &raw) : RES_MEMORY;
    if (r == RES_OK && !buf_add(ret, raw))
        r = RES_MEMORY;
    arena_free(a);
    return r == RES_OK || r == RES_MEMORY ? r : RES_UPSTREAM;
}

static res work(held_copy *c)
{
    inflated *i = calloc(1, sizeof *i);
    if (i == NULL)
        return RES_MEMORY;
    buf_init(&i->raw, NULL, RAW_MAX);
    res r = inflate(buf_str(&c->bytes), &i->raw);
    if (r == RES_OK)
        r = versions_read(buf_str(&i->raw), i->etag, &i->v);
    if (r != RES_OK) {
        drop(i);
        return r;
    }
    i->v.packed = buf_str(&c->bytes);
    c->worked = i;
    return RES_OK;
}

static const held_kind kind = {
    .what = "the catalogue of versions", .bytes_max = PACKED_MAX, .work = work, .drop = drop};

static res hold(task *t, const versions **ret)
{
    const actions_settings *s = settings_get();
    const held_copy        *copy;
    TRY(held_take(t, &newest, &kind, s->snapshots, s->versions_blob, &copy));
    *ret = &((const inflated *)copy->worked)->v;
    return RES_OK;
}

/* ---- the first time ---- */

static res build_now(task *t)
{
    versions_built built;
    if (clock_mono_us() < paused_until_us)
        return task_fail(t, RES_UNAVAILABLE, "a build has failed not long ago");
    res r = versions_build(t, &built);
    TRY(task_stopped(t));
    if (r == RES_OK)
        return RES_OK;
    paused_until_us = clock_mono_us() + (uint64_t)VERSIONS_PAUSE_S * US_OF_S;
    str why = task_message(t);
    log_error("the catalogue of versions could not be built: %s: %.*s", res_name(r), STR_ARG(why));
    return RES_UNAVAILABLE;
}

/* Whoever waited for the lock finds what the one before it has built, or that it could not. */
static res build_locked(task *t, const versions **ret)
{
    res r = hold(t, ret);
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    TRY(build_now(t));
    return hold(t, ret);
}

res versions_hold(task *t, const versions **ret)
{
    key_lock *lock;
    res       r = hold(t, ret);
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    TRY(key_lock_take(t, STR("actions versions"), &lock));
    r = build_locked(t, ret);
    key_lock_release(lock);
    return r;
}

void versions_forget_for_test(void)
{
    held_forget(&newest);
    paused_until_us = 0;
}
