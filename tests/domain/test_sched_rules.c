/* test_sched_rules.c -- words about when somebody has time: drafts, and rules that are saved.
 *
 * SPDX-License-Identifier: MIT */
#include "domain/sched_model.h"
#include "domain/sched_people.h"
#include "domain/sched_suites.h"
#include "domain/scheduler/state.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define ANN          "ann@example.org"

typedef struct {
    str ann, group;
} table_of_ann;

static table_of_ann sit_down(task *t)
{
    table_of_ann x = {.ann = people_named(t, ANN)};
    x.group = people_group(t, x.ann, "Family");
    return x;
}

static got rule(task *t, const table_of_ann *x, const char *mode, str person, const char *more)
{
    return people_post(
        t, x->ann, "/api/chat",
        "{\"groupId\":\"%.*s\",\"message\":\"busy on March 5\",\"ruleMode\":\"%s\",\"personId\":"
        "\"%.*s\"%s}",
        STR_ARG(x->group), mode, STR_ARG(person), more);
}

#define INTERVAL(person, from, to)                                                                        \
    ",\"draftedIntervals\":[{\"personId\":\"" person "\",\"status\":\"unavailable\",\"startUtc\":\"" from \
    "\",\"endUtc\":\"" to "\"}]"

static const char *interval_of(str person, const char *from, const char *to)
{
    return textf(INTERVAL("%.*s", "%s", "%s"), STR_ARG(person), from, to);
}

static size_t rules_now(task *t, str group)
{
    state s;
    OK(state_read(t, group, &s));
    return json_len(json_get(s.doc, "rules"));
}

/* SCHED-66. */
RIG_TEST(a_draft_names_the_person_and_saves_nothing)
{
    model_on();
    model_says(
        "{\"kind\":\"proposal\",\"message\":\"ok\",\"actions\":[{\"type\":\"add_rule_v2_draft\",\"rules\":"
        "[{\"status\":\"unavailable\",\"date\":\"2026-03-05\",\"timezone\":\"UTC\"}]}]}");
    table_of_ann x = sit_down(t);
    str          key = people_user_key(ANN);
    got          g = rule(t, &x, "draft", key, ",\"promptId\":\"p-1\"");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "draftRules/0/personId"), key);
    ck_str_eq(rig_text(&g, "draftRules/0/startUtc"), STR("2026-03-05T00:00:00.000Z"));
    ck_str_eq(rig_text(&g, "draftRules/0/endUtc"), STR("2026-03-06T00:00:00.000Z"));
    ck_str_eq(rig_text(&g, "promptId"), STR("p-1"));
    ck_str_eq(rig_text(&g, "preview/0"), STR("unavailable on 2026-03-05 (all day)"));
    ck_assert_uint_eq(rules_now(t, x.group), 0);
    model_off();
}

static const struct {
    const char *content, *code;
} drafts[] = {
    {"{\"kind\":\"question\",\"message\":\"When?\"}", "MODEL_QUESTION"},
    {"{\"kind\":\"proposal\",\"message\":\"x\",\"actions\":[{\"type\":\"reset_state\"}]}",
     "DISALLOWED_ACTION"},
    {"{\"kind\":\"proposal\",\"message\":\"x\",\"actions\":[{\"type\":\"add_rule_v2_draft\",\"rules\":[]}]}",
     "ZERO_VALID_RULE_ITEMS"},
    {"{\"kind\":\"proposal\",\"message\":\"x\",\"actions\":[{\"type\":\"add_rule_v2_draft\",\"rules\":[{"
     "\"personId\":\"somebody\",\"status\":\"available\",\"date\":\"2026-03-05\"}]}]}",
     "ZERO_INTERVALS"},
    {"{\"kind\":\"order\",\"message\":\"x\"}", "SCHEMA_VALIDATION_FAILED"},
};

