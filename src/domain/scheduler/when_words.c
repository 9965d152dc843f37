/* when_words.c -- the grammar of times in words (specification §6.5), in English.
 *
 * The text is read once from left to right; at each place the forms are tried one after the other. Words that
 * mean nothing here are passed over ("dinner with Ann tomorrow at 7pm"), but not those that would change what
 * the rest means: "every tuesday", "by 5pm", "5pm PST" and stray numbers make it muddled, and it is asked
 * for.
 *
 * SPDX-License-Identifier: MIT */
#include "when_words.h"

enum { MONTHS = 12, WEEKDAYS = 7, AMOUNT_MAX = 999, YEAR_MIN = 1900, HOUR_MINUTES = 60 };

#define COUNT(table) (sizeof(table) / sizeof *(table))

typedef struct {
    const when_token *at;
    when_facts       *f;
    bool              stamp; /* a date with a T: a minus behind its time is an offset */
} reader;

typedef bool form_fn(reader *r);

static const char *const months[] = {"january", "february", "march",     "april",   "may",      "june",
                                     "july",    "august",   "september", "october", "november", "december"};
static const char *const weekdays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                       "thursday", "friday", "saturday"};
static const char *const ordinals[] = {"st", "nd", "rd", "th"};

static const char *const to_words[] = {"-", "to", "until", "till", "til", "through", "thru"};

/* What makes a time another one than the rest of the text says. */
static const char *const troubles[] = {
    "every",    "each",     "or",     "not",     "except", "daily", "weekly",  "monthly",  "yearly",
    "annually", "biweekly", "after",  "since",   "last",   "past",  "ago",     "before",   "by",
    "until",    "till",     "til",    "through", "thru",   "half",  "quarter", "weekdays", "weekends",
    "days",     "weeks",    "months", "years",   "hours",  "z",     "utc",     "gmt",      "est",
    "edt",      "cst",      "cdt",    "mst",     "mdt",    "pst",   "pdt",     "et",       "ct",
    "mt",       "pt",       "cet",    "cest",    "bst",    "ist",   "jst",     "aest",     "aedt",
};

static const when_window windows[] = {
    {"early morning", 5, 8}, {"morning", 8, 12}, {"afternoon", 12, 17},
    {"evening", 17, 21},     {"night", 21, 24},
};

/* ---- names ---- */

/* The whole name, or at least three letters of it and no more than five, as "sept" and "thurs". */
static int find_name(const when_token *t, const char *const *names, size_t count)
{
    if (t->kind != TOKEN_WORD || t->text.len < 3)
        return -1;
    for (size_t i = 0; i < count; i++) {
        str name = str_of(names[i]);
        if (str_eq(t->text, name) || (t->text.len <= 5 && str_starts(name, t->text)))
            return (int)i;
    }
    return -1;
}

static bool skip(reader *r, const char *word)
{
    if (!token_is(r->at, word))
        return false;
    r->at++;
    return true;
}

static bool is_number(const when_token *t, size_t digits_min, size_t digits_max)
{
    return t->kind == TOKEN_NUMBER && t->text.len >= digits_min && t->text.len <= digits_max;
}

/* ---- dates ---- */

/* The year 0 was said, and does not exist; 0 itself stands for none. */
static int said_year(int year)
{
    return year == 0 ? -1 : year;
}

/* "2026-03-05", with a T behind it or without. */
static bool take_iso(reader *r, when_day *ret)
{
    const when_token *t = r->at;
    if (!is_number(t, 4, 4) || !token_is(t + 1, "-") || !is_number(t + 2, 1, 2) || !token_is(t + 3, "-") ||
        !is_number(t + 4, 1, 2))
        return false;
    for (int i = 1; i < 5; i++)
        if (!t[i].glued)
            return false;
    *ret = (when_day){said_year(t->number), t[2].number, t[4].number};
    r->at += 5;
    if (token_is(r->at, "t") && r->at->glued && r->at[1].kind == TOKEN_NUMBER && r->at[1].glued) {
        r->stamp = true;
        r->at++;
    }
    return true;
}

