/* when_clock.c -- times of day: read, and which half of the day they mean.
 *
 * Where a time could be in either half, the one that makes the range short is taken ("11-1pm" begins before
 * noon, "9am-5" ends after), or the one that a window names ("tuesday evening, 7:30"). With neither, 7 to 11
 * are in the morning and 12 to 6 after noon, and the caller says that it guessed.
 *
 * SPDX-License-Identifier: MIT */
#include "when_words.h"

enum { NOON = 12, DAY_MINUTES = 1440, FIRST_MORNING_HOUR = 7, LAST_NIGHT_HOUR = 4 };

static bool is_minutes(const when_token *colon)
{
    return token_is(colon, ":") && colon->glued && colon[1].kind == TOKEN_NUMBER && colon[1].glued &&
           colon[1].text.len == 2 && colon[1].number <= 59;
}

/* "am" and "pm", or their first letters at the number: "9a-5p". */
static bool take_half(const when_token **at, clock_half *ret)
{
    bool am = token_is(*at, "am") || ((*at)->glued && token_is(*at, "a"));
    bool pm = token_is(*at, "pm") || ((*at)->glued && token_is(*at, "p"));
    if (am || pm) {
        *ret = am ? CLOCK_AM : CLOCK_PM;
        (*at)++;
    }
    return am || pm;
}

/* "9 in the morning", "10 at night": the words that follow are read as a window later. */
static bool before_window(const when_token *t)
{
    static const char *const parts[] = {"morning", "afternoon", "evening"};
    return (token_is(t, "in") && token_is(t + 1, "the") && token_in(t + 2, parts, 3)) ||
           (token_is(t, "at") && token_is(t + 1, "night"));
}

static bool take_named(const when_token **at, when_clock *ret)
{
    bool noon = token_is(*at, "noon") || token_is(*at, "midday");
    if (!noon && !token_is(*at, "midnight"))
        return false;
    *ret = (when_clock){.hour = noon ? NOON : 0, .half = CLOCK_EXACT, .sure = true};
    (*at)++;
    return true;
}

/* The number itself: "5", "9:30", "17:00:00"; "930" only with am or pm behind it. */
static bool take_digits(const when_token **at, when_clock *c)
{
    const when_token *t = *at;
    clock_half        half;
    if (t->kind != TOKEN_NUMBER || t->number < 0)
        return false;
    *c = (when_clock){.hour = t->number};
    const when_token *after = t + 1;
    if (t->text.len >= 3) {
        c->hour = t->number / 100;
        c->minute = t->number % 100;
        *at = after;
        return c->minute <= 59 && take_half(&after, &half);
    }
    if (is_minutes(after)) {
        c->minute = after[1].number;
        c->sure = true;
        after += 2;
        if (is_minutes(after)) /* seconds are not kept */
            after += 2;
    }
    *at = after;
    return !token_is(after, ":");
}

bool clock_take(const when_token **at, when_clock *ret)
{
    const when_token *t = *at, *first = *at;
    when_clock        c;

    if (take_named(at, ret))
        return true;
    if (!take_digits(&t, &c))
        return false;
    if (take_half(&t, &c.half)) {
        c.sure = true;
        if (c.hour < 1 || c.hour > NOON)
            return false;
    } else {
        bool oclock = token_is(t, "o'clock") || token_is(t, "oclock");
        c.sure = c.sure || oclock || before_window(t);
        t += oclock ? 1 : 0;
        if (c.hour > 24 || (c.hour == 24 && c.minute > 0))
            return false;
        if (c.hour == 0 || c.hour > NOON || first->text.at[0] == '0')
            c.half = CLOCK_EXACT;
    }
    *ret = c;
    *at = t;
    return true;
}

/* ---- which half ---- */

static int minutes_of(const when_clock *c, clock_half half)
{
    int hour = c->hour % 24;
    if (half == CLOCK_AM)
        hour = c->hour % NOON;
    else if (half == CLOCK_PM)
        hour = c->hour % NOON + NOON;
    return hour * 60 + c->minute;
}

static bool is_named(const when_window *w, const char *name)
{
    return str_eq(str_of(w->name), str_of(name));
}

/* "2 at night" is before dawn, "9 at night" is not. */
static clock_half half_in(const when_window *w, const when_clock *c)
{
    if (w->to_hour <= NOON || (is_named(w, "night") && (c->hour <= LAST_NIGHT_HOUR || c->hour == NOON)))
        return CLOCK_AM;
    return CLOCK_PM;
}

static clock_half usual_half(const when_clock *c)
{
    return c->hour >= FIRST_MORNING_HOUR && c->hour < NOON ? CLOCK_AM : CLOCK_PM;
}

static int length(int start, int end)
{
    return end > start ? end - start : end - start + DAY_MINUTES;
}

static clock_half shorter(const when_clock *open, int other, bool open_is_start)
{
    int am = minutes_of(open, CLOCK_AM), pm = minutes_of(open, CLOCK_PM);
    if (open_is_start)
        return length(am, other) < length(pm, other) ? CLOCK_AM : CLOCK_PM;
    return length(other, am) < length(other, pm) ? CLOCK_AM : CLOCK_PM;
}

bool clock_settle(const when_facts *f, int *ret_start, int *ret_end, bool *ret_guessed)
{
    when_clock start = f->start, end = f->end;
    *ret_guessed = false;
    *ret_end = -1;
    if (f->clocks == 0 || start.hour == 24)
        return false;
    if (start.half == CLOCK_OPEN) {
        if (f->window != NULL) {
            start.half = half_in(f->window, &start);
        } else if (f->clocks == 2 && end.half != CLOCK_OPEN) {
            start.half = shorter(&start, minutes_of(&end, end.half), true);
        } else {
            start.half = usual_half(&start);
            *ret_guessed = start.hour != NOON;
        }
    }
    *ret_start = minutes_of(&start, start.half);
    if (f->clocks == 2) {
        if (end.half == CLOCK_OPEN)
            end.half = shorter(&end, *ret_start, false);
        *ret_end = minutes_of(&end, end.half);
    }
    return true;
}
