/* places.c -- see places.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/places.h"

#include <stdio.h>
#include <string.h>

#include "core/iso8601.h"
#include "domain/scheduler/settings.h"
#include "storage/provision.h"

enum { MADE_AT_ONCE = 4, MISSING_MAX = 4, PREFIXED_MAX = 64 };

/* By place. */
static const str names[PLACE_COUNT] = {
    [PLACE_GROUPS] = STR_INIT("Groups"),
    [PLACE_USER_GROUPS] = STR_INIT("UserGroups"),
    [PLACE_GROUP_MEMBERS] = STR_INIT("GroupMembers"),
    [PLACE_APPOINTMENTS_INDEX] = STR_INIT("AppointmentsIndex"),
    [PLACE_DAILY_METRICS] = STR_INIT("DailyMetrics"),
    [PLACE_USER_DAILY_USAGE] = STR_INIT("UserDailyUsage"),
    [PLACE_USER_DAILY_USAGE_BY_MODEL] = STR_INIT("UserDailyUsageByModel"),
    [PLACE_DAILY_USAGE_BY_MODEL] = STR_INIT("DailyUsageByModel"),
    [PLACE_APPOINTMENT_PARTICIPANTS] = STR_INIT("AppointmentParticipants"),
    [PLACE_USER_PROFILES] = STR_INIT("UserProfiles"),
    [PLACE_GROUP_INVITE_TOKENS] = STR_INIT("GroupInviteTokens"),
};

static provision tables_are_there = PROVISION_INIT;

/* With the prefix of the settings, made on first use. */
table place_table(place p)
{
    static char prefixed[PLACE_COUNT][PREFIXED_MAX];
    str         prefix = sched_settings_get()->table_prefix;
    if (prefix.len == 0)
        return (table){.store = STORE_MAIN, .name = names[p]};
    if (prefixed[p][0] == '\0')
        (void)snprintf(prefixed[p], sizeof prefixed[p], "%.*s%.*s", STR_ARG(prefix), STR_ARG(names[p]));
    return (table){.store = STORE_MAIN, .name = str_of(prefixed[p])};
}

static res make_one(task *t, size_t i, void *ctx)
{
    (void)ctx;
    return tables_create(t, place_table((place)i));
}

static res make_all(task *t, void *ctx)
{
    return par_each(t, PLACE_COUNT, MADE_AT_ONCE, make_one, ctx);
}

res places_make(task *t)
{
    return provision_once(t, &tables_are_there, make_all, NULL);
}

bool places_ready(call *c)
{
    return places_have_container(c) && call_went(c, places_make(c->t));
}

bool places_have_container(call *c)
{
    const char *missing[MISSING_MAX];
    size_t      n = 0;
    if (!store_is_set_up(STORE_MAIN))
        missing[n++] = "AzureWebJobsStorage|AZURE_STORAGE_ACCOUNT_URL";
    if (sched_settings_get()->state.name.len == 0)
        missing[n++] = "STATE_CONTAINER";
    if (n == 0)
        return true;
    c->result = call_config_missing(c, missing, n);
    return false;
}

/* ---- blobs ---- */

static str in_group(arena *a, str group, const char *rest)
{
    str prefix = sched_settings_get()->state_prefix;
    return arena_strf(a, "%.*s/%.*s/%s", STR_ARG(prefix), STR_ARG(group), rest);
}

str place_state_blob(arena *a, str group)
{
    return in_group(a, group, "state.json");
}

static str of_appointment(arena *a, str group, str id, const char *rest)
{
    str prefix = sched_settings_get()->state_prefix;
    return arena_strf(a, "%.*s/%.*s/appointments/%.*s/%s", STR_ARG(prefix), STR_ARG(group), STR_ARG(id),
                      rest);
}

str place_appointment_blob(arena *a, str group, str id)
{
    return of_appointment(a, group, id, "appointment.json");
}

str place_event_chunk(arena *a, str group, str id, unsigned chunk)
{
    return of_appointment(a, group, id, arena_strf(a, "events/%06u.json", chunk).at);
}

str place_scan_blob(arena *a, str group, str id, str extension)
{
    return of_appointment(a, group, id, arena_strf(a, "scan/scan.%.*s", STR_ARG(extension)).at);
}

/* The prefix of photos is fixed by the specification. */
str place_ignite_photo(arena *a, str group, str ignite, str person)
{
    return arena_strf(a, "familyscheduler/groups/%.*s/ignite/%.*s/photos/%.*s.jpg", STR_ARG(group),
                      STR_ARG(ignite), STR_ARG(person));
}

str place_profile_photo(arena *a, str user_key)
{
    return arena_strf(a, "familyscheduler/users/%.*s/profile.jpg", STR_ARG(user_key));
}

str place_preferences(arena *a, str user_key)
{
    str prefix = sched_settings_get()->prefs_prefix;
    return arena_strf(a, "%.*s/%.*s/prefs.json", STR_ARG(prefix), STR_ARG(user_key));
}

str place_reminders(arena *a, int64_t minute_us)
{
    civil_time c;
    civil_from_us(minute_us, &c);
    str prefix = sched_settings_get()->reminder_prefix;
    return arena_strf(a, "%.*s/%04d-%02d-%02dT%02d%02d.json", STR_ARG(prefix), c.year, c.month, c.day, c.hour,
                      c.minute);
}

/* ---- keys ---- */

static bool key_may_hold(unsigned char c)
{
    return c >= ' ' && c < 0x7f && memchr("/\\#?", c, 4) == NULL;
}

str place_key_text(arena *a, str text, const char *otherwise)
{
    text = str_trim(text);
    if (text.len == 0)
        return str_of(otherwise);
    char *out = arena_alloc(a, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        out[i] = (char)(key_may_hold((unsigned char)text.at[i]) ? text.at[i] : '_');
    out[text.len] = '\0';
    return (str){out, text.len};
}
