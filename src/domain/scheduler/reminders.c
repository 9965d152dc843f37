/* reminders.c -- see reminders.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/reminders.h"

#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"

enum { TRIES_MAX = 8, WAIT_MS = 10, BUCKET_MAX = 4 * MIB };
static const int64_t MINUTE_US = INT64_C(60000000);

int64_t reminders_minute(int64_t us)
{
    return us - us % MINUTE_US;
}

typedef struct {
    const json_val *list; /* NULL: there is no such blob */
    str             etag;
} bucket;

static str text_of(const json_val *object, const char *key)
{
    return json_text(json_get(object, key), (str){0});
}

static res read_bucket(task *t, int64_t minute_us, bucket *ret)
{
    blob_got got;
    *ret = (bucket){0};
    str name = place_reminders(t->arena, minute_us);
    res r = blobs_get(t, sched_settings_get()->state, name, &(blob_get){.bytes_max = BUCKET_MAX}, &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(t);
        return RES_OK;
    }
    if (r != RES_OK)
        return r;
    if (json_parse(t->arena, got.body, &ret->list, NULL) != RES_OK || json_typeof(ret->list) != JSON_ARRAY)
        return task_fail(t, RES_UPSTREAM, "the index of reminders '%.*s' is damaged", STR_ARG(name));
    ret->etag = got.info.etag;
    return RES_OK;
}

static res save(task *t, int64_t minute_us, const json *list, str etag)
{
    blob_put how = {.content_type = STR("application/json; charset=utf-8"),
                    .if_match = etag,
                    .create_only = etag.len == 0};
    res      r = blobs_put(t, sched_settings_get()->state, place_reminders(t->arena, minute_us),
                           json_print(t->arena, list), &how, NULL);
    return r == RES_PRECONDITION || r == RES_NOT_FOUND ? RES_CONFLICT : r;
}

/* The list without that one, and with *added (NULL: none) behind it. */
static json *changed(arena *a, const json_val *list, str without, const reminder_entry *added)
{
    json *all = json_array(a);
    for (json_iter it = json_each(list); json_next(&it);)
        if (!str_eq(text_of(it.value, "reminderId"), without))
            json_push_val(all, it.value);
    if (added == NULL)
        return all;
    json *v = json_push_object(all);
    json_set_str(v, "reminderId", added->id);
    json_set_str(v, "groupId", added->group);
    json_set_str(v, "appointmentId", added->appointment);
    json_set_str(v, "dueAtIso", added->due_at);
    return all;
}

static bool has(const json_val *list, str id)
{
    for (json_iter it = json_each(list); json_next(&it);)
        if (str_eq(text_of(it.value, "reminderId"), id))
            return true;
    return false;
}

static res change(task *t, int64_t minute_us, str id, const reminder_entry *added)
{
    for (uint64_t tries = 1;; tries++) {
        bucket b;
        TRY(read_bucket(t, minute_us, &b));
        if (has(b.list, id) == (added != NULL))
            return RES_OK;
        res r = save(t, minute_us, changed(t->arena, b.list, id, added), b.etag);
        if (r != RES_CONFLICT || tries == TRIES_MAX)
            return r;
        task_forget(t);
        TRY(task_sleep(t, WAIT_MS * tries));
    }
}

res reminders_put(task *t, int64_t minute_us, const reminder_entry *e)
{
    return change(t, minute_us, e->id, e);
}

res reminders_drop(task *t, int64_t minute_us, str id)
{
    return change(t, minute_us, id, NULL);
}

res reminders_due(task *t, int64_t minute_us, reminder_entry **ret, size_t *ret_count)
{
    bucket b;
    size_t n = 0;
    TRY(read_bucket(t, minute_us, &b));
    reminder_entry *list = arena_array(t->arena, reminder_entry, json_len(b.list));
    for (json_iter it = json_each(b.list); json_next(&it);)
        list[n++] = (reminder_entry){.id = text_of(it.value, "reminderId"),
                                     .group = text_of(it.value, "groupId"),
                                     .appointment = text_of(it.value, "appointmentId"),
                                     .due_at = text_of(it.value, "dueAtIso")};
    *ret = list;
    *ret_count = n;
    return RES_OK;
}
