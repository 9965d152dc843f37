/* participants.c -- see participants.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/participants.h"

#include "core/log.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"

enum { WRITES_AT_ONCE = 8, PARTICIPANTS_MAX = 1000 };

static str column(const entity *row, const char *name)
{
    return entity_str(row, name, (str){0});
}

static str partition_of(arena *a, str group, str id)
{
    return arena_strf(a, "g:%.*s|a:%.*s", STR_ARG(group), STR_ARG(id));
}

/* ---- reading ---- */

static res find(task *t, str group, str id, entity **ret, size_t *ret_count)
{
    str         partition = partition_of(t->arena, group, id);
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, partition)};
    *ret = NULL, *ret_count = 0;
    do {
        entity_page page;
        TRY(tables_query(t, place_table(PLACE_APPOINTMENT_PARTICIPANTS), &q, &page));
        entity *all = arena_array(t->arena, entity, *ret_count + page.len);
        for (size_t i = 0; i < *ret_count + page.len; i++)
            all[i] = i < *ret_count ? (*ret)[i] : page.at[i - *ret_count];
        *ret = all, *ret_count += page.len;
        q.token = page.token;
    } while (q.token.len > 0 && *ret_count < PARTICIPANTS_MAX);
    return RES_OK;
}

res participants_read(task *t, str group, str id, participant **ret, size_t *ret_count)
{
    entity *rows;
    TRY(find(t, group, id, &rows, ret_count));
    *ret = arena_array(t->arena, participant, *ret_count);
    for (size_t i = 0; i < *ret_count; i++)
        (*ret)[i] = (participant){.member_key = str_from(rows[i].row, 2),
                                  .status = column(&rows[i], "status"),
                                  .role = column(&rows[i], "role"),
                                  .assigned_at = column(&rows[i], "assignedAt"),
                                  .assigned_by = column(&rows[i], "assignedBy")};
    return RES_OK;
}

/* ---- writing ---- */

typedef struct {
    str  person, member_key; /* no key: not a member, so there is no row */
    bool stays, organizes;
} wish;

typedef struct {
    const participant_change *c;
    wish                     *wishes;
    str                       now;
} following;

/* Free-text names and numbered persons are not members; nor is who never was in this group. */
static res find_member(task *t, const following *f, wish *w)
{
    member m;
    if (w->member_key.len > 0 || w->person.len != SHA256_HEX)
        return RES_OK;
    res r = member_read(t, f->c->group, w->person, &m);
    if (r == RES_OK)
        w->member_key = m.member_key.len > 0 ? m.member_key : auth_member_key_of(t->arena, w->person);
    if (r != RES_NOT_FOUND)
        return r;
    task_forget(t);
    return RES_OK;
}

typedef struct {
    const following *f;
    const wish      *w;
} row_change;

static res set_row(task *t, entity *e, bool is_new, void *ctx)
{
    const row_change *x = ctx;
    str               status = x->w->stays ? STR("assigned") : STR("removed");
    (void)t;
    if (str_eq(column(e, "status"), status) || (is_new && !x->w->stays))
        return UPDATE_NOTHING;
    entity_set_str(e, "status", status);
    if (is_new)
        entity_set_str(e, "role", x->w->organizes ? STR("organizer") : STR("attendee"));
    if (x->w->stays) {
        entity_set_str(e, "assignedAt", x->f->now);
        entity_set_str(e, "assignedBy", x->f->c->by->member_key);
    }
    entity_set_str(e, "updatedAt", x->f->now);
    return RES_OK;
}

static res follow_one(task *t, size_t i, void *ctx)
{
    following *f = ctx;
    wish      *w = &f->wishes[i];
    TRY(find_member(t, f, w));
    if (w->member_key.len == 0)
        return RES_OK;
    row_change x = {f, w};
    str        row = arena_strf(t->arena, "m:%.*s", STR_ARG(w->member_key));
    return update_entity(t, place_table(PLACE_APPOINTMENT_PARTICIPANTS),
                         partition_of(t->arena, f->c->group, f->c->id), row, set_row, &x, NULL);
}

static bool has(const json_val *people, str person)
{
    for (json_iter it = json_each(people); json_next(&it);)
        if (str_eq(json_text(it.value, (str){0}), person))
            return true;
    return false;
}

static size_t wishes_of(arena *a, const participant_change *c, wish **ret)
{
    wish  *list = arena_array(a, wish, json_len(c->people) + json_len(c->dropped) + 1);
    size_t n = 0;
    bool   is_new = c->dropped == NULL;
    if (is_new)
        list[n++] = (wish){c->by->user_key, c->by->member_key, true, true};
    for (json_iter it = json_each(c->people); json_next(&it);) {
        str person = json_text(it.value, (str){0});
        if (!is_new || !str_eq(person, c->by->user_key))
            list[n++] = (wish){.person = person, .stays = true};
    }
    for (json_iter it = json_each(c->dropped); json_next(&it);) {
        str person = json_text(it.value, (str){0});
        if (!has(c->people, person))
            list[n++] = (wish){.person = person};
    }
    *ret = list;
    return n;
}

void participants_follow(task *t, const participant_change *c)
{
    following f = {.c = c, .now = call_now(t->arena)};
    size_t    n = wishes_of(t->arena, c, &f.wishes);
    res       r = par_each(t, n, WRITES_AT_ONCE, follow_one, &f);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_error("participants of an appointment of group %.*s are behind: %s (%.*s)", STR_ARG(c->group),
              res_name(r), STR_ARG(why));
    task_forget(t);
}
