/* me_http.c -- what a person sees first: their groups, and the dashboard (§4.2: 4, 5).
 *
 * One query gives the memberships, one point read each the groups, sixteen at a time. Blobs are not looked
 * at.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/clock.h"
#include "core/iso8601.h"
#include "domain/scheduler.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"

enum { READS_AT_ONCE = 16, RECENT_MAX = 3, MONTH = 7 };

typedef struct {
    user_group mine;
    group_row  g;
    bool       there; /* and not deleted */
} entry;

typedef struct {
    entry *at;
    size_t len;
} entries;

static res read_one(task *t, size_t i, void *ctx)
{
    const entries *all = ctx;
    entry         *e = &all->at[i];
    res            r = group_read(t, e->mine.group, &e->g);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return RES_OK;
    }
    e->there = r == RES_OK && !e->g.deleted;
    return r;
}

/* Active first, then by name; the id decides between equals, so that the order is stable. */
static int by_status_and_name(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    bool         active_a = a->mine.status == MEMBER_ACTIVE, active_b = b->mine.status == MEMBER_ACTIVE;
    if (active_a != active_b)
        return active_a ? -1 : 1;
    int order = str_compare_nocase(a->g.name, b->g.name);
    return order != 0 ? order : str_compare(a->g.id, b->g.id);
}

/* A guest sees the groups of its scope alone. */
static res read_groups(task *t, const auth_user *who, entries *ret)
{
    user_group *mine;
    size_t      count, kept = 0;
    TRY(user_groups_list(t, str_of(who->user_key), &mine, &count));
    entries all = {.at = arena_array(t->arena, entry, count)};
    for (size_t i = 0; i < count; i++)
        if (auth_in_scope(who, mine[i].group))
            all.at[all.len++].mine = mine[i];
    TRY(par_each(t, all.len, READS_AT_ONCE, read_one, &all));
    for (size_t i = 0; i < all.len; i++)
        if (all.at[i].there)
            all.at[kept++] = all.at[i];
    all.len = kept;
    if (kept > 1)
        qsort(all.at, kept, sizeof *all.at, by_status_and_name);
    *ret = all;
    return RES_OK;
}

static void set_or_null(json *v, const char *name, str text)
{
    if (text.len > 0)
        json_set_str(v, name, text);
    else
        json_set_null(v, name);
}

static json *add_group(json *list, const entry *e)
{
    json *v = json_push_object(list);
    json_set_str(v, "groupId", e->g.id);
    json_set_str(v, "groupName", e->g.name);
    json_set_str(v, "myStatus", str_of(member_status_name(e->mine.status)));
    set_or_null(v, "invitedAt", e->mine.invited_at);
    set_or_null(v, "joinedAt", e->mine.joined_at);
    set_or_null(v, "removedAt", e->mine.removed_at);
    json_set_str(v, "updatedAt", e->g.updated_at);
    return v;
}

res sched_me_groups(task *t, const request *in, reply *out)
{
    call    c;
    entries all;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !call_session(&c) || !places_ready(&c) ||
        !call_went(&c, read_groups(t, &c.who, &all)))
        return c.result;
    json *body = call_ok(&c), *list = json_set_array(body, "groups");
    for (size_t i = 0; i < all.len; i++)
        (void)add_group(list, &all.at[i]);
    return call_answer(&c, 200, body);
}

/* ---- the dashboard ---- */

static str recent_time(const entry *e)
{
    return e->mine.status == MEMBER_INVITED ? e->mine.invited_at : e->mine.joined_at;
}

/* Invitations before groups, the newest first. */
static int by_recency(const void *left, const void *right)
{
    const entry *a = *(const entry *const *)left, *b = *(const entry *const *)right;
    bool         invited_a = a->mine.status == MEMBER_INVITED, invited_b = b->mine.status == MEMBER_INVITED;
    if (invited_a != invited_b)
        return invited_a ? -1 : 1;
    int order = str_compare(recent_time(b), recent_time(a));
    return order != 0 ? order : str_compare(a->g.id, b->g.id);
}

static void add_recent(arena *a, json *body, const entries *all)
{
    json         *list = json_set_array(body, "recent");
    const entry **order = (const entry **)arena_zalloc_array(a, all->len, sizeof *order);
    for (size_t i = 0; i < all->len; i++)
        order[i] = &all->at[i];
    if (all->len > 1)
        qsort((void *)order, all->len, sizeof *order, by_recency);
    for (size_t i = 0; i < all->len && i < RECENT_MAX; i++) {
        const entry *e = order[i];
        bool         invited = e->mine.status == MEMBER_INVITED;
        json        *v = json_push_object(list);
        json_set_str(v, "type", invited ? STR("invite") : STR("group"));
        json_set_str(v, "label", e->g.name);
        json_set_str(v, "groupId", e->g.id);
        json_set_str(v, "status", str_of(member_status_name(e->mine.status)));
        set_or_null(v, "timestamp", recent_time(e));
        json *actions = json_set_array(v, "actions");
        json_push_str(actions, invited ? STR("accept") : STR("resume"));
        json_push_str(actions, invited ? STR("decline") : STR("open"));
    }
}

/* What cannot be read is null: the groups are worth showing without it. A guest's address is not verified, so
 * what its owner uses is none of the guest's business. */
static void add_usage(task *t, json *body, const auth_user *who)
{
    usage_counts n;
    if (who->kind == SESSION_GRACE || usage_today_of(t, str_of(who->user_key), &n) != RES_OK) {
        task_forget(t);
        json_set_null(body, "usageToday");
        return;
    }
    json *v = json_set_object(body, "usageToday");
    json_set_int(v, "openaiCalls", n.calls);
    json_set_int(v, "tokensIn", n.tokens_in);
    json_set_int(v, "tokensOut", n.tokens_out);
    json_set_int(v, "errors", n.errors);
}

static void add_month(task *t, json *body)
{
    month_counts n;
    if (month_read(t, str_slice(call_now(t->arena), 0, MONTH), &n) != RES_OK) {
        task_forget(t);
        json_set_null(body, "monthSummary");
        return;
    }
    json *v = json_set_object(body, "monthSummary");
    json_set_int(v, "newGroups", n.of[COUNT_NEW_GROUPS]);
    json_set_int(v, "newAppointments", n.of[COUNT_NEW_APPOINTMENTS]);
    json_set_int(v, "invitesSent", n.of[COUNT_INVITES_SENT]);
    json_set_int(v, "invitesAccepted", n.of[COUNT_INVITES_ACCEPTED]);
}

res sched_me_dashboard(task *t, const request *in, reply *out)
{
    call    c;
    entries all;
    if (!call_begin(&c, t, in, out, TRACE_CLIENT, NULL) || !call_session(&c) || !places_ready(&c) ||
        !call_went(&c, read_groups(t, &c.who, &all)))
        return c.result;
    json *body = json_object(c.a), *list = json_set_array(body, "groups");
    for (size_t i = 0; i < all.len; i++) {
        json *v = add_group(list, &all.at[i]);
        json_set_int(v, "memberCountActive", all.at[i].g.active);
        json_set_int(v, "memberCountInvited", all.at[i].g.invited);
        json_set_int(v, "appointmentCountUpcoming", all.at[i].g.upcoming);
    }
    add_recent(c.a, body, &all);
    add_usage(t, body, &c.who);
    add_month(t, body);
    json *health = json_set_object(body, "health");
    json_set_bool(health, "ok", true);
    json_set_str(health, "time", call_now(c.a));
    c.result = task_stopped(t);
    return c.result != RES_OK ? c.result : call_answer(&c, 200, body);
}
