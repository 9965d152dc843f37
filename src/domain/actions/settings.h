/* settings.h -- what the environment says about the catalogue (specification §15), read once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_ACTIONS_SETTINGS_H
#define TRESTLE_DOMAIN_ACTIONS_SETTINGS_H

#include "storage/blobs.h"
#include "storage/tables.h"

typedef struct {
    table     records;   /* ACTIONS_TABLE_NAME, "actions" */
    table     readmes;   /* README_TABLE_NAME, "readmes" */
    container snapshots; /* ACTIONS_SNAPSHOT_CONTAINER, "snapshots" */
    container history;   /* ACTIONS_HISTORY_CONTAINER, "actions-history" */
    str       snapshot_blob, versions_blob;
    bool      canon_timestamps; /* ACTIONS_CANON_TIMESTAMPS, on */
    size_t    body_max;         /* ACTIONS_MAX_BODY_BYTES, 4 MiB */
    unsigned  batch_parallel;   /* ACTIONS_BATCH_PARALLEL, 4 */
    str       redis_url;        /* ACTIONS_REDIS_URL, else REDIS_URL; empty: no cache */
    bool      history_kept;     /* ACTIONS_HISTORY, off */
    unsigned  history_days;     /* ACTIONS_HISTORY_DAYS, 365 */
    unsigned  stale_days;       /* ACTIONS_STALE_DAYS, 0: nothing is purged */
    bool      purge_dry_run;    /* ACTIONS_PURGE_DRYRUN, on */
    bool      purge_any;        /* ACTIONS_PURGE_ANY, off */
    unsigned  purge_max;        /* ACTIONS_PURGE_MAX, 500 */
    str       github_token;     /* GITHUB_TOKEN */
    str       github_api;       /* ACTIONS_GITHUB_API, "https://api.github.com": tests point it elsewhere */
    str       cors_origins;     /* CORS_ALLOWED_ORIGINS, else CORS_ALLOW_ORIGINS; empty: "*" */
} actions_settings;

/* A value that makes no sense counts as its default, and is told in the log once. */
const actions_settings *settings_get(void);
void                    settings_forget_for_test(void); /* the next get reads the environment anew */

#endif