/* "3/5", "3/5/26", "3/5/2026": the month comes first. */
static bool take_slashed(reader *r, when_day *ret)
{
    const when_token *t = r->at;
    if (!is_number(t, 1, 2) || !token_is(t + 1, "/") || !t[1].glued || !is_number(t + 2, 1, 2) || !t[2].glued)
        return false;
    *ret = (when_day){0, t->number, t[2].number};
    r->at += 3;
    if (token_is(t + 3, "/") && t[3].glued && t[4].glued &&
        (is_number(t + 4, 2, 2) || is_number(t + 4, 4, 4))) {
        ret->year = t[4].text.len == 2 ? 2000 + t[4].number : said_year(t[4].number);
        r->at += 2;
    }
    return true;
}

/* A day of the month, but not the hour of "may 5pm" or "may 5:30". */
static bool take_day_number(reader *r, int *ret)
{
    const when_token *t = r->at;
    if (!is_number(t, 1, 2) || token_is(t + 1, ":") || token_is(t + 1, "am") || token_is(t + 1, "pm"))
        return false;
    *ret = t->number;
    r->at++;
    if (r->at->glued && token_in(r->at, ordinals, COUNT(ordinals)))
        r->at++;
    return true;
}

static void take_year(reader *r, when_day *day)
{
    if (is_number(r->at, 4, 4) && r->at->number >= YEAR_MIN && !token_is(r->at + 1, ":") &&
        !token_is(r->at + 1, "am") && !token_is(r->at + 1, "pm")) {
        day->year = r->at->number;
        r->at++;
    }
}

/* "Mar 5", "March 5th, 2026", "5 Mar", "5th of March 2026". */
static bool take_named(reader *r, when_day *ret)
{
    when_day day = {0};
    reader   try = *r;
    day.month = find_name(try.at, months, MONTHS) + 1;
    if (day.month > 0) {
        try.at++;
        (void)skip(&try, "."); /* "Mar." */
        (void)skip(&try, "the");
        if (!take_day_number(&try, &day.day))
            return false;
    } else {
        if (!take_day_number(&try, &day.day))
            return false;
        (void)skip(&try, "of"); /* both may be there or not */
        day.month = find_name(try.at, months, MONTHS) + 1;
        if (day.month == 0)
            return false;
        try.at++;
        (void)skip(&try, ".");
    }
    take_year(&try, &day);
    r->at = try.at;
    *ret = day;
    return true;
}

static bool take_day(reader *r, when_day *ret)
{
    return take_iso(r, ret) || take_slashed(r, ret) || take_named(r, ret);
}

/* "Mar 5-7": the second number alone, if it is not an hour. */
static bool take_last_number(reader *r, when_day *ret)
{
    reader   try = *r;
    when_day day = r->f->day;
    if (!take_day_number(&try, &day.day) || token_is(try.at, "-") || token_is(try.at, "/"))
        return false;
    take_year(&try, &day);
    if (r->f->day.year == 0)
        r->f->day.year = day.year;
    *ret = day;
    r->at = try.at;
    return true;
}

static bool read_day(reader *r)
{
    when_day day;
    bool     named = find_name(r->at, months, MONTHS) >= 0;
    if (!take_day(r, &day))
        return false;
    if (r->f->has_day)
        r->f->muddled = true;
    r->f->has_day = true;
    r->f->day = day;

    reader try = *r;
    if (!r->stamp && token_in(try.at, to_words, COUNT(to_words))) {
        try.at++;
        if (take_day(&try, &r->f->last) || (named && take_last_number(&try, &r->f->last))) {
            r->f->has_last = true;
            r->at = try.at;
        }
    }
    return true;
}

static void set_offset(reader *r, int days)
{
    if (r->f->has_offset && r->f->offset_days != days)
        r->f->muddled = true;
    r->f->has_offset = true;
    r->f->offset_days = days;
}

