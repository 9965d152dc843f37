/* members.c -- the rows of members: reading them, and the transitions between their states (§7.1).
 *
 * Each transition is one change of the GroupMembers row under its ETag; whoever's change went through then
 * counts and copies, so two that race count once. The copy in UserGroups is made from the row as it was
 * written, and never goes back behind a newer one.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/members.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "domain/scheduler/counters.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"

static const char *const status_names[] = {
    [MEMBER_NONE] = "none",
    [MEMBER_ACTIVE] = "active",
    [MEMBER_INVITED] = "invited",
    [MEMBER_REMOVED] = "removed",
};

const char *member_status_name(member_status s)
{
    return status_names[s];
}

static member_status status_of(const entity *row)
{
    str name = entity_str(row, "status", (str){0});
    for (member_status s = MEMBER_ACTIVE; s <= MEMBER_REMOVED; s++)
        if (str_eq(name, str_of(status_names[s])))
            return s;
    return MEMBER_NONE;
}

static str text(const entity *row, const char *name)
{
    return entity_str(row, name, (str){0});
}

/* ---- reading ---- */

static member of_row(arena *a, const entity *row)
{
    str key = text(row, "memberKey");
    return (member){
        .row = *row,
        .status = status_of(row),
        .group = row->partition,
        .user_key = row->row,
        .email = text(row, "email"),
        .member_key = key.len > 0 ? key : auth_member_key_of(a, row->row),
        .invited_at = text(row, "invitedAt"),
        .joined_at = text(row, "joinedAt"),
        .removed_at = text(row, "removedAt"),
        .updated_at = text(row, "updatedAt"),
        .last_seen = text(row, "lastSeenAtUtc"),
        .guest = str_eq(text(row, "memberKind"), STR("guest")),
        .verified = entity_bool(row, "emailVerified", true),
        .mail_status = text(row, "inviteEmailStatus"),
        .mail_attempt_at = text(row, "inviteEmailLastAttemptAtUtc"),
        .mail_reason = text(row, "inviteEmailFailedReason"),
        .mail_said = text(row, "inviteEmailProviderMessage"),
    };
}

res member_read(task *t, str group, str user_key, member *ret)
{
    entity row;
    TRY(tables_get(t, place_table(PLACE_GROUP_MEMBERS), group, user_key, &row));
    *ret = of_row(t->arena, &row);
    return RES_OK;
}

/* A list that grows in an arena that outlives the pages it is filled from. */
typedef struct {
    arena *a;
    void  *at;
    size_t len, cap, each_bytes;
} list;

static void *push(list *l)
{
    if (l->len == l->cap) {
        size_t cap = l->cap == 0 ? 64 : l->cap * 2;
        l->at = arena_regrow(l->a, l->at, l->cap * l->each_bytes, cap * l->each_bytes);
        l->cap = cap;
    }
    return (char *)l->at + l->len++ * l->each_bytes;
}

static bool is_listed(const entity *row)
{
    member_status s = status_of(row);
    return s == MEMBER_ACTIVE || s == MEMBER_INVITED;
}

static res take_member(task *t, const entity *e, void *ctx)
{
    list *l = ctx;
    (void)t;
    if (!is_listed(e))
        return RES_OK;
    entity kept = entity_copy(l->a, e);
    *(member *)push(l) = of_row(l->a, &kept);
    return RES_OK;
}

static int by_email(const void *left, const void *right)
{
    const member *a = left, *b = right;
    int           order = str_compare(a->email, b->email);
    return order != 0 ? order : str_compare(a->user_key, b->user_key);
}

res members_list(task *t, str group, member **ret, size_t *ret_count)
{
    list        l = {.a = t->arena, .each_bytes = sizeof(member)};
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, group)};
    TRY(tables_each(t, place_table(PLACE_GROUP_MEMBERS), &q, take_member, &l));
    if (l.len > 1)
        qsort(l.at, l.len, sizeof(member), by_email);
    *ret = l.at;
    *ret_count = l.len;
    return RES_OK;
}

static res take_user_group(task *t, const entity *e, void *ctx)
{
    list *l = ctx;
    (void)t;
    if (!is_listed(e))
        return RES_OK;
    *(user_group *)push(l) = (user_group){
        .group = arena_copy(l->a, e->row),
        .status = status_of(e),
        .invited_at = arena_copy(l->a, text(e, "invitedAt")),
        .joined_at = arena_copy(l->a, text(e, "joinedAt")),
        .removed_at = arena_copy(l->a, text(e, "removedAt")),
        .updated_at = arena_copy(l->a, text(e, "updatedAt")),
    };
    return RES_OK;
}

res user_groups_list(task *t, str user_key, user_group **ret, size_t *ret_count)
{
    list        l = {.a = t->arena, .each_bytes = sizeof(user_group)};
    table_query q = {.where = filter_str(t->arena, "PartitionKey", FILTER_EQ, user_key),
                     .top = USER_GROUPS_PAGE};
    TRY(tables_each(t, place_table(PLACE_USER_GROUPS), &q, take_user_group, &l));
    *ret = l.at;
    *ret_count = l.len;
    return RES_OK;
}

