/* groups.h -- the Groups table: what a group is called, and whether it is deleted (specification §2.1).
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_GROUPS_H
#define TRESTLE_DOMAIN_SCHEDULER_GROUPS_H

#include "storage/update.h"

typedef struct {
    entity row; /* as stored, for replacing */
    str    id, name, created_at, updated_at, created_by;
    bool   deleted;
    str    deleted_at;
    int    active, invited, upcoming; /* best effort, for the dashboard alone */
} group_row;

res group_read(task *t, str id, group_row *ret) MUST_USE; /* RES_NOT_FOUND; deleted ones are found */
res group_insert(task *t, str id, str name, str user_key, str now, group_row *ret) MUST_USE;

/* Read, change, replace with If-Match, again when somebody was faster (storage/update.h); RES_NOT_FOUND
 * without calling fn when there is no such group. *ret is what is stored afterwards. */
res group_change(task *t, str id, update_fn *fn, void *ctx, group_row *ret) MUST_USE;
/* The same from a row that has just been read, which saves reading it again: one write unless somebody was
 * faster. `ret` may be `from`. */
res group_change_from(task *t, const group_row *from, update_fn *fn, void *ctx, group_row *ret) MUST_USE;

/* Once the purge has begun with a deleted group, nothing brings it back (purge.c). */
#define GROUP_PURGING "purgeStartedAt"
bool group_is_purging(const entity *row);

/* The dashboard's counters move by these; failures are logged, never passed on. */
void group_count(task *t, str id, int active, int invited, int upcoming);

enum { GROUP_NAME_MAX = 60 /* characters */, PURGE_AFTER_DAYS = 30 };
bool group_name_ok(str name); /* 1 to GROUP_NAME_MAX characters */
str  purge_after(arena *a, str deleted_at);

#endif
