/* groups.c -- see groups.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/groups.h"

#include "core/iso8601.h"
#include "core/log.h"
#include "domain/scheduler/places.h"

#define GROUPS_PARTITION STR("group")

static group_row of_row(const entity *row)
{
    return (group_row){
        .row = *row,
        .id = row->row,
        .name = entity_str(row, "groupName", (str){0}),
        .created_at = entity_str(row, "createdAt", (str){0}),
        .updated_at = entity_str(row, "updatedAt", (str){0}),
        .created_by = entity_str(row, "createdByUserKey", (str){0}),
        .deleted = entity_bool(row, "isDeleted", false),
        .deleted_at = entity_str(row, "deletedAt", (str){0}),
        .active = (int)entity_int(row, "memberCountActive", 0),
        .invited = (int)entity_int(row, "memberCountInvited", 0),
        .upcoming = (int)entity_int(row, "appointmentCountUpcoming", 0),
    };
}

res group_read(task *t, str id, group_row *ret)
{
    entity row;
    TRY(tables_get(t, place_table(PLACE_GROUPS), GROUPS_PARTITION, id, &row));
    *ret = of_row(&row);
    return RES_OK;
}

res group_insert(task *t, str id, str name, str user_key, str now, group_row *ret)
{
    entity row = entity_new(t->arena, GROUPS_PARTITION, id);
    entity_set_str(&row, "groupId", id);
    entity_set_str(&row, "groupName", name);
    entity_set_str(&row, "createdAt", now);
    entity_set_str(&row, "updatedAt", now);
    entity_set_str(&row, "createdByUserKey", user_key);
    entity_set_bool(&row, "isDeleted", false);
    TRY(tables_insert(t, place_table(PLACE_GROUPS), &row));
    *ret = of_row(&row);
    return RES_OK;
}

/* ---- changing ---- */

typedef struct {
    update_fn *fn;
    void      *ctx;
} change;

static res apply(task *t, entity *e, bool is_new, void *ctx)
{
    const change *c = ctx;
    return is_new ? RES_NOT_FOUND : c->fn(t, e, false, c->ctx);
}

res group_change(task *t, str id, update_fn *fn, void *ctx, group_row *ret)
{
    entity row;
    change c = {.fn = fn, .ctx = ctx};
    TRY(update_entity(t, place_table(PLACE_GROUPS), GROUPS_PARTITION, id, apply, &c, &row));
    if (ret != NULL)
        *ret = of_row(&row);
    return RES_OK;
}

res group_change_from(task *t, const group_row *from, update_fn *fn, void *ctx, group_row *ret)
{
    entity e = entity_copy(t->arena, &from->row);
    res    r = fn(t, &e, false, ctx);
    if (r == RES_OK)
        r = tables_replace(t, place_table(PLACE_GROUPS), &e, from->row.etag);
    if (r == RES_PRECONDITION) {
        task_forget(t);
        return group_change(t, from->id, fn, ctx, ret);
    }
    if (r != RES_OK && r != UPDATE_NOTHING)
        return r;
    *ret = of_row(&e);
    return RES_OK;
}

typedef struct {
    int active, invited, upcoming;
} counts;

static void add(entity *e, const char *name, int n)
{
    int64_t sum = entity_int(e, name, 0) + n;
    if (n != 0 || !entity_has(e, name))
        entity_set_int32(e, name, (int32_t)(sum < 0 ? 0 : sum > INT32_MAX ? INT32_MAX : sum));
}

static res add_counts(task *t, entity *e, bool is_new, void *ctx)
{
    const counts *n = ctx;
    (void)t, (void)is_new;
    add(e, "memberCountActive", n->active);
    add(e, "memberCountInvited", n->invited);
    add(e, "appointmentCountUpcoming", n->upcoming);
    return RES_OK;
}

void group_count(task *t, str id, int active, int invited, int upcoming)
{
    counts n = {active, invited, upcoming};
    if (active == 0 && invited == 0 && upcoming == 0)
        return;
    res r = group_change(t, id, add_counts, &n, NULL);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_warn("counters of group %.*s: %s (%.*s)", STR_ARG(id), res_name(r), STR_ARG(why));
    task_forget(t);
}

/* ---- rules ---- */

bool group_is_purging(const entity *row)
{
    return entity_has(row, GROUP_PURGING);
}

static size_t characters(str utf8)
{
    size_t n = 0;
    for (size_t i = 0; i < utf8.len; i++)
        n += (utf8.at[i] & 0xc0) != 0x80;
    return n;
}

bool group_name_ok(str name)
{
    return name.len > 0 && characters(name) <= GROUP_NAME_MAX;
}

str purge_after(arena *a, str deleted_at)
{
    int64_t us;
    if (!iso8601_parse(deleted_at, &us))
        return deleted_at;
    return iso8601_arena(a, us + PURGE_AFTER_DAYS * INT64_C(86400000000), 3);
}