/* SCHED-66. */
RIG_TEST(a_draft_that_fails_is_a_reply_with_its_code)
{
    model_on();
    model_says(drafts[i].content);
    table_of_ann x = sit_down(t);
    got          g = rule(t, &x, "draft", people_user_key(ANN), "");
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "kind"), STR("reply"));
    ck_str_eq(rig_text(&g, "draftError/code"), str_of(drafts[i].code));
    ck_assert_uint_eq(json_len(rig_at(&g, "draftError/hints")), 2);
    model_off();
}

/* SCHED-66. */
RIG_TEST(drafted_intervals_are_saved_without_a_model)
{
    table_of_ann x = sit_down(t);
    str          key = people_user_key(ANN);
    const char  *one = interval_of(key, "2026-03-05T10:00:00Z", "2026-03-05T12:00:00Z");
    got          g = rule(t, &x, "confirm", key, one);
    ck_status(g, 200);
    ck_str_eq(rig_text(&g, "assistantText"), STR("Saved 1 rule(s)."));
    ck_str_eq(rig_text(&g, "snapshot/rules/0/code"), STR("RULE-1"));
    ck_str_eq(rig_text(&g, "snapshot/rules/0/kind"), STR("unavailable"));
    g = rule(t, &x, "confirm", key, one); /* the same again replaces itself */
    ck_status(g, 200);
    ck_assert_uint_eq(rules_now(t, x.group), 1);
}

/* SCHED-66. */
RIG_TEST(what_is_wrong_with_rules_is_400_before_anything_is_saved)
{
    table_of_ann x = sit_down(t);
    str          key = people_user_key(ANN);
    got          g = rule(t, &x, "confirm", (str){0}, "");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("personId_required"));
    g = rule(t, &x, "draft", key, ",\"rules\":[{\"status\":\"busy\"}]");
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_rule_status"));
    ck_str_eq(rig_text(&g, "got"), STR("busy"));
    g = rule(t, &x, "confirm", key, interval_of(key, "2026-03-05T10:00:00Z", "2026-03-05T10:00:00Z"));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_drafted_intervals"));
    g = rule(t, &x, "confirm", key, interval_of(STR("bob"), "2026-03-05T10:00:00Z", "2026-03-05T12:00:00Z"));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("invalid_drafted_intervals_person"));
    g = rule(t, &x, "confirm", key, interval_of(key, "2026-03-01T00:00:00Z", "2026-03-15T00:00:01Z"));
    ck_status(g, 400);
    ck_str_eq(rig_text(&g, "error"), STR("INTERVAL_TOO_LARGE"));
    g = rule(t, &x, "later", key, "");
    ck_status(g, 400);
    ck_assert_uint_eq(rules_now(t, x.group), 0);
}

/* SCHED-80. */
RIG_TEST(a_person_has_twenty_rules_at_most)
{
    table_of_ann x = sit_down(t);
    str          key = people_user_key(ANN);
    got          g;
    for (int n = 0; n < 20; n++) {
        g = rule(
            t, &x, "confirm", key,
            interval_of(key, textf("2026-03-%02dT10:00:00Z", n + 1), textf("2026-03-%02dT11:00:00Z", n + 1)));
        ck_status(g, 200);
    }
    g = rule(t, &x, "confirm", key, interval_of(key, "2026-03-25T10:00:00Z", "2026-03-25T11:00:00Z"));
    ck_status(g, 409);
    ck_str_eq(rig_text(&g, "error"), STR("rule_limit_exceeded"));
    ck_assert_int_eq(rig_int(&g, "limit"), 20);
    ck_assert_uint_eq(rules_now(t, x.group), 20);
}

Suite *suite_sched_rules(void)
{
    Suite *s = suite_create("sched_rules");
    TCase *c = live_case("rules");
    tcase_add_test(c, a_draft_names_the_person_and_saves_nothing);
    tcase_add_loop_test(c, a_draft_that_fails_is_a_reply_with_its_code, 0, COUNT(drafts));
    tcase_add_test(c, drafted_intervals_are_saved_without_a_model);
    tcase_add_test(c, what_is_wrong_with_rules_is_400_before_anything_is_saved);
    tcase_add_test(c, a_person_has_twenty_rules_at_most);
    suite_add_tcase(s, c);
    return s;
}