/* ---- writing both rows ---- */

/* What UserGroups has of a member: everything but who it is. */
static const char *const copied[] = {
    "status",
    "invitedAt",
    "joinedAt",
    "removedAt",
    "updatedAt",
    "memberKind",
    "emailVerified",
    "lastSeenAtUtc",
    "inviteEmailStatus",
    "inviteEmailLastAttemptAtUtc",
    "inviteEmailFailedReason",
    "inviteEmailProviderMessage",
};

enum { COPIED = sizeof copied / sizeof *copied };

static bool same_property(const property *a, const property *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->type != b->type)
        return false;
    return a->type == EDM_BOOL ? a->truth == b->truth : str_eq(a->text, b->text);
}

static res copy_columns(task *t, entity *e, bool is_new, void *ctx)
{
    const entity *from = ctx;
    bool          differs = is_new;
    (void)t;
    if (!is_new && str_compare(text(e, "updatedAt"), text(from, "updatedAt")) > 0)
        return UPDATE_NOTHING;
    for (size_t i = 0; i < COPIED; i++) {
        const property *now = entity_find(from, str_of(copied[i]));
        if (same_property(entity_find(e, str_of(copied[i])), now))
            continue;
        differs = true;
        if (now != NULL)
            entity_set(e, now);
        else
            entity_drop(e, copied[i]);
    }
    if (is_new)
        entity_set_str(e, "groupId", e->row);
    return differs ? RES_OK : UPDATE_NOTHING;
}

static res write_copy(task *t, const entity *row)
{
    return update_entity(t, place_table(PLACE_USER_GROUPS), row->row, row->partition, copy_columns,
                         (void *)(uintptr_t)row, NULL);
}

/* ---- transitions ---- */

void member_who_of(arena *a, const auth_user *s, str group, member_who *ret)
{
    *ret = (member_who){.group = group,
                        .email = s->email,
                        .member_key = auth_member_key(a, s),
                        .guest = s->kind == SESSION_GRACE};
    memcpy(ret->user_key, s->user_key, sizeof ret->user_key);
}

typedef struct {
    const member_who *who;
    join_rule         rule;
    bool              keep_first;
    str               now;
    member_status     was; /* found out in each try */
} transition;

static void set_status(entity *e, member_status s, str now)
{
    entity_set_str(e, "status", str_of(status_names[s]));
    entity_set_str(e, "updatedAt", now);
}

static void set_who(arena *a, entity *e, const member_who *who)
{
    str key = who->member_key.len > 0 ? who->member_key : auth_member_key_of(a, str_of(who->user_key));
    entity_set_str(e, "userKey", e->row);
    entity_set_str(e, "email", who->email);
    entity_set_str(e, "memberKey", key);
    entity_set_str(e, "memberKind", who->guest ? STR("guest") : STR("full"));
    entity_set_bool(e, "emailVerified", !who->guest);
}

/* Whoever came as a guest has signed in: the same member, and now it is known who that is. */
static res verify_guest(arena *a, entity *e, const transition *x)
{
    if (!str_eq(text(e, "memberKind"), STR("guest")))
        return UPDATE_NOTHING;
    set_who(a, e, x->who);
    entity_set_str(e, "updatedAt", x->now);
    return RES_OK;
}

static res join(task *t, entity *e, bool is_new, void *ctx)
{
    transition *x = ctx;
    x->was = is_new ? MEMBER_NONE : status_of(e);
    if (x->was == MEMBER_ACTIVE)
        return x->rule == JOIN_CLAIM ? verify_guest(t->arena, e, x) : UPDATE_NOTHING;
    if (x->was == MEMBER_REMOVED || (x->was == MEMBER_NONE && x->rule == JOIN_IF_INVITED))
        return RES_DENIED;
    set_who(t->arena, e, x->who);
    set_status(e, MEMBER_ACTIVE, x->now);
    entity_set_str(e, "joinedAt", x->now);
    entity_drop(e, "removedAt");
    return RES_OK;
}

static res invite(task *t, entity *e, bool is_new, void *ctx)
{
    transition *x = ctx;
    x->was = is_new ? MEMBER_NONE : status_of(e);
    if (x->was == MEMBER_ACTIVE)
        return UPDATE_NOTHING;
    if (x->was != MEMBER_INVITED)
        set_who(t->arena, e, x->who);
    set_status(e, MEMBER_INVITED, x->now);
    if (x->was != MEMBER_INVITED || !x->keep_first || !entity_has(e, "invitedAt"))
        entity_set_str(e, "invitedAt", x->now);
    entity_drop(e, "joinedAt");
    entity_drop(e, "removedAt");
    return RES_OK;
}

static res drop(task *t, entity *e, bool is_new, void *ctx)
{
    transition *x = ctx;
    (void)t;
    if (is_new)
        return RES_NOT_FOUND;
    x->was = status_of(e);
    if (x->was == MEMBER_REMOVED)
        return UPDATE_NOTHING;
    set_status(e, MEMBER_REMOVED, x->now);
    entity_set_str(e, "removedAt", x->now);
    return RES_OK;
}

