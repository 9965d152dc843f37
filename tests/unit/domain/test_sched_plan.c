/* test_sched_plan.c -- what a model may say, and what is refused.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/scheduler/planner.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "support/scratch.h"
#include "unit/suites.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static const json_val *parsed(const char *text)
{
    const json_val *v;
    json_error      e;
    ck_assert_msg(json_parse(scratch(), str_of(text), &v, &e) == RES_OK, "%s: %s", text, e.text);
    return v;
}

/* ---- actions ---- */

#define TEXT_40  "0123456789012345678901234567890123456789"
#define TEXT_160 TEXT_40 TEXT_40 TEXT_40 TEXT_40
#define TEXT_500 TEXT_160 TEXT_160 TEXT_160 "01234567890123456789"
#define SIX      "'a','b','c','d','e','f'"
#define EIGHTEEN SIX "," SIX "," SIX

/* why NULL: fine. The texts are as members of an object. */
static const struct {
    const char *members, *why;
} actions[] = {
    {"'type':'create_blank_appointment'", NULL},
    {"'type':' help '", NULL},
    {"'type':'add_appointment','desc':'Dentist','date':'2026-03-03'", NULL},
    {"'type':'add_appointment','desc':'Dentist','date':'2026-03-03','startTime':'10:00','durationMins':60,"
     "'timezone':'America/New_York','people':['Ann'],'location':'Main St'",
     NULL},
    {"'type':'add_appointment','desc':'Dentist','date':'2026-03-03','startTime':null,'people':null", NULL},
    {"'type':'add_appointment','desc':'" TEXT_160 "','date':'2026-03-03'", NULL},
    {"'type':'add_appointment','desc':'" TEXT_160 "1','date':'2026-03-03'", "desc is invalid"},
    {"'type':'add_appointment','date':'2026-03-03'", "desc is required"},
    {"'type':'add_appointment','desc':' ','date':'2026-03-03'", "desc is invalid"},
    {"'type':'add_appointment','desc':'x'", "date is required"},
    {"'type':'add_appointment','desc':'x','date':null", "date is required"},
    {"'type':'add_appointment','desc':'x','date':'2026-02-30'", "date is invalid"},
    {"'type':'add_appointment','desc':'x','date':'3 March'", "date is invalid"},
    {"'type':'add_appointment','desc':'x','date':20260303", "date is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','startTime':'25:00'", "startTime is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','startTime':'10am'", "startTime is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','durationMins':0", "durationMins is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','durationMins':1441",
     "durationMins is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','durationMins':1.5", "durationMins is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','durationMins':'60'",
     "durationMins is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','timezone':'Mars/Base'", "timezone is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','timezone':'../../etc/passwd'",
     "timezone is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':[]", "people is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':[3]", "people is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':[' ']", "people is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':'Ann'", "people is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':[" EIGHTEEN ",'s','t']", NULL},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','people':[" EIGHTEEN ",'s','t','u']",
     "people is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','members':['Ann']",
     "add_appointment has an unknown member 'members'"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','timeResolved':{'startUtc':'2026-03-03T10:00:"
     "00Z',"
     "'endUtc':'2026-03-03T11:00:00Z'},'durationAcceptance':'auto'",
     NULL},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','timeResolved':{'startUtc':'2026-03-03T10:00:"
     "00Z',"
     "'endUtc':'2026-03-03T10:00:00Z'}",
     "timeResolved is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','timeResolved':true",
     "timeResolved is invalid"},
    {"'type':'add_appointment','desc':'x','date':'2026-03-03','durationAcceptance':'maybe'",
     "durationAcceptance is invalid"},
    {"'type':'reschedule_appointment','code':'APPT-1','date':'2026-03-03'", NULL},
    {"'type':'reschedule_appointment','date':'2026-03-03'", "code is required"},
    {"'type':'reschedule_appointment','code':'APPT-1'", "date is required"},
    {"'type':'set_appointment_desc','code':'APPT-1','desc':'x'", NULL},
    {"'type':'update_appointment_desc','code':'APPT-1','desc':'x'", NULL},
    {"'type':'set_appointment_desc','code':'APPT-1'", "desc is required"},
    {"'type':'set_appointment_date','code':'APPT-1','date':'2024-02-29'", NULL},
    {"'type':'set_appointment_date','code':'APPT-1','date':'2026-02-29'", "date is invalid"},
    {"'type':'set_appointment_start_time','code':'APPT-1','startTime':''", NULL},
    {"'type':'set_appointment_start_time','code':'APPT-1'", NULL},
    {"'type':'set_appointment_start_time','code':'APPT-1','startTime':930", "startTime is invalid"},
    {"'type':'set_appointment_duration','code':'APPT-1'", NULL},
    {"'type':'set_appointment_duration','code':'APPT-1','durationMins':-5", "durationMins is invalid"},
    {"'type':'set_appointment_location','code':'APPT-1','location':''", NULL},
    {"'type':'set_appointment_location','code':'APPT-1','locationRaw':'x'", NULL},
    {"'type':'set_appointment_location','code':'APPT-1'", "location is required"},
    {"'type':'set_appointment_notes','code':'APPT-1','notes':'" TEXT_500 "'", NULL},
    {"'type':'set_appointment_notes','code':'APPT-1','notes':'" TEXT_500 "1'", "notes is invalid"},
    {"'type':'set_appointment_notes','code':'APPT-1'", "notes is required"},
    {"'type':'delete_appointment','code':'APPT-1'", NULL},
    {"'type':'delete_appointment'", "code is required"},
    {"'type':'delete_appointment','code':7", "code is invalid"},
    {"'type':'delete_appointment','code':'APPT-1','groupId':'other'",
     "delete_appointment has an unknown member 'groupId'"},
    {"'type':'restore_appointment','code':'APPT-1'", NULL},
    {"'type':'add_people_to_appointment','code':'APPT-1','people':['Ann']", NULL},
    {"'type':'add_people_to_appointment','code':'APPT-1','people':[]", "people is invalid"},
    {"'type':'remove_people_from_appointment','code':'APPT-1','people':['Ann']", NULL},
    {"'type':'remove_people_from_appointment','code':'APPT-1'", "people is required"},
    {"'type':'replace_people_on_appointment','code':'APPT-1','people':[]", NULL},
    {"'type':'clear_people_on_appointment','code':'APPT-1'", NULL},
    {"'type':'add_person','name':'Grandma'", NULL},
    {"'type':'add_person','name':'Grandma','cell':'','timezone':'UTC','notes':'deaf'", NULL},
    {"'type':'add_person'", "name is required"},
    {"'type':'add_person','name':'" TEXT_40 "012345678901234567890'", "name is invalid"},
    {"'type':'update_person','personId':'P-1','name':'Oma'", NULL},
    {"'type':'update_person','name':'Oma'", "personId is required"},
    {"'type':'deactivate_person','personId':'P-1'", NULL},
    {"'type':'reactivate_person','personId':'P-1'", NULL},
    {"'type':'add_rule','personId':'P-1','kind':'unavailable','date':'2026-03-03'", NULL},
    {"'type':'add_rule','personId':'P-1','kind':'busy','date':'2026-03-03'", "kind is invalid"},
    {"'type':'add_rule','personId':'P-1','kind':'available'", "date is required"},
    {"'type':'delete_rule','code':'RULE-1'", NULL},
    {"'type':'set_identity','name':'Ann'", NULL},
    {"'type':'reset_state'", NULL},
    {"'type':'list_appointments'", NULL},
    {"'type':'show_appointment','code':'APPT-1'", NULL},
    {"'type':'list_people'", NULL},
    {"'type':'show_person','personId':'P-1'", NULL},
    {"'type':'list_rules'", NULL},
    {"'type':'show_rule','code':'RULE-1'", NULL},
    {"'type':'add_rule_v2_draft','rules':[{'status':'available','date':'2026-03-03'}]", NULL},
    {"'type':'add_rule_v2_confirm','rules':[]", NULL},
    {"'type':'add_rule_v2_draft','rules':[{'status':'available'}]", "date is required"},
    {"'type':'add_rule_v2_draft','rules':[7]", "rules item must be an object"},
    {"'type':'add_rule_v2_draft','rules':[{'status':'busy','date':'2026-03-03'}]", "status is invalid"},
    {"'type':'add_rule_v2_draft','rules':[{'status':'available','date':'2026-03-03','x':1}]",
     "rules item has an unknown member 'x'"},
    {"'type':'add_rule_v2_draft'", "rules is required"},
    {"'type':'drop_tables'", "unsupported action type: drop_tables"},
    {"'type':'HELP'", "unsupported action type: HELP"},
    {"'type':''", "action.type is required"},
    {"'type':7", "action.type is required"},
    {"'kind':'help'", "action.type is required"},
};

