/* appointment_list.c -- the appointments of a group, and how callers see them (appointments.h).
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/log.h"
#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/appointment_store.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/state.h"

enum { DOCUMENT_MEMORY = 8 * MIB };

static str text_of(const json_val *doc, const char *name)
{
    return json_text(json_get(doc, name), (str){0});
}

/* ---- rows ---- */

typedef struct {
    str          group;
    entity      *rows;
    size_t       len;
    bool         truncated;
    appointment *found; /* by row; an empty id: skipped */
} listing;

static int by_id_newest_first(const void *left, const void *right)
{
    const entity *a = left, *b = right;
    int           order =
        str_compare(entity_str(a, "appointmentId", (str){0}), entity_str(b, "appointmentId", (str){0}));
    if (order != 0)
        return order;
    return str_compare(entity_str(b, "updatedAt", (str){0}), entity_str(a, "updatedAt", (str){0}));
}

/* Of two rows for one appointment the one that changed last counts. */
static size_t without_doubles(entity *rows, size_t len)
{
    size_t n = 0;
    if (len > 1)
        qsort(rows, len, sizeof *rows, by_id_newest_first);
    for (size_t i = 0; i < len; i++) {
        str id = entity_str(&rows[i], "appointmentId", (str){0});
        if (id.len > 0 && (n == 0 || !str_eq(id, entity_str(&rows[n - 1], "appointmentId", (str){0}))))
            rows[n++] = rows[i];
    }
    return n;
}

static res read_rows(task *t, listing *l)
{
    arena        *a = t->arena;
    const filter *live = filter_not(a, filter_bool(a, "isDeleted", FILTER_EQ, true));
    table_query   q = {.where = filter_and(a, filter_str(a, "PartitionKey", FILTER_EQ, l->group), live)};
    l->rows = arena_array(a, entity, APPOINTMENTS_LISTED_MAX);
    do {
        entity_page page;
        TRY(tables_query(t, place_table(PLACE_APPOINTMENTS_INDEX), &q, &page));
        for (size_t i = 0; i < page.len && l->len < APPOINTMENTS_LISTED_MAX; i++)
            l->rows[l->len++] = page.at[i];
        q.token = page.token;
        l->truncated = l->len == APPOINTMENTS_LISTED_MAX && q.token.len > 0;
    } while (q.token.len > 0 && !l->truncated);
    l->len = without_doubles(l->rows, l->len);
    return RES_OK;
}

/* ---- documents ---- */

typedef struct {
    arena        *keep;
    str           group;
    const entity *row;
    appointment  *ret;
} one;

/* What the exchange needs is freed at once; the document stays. */
static res read_document(task *t, void *ctx)
{
    one            *o = ctx;
    const json_val *doc, *kept;
    str             etag, id = entity_str(o->row, "appointmentId", (str){0});
    TRY(appointment_document(t, o->group, id, &doc, &etag));
    if (json_parse(o->keep, json_print_val(t->arena, doc), &kept, NULL) != RES_OK)
        return task_fail(t, RES_INTERNAL, "a document that was read is no JSON");
    appointment_fill(o->keep, o->group, o->row, kept, arena_copy(o->keep, etag), o->ret);
    return RES_OK;
}

static res read_one(task *t, size_t i, void *ctx)
{
    listing *l = ctx;
    one      o = {t->arena, l->group, &l->rows[i], &l->found[i]};
    str      id = entity_str(o.row, "appointmentId", (str){0});
    res      r = task_scope(t, DOCUMENT_MEMORY, read_document, &o);
    if (r == RES_OK) { /* a deletion that has not reached its row yet */
        if (index_is_behind(o.row, o.ret->doc) && json_truth(json_get(o.ret->doc, "isDeleted"), false))
            o.ret->id = (str){0};
        return RES_OK;
    }
    if (r != RES_NOT_FOUND && r != RES_UPSTREAM && r != RES_TOO_LARGE)
        return r;
    str why = task_message(t);
    log_warn("appointment '%.*s' of group %.*s is skipped, its document: %s (%.*s)", STR_ARG(id),
             STR_ARG(l->group), res_name(r), STR_ARG(why));
    task_forget(t);
    return RES_OK;
}

static str changed_at(const appointment *p)
{
    str row = entity_str(&p->index, "updatedAt", (str){0}), doc = text_of(p->doc, "updatedAt");
    return str_compare(row, doc) > 0 ? row : doc;
}

static int newest_change_first(const void *left, const void *right)
{
    const appointment *a = left, *b = right;
    int                order = str_compare(changed_at(b), changed_at(a));
    return order != 0 ? order : str_compare(a->id, b->id);
}

res appointments_list(task *t, str group, appointment **ret, size_t *ret_count, bool *ret_truncated)
{
    listing l = {.group = group};
    size_t  n = 0;
    TRY(read_rows(t, &l));
    l.found = arena_array(t->arena, appointment, l.len);
    TRY(par_each(t, l.len, DOCUMENTS_AT_ONCE, read_one, &l));
    for (size_t i = 0; i < l.len; i++)
        if (l.found[i].id.len > 0)
            l.found[n++] = l.found[i];
    if (n > 1)
        qsort(l.found, n, sizeof *l.found, newest_change_first);
    *ret = l.found, *ret_count = n, *ret_truncated = l.truncated;
    return RES_OK;
}
