/* settings.c -- see settings.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/actions/settings.h"

#include <stdlib.h>

#include "core/log.h"

enum { BODY_MAX_LOW = 1 * KIB, BODY_MAX_DEFAULT = 4 * MIB, BODY_MAX_HIGH = 8 * MIB, DAYS_MAX = 36500 };

static actions_settings now;
static bool             known;

static str text_of(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return str_of(value != NULL && *value != '\0' ? value : otherwise);
}

static uint64_t number_of(const char *name, uint64_t low, uint64_t high, uint64_t otherwise)
{
    const char *value = getenv(name);
    uint64_t    n;
    if (value == NULL || *value == '\0')
        return otherwise;
    if (str_to_u64(str_of(value), &n) && n >= low && n <= high)
        return n;
    log_warn("%s is not a number from %llu to %llu: %llu is used", name, (unsigned long long)low,
             (unsigned long long)high, (unsigned long long)otherwise);
    return otherwise;
}

static bool flag_of(const char *name, bool otherwise)
{
    return number_of(name, 0, 1, otherwise) != 0;
}

static void read_limits(actions_settings *s)
{
    s->canon_timestamps = flag_of("ACTIONS_CANON_TIMESTAMPS", true);
    s->body_max = number_of("ACTIONS_MAX_BODY_BYTES", BODY_MAX_LOW, BODY_MAX_HIGH, BODY_MAX_DEFAULT);
    s->batch_parallel = (unsigned)number_of("ACTIONS_BATCH_PARALLEL", 1, 64, 4);
    s->history_kept = flag_of("ACTIONS_HISTORY", false);
    s->history_days = (unsigned)number_of("ACTIONS_HISTORY_DAYS", 1, DAYS_MAX, 365);
    s->stale_days = (unsigned)number_of("ACTIONS_STALE_DAYS", 0, DAYS_MAX, 0);
    s->purge_dry_run = flag_of("ACTIONS_PURGE_DRYRUN", true);
    s->purge_any = flag_of("ACTIONS_PURGE_ANY", false);
    s->purge_max = (unsigned)number_of("ACTIONS_PURGE_MAX", 1, 100000, 500);
}

const actions_settings *settings_get(void)
{
    if (known)
        return &now;
    now = (actions_settings){
        .records = {STORE_ACTIONS, text_of("ACTIONS_TABLE_NAME", "actions")},
        .readmes = {STORE_ACTIONS, text_of("README_TABLE_NAME", "readmes")},
        .snapshots = {STORE_ACTIONS, text_of("ACTIONS_SNAPSHOT_CONTAINER", "snapshots")},
        .history = {STORE_ACTIONS, text_of("ACTIONS_HISTORY_CONTAINER", "actions-history")},
        .snapshot_blob = text_of("ACTIONS_SNAPSHOT_BLOB", "actions-summary.json"),
        .versions_blob = text_of("ACTIONS_VERSIONS_BLOB", "actions-versions.json.gz"),
        .redis_url = text_of("ACTIONS_REDIS_URL", getenv("REDIS_URL")),
        .github_token = text_of("GITHUB_TOKEN", NULL),
        .github_api = text_of("ACTIONS_GITHUB_API", "https://api.github.com"),
        .cors_origins = text_of("CORS_ALLOWED_ORIGINS", getenv("CORS_ALLOW_ORIGINS")),
    };
    read_limits(&now);
    log_add_secret(now.github_token);
    known = true;
    return &now;
}

void settings_forget_for_test(void)
{
    known = false;
}