/* Both rows, and nothing else. */
static res change_rows(task *t, update_fn *fn, transition *x, member *ret)
{
    entity row;
    x->now = call_now(t->arena);
    TRY(update_entity(t, place_table(PLACE_GROUP_MEMBERS), x->who->group, str_of(x->who->user_key), fn, x,
                      &row));
    TRY(write_copy(t, &row));
    *ret = of_row(t->arena, &row);
    return RES_OK;
}

static void tell_counters(task *t, str group, member_status was, member_status is)
{
    group_count(t, group, (is == MEMBER_ACTIVE) - (was == MEMBER_ACTIVE),
                (is == MEMBER_INVITED) - (was == MEMBER_INVITED), 0);
}

/* A name is a nicety: without it the member is there all the same. */
static void ensure_profile(task *t, const member *m, str display_name)
{
    res r = profile_ensure(t, m->member_key, m->email, display_name, NULL);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_warn("the profile of a member of group %.*s: %s (%.*s)", STR_ARG(m->group), res_name(r),
             STR_ARG(why));
    task_forget(t);
}

res member_join(task *t, const member_who *who, join_rule rule, member *ret, member_status *ret_was)
{
    transition x = {.who = who, .rule = rule};
    TRY(change_rows(t, join, &x, ret));
    if (x.was == MEMBER_INVITED)
        count_daily(t, COUNT_INVITES_ACCEPTED, 1);
    tell_counters(t, who->group, x.was, MEMBER_ACTIVE);
    if (x.was != MEMBER_ACTIVE || rule == JOIN_CLAIM)
        ensure_profile(t, ret, who->display_name);
    if (ret_was != NULL)
        *ret_was = x.was;
    return RES_OK;
}

res member_invite(task *t, const member_who *who, bool keep_first, member *ret, member_status *ret_was)
{
    transition x = {.who = who, .keep_first = keep_first};
    TRY(change_rows(t, invite, &x, ret));
    if (x.was != MEMBER_ACTIVE) {
        count_daily(t, COUNT_INVITES_SENT, 1);
        tell_counters(t, who->group, x.was, MEMBER_INVITED);
        ensure_profile(t, ret, who->display_name);
    }
    *ret_was = x.was;
    return RES_OK;
}

res member_remove(task *t, str group, str user_key, member *ret)
{
    entity     copy;
    member_who who = {.group = group};
    transition x = {.who = &who};
    if (user_key.len != SHA256_HEX)
        return RES_NOT_FOUND;
    memcpy(who.user_key, user_key.at, SHA256_HEX);
    TRY(tables_get(t, place_table(PLACE_USER_GROUPS), user_key, group, &copy));
    TRY(change_rows(t, drop, &x, ret));
    if (x.was != MEMBER_REMOVED)
        tell_counters(t, group, x.was, MEMBER_REMOVED);
    return RES_OK;
}

/* ---- notes in both rows ---- */

typedef struct {
    const char *status, *reason;
    str         said, now;
} mail_note;

static void set_or_drop(entity *e, const char *name, str value)
{
    if (value.len > 0)
        entity_set_str(e, name, value);
    else
        entity_drop(e, name);
}

static res note_mail(task *t, entity *e, bool is_new, void *ctx)
{
    const mail_note *n = ctx;
    (void)t;
    if (is_new)
        return RES_NOT_FOUND;
    entity_set_str(e, "inviteEmailStatus", str_of(n->status));
    entity_set_str(e, "inviteEmailLastAttemptAtUtc", n->now);
    set_or_drop(e, "inviteEmailFailedReason", str_of(n->reason));
    set_or_drop(e, "inviteEmailProviderMessage", n->said);
    entity_set_str(e, "updatedAt", n->now);
    return RES_OK;
}

void member_note_mail(task *t, str group, str user_key, const char *status, const char *reason, str said)
{
    entity    row;
    mail_note n = {.status = status, .reason = reason, .said = said, .now = call_now(t->arena)};
    res       r = update_entity(t, place_table(PLACE_GROUP_MEMBERS), group, user_key, note_mail, &n, &row);
    if (r == RES_OK)
        r = write_copy(t, &row);
    if (r == RES_OK)
        return;
    str why = task_message(t);
    log_warn("an invitation's mail in group %.*s: %s (%.*s)", STR_ARG(group), res_name(r), STR_ARG(why));
    task_forget(t);
}

void member_note_seen(task *t, const member *m)
{
    entity row = entity_copy(t->arena, &m->row);
    str    now = call_now(t->arena);
    entity_set_str(&row, "lastSeenAtUtc", now);
    entity_set_str(&row, "updatedAt", now);
    res r = tables_replace(t, place_table(PLACE_GROUP_MEMBERS), &row, m->row.etag);
    if (r == RES_OK)
        r = write_copy(t, &row);
    if (r != RES_OK && r != RES_PRECONDITION) { /* somebody else has just written it */
        str why = task_message(t);
        log_warn("last seen in group %.*s: %s (%.*s)", STR_ARG(m->group), res_name(r), STR_ARG(why));
    }
    task_forget(t);
}
