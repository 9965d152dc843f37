/* events.c -- see events.h.
 *
 *     P/{group}/appointments/{id}/events/000001.json   an array of events, oldest first, at most 200
 *                                       /000002.json   the next ones, when the first was full
 *
 * Only the newest chunk is ever written. What is appended together is in one chunk, so it is there as a
 * whole or not at all; a chunk that has no room for all of it is left as it is.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/events.h"

#include "core/id.h"
#include "domain/scheduler/call.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"
#include "runtime/key_lock.h"

enum {
    CHUNK_EVENTS_MAX = 200,
    CHUNK_READ_MAX = 8 * MIB,
    CHUNK_FULL_BYTES = 2 * MIB,
    TRIES_MAX = 4,
    WAIT_MS = 10,
    LIST_PAGE = 1000,
    PAGE_EVENTS_MAX = 1000
};

typedef struct {
    unsigned        number; /* from 1; 0: none */
    const json_val *events; /* NULL: it is not there */
    str             etag;
    size_t          bytes;
} event_chunk;

static container where(void)
{
    return sched_settings_get()->documents;
}

/* ---- chunks ---- */

/* ".../events/000012.json": 12 */
static unsigned chunk_number(str name, size_t prefix)
{
    uint64_t n;
    str      rest = str_from(name, prefix);
    if (!str_ends(rest, STR(".json")) || !str_to_u64(str_slice(rest, 0, rest.len - 5), &n) || n > INT32_MAX)
        return 0;
    return (unsigned)n;
}

static res newest_number(task *t, str group, str appointment, unsigned *ret)
{
    str first = place_event_chunk(t->arena, group, appointment, 1), token = {0};
    str prefix = str_slice(first, 0, first.len - (sizeof "000001.json" - 1));
    *ret = 0;
    do {
        blob_page page;
        res       r = blobs_list(t, where(), prefix, 0, LIST_PAGE, token, &page);
        if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
            task_forget(t);
            return RES_OK;
        }
        if (r != RES_OK)
            return r;
        for (size_t i = 0; i < page.len; i++) {
            unsigned n = chunk_number(page.at[i].name, prefix.len);
            *ret = n > *ret ? n : *ret;
        }
        token = page.token;
    } while (token.len > 0);
    return RES_OK;
}

static res read_chunk(task *t, str group, str appointment, unsigned number, event_chunk *ret)
{
    blob_got got;
    *ret = (event_chunk){.number = number};
    res r = blobs_get(t, where(), place_event_chunk(t->arena, group, appointment, number),
                      &(blob_get){.bytes_max = CHUNK_READ_MAX}, &got);
    if (r == RES_NOT_FOUND || r == RES_UNPROVISIONED) {
        task_forget(t);
        return RES_OK;
    }
    if (r != RES_OK)
        return r;
    if (json_parse(t->arena, got.body, &ret->events, NULL) != RES_OK ||
        json_typeof(ret->events) != JSON_ARRAY)
        return task_fail(t, RES_UPSTREAM, "chunk %u of an appointment's events is damaged", number);
    ret->etag = got.info.etag;
    ret->bytes = got.body.len;
    return RES_OK;
}

/* ---- appending ---- */

static bool has_request(const json_val *events, str id)
{
    for (json_iter it = json_each(events); id.len > 0 && json_next(&it);)
        if (str_eq(json_text(json_get(it.value, "clientRequestId"), (str){0}), id))
            return true;
    return false;
}

static void set_if_said(json *v, const char *member, str text)
{
    if (text.len > 0)
        json_set_str(v, member, text);
}

static void fill_event(json *v, const log_event *e, str now)
{
    char id[UUID_TEXT + 1];
    json_set_str(v, "id", id_uuid(id));
    json_set_str(v, "tsUtc", now);
    json_set_str(v, "type", str_of(e->type));
    json *actor = json_set_object(v, "actor");
    json_set_str(actor, "kind", str_of(e->actor));
    set_if_said(actor, "email", e->email);
    if (e->payload != NULL)
        json_set_json(v, "payload", e->payload);
    else
        (void)json_set_object(v, "payload"); /* empty */
    set_if_said(v, "sourceTextSnapshot", e->source);
    set_if_said(v, "clientRequestId", e->request_id);
    set_if_said(v, "proposalId", e->proposal_id);
}

typedef struct {
    str              group, appointment;
    const log_event *list;
    size_t           count;
    const json_val  *added; /* the events as they will be stored */
    bool             repeated;
} appending;

static bool is_full(const event_chunk *c, size_t more)
{
    return json_len(c->events) + more > CHUNK_EVENTS_MAX || c->bytes > CHUNK_FULL_BYTES;
}

