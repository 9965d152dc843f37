/* appointment_read.c -- one appointment, by its id or its code (appointments.h).
 *
 * A crash between a document and its row leaves the row behind. Whoever reads that brings it up to date, so
 * that the index is right again before the next write; a row that is deleted is never brought back to life
 * by reading alone.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/appointment_store.h"

#include "core/log.h"
#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"

enum { ID_MAX = 200 };

static str text_of(const json_val *doc, const char *member)
{
    return json_text(json_get(doc, member), (str){0});
}

void appointment_fill(arena *a, str group, const entity *row, const json_val *doc, str etag, appointment *ret)
{
    str id = entity_str(row, "appointmentId", (str){0});
    *ret = (appointment){
        .index = *row,
        .doc = doc,
        .etag = etag,
        .group = group,
        .id = id,
        .code = text_of(doc, "code"),
        .title = text_of(doc, "title"),
        .deleted = entity_bool(row, "isDeleted", false),
    };
    appointment_doc_time(a, doc, &ret->time);
}

/* RES_NOT_FOUND: no document; RES_UPSTREAM: one that is damaged. */
res appointment_document(task *t, str group, str id, const json_val **ret, str *ret_etag)
{
    blob_got got;
    res      r = blobs_get(t, sched_settings_get()->documents, place_appointment_blob(t->arena, group, id),
                           &(blob_get){.bytes_max = DOCUMENT_MAX}, &got);
    if (r == RES_UNPROVISIONED)
        return RES_NOT_FOUND;
    if (r != RES_OK)
        return r;
    if (json_parse(t->arena, got.body, ret, NULL) != RES_OK || json_typeof(*ret) != JSON_OBJECT)
        return task_fail(t, RES_UPSTREAM, "the document of appointment '%.*s' is damaged", STR_ARG(id));
    *ret_etag = got.info.etag;
    return RES_OK;
}

static bool id_is_fit(str id)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.at[i] <= ' ' || id.at[i] > '~' || id.at[i] == '/' || id.at[i] == '\\')
            return false;
    return id.len > 0 && id.len <= ID_MAX;
}

/* Failure is no harm to who reads. */
static void mend(task *t, str group, str id, const json_val *doc, index_rows rows, entity *row)
{
    res r = index_put(t, group, id, doc, rows, row);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_warn("the index row of an appointment of group %.*s stays behind: %s (%.*s)", STR_ARG(group),
             res_name(r), STR_ARG(why));
    task_forget(t);
}

res appointment_open(task *t, str group, str id, bool with_deleted, index_rows *ret_rows, appointment *ret)
{
    const json_val *doc;
    str             etag;
    if (!id_is_fit(id))
        return RES_NOT_FOUND;
    TRY(index_find(t, group, id, ret_rows));
    if (ret_rows->len == 0 || (entity_bool(ret_rows->at, "isDeleted", false) && !with_deleted))
        return RES_NOT_FOUND;
    TRY(appointment_document(t, group, id, &doc, &etag));
    appointment_fill(t->arena, group, ret_rows->at, doc, etag, ret);
    return RES_OK;
}

res appointment_read(task *t, str group, str id, bool with_deleted, appointment *ret)
{
    index_rows  rows;
    appointment p;
    TRY(appointment_open(t, group, id, with_deleted, &rows, &p));
    if (!p.deleted && index_is_behind(&p.index, p.doc)) {
        mend(t, group, p.id, p.doc, rows, &p.index);
        p.deleted = entity_bool(&p.index, "isDeleted", false);
    }
    if (p.deleted && !with_deleted)
        return RES_NOT_FOUND;
    *ret = p;
    return RES_OK;
}

/* ---- by code ---- */

/* Rows of other writers have no code: then the document decides. */
static res has_code(task *t, str group, const entity *row, int64_t number, bool *ret)
{
    const json_val *doc;
    str             etag, id = entity_str(row, "appointmentId", (str){0});
    *ret = entity_int(row, "codeNo", 0) == number;
    if (*ret || entity_has(row, "codeNo") || id.len == 0)
        return RES_OK;
    res r = appointment_document(t, group, id, &doc, &etag);
    if (r == RES_OK)
        *ret = code_number(text_of(doc, "code")) == number;
    if (r != RES_NOT_FOUND && r != RES_UPSTREAM)
        return r;
    task_forget(t);
    return RES_OK;
}

typedef struct {
    str        group;
    index_rows rows;
    int64_t    number;
    bool       with_deleted;
    bool      *fits;
} code_search;

static res try_row(task *t, size_t i, void *ctx)
{
    code_search *s = ctx;
    if (entity_bool(&s->rows.at[i], "isDeleted", false) && !s->with_deleted)
        return RES_OK;
    return has_code(t, s->group, &s->rows.at[i], s->number, &s->fits[i]);
}

res appointment_by_code(task *t, str group, str code, bool with_deleted, appointment *ret)
{
    code_search s = {.group = group, .number = code_number(code), .with_deleted = with_deleted};
    str         id = {0};
    if (s.number == 0)
        return RES_NOT_FOUND;
    TRY(index_find_code(t, group, s.number, &s.rows));
    s.fits = arena_array(t->arena, bool, s.rows.len);
    TRY(par_each(t, s.rows.len, DOCUMENTS_AT_ONCE, try_row, &s));
    for (size_t i = 0; i < s.rows.len; i++) {
        str one = entity_str(&s.rows.at[i], "appointmentId", (str){0});
        if (!s.fits[i] || str_eq(one, id))
            continue;
        if (id.len > 0)
            return task_fail(t, RES_CONFLICT, "'APPT-%lld' is the code of several", (long long)s.number);
        id = one;
    }
    return id.len > 0 ? appointment_read(t, group, id, with_deleted, ret) : RES_NOT_FOUND;
}