static void set_window(reader *r, const when_window *w)
{
    if (r->f->window != NULL && r->f->window != w)
        r->f->muddled = true;
    r->f->window = w;
}

static bool read_relative(reader *r)
{
    static const struct {
        const char *word;
        int         days;
    } rows[] = {{"today", 0}, {"tonight", 0}, {"tomorrow", 1}, {"tmrw", 1}, {"yesterday", -1}};
    if (token_is(r->at, "day") && token_is(r->at + 1, "after") && token_is(r->at + 2, "tomorrow")) {
        r->at += 3;
        set_offset(r, 2);
        return true;
    }
    for (size_t i = 0; i < COUNT(rows); i++)
        if (token_is(r->at, rows[i].word)) {
            set_offset(r, rows[i].days);
            if (token_is(r->at, "tonight"))
                set_window(r, &windows[COUNT(windows) - 1]);
            r->at++;
            return true;
        }
    return false;
}

static void set_weekday(reader *r, int weekday, bool next)
{
    if (r->f->weekday >= 0 && r->f->weekday != weekday)
        r->f->muddled = true;
    r->f->weekday = weekday;
    r->f->weekday_next = next;
    r->at++;
}

static bool read_span(reader *r, bool next)
{
    static const char *const names[] = {"week", "weekend", "month"};
    for (int i = 0; i < (int)COUNT(names); i++)
        if (token_is(r->at, names[i])) {
            if (r->f->span != SPAN_NONE)
                r->f->muddled = true;
            r->f->span = (when_span)(SPAN_WEEK + i);
            r->f->span_next = next;
            r->at++;
            return true;
        }
    return false;
}

/* ---- windows ---- */

static bool read_window(reader *r)
{
    if (token_is(r->at, "early") && token_is(r->at + 1, "morning")) {
        set_window(r, &windows[0]);
        r->at += 2;
        return true;
    }
    for (size_t i = 1; i < COUNT(windows); i++)
        if (token_is(r->at, windows[i].name)) {
            set_window(r, &windows[i]);
            r->at++;
            return true;
        }
    return false;
}

/* "next tuesday", "this week", "this evening", "tuesday", "the weekend". */
static bool read_qualified(reader *r)
{
    reader try = *r;
    bool   next = skip(&try, "next");
    bool this = !next && (skip(&try, "this") || skip(&try, "coming"));
    int weekday = find_name(try.at, weekdays, WEEKDAYS);
    if (weekday >= 0)
        set_weekday(&try, weekday, next);
    else if (this && read_window(&try))
        set_offset(&try, 0);
    else if ((!next && !this && !token_is(try.at, "weekend")) || !read_span(&try, next))
        return false;
    r->at = try.at;
    return true;
}

/* ---- lengths ---- */

static int unit_minutes(const when_token *t)
{
    static const char *const hours[] = {"h", "hr", "hrs", "hour", "hours"};
    static const char *const minutes[] = {"m", "min", "mins", "minute", "minutes"};
    return token_in(t, hours, COUNT(hours)) ? HOUR_MINUTES : token_in(t, minutes, COUNT(minutes)) ? 1 : 0;
}

/* "2 hours", "1.5 h", "an hour", "half an hour": minutes, 0 if there is none. */
static int take_length_part(reader *r)
{
    const when_token *t = r->at;
    int               unit, tenths = 0;
    bool              half = token_is(t, "half");
    t += half ? 1 : 0;
    if (token_is(t, "an") || token_is(t, "one") || (half && token_is(t, "hour"))) {
        t += token_is(t, "hour") ? 0 : 1;
        unit = unit_minutes(t);
        r->at = unit == HOUR_MINUTES ? t + 1 : r->at;
        return unit == HOUR_MINUTES ? unit / (half ? 2 : 1) : 0;
    }
    if (half || t->kind != TOKEN_NUMBER || t->number < 0 || t->number > AMOUNT_MAX)
        return 0;
    int amount = t->number;
    t++;
    if (token_is(t, ".") && t->glued && is_number(t + 1, 1, 1) && t[1].glued) {
        tenths = t[1].number;
        t += 2;
    }
    unit = unit_minutes(t);
    if (unit > 0)
        r->at = t + 1;
    return amount * unit + tenths * unit / 10;
}

