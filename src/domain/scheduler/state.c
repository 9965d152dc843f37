/* state.c -- see state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/state.h"

#include "domain/scheduler/call.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"
#include "runtime/key_lock.h"
#include "storage/update.h"

enum { SCHEMA_VERSION = 3, TRIES_MAX = 4, STATE_MAX = 8 * MIB };

static container where(void)
{
    return sched_settings_get()->state;
}

res state_read(task *t, str group, state *ret)
{
    blob_got got;
    *ret = (state){0};
    res r =
        blobs_get(t, where(), place_state_blob(t->arena, group), &(blob_get){.bytes_max = STATE_MAX}, &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(t);
        return RES_OK;
    }
    if (r != RES_OK)
        return r;
    if (json_parse(t->arena, got.body, &ret->doc, NULL) != RES_OK || json_typeof(ret->doc) != JSON_OBJECT)
        return task_fail(t, RES_UPSTREAM, "state.json of group %.*s is damaged", STR_ARG(group));
    ret->etag = got.info.etag;
    return RES_OK;
}

/* ---- a new one ---- */

static json *empty(arena *a, str group, str name)
{
    static const char *const lists[] = {"people", "members", "appointments", "rules", "history"};
    json                    *v = json_object(a);
    str                      now = call_now(a);
    json_set_int(v, "schemaVersion", SCHEMA_VERSION);
    json_set_str(v, "groupId", group);
    json_set_str(v, "groupName", name);
    json_set_str(v, "createdAt", now);
    json_set_str(v, "updatedAt", now);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        (void)json_set_array(v, lists[i]); /* empty, to be filled by others */
    return v;
}

static res put(task *t, str group, const json *doc, const blob_put *how, blob_info *ret)
{
    str text = json_print_pretty(t->arena, doc);
    return blobs_put(t, where(), place_state_blob(t->arena, group), text, how, ret);
}

res state_create(task *t, str group, str name, const json *ignite)
{
    blob_put how = {.content_type = STR("application/json; charset=utf-8"), .create_only = true};
    json    *doc = empty(t->arena, group, name);
    if (ignite != NULL)
        json_set_json(doc, "ignite", ignite);
    res r = put(t, group, doc, &how, NULL);
    if (r != RES_CONFLICT && r != RES_PRECONDITION)
        return r;
    task_forget(t); /* it is there */
    return RES_OK;
}

json *state_copy(arena *a, const state *s, str group)
{
    if (s->doc == NULL)
        return empty(a, group, (str){0});
    json *v = json_object(a);
    for (json_iter it = json_each(s->doc); json_next(&it);)
        json_set_val(v, arena_cstr(a, it.key), it.value);
    json_set_str(v, "updatedAt", call_now(a));
    return v;
}

/* ---- changing ---- */

res state_save(task *t, str group, str etag, const json *doc, str *ret_etag)
{
    blob_info info;
    blob_put  how = {.content_type = STR("application/json; charset=utf-8"),
                     .if_match = etag,
                     .create_only = etag.len == 0};
    res       r = put(t, group, doc, &how, &info);
    if (r == RES_PRECONDITION || r == RES_CONFLICT || r == RES_NOT_FOUND)
        return task_fail(t, RES_CONFLICT, "state.json of group %.*s has changed", STR_ARG(group));
    if (r == RES_OK && ret_etag != NULL)
        *ret_etag = info.etag;
    return r;
}

static res change(task *t, str group, state_change_fn *fn, void *ctx, state *ret)
{
    for (unsigned tries = 1;; tries++) {
        state s;
        json *doc = NULL;
        TRY(state_read(t, group, &s));
        res r = fn(t, &s, ctx, &doc);
        if (r != RES_OK && r != UPDATE_NOTHING)
            return r;
        if (r == RES_OK)
            r = state_save(t, group, s.etag, doc, &s.etag);
        if (r == UPDATE_NOTHING || r == RES_OK) {
            if (ret != NULL)
                *ret = s;
            return RES_OK;
        }
        if (r != RES_CONFLICT || tries == TRIES_MAX)
            return r;
        task_forget(t);
    }
}

/* A QR code at a table is scanned by twenty at once. Those who come to this process queue, so that the tries
 * are for the writers of other processes alone. */
res state_change(task *t, str group, state_change_fn *fn, void *ctx, state *ret)
{
    key_lock *mine;
    TRY(key_lock_take(t, arena_strf(t->arena, "state.json of %.*s", STR_ARG(group)), &mine));
    res r = change(t, group, fn, ctx, ret);
    key_lock_release(mine);
    return r;
}