static str next_text(arena *a, const appending *w, const json_val *so_far)
{
    json *all = json_array(a);
    for (json_iter it = json_each(so_far); json_next(&it);)
        json_push_val(all, it.value);
    for (json_iter it = json_each(w->added); json_next(&it);)
        json_push_val(all, it.value);
    return json_print(a, all);
}

/* RES_CONFLICT: somebody else has appended meanwhile. */
static res append_once(task *t, appending *w)
{
    event_chunk c = {0};
    unsigned    number;
    TRY(newest_number(t, w->group, w->appointment, &number));
    if (number > 0)
        TRY(read_chunk(t, w->group, w->appointment, number, &c));
    w->repeated = has_request(c.events, w->list[0].request_id);
    if (w->repeated)
        return RES_OK;
    if (number == 0 || is_full(&c, w->count))
        c = (event_chunk){.number = number + 1};
    blob_put how = {.content_type = STR("application/json; charset=utf-8"),
                    .if_match = c.etag,
                    .create_only = c.etag.len == 0};
    str      name = place_event_chunk(t->arena, w->group, w->appointment, c.number);
    res      r = blobs_put(t, where(), name, next_text(t->arena, w, c.events), &how, NULL);
    if (r == RES_PRECONDITION || r == RES_CONFLICT || r == RES_NOT_FOUND)
        return task_fail(t, RES_CONFLICT, "an appointment's events have changed");
    return r;
}

static res append_until_it_fits(task *t, appending *w)
{
    for (uint64_t tries = 1;; tries++) {
        res r = append_once(t, w);
        if (r != RES_CONFLICT || tries == TRIES_MAX)
            return r;
        task_forget(t);
        TRY(task_sleep(t, WAIT_MS * tries));
    }
}

/* In this process, those who write to one appointment's log queue. */
res events_append(task *t, str group, str appointment, const log_event *list, size_t count, json **ret,
                  bool *ret_repeated)
{
    arena    *a = t->arena;
    key_lock *lock;
    appending w = {.group = group, .appointment = appointment, .list = list, .count = count};
    json     *all = json_array(a);
    str       now = call_now(a);
    *ret_repeated = false;
    if (count > CHUNK_EVENTS_MAX)
        return task_fail(t, RES_TOO_LARGE, "more than %d events at once", CHUNK_EVENTS_MAX);
    for (size_t i = 0; i < count; i++)
        fill_event(json_push_object(all), &list[i], now);
    if (json_parse(a, json_print(a, all), &w.added, NULL) != RES_OK)
        return task_fail(t, RES_INTERNAL, "events of ours are no JSON");
    if (count > 0) {
        TRY(key_lock_take(
            t, arena_strf(a, "appointment-events/%.*s/%.*s", STR_ARG(group), STR_ARG(appointment)), &lock));
        res r = append_until_it_fits(t, &w);
        key_lock_release(lock);
        if (r != RES_OK)
            return r;
    }
    *ret_repeated = w.repeated;
    if (ret != NULL)
        *ret = w.repeated ? json_array(a) : all;
    return RES_OK;
}

/* ---- reading ---- */

/* From the position on downwards, until the page is full. */
static res fill_page(task *t, str group, str appointment, unsigned from, unsigned below, unsigned limit,
                     events_page *ret)
{
    for (unsigned number = from; number > 0 && ret->count < limit; number--) {
        event_chunk c;
        TRY(read_chunk(t, group, appointment, number, &c));
        size_t i = json_len(c.events);
        i = number == from && below < i ? below : i;
        while (i > 0 && ret->count < limit) {
            i--;
            ret->at[ret->count++] = json_at(c.events, i);
            ret->next_chunk = number;
            ret->next_index = (unsigned)i;
        }
    }
    if (ret->count < limit || (ret->next_chunk == 1 && ret->next_index == 0))
        ret->next_chunk = ret->next_index = 0;
    return RES_OK;
}

res events_read(task *t, str group, str appointment, unsigned chunk, unsigned index, unsigned limit,
                events_page *ret)
{
    unsigned newest;
    limit = limit < PAGE_EVENTS_MAX ? limit : PAGE_EVENTS_MAX;
    *ret = (events_page){.at = arena_array(t->arena, const json_val *, limit)};
    TRY(newest_number(t, group, appointment, &newest));
    bool from_newest = chunk == 0 || chunk > newest;
    return fill_page(t, group, appointment, from_newest ? newest : chunk, from_newest ? UINT32_MAX : index,
                     limit, ret);
}
