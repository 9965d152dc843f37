/* test_sched_when.c -- times in words, from parts, and as TimeSpec.
 *
 * "Now" is always Wednesday the 4th of March 2026, 10:15 in Los Angeles: the week in which clocks go forward.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/when.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/scratch.h"
#include "unit/domain/when_cases.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define NOW          "2026-03-04T18:15:30.000Z"
#define ZONE         "America/Los_Angeles"

static int64_t utc_us(const char *text)
{
    int64_t us;
    ck_assert_msg(iso8601_parse(str_of(text), &us), "%s", text);
    return us;
}

static const zone *zone_of(const char *name)
{
    const zone *z = zone_find(str_of(name));
    ck_assert_msg(z != NULL, "no zone '%s': is tzdata installed?", name);
    return z;
}

static when parse_at(const char *words, const char *zone_name, const char *now)
{
    when w;
    when_parse(scratch(), str_of(words), zone_of(zone_name), utc_us(now), &w);
    return w;
}

static const char *local(const zone *z, int64_t us)
{
    civil_time c;
    zone_local(z, us, &c);
    return textf("%04d-%02d-%02d %02d:%02d", c.year, c.month, c.day, c.hour, c.minute);
}

/* "2026-03-05 09:00 to 2026-03-05 10:00", "… missing 8", "unresolved". */
static const char *shown(const when *w, const char *zone_name)
{
    const zone *z = zone_of(zone_name);
    if (w->status == TIME_RESOLVED)
        return textf("%s to %s%s", local(z, w->start_us), local(z, w->end_us), w->all_day ? " all day" : "");
    if (w->status == TIME_PARTIAL && w->start_us != 0)
        return textf("%s missing %u", local(z, w->start_us), w->missing);
    if (w->status == TIME_PARTIAL)
        return textf("missing %u", w->missing);
    return w->missing == MISSING_DATE ? "unresolved" : "odd";
}

START_TEST(words_are_read_as_people_mean_them)
{
    when w = parse_at(readings[_i].words, ZONE, NOW);
    ck_assert_msg(strcmp(shown(&w, ZONE), readings[_i].want) == 0, "'%s': %s, not %s", readings[_i].words,
                  shown(&w, ZONE), readings[_i].want);
    ck_assert(str_eq(w.original, str_of(readings[_i].words)));
    ck_assert(str_eq(w.zone, STR(ZONE)));
    ck_assert(!w.suggested);
}
END_TEST

START_TEST(what_must_not_be_guessed_is_asked_for)
{
    when w = parse_at(unreadable[_i], ZONE, NOW);
    ck_assert_msg(w.status == TIME_UNRESOLVED && w.missing == MISSING_DATE, "'%s': %s", unreadable[_i],
                  shown(&w, ZONE));
    ck_assert(w.start_us == 0 && w.end_us == 0 && w.assumption.len == 0);
}
END_TEST

START_TEST(a_range_over_a_change_of_clocks_lasts_as_long_as_it_does)
{
    when w = parse_at(changes[_i].words, changes[_i].zone, changes[_i].now);
    ck_assert_int_eq(w.status, TIME_RESOLVED);
    ck_assert_str_eq(shown(&w, changes[_i].zone), changes[_i].want);
    ck_assert_int_eq((w.end_us - w.start_us) / 60000000, changes[_i].minutes);
}
END_TEST

START_TEST(a_guess_is_told)
{
    when w = parse_at(guesses[_i].words, ZONE, NOW);
    ck_assert_msg(str_has(w.assumption, str_of(guesses[_i].told)), "'%s': '%.*s'", guesses[_i].words,
                  STR_ARG(w.assumption));
}
END_TEST

START_TEST(what_is_said_plainly_has_no_assumption)
{
    static const char *const plain[] = {"2026-03-05", "mar 5", "tuesday 9-10am", "tomorrow at 5pm",
                                        "at noon today"};
    when                     w = parse_at(plain[_i], ZONE, NOW);
    ck_assert_uint_eq(w.assumption.len, 0);
}
END_TEST

START_TEST(a_clock_time_without_a_date_is_known_as_such)
{
    int hour = -1, minute = -1;
    ck_assert_int_eq(when_is_clock_only(str_of(clocks[_i].words), &hour, &minute), clocks[_i].hour >= 0);
    ck_assert_int_eq(hour, clocks[_i].hour);
    ck_assert_int_eq(minute, clocks[_i].minute);
}
END_TEST

