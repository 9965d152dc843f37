/* when_json.c -- TimeSpec, the form in which appointments hold their time (specification §3.1).
 *
 *   {"intent": {"status", "originalText", "missing": [], "assumptions": [], "evidenceSnippets": []},
 *    "resolved": {"startUtc", "endUtc", "timezone", "durationSource", "durationConfidence"?, …}}
 *
 * A document is read strictly, so that what a model makes up is noticed. Whether it lasts whole days is not
 * written: that is seen from its ends.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/when.h"

enum { NOTES_LISTED_MAX = 20, TEXT_MAX_BYTES = 4000, ZONE_MAX_BYTES = 64, US_PER_MS = 1000 };

static const char *const statuses[] = {"resolved", "partial", "unresolved"};
static const char *const missing_names[] = {"date", "startTime", "endTime", "duration", "timezone"};
static const char *const acceptances[] = {"", "auto", "user_confirmed", "user_edited"};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- writing ---- */

static void write_notes(json *intent, const char *key, str one, const json_val *read)
{
    json *list = json_set_array(intent, key);
    if (one.len > 0 && read == NULL)
        json_push_str(list, one);
    int left = NOTES_LISTED_MAX;
    for (json_iter it = json_each(read); left > 0 && json_next(&it); left--)
        json_push_val(list, it.value);
}

static void write_text(json *object, const char *key, str text)
{
    if (text.len > 0)
        json_set_str(object, key, text);
}

static void write_resolved(arena *a, json *out, const when *s)
{
    json *r = json_set_object(out, "resolved");
    json_set_str(r, "startUtc", iso8601_arena(a, s->start_us, 3));
    json_set_str(r, "endUtc", iso8601_arena(a, s->end_us, 3));
    json_set_str(r, "timezone", s->zone);
    json_set_str(r, "durationSource", s->suggested ? STR("suggested") : STR("explicit"));
    if (s->confidence > 0)
        json_set_double(r, "durationConfidence", s->confidence);
    write_text(r, "durationReason", s->reason);
    write_text(r, "durationAcceptance", str_of(acceptances[s->acceptance]));
    write_text(r, "inferenceVersion", s->inference);
}

json *when_json(arena *a, const when *s)
{
    json *out = json_object(a);
    json *intent = json_set_object(out, "intent");
    json_set_str(intent, "status", str_of(statuses[s->status]));
    json_set_str(intent, "originalText", s->original);
    json *missing = json_set_array(intent, "missing");
    for (int i = 0; i < COUNT(missing_names) && s->status != TIME_RESOLVED; i++)
        if ((s->missing >> i & 1U) != 0)
            json_push_str(missing, str_of(missing_names[i]));
    write_notes(intent, "assumptions", s->assumption, s->assumptions);
    write_notes(intent, "evidenceSnippets", STR(""), s->evidence);
    if (s->status == TIME_RESOLVED)
        write_resolved(a, out, s);
    return out;
}

/* ---- reading ---- */

static bool is_absent(const json_val *v)
{
    return json_typeof(v) == JSON_NONE || json_typeof(v) == JSON_NULL;
}

static bool read_choice(const json_val *v, const char *const *names, int count, int *ret)
{
    str text = json_text(v, STR(""));
    for (int i = 0; i < count; i++)
        if (json_typeof(v) == JSON_STRING && str_eq(text, str_of(names[i]))) {
            *ret = i;
            return true;
        }
    return false;
}

/* Absent is empty; otherwise a text, and not a book. */
static bool read_text(const json_val *v, str *ret)
{
    *ret = json_text(v, STR(""));
    return is_absent(v) || (json_typeof(v) == JSON_STRING && ret->len <= TEXT_MAX_BYTES);
}

static bool read_notes(const json_val *v, const json_val **ret)
{
    *ret = NULL;
    if (is_absent(v))
        return true;
    if (json_typeof(v) != JSON_ARRAY || json_len(v) > NOTES_LISTED_MAX)
        return false;
    for (json_iter it = json_each(v); json_next(&it);)
        if (json_typeof(it.value) != JSON_STRING || json_text(it.value, STR("")).len > TEXT_MAX_BYTES)
            return false;
    *ret = v;
    return true;
}

