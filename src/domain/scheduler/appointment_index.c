/* appointment_index.c -- see appointment_index.h.
 *
 * Codes. The last number given is a column of the group's row (`appointmentCodeLast`), raised with If-Match:
 * two processes never get the same one, and one that is given is not given again, even if its appointment
 * never came to be. Rows that other writers added, with a higher number or with none, are looked for before
 * each step (a query that normally finds nothing), and the counter goes on behind them; of rows without a
 * number the documents are read. In the process, creations of one group queue, so that they do not collide
 * over the row.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/appointment_index.h"

#include <stdlib.h>

#include "core/log.h"
#include "domain/scheduler/appointment_doc.h"
#include "domain/scheduler/groups.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"
#include "runtime/key_lock.h"

enum { TRIES_MAX = 8, FOUND_MAX = 100, WAIT_MS = 5, CODE_MAX = 1000 * 1000 * 1000 };

static table where(void)
{
    return place_table(PLACE_APPOINTMENTS_INDEX);
}

static str column(const entity *row, const char *name)
{
    return entity_str(row, name, (str){0});
}

static str text_of(const json_val *doc, const char *member)
{
    return json_text(json_get(doc, member), (str){0});
}

/* ---- codes as text ---- */

int64_t code_number(str code)
{
    uint64_t n;
    code = str_trim(code);
    if (!str_starts_nocase(code, STR("APPT")))
        return 0;
    code = str_trim(str_from(code, 4));
    if (str_starts(code, STR("-")))
        code = str_from(code, 1);
    code = str_trim(code);
    return str_to_u64(code, &n) && n <= CODE_MAX ? (int64_t)n : 0;
}

/* ---- finding ---- */

static int newest_first(const void *left, const void *right)
{
    return str_compare(column(right, "updatedAt"), column(left, "updatedAt"));
}

static res find(task *t, const filter *more, str group, size_t most, index_rows *ret)
{
    table_query q = {.where =
                         filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, group), more)};
    *ret = (index_rows){0};
    do {
        entity_page page;
        TRY(tables_query(t, where(), &q, &page));
        entity *all = arena_array(t->arena, entity, ret->len + page.len);
        for (size_t i = 0; i < ret->len + page.len; i++)
            all[i] = i < ret->len ? ret->at[i] : page.at[i - ret->len];
        *ret = (index_rows){all, ret->len + page.len};
        q.token = page.token;
    } while (q.token.len > 0 && ret->len < most);
    if (ret->len > 1)
        qsort(ret->at, ret->len, sizeof *ret->at, newest_first);
    return RES_OK;
}

res index_find(task *t, str group, str id, index_rows *ret)
{
    return find(t, filter_str(t->arena, "appointmentId", FILTER_EQ, id), group, FOUND_MAX, ret);
}

/* A comparison with a column that is not there is false, so its opposite finds rows without it. */
static const filter *without_number(arena *a)
{
    return filter_not(a, filter_int32(a, "codeNo", FILTER_GE, 1));
}

res index_find_code(task *t, str group, int64_t number, index_rows *ret)
{
    arena        *a = t->arena;
    const filter *f = filter_or(a, filter_int32(a, "codeNo", FILTER_EQ, (int32_t)number), without_number(a));
    return find(t, f, group, APPOINTMENTS_LISTED_MAX, ret);
}

/* ---- one row ---- */

bool index_is_behind(const entity *row, const json_val *doc)
{
    return str_compare(column(row, "updatedAt"), text_of(doc, "updatedAt")) < 0;
}

static void set_or_drop(entity *e, const char *name, str value)
{
    if (value.len > 0)
        entity_set_str(e, name, value);
    else
        entity_drop(e, name);
}

/* before: the newest row, or NULL; columns that nobody here knows are kept. */
static entity row_of(arena *a, str group, str id, const json_val *doc, const entity *before)
{
    when    time;
    bool    known, deleted = json_truth(json_get(doc, "isDeleted"), false);
    int64_t number = code_number(text_of(doc, "code"));
    appointment_doc_time(a, doc, &time);
    int64_t us = appointment_doc_moment(doc, &time, &known);
    when    at = {.start_us = us};
    entity  e = before != NULL ? entity_copy(a, before) : entity_new(a, group, id);
    str     captured = text_of(doc, "scanCapturedAt"),
        created = before != NULL ? column(before, "createdAt") : (str){0};
    e.partition = group;
    e.row = appointment_row_key(a, &at, id, us);
    entity_set_str(&e, "appointmentId", id);
    set_or_drop(&e, "startTime", known ? iso8601_arena(a, us, 3) : (str){0});
    entity_set_str(&e, "status", deleted ? STR("deleted") : STR("active"));
    entity_set_bool(&e, "hasScan", captured.len > 0 || text_of(doc, "scanImageKey").len > 0);
    set_or_drop(&e, "scanCapturedAt", captured);
    entity_set_str(&e, "createdAt", created.len > 0 ? created : text_of(doc, "createdAt"));
    entity_set_str(&e, "updatedAt", text_of(doc, "updatedAt"));
    entity_set_bool(&e, "isDeleted", deleted);
    set_or_drop(&e, "deletedAt", text_of(doc, "deletedAt"));
    set_or_drop(&e, "deletedByUserKey", text_of(doc, "deletedByUserKey"));
    set_or_drop(&e, "purgeAfterAt", text_of(doc, "purgeAfterAt"));
    set_or_drop(&e, "code", text_of(doc, "code"));
    if (number > 0)
        entity_set_int32(&e, "codeNo", (int32_t)number);
    return e;
}

