/* appointment_doc.c -- see appointment_doc.h.
 *
 * A document is its predecessor without the members that this step replaces (`owned`), and those set anew.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/appointment_doc.h"

#include <string.h>

#include "core/buf.h"
#include "core/clock.h"
#include "domain/scheduler/groups.h"
#include "domain/scheduler/settings.h"

enum { SCHEMA_VERSION = 2, US_PER_MINUTE = 60 * 1000 * 1000, US_PER_MS = 1000, PEOPLE_MAX = 100 };

/* Beside the SET_ bits: what every step sets, what deleting and restoring set, and what only a new one does.
 */
enum { SET_ALWAYS = 1 << 16, SET_LIFE = 1 << 17, SET_FIRST = 1 << 18 };

static const struct {
    unsigned    bit;
    const char *name;
} owned[] = {
    {SET_ALWAYS, "id"},
    {SET_ALWAYS, "code"},
    {SET_ALWAYS, "schemaVersion"},
    {SET_ALWAYS, "updatedAt"},
    {SET_TITLE, "title"},
    {SET_TIME, "time"},
    {SET_TIME, "start"},
    {SET_TIME, "end"},
    {SET_TIME, "date"},
    {SET_TIME, "startTime"},
    {SET_TIME, "durationMins"},
    {SET_TIME, "timezone"},
    {SET_TIME, "isAllDay"},
    {SET_PEOPLE, "assigned"},
    {SET_PEOPLE, "people"},
    {SET_LOCATION, "location"},
    {SET_LOCATION, "locationRaw"},
    {SET_LOCATION, "locationDisplay"},
    {SET_LOCATION, "locationMapQuery"},
    {SET_LOCATION, "locationName"},
    {SET_LOCATION, "locationAddress"},
    {SET_LOCATION, "locationDirections"},
    {SET_NOTES, "notes"},
    {SET_SCAN, "scanStatus"},
    {SET_SCAN, "scanImageKey"},
    {SET_SCAN, "scanImageMime"},
    {SET_SCAN, "scanCapturedAt"},
    {SET_LIFE, "scanStatus"},
    {SET_LIFE, "scanStatusBefore"},
    {SET_LIFE, "isDeleted"},
    {SET_LIFE, "deletedAt"},
    {SET_LIFE, "deletedByUserKey"},
    {SET_LIFE, "purgeAfterAt"},
};

static str text_of(const json_val *doc, const char *member)
{
    return json_text(json_get(doc, member), (str){0});
}

static str first_of(str one, str other)
{
    return one.len > 0 ? one : other;
}

/* Whole characters, so that what is cut is still UTF-8. */
static str cut(str text, size_t characters)
{
    size_t i = 0;
    for (; i < text.len; i++)
        if ((text.at[i] & 0xc0) != 0x80 && characters-- == 0)
            break;
    return str_slice(text, 0, i);
}

static void set_or_null(json *v, const char *member, str text)
{
    if (text.len > 0)
        json_set_str(v, member, text);
    else
        json_set_null(v, member);
}

/* ---- time ---- */

static const zone *zone_or_utc(str name)
{
    const zone *z = zone_find(name);
    return z != NULL ? z : zone_find(STR("UTC"));
}

static str date_text(arena *a, const civil_time *c)
{
    return arena_strf(a, "%04d-%02d-%02d", c->year, c->month, c->day);
}

/* An unresolved time leaves the appointment on the day where it was; a new one is on today. */
static str day_without_time(arena *a, const json_val *before, const zone *z)
{
    civil_time c;
    str        date = text_of(before, "date");
    if (when_is_date(date))
        return date;
    zone_local(z, clock_wall_us(), &c);
    return date_text(a, &c);
}

static void set_clock(arena *a, json *v, const when *w, const zone *z)
{
    civil_time c;
    int64_t    minutes = (w->end_us - w->start_us) / US_PER_MINUTE;
    zone_local(z, w->start_us, &c);
    json_set_str(v, "date", date_text(a, &c));
    json_set_bool(v, "isAllDay", w->all_day);
    if (w->all_day)
        return;
    json_set_str(v, "startTime", arena_strf(a, "%02d:%02d", c.hour, c.minute));
    if (w->status == TIME_RESOLVED && minutes >= 1 && minutes <= TIME_DURATION_MAX)
        json_set_int(v, "durationMins", minutes);
}

static void set_time(arena *a, json *v, const json_val *before, const appointment_change *c)
{
    const when *w = &c->time;
    str         name = first_of(w->zone, first_of(c->start_zone, text_of(before, "timezone")));
    name = first_of(name, sched_settings_get()->zone);
    const zone *z = zone_or_utc(name);
    json_set_json(v, "time", when_json(a, w));
    json_set_str(v, "timezone", name);
    if (w->status == TIME_RESOLVED) {
        json_set_str(v, "start", iso8601_arena(a, w->start_us, 3));
        json_set_str(v, "end", iso8601_arena(a, w->end_us, 3));
    }
    if (w->status == TIME_RESOLVED || w->start_us != 0) {
        set_clock(a, v, w, z);
        return;
    }
    json_set_str(v, "date", day_without_time(a, before, z));
    json_set_bool(v, "isAllDay", true);
}

