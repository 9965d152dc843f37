/* plan_text.c -- how actions read and write codes, places and times.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/buf.h"
#include "domain/scheduler/plan_run.h"
#include "domain/scheduler/settings.h"

enum { CODE_DIGITS_MAX = 9, MINUTE_US = 60 * 1000 * 1000 };

str action_text(const json_val *action, const char *member)
{
    return str_trim(json_text(json_get(action, member), (str){0}));
}

const zone *plan_zone(str wanted, str otherwise)
{
    str         list[] = {wanted, otherwise, sched_settings_get()->zone, STR("America/Los_Angeles")};
    const zone *z = NULL;
    for (size_t i = 0; i < sizeof list / sizeof *list && z == NULL; i++)
        if (list[i].len > 0)
            z = zone_find(list[i]);
    return z != NULL ? z : zone_find(STR("UTC"));
}

/* ---- codes ---- */

static bool code_of(str text, str prefix, str *ret_digits)
{
    if (!str_starts_nocase(text, prefix))
        return false;
    str rest = str_from(text, prefix.len);
    if (rest.len > 0 && (rest.at[0] == '-' || rest.at[0] == ' '))
        rest = str_from(rest, 1);
    for (size_t i = 0; i < rest.len; i++)
        if (rest.at[i] < '0' || rest.at[i] > '9')
            return false;
    *ret_digits = rest;
    return rest.len > 0 && rest.len <= CODE_DIGITS_MAX;
}

str plan_code(arena *a, str text)
{
    str digits;
    text = str_trim(text);
    if (code_of(text, STR("APPT"), &digits))
        return arena_strf(a, "APPT-%.*s", STR_ARG(digits));
    if (code_of(text, STR("RULE"), &digits))
        return arena_strf(a, "RULE-%.*s", STR_ARG(digits));
    return text;
}

/* ---- places ---- */

static bool is_space(char c)
{
    return c == ' ';
}

/* One ", " for each run of commas, tabs, newlines and the blanks around them; one blank for other runs. */
str plan_clean_location(arena *a, str text)
{
    char  *out = arena_alloc(a, 2 * text.len + 1);
    size_t n = 0;
    bool   comma = false, blank = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool breaks = c == ',' || c == '\t' || c == '\n' || c == '\r';
        comma = comma || breaks;
        blank = blank || is_space(c);
        if (breaks || is_space(c))
            continue;
        if (n > 0 && comma)
            out[n++] = ',';
        if (n > 0 && (comma || blank))
            out[n++] = ' ';
        comma = blank = false;
        out[n++] = c;
    }
    return (str){out, n};
}

/* ---- times ---- */

static str local_text(arena *a, const zone *z, int64_t us, bool with_time)
{
    civil_time c;
    zone_local(z, us, &c);
    if (!with_time)
        return arena_strf(a, "%04d-%02d-%02d", c.year, c.month, c.day);
    return arena_strf(a, "%04d-%02d-%02d %02d:%02d", c.year, c.month, c.day, c.hour, c.minute);
}

when plan_time_of(const appointment *p)
{
    when time = p->time;
    if (time.zone.len == 0)
        time.zone = json_text(json_get(p->doc, "timezone"), (str){0});
    return time;
}

str plan_time_text(arena *a, const when *time)
{
    const zone *z = plan_zone(time->zone, (str){0});
    if (time->status == TIME_RESOLVED && time->all_day)
        return arena_strf(a, "%.*s (all day)", STR_ARG(local_text(a, z, time->start_us, false)));
    if (time->status == TIME_RESOLVED)
        return arena_strf(a, "%.*s (%dm)", STR_ARG(local_text(a, z, time->start_us, true)),
                          (int)((time->end_us - time->start_us) / MINUTE_US));
    if (time->status == TIME_PARTIAL && time->start_us != 0)
        return arena_strf(a, "%.*s (no length yet)", STR_ARG(local_text(a, z, time->start_us, true)));
    return STR("a time to be found");
}

/* ---- lines ---- */

void *plan_room(arena *a, void *list, size_t count, size_t *room, size_t each)
{
    if (count < *room)
        return list;
    size_t more = *room > 0 ? 2 * *room : 8;
    void  *grown = arena_zalloc_array(a, more, each);
    if (count > 0)
        memcpy(grown, list, count * each);
    *room = more;
    return grown;
}

static void add_line(work *w, str line)
{
    w->lines = plan_room(w->a, w->lines, w->line_count, &w->line_room, sizeof *w->lines);
    w->lines[w->line_count++] = line;
}

void plan_say(work *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_line(w, arena_vstrf(w->a, fmt, args));
    va_end(args);
}

void plan_fail(work *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_line(w, arena_vstrf(w->a, fmt, args));
    va_end(args);
    w->failed = true;
}

void plan_not_found(work *w, str code)
{
    plan_fail(w, "Not found: %.*s", STR_ARG(code));
    if (w->unknown.len == 0)
        w->unknown = code;
}

const json_val *json_frozen(arena *a, const json *v)
{
    const json_val *ret = NULL;
    if (json_parse(a, json_print(a, v), &ret, NULL) != RES_OK)
        return NULL; /* what we have printed ourselves is JSON */
    return ret;
}
