/* settings.c -- see settings.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/settings.h"

#include <stdlib.h>

#include "core/log.h"

#define AI_BASE_URL "https://api.openai.com/v1"

static sched_settings now;
static bool           known;

static str text_of(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return str_trim(str_of(value != NULL && *value != '\0' ? value : otherwise));
}

static bool flag_of(const char *name, bool otherwise)
{
    str value = text_of(name, NULL);
    if (value.len == 0)
        return otherwise;
    return str_eq(value, STR("1")) || str_eq_nocase(value, STR("true"));
}

/* A value that makes no sense counts as the default, and is told once. */
static unsigned number_of(const char *name, unsigned low, unsigned high, unsigned otherwise)
{
    str      value = text_of(name, NULL);
    uint64_t n;
    if (value.len == 0)
        return otherwise;
    if (str_to_u64(value, &n) && n >= low && n <= high)
        return (unsigned)n;
    log_warn("%s is not a number from %u to %u: %u is used", name, low, high, otherwise);
    return otherwise;
}

static void read_ai(sched_settings *s)
{
    s->ai_key = text_of("OPENAI_API_KEY", NULL);
    s->ai_base_url = text_of("OPENAI_BASE_URL", AI_BASE_URL);
    s->ai_configured = s->ai_key.len > 0 || !str_eq(s->ai_base_url, STR(AI_BASE_URL));
    s->ai_model = text_of("OPENAI_MODEL", "gpt-4.1-mini");
    s->ai_vision_model = text_of("OPENAI_VISION_MODEL", s->ai_model.at);
    s->time_model = text_of("TIME_RESOLVE_MODEL", s->ai_model.at);
    s->location_model = text_of("LOCATION_AI_MODEL", s->ai_model.at);
    s->time_by_ai = flag_of("TIME_RESOLVE_OPENAI_FALLBACK", true);
    s->location_by_ai = flag_of("LOCATION_AI_FORMATTING", false);
    s->ai_timeout_ms = number_of("OPENAI_TIMEOUT_MS", 100, 200000, 30000);
    s->context_chars_max = number_of("OPENAI_MAX_CONTEXT_CHARS", 1000, 1000000, 40000);
    s->history_chars_max = number_of("OPENAI_HISTORY_MAX_CHARS", 0, 1000000, 20000);
    s->history_messages_max = number_of("OPENAI_HISTORY_MAX_MESSAGES", 0, 1000, 100);
    s->session_history_max = number_of("OPENAI_SESSION_HISTORY_MAX", 1, 1000, 120);
    log_add_secret(s->ai_key);
}

static void read_mail(sched_settings *s)
{
    s->link_secret = text_of("MAGIC_LINK_SECRET", NULL);
    s->web_base_url = text_of("WEB_BASE_URL", NULL);
    s->mail_connection = text_of("AZURE_COMMUNICATION_CONNECTION_STRING", NULL);
    s->mail_sender = text_of("EMAIL_SENDER_ADDRESS", NULL);
    s->mail_reply_to = text_of("EMAIL_REPLY_TO_ADDRESS", NULL);
    s->mail_plain_headers = flag_of("EMAIL_SUPPRESS_HEADERS", false);
    s->mail_sink = text_of("EMAIL_SINK_DIR", NULL);
    log_add_secret(s->link_secret);
}

const sched_settings *sched_settings_get(void)
{
    if (known)
        return &now;
    str state = text_of("STATE_CONTAINER", NULL);
    now = (sched_settings){
        .table_prefix = text_of("SCHED_TABLE_PREFIX", NULL),
        .state = {STORE_MAIN, state},
        .documents = {STORE_MAIN, text_of("AZURE_STORAGE_CONTAINER", state.at)},
        .state_prefix = text_of("STATE_BLOB_PREFIX", "familyscheduler/groups"),
        .prefs_prefix = text_of("USER_PREFS_BLOB_PREFIX", "familyscheduler/users"),
        .reminder_prefix = text_of("REMINDER_INDEX_BLOB_PREFIX", "familyscheduler/reminder-index"),
        .zone = text_of("TZ", "America/Los_Angeles"),
        .dogfood = flag_of("DOGFOOD", false),
        .requests_daily = number_of("USAGE_DAILY_REQUEST_LIMIT", 1, INT32_MAX, 200),
        .tokens_daily = number_of("USAGE_DAILY_TOKEN_LIMIT", 1, INT32_MAX, 200000),
        .version = text_of("DIRECT_VERSION", getenv("BUILD_SHA")),
        .purge_dry_run = flag_of("SCHED_PURGE_DRYRUN", true),
    };
    if (now.version.len == 0)
        now.version = STR("unknown");
    read_ai(&now);
    read_mail(&now);
    known = true;
    return &now;
}

void sched_settings_forget_for_test(void)
{
    known = false;
}