/* ---- the rest ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* On one line: breaks are commas, blanks are single, and there is no comma without something behind it. */
static str one_line(arena *a, str text)
{
    buf  out;
    bool comma = false, blank = false;
    buf_init(&out, a, text.len * 2 + 2);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        comma |= c == ',' || c == '\t' || c == '\n' || c == '\r';
        blank |= is_blank(c);
        if (c == ',' || is_blank(c))
            continue;
        if (out.len > 0 && comma)
            (void)buf_add(&out, STR(", ")); /* there is room */
        else if (out.len > 0 && blank)
            (void)buf_add_char(&out, ' '); /* there is room */
        comma = blank = false;
        (void)buf_add_char(&out, c); /* there is room */
    }
    return buf_str(&out);
}

static void set_location(arena *a, json *v, str said)
{
    str clean = cut(one_line(a, said), LOCATION_MAX);
    json_set_str(v, "location", clean);
    json_set_str(v, "locationRaw", cut(said, LOCATION_MAX));
    json_set_str(v, "locationDisplay", clean);
    json_set_str(v, "locationMapQuery", clean);
    json_set_str(v, "locationName", (str){0});
    json_set_str(v, "locationAddress", (str){0});
    json_set_str(v, "locationDirections", (str){0});
}

static bool is_among(const str *list, size_t count, str one)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i], one))
            return true;
    return false;
}

/* A set, in the order in which it was given. */
static void set_people(json *v, const appointment_change *c)
{
    json  *assigned = json_set_array(v, "assigned"), *people = json_set_array(v, "people");
    size_t count = c->people_count < PEOPLE_MAX ? c->people_count : PEOPLE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (c->people[i].len == 0 || is_among(c->people, i, c->people[i]))
            continue;
        json_push_str(assigned, c->people[i]);
        json_push_str(people, c->people[i]);
    }
}

/* What a step does not say of a scan stays. */
static void set_scan(json *v, const json_val *before, const appointment_change *c)
{
    set_or_null(v, "scanStatus", first_of(c->scan_status, text_of(before, "scanStatus")));
    set_or_null(v, "scanImageKey", first_of(c->scan_key, text_of(before, "scanImageKey")));
    set_or_null(v, "scanImageMime", first_of(c->scan_mime, text_of(before, "scanImageMime")));
    set_or_null(v, "scanCapturedAt", first_of(c->scan_captured_at, text_of(before, "scanCapturedAt")));
}

/* scanStatus says `deleted` (§7.2); what it was is kept beside it for the day of return. */
static void set_life(arena *a, json *v, const json_val *before, const doc_step *s)
{
    bool ends = s->life == LIFE_ENDS;
    str  status = text_of(before, ends ? "scanStatus" : "scanStatusBefore");
    set_or_null(v, "scanStatus", ends ? STR("deleted") : status);
    if (ends)
        set_or_null(v, "scanStatusBefore", status);
    json_set_bool(v, "isDeleted", ends);
    set_or_null(v, "deletedAt", ends ? s->now : (str){0});
    set_or_null(v, "deletedByUserKey", ends ? s->user_key : (str){0});
    set_or_null(v, "purgeAfterAt", ends ? purge_after(a, s->now) : (str){0});
}

static void set_first(json *v, const when *w, str now)
{
    bool known = w->status == TIME_RESOLVED;
    json_set_bool(v, "scanAutoDate", false);
    json_set_bool(v, "isDeleted", false);
    json_set_null(v, "deletedAt");
    json_set_null(v, "deletedByUserKey");
    json_set_null(v, "purgeAfterAt");
    json_set_str(v, "createdAt", now);
    json *reconciliation = json_set_object(v, "reconciliation");
    json_set_str(reconciliation, "status", known ? STR("reconciled") : STR("unreconciled"));
    json *reasons = json_set_array(reconciliation, "reasons");
    if (!known)
        json_push_str(reasons, STR("time_unresolved"));
    json_set_str(reconciliation, "updatedAtUtc", now);
    json_set_str(reconciliation, "updatedBy", STR("SYSTEM"));
    (void)json_set_object(json_set_object(v, "constraints"), "byMember"); /* empty */
    json *fields = json_set_object(json_set_object(v, "suggestions"), "byField");
    (void)json_set_array(fields, "title"); /* empty, as are the next two */
    (void)json_set_array(fields, "time");
    (void)json_set_array(fields, "location");
    json_set_null(json_set_object(v, "notification"), "latest");
}

/* ---- all of it ---- */

static bool is_replaced(str name, unsigned bits, const json_val *more)
{
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        if ((bits & owned[i].bit) != 0 && str_eq(name, str_of(owned[i].name)))
            return true;
    return json_get_str(more, name) != NULL;
}