static const char *quoted(const char *members, const char *before, const char *after)
{
    char *text = arena_cstr(scratch(), str_of(textf("%s%s%s", before, members, after)));
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    return text;
}

/* SCHED-68. */
START_TEST(an_action_is_taken_as_its_schema_says)
{
    plan_action p;
    str         why = {0};
    res         r = plan_read_action(scratch(), parsed(quoted(actions[_i].members, "{", "}")), &p, &why);
    ck_assert_msg(r == (actions[_i].why == NULL ? RES_OK : RES_INVALID), "%s: %.*s", actions[_i].members,
                  STR_ARG(why));
    ck_assert_msg(str_eq(why, str_of(actions[_i].why)), "%s: %.*s", actions[_i].members, STR_ARG(why));
}
END_TEST

START_TEST(what_is_no_object_is_no_action)
{
    static const char *const texts[] = {"[]", "7", "null", "\"help\"", "true"};
    plan_action              p;
    for (int i = 0; i < COUNT(texts); i++) {
        str why = {0};
        ck_assert_int_eq(plan_read_action(scratch(), parsed(texts[i]), &p, &why), RES_INVALID);
        ck_assert(str_eq(why, STR("action must be an object")));
    }
}
END_TEST

static plan_action action_of(const char *text)
{
    plan_action p;
    str         why;
    ck_assert_int_eq(plan_read_action(scratch(), parsed(text), &p, &why), RES_OK);
    return p;
}

