/* settings.h -- what the environment says about the scheduler (specification §8), read once.
 *
 * Names of sessions, mail and AI are read where they are used (domain/auth, mail.c, ai.c) through here, so
 * that one file lists them all.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_SETTINGS_H
#define TRESTLE_DOMAIN_SCHEDULER_SETTINGS_H

#include "storage/blobs.h"

typedef struct {
    str       table_prefix;    /* SCHED_TABLE_PREFIX, none: for apps that share an account */
    container state;           /* STATE_CONTAINER; an empty name: not set */
    container documents;       /* AZURE_STORAGE_CONTAINER, else as state */
    str       state_prefix;    /* STATE_BLOB_PREFIX, "familyscheduler/groups" */
    str       prefs_prefix;    /* USER_PREFS_BLOB_PREFIX, "familyscheduler/users" */
    str       reminder_prefix; /* REMINDER_INDEX_BLOB_PREFIX, "familyscheduler/reminder-index" */
    str       link_secret;     /* MAGIC_LINK_SECRET */
    str       web_base_url;    /* WEB_BASE_URL */
    str  mail_connection, mail_sender, mail_reply_to; /* AZURE_COMMUNICATION_CONNECTION_STRING, EMAIL_… */
    bool mail_plain_headers;                          /* EMAIL_SUPPRESS_HEADERS */
    str  mail_sink;                                   /* EMAIL_SINK_DIR */
    str  ai_key, ai_model, ai_vision_model, ai_base_url, time_model; /* OPENAI_… */
    unsigned ai_timeout_ms;
    bool     ai_configured;  /* a key, or a base URL of one's own */
    bool     time_by_ai;     /* TIME_RESOLVE_OPENAI_FALLBACK, on */
    bool     location_by_ai; /* LOCATION_AI_FORMATTING */
    str      location_model;
    size_t   context_chars_max, history_chars_max;      /* 40,000; 20,000 */
    unsigned history_messages_max, session_history_max; /* 100; 120 */
    str      zone;                                      /* TZ, "America/Los_Angeles" */
    bool     dogfood;                                   /* DOGFOOD=1 */
    unsigned requests_daily, tokens_daily;              /* USAGE_DAILY_…_LIMIT */
    str      version;                                   /* DIRECT_VERSION, else BUILD_SHA, else "unknown" */
    bool     purge_dry_run;
} sched_settings;

const sched_settings *sched_settings_get(void);
void                  sched_settings_forget_for_test(void);

#endif
