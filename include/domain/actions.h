/* actions.h -- the catalogue of GitHub Actions: records come in one by one or by the hundred, are written
 * only when they have changed, and are read singly, in lists, and as derived documents (specification
 * "actions").
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_H
#define TRESTLE_DOMAIN_ACTIONS_H

#include "runtime/http.h"

/* Folder by folder. Writing: */
handler_fn actions_upsert;         /* POST ActionsUpsert */
handler_fn actions_upsert_batch;   /* POST ActionsUpsert/batch */
handler_fn actions_build_snapshot; /* POST actions/snapshot/refresh */
/* Reading: */
handler_fn actions_get;      /* GET actions/{owner}/{name} */
handler_fn actions_list;     /* GET actions/list */
handler_fn actions_readme;   /* GET actions/{owner}/{name}/readme */
handler_fn actions_search;   /* GET actions/search */
handler_fn actions_snapshot; /* GET actions/snapshot */
handler_fn actions_stats;    /* GET actions/stats */
handler_fn actions_status;   /* GET actions/status */
handler_fn actions_versions; /* GET, HEAD actions/versions */
/* Timers: */
handler_fn actions_purge, actions_snapshot_warmup, actions_stats_warmup, actions_versions_warmup;

/* How the runtime words a refusal of its own on these paths (http.h): with the module's CORS headers, as
 * {errorCode,message,correlationId} below ActionsUpsert and as {error} below actions. */
error_shape_fn actions_upsert_error, actions_error;

/* Before anything listens: RES_CONFIG with one line for settings that cannot work (a Redis URL). */
res actions_check_settings(arena *a, str *ret_error) MUST_USE;

#endif