START_TEST(reading_is_told_from_changing)
{
    plan_action list = action_of("{\"type\":\"list_people\"}"),
                reset = action_of("{\"type\":\"reset_state\"}"),
                rules = action_of("{\"type\":\"add_rule_v2_draft\",\"rules\":[]}");
    ck_assert(!plan_is_mutating(&list) && plan_is_mutating(&reset) && !plan_is_mutating(&rules));
    ck_assert(plan_is_for_rules(&rules) && !plan_is_for_rules(&reset));
    ck_assert_str_eq(plan_type(&list), "list_people");
}
END_TEST

/* ---- answers ---- */

#define OPTION "{'label':'A','value':'a'}"

static const struct {
    const char *text, *why;
} answers[] = {
    {"{'kind':'reply','message':'hi'}", NULL},
    {"{'kind':'question','message':'When?','options':[" OPTION "],'allowFreeText':false}", NULL},
    {"{'kind':'clarify','message':'When?'}", NULL},
    {"{'kind':'proposal','message':'ok','actions':[{'type':'reset_state'}],'confidence':0.5}", NULL},
    {"{'kind':'reply','message':'hi','actions':null,'options':null,'confidence':null,'allowFreeText':null}",
     NULL},
    {"{'kind':'reply','message':'hi','options':[" OPTION "," OPTION "," OPTION "," OPTION "," OPTION "]}",
     NULL},
    {"{'kind':'reply','message':'hi','options':[" OPTION "," OPTION "," OPTION "," OPTION "," OPTION
     "," OPTION "]}",
     "options must be a list of at most 5"},
    {"{'kind':'reply','message':'hi','options':{}}", "options must be a list of at most 5"},
    {"{'kind':'reply','message':'hi','options':['A']}", "option must be an object"},
    {"{'kind':'reply','message':'hi','options':[{'label':'A'}]}", "value is required"},
    {"{'kind':'reply','message':'hi','options':[{'label':'A','value':'a','style':'big'}]}",
     "style is invalid"},
    {"{'kind':'reply','message':'hi','options':[{'label':'A','value':'a','onclick':'x'}]}",
     "option has an unknown member 'onclick'"},
    {"{'kind':'reply'}", "message is required, of at most 4000 characters"},
    {"{'kind':'reply','message':'  '}", "message is required, of at most 4000 characters"},
    {"{'kind':'reply','message':['hi']}", "message is required, of at most 4000 characters"},
    {"{'message':'hi'}", "kind is required, of at most 40 characters"},
    {"{'kind':'order','message':'hi'}", "kind must be reply, proposal or question, not 'order'"},
    {"{'kind':'reply','message':'hi','note':1}", "the answer has an unknown member 'note'"},
    {"{'kind':'reply','message':'hi','confidence':1.01}", "confidence must be from 0 to 1"},
    {"{'kind':'reply','message':'hi','confidence':-0.5}", "confidence must be from 0 to 1"},
    {"{'kind':'reply','message':'hi','confidence':'high'}", "confidence must be from 0 to 1"},
    {"{'kind':'reply','message':'hi','allowFreeText':'yes'}", "allowFreeText must be true or false"},
    {"{'kind':'reply','message':'hi','actions':{}}", "actions must be a list of at most 50"},
    {"{'kind':'reply','message':'hi','actions':[7]}", "action must be an object"},
    {"{'kind':'reply','message':'hi','actions':[{'type':'help'},{'type':'fly'}]}",
     "unsupported action type: fly"},
    {"[]", "the answer must be an object"},
    {"'hi'", "the answer must be an object"},
};

