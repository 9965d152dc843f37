/* purge.c -- the timer schedPurge: what was deleted long ago goes for good, once purgeAfterAt has passed.
 *
 * Unless SCHED_PURGE_DRYRUN is 0 it only says what it would remove. A run removes at most PER_RUN groups and
 * appointments; the next one goes on.
 *
 * A group is first marked as being purged, under the ETag of the row that says it is deleted: from then on
 * nobody restores it (group_http.c). Then goes all that it has, and its own row last, so a run that is cut
 * off is taken up by the next. An appointment's index row goes first, again under its ETag, for without it
 * nobody finds or restores the appointment; what a crash leaves of its blobs goes with its group.
 *
 * SPDX-License-Identifier: MIT */
#include "core/clock.h"
#include "core/iso8601.h"
#include "core/log.h"
#include "core/metrics.h"
#include "domain/scheduler.h"
#include "domain/scheduler/groups.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/settings.h"

enum { PER_RUN = 500, ITEM_MEMORY = 16 * MIB, PAGE_MEMORY = 8 * MIB, BLOBS_PAGE = 200, REMOVED_AT_ONCE = 8 };

typedef struct {
    str partition, row, due;
} doomed;

typedef struct {
    arena      *a; /* the run's, which outlives pages */
    place       where;
    const char *kind; /* for people */
    str         now;
    doomed     *list;
    size_t      count, most, due, removed, kept;
    doomed     *at; /* being removed */
} run;

/* ---- what is due ---- */

static bool is_due(const entity *e, str now)
{
    str due = entity_str(e, "purgeAfterAt", (str){0});
    return entity_bool(e, "isDeleted", false) && due.len > 0 && str_compare(due, now) <= 0;
}

static res note_due(task *t, const entity *e, void *ctx)
{
    run *p = ctx;
    (void)t;
    if (!is_due(e, p->now))
        return RES_OK;
    p->due++;
    if (p->count < p->most)
        p->list[p->count++] = (doomed){arena_copy(p->a, e->partition), arena_copy(p->a, e->row),
                                       arena_copy(p->a, entity_str(e, "purgeAfterAt", (str){0}))};
    return RES_OK;
}

static res find_due(task *t, run *p)
{
    static const char *const select[] = {"isDeleted", "purgeAfterAt", NULL};
    table_query              q = {.select = select,
                                  .where = filter_and(t->arena, filter_bool(t->arena, "isDeleted", FILTER_EQ, true),
                                                      filter_str(t->arena, "purgeAfterAt", FILTER_LE, p->now))};
    p->list = arena_array(t->arena, doomed, p->most);
    return tables_each(t, place_table(p->where), &q, note_due, p);
}

/* ---- rows of a partition ---- */

typedef res before_fn(task *t, const entity *e);

typedef struct {
    place      where;
    str        partition;
    before_fn *before; /* of each row; NULL: nothing */
    bool       over;
} sweep;

static res sweep_page(task *t, void *ctx)
{
    sweep      *s = ctx;
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, s->partition),
                     .top = TABLES_BATCH_MAX};
    entity_page page;
    do {
        TRY(tables_query(t, place_table(s->where), &q, &page));
        q.token = page.token;
    } while (page.len == 0 && page.token.len > 0);
    s->over = page.len == 0;
    if (s->over)
        return RES_OK;
    table_write *writes = arena_array(t->arena, table_write, page.len);
    for (size_t i = 0; i < page.len; i++) {
        if (s->before != NULL)
            TRY(s->before(t, &page.at[i]));
        writes[i] = (table_write){.kind = WRITE_DELETE, .e = &page.at[i], .etag = ETAG_ANY};
    }
    return tables_commit(t, place_table(s->where), writes, page.len, NULL);
}

static res sweep_rows(task *t, place where, str partition, before_fn *before)
{
    sweep s = {.where = where, .partition = partition, .before = before};
    while (!s.over)
        TRY(task_scope(t, PAGE_MEMORY, sweep_page, &s));
    return RES_OK;
}

static res forget_missing(task *t, res r)
{
    if (r != RES_NOT_FOUND && r != RES_UNPROVISIONED)
        return r;
    task_forget(t);
    return RES_OK;
}