static bool read_missing(const json_val *v, unsigned *ret)
{
    *ret = 0;
    if (!is_absent(v) && json_typeof(v) != JSON_ARRAY)
        return false;
    for (json_iter it = json_each(v); json_next(&it);) {
        int which;
        if (!read_choice(it.value, missing_names, COUNT(missing_names), &which))
            return false;
        *ret |= 1U << which;
    }
    return true;
}

static bool read_intent(const json_val *v, when *w)
{
    int status;
    if (json_typeof(v) != JSON_OBJECT ||
        !read_choice(json_get(v, "status"), statuses, COUNT(statuses), &status) ||
        !read_text(json_get(v, "originalText"), &w->original) ||
        !read_missing(json_get(v, "missing"), &w->missing) ||
        !read_notes(json_get(v, "assumptions"), &w->assumptions) ||
        !read_notes(json_get(v, "evidenceSnippets"), &w->evidence))
        return false;
    w->status = (time_status)status;
    w->assumption = json_text(json_at(w->assumptions, 0), STR(""));
    if (w->status == TIME_RESOLVED)
        w->missing = 0;
    return w->status != TIME_PARTIAL || w->missing != 0;
}

/* Microseconds are not written, so they are not kept either. */
static bool read_moment(const json_val *v, int64_t *ret)
{
    int64_t us;
    if (!iso8601_parse(json_text(v, STR("")), &us))
        return false;
    *ret = us - ((us % US_PER_MS) + US_PER_MS) % US_PER_MS;
    return true;
}

/* Above 0 and up to 1; absent is 0. */
static bool read_confidence(const json_val *v, double *ret)
{
    *ret = json_double(v, 0);
    return is_absent(v) || (json_typeof(v) == JSON_NUMBER && *ret >= 0 && *ret <= 1);
}

/* A zone that this machine does not know (any more) is no reason to lose the time: both ends are in UTC. */
static bool read_zone(const json_val *v, when *w)
{
    w->zone = json_text(v, STR(""));
    for (size_t i = 0; i < w->zone.len; i++)
        if (w->zone.at[i] <= ' ' || w->zone.at[i] > '~')
            return false;
    const zone *z = zone_find(w->zone);
    w->all_day = z != NULL && when_is_whole_days(z, w->start_us, w->end_us);
    return w->zone.len > 0 && w->zone.len <= ZONE_MAX_BYTES;
}

static bool read_resolved(const json_val *v, when *w)
{
    static const char *const sources[] = {"explicit", "suggested"};
    const json_val          *accepted = json_get(v, "durationAcceptance");
    int                      source, acceptance = 0;
    if (json_typeof(v) != JSON_OBJECT || !read_moment(json_get(v, "startUtc"), &w->start_us) ||
        !read_moment(json_get(v, "endUtc"), &w->end_us) || w->end_us <= w->start_us ||
        !read_zone(json_get(v, "timezone"), w) ||
        !read_choice(json_get(v, "durationSource"), sources, COUNT(sources), &source) ||
        !read_confidence(json_get(v, "durationConfidence"), &w->confidence) ||
        !read_text(json_get(v, "durationReason"), &w->reason) ||
        !read_text(json_get(v, "inferenceVersion"), &w->inference) ||
        (!is_absent(accepted) && !read_choice(accepted, acceptances, COUNT(acceptances), &acceptance)))
        return false;
    w->suggested = source == 1;
    w->acceptance = (time_acceptance)acceptance;
    return true;
}

res when_read(arena *a, const json_val *v, when *ret)
{
    when            w = {0};
    const json_val *resolved = json_get(v, "resolved");
    (void)a; /* all texts are the document's */
    if (json_typeof(v) != JSON_OBJECT || !read_intent(json_get(v, "intent"), &w))
        return RES_INVALID;
    if (w.status == TIME_RESOLVED ? !read_resolved(resolved, &w) : !is_absent(resolved))
        return RES_INVALID;
    *ret = w;
    return RES_OK;
}
