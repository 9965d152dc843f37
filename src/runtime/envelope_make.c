/* envelope_make.c -- the payloads of timers and queue messages when there is no host to send them.
 *
 * Standalone, the runtime itself watches schedules and queues. It then speaks to handlers in the host's words
 * (spec 3.3 b and c), odd encodings included, so that there is one way into a handler, which tests and
 * production share.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base64.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/iso8601.h"
#include "core/json.h"
#include "runtime/exchange.h"

enum { HOST_TIME_SIZE = ISO8601_SIZE + 8 };

/* 0001-01-01T00:00:00Z, the default of .NET's times: the host's word for "never". */
static const int64_t NEVER_US = INT64_C(-62135596800000000);

/* The host writes times to the second and with an offset: 2026-01-02T03:04:05+00:00. */
static void set_time(json *object, const char *key, int64_t us)
{
    char text[HOST_TIME_SIZE];
    str  utc = iso8601_format(us, 0, text);
    memcpy(text + utc.len - 1, "+00:00", sizeof "+00:00");
    json_set_str(object, key, str_of(text));
}

/* JSON in JSON: what the host makes of every string in Data and Metadata (spec 3.2). */
static str twice_encoded(arena *a, str text)
{
    json *list = json_array(a);
    if (list == NULL)
        return (str){0};
    json_push_str(list, text);
    str printed = json_print(a, list); /* ["text"] */
    return printed.at != NULL ? str_slice(printed, 1, printed.len - 1) : (str){0};
}

static bool set_twice(arena *a, json *object, str key, str text)
{
    str encoded = twice_encoded(a, text);
    if (encoded.at == NULL)
        return false;
    json_set_str_at(object, key, encoded);
    return true;
}

static void set_sys(json *metadata, const char *key, const function *fn)
{
    char  now[ISO8601_SIZE], id[UUID_TEXT + 1];
    json *sys = json_set_object(metadata, key);
    if (sys == NULL)
        return;
    json_set_str(sys, "MethodName", fn->name);
    json_set_str(sys, "UtcNow", iso8601_format(clock_wall_us(), 7, now));
    json_set_str(sys, "RandGuid", id_uuid(id));
}

/* ---- timer ---- */

str envelope_for_timer(arena *a, const function *fn, int64_t last_us, int64_t next_us, bool past_due)
{
    const char *name = arena_cstr(a, fn->trigger_binding->name);
    json       *root = json_object(a);
    json       *data = root != NULL ? json_set_object(root, "Data") : NULL;
    json       *timer = data != NULL && name != NULL ? json_set_object(data, name) : NULL;
    json       *schedule = timer != NULL ? json_set_object(timer, "Schedule") : NULL;
    if (schedule == NULL)
        return (str){0};

    json_set_bool(schedule, "AdjustForDST", true);
    if (fn->monitored) {
        json *status = json_set_object(timer, "ScheduleStatus");
        if (status == NULL)
            return (str){0};
        set_time(status, "Last", last_us != 0 ? last_us : NEVER_US);
        set_time(status, "Next", next_us);
        set_time(status, "LastUpdated", last_us != 0 ? last_us : NEVER_US);
    } else {
        json_set_null(timer, "ScheduleStatus");
    }
    json_set_bool(timer, "IsPastDue", past_due);

    json *metadata = json_set_object(root, "Metadata");
    if (metadata == NULL)
        return (str){0};
    set_sys(metadata, "sys", fn);
    return json_print(a, root);
}

/* ---- queue ---- */

/* A member of the message as the host puts it into Metadata: scalars as the .NET text of their value, twice
 * encoded; objects as they are; arrays, nulls and whatever is called …trigger not at all. */
static bool add_member(arena *a, json *metadata, str key, const json_val *v)
{
    json_type type = json_typeof(v);
    if (type == JSON_ARRAY || type == JSON_NULL || str_ends_nocase(key, STR("trigger")))
        return true;
    if (type == JSON_OBJECT) {
        const char *name = arena_cstr(a, key);
        if (name != NULL)
            json_set_val(metadata, name, v);
        return name != NULL;
    }
    str text = type == JSON_STRING ? json_text(v, (str){0})
               : type == JSON_BOOL ? (json_truth(v, false) ? STR("True") : STR("False"))
                                   : json_print_val(a, v);
    return text.at != NULL && set_twice(a, metadata, key, text);
}

/* A later member of the same name, in whatever case, wins: .NET's dictionary of metadata ignores case.
 * Finding it is a search for each member, so a message with too many of them brings none. */
static bool add_members(arena *a, json *metadata, const json_val *message)
{
    bool ok = true;
    if (json_typeof(message) != JSON_OBJECT || json_len(message) > ENVELOPE_VALUES_MAX)
        return true;
    for (json_iter it = json_each(message); ok && json_next(&it);)
        if (json_get_nocase(message, it.key) == it.value)
            ok = add_member(a, metadata, it.key, it.value);
    return ok;
}

/* The message's own members hide what the host knows under the same names, as in the host. */
static bool add_built_in(arena *a, json *metadata, const json_val *message, const queue_message_info *m)
{
    bool ok = true;
    if (json_get_nocase(message, STR("DequeueCount")) == NULL) {
        str count = arena_strf(a, "%lld", (long long)m->dequeue_count);
        ok = count.at != NULL;
        json_set_str(metadata, "DequeueCount", count);
    }
    if (json_get_nocase(message, STR("Id")) == NULL)
        ok = ok && set_twice(a, metadata, STR("Id"), m->id);
    if (json_get_nocase(message, STR("PopReceipt")) == NULL)
        ok = ok && set_twice(a, metadata, STR("PopReceipt"), m->pop_receipt);
    if (json_get_nocase(message, STR("ExpirationTime")) == NULL)
        set_time(metadata, "ExpirationTime", m->expires_us);
    if (json_get_nocase(message, STR("InsertionTime")) == NULL)
        set_time(metadata, "InsertionTime", m->inserted_us);
    if (json_get_nocase(message, STR("NextVisibleTime")) == NULL)
        set_time(metadata, "NextVisibleTime", m->next_visible_us);
    return ok;
}

str envelope_for_queue(arena *a, const function *fn, const queue_message_info *m)
{
    const binding  *b = fn->trigger_binding;
    const json_val *message = NULL;
    json           *root = json_object(a);
    json           *data = root != NULL ? json_set_object(root, "Data") : NULL;
    str             value = b->binary ? base64_encode(a, m->text) : twice_encoded(a, m->text);
    if (data == NULL || value.at == NULL)
        return (str){0};
    json_set_str_at(data, b->name, value);

    /* Most messages that are not JSON are meant to be so: only a lack of memory is a failure. */
    if (!b->binary && json_parse(a, m->text, &message, NULL) == RES_MEMORY)
        return (str){0};
    json *metadata = json_set_object(root, "Metadata");
    if (metadata == NULL || !add_built_in(a, metadata, message, m) || !add_members(a, metadata, message))
        return (str){0};
    set_sys(metadata, json_get_nocase(message, STR("sys")) != NULL ? "$sys" : "sys", fn);
    return json_print(a, root);
}
