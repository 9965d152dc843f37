/* test_sched_trail.c -- what follows from an appointment's events.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/trail.h"

#include <check.h>

#include "support/scratch.h"
#include "unit/suites.h"

/* Events as they stand in a chunk, oldest first; e.g. "C E:two P": created, edited, paused. */
static trail trail_of(const char *letters)
{
    static const struct {
        char        letter;
        const char *type;
    } types[] = {{'C', "PROPOSAL_CREATED"},   {'E', "PROPOSAL_EDITED"},   {'P', "PROPOSAL_PAUSED"},
                 {'R', "PROPOSAL_RESUMED"},   {'A', "PROPOSAL_APPLIED"},  {'X', "PROPOSAL_CANCELED"},
                 {'s', "REMINDER_SCHEDULED"}, {'c', "REMINDER_CANCELED"}, {'f', "REMINDER_SENT"},
                 {'m', "USER_MESSAGE"}};
    json           *list = json_array(scratch());
    const json_val *v;
    str             rest = str_of(letters), field;
    while (str_next_field(&rest, ' ', &field)) {
        json *e = json_push_object(list), *payload = json_set_object(e, "payload");
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (types[i].letter == field.at[0])
                json_set_str(e, "type", str_of(types[i].type));
        json_set_str(e, "proposalId", STR("p"));
        json_set_str(payload, "from", STR("zero"));
        json_set_str(payload, "to", field.len > 2 ? str_from(field, 2) : STR("one"));
        json_set_str(payload, "reminderId", field.len > 2 ? str_from(field, 2) : STR("r"));
        json_set_str(payload, "deliveryStatus", STR("partial"));
    }
    ck_assert_int_eq(json_parse(scratch(), json_print(scratch(), list), &v, NULL), RES_OK);
    trail e = {.at = (const json_val **)arena_zalloc_array(scratch(), json_len(v) + 1, sizeof *e.at),
               .count = json_len(v)};
    for (size_t i = 0; i < e.count; i++)
        e.at[i] = json_at(v, e.count - 1 - i);
    return e;
}

static const struct {
    const char *events, *to; /* NULL: none is open */
    bool        paused;
} proposals[] = {
    {"", NULL, false},
    {"m", NULL, false},
    {"C", "one", false},
    {"C m", "one", false},
    {"C P", "one", true},
    {"C P R", "one", false},
    {"C P R P", "one", true},
    {"C E:two", "two", false},
    {"C E:two E:three P", "three", true},
    {"C A", NULL, false},
    {"C P X", NULL, false},
    {"C A m m", NULL, false},
    {"C E:two P A C:four", "four", false},
};

/* SCHED-79. */
START_TEST(a_proposal_is_what_its_newest_events_say)
{
    proposal p;
    trail    e = trail_of(proposals[_i].events);
    ck_assert_int_eq(trail_proposal(&e, &p), proposals[_i].to != NULL);
    if (proposals[_i].to == NULL)
        return;
    ck_assert_msg(str_eq(p.to, str_of(proposals[_i].to)), "'%.*s'", STR_ARG(p.to));
    ck_assert_int_eq(p.paused, proposals[_i].paused);
    ck_assert(str_eq(p.from, STR("zero")) && str_eq(p.id, STR("p")));
}
END_TEST

static const struct {
    const char *events, *first; /* its status */
    size_t      count;
} reminder_cases[] = {
    {"s:a", "scheduled", 1},       {"s:a c:a", "canceled", 1},      {"s:a f:a", "partial", 1},
    {"s:a f:a c:a", "partial", 1}, {"s:a s:b c:b", "scheduled", 2}, {"s:a c:other m", "scheduled", 1},
};

START_TEST(a_reminder_is_scheduled_until_it_is_sent_or_canceled)
{
    reminder *list;
    trail     e = trail_of(reminder_cases[_i].events);
    ck_assert_uint_eq(trail_reminders(scratch(), &e, &list), reminder_cases[_i].count);
    ck_assert(str_eq(list[0].id, STR("a")));
    ck_assert_msg(str_eq(list[0].status, str_of(reminder_cases[_i].first)), "'%.*s'",
                  STR_ARG(list[0].status));
}
END_TEST

START_TEST(an_event_is_found_by_its_request_but_not_by_none)
{
    trail e = trail_of("m C");
    ck_assert_ptr_null(trail_find(&e, (str){0}, NULL));
    ck_assert_ptr_null(trail_find(&e, STR("r1"), NULL));
}
END_TEST

Suite *suite_sched_trail(void)
{
    Suite *s = suite_create("sched_trail");
    TCase *c = tcase_create("trail");
    tcase_add_loop_test(c, a_proposal_is_what_its_newest_events_say, 0,
                        (int)(sizeof proposals / sizeof *proposals));
    tcase_add_loop_test(c, a_reminder_is_scheduled_until_it_is_sent_or_canceled, 0,
                        (int)(sizeof reminder_cases / sizeof *reminder_cases));
    tcase_add_test(c, an_event_is_found_by_its_request_but_not_by_none);
    suite_add_tcase(s, c);
    return s;
}
