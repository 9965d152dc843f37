/* state.h -- a group's state.json: the ignite session, availability rules, the free-text roster and history
 * (specification §3, §5, §6.2). Of membership and appointments it knows nothing that counts.
 *
 * It is read whole, changed as a tree, and saved with If-Match. What this program does not know stays as it
 * was.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_STATE_H
#define TRESTLE_DOMAIN_SCHEDULER_STATE_H

#include "core/json.h"
#include "runtime/task.h"

typedef struct {
    const json_val *doc; /* as stored; NULL: there is no such blob */
    str             etag;
} state;

res state_read(task *t, str group, state *ret) MUST_USE; /* a missing blob is an empty state with doc NULL */
/* A new group's; one that is there already is left alone. */
res state_create(task *t, str group, str name, const json *ignite) MUST_USE;

/* Changes the document: called anew with what is stored for each try (up to four), gives the new document.
 * UPDATE_NOTHING (storage/update.h): fine as it is. RES_CONFLICT when others were faster each time. One
 * group's changes of this process are made one after the other; fn may wait, but not change the same group's.
 */
typedef res state_change_fn(task *t, const state *now, void *ctx, json **ret_doc);
res         state_change(task *t, str group, state_change_fn *fn, void *ctx, state *ret) MUST_USE;
/* One try, on the version that was read; RES_CONFLICT when it is another by now. */
res         state_save(task *t, str group, str etag, const json *doc, str *ret_etag) MUST_USE;

/* A copy of the document (or of an empty state) to be changed, with one member replaced. */
json *state_copy(arena *a, const state *s, str group);

#endif
