/* update.h -- read, change, write if nobody else has meanwhile; again if somebody has.
 *
 *     static res add_points(task *t, entity *e, bool is_new, void *ctx) { entity_set_int64(e, …); return
 * RES_OK; } TRY(update_entity(t, TABLE_SCORES, hunt, team, add_points, &points, &e));
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_STORAGE_UPDATE_H
#define TRESTLE_STORAGE_UPDATE_H

#include "storage/tables.h"

enum { UPDATE_TRIES_MAX = 64 };

/* Changes *e in place. Called anew for each try, each time with what is stored now; is_new: nothing is, and
 * *e has its keys alone. A result other than RES_OK ends the update and is passed on. UPDATE_NOTHING says
 * that it is fine as it is: nothing is written. */
#define UPDATE_NOTHING RES_COUNT
typedef res update_fn(task *t, entity *e, bool is_new, void *ctx);

/* Replaces (or inserts) the entity; waits a random while between tries, longer each time, and ends with
 * RES_CONFLICT after UPDATE_TRIES_MAX or with RES_TIMEOUT at the deadline. *ret (may be NULL) is what is
 * stored afterwards. */
res update_entity(task *t, table in, str partition, str row, update_fn *fn, void *ctx, entity *ret) MUST_USE;

#endif
