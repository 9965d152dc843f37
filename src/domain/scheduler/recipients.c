/* recipients.c -- see recipients.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/recipients.h"

#include "domain/scheduler/members.h"
#include "domain/scheduler/places.h"
#include "domain/scheduler/profiles.h"
#include "domain/scheduler/settings.h"

enum { AT_ONCE = 4, PREFERENCES_MAX = 64 * KIB };

typedef struct {
    recipients   *all;
    const member *members; /* beside all->at; user_key empty: no such member */
    str           group;
    const mail   *m;
} work;

/* ---- picking ---- */

/* Preferences that are missing or damaged are the usual ones: mails, no group muted. */
static res read_wishes(task *t, recipient *r, str group)
{
    blob_got        got;
    const json_val *v = NULL;
    res             read = blobs_get(t, sched_settings_get()->state, place_preferences(t->arena, r->person),
                                     &(blob_get){.bytes_max = PREFERENCES_MAX}, &got);
    if (read == RES_NOT_FOUND || read == RES_UNPROVISIONED) {
        task_forget(t);
        return RES_OK;
    }
    if (read != RES_OK)
        return read;
    if (json_parse(t->arena, got.body, &v, NULL) != RES_OK)
        return RES_OK;
    if (!json_truth(json_get(v, "emailUpdatesEnabled"), true))
        r->excluded = "opted_out";
    for (json_iter it = json_each(json_get(v, "mutedGroupIds")); json_next(&it);)
        if (r->excluded == NULL && str_eq_nocase(json_text(it.value, (str){0}), group))
            r->excluded = "muted_group";
    return RES_OK;
}

static res judge(task *t, size_t i, void *ctx)
{
    work         *w = ctx;
    recipient    *r = &w->all->at[i];
    const member *m = &w->members[i];
    if (m->user_key.len == 0 || m->status != MEMBER_ACTIVE) {
        r->excluded = "inactive";
        return RES_OK;
    }
    r->email = m->email;
    if (!auth_email_plausible(r->email)) {
        r->excluded = "no_email";
        return RES_OK;
    }
    TRY(profile_names(t, &m->member_key, &m->email, 1, &r->name));
    return read_wishes(t, r, w->group);
}

static bool is_among(const recipients *all, str person)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->at[i].person, person))
            return true;
    return false;
}

static void take(recipients *all, member *members, str person, const member *m, str self)
{
    if (self.len > 0 && str_eq(person, self)) {
        all->excluded_self = true;
        return;
    }
    if (is_among(all, person))
        return;
    members[all->count] = m != NULL ? *m : (member){0};
    all->at[all->count++] = (recipient){.person = person};
}

static const member *find_member(const member *list, size_t count, str person)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i].user_key, person))
            return &list[i];
    return NULL;
}

res recipients_pick(task *t, str group, const str *persons, size_t count, str self, recipients *ret)
{
    member *list;
    size_t  members;
    TRY(members_list(t, group, &list, &members));
    size_t     most = count > 0 ? count : members;
    recipients all = {.at = arena_array(t->arena, recipient, most)};
    work       w = {.all = &all, .group = group};
    member    *chosen = arena_array(t->arena, member, most);
    w.members = chosen;
    for (size_t i = 0; i < count; i++)
        take(&all, chosen, persons[i], find_member(list, members, persons[i]), self);
    for (size_t i = 0; count == 0 && i < members; i++)
        if (list[i].status == MEMBER_ACTIVE)
            take(&all, chosen, list[i].user_key, &list[i], self);
    TRY(par_each(t, all.count, AT_ONCE, judge, &w));
    for (size_t i = 0; i < all.count; i++)
        all.eligible += all.at[i].excluded == NULL ? 1 : 0;
    *ret = all;
    return RES_OK;
}

/* ---- sending ---- */

static res send_one(task *t, size_t i, void *ctx)
{
    work      *w = ctx;
    recipient *r = &w->all->at[i];
    mail       m = *w->m;
    if (r->excluded != NULL)
        return RES_OK;
    m.to = r->email;
    r->result = mail_send(t, &m, NULL);
    return task_stopped(t);
}

res recipients_send(task *t, recipients *all, const mail *m, size_t *ret_sent)
{
    work w = {.all = all, .m = m};
    TRY(par_each(t, all->count, AT_ONCE, send_one, &w));
    *ret_sent = 0;
    for (size_t i = 0; i < all->count; i++)
        *ret_sent += all->at[i].excluded == NULL && all->at[i].result == MAIL_SENT ? 1 : 0;
    return RES_OK;
}

const char *recipients_status(size_t sent, size_t eligible)
{
    if (sent == 0)
        return "failed";
    return sent == eligible ? "sent" : "partial";
}

/* ---- telling ---- */

static json *add(json *array, const recipient *r, const char *reason)
{
    json *v = json_push_object(array);
    json_set_str(v, "personId", r->person);
    if (r->name.len > 0)
        json_set_str(v, "name", r->name);
    json_set_str(v, "reason", str_of(reason));
    return v;
}

void recipients_list_excluded(const recipients *all, json *array)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].excluded != NULL)
            (void)add(array, &all->at[i], all->at[i].excluded);
}

void recipients_list_failed(const recipients *all, json *array)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].excluded == NULL && all->at[i].result != MAIL_SENT)
            (void)add(array, &all->at[i], mail_reason(all->at[i].result));
}

str recipients_one_line(arena *a, str text)
{
    char  *out = arena_alloc(a, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = (unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7F;
        if (!blank || (n > 0 && out[n - 1] != ' '))
            out[n++] = blank ? ' ' : text.at[i];
    }
    return str_trim((str){out, n});
}