/* SCHED-68. */
START_TEST(an_answer_is_taken_as_its_schema_says)
{
    plan p;
    str  why = {0};
    res  r = plan_read(scratch(), parsed(quoted(answers[_i].text, "", "")), &p, &why);
    ck_assert_msg(r == (answers[_i].why == NULL ? RES_OK : RES_INVALID), "%s: %.*s", answers[_i].text,
                  STR_ARG(why));
    ck_assert_msg(str_eq(why, str_of(answers[_i].why)), "%s: %.*s", answers[_i].text, STR_ARG(why));
}
END_TEST

/* SCHED-68. */
START_TEST(to_clarify_is_a_question_and_confidence_is_kept)
{
    plan p;
    str  why;
    ck_assert_int_eq(plan_read(scratch(),
                               parsed("{\"kind\":\"clarify\",\"message\":\" Who? \",\"confidence\":0.25,"
                                      "\"allowFreeText\":false}"),
                               &p, &why),
                     RES_OK);
    ck_assert_int_eq(p.kind, PLAN_QUESTION);
    ck_assert(str_eq(p.message, STR("Who?")));
    ck_assert(fabs(p.confidence - 0.25) < 1e-9 && !p.allow_free_text && p.options == NULL);
    ck_assert_int_eq(plan_read(scratch(), parsed("{\"kind\":\"reply\",\"message\":\"x\"}"), &p, &why),
                     RES_OK);
    ck_assert(p.confidence < 0 && p.allow_free_text && p.action_count == 0);
}
END_TEST

Suite *suite_sched_plan(void)
{
    Suite *s = suite_create("sched_plan");
    TCase *c = tcase_create("plan");
    tcase_add_loop_test(c, an_action_is_taken_as_its_schema_says, 0, COUNT(actions));
    tcase_add_test(c, what_is_no_object_is_no_action);
    tcase_add_test(c, reading_is_told_from_changing);
    tcase_add_loop_test(c, an_answer_is_taken_as_its_schema_says, 0, COUNT(answers));
    tcase_add_test(c, to_clarify_is_a_question_and_confidence_is_kept);
    suite_add_tcase(s, c);
    return s;
}
