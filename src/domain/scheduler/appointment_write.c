/* appointment_write.c -- appointments made, changed, deleted and restored (appointments.h).
 *
 * A write is the document with If-Match, then its index row. Each version of a document is later than the
 * one before (appointment_later), and rows are only ever written from a later document: so writers of
 * several processes may pass each other between the two steps, and the row of the last document wins. In
 * this process the writers of one appointment queue.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/appointment_store.h"
#include "domain/scheduler/call.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/groups.h"
#include "domain/scheduler/participants.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"
#include "runtime/key_lock.h"

enum { TRIES_MAX = 4, WAIT_MS = 10, US_PER_MS = 1000 };

static str text_of(const json_val *doc, const char *member)
{
    return json_text(json_get(doc, member), (str){0});
}

/* RES_CONFLICT: there is another version by now (or, of a new one, any). */
static res put_document(task *t, str group, str id, str text, str etag, str *ret_etag)
{
    blob_info info;
    blob_put  how = {.content_type = STR("application/json; charset=utf-8"),
                     .if_match = etag,
                     .create_only = etag.len == 0};
    str       name = place_appointment_blob(t->arena, group, id);
    res       r = blobs_put(t, sched_settings_get()->documents, name, text, &how, &info);
    if (r == RES_PRECONDITION || r == RES_CONFLICT || r == RES_NOT_FOUND)
        return task_fail(t, RES_CONFLICT, "appointment '%.*s' has changed", STR_ARG(id));
    if (r == RES_OK)
        *ret_etag = info.etag;
    return r;
}

static res as_read(task *t, str text, const json_val **ret)
{
    return json_parse(t->arena, text, ret, NULL) == RES_OK
               ? RES_OK
               : task_fail(t, RES_INTERNAL, "a document of ours is no JSON");
}

/* Failures after this point are of copies, so the members of the appointment are told from the document. */
static res write_both(task *t, str group, str id, str text, str etag, index_rows rows, appointment *ret)
{
    const json_val *doc;
    entity          row;
    str             written;
    TRY(as_read(t, text, &doc));
    TRY(put_document(t, group, id, text, etag, &written));
    TRY(index_put(t, group, id, doc, rows, &row));
    appointment_fill(t->arena, group, &row, doc, written, ret);
    return RES_OK;
}

/* ---- creating ---- */

static str usual_id(arena *a, str code)
{
    return arena_strf(a, "%lld-%.*s", (long long)(clock_wall_us() / US_PER_MS), STR_ARG(code));
}

res appointment_create(task *t, str group, str id, const appointment_change *first, const actor *by,
                       appointment *ret)
{
    str                code;
    appointment_change all = *first;
    if ((all.set & SET_TIME) == 0)
        all.time = (when){.status = TIME_UNRESOLVED, .missing = MISSING_DATE};
    TRY(index_next_code(t, group, &code));
    doc_step s = {.code = code, .id = id.len > 0 ? id : usual_id(t->arena, code), .now = call_now(t->arena)};
    str      text = appointment_doc_text(t->arena, NULL, &all, &s);
    TRY(write_both(t, group, s.id, text, (str){0}, (index_rows){0}, ret));
    count_daily(t, COUNT_NEW_APPOINTMENTS, 1);
    group_count(t, group, 0, 0, 1);
    participant_change p = {.group = group, .id = s.id, .people = json_get(ret->doc, "people"), .by = by};
    participants_follow(t, &p);
    return task_stopped(t);
}

/* ---- changing ---- */

typedef struct {
    str                       group, id;
    const appointment_change *change;
    const actor              *by;
    appointment_life          life;
    appointment               before;
    bool                      was; /* it was so already: nothing is written */
} writing;

/* A crash came between document and row, of a deletion or a restoration. */
static bool is_torn(const appointment *p)
{
    return index_is_behind(&p->index, p->doc) &&
           json_truth(json_get(p->doc, "isDeleted"), false) != p->deleted;
}

static bool was_being_deleted(const appointment *p)
{
    return is_torn(p) && !p->deleted;
}

/* A step that was torn is done again. */
static bool is_so_already(const writing *w, const appointment *p)
{
    return w->life != LIFE_STAYS && !is_torn(p) && p->deleted == (w->life == LIFE_ENDS);
}

static res write_once(task *t, writing *w, appointment *ret)
{
    index_rows rows;
    TRY(appointment_open(t, w->group, w->id, w->life != LIFE_STAYS, &rows, &w->before));
    const appointment *p = &w->before;
    if (w->change->if_match.len > 0 && !str_eq(w->change->if_match, p->etag))
        return task_fail(t, RES_CONFLICT, "appointment '%.*s' has changed", STR_ARG(w->id));
    if (w->life == LIFE_STAYS && was_being_deleted(p)) {
        entity row;
        TRY(index_put(t, w->group, p->id, p->doc, rows, &row));
        return RES_NOT_FOUND;
    }
    w->was = is_so_already(w, p);
    if (w->was) {
        *ret = *p;
        return RES_OK;
    }
    doc_step s = {.id = p->id,
                  .code = p->code,
                  .user_key = w->by->user_key,
                  .life = w->life,
                  .now = appointment_later(t->arena, text_of(p->doc, "updatedAt"),
                                           entity_str(&p->index, "updatedAt", (str){0}))};
    str      text = appointment_doc_text(t->arena, p->doc, w->change, &s);
    return write_both(t, w->group, p->id, text, p->etag, rows, ret);
}

static res write_until_it_fits(task *t, writing *w, appointment *ret)
{
    for (uint64_t tries = 1;; tries++) {
        res r = write_once(t, w, ret);
        if (r != RES_CONFLICT || tries == TRIES_MAX || w->change->if_match.len > 0)
            return r;
        task_forget(t);
        TRY(task_sleep(t, WAIT_MS * tries));
    }
}

static res write_alone(task *t, writing *w, appointment *ret)
{
    key_lock *lock;
    TRY(key_lock_take(t, arena_strf(t->arena, "appointment/%.*s/%.*s", STR_ARG(w->group), STR_ARG(w->id)),
                      &lock));
    res r = write_until_it_fits(t, w, ret);
    key_lock_release(lock);
    return r;
}

res appointment_update(task *t, str group, str id, const appointment_change *change, const actor *by,
                       appointment *ret)
{
    writing w = {.group = group, .id = id, .change = change, .by = by};
    TRY(write_alone(t, &w, ret));
    if ((change->set & SET_PEOPLE) == 0)
        return RES_OK;
    const json_val    *before = json_get(w.before.doc, "people"), *none = NULL;
    participant_change p = {.group = group, .id = id, .people = json_get(ret->doc, "people"), .by = by};
    TRY(as_read(t, STR("[]"), &none));
    p.dropped = before != NULL ? before : none;
    participants_follow(t, &p);
    return task_stopped(t);
}

static res change_life(task *t, str group, str id, appointment_life life, const actor *by, bool *ret_was)
{
    appointment        p;
    appointment_change nothing = {0};
    writing            w = {.group = group, .id = id, .change = &nothing, .by = by, .life = life};
    TRY(write_alone(t, &w, &p));
    *ret_was = w.was;
    if (!w.was)
        group_count(t, group, 0, 0, life == LIFE_ENDS ? -1 : 1);
    return task_stopped(t);
}

res appointment_delete(task *t, str group, str id, const actor *by, bool *ret_was)
{
    return change_life(t, group, id, LIFE_ENDS, by, ret_was);
}

res appointment_restore(task *t, str group, str id, const actor *by, bool *ret_was)
{
    return change_life(t, group, id, LIFE_RETURNS, by, ret_was);
}