static res drop_user_group(task *t, const entity *e)
{
    return forget_missing(t,
                          tables_remove(t, place_table(PLACE_USER_GROUPS), e->row, e->partition, ETAG_ANY));
}

static str appointment_of(str row)
{
    return str_from(row, str_find_char(row, '|') + 1);
}

static res drop_participants(task *t, const entity *e)
{
    str id = appointment_of(e->row);
    str partition = arena_strf(t->arena, "g:%.*s|a:%.*s", STR_ARG(e->partition), STR_ARG(id));
    return sweep_rows(t, PLACE_APPOINTMENT_PARTICIPANTS, partition, NULL);
}

/* ---- blobs ---- */

typedef struct {
    container in;
    str       prefix;
    blob_page page;
} blob_sweep;

static res drop_blob(task *t, size_t i, void *ctx)
{
    const blob_sweep *s = ctx;
    return forget_missing(t, blobs_remove(t, s->in, s->page.at[i].name, (str){0}));
}

static res sweep_blob_page(task *t, void *ctx)
{
    blob_sweep *s = ctx;
    TRY(blobs_list(t, s->in, s->prefix, 0, BLOBS_PAGE, (str){0}, &s->page));
    return par_each(t, s->page.len, REMOVED_AT_ONCE, drop_blob, s);
}

static res sweep_blobs(task *t, container in, str prefix)
{
    blob_sweep s = {.in = in, .prefix = prefix};
    do {
        res r = task_scope(t, PAGE_MEMORY, sweep_blob_page, &s);
        if (r != RES_OK)
            return forget_missing(t, r);
    } while (s.page.len > 0);
    return RES_OK;
}

/* Documents may have a container of their own (§8). */
static res sweep_folder(task *t, str folder)
{
    const sched_settings *s = sched_settings_get();
    TRY(sweep_blobs(t, s->state, folder));
    if (str_eq(s->state.name, s->documents.name))
        return RES_OK;
    return sweep_blobs(t, s->documents, folder);
}

/* "P/{group}/state.json" without its last part. */
static str folder_of(str blob)
{
    while (blob.len > 0 && blob.at[blob.len - 1] != '/')
        blob.len--;
    return blob;
}

/* ---- a group ---- */

static res mark_group(task *t, const run *p, entity *e)
{
    TRY(tables_get(t, place_table(PLACE_GROUPS), p->at->partition, p->at->row, e));
    if (!is_due(e, p->now))
        return RES_PRECONDITION;
    if (group_is_purging(e))
        return RES_OK;
    entity_set_str(e, GROUP_PURGING, p->now);
    return tables_replace(t, place_table(PLACE_GROUPS), e, e->etag);
}

static res purge_group(task *t, void *ctx)
{
    const run *p = ctx;
    str        group = p->at->row;
    entity     e;
    TRY(mark_group(t, p, &e));
    TRY(sweep_rows(t, PLACE_GROUP_INVITE_TOKENS, group, NULL));
    TRY(sweep_rows(t, PLACE_APPOINTMENTS_INDEX, group, drop_participants));
    TRY(sweep_folder(t, folder_of(place_state_blob(t->arena, group))));
    TRY(sweep_folder(t, arena_strf(t->arena, "familyscheduler/groups/%.*s/", STR_ARG(group))));
    TRY(sweep_rows(t, PLACE_GROUP_MEMBERS, group, drop_user_group));
    return tables_remove(t, place_table(PLACE_GROUPS), p->at->partition, group, e.etag);
}

/* ---- an appointment ---- */

static res count_row(task *t, const entity *e, void *ctx)
{
    (void)t, (void)e;
    (*(size_t *)ctx)++;
    return RES_OK;
}

