/* scan_read.c -- see scan_read.h.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/scan_read.h"

#include "core/buf.h"

static const double SUGGESTED_CONFIDENCE = 0.5;

/* ---- items ---- */

static const char *const fields[] = {"title", "date", "startTime", "location", "notes"};

static bool is_item(const json_val *v)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (json_text(json_get(v, fields[i]), (str){0}).len > 0)
            return true;
    return false;
}

size_t scan_items(const json_val *answer, const json_val *ret[SCAN_ITEMS_MAX])
{
    static const char *const envelopes[] = {"appointments", "appointment", "events", "items"};
    size_t                   n = 0;
    const json_val          *list = answer;
    for (size_t i = 0; i < sizeof envelopes / sizeof *envelopes && list == answer; i++) {
        const json_val *inside = json_get(answer, envelopes[i]);
        if (json_typeof(inside) == JSON_ARRAY || json_typeof(inside) == JSON_OBJECT)
            list = inside;
    }
    if (json_typeof(list) == JSON_OBJECT && is_item(list))
        ret[n++] = list;
    if (json_typeof(list) == JSON_ARRAY)
        for (json_iter it = json_each(list); n < SCAN_ITEMS_MAX && json_next(&it);)
            ret[n++] = it.value;
    return n;
}

/* ---- one of them ---- */

/* On one line, unless it is a note; control characters are blanks. */
static str clean(arena *a, const json_val *item, const char *name, bool keep_breaks)
{
    buf out;
    str text = str_trim(json_text(json_get(item, name), (str){0}));
    buf_init(&out, a, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        bool control = (unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f;
        if (control && !(keep_breaks && text.at[i] == '\n'))
            (void)buf_add_char(&out, ' '); /* there is room */
        else
            (void)buf_add_char(&out, text.at[i]);
    }
    return str_trim(buf_str(&out));
}

const char *scan_read_item(arena *a, const json_val *item, scan_fields *ret)
{
    scan_fields f = {.title = clean(a, item, "title", false),
                     .date = clean(a, item, "date", false),
                     .start = clean(a, item, "startTime", false),
                     .location = clean(a, item, "location", false),
                     .notes = clean(a, item, "notes", true)};
    int64_t     minutes = json_int(json_get(item, "durationMins"), 0);
    if (!when_is_date(f.date))
        f.date = (str){0};
    if (!when_is_time(f.start))
        f.start = (str){0};
    if (minutes >= 1 && minutes <= TIME_DURATION_MAX)
        f.minutes = (int)minutes;
    bool says_what = f.title.len > 0 || f.location.len > 0 || f.notes.len > 0;
    if (!says_what && f.date.len == 0 && f.start.len == 0)
        return "no_meaningful_content";
    if (!says_what && f.date.len == 0)
        return "missing_required_fields";
    *ret = f;
    return NULL;
}

/* ---- as a change ---- */

static str first_sentence(str notes)
{
    size_t i = 0, characters = 0;
    for (; i < notes.len; i++) {
        bool ends = (notes.at[i] == '.' || notes.at[i] == '!' || notes.at[i] == '?') &&
                    (i + 1 == notes.len || notes.at[i + 1] == ' ' || notes.at[i + 1] == '\n');
        if (notes.at[i] == '\n' || ends)
            break;
        if ((notes.at[i] & 0xc0) != 0x80 && ++characters > SCAN_TITLE_MAX)
            break;
    }
    return str_trim(str_slice(notes, 0, i));
}

str scan_title(arena *a, const scan_fields *f)
{
    str sentence = first_sentence(f->notes);
    if (f->title.len > 0)
        return f->title;
    if (sentence.len > 0)
        return sentence;
    if (f->location.len > 0)
        return arena_strf(a, "Appointment at %.*s", STR_ARG(f->location));
    return STR("Appointment");
}

/* Without a date there is no time; without a time of day it is the whole day. */
static bool read_time(arena *a, const scan_fields *f, const zone *z, when *ret)
{
    bool suggested = f->start.len > 0 && f->minutes == 0;
    int  minutes = f->start.len == 0 ? 0 : suggested ? SCAN_MINUTES : f->minutes;
    if (f->date.len == 0 || when_make(a, f->date, f->start, minutes, z, ret) != RES_OK)
        return false;
    if (suggested) {
        ret->suggested = true;
        ret->confidence = SUGGESTED_CONFIDENCE;
    }
    return true;
}

void scan_change(arena *a, const scan_fields *f, const zone *z, bool is_new, appointment_change *ret)
{
    *ret = (appointment_change){.start_zone = zone_name(z), .location = f->location, .notes = f->notes};
    ret->title = is_new ? scan_title(a, f) : f->title;
    if (ret->title.len > 0)
        ret->set |= SET_TITLE;
    if (f->location.len > 0)
        ret->set |= SET_LOCATION;
    if (f->notes.len > 0)
        ret->set |= SET_NOTES;
    if (read_time(a, f, z, &ret->time)) {
        ret->set |= SET_TIME;
    } else if (is_new) { /* it is put on today, and says so */
        json *more = json_object(a);
        json_set_bool(more, "scanAutoDate", true);
        ret->more = more;
        ret->set |= SET_MORE;
    }
}
