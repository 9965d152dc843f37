/* when.c -- from what words say to moments in a zone.
 *
 * Days are counted from 1970-01-01 as if all were of UTC; only the moments at their ends, and times of day,
 * go through the zone. A range that a change of clocks would turn round keeps the length that was said.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/when.h"

#include <assert.h>

#include "when_words.h"

enum {
    WORDS_MAX = 1000, /* characters */
    DAY_MINUTES = 1440,
    YEARS_AHEAD = 8, /* so far away may be the next 29th of February */
    ARENA_BYTES = MIB,
};

#define US_PER_MINUTE INT64_C(60000000)
#define US_PER_DAY    (DAY_MINUTES * US_PER_MINUTE)
#define FIRST_US      INT64_C(-62135596800000000) /* 0001-01-01T00:00:00Z */
#define LAST_US       INT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999Z */

typedef struct {
    arena            *a;
    const zone       *z;
    int64_t           now_us;
    civil_time        now; /* there */
    int64_t           today;
    const when_facts *f;
    when             *out;
} scene;

/* ---- days ---- */

static int64_t day_of(const civil_time *c)
{
    civil_time midnight = {.year = c->year, .month = c->month, .day = c->day};
    int64_t    us = 0;
    bool       real = civil_to_us(&midnight, &us);
    assert(real); /* callers have it from a moment, or have looked */
    (void)real;
    return us / US_PER_DAY; /* exact */
}

static bool day_number(int year, int month, int day, int64_t *ret)
{
    civil_time c = {.year = year, .month = month, .day = day};
    int64_t    us;
    if (!civil_to_us(&c, &us))
        return false;
    *ret = day_of(&c);
    return true;
}