static res purge_appointment(task *t, void *ctx)
{
    const run *p = ctx;
    table      in = place_table(PLACE_APPOINTMENTS_INDEX);
    str        group = p->at->partition, id = appointment_of(p->at->row);
    size_t     others = 0;
    entity     e;
    TRY(tables_get(t, in, group, p->at->row, &e));
    if (!is_due(&e, p->now) || id.len == 0)
        return RES_PRECONDITION;
    TRY(tables_remove(t, in, group, p->at->row, e.etag));

    table_query q = {.where = filter_and(t->arena, filter_str(t->arena, "PartitionKey", FILTER_EQ, group),
                                         filter_str(t->arena, "appointmentId", FILTER_EQ, id))};
    TRY(tables_each(t, in, &q, count_row, &others));
    if (others > 0) /* it was moved, and this was a row that had been left behind */
        return RES_OK;
    TRY(sweep_folder(t, folder_of(place_appointment_blob(t->arena, group, id))));
    return drop_participants(t, &e);
}

/* ---- the run ---- */

/* One that cannot be removed keeps no other from going. */
static res remove_due(task *t, run *p, task_scope_fn *purge_one)
{
    for (size_t i = 0; i < p->count; i++) {
        p->at = &p->list[i];
        res r = task_scope(t, ITEM_MEMORY, purge_one, p);
        TRY(task_stopped(t));
        if (r == RES_OK) {
            p->removed++;
            log_info("purge removed %s %.*s %.*s", p->kind, STR_ARG(p->at->partition), STR_ARG(p->at->row));
            continue;
        }
        str why = task_message(t);
        p->kept++;
        log_warn("purge leaves %s %.*s %.*s (%s): %.*s", p->kind, STR_ARG(p->at->partition),
                 STR_ARG(p->at->row), res_name(r), STR_ARG(why));
        task_forget(t);
    }
    return RES_OK;
}

static void tell(const run *p)
{
    for (size_t i = 0; i < p->count; i++)
        log_info("purge would remove %s %.*s %.*s, due since %.*s", p->kind, STR_ARG(p->list[i].partition),
                 STR_ARG(p->list[i].row), STR_ARG(p->list[i].due));
}

static void count(arena *a, const run *p)
{
    const char *labels = arena_strf(a, "kind=\"%s\"", p->kind).at;
    metrics_set(metrics_gauge("trestle_scheduler_purge_due", labels, "What the last purge found due"),
                (int64_t)p->due);
    metrics_add(metrics_counter("trestle_scheduler_purged_total", labels, "What the purge removed"),
                (int64_t)p->removed);
    metrics_add(metrics_counter("trestle_scheduler_purge_kept_total", labels,
                                "What the purge left because it had changed, or storage failed"),
                (int64_t)p->kept);
}

static res purge_kind(task *t, reply *out, run *p, task_scope_fn *purge_one)
{
    p->a = t->arena;
    p->now = call_now(t->arena);
    TRY(find_due(t, p));
    bool dry = sched_settings_get()->purge_dry_run;
    res  r = RES_OK;
    if (dry)
        tell(p);
    else
        r = remove_due(t, p, purge_one);
    count(t->arena, p);
    reply_log(out, dry ? "purge, dry run: %zu of kind %s are due" : "purge: %zu of kind %s were due", p->due,
              p->kind);
    return r;
}

static res purge(task *t, reply *out)
{
    run groups = {.where = PLACE_GROUPS, .kind = "group", .most = PER_RUN};
    run appointments = {.where = PLACE_APPOINTMENTS_INDEX, .kind = "appointment"};
    TRY(places_make(t));
    TRY(purge_kind(t, out, &groups, purge_group));
    appointments.most = PER_RUN - groups.removed;
    return purge_kind(t, out, &appointments, purge_appointment);
}

/* A failure is a line in the log and no failed invocation: tomorrow's run goes on. */
res sched_purge(task *t, const request *in, reply *out)
{
    (void)in;
    if (!store_is_set_up(STORE_MAIN) || sched_settings_get()->state.name.len == 0) {
        reply_log(out, "purge: the scheduler is not set up");
        return RES_OK;
    }
    res r = purge(t, out);
    TRY(task_stopped(t));
    if (r == RES_OK || r == RES_MEMORY)
        return r;
    str why = task_message(t);
    log_error("purge failed with %s: %.*s", res_name(r), STR_ARG(why));
    reply_log(out, "purge failed with %s", res_name(r));
    task_forget(t);
    return RES_OK;
}