START_TEST(only_a_thousand_characters_are_looked_at)
{
    enum { CHARACTERS = 1000 };
    char   words[4 * CHARACTERS + 100] = "tomorrow 9-10am ";
    when   w;
    size_t len = strlen(words);
    for (size_t i = len; i < CHARACTERS; i++, len += 2)
        memcpy(words + len, "\xC3\xA9", 3);
    w = parse_at(words, ZONE, NOW);
    ck_assert_int_eq(w.status, TIME_RESOLVED);
    ck_assert_uint_eq(w.original.len, len);

    memcpy(words + len, "\xC3\xA9", 3);
    w = parse_at(words, ZONE, NOW);
    ck_assert_int_eq(w.status, TIME_UNRESOLVED);
    ck_assert_uint_eq(w.original.len, len);

    char *book = malloc(MIB);
    ck_assert_ptr_nonnull(book);
    memset(book, '\x80', MIB);
    when_parse(scratch(), (str){book, MIB}, zone_of(ZONE), 0, &w);
    ck_assert_int_eq(w.status, TIME_UNRESOLVED);
    ck_assert_uint_le(w.original.len, 4 * CHARACTERS);
    free(book);
}
END_TEST

/* ---- from parts ---- */

START_TEST(parts_make_a_time)
{
    when w = {.status = TIME_UNRESOLVED};
    res  r = when_make(scratch(), str_of(parts[_i].date), str_of(parts[_i].start), parts[_i].minutes,
                       zone_of(parts[_i].zone), &w);
    ck_assert_int_eq(r, parts[_i].want != NULL ? RES_OK : RES_INVALID);
    if (r == RES_OK)
        ck_assert_str_eq(shown(&w, parts[_i].zone), parts[_i].want);
}
END_TEST

START_TEST(an_older_document_is_understood)
{
    when       w;
    when_parts p = {.start = str_of(derived[_i].start),
                    .end = str_of(derived[_i].end),
                    .date = str_of(derived[_i].date),
                    .start_time = str_of(derived[_i].start_time),
                    .minutes = derived[_i].minutes};
    when_derive(scratch(), &p, zone_of(ZONE), &w);
    ck_assert_str_eq(shown(&w, ZONE), derived[_i].want);
}
END_TEST

START_TEST(dates_and_times_have_one_form)
{
    static const char *const dates[] = {"2026-02-28", "2024-02-29", "0001-01-01", "9999-12-31"};
    static const char *const none[] = {"2026-02-29",  "2026-2-28",  "26-02-28", "2026-13-01", "2026-00-01",
                                       "2026-02-28T", "2026/02/28", "",         "+026-02-28"};
    static const char *const times[] = {"00:00", "23:59", "09:05"};
    static const char *const never[] = {"24:00", "12:60", "9:05", "09:5", "09:05:00", "", "0905", "09.05"};
    for (int i = 0; i < COUNT(dates); i++)
        ck_assert_msg(when_is_date(str_of(dates[i])), "%s", dates[i]);
    for (int i = 0; i < COUNT(none); i++)
        ck_assert_msg(!when_is_date(str_of(none[i])), "%s", none[i]);
    for (int i = 0; i < COUNT(times); i++)
        ck_assert_msg(when_is_time(str_of(times[i])), "%s", times[i]);
    for (int i = 0; i < COUNT(never); i++)
        ck_assert_msg(!when_is_time(str_of(never[i])), "%s", never[i]);
}
END_TEST

/* ---- JSON ---- */

static res read_json(const char *text, when *ret)
{
    const json_val *v;
    ck_assert_msg(json_parse(scratch(), str_of(text), &v, NULL) == RES_OK, "%s", text);
    return when_read(scratch(), v, ret);
}

static const char *written(const when *w)
{
    return textf("%.*s", STR_ARG(json_print(scratch(), when_json(scratch(), w))));
}

START_TEST(a_resolved_time_is_written_in_utc)
{
    when w = parse_at("tuesday 9-10am", ZONE, NOW);
    ck_assert_str_eq(
        written(&w),
        "{\"intent\":{\"status\":\"resolved\",\"originalText\":\"tuesday 9-10am\",\"missing\":[],"
        "\"assumptions\":[],\"evidenceSnippets\":[]},\"resolved\":{\"startUtc\":\"2026-03-10T16:00:00."
        "000Z\",\"endUtc\":\"2026-03-10T17:00:00.000Z\",\"timezone\":\"America/Los_Angeles\","
        "\"durationSource\":\"explicit\"}}");
}
END_TEST