static int weekday_of(int64_t day)
{
    return (int)(((day + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
}

/* The moment at which that minute of the day begins there; minutes may go beyond the day. */
static bool moment(const zone *z, int64_t day, int minute, int64_t *ret_us)
{
    civil_time c;
    int64_t    shown_us = day * US_PER_DAY + minute * US_PER_MINUTE;
    if (shown_us < FIRST_US || shown_us > LAST_US)
        return false;
    civil_from_us(shown_us, &c);
    return zone_to_us(z, &c, ret_us) == RES_OK;
}

static void assume(scene *s, str text)
{
    if (s->out->assumption.len == 0)
        s->out->assumption = text;
}

static str day_text(arena *a, int64_t day)
{
    civil_time c;
    civil_from_us(day * US_PER_DAY, &c);
    return arena_strf(a, "%04d-%02d-%02d", c.year, c.month, c.day);
}

/* Without a year it is the next such day, today included. */
static bool find_named_day(scene *s, const when_day *d, int64_t least, int64_t *ret)
{
    if (d->year != 0)
        return day_number(d->year, d->month, d->day, ret);
    for (int y = 0; y <= YEARS_AHEAD; y++)
        if (day_number(s->now.year + y, d->month, d->day, ret) && *ret >= least) {
            if (y > 0)
                assume(s, arena_strf(s->a, "No year was said: took %.*s", STR_ARG(day_text(s->a, *ret))));
            return true;
        }
    return false;
}

static bool clock_has_passed(const scene *s)
{
    int  start, end;
    bool guessed;
    return clock_settle(s->f, &start, &end, &guessed) && start <= s->now.hour * 60 + s->now.minute;
}

static int64_t find_weekday(scene *s)
{
    int ahead = (s->f->weekday - s->now.weekday + 7) % 7;
    if (ahead == 0 && (s->f->weekday_next || clock_has_passed(s)))
        ahead = 7;
    if (s->f->weekday_next)
        assume(s, arena_strf(s->a, "Took it for %.*s", STR_ARG(day_text(s->a, s->today + ahead))));
    return s->today + ahead;
}

/* Weeks begin on Monday. */
static bool find_span(const scene *s, int64_t *ret_first, int64_t *ret_end)
{
    const when_facts *f = s->f;
    int64_t           monday = s->today - (s->now.weekday + 6) % 7 + (f->span_next ? 7 : 0);
    if (f->span == SPAN_MONTH) {
        int month = s->now.month - 1 + (f->span_next ? 1 : 0);
        return f->weekday < 0 && day_number(s->now.year + month / 12, month % 12 + 1, 1, ret_first) &&
               day_number(s->now.year + (month + 1) / 12, (month + 1) % 12 + 1, 1, ret_end);
    }
    *ret_first = f->span == SPAN_WEEKEND ? monday + 5 : monday;
    *ret_end = monday + 7;
    if (f->weekday >= 0) {
        int64_t day = monday + (f->weekday + 6) % 7;
        if (day < *ret_first || f->weekday_next)
            return false;
        *ret_first = day;
        *ret_end = day + 1;
    }
    return true;
}

/* The days from *ret_first to before *ret_end; false: none were said, or some that contradict each other. */
static bool find_days(scene *s, int64_t *ret_first, int64_t *ret_end)
{
    const when_facts *f = s->f;
    int64_t           last;
    int               kinds = (f->has_day ? 1 : 0) + (f->has_offset ? 1 : 0) + (f->span != SPAN_NONE ? 1 : 0);
    if (kinds > 1)
        return false;
    if (f->span != SPAN_NONE)
        return find_span(s, ret_first, ret_end);
    if (kinds == 0) {
        if (f->weekday < 0)
            return false;
        *ret_first = find_weekday(s);
    } else if (f->has_offset) {
        *ret_first = s->today + f->offset_days;
    } else if (!find_named_day(s, &f->day, s->today, ret_first)) {
        return false;
    }
    *ret_end = *ret_first + 1;
    if (f->weekday >= 0 && weekday_of(*ret_first) != f->weekday)
        return false;
    if (f->has_last) {
        if (!find_named_day(s, &f->last, *ret_first, &last) || last < *ret_first)
            return false;
        *ret_end = last + 1;
    }
    return true;
}

/* ---- results ---- */

static void set_partial(when *w, unsigned missing, int64_t start_us)
{
    w->status = TIME_PARTIAL;
    w->missing = missing;
    w->start_us = start_us;
}

static bool set_resolved(when *w, const zone *z, int64_t start_us, int64_t end_us)
{
    if (end_us > LAST_US)
        return false;
    w->status = TIME_RESOLVED;
    w->missing = 0;
    w->start_us = start_us;
    w->end_us = end_us;
    w->all_day = when_is_whole_days(z, start_us, end_us);
    return true;
}

static bool set_range(when *w, const zone *z, int64_t day, int start, int end)
{
    int64_t start_us, end_us;
    if (!moment(z, day, start, &start_us) || !moment(z, day, end, &end_us))
        return false;
    if (end_us <= start_us) /* the change of clocks lies between them */
        end_us = start_us + (end - start) * US_PER_MINUTE;
    return set_resolved(w, z, start_us, end_us);
}

static bool set_days(when *w, const zone *z, int64_t first, int64_t end)
{
    int64_t start_us, end_us;
    if (!moment(z, first, 0, &start_us) || !moment(z, end, 0, &end_us) || end_us <= start_us)
        return false;
    return set_resolved(w, z, start_us, end_us);
}

/* A length counts as time goes by, whatever clocks do meanwhile. None, or more than a day: it is missing. */
static bool set_start(when *w, const zone *z, int64_t start_us, int minutes)
{
    if (minutes >= 1 && minutes <= TIME_DURATION_MAX)
        return set_resolved(w, z, start_us, start_us + minutes * US_PER_MINUTE);
    set_partial(w, MISSING_DURATION, start_us);
    return start_us <= LAST_US;
}

static bool settle_clock(scene *s, int64_t day)
{
    int     start, end;
    bool    guessed;
    int64_t start_us;
    if (!clock_settle(s->f, &start, &end, &guessed))
        return false;
    if (guessed)
        assume(s, arena_strf(s->a, "Neither am nor pm was said: took %02d:%02d", start / 60, start % 60));
    if (s->f->clocks == 2 && end != start)
        return s->f->minutes == 0 &&
               set_range(s->out, s->z, day, start, end < start ? end + DAY_MINUTES : end);
    if (!moment(s->z, day, start, &start_us))
        return false;
    if (s->f->clocks == 1)
        return set_start(s->out, s->z, start_us, s->f->minutes);
    set_partial(s->out, MISSING_END, start_us);
    return true;
}

static bool settle_window(scene *s, int64_t day)
{
    const when_window *w = s->f->window;
    assume(s, arena_strf(s->a, "Took %s for %02d:00 to %02d:00", w->name, w->from_hour, w->to_hour));
    return s->f->minutes == 0 && set_range(s->out, s->z, day, w->from_hour * 60, w->to_hour * 60);
}

static bool settle(scene *s)
{
    const when_facts *f = s->f;
    int64_t           first, end;
    if (f->in_minutes > 0) {
        int64_t start_us = s->now_us + f->in_minutes * US_PER_MINUTE;
        if (f->has_day || f->has_offset || f->weekday >= 0 || f->span != SPAN_NONE || f->clocks > 0 ||
            f->window)
            return false;
        start_us -= (start_us % US_PER_MINUTE + US_PER_MINUTE) % US_PER_MINUTE;
        return set_start(s->out, s->z, start_us, f->minutes);
    }
    if (!find_days(s, &first, &end))
        return false;
    if (f->clocks == 0 && f->window == NULL) {
        if (f->minutes == 0)
            return set_days(s->out, s->z, first, end);
        set_partial(s->out, MISSING_START, 0);
        return true;
    }
    if (end - first > 1)
        return false;
    return f->clocks > 0 ? settle_clock(s, first) : settle_window(s, first);
}

/* ---- exported ---- */

/* The first `most` characters; *ret_whole: there are no more. */
static str first_characters(str text, size_t most, bool *ret_whole)
{
    size_t len = 0, count = 0;
    for (; len < text.len; len++)
        if (((unsigned char)text.at[len] & 0xC0U) != 0x80U && count++ == most)
            break;
    *ret_whole = len == text.len;
    return str_slice(text, 0, len);
}

static bool read_facts(arena *a, str words, when_facts *ret)
{
    bool whole;
    if (words.len > (size_t)4 * WORDS_MAX) /* nor are bytes that are no characters */
        return false;
    (void)first_characters(words, WORDS_MAX, &whole); /* only the count is wanted */
    if (!whole)
        return false;
    const when_token *tokens = when_tokens(a, words);
    if (tokens == NULL)
        return false;
    when_facts_read(tokens, ret);
    return !ret->muddled;
}

static when unresolved(arena *a, str original, str zone_is)
{
    bool whole;
    str  kept = first_characters(str_slice(original, 0, (size_t)4 * WORDS_MAX), WORDS_MAX, &whole);
    return (when){.status = TIME_UNRESOLVED,
                  .missing = MISSING_DATE,
                  .original = arena_copy(a, kept),
                  .zone = arena_copy(a, zone_is)};
}

void when_parse(arena *a, str words, const zone *z, int64_t now_us, when *ret)
{
    when_facts facts;
    when       found = unresolved(a, words, zone_name(z));
    int64_t    here_us = now_us < FIRST_US ? FIRST_US : now_us > LAST_US ? LAST_US : now_us;
    scene      s = {.a = a, .z = z, .now_us = here_us, .f = &facts, .out = &found};
    int64_t    start_us;

    zone_local(z, here_us, &s.now);
    s.today = day_of(&s.now);
    if (iso8601_parse(str_trim(words), &start_us))
        set_partial(&found, MISSING_DURATION, start_us);
    else if (!read_facts(a, words, &facts) || !settle(&s))
        found = unresolved(a, words, zone_name(z));
    *ret = found;
}

bool when_is_clock_only(str words, int *ret_hour, int *ret_minute)
{
    when_facts f;
    int        start, end;
    bool       guessed;
    arena     *a = arena_new(ARENA_BYTES);
    if (a == NULL)
        return false;
    bool only = read_facts(a, words, &f) && !f.has_day && !f.has_offset && f.weekday < 0 &&
                f.span == SPAN_NONE && f.clocks == 1 && f.minutes == 0 && f.in_minutes == 0 &&
                clock_settle(&f, &start, &end, &guessed);
    arena_free(a);
    if (only) {
        *ret_hour = start / 60;
        *ret_minute = start % 60;
    }
    return only;
}

/* Digits where the pattern has a 0, else the pattern's own character. */
static bool has_form(str text, const char *pattern, size_t len)
{
    if (text.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool digit = text.at[i] >= '0' && text.at[i] <= '9';
        if (pattern[i] == '0' ? !digit : text.at[i] != pattern[i])
            return false;
    }
    return true;
}

static int digits_at(str text, size_t from, size_t count)
{
    int n = 0;
    for (size_t i = from; i < from + count; i++)
        n = n * 10 + (text.at[i] - '0');
    return n;
}

static bool read_date(str text, int64_t *ret_day)
{
    return has_form(text, "0000-00-00", 10) &&
           day_number(digits_at(text, 0, 4), digits_at(text, 5, 2), digits_at(text, 8, 2), ret_day);
}

static bool read_time(str text, int *ret_minute)
{
    if (!has_form(text, "00:00", 5) || digits_at(text, 0, 2) > 23 || digits_at(text, 3, 2) > 59)
        return false;
    *ret_minute = digits_at(text, 0, 2) * 60 + digits_at(text, 3, 2);
    return true;
}

bool when_is_date(str text)
{
    int64_t day;
    return read_date(text, &day);
}

bool when_is_time(str text)
{
    int minute;
    return read_time(text, &minute);
}

bool when_is_whole_days(const zone *z, int64_t start_us, int64_t end_us)
{
    const int64_t ends[2] = {start_us, end_us};
    for (int i = 0; i < 2; i++) {
        civil_time c;
        int64_t    midnight_us;
        zone_local(z, ends[i], &c);
        if (!moment(z, day_of(&c), 0, &midnight_us) || midnight_us != ends[i])
            return false;
    }
    return end_us > start_us;
}

res when_make(arena *a, str date, str start, int minutes, const zone *z, when *ret)
{
    str     said = start.len > 0 ? arena_strf(a, "%.*s %.*s", STR_ARG(date), STR_ARG(start)) : date;
    int64_t day, start_us;
    int     minute = 0;

    if (!read_date(date, &day) || (start.len > 0 && !read_time(start, &minute)) || minutes < 0 ||
        minutes > TIME_DURATION_MAX)
        return RES_INVALID;
    when made = unresolved(a, said, zone_name(z));
    if (start.len == 0 ? !set_days(&made, z, day, day + 1) : !moment(z, day, minute, &start_us))
        return RES_INVALID;
    if (start.len > 0 && !set_start(&made, z, start_us, minutes))
        return RES_INVALID;
    *ret = made;
    return RES_OK;
}

void when_derive(arena *a, const when_parts *p, const zone *z, when *ret)
{
    int64_t start_us, end_us;
    when    made = unresolved(a, p->date, zone_name(z));
    if (iso8601_parse(p->start, &start_us) && iso8601_parse(p->end, &end_us) && start_us < end_us &&
        set_resolved(&made, z, start_us, end_us)) {
        *ret = made;
        return;
    }
    bool known = p->start_time.len == 0 || p->minutes > 0;
    if (!known || when_make(a, p->date, p->start_time, p->minutes, z, ret) != RES_OK)
        *ret = made;
}
