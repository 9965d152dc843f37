/* when_words.h -- what words say about a time, before it is known when "today" is.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TRESTLE_DOMAIN_SCHEDULER_WHEN_WORDS_H
#define TRESTLE_DOMAIN_SCHEDULER_WHEN_WORDS_H

#include "core/arena.h"

/* ---- tokens: numbers, words in lower case, single signs ---- */

typedef enum { TOKEN_END, TOKEN_NUMBER, TOKEN_WORD, TOKEN_SIGN } token_kind;

typedef struct {
    token_kind kind;
    bool       glued; /* no blank before it */
    str        text;
    int        number; /* of more than 4 digits: -1 */
} when_token;

/* Ends with TOKENS_AHEAD times TOKEN_END, so that a reader may look ahead. */
enum { TOKENS_AHEAD = 8 };
const when_token *when_tokens(arena *a, str words);

bool token_is(const when_token *t, const char *word); /* a word, or a sign */
bool token_in(const when_token *t, const char *const *words, size_t count);

/* ---- what they say ---- */

typedef struct {
    int year, month, day; /* year 0: not said */
} when_day;

/* CLOCK_OPEN may be before or after noon: "5", "9:30". */
typedef enum { CLOCK_OPEN, CLOCK_AM, CLOCK_PM, CLOCK_EXACT } clock_half;

typedef struct {
    int        hour, minute;
    clock_half half;
    bool       sure; /* could be nothing but a time: has a colon, or am, or is "noon" */
} when_clock;

typedef enum { SPAN_NONE, SPAN_WEEK, SPAN_WEEKEND, SPAN_MONTH } when_span;

typedef struct {
    const char *name;
    int         from_hour, to_hour;
} when_window;

typedef struct {
    bool               muddled; /* says two things at once, or what we must not guess */
    bool               has_day, has_last;
    when_day           day, last; /* "Mar 5", "Mar 5-7" */
    bool               has_offset;
    int                offset_days; /* from today */
    int                weekday;     /* 0 is Sunday; -1: none */
    bool               weekday_next;
    when_span          span;
    bool               span_next;
    int                clocks; /* 0, 1, 2: a range */
    when_clock         start, end;
    const when_window *window;     /* NULL: none */
    int                minutes;    /* a length; 0: none */
    int                in_minutes; /* from now; 0: not said */
} when_facts;

void when_facts_read(const when_token *at, when_facts *ret);

/* Takes a clock time, if there is one: "5pm", "17:00", "noon", "5" (not sure). */
bool clock_take(const when_token **at, when_clock *ret);

/* The minutes of the day that the facts' clocks mean; *ret_end is -1 without an end, and may be before the
 * start. *ret_guessed: neither am nor pm was said. False: no sense in it. */
bool clock_settle(const when_facts *f, int *ret_start, int *ret_end, bool *ret_guessed);

#endif
