/* test_sched_planner.c -- what actions do to appointments, rules and the free roster.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/planner.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define ANN          "ann@example.org"

static str group_of_ann(task *t)
{
    return people_group(t, people_named(t, ANN), "Family");
}

static plan_run run_in(task *t, str group)
{
    plan_run run = {.group = group, .zone = STR("UTC"), .by = {people_user_key(ANN), STR("auth:ann")}};
    OK(state_read(t, group, &run.now));
    return run;
}

/* Actions in the form of a JSON list, with 'single' quotes. */
static const plan_action *actions_of(task *t, const char *text, size_t *ret_count)
{
    const json_val *list;
    char           *quoted = arena_cstr(t->arena, str_of(text));
    for (char *p = quoted; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    ck_assert_msg(json_parse(t->arena, str_of(quoted), &list, NULL) == RES_OK, "%s", text);
    plan_action *actions = arena_array(t->arena, plan_action, json_len(list));
    size_t       n = 0;
    for (json_iter it = json_each(list); json_next(&it); n++) {
        str why = {0};
        ck_assert_msg(plan_read_action(t->arena, it.value, &actions[n], &why) == RES_OK, "%.*s",
                      STR_ARG(why));
    }
    *ret_count = n;
    return actions;
}

static plan_effects doing(task *t, str group, bool dry, const char *text)
{
    plan_effects       e;
    size_t             n;
    plan_run           run = run_in(t, group);
    const plan_action *actions = actions_of(t, text, &n);
    run.dry_run = dry;
    OK(plan_execute(t, &run, actions, n, &e));
    return e;
}

static str lines_of(task *t, const plan_effects *e)
{
    str all = {0};
    for (size_t i = 0; i < e->line_count; i++)
        all = arena_strf(t->arena, "%.*s%s%.*s", STR_ARG(all), i > 0 ? "\n" : "", STR_ARG(e->lines[i]));
    return all;
}

#define ADD_DENTIST \
    "{'type':'add_appointment','desc':'Dentist','date':'2026-03-03','startTime':'10:00','durationMins':60}"

/* ---- lines ---- */

static const struct {
    const char *actions, *lines;
    bool        fails;
} effects[] = {
    {"[" ADD_DENTIST "]", "Added APPT-1 — Dentist on 2026-03-03 10:00 (60m)", false},
    {"[{'type':'add_appointment','desc':'Trip','date':'2026-03-03','durationMins':30}]",
     "Added APPT-1 — Trip on 2026-03-03 (all day)", false},
    {"[{'type':'create_blank_appointment'}]", "Added APPT-1", false},
    {"[{'type':'delete_appointment','code':'appt 9'}]", "Not found: APPT-9", true},
    {"[{'type':'set_appointment_notes','code':'APPT-9','notes':'x'}," ADD_DENTIST "]",
     "Not found: APPT-9\nAdded APPT-1 — Dentist on 2026-03-03 10:00 (60m)", true},
    {"[" ADD_DENTIST
     ",{'type':'reschedule_appointment','code':'APPT-1','date':'2026-03-04','startTime':'09:30',"
     "'durationMins':30}]",
     NULL, false},
    {"[{'type':'list_appointments'},{'type':'list_rules'},{'type':'list_people'}]",
     "No appointments found.\nNo rules found.\nann", false},
    {"[{'type':'add_person','name':'Grandma'}]", "Added Grandma (P-1)", false},
    {"[{'type':'add_person','name':'ANN'}]", "There is already somebody called ANN.", true},
    {"[{'type':'add_person','name':'Bob','cell':'555-1234'}]",
     "A phone number begins with + and the country's code.", true},
    {"[{'type':'add_person','name':'Bob'},{'type':'deactivate_person','personId':'P-1'},"
     "{'type':'deactivate_person','personId':'P-1'},{'type':'reactivate_person','personId':'P-1'},"
     "{'type':'update_person','personId':'P-1','name':'Bobby'}]",
     "Added Bob (P-1)\nDeactivated Bob\nAlready inactive: Bob\nReactivated Bob\nUpdated Bobby", false},
    {"[{'type':'update_person','personId':'P-7','name':'x'}]", "Not found: P-7", true},
    {"[{'type':'deactivate_person','personId':'ann'}]", "ann has an account, which only they can change.",
     true},
    {"[{'type':'add_rule','personId':'ann','kind':'unavailable','date':'2026-03-03'}]",
     "Added RULE-1 — ann is unavailable on 2026-03-03 (all day)", false},
    {"[{'type':'add_rule','personId':'ann','kind':'unavailable','date':'2026-03-03','startTime':'10:00'}]",
     "A rule needs a date, and how long it holds.", true},
    {"[{'type':'add_rule','personId':'nobody','kind':'unavailable','date':'2026-03-03'}]",
     "Not found: nobody", true},
    {"[{'type':'add_rule','personId':'ann','kind':'unavailable','date':'2026-03-03'},{'type':'add_rule',"
     "'personId':'ann','kind':'available','date':'2026-03-03','startTime':'09:00','durationMins':60}]",
     "Added RULE-1 — ann is unavailable on 2026-03-03 (all day)\nRemoved RULE-1, which said the "
     "opposite\nAdded "
     "RULE-1 — ann is available on 2026-03-03 09:00 (60m)",
     false},
    {"[{'type':'add_rule','personId':'ann','kind':'unavailable','date':'2026-03-03'},{'type':'add_"
     "appointment',"
     "'desc':'Dentist','date':'2026-03-03','startTime':'10:00','durationMins':60,'people':['Ann','Uncle "
     "Tom']}]",
     "Added RULE-1 — ann is unavailable on 2026-03-03 (all day)\nAdded APPT-1 — Dentist on 2026-03-03 10:00 "
     "(60m)\nWarning: ann is marked UNAVAILABLE during this appointment.",
     false},
    {"[{'type':'delete_rule','code':'rule-1'}]", "Not found: RULE-1", true},
    {"[{'type':'set_identity','name':'Ann'}]", "Speaking as ann", false},
    {"[{'type':'set_identity','name':'Eve'}]", "Not found: Eve", true},
    {"[{'type':'reset_state'}]", "Cleared the rules, the history, and the people without an account", false},
};

/* SCHED-80. */
RIG_TEST(each_action_says_what_it_has_done)
{
    str          group = group_of_ann(t);
    plan_effects e = doing(t, group, false, effects[i].actions);
    if (effects[i].lines != NULL)
        ck_str_eq(lines_of(t, &e), str_of(effects[i].lines));
    ck_assert(e.all_applied == !effects[i].fails);
}

/* SCHED-80. */
RIG_TEST(a_dry_run_writes_nothing)
{
    appointment *list;
    size_t       count;
    bool         truncated;
    state        before, after;
    str          group = group_of_ann(t);
    OK(state_read(t, group, &before));
    plan_effects e = doing(t, group, true,
                           "[" ADD_DENTIST ",{'type':'add_person','name':'Bob'},{'type':'add_rule',"
                           "'personId':'ann','kind':'available','date':'2026-03-03'}]");
    ck_assert(e.all_applied && e.state_changed);
    OK(appointments_list(t, group, &list, &count, &truncated));
    ck_assert_uint_eq(count, 0);
    OK(state_read(t, group, &after));
    ck_str_eq(after.etag, before.etag);
}

/* ---- appointments ---- */

static appointment appointment_now(task *t, str group)
{
    appointment a;
    OK(appointment_by_code(t, group, STR("APPT-1"), true, &a));
    return a;
}

static str time_now(task *t, str group)
{
    appointment a = appointment_now(t, group);
    when        time = plan_time_of(&a);
    return plan_time_text(t->arena, &time);
}

/* Each on what the one before has left; SCHED-80: all-day, timed, reschedule. */
RIG_TEST(times_are_changed_part_by_part)
{
    static const struct {
        const char *action, *time;
    } steps[] = {
        {"[" ADD_DENTIST "]", "2026-03-03 10:00 (60m)"},
        {"[{'type':'set_appointment_date','code':'APPT-1','date':'2026-03-05'}]", "2026-03-05 10:00 (60m)"},
        {"[{'type':'set_appointment_start_time','code':'APPT-1','startTime':'11:30'}]",
         "2026-03-05 11:30 (60m)"},
        {"[{'type':'set_appointment_duration','code':'APPT-1','durationMins':90}]", "2026-03-05 11:30 (90m)"},
        {"[{'type':'set_appointment_start_time','code':'APPT-1','startTime':''}]", "2026-03-05 (all day)"},
        {"[{'type':'set_appointment_duration','code':'APPT-1','durationMins':30}]", "2026-03-05 (all day)"},
        {"[{'type':'reschedule_appointment','code':'APPT-1','date':'2026-04-01','startTime':'08:00',"
         "'durationMins':15,'timezone':'Europe/Paris'}]",
         "2026-04-01 08:00 (15m)"},
        {"[{'type':'set_appointment_date','code':'APPT-1','date':'2026-04-02'}]", "2026-04-02 08:00 (15m)"},
        {"[{'type':'set_appointment_duration','code':'APPT-1'}]", "2026-04-02 08:00 (no length yet)"},
        {"[{'type':'set_appointment_duration','code':'APPT-1','durationMins':45}]", "2026-04-02 08:00 (45m)"},
    };
    str group = group_of_ann(t);
    for (int n = 0; n < COUNT(steps); n++) {
        (void)doing(t, group, false, steps[n].action);
        ck_str_eq(time_now(t, group), str_of(steps[n].time));
    }
}

static void people_are(task *t, str group, const char *want)
{
    appointment a = appointment_now(t, group);
    ck_str_eq(json_print_val(t->arena, json_get(a.doc, "people")), str_of(want));
}

/* SCHED-80: people as a set; ids, then names, then texts. */
RIG_TEST(people_on_an_appointment_are_a_set)
{
    str group = group_of_ann(t), key = people_user_key(ANN);
    (void)doing(t, group, false, "[" ADD_DENTIST ",{'type':'add_person','name':'Grandma'}]");
    (void)doing(t, group, false,
                "[{'type':'add_people_to_appointment','code':'APPT-1','people':['GRANDMA','Tom','tom']}]");
    people_are(t, group, "[\"P-1\",\"Tom\"]");
    (void)doing(t, group, false,
                "[{'type':'add_people_to_appointment','code':'APPT-1','people':['Ann','P-1']}]");
    people_are(t, group, textf("[\"P-1\",\"Tom\",\"%.*s\"]", STR_ARG(key)));
    (void)doing(t, group, false,
                "[{'type':'remove_people_from_appointment','code':'APPT-1','people':['grandma','Eve']}]");
    people_are(t, group, textf("[\"Tom\",\"%.*s\"]", STR_ARG(key)));
    (void)doing(t, group, false,
                "[{'type':'replace_people_on_appointment','code':'APPT-1','people':['Grandma']}]");
    people_are(t, group, "[\"P-1\"]");
    (void)doing(t, group, false, "[{'type':'clear_people_on_appointment','code':'APPT-1'}]");
    people_are(t, group, "[]");
}

/* SCHED-80: location clean-up. */
RIG_TEST(texts_are_cleaned_and_kept)
{
    str group = group_of_ann(t);
    (void)doing(t, group, false,
                "[" ADD_DENTIST ",{'type':'set_appointment_desc','code':'APPT-9','desc':'x'}]");
    (void)doing(
        t, group, false,
        "[{'type':'set_appointment_desc','code':'appt1','desc':' Doctor '},{'type':"
        "'set_appointment_location','code':'APPT-1','locationRaw':' Main   St 5\\n\\tTown,, , Land, '},"
        "{'type':'set_appointment_notes','code':'APPT-1','notes':'bring cards'}]");
    appointment a = appointment_now(t, group);
    ck_str_eq(a.title, STR("Doctor"));
    ck_str_eq(json_text(json_get(a.doc, "location"), (str){0}), STR("Main St 5, Town, Land"));
    ck_str_eq(json_text(json_get(a.doc, "notes"), (str){0}), STR("bring cards"));
}

RIG_TEST(what_is_deleted_is_found_by_restoring_alone)
{
    str group = group_of_ann(t);
    (void)doing(t, group, false, "[" ADD_DENTIST "]");
    plan_effects e = doing(t, group, false, "[{'type':'delete_appointment','code':'APPT-1'}]");
    ck_str_eq(lines_of(t, &e), STR("Deleted APPT-1 — Dentist"));
    ck_assert(appointment_now(t, group).deleted);
    e = doing(t, group, false, "[{'type':'set_appointment_notes','code':'APPT-1','notes':'x'}]");
    ck_str_eq(e.unknown, STR("APPT-1"));
    e = doing(
        t, group, false,
        "[{'type':'restore_appointment','code':'APPT-1'},{'type':'restore_appointment','code':'APPT-1'}]");
    ck_str_eq(lines_of(t, &e), STR("Restored APPT-1 — Dentist\nAlready active: APPT-1"));
    ck_assert(!appointment_now(t, group).deleted);
}

/* ---- versions ---- */

RIG_TEST(a_version_that_is_not_the_agreed_one_is_a_conflict_before_any_write)
{
    plan_effects e;
    size_t       n;
    state        after;
    str          group = group_of_ann(t);
    (void)doing(t, group, false, "[" ADD_DENTIST "]");
    appointment        a = appointment_now(t, group);
    plan_run           run = run_in(t, group);
    plan_touched       old = {a.id, STR("\"0x1\"")};
    const plan_action *actions =
        actions_of(t,
                   "[{'type':'add_person','name':'Bob'},{'type':'set_appointment_notes',"
                   "'code':'APPT-1','notes':'x'}]",
                   &n);
    run.expected = &old;
    run.expected_count = 1;
    EXPECT(RES_CONFLICT, plan_execute(t, &run, actions, n, &e));
    OK(state_read(t, group, &after));
    ck_str_eq(after.etag, run.now.etag);
    old.etag = a.etag;
    OK(plan_execute(t, &run, actions, n, &e));
    EXPECT(RES_CONFLICT, plan_execute(t, &run, actions, n, &e)); /* by now both are others */
}

/* SCHED-80: at most ten free people, and twenty rules each. */
RIG_TEST(lists_have_limits)
{
    str          group = group_of_ann(t);
    plan_effects e;
    for (int n = 0; n < 10; n++) {
        e = doing(t, group, false, textf("[{'type':'add_person','name':'P%d'}]", n));
        ck_assert(e.all_applied);
    }
    e = doing(t, group, false, "[{'type':'add_person','name':'One more'}]");
    ck_str_eq(lines_of(t, &e), STR("At most 10 people without an account can be listed."));
    for (int n = 0; n < 20; n++) {
        e = doing(
            t, group, false,
            textf("[{'type':'add_rule','personId':'ann','kind':'available','date':'2026-03-%02d'}]", n + 1));
        ck_assert(e.all_applied);
    }
    e = doing(t, group, false,
              "[{'type':'add_rule','personId':'ann','kind':'available','date':'2026-03-25'}]");
    ck_str_eq(lines_of(t, &e), STR("ann has 20 rules already, which is the limit."));
    e = doing(t, group, false,
              "[{'type':'add_rule','personId':'ann','kind':'available','date':'2026-03-05'}]");
    ck_assert(e.all_applied && !e.state_changed);
    e = doing(t, group, false, "[{'type':'reset_state'}]");
    plan_run run = run_in(t, group);
    ck_assert_uint_eq(json_len(json_get(run.now.doc, "rules")), 0);
    ck_assert_uint_eq(json_len(json_get(run.now.doc, "people")), 0);
    member m;
    OK(member_read(t, group, people_user_key(ANN), &m));
    ck_assert_int_eq(m.status, MEMBER_ACTIVE);
}

Suite *suite_sched_planner(void)
{
    Suite *s = suite_create("sched_planner");
    TCase *c = live_case("planner");
    tcase_add_loop_test(c, each_action_says_what_it_has_done, 0, COUNT(effects));
    tcase_add_test(c, a_dry_run_writes_nothing);
    tcase_add_test(c, times_are_changed_part_by_part);
    tcase_add_test(c, people_on_an_appointment_are_a_set);
    tcase_add_test(c, texts_are_cleaned_and_kept);
    tcase_add_test(c, what_is_deleted_is_found_by_restoring_alone);
    tcase_add_test(c, a_version_that_is_not_the_agreed_one_is_a_conflict_before_any_write);
    tcase_add_test(c, lists_have_limits);
    suite_add_tcase(s, c);
    return s;
}