static void copy_members(arena *a, json *v, const json_val *from, unsigned bits, const json_val *more)
{
    for (json_iter it = json_each(from); json_next(&it);)
        if (!is_replaced(it.key, bits, more))
            json_set_val(v, arena_cstr(a, it.key), it.value);
}

static const json_val *as_read(arena *a, const json *built)
{
    const json_val *v = NULL;
    return built != NULL && json_parse(a, json_print(a, built), &v, NULL) == RES_OK ? v : NULL;
}

str appointment_doc_text(arena *a, const json_val *before, const appointment_change *c, const doc_step *s)
{
    bool            first = before == NULL;
    unsigned        bits = SET_ALWAYS | (first ? SET_FIRST | (SET_MORE - 1U) : c->set & (SET_MORE - 1U));
    const json_val *more = (c->set & SET_MORE) != 0 ? as_read(a, c->more) : NULL;
    json           *v = json_object(a);
    if (s->life != LIFE_STAYS)
        bits |= SET_LIFE;
    json_set_str(v, "id", s->id);
    json_set_str(v, "code", s->code);
    json_set_int(v, "schemaVersion", SCHEMA_VERSION);
    copy_members(a, v, before, bits, more);
    if ((bits & SET_TITLE) != 0)
        json_set_str(v, "title", cut(c->title, TITLE_MAX));
    if ((bits & SET_TIME) != 0)
        set_time(a, v, before, c);
    if ((bits & SET_PEOPLE) != 0)
        set_people(v, c);
    if ((bits & SET_LOCATION) != 0)
        set_location(a, v, c->location);
    if ((bits & SET_NOTES) != 0)
        json_set_str(v, "notes", cut(c->notes, NOTES_MAX));
    if ((bits & SET_SCAN) != 0)
        set_scan(v, before, c);
    if ((bits & SET_FIRST) != 0)
        set_first(v, &c->time, s->now);
    if ((bits & SET_LIFE) != 0)
        set_life(a, v, before, s);
    copy_members(a, v, more, SET_ALWAYS, NULL);
    json_set_str(v, "updatedAt", s->now);
    return json_print(a, v);
}

/* ---- reading ---- */

static bool local_moment(const json_val *doc, int64_t *ret)
{
    civil_time c = {0};
    int64_t    day;
    str        date = text_of(doc, "date"), clock = text_of(doc, "startTime");
    if (!when_is_date(date) || !when_is_time(clock))
        return false;
    char whole[] = "0000-00-00T00:00:00Z";
    memcpy(whole, date.at, 10);
    memcpy(whole + 11, clock.at, 5);
    if (!iso8601_parse(str_of(whole), &day))
        return false;
    civil_from_us(day, &c);
    return zone_to_us(zone_or_utc(text_of(doc, "timezone")), &c, ret) == RES_OK;
}

void appointment_doc_time(arena *a, const json_val *doc, when *ret)
{
    str             name = first_of(text_of(doc, "timezone"), sched_settings_get()->zone);
    const json_val *spec = json_get(doc, "time");
    int64_t         version = json_int(json_get(doc, "schemaVersion"), 0);
    if (version == SCHEMA_VERSION && json_typeof(spec) == JSON_OBJECT && when_read(a, spec, ret) == RES_OK) {
        if (ret->status == TIME_PARTIAL && ret->start_us == 0 && !local_moment(doc, &ret->start_us))
            ret->start_us = 0;
        return;
    }
    when_parts parts = {.start = text_of(doc, "start"),
                        .end = text_of(doc, "end"),
                        .date = text_of(doc, "date"),
                        .start_time = text_of(doc, "startTime")};
    int64_t    minutes = json_int(json_get(doc, "durationMins"), 0);
    if (minutes >= 1 && minutes <= TIME_DURATION_MAX)
        parts.minutes = (int)minutes;
    when_derive(a, &parts, zone_or_utc(name), ret);
}

int64_t appointment_doc_moment(const json_val *doc, const when *time, bool *ret_known)
{
    int64_t us;
    char    midnight[] = "0000-00-00T00:00:00Z";
    str     date = text_of(doc, "date");
    *ret_known = true;
    if (time->status == TIME_RESOLVED || time->start_us != 0)
        return time->start_us;
    if (iso8601_parse(text_of(doc, "start"), &us) || local_moment(doc, &us))
        return us;
    *ret_known = false;
    if (when_is_date(date)) {
        memcpy(midnight, date.at, 10);
        if (iso8601_parse(str_of(midnight), &us))
            return us;
    }
    return iso8601_parse(text_of(doc, "createdAt"), &us) ? us : 0;
}

str appointment_later(arena *a, str first, str second)
{
    int64_t now = clock_wall_us() / US_PER_MS * US_PER_MS, us;
    if (iso8601_parse(first, &us) && now <= us)
        now = us + US_PER_MS;
    if (iso8601_parse(second, &us) && now <= us)
        now = us + US_PER_MS;
    return iso8601_arena(a, now, 3);
}
