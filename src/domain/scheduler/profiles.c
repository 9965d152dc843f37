/* profiles.c -- see profiles.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/profiles.h"

#include "domain/scheduler/places.h"
#include "storage/update.h"

enum { READS_AT_ONCE = 16 };

#define PROFILE_ROW STR("profile")

static str text(const entity *e, const char *name)
{
    return entity_str(e, name, (str){0});
}

res profile_read(task *t, str member_key, profile *ret)
{
    entity e;
    TRY(tables_get(t, place_table(PLACE_USER_PROFILES), member_key, PROFILE_ROW, &e));
    *ret = (profile){
        .display_name = text(&e, "displayName"),
        .photo_key = text(&e, "photoKey"),
        .email = text(&e, "email"),
        .timezone = text(&e, "timezone"),
        .locale = text(&e, "locale"),
        .created_at = text(&e, "createdAt"),
        .updated_at = text(&e, "updatedAt"),
    };
    return RES_OK;
}

/* ---- writing ---- */

typedef struct {
    const profile *changes;
    bool           fill_only; /* what is there stays */
    bool           created;
    str            now;
} writing;

static bool set(entity *e, const char *name, str value, bool fill_only)
{
    str there = text(e, name);
    if (value.len == 0 || str_eq(there, value) || (fill_only && there.len > 0))
        return false;
    entity_set_str(e, name, value);
    return true;
}

static res write_columns(task *t, entity *e, bool is_new, void *ctx)
{
    writing       *w = ctx;
    const profile *p = w->changes;
    bool           changed = is_new;
    (void)t;
    w->created = is_new;
    if (w->fill_only && !is_new) { /* a name that is missing is filled in, and nothing else is touched */
        if (!set(e, "displayName", p->display_name, true))
            return UPDATE_NOTHING;
        entity_set_str(e, "updatedAt", w->now);
        return RES_OK;
    }
    changed |= set(e, "displayName", p->display_name, false);
    changed |= set(e, "photoKey", p->photo_key, false);
    changed |= set(e, "email", p->email, false);
    changed |= set(e, "timezone", p->timezone, false);
    changed |= set(e, "locale", p->locale, false);
    if (is_new)
        entity_set_str(e, "createdAt", w->now);
    if (!changed)
        return UPDATE_NOTHING;
    entity_set_str(e, "updatedAt", w->now);
    return RES_OK;
}

static res write_profile(task *t, str member_key, writing *w, bool *ret_created)
{
    w->now = call_now(t->arena);
    TRY(update_entity(t, place_table(PLACE_USER_PROFILES), member_key, PROFILE_ROW, write_columns, w, NULL));
    if (ret_created != NULL)
        *ret_created = w->created;
    return RES_OK;
}

res profile_write(task *t, str member_key, const profile *changes, bool *ret_created)
{
    writing w = {.changes = changes};
    return write_profile(t, member_key, &w, ret_created);
}

res profile_ensure(task *t, str member_key, str email, str display_name, bool *ret_created)
{
    profile p = {.email = email, .display_name = display_name};
    writing w = {.changes = &p, .fill_only = true};
    return write_profile(t, member_key, &w, ret_created);
}

bool display_name_ok(str name)
{
    size_t characters = 0;
    for (size_t i = 0; i < name.len; i++)
        characters += (name.at[i] & 0xc0) != 0x80;
    return name.len > 0 && characters <= DISPLAY_NAME_MAX;
}

/* ---- names of many ---- */

typedef struct {
    const str *keys, *emails;
    str       *names;
} names;

/* Somebody without a profile is no failure. */
static res read_name(task *t, size_t i, void *ctx)
{
    names  *n = ctx;
    profile p;
    str     email = n->emails[i];
    n->names[i] = email.len > 0 ? str_slice(email, 0, str_find_char(email, '@')) : n->keys[i];
    res r = profile_read(t, n->keys[i], &p);
    if (r == RES_NOT_FOUND) {
        task_forget(t);
        return RES_OK;
    }
    if (r == RES_OK && p.display_name.len > 0)
        n->names[i] = p.display_name;
    return r;
}

res profile_names(task *t, const str *member_keys, const str *emails, size_t count, str *ret)
{
    names n = {.keys = member_keys, .emails = emails, .names = ret};
    return par_each(t, count, READS_AT_ONCE, read_name, &n);
}