static int take_length(reader *r)
{
    int minutes = take_length_part(r);
    if (minutes > 0) {
        reader try = *r;
        (void)skip(&try, "and"); /* "1 hour and 30 minutes" */
        int more = take_length_part(&try);
        if (more > 0 && more < HOUR_MINUTES) {
            minutes += more;
            r->at = try.at;
        }
    }
    return minutes;
}

static bool read_length(reader *r)
{
    int minutes = take_length(r);
    if (minutes == 0)
        return false;
    if (r->f->minutes > 0)
        r->f->muddled = true;
    r->f->minutes = minutes;
    return true;
}

/* "in 3 days", "in 2 weeks", "in 2 hours". */
static bool read_in(reader *r)
{
    reader try = *r;
    if (!skip(&try, "in"))
        return false;
    bool one = token_is(try.at, "a");
    if (one || (is_number(try.at, 1, 3) && try.at->number > 0)) {
        int amount = one ? 1 : try.at->number;
        int days = token_is(try.at + 1, "day") || token_is(try.at + 1, "days")     ? 1
                   : token_is(try.at + 1, "week") || token_is(try.at + 1, "weeks") ? 7
                                                                                   : 0;
        if (days > 0) {
            r->at = try.at + 2;
            set_offset(r, amount * days);
            return true;
        }
    }
    r->f->in_minutes += take_length(&try);
    if (r->f->in_minutes == 0)
        return false;
    r->at = try.at;
    return true;
}

/* ---- times of day ---- */

static void set_clocks(reader *r, const when_clock *start, const when_clock *end)
{
    if (r->f->clocks > 0)
        r->f->muddled = true;
    r->f->start = *start;
    r->f->clocks = end != NULL ? 2 : 1;
    if (end != NULL)
        r->f->end = *end;
}

/* "5pm", "at 5", "9-10am", "from 9 to 10", "between 9 and 10". A bare number is not enough. */
static bool read_clock(reader *r)
{
    const when_token *t = r->at;
    when_clock        start, end;
    bool              between = token_is(t, "between"), from = between || token_is(t, "from");
    bool              led = from || token_is(t, "at") || token_is(t, "@");
    t += led ? 1 : 0;
    if (led && !from && (token_is(t, "about") || token_is(t, "around")))
        t++;
    if (!clock_take(&t, &start))
        return false;

    const when_token *second = t + 1;
    bool              dash = token_is(t, "-");
    bool              joined = token_in(t, to_words, COUNT(to_words)) || (between && token_is(t, "and"));
    if (joined && clock_take(&second, &end) && (led || dash || start.sure || end.sure)) {
        r->f->muddled = r->f->muddled || r->stamp;
        set_clocks(r, &start, &end);
        r->at = second;
        return true;
    }
    if (!start.sure && !led)
        return false;
    set_clocks(r, &start, NULL);
    r->at = t;
    return true;
}

/* ---- all of it ---- */

static void pass_over(reader *r)
{
    if (r->at->kind == TOKEN_NUMBER || token_is(r->at, "next") || token_is(r->at, "+") ||
        token_in(r->at, troubles, COUNT(troubles)))
        r->f->muddled = true;
    r->at++;
}

void when_facts_read(const when_token *at, when_facts *ret)
{
    static form_fn *const forms[] = {read_day,       read_length, read_in,    read_relative,
                                     read_qualified, read_clock,  read_window};
    reader                r = {.at = at, .f = ret};
    *ret = (when_facts){.weekday = -1};
    while (r.at->kind != TOKEN_END) {
        bool found = false;
        for (size_t i = 0; i < COUNT(forms) && !found; i++)
            found = forms[i](&r);
        if (!found)
            pass_over(&r);
    }
}