str appointment_row_key(arena *a, const when *time, str id, int64_t created_us)
{
    civil_time c;
    civil_from_us(time->status == TIME_RESOLVED && time->start_us != 0 ? time->start_us : created_us, &c);
    return arena_strf(a, "%04d%02d%02d%02d%02d%02dZ|%.*s", c.year, c.month, c.day, c.hour, c.minute, c.second,
                      STR_ARG(id));
}

/* ---- writing ---- */

/* One write each: the row in its place is replaced, every other one deleted, a missing one inserted. */
static res write_rows(task *t, index_rows rows, entity *next)
{
    size_t       n = 0;
    bool         in_place = false;
    table_write *writes = arena_array(t->arena, table_write, rows.len + 1);
    for (size_t i = 0; i < rows.len && n < TABLES_BATCH_MAX - 1; i++) {
        bool same = str_eq(rows.at[i].row, next->row);
        in_place |= same;
        writes[n++] = same ? (table_write){.kind = WRITE_REPLACE, .e = next, .etag = rows.at[i].etag}
                           : (table_write){.kind = WRITE_DELETE, .e = &rows.at[i], .etag = rows.at[i].etag};
    }
    if (!in_place)
        writes[n++] = (table_write){.kind = WRITE_INSERT, .e = next};
    return n == 1 ? tables_write(t, where(), writes) : tables_commit(t, where(), writes, n, NULL);
}

static bool was_overtaken(res r)
{
    return r == RES_PRECONDITION || r == RES_NOT_FOUND || r == RES_CONFLICT;
}

res index_put(task *t, str group, str id, const json_val *doc, index_rows rows, entity *ret)
{
    for (unsigned tries = 1;; tries++) {
        const entity *newest = rows.len > 0 ? rows.at : NULL;
        if (newest != NULL && !index_is_behind(newest, doc)) { /* somebody else has mended it, or is ahead */
            *ret = *newest;
            return RES_OK;
        }
        entity next = row_of(t->arena, group, id, doc, newest);
        res    r = write_rows(t, rows, &next);
        if (r == RES_OK)
            *ret = next;
        if (!was_overtaken(r) || tries == TRIES_MAX)
            return r;
        task_forget(t);
        TRY(task_sleep(t, WAIT_MS * tries));
        TRY(index_find(t, group, id, &rows));
    }
}

/* ---- giving codes ---- */

/* The highest number among rows that the counter does not know of. */
typedef struct {
    str        group;
    index_rows rows;
    int64_t   *numbers;
} strangers;

static res read_number(task *t, size_t i, void *ctx)
{
    strangers      *s = ctx;
    blob_got        got;
    const json_val *doc;
    str             id = column(&s->rows.at[i], "appointmentId");
    s->numbers[i] = entity_int(&s->rows.at[i], "codeNo", 0);
    if (s->numbers[i] > 0 || id.len == 0)
        return RES_OK;
    res r = blobs_get(t, sched_settings_get()->documents, place_appointment_blob(t->arena, s->group, id),
                      &(blob_get){.bytes_max = DOCUMENT_MAX}, &got);
    if (r == RES_OK && json_parse(t->arena, got.body, &doc, NULL) == RES_OK)
        s->numbers[i] = code_number(text_of(doc, "code"));
    if (r != RES_NOT_FOUND && r != RES_UNPROVISIONED && r != RES_TOO_LARGE)
        return r;
    task_forget(t); /* no document, no code */
    return RES_OK;
}

static res highest_stranger(task *t, str group, int64_t last, int64_t *ret)
{
    arena        *a = t->arena;
    strangers     s = {.group = group};
    const filter *known = filter_int32(a, "codeNo", FILTER_GE, 1);
    const filter *f =
        filter_not(a, filter_and(a, known, filter_int32(a, "codeNo", FILTER_LE, (int32_t)last)));
    TRY(find(t, f, group, APPOINTMENTS_LISTED_MAX, &s.rows));
    s.numbers = arena_array(a, int64_t, s.rows.len);
    TRY(par_each(t, s.rows.len, DOCUMENTS_AT_ONCE, read_number, &s));
    *ret = last;
    for (size_t i = 0; i < s.rows.len; i++)
        *ret = s.numbers[i] > *ret ? s.numbers[i] : *ret;
    return RES_OK;
}

static res raise_counter(task *t, entity *e, bool is_new, void *ctx)
{
    int64_t *number = ctx, last = entity_int(e, "appointmentCodeLast", 0);
    (void)t, (void)is_new;
    if (last >= *number)
        *number = last + 1;
    entity_set_int32(e, "appointmentCodeLast", (int32_t)*number);
    return RES_OK;
}

static res next_number(task *t, str group, int64_t *ret)
{
    group_row g;
    int64_t   highest;
    TRY(group_read(t, group, &g));
    TRY(highest_stranger(t, group, entity_int(&g.row, "appointmentCodeLast", 0), &highest));
    *ret = highest + 1;
    return group_change(t, group, raise_counter, ret, NULL);
}

res index_next_code(task *t, str group, str *ret)
{
    key_lock *lock;
    int64_t   number = 0;
    TRY(key_lock_take(t, arena_strf(t->arena, "appointment-codes/%.*s", STR_ARG(group)), &lock));
    res r = next_number(t, group, &number);
    key_lock_release(lock);
    if (r != RES_OK)
        return task_fail(t, r, "a code for an appointment of group %.*s", STR_ARG(group));
    *ret = arena_strf(t->arena, "APPT-%lld", (long long)number);
    return RES_OK;
}