START_TEST(an_unresolved_time_says_what_is_missing_and_no_more)
{
    when w = parse_at("sometime", ZONE, NOW), partial = parse_at("tomorrow 5pm", ZONE, NOW);
    ck_assert_str_eq(written(&w),
                     "{\"intent\":{\"status\":\"unresolved\",\"originalText\":\"sometime\",\"missing\":"
                     "[\"date\"],\"assumptions\":[],\"evidenceSnippets\":[]}}");
    ck_assert_str_eq(
        written(&partial),
        "{\"intent\":{\"status\":\"partial\",\"originalText\":\"tomorrow 5pm\",\"missing\":[\"duration\"],"
        "\"assumptions\":[],\"evidenceSnippets\":[]}}");
}
END_TEST

/* All that was read is written again, and what is written reads the same. */
START_TEST(json_is_the_same_after_a_round)
{
    when w, again;
    ck_assert_int_eq(read_json(documents[_i], &w), RES_OK);
    const char *first = written(&w);
    ck_assert_str_eq(first, documents[_i]);
    ck_assert_int_eq(read_json(first, &again), RES_OK);
    ck_assert_str_eq(written(&again), first);
    ck_assert_int_eq(w.all_day, again.all_day);
}
END_TEST

START_TEST(what_words_gave_is_the_same_after_a_round)
{
    when w = parse_at(readings[_i].words, ZONE, NOW), back;
    ck_assert_int_eq(read_json(written(&w), &back), RES_OK);
    ck_assert_str_eq(written(&back), written(&w));
    ck_assert_int_eq(back.all_day, w.all_day);
    ck_assert_int_eq(back.missing, w.missing);
    ck_assert(str_eq(back.assumption, w.assumption));
    if (w.status == TIME_RESOLVED)
        ck_assert(back.start_us == w.start_us && back.end_us == w.end_us);
}
END_TEST

START_TEST(json_of_another_form_is_refused)
{
    when w = {.confidence = 42};
    ck_assert_msg(read_json(no_documents[_i], &w) == RES_INVALID, "%s", no_documents[_i]);
    ck_assert(w.confidence == 42);
}
END_TEST

START_TEST(a_model_may_suggest_how_long_it_takes)
{
    when w;
    ck_assert_int_eq(read_json(documents[1], &w), RES_OK);
    ck_assert(w.suggested && w.confidence == 0.5 && w.acceptance == DURATION_CONFIRMED);
    ck_assert(str_eq(w.reason, STR("visits take an hour")));
    ck_assert(str_eq(w.assumption, STR("one")));
    ck_assert(!w.all_day);
}
END_TEST

Suite *suite_sched_when(void)
{
    Suite *s = suite_create("sched_when");
    TCase *t = tcase_create("sched_when");
    tcase_add_loop_test(t, words_are_read_as_people_mean_them, 0, COUNT(readings));
    tcase_add_loop_test(t, what_must_not_be_guessed_is_asked_for, 0, COUNT(unreadable));
    tcase_add_loop_test(t, a_range_over_a_change_of_clocks_lasts_as_long_as_it_does, 0, COUNT(changes));
    tcase_add_loop_test(t, a_guess_is_told, 0, COUNT(guesses));
    tcase_add_loop_test(t, what_is_said_plainly_has_no_assumption, 0, 5);
    tcase_add_loop_test(t, a_clock_time_without_a_date_is_known_as_such, 0, COUNT(clocks));
    tcase_add_test(t, only_a_thousand_characters_are_looked_at);
    tcase_add_loop_test(t, parts_make_a_time, 0, COUNT(parts));
    tcase_add_loop_test(t, an_older_document_is_understood, 0, COUNT(derived));
    tcase_add_test(t, dates_and_times_have_one_form);
    tcase_add_test(t, a_resolved_time_is_written_in_utc);
    tcase_add_test(t, an_unresolved_time_says_what_is_missing_and_no_more);
    tcase_add_loop_test(t, json_is_the_same_after_a_round, 0, COUNT(documents));
    tcase_add_loop_test(t, what_words_gave_is_the_same_after_a_round, 0, COUNT(readings));
    tcase_add_loop_test(t, json_of_another_form_is_refused, 0, COUNT(no_documents));
    tcase_add_test(t, a_model_may_suggest_how_long_it_takes);
    suite_add_tcase(s, t);
    return s;
}
